"""check_mysqld_process on processes of real servers, data nodes and a JVM.

What it says of read_buffer_size was measured with such servers: see probes/mysqld_process/diagnosis.py.
Here each connection counts; how many there are per second is the machine's business.
"""

import contextlib
import json
import os
import runpy
import threading
import time

import plugin_command
import pymysql
import pytest
from plugin_command import PLUGINS, Said
from stallwatch.probes.mysqld_process import diagnosis

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
MIB = 1 << 20
PAGES = 5 * MIB // os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def check(tmp_path):
    """Run the plugin, which remembers what it saw."""

    def run(*options, **settings):
        words = ("--state-dir", tmp_path / "state", "-t", "30s")
        return Said.of(plugin_command.run(tmp_path, "check_mysqld_process", *words, *options, **settings))

    return run


def as_root(server):
    """The options of an account that may see everything."""
    return "-S", server.socket, "-u", "root"


def test_a_server_by_each_of_its_names(server, check):
    for way in (("--pid-file", server.path("pid")), ("--listens", server.port), ("--data-dir", server.data)):
        said = check(*way)
        assert said.status == 0, said.output
        assert f" {server.pid} up " in said.text
        assert said.number("resident_memory") > 10 * MIB
        assert said.number("threads") > 5
        assert 5 < said.number("open_descriptors") < 2000


def test_the_server_that_is_asked_tells_which_process_it_is(server, check):
    said = check(*as_root(server), "--sample", "1s")
    assert said.status == 0, said.output
    assert f" {server.pid} up " in said.text


@contextlib.contextmanager
def computing(server):
    """A session that does nothing but compute; gives its id."""
    with server.session() as sql:
        number = sql("SELECT CONNECTION_ID() AS id")[0]["id"]

        def compute():
            with contextlib.suppress(pymysql.Error):  # it is killed
                sql("SELECT BENCHMARK(1000000000, 1 + 1)")

        thread = threading.Thread(target=compute)
        thread.start()
        try:
            yield number
        finally:
            server.sql(f"KILL {number}")
            thread.join()


def test_the_busiest_thread_is_the_connection_that_computes(server, check):
    with computing(server) as number:
        said = check(*as_root(server), "--sample", "2s", "-v", "--output", "json")
    assert said.status == 0, said.output
    (busiest,) = [one for one in json.loads(said.output)["findings"] if one["name"] == "busiest_thread"]
    assert f"connection {number} of root" in busiest["what"]
    assert busiest["value"] > 1
    assert busiest["table"][0]["thread"] == f"connection {number} of root"


def test_rates_are_those_since_the_last_run(server, check):
    way = ("--pid-file", server.path("pid"))
    assert "[OK] no rates yet: no earlier look to compare with" in check(*way).more
    until = time.monotonic() + 60
    with computing(server):
        while (said := check(*way)).status == 0 and float(said.perfdata.get("cpu", "0%").strip("%")) < 10:
            assert time.monotonic() < until, said.output
    assert said.status == 0, said.output
    assert said.number("user") > said.number("system")
    assert said.number("minor_faults") >= 0


def test_a_server_that_is_stopped_is_critical(server, check):
    server.suspend()
    try:
        said = check("--pid-file", server.path("pid"), *as_root(server))
    finally:
        server.resume()
    assert said.status == 2
    assert f" {server.pid} is stopped and does not respond" in said.text


def test_a_server_that_was_killed_is_critical_and_one_that_came_back_is_another(server, check):
    way = ("--pid-file", server.path("pid"))
    first = server.pid
    assert check(*way).status == 0
    server.stop()
    said = check(*way)
    assert said.status == 2, said.output
    assert f"process {first} of {server.path('pid')} " in said.text  # "is not there", or "has ended"
    said = check("--listens", server.port)
    assert said.status == 2, said.output
    server.start()
    said = check(*way)
    assert said.status == 0, said.output
    assert f" {server.pid} up " in said.text
    assert "[OK] no rates yet: it is another process than at the last look" in said.more


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_is_not_for_another_user_to_see_is_no_problem(server, check):
    said = check("--listens", server.port, "--sample", "1s", "-v", **NOBODY)
    assert said.status == 0, said.output
    assert f" {server.pid} up " in said.text
    assert {"cpu", "minor_faults", "resident_memory", "threads"} <= set(said.perfdata)
    assert "descriptors" not in said.perfdata
    assert any(f"{server.pid} has at most " in line for line in said.more)
    said = check("--pid-file", server.path("pid"), "--sample", "1s", **NOBODY)
    assert said.status == 3
    assert f"{server.path('pid')} is not for " in said.text


