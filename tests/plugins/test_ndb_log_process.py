# ruff: noqa: E501 - what is said is written as it is said
"""A data node whose process is gone without a last word has ended; one that was never seen proves nothing."""

import shutil
import subprocess

import pytest
from ndb_log_service import HOUR


@pytest.fixture
def runs(tmp_path):
    """A function that starts a program of a given name, and gives the process."""
    started = []

    def run(name="ndbmtd"):
        program = tmp_path / name
        if not program.exists():
            shutil.copy(shutil.which("sleep"), program)
        started.append(subprocess.Popen([program, "1000"]))
        return started[-1]

    yield run
    for process in started:
        end(process)


def end(*processes):
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def looked(check):
    """A function that runs the check, and gives the status and what stands before the perfdata."""

    def look(*logs):
        said = check(*(word for log in logs for word in ("--log", log)))
        return said.status, said.text

    return look


def starts(log, runs):
    """Let a node start: its log names its processes."""
    angel, node = runs(), runs()
    log.say(f"Angel pid: {angel.pid} started child: {node.pid}", HOUR)
    log.say("Started (mysql-9.7.2 ndb-9.7.2)", HOUR)
    return angel, node


def loses_arbitrator(log):
    log.say("Node 1 Disconnected", 8, "ALERT")
    log.say("Lost arbitrator node 1 - process failure [state=6]", 8)


def test_a_process_that_is_gone_without_a_word_has_ended(log, runs, looked):
    angel, node = starts(log, runs)
    assert looked(log)[0] == 0
    loses_arbitrator(log)
    end(angel, node)
    status, text = looked(log)
    assert status == 2
    assert text == (
        "NDB_LOG CRITICAL - node 4 ended after HH:MM:SS, no shutdown in the log - check uptime and dmesg of its"
        " machine, then restart the node"
    )
    assert looked(log)[0] == 2  # until it starts
    starts(log, runs)
    assert looked(log)[0] == 1


def test_an_arbitrator_lost_by_a_node_that_runs(log, runs, looked):
    starts(log, runs)
    assert looked(log)[0] == 0
    loses_arbitrator(log)
    status, text = looked(log)
    assert status == 1
    assert text == (
        "NDB_LOG WARNING - node 4: arbitrator node 1 lost at HH:MM:SS, process failure - check the management and SQL"
        " nodes that may arbitrate"
    )


def test_an_arbitrator_lost_by_a_node_of_which_nothing_more_is_known(log, looked):
    log.say("Started (mysql-9.7.2 ndb-9.7.2)", 2 * HOUR)
    loses_arbitrator(log)
    status, text = looked(log)
    assert status == 1
    assert text == (
        "NDB_LOG WARNING - node 4: arbitrator node 1 lost at HH:MM:SS, process failure, no line since - check whether the"
        " data nodes run, then ndb_mgmd"
    )


def test_a_process_that_is_gone_after_its_last_word_ended_in_order(log, runs, looked):
    angel, node = starts(log, runs)
    assert looked(log)[0] == 0
    log.say("Node shutdown initiated", 20)
    log.say("Node shutdown completed.", 8)
    log.say("Angel shutting down", 8)
    end(angel, node)
    assert looked(log)[0] == 0


def test_a_process_that_was_never_seen_proves_nothing(log, runs, looked):
    """The log is a copy, or that of a container."""
    other = runs("mysqld")
    log.say(f"Angel pid: 1 started child: {other.pid}", HOUR)
    log.say("Started (mysql-9.7.2 ndb-9.7.2)", HOUR)
    assert looked(log)[0] == 0
    end(other)
    assert looked(log)[0] == 0


def test_an_angel_that_runs_starts_its_node_again(log, runs, looked):
    _, node = starts(log, runs)
    assert looked(log)[0] == 0
    end(node)
    assert looked(log)[0] == 0


def test_all_processes_of_a_cluster_gone_with_the_management_node(cluster, log, peer, runs, looked):
    for node in (3, 4):
        cluster.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", 2 * HOUR)
    processes = [*starts(log, runs), *starts(peer, runs)]
    assert looked(log, peer, cluster)[0] == 0
    loses_arbitrator(log)
    peer.say("Node 3 transporter to node 1 (id 1) disconnected ", 8)
    end(*processes)
    status, text = looked(log, peer, cluster)
    assert status == 2
    assert text == (
        "NDB_LOG CRITICAL - all data nodes (3 and 4) are down since HH:MM:SS, no shutdown in the log - check their"
        " machines and logs, then start them"
    )
