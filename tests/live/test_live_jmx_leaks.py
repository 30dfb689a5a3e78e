"""Checks leave nothing in the JVM that they ask: no thread, no connection, nothing that waits for a word."""

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from check_jmx_command import command
from jvm import Jvm
from levels import representative
from loopback import wait_until
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx

NOTHING = {"threads": 0, "connections": 0, "unacknowledged": 0}
GOOD = ("-O", "target:type=Trouble", "-A", "Good")
# After some of these the server hangs up, and the check goes on over another connection.
ASKED = {
    GOOD: 0,
    ("-O", "target:type=Trouble", "-A", "NotSerializable", *GOOD): 3,
    ("-O", "target:type=Trouble", "-A", "Externalizable", *GOOD): 3,
    ("-O", "target:type=None", "-A", "None"): 3,
    ("--list", "target:type=Standard,*"): 0,
}


def check(jvm, *arguments):
    """The exit status of a check."""
    return subprocess.run(command(jvm, *arguments), stdout=subprocess.DEVNULL, check=False).returncode


@pytest.mark.slow("many checks")
def test_many_checks_leave_nothing(changeable_jvm):
    rounds = representative(8, 40)
    with ThreadPoolExecutor(2) as several:
        found = list(several.map(lambda asked: check(changeable_jvm, *asked), [*ASKED] * rounds))
    assert found == [*ASKED.values()] * rounds
    assert changeable_jvm.left_by_clients() == NOTHING


def test_who_does_not_close_leaves_a_thread_and_a_connection(changeable_jvm):
    """What the other tests look for is there when it is there."""
    left = [jmx.connect(jmx.Target(changeable_jvm.host, changeable_jvm.port), Deadline(10)) for _ in range(3)]
    found = changeable_jvm.left_by_clients()
    for server in left:
        server.close()
    assert found == {"threads": 3, "connections": 3, "unacknowledged": 0}
    assert changeable_jvm.left_by_clients() == NOTHING


@pytest.mark.own_server("an attribute that never returns leaves a connection, and this counts them")
def test_an_overdue_check_logs_out_all_the_same(tmp_path, jvm):
    with Jvm(tmp_path, groups=("never",)) as never:
        assert check(never, "-O", "target:type=Never", "-A", "Value", "-t", "3s") == 3
        found = never.left_by_clients()
    assert found["threads"] == 0
    assert found["unacknowledged"] == 0
    assert found["connections"] <= 1  # the getter that never returns holds it


def test_a_check_whose_own_work_takes_too_long_logs_out_all_the_same(changeable_jvm):
    asked = ("-O", "target:type=Texts", "-A", "Long", "--match", "(.+)+!", "-t", "2s")
    assert check(changeable_jvm, *asked) == 3
    assert changeable_jvm.left_by_clients() == NOTHING


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_check_that_is_stopped_logs_out_all_the_same(how, changeable_jvm):
    asked = command(changeable_jvm, "-O", "target:type=Texts", "-A", "Long", "--match", "(.+)+!", "-t", "60s")
    with subprocess.Popen(asked, stdout=subprocess.DEVNULL) as process:
        wait_until(
            lambda: changeable_jvm.left_by_clients()["threads"] == 1,
            60,
            changeable_jvm.process,
            changeable_jvm.log,
        )
        process.send_signal(how)
        assert process.wait(60) == 3
    assert changeable_jvm.left_by_clients() == NOTHING


@pytest.mark.parametrize("variant", ["password", "tls"])
def test_who_is_not_let_in_leaves_nothing(variant, jvm_variant):
    server = jvm_variant(variant)
    for _ in range(5):
        assert check(server, "-u", "monitorRole", "-p", "wrong", *GOOD) == 3
    assert server.left_by_clients() == NOTHING
