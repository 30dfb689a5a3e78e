"""The tests' own JVM: that it shows what clients leave in it, does what it is told, and is got only once."""

import os
import subprocess
import sys
import threading
import time

import old_cassandra
import pytest
import software
from jmx_value import value_of
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx

DIES_LOGGED_IN = """
import os, sys
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
jmx.connect(jmx.Target("127.0.0.1", int(sys.argv[1])), Deadline(20)).__enter__().domains()
os._exit(0)
"""


@pytest.mark.own_server("a client that ends without logging out stays in it for two minutes")
def test_what_a_client_leaves_is_seen(own_jvm):
    assert own_jvm.left_by_clients() == {"threads": 0, "connections": 0, "unacknowledged": 0}
    subprocess.run([sys.executable, "-c", DIES_LOGGED_IN, str(own_jvm.port)], check=True, timeout=30)
    until = time.monotonic() + 10
    while not (left := own_jvm.left_by_clients())["threads"] and time.monotonic() < until:
        time.sleep(0.1)
    assert left["threads"] == left["connections"] == 1


def test_it_does_what_it_is_told(changeable_jvm):
    with jmx.connect(jmx.Target(changeable_jvm.host, changeable_jvm.port), Deadline(60)) as server:
        changeable_jvm.tell("deadlock")
        assert len(server.deadlocked_threads()) == 2
        changeable_jvm.tell("release")
        assert server.deadlocked_threads() == []

        changeable_jvm.set("target:type=Counter", Value=-5, Flag=True, Text="with blanks | and ü")
        (values,) = server.read([("target:type=Counter", ["Value", "Flag", "Text"])])
        assert values == {"Value": -5, "Flag": True, "Text": "with blanks | and ü"}

        before = len(server.names())
        changeable_jvm.tell("many", 10)
        assert len(server.names()) == before + 10
        changeable_jvm.tell("unregister", "target:type=Many,*")
        assert len(server.names()) == before
        with pytest.raises(ValueError, match="unknown command nonsense"):
            changeable_jvm.tell("nonsense")


def test_it_looks_like_an_old_cassandra(changeable_jvm):
    old_cassandra.show(changeable_jvm, CurrentlyBlockedTasks=3)
    old_cassandra.show_metrics(changeable_jvm, ActiveCount=1, TotalBlockedTasks=7)
    with jmx.connect(jmx.Target(changeable_jvm.host, changeable_jvm.port), Deadline(60)) as server:
        (pool,) = server.read([("org.apache.cassandra.internal:type=FlushWriter", old_cassandra.TASKS)])
        assert pool == {
            "ActiveCount": 0, "CompletedTasks": 0, "CurrentlyBlockedTasks": 3, "PendingTasks": 0,
            "TotalBlockedTasks": 0,
        }  # fmt: skip
        metric = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope=FlushWriter,name="
        assert value_of(server, metric + "TotalBlockedTasks", "Count") == 7
        assert value_of(server, metric + "ActiveTasks", "Value") == 1


def test_software_is_got_once_and_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(software, "CACHE", str(tmp_path / "cache"))
    made = []

    def make(folder):
        made.append(folder)
        time.sleep(0.2)
        with open(os.path.join(folder, "file"), "w") as file:
            file.write("whole")

    threads = [threading.Thread(target=software.kept, args=("software", make)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    with open(os.path.join(software.kept("software", make), "file")) as file:
        assert file.read() == "whole"


def test_software_that_cannot_be_got_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(software, "CACHE", str(tmp_path))

    def fail(folder):
        raise software.Missing("no network")

    with pytest.raises(software.Missing, match="no network"):
        software.kept("software", fail)
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".lock")] == []


def test_a_program_that_nobody_has_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(software, "CACHE", str(tmp_path))
    monkeypatch.setattr(software, "INSTALL", "false")
    monkeypatch.setenv("PATH", "/bin")
    with pytest.raises(software.Missing, match="cannot get Debian's package some-jdk"):
        software.program("javanese", "some-jdk", None)


def test_cassandra_has_all_its_pools_and_works(cassandra):
    pools = "org.apache.cassandra.metrics:type=ThreadPools,"
    done = pools + "path=transport,scope=Native-Transport-Requests,name=CompletedTasks"
    with jmx.connect(jmx.Target(cassandra.host, cassandra.port), Deadline(60)) as server:
        assert len(server.names(pools + "*")) >= 160
        before = value_of(server, done, "Value")
        assert not cassandra.write(100)
        assert value_of(server, done, "Value") >= before + 100