def test_a_data_node_not_its_angel_and_its_threads_by_role(ndb, check, tmp_path):
    node = 3
    (tmp_path / "pid").write_text(f"{ndb.angel(node).pid}\n")
    said = check("--pid-file", tmp_path / "pid")
    assert f"ndbmtd {ndb.child(node).pid} up " in said.text, said.output
    options = (
        "--data-dir",
        ndb.path(node),
        "--program",
        "ndbmtd",
        "--sample",
        "2s",
        "-v",
        "--output",
        "json",
    )
    said = check(*options)
    assert said.status == 0, said.output
    told = json.loads(said.output)["findings"]
    (roles,) = [one["table"] for one in told if one["name"] == "threads"]
    threads = {row["role"]: row["threads"] for row in roles}
    assert threads["ldm"] == 2
    assert threads["main"] == threads["rep"] == threads["recv"] == 1
    assert threads["WatchDogThread"] == 1


def test_a_jvm(jvm, check):
    said = check("--program", "java", "--listens", jvm.port, "--sample", "1s", "-v")
    assert said.status == 0, said.output
    assert f"java {jvm.process.family[0].pid} up " in said.text
    assert said.number("threads") > 5
    assert any(line.startswith("VM Thread ") for line in said.more)


# read_buffer_size


@contextlib.contextmanager
def connecting(server, statement):
    """One client that connects, asks that, and leaves, again and again."""
    numbers = []
    ended = threading.Event()
    failed = []

    def connect():
        try:
            while not ended.is_set():
                server.sql(statement)
                numbers.append(1)
        except Exception as error:  # noqa: BLE001 - for the test to tell
            failed.append(error)

    thread = threading.Thread(target=connect)
    thread.start()
    try:
        while len(numbers) < 8 and not failed:  # glibc has adapted by then, if it may
            time.sleep(0.01)
        yield
    finally:
        ended.set()
        thread.join()
    assert not failed


@pytest.fixture
def says(monkeypatch):
    """Whether the plugin comes to say that a read buffer is mapped, however slowly clients connect here.

    While a server starts, it has page faults of its own.
    """
    for name, limit in (("MANY", 0.01), ("FAULTS", 0), ("SHARE", 0)):
        monkeypatch.setattr(diagnosis, name, limit)
    plugin = runpy.run_path(str(PLUGINS / "check_mysqld_process"))

    def says(server, statement, mapped):
        options = ["--pid-file", server.path("pid"), *as_root(server), "--no-state", "--sample", "2s"]
        until = time.monotonic() + 60
        with connecting(server, statement):
            while True:
                status, text = plugin["check"].run(plugin["findings"], [*options, "-t", "30s"])
                assert status in {0, 1}, text
                if (status == 1) == mapped:
                    break
                assert time.monotonic() < until, text
        words = f"for each connection, where such a buffer has {PAGES} pages"
        assert ("read_buffer_size 5M is mapped and zeroed for " in text and words in text) == mapped, text

    return says


@contextlib.contextmanager
def large_table(server):
    """Meanwhile there is a MyISAM table of 7 MB: a buffer is no larger than the file that is read."""
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        sql("CREATE DATABASE lab")
        sql("CREATE TABLE lab.large (c CHAR(200)) CHARSET latin1 ENGINE = MyISAM")
        sql("INSERT INTO lab.large VALUES (REPEAT('x', 200))")
        for _ in range(15):
            sql("INSERT INTO lab.large SELECT * FROM lab.large")
        try:
            yield
        finally:
            sql("DROP DATABASE lab")


SCAN = "SELECT * FROM lab.large LIMIT 1"


@pytest.mark.own_server("glibc is told at the start not to adapt")
def test_a_read_buffer_that_mariadb_maps_for_each_scan(own_server, says, monkeypatch):
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(128 << 10))  # else glibc adapts after the first one
    server = own_server("mariadb", read_buffer_size=5 * MIB)
    with large_table(server):
        says(server, SCAN, mapped=True)
        server.sql("SET GLOBAL read_buffer_size = 131072")
        says(server, SCAN, mapped=False)


def test_a_read_buffer_that_glibc_keeps_is_no_problem(running_server, says):
    server = running_server("mariadb")
    server.revive()
    server.sql(f"SET GLOBAL read_buffer_size = {5 * MIB}")
    try:
        with large_table(server):
            says(server, SCAN, mapped=False)
    finally:
        server.sql("SET GLOBAL read_buffer_size = DEFAULT")


@pytest.mark.own_server("glibc is told at the start not to adapt, and the server to read any file")
def test_mysql_maps_it_for_load_data_alone(own_server, says, monkeypatch):
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(128 << 10))
    server = own_server("mysql", read_buffer_size=5 * MIB, secure_file_priv="")
    file = server.path("rows")
    with open(file, "w") as rows:
        rows.write(f"{'x' * 99}\n" * 70_000)
    with large_table(server):
        says(server, SCAN, mapped=False)
        says(server, f"LOAD DATA INFILE '{file}' INTO TABLE lab.large IGNORE 69999 LINES", mapped=True)
