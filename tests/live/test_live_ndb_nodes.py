"""check_ndb_nodes on a real cluster whose nodes are stopped, killed, and start again."""

import json
import time

import plugin_command
import pytest
from plugin_command import Said
from sql_node import MONITOR
from stallwatch.deadline import Deadline
from stallwatch.sources import ndb_mgm

OK, WARNING, CRITICAL, UNKNOWN = range(4)
SLACK = 30  # seconds for a busy machine to start a program and to end it
STEADY = ("--restarted", "1s")  # that the cluster of the tests has just started is no trouble


@pytest.fixture
def check(ndb, tmp_path):
    """Run the plugin with an account that may do nothing but read ndbinfo."""
    account = ndb.sql_node.account(*MONITOR)

    def run(*options, timeout=8):
        words = ("-S", ndb.sql_node.socket, "-u", account.user, "--state-dir", tmp_path / "state")
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        begun = time.monotonic()
        done = plugin_command.run(
            tmp_path, "check_ndb_nodes", *words, "-t", f"{timeout}s", *options, variables=password
        )
        assert time.monotonic() - begun < timeout + SLACK
        said = Said.of(done)
        assert "=-" not in said.output  # no counter of a restarted node gives a negative number
        assert "internal error" not in said.output
        return said

    run(*STEADY)  # who is where is remembered
    return run


def until(check, words, *options, status=None, seconds=90):
    """Run it again and again until it says these words, each of several, and leaves so; all that it said."""
    words = (words,) if isinstance(words, str) else words
    end, told = time.monotonic() + seconds, [check(*options)]
    while not all(word in told[-1].output for word in words) or status not in (None, told[-1].status):
        assert time.monotonic() < end, told[-1].output
        time.sleep(0.5)
        told.append(check(*options))
    return told


@pytest.mark.slow("a data node shows the use of its threads after 20 s")
def test_all_is_well(ndb, check):
    # Known 20 s after its start, and after two looks that count.
    known = ("thread_use=", "overloads=", "reconnects=", "major_faults=")
    said = until(check, known, *STEADY, "-v", status=OK)[-1]
    assert said.text.startswith("NDB_NODES OK - 2 of 2 data nodes are up in 1 node group, the youngest for ")
    for label in (
        "nodes_missing",
        "nodes_starting",
        "groups_lost",
        "overloads",
        "reconnects",
    ):
        assert said.number(label) == 0
    assert said.number("major_faults") < 100
    assert said.number("thread_use") < 85
    assert [line.split()[:3] for line in said.more[-2:]] == [["3", "0", "up"], ["4", "0", "up"]]
    assert "9.7.2" in said.more[-1]
    said = check(*STEADY, "--output", "json")
    assert json.loads(said.output)["state"] == "OK"


def test_what_the_management_server_says_is_understood(ndb):
    assert ndb_mgm.data_nodes("127.0.0.1", ndb.port, Deadline(10)) == {3: ("STARTED", 0), 4: ("STARTED", 0)}


@pytest.mark.slow("a data node stops and starts")
def test_a_node_that_is_shut_down_in_order(ndb, check):
    ndb.shut_down(4)
    told = until(check, ("node group 0 has only node 3 left", "node 4 is not connected"), *STEADY)
    said = told[-1]
    # Whether a look has seen that it was ordered is a matter of chance.
    assert (said.status == WARNING) == ("node 4 was shut down in order " in said.text)
    assert (said.status == CRITICAL) == ("node 4 is missing, " in said.text)
    assert f"the management server 127.0.0.1:{ndb.port} reports that node 4 is not connected" in said.output
    assert said.number("groups_without_redundancy") == 1
    ndb.start_again(4)
    until(check, "2 of 2 data nodes are up", *STEADY, "-v", status=OK)


@pytest.mark.slow("a data node starts again")
def test_a_node_that_its_angel_starts_again(ndb, check):
    ndb.kill_child(4)
    told = until(check, "node 4 is starting (phase ", *STEADY)
    told += until(check, "2 of 2 data nodes are up", *STEADY, "-v")
    starting = [said for said in told if said.number("nodes_starting") == 1]
    assert {said.status for said in starting} == {WARNING}
    assert all(said.status == CRITICAL for said in told if said.number("nodes_missing"))
    assert check("--restarted", "10m").status == WARNING


def test_a_node_that_somebody_has_stopped(ndb, check):
    """Everything is on this host: its process is seen there."""
    child = ndb.child(4)
    child.suspend()
    try:
        said = until(check, "node 4 is missing", *STEADY)[-1]
    finally:
        child.resume()
    assert said.status == CRITICAL
    assert f"(ndbmtd {child.pid} is stopped), node group 0 has only node 3 left - kill -CONT" in said.text


def test_a_node_that_is_killed_for_good(ndb, check):
    ndb.kill(4)
    told = until(check, "node 4 is missing, node group 0 has only node 3 left - see ndb_4_out.log")
    said = told[-1]
    assert said.status == CRITICAL
    assert "the end of ndb_4_out.log shows what ended it" in said.output
    # For a moment the management server calls it started.
    assert not [one for one in told if "- check the network to" in one.text]
    nobody = check("--management", "127.0.0.1:1")
    assert nobody.status == CRITICAL
    assert "the management server 127.0.0.1:1 cannot be asked: Connection refused" in nobody.output


def test_no_arbitrator_and_what_that_means(ndb, check):
    ndb.kill_management()
    said = until(check, "the data nodes have no arbitrator", *STEADY)[-1]
    assert said.status == WARNING
    where = f"management node 127.0.0.1:{ndb.port} is down"
    assert f"the data nodes have no arbitrator, {where} - start ndb_mgmd there" in said.text
    until(check, "no arbitrator", *STEADY, "--arbitrator-grace", "1s", status=CRITICAL)
    ndb.kill_child(4)
    said = until(check, "cluster down", *STEADY)[-1]  # as was said
    assert said.status == CRITICAL
    assert f"the management server 127.0.0.1:{ndb.port} cannot be asked: Connection refused" in said.output


@pytest.mark.slow("all nodes stop and start")
def test_the_whole_cluster_is_stopped(ndb, check):
    ndb.shut_down_all()
    said = until(check, "cluster down")[-1]
    assert said.status == CRITICAL
    assert "none of 2 data nodes is connected" in said.text
    assert said.perfdata == {
        "nodes_started": "0;;;0;2", "nodes_missing": "2;;0", "nodes_starting": "0;0",
        "groups_without_redundancy": "0", "groups_lost": "1",
    }  # fmt: skip
    assert check("--unreachable", "warning").status == CRITICAL
    ndb.start_all_again()
    until(check, "2 of 2 data nodes are up", *STEADY, "-v", status=OK)


def test_an_sql_node_that_is_frozen(ndb, check):
    ndb.sql_node.suspend()
    try:
        said = check(timeout=8)
    finally:
        ndb.sql_node.resume()
    assert said.status == CRITICAL, said.output


@pytest.mark.slow("the SQL node waits for the cluster")
def test_an_sql_node_that_is_started_while_the_cluster_is_down(ndb, check):
    ndb.kill(3)
    ndb.kill(4)
    ndb.sql_node.stop()
    ndb.sql_node.start()
    said = check("--management", f"127.0.0.1:{ndb.port}")
    assert said.status == CRITICAL
    assert "has reached no data node since it was started" in said.text
    what = f"the management server 127.0.0.1:{ndb.port} reports that nodes 3 and 4 are not connected"
    assert what in said.output
