"""What check_ndb_nodes says of a cluster, from run to run."""

import runpy
from pathlib import Path

import pytest
from clock import keep_time
from fake_proc import FakeProc
from ndb_nodes import NodesNdb
from stallwatch.deadline import Account
from stallwatch.findings import ProbeError
from stallwatch.frame.options import mysql
from stallwatch.sources import ndb_mgm
from stallwatch.sources.mysql import MysqlError, NoAnswerError, UnreachableError
from stallwatch.sources.ndb_mgm import NodeStatus, NotRunningError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_nodes"))
DAY = 86400.0
PLACED = ("config_values", "config_nodes", "membership", "processes", "cpustat_20sec", "threads")


@pytest.fixture
def ndb():
    return NodesNdb()


@pytest.fixture
def look_at(tmp_path, monkeypatch):
    """Gives, for a cluster, how to run the plugin at it, a minute after the last time."""

    def look_at(ndb):
        monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
        monkeypatch.setattr(ndb_mgm, "data_nodes", ndb.data_nodes)
        keep_time(monkeypatch, lambda: ndb.now)

        def look(*arguments, after=60):
            ndb.later(after)
            ndb.asked.clear()
            status, text = PLUGIN["check"].run(
                PLUGIN["findings"], ["-H", "sql1", "--state-dir", str(tmp_path), *arguments]
            )
            assert status in (0, 3) or len(ndb.nodes) > 8 or len(first_line(text)) <= 160
            return status, text

        return look

    return look_at


@pytest.fixture
def look(ndb, look_at):
    return look_at(ndb)


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def perfdata(text):
    items = (item.partition("=") for item in text.splitlines()[0].partition(" | ")[2].split())
    return {label: value for label, _, value in items}


# all is well


def test_a_healthy_cluster_is_ok(look, ndb):
    look()
    status, text = look()
    assert status == 0
    assert first_line(text) == (
        "NDB_NODES OK - 2 of 2 data nodes are up in 1 node group, the youngest for 1 h 25 min"
    )
    assert text.count("\n") == 0
    assert perfdata(text) == {
        "nodes_started": "2;;;0;2", "nodes_missing": "0;;0", "nodes_starting": "0;0",
        "groups_without_redundancy": "0", "groups_lost": "0", "uptime": "5120s",
        "api_nodes_missing": "0;0", "generations": "0s;1800", "thread_use": "1%;85;95",
        "overloads": "0;0;10", "reconnects": "0;0", "major_faults": "0;100",
    }  # fmt: skip


def test_one_small_statement_a_table_and_the_management_server_is_left_alone(look, ndb):
    look()
    tables = [part for sql in ndb.asked for part in sql.split() if part.startswith("ndbinfo.")]
    assert sorted(tables) == [
        "ndbinfo.config_nodes", "ndbinfo.cpustat_20sec", "ndbinfo.membership", "ndbinfo.ndb$certificates",
        "ndbinfo.nodes", "ndbinfo.processes", "ndbinfo.threads", "ndbinfo.threadstat", "ndbinfo.transporters",
    ]  # fmt: skip
    assert ndb.asked_at == []


def test_all_is_side_by_side_with_v(look):
    _, text = look("-v")
    rows = [line.split() for line in text.splitlines()[-3:]]
    assert rows[0][:4] == ["node", "group", "state", "phase"]
    assert rows[1] == ["3", "0", "up", "-", "1", "h", "24", "min", "1", "9.7.2", "1"]


# nodes that are missing


def test_a_missing_node_is_critical(look, ndb):
    look()
    ndb.end(4)
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_NODES CRITICAL - node 4 is missing, node group 0 has only node 3 left - "
        "see ndb_4_out.log, if ended run ndbmtd --ndb-nodeid=4"
    )
    assert "\n  the management server mgm1:1186 reports that node 4 is not connected\n" in text
    assert "nodes_started=1;;;0;2 nodes_missing=1;;0 nodes_starting=0;0 groups_without_redundancy=1" in text


def test_so_it_is_at_the_first_look(look, ndb):
    ndb.end(4)
    status, text = look()
    assert status == 2
    assert "node 4 is missing, node group 0 has only node 3 left" in first_line(text)


def test_a_management_server_that_is_not_there_costs_an_aside_only(look, ndb):
    look()
    ndb.end(4)
    ndb.seen = None
    status, text = look()
    assert status == 2
    assert "node 4 is missing, node group 0 has only node 3 left - see ndb_4_out.log, if ended" in first_line(
        text
    )
    assert "\n[OK] the management server mgm1:1186 cannot be asked: Connection refused" in text


@pytest.mark.parametrize(
    ("options", "told", "place"),
    [
        ((), "mgm1", ("mgm1", 1186)),
        ((), "127.0.0.1", ("sql1", 1186)),
        ((), "localhost", ("sql1", 1186)),
        ((), "::ffff:127.0.0.1", ("sql1", 1186)),
        (("--management", "mgm2"), "mgm1", ("mgm2", 1186)),
        (("--management", "mgm2:11860"), "mgm1", ("mgm2", 11860)),
        (("--management", "[fe80::1]:11860"), "mgm1", ("fe80::1", 11860)),
    ],
)
def test_the_management_server_is_where_somebody_says(look, ndb, options, told, place):
    ndb.status["Ndb_config_from_host"] = told
    ndb.end(4)
    look(*options)
    assert ndb.asked_at == [place]


@pytest.fixture
def two_managers(look, ndb, monkeypatch):
    """The SQL node knows mgm1, which is down; data nodes also have mgm2, of which this gives the answers."""
    ndb.disconnect(1)
    ndb.connect(1, "ndb_mgmd", "ndb://mgm1:1186")
    ndb.connect(2, "ndb_mgmd", "ndb://mgm2:1186")
    look()
    answers = {"mgm1": NotRunningError("the management server mgm1:1186 cannot be asked: Connection refused")}

    def data_nodes(host, _, __):
        found = answers.get(host, ndb.seen)
        if isinstance(found, ProbeError):
            raise found
        return found

    monkeypatch.setattr(ndb_mgm, "data_nodes", data_nodes)
    return answers


def test_if_a_management_server_is_down_another_one_is_asked(look, ndb, two_managers):
    ndb.end(4)
    _, text = look()
    assert "\n  the management server mgm2:1186 reports that node 4 is not connected\n" in text
    assert "mgm1" not in text


@pytest.mark.parametrize(("other", "is_down"), [(NotRunningError, True), (ProbeError, False)])
def test_a_cluster_is_down_only_if_all_management_servers_are(look, ndb, two_managers, other, is_down):
    two_managers["mgm2"] = other("mgm2:1186 is silent")
    lose_all(ndb)
    status, text = look()
    assert ("cluster down" in text) == is_down
    assert status == (2 if is_down else 1)


def test_a_cluster_whose_other_management_server_calls_nodes_started_is_not_down(look, ndb, two_managers):
    lose_all(ndb)
    _, text = look()
    assert "cluster down" not in text
    assert "ndb_mgm shows nodes 3 and 4 started" in first_line(text)


@pytest.mark.parametrize(
    "uri",
    ["ndb://127.0.0.1:1186", "ndb://[::1]:1186", "ndb://mgm2:99999", "ndb://mgm2", "ndb://mgm2:x", "", None],
)
def test_an_address_that_is_of_no_use_here_is_not_asked(look, ndb, two_managers, uri):
    ndb.disconnect(2)
    look()  # what went before it had settled is forgotten
    ndb.connect(2, "ndb_mgmd", uri)
    look()
    ndb.end(4)
    assert "mgm1:1186 cannot be asked: Connection refused" in look()[1]


def test_management_nodes_that_are_the_cause_are_told_once(look, ndb):
    for _ in range(12):
        look()
    ndb.arbitration(arbitrator=0)
    ndb.disconnect(1)
    ndb.seen = None
    status, text = look()
    assert status == 1
    assert "management node mgm1:1186 is down" in first_line(text)
    assert "more problem" not in text
    assert perfdata(text)["api_nodes_missing"] == "1;0"


MISSING = "CRITICAL - node 4 is missing"


@pytest.mark.parametrize(
    ("process", "what", "step"),
    [
        ({"state": "T", "threads": 60}, MISSING + " (ndbmtd 1004 is stopped)", "kill -CONT 1004"),
        (
            {"threads": 60},
            "WARNING - node 4 does not answer sql1:3306",
            "see the end of ndb_4_out.log, its process runs here",
        ),
        ({"threads": 1}, MISSING, "see the end of ndb_4_out.log, its angel may start it again"),
    ],
)
def test_the_process_of_a_missing_node_on_this_host_decides_what_to_do(
    look, ndb, tmp_path, monkeypatch, process, what, step
):
    folder = tmp_path / "proc"
    folder.mkdir()
    words = ("ndbmtd", "--ndb-nodeid=4", "-c", "127.0.0.1")
    FakeProc(folder, monkeypatch).process(1004, "ndbmtd", arguments=words, **process)
    ndb.status["Ndb_config_from_host"] = "127.0.0.1"
    ndb.end(4)
    local = ("-S", "/run/mysqld/mysqld.sock", "--state-dir", str(tmp_path))
    _, text = PLUGIN["check"].run(PLUGIN["findings"], [*local])
    assert first_line(text) == (f"NDB_NODES {what}, node group 0 has only node 3 left - {step}")


def test_an_angel_that_is_still_there_starts_a_node_that_was_shut_down_in_order_again(
    ndb, look_at, tmp_path, monkeypatch
):
    """An ordered stop ends the angel, too; an ordered restart does not."""
    folder = tmp_path / "proc"
    folder.mkdir()
    words = ("ndbmtd", "--ndb-nodeid=4", "-c", "127.0.0.1")
    proc = FakeProc(folder, monkeypatch)
    proc.process(996, "ndbmtd", arguments=words, threads=1)
    ndb.status["Ndb_config_from_host"] = "127.0.0.1"
    look_at(ndb)
    local = ["-S", "/run/mysqld/mysqld.sock", "--state-dir", str(tmp_path)]
    ndb.answers(4, "STOPPING_1")
    PLUGIN["check"].run(PLUGIN["findings"], local)
    ndb.end(4)
    for step in (
        "wait, ndb_4_out.log shows the progress",
        "unless this is planned, run ndbmtd --ndb-nodeid=4",
    ):
        _, text = PLUGIN["check"].run(PLUGIN["findings"], local)
        assert "node 4 was shut down in order" in first_line(text)
        assert first_line(text).endswith(step)
        if 996 in proc.each:
            proc.end(996)


def test_a_cluster_whose_processes_are_all_stopped_is_told_so(look, ndb, tmp_path, monkeypatch):
    folder = tmp_path / "proc"
    folder.mkdir()
    proc = FakeProc(folder, monkeypatch)
    for node in (3, 4):
        words = ("ndbmtd", f"--ndb-nodeid={node}", "-c", "127.0.0.1")
        proc.process(1000 + node, "ndbmtd", arguments=words, state="T", threads=60)
    ndb.status["Ndb_config_from_host"] = "127.0.0.1"
    lose_all(ndb)
    ndb.seen = dict.fromkeys((3, 4), NodeStatus("NO_CONTACT", 0))
    local = ("-S", "/run/mysqld/mysqld.sock", "--state-dir", str(tmp_path))
    _, text = PLUGIN["check"].run(PLUGIN["findings"], [*local])
    assert first_line(text) == (
        "NDB_NODES CRITICAL - cluster down: none of 2 data nodes is connected to sql1:3306, "
        "their processes are stopped - kill -CONT 1003 1004"
    )


def test_of_a_local_sql_node_it_is_on_this_host(look, ndb, tmp_path):
    ndb.status["Ndb_config_from_host"] = "127.0.0.1"
    ndb.end(4)
    PLUGIN["check"].run(PLUGIN["findings"], ["-S", "/run/mysqld/mysqld.sock", "--state-dir", str(tmp_path)])
    assert ndb.asked_at == [("127.0.0.1", 1186)]


@pytest.mark.parametrize("port", ["0", "", "70000", "-1", "x", "9" * 5000])
def test_a_port_that_is_none_is_the_usual_one(look, ndb, port):
    ndb.status["Ndb_config_from_port"] = port
    ndb.end(4)
    look()
    assert ndb.asked_at == [("mgm1", 1186)]


def test_a_node_that_runs_but_does_not_answer_is_a_matter_of_the_network(look, ndb):
    look()
    ndb.end(4)
    ndb.seen[4] = ndb.seen[3]
    look()
    status, text = look()
    assert status == 2
    assert first_line(text).endswith(" - check the network to node 4")
    assert "mgm1:1186 reports that node 4 is started" in text


def test_a_node_that_was_up_and_is_started_for_the_management_server_is_a_matter_of_the_next_look(look, ndb):
    """It has restarted between the looks, or ended a moment ago (kill -9), or is out of reach."""
    look()
    ndb.end(4)
    ndb.seen[4] = ndb.seen[3]
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - node 4 does not answer sql1:3306, node group 0 has only node 3 left "
        "in its reach - check its process, then the network"
    )
    assert look()[0] == 2


def test_a_node_of_which_the_management_server_told_nothing_has_not_just_started(look, ndb, monkeypatch):
    """Its receive thread stood still for 14 s: the management server was silent, too."""

    def silent(*_):
        raise ProbeError("the management server mgm1:1186 has not answered within 1.5 s")

    look()
    ndb.end(4)
    ndb.seen[4] = ndb.seen[3]
    with monkeypatch.context() as patched:
        patched.setattr(ndb_mgm, "data_nodes", silent)
        assert look()[0] == 2
    status, text = look(after=10)
    assert status == 1
    assert first_line(text).startswith("NDB_NODES WARNING - node 4 does not answer sql1:3306, ")
    assert look(after=15)[0] == 2


def test_without_state_a_node_that_only_the_management_server_sees_is_missing(look, ndb):
    ndb.end(4)
    ndb.seen[4] = ndb.seen[3]
    assert look("--no-state")[0] == 2


# nodes that somebody shuts down, or restarts, in order


def shut_down(look, ndb):
    """Look at node 4 while it is up, while it is shut down, and when it has ended."""
    look()
    ndb.answers(4, "STOPPING_1")
    status, text = look()
    assert status == 1
    assert "node 4 is being shut down in order, node group 0 has only node 3 left - wait" in first_line(text)
    ndb.end(4)


def test_a_node_that_was_shut_down_in_order_has_a_grace_from_the_order_on(look, ndb):
    shut_down(look, ndb)
    for _ in range(2):
        status, text = look()
        assert status == 1
        assert perfdata(text)["nodes_missing"] == "0;;0"
    assert first_line(text) == (
        "NDB_NODES WARNING - node 4 was shut down in order 2 min ago, node group 0 has only node 3 left - "
        "unless this is planned, run ndbmtd --ndb-nodeid=4"
    )
    status, text = look(after=7200)
    assert status == 2
    assert "node 4 is missing (shut down in order 2 h 2 min ago), node group 0 has only" in first_line(text)
    assert "unless this is planned, run ndbmtd --ndb-nodeid=4" in first_line(text)


def test_a_restart_in_order_is_never_critical_and_nobody_is_sent_to_the_network(look, ndb):
    shut_down(look, ndb)
    said = [look(after=5)]
    ndb.starts(4, status="NOT_STARTED", doing=(4, "Allocated node id"))
    said.append(look(after=5))
    ndb.starts(4)
    said.append(look(after=5))
    ndb.seen[4] = NodeStatus("STARTED", 0)
    ndb.tables["restart_info"] = []
    said.append(look(after=5))
    assert [status for status, _ in said] == [1, 1, 1, 1]
    assert "network" not in "".join(text for _, text in said)
    assert "node 4 is starting, node group 0 has only node 3 left - wait" in first_line(said[-1][1])
    assert "node 4: the SQL node connects to it" in said[-1][1]
    ndb.back(4)
    status, text = look("-v", after=5)
    assert status == 0
    assert "[OK] node 4 has been restarted in order" in text


def test_a_node_that_has_started_and_stays_out_of_reach_is_a_matter_of_the_network(look, ndb):
    shut_down(look, ndb)
    ndb.starts(4)
    look()
    ndb.seen[4] = NodeStatus("STARTED", 0)
    ndb.tables["restart_info"] = []
    assert look()[0] == 1
    status, text = look()
    assert status == 2
    assert "check the network to node 4" in first_line(text)


def test_a_start_that_fails_after_an_order_is_critical(look, ndb):
    shut_down(look, ndb)
    ndb.starts(4)
    assert look()[0] == 1
    ndb.starts(4, status="NO_CONTACT", doing=(19, "Restart completed"))
    status, text = look()
    assert status == 2
    assert "node 4 is missing (its start failed), node group 0 has only node 3 left - see" in first_line(text)


def test_restarts_that_somebody_orders_are_no_instability(look, ndb):
    for _ in range(4):
        shut_down(look, ndb)
        ndb.back(4)
        status, text = look("-v")
        assert status == 0
    assert "[OK] node 4 has been restarted in order" in text


def test_missing_nodes_can_be_allowed(look, ndb):
    ndb.end(4)
    assert look("-c", "1")[0] == 0


def test_a_node_that_waits_for_an_order(look, ndb):
    ndb.end(4)
    ndb.starts(4, status="NOT_STARTED", doing=(4, "Allocated node id"))
    assert look()[0] == 1
    status, text = look(after=400)
    assert status == 2
    assert first_line(text).endswith(' left - start it: ndb_mgm -e "4 start"')


def test_no_data_node_is_critical(look, ndb):
    look()
    for node in (3, 4):
        ndb.end(node)
    status, text = look("--unreachable", "warning")
    assert status == 2
    assert first_line(text) == (
        "NDB_NODES CRITICAL - cluster down: none of 2 data nodes is connected to sql1:3306 - "
        "see ndb_N_out.log, if ended run ndbmtd --ndb-nodeid=N"
    )
    assert perfdata(text) == {
        "nodes_started": "0;;;0;2", "nodes_missing": "2;;0", "nodes_starting": "0;0",
        "groups_without_redundancy": "0", "groups_lost": "1",
    }  # fmt: skip


def test_where_the_management_server_is_down_too_it_is_started_first(look, ndb):
    """Its data nodes could not start without one."""
    look()
    for node in (3, 4):
        ndb.end(node)
    ndb.seen = None
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_NODES CRITICAL - cluster down: none of 2 data nodes is connected to sql1:3306 - "
        "start ndb_mgmd on mgm1:1186 first, then the data nodes"
    )


def test_a_management_server_that_is_only_silent_is_not_called_down(look, ndb, monkeypatch):
    def silent(*_):
        raise ProbeError("the management server mgm1:1186 has not answered within 1.5 s")

    look()
    for node in (3, 4):
        ndb.end(node)
    monkeypatch.setattr(ndb_mgm, "data_nodes", silent)
    told = "none of 2 data nodes is connected to sql1:3306"
    step = "run ndb_mgm -e show, see each ndb_N_out.log"
    _, text = look()
    assert first_line(text) == f"NDB_NODES WARNING - {told} (maybe for a moment) - check again in 20 s"
    assert f"\n  {step}\n" in text
    assert first_line(look()[1]) == f"NDB_NODES CRITICAL - {told} - {step}"


def test_an_sql_node_that_never_reached_its_cluster(look, ndb):
    ndb.status = dict.fromkeys(ndb.status, 0) | {"Ndb_config_from_host": ""}
    status, text = look()
    assert status == 1
    assert first_line(text).startswith(
        "NDB_NODES WARNING - sql1:3306 has reached no data node since it was started - "
    )
    assert "sql1:3306 does not show its management server: name it with --management" in text
    _, text = look("--management", "mgm2")
    assert "\n  the management server mgm2:1186 reports that nodes 3 and 4 are started\n" in text


def test_a_cluster_that_starts_is_to_be_waited_for(look, ndb):
    for node in (3, 4):
        ndb.end(node)
        ndb.starts(node)
    status, text = look()
    assert status == 2
    assert first_line(text).endswith("to sql1:3306 - wait, ndb_N_out.log shows the progress")


def lose_all(ndb):
    """Let the SQL node lose all data nodes, which run for the management server; and give back its rows."""
    seen, tables, status = dict(ndb.seen), dict(ndb.tables), dict(ndb.status)
    for node in (3, 4):
        ndb.end(node)
    ndb.seen = seen
    return tables, status


def test_an_sql_node_that_lost_a_cluster_that_runs(look, ndb):
    lose_all(ndb)
    look()
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_NODES CRITICAL - none of 2 data nodes is connected to sql1:3306, ndb_mgm shows nodes 3 and 4 "
        "started - check the network to nodes 3 and 4"
    )


def test_an_sql_node_that_lost_all_nodes_for_a_moment_proves_no_cluster_down(look, ndb):
    """Node 4 is frozen for 8 s: the SQL node loses node 3, too."""
    look()
    tables, seen = lose_all(ndb)
    for after in (60, 10):
        status, text = look(after=after)
        assert status == 1
        assert first_line(text) == (
            "NDB_NODES WARNING - none of 2 data nodes is connected to sql1:3306 (maybe for a moment), "
            "ndb_mgm shows nodes 3 and 4 started - check again in 20 s"
        )
    ndb.tables, ndb.status = tables, seen
    assert look()[0] == 0
    lose_all(ndb)
    assert look()[0] == 1  # not the same moment


def test_a_cluster_of_which_one_node_runs_is_not_down(look, ndb):
    look()
    lose_all(ndb)
    ndb.seen[4] = NodeStatus("NO_CONTACT", 0)
    status, text = look()
    assert status == 1
    assert "cluster down" not in text
    assert "ndb_mgm shows node 3 started" in first_line(text)
    assert look()[0] == 2


# nodes that start


def test_a_node_that_starts_is_a_warning_with_its_phase(look, ndb):
    look()
    ndb.end(4)
    ndb.starts(4)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - node 4 is starting (phase 4 is done), node group 0 has only node 3 left - "
        "wait, ndb_4_out.log shows the progress"
    )
    assert "\n  node 4: Wait LCP to ensure durability\n" in text
    _, text = look(after=300)
    assert "(phase 4 is done, not up for 5 min), node group 0" in first_line(text)


def test_ndbinfo_tells_the_phase_first_hand(look, ndb):
    ndb.node(4).update(status="STARTING", start_phase=100)
    status, text = look()
    assert status == 1
    assert "node 4 is starting (phase 100 is done), node group 0 has only node 3 left" in first_line(text)
    assert "uptime=5060s" in text


def test_a_restart_is_seen_without_the_management_server(look, ndb):
    ndb.end(4)
    ndb.starts(4)
    ndb.seen = None
    status, text = look()
    assert status == 1
    assert "node 4 is starting, node group 0" in first_line(text)


@pytest.mark.parametrize("reachable", [True, False])
def test_a_restart_that_died_where_nobody_sees_it_is_no_restart_for_ever(look, ndb, reachable):
    ndb.end(4)
    ndb.starts(4, status="NO_CONTACT", doing=(4, "Allocated node id"))
    if not reachable:
        ndb.seen = None
    assert [look()[0] for _ in range(7)] == [1, 1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 19])
def test_a_failure_that_is_dealt_with_is_no_restart(look, ndb, code):
    ndb.end(4)
    ndb.starts(4, status="NO_CONTACT", doing=(code, "Node failure handling complete"))
    assert look()[0] == 2


def test_single_user_mode_is_a_warning(look, ndb):
    for node in (3, 4):
        ndb.node(node)["status"] = "SINGLEUSER"
    status, text = look()
    assert status == 1
    assert "the cluster is in single user mode" in first_line(text)
    assert "nodes_started=2;;;0;2 nodes_missing=0" in text


@pytest.mark.parametrize("status", ["STARTING", "SHUTTING_DOWN"])
def test_what_takes_too_long_is_no_start_and_no_stop(look, ndb, status):
    look()
    ndb.end(4)
    ndb.seen[4] = NodeStatus(status, 4)
    assert look()[0] == 1
    assert look(after=7100)[0] == 1
    said, text = look(after=200)
    assert said == 2
    word = {"STARTING": "starting", "SHUTTING_DOWN": "stopping"}[status]
    assert f"node 4 is missing ({word} for 2 h 2 min), node group 0 has only node 3 left" in first_line(text)
    assert "nodes_missing=1;;0 nodes_starting=0;0" in text
    assert look("--starting-grace", "3h")[0] == 1
    ndb.back(4)
    look()
    ndb.end(4)
    ndb.starts(4)
    assert look()[0] == 1


def test_a_node_that_answers_and_never_gets_up_is_missing_in_the_end(look, ndb):
    ndb.answers(4, "STARTING", 100)
    assert look("--starting-grace", "10m")[0] == 1
    assert look("--starting-grace", "10m", after=650)[0] == 2


def test_what_the_cluster_says_of_a_restart_has_an_end_too(look, ndb):
    look()
    ndb.end(4)
    ndb.starts(4, doing=(10, "Copy metadata"))
    ndb.seen = None
    assert [look(after=3500)[0] for _ in range(4)] == [1, 1, 1, 2]


def test_a_node_that_never_gets_beyond_its_start_does_not_start_anew_each_time(look, ndb):
    look()
    ndb.end(4)
    states = []
    for turn in range(12):
        ndb.starts(4, **({"status": "NO_CONTACT", "doing": (4, "Allocated node id")} if turn % 3 else {}))
        states.append(look()[0])
    assert states == [1, 1, 1, 1, 1, 2, 1, 2, 2, 1, 2, 2]


@pytest.mark.parametrize("status", ["NO_CONTACT", "NOT_STARTED", "UNKNOWN", "RESTARTING"])
def test_without_state_what_is_undecided_is_missing(look, ndb, status):
    ndb.end(4)
    ndb.starts(4, status=status, doing=(4 if status == "NO_CONTACT" else 19, "whatever"))
    assert look()[0] == 1
    assert look("--no-state")[0] == 2


@pytest.mark.parametrize("step", [-3600, 3600])
def test_a_clock_that_is_set_does_not_make_a_dead_node_recover(look, ndb, step):
    look()
    ndb.end(4)
    ndb.starts(4, status="NO_CONTACT", doing=(4, "Allocated node id"))
    states = [look()[0] for _ in range(3)]
    ndb.now += step
    assert states + [look()[0] for _ in range(5)] == [1, 1, 1, 1, 1, 2, 2, 2]


def test_several_nodes_need_several_things(look_at):
    ndb = NodesNdb((3, 4, 5, 6, 7, 8))
    look = look_at(ndb)
    look()
    ndb.answers(8, "STOPPING_1")
    look()
    for node in (4, 6, 8):
        ndb.end(node)
    ndb.starts(4, status="NOT_STARTED", doing=(4, "Allocated node id"))
    look()
    _, text = look(after=400)
    assert first_line(text) == (
        "NDB_NODES CRITICAL - nodes 4 and 6 are missing, 2 node groups have one member left - node 6: "
        "see its log, if ended run ndbmtd --ndb-nodeid=6 (+1 more problem)"
    )
    assert '\n  node 4: start it: ndb_mgm -e "4 start", node 4 waits for the order to start, as after' in text
    assert "[WARNING] node 8 was shut down in order 7 min 40 s ago, node group 2 has only node 7 left" in text


def test_a_node_that_may_wait_for_an_order_is_told_so_at_once(look, ndb):
    ndb.end(4)
    ndb.starts(4, status="NOT_STARTED")
    assert 'wait, or if started with --nostart: ndb_mgm -e "4 start"' in first_line(look()[1])


def test_in_single_user_mode_a_node_runs(look, ndb):
    look()
    ndb.end(4)
    ndb.seen[4] = NodeStatus("SINGLE USER MODE", 0)
    look()
    assert "check the network to node 4" in first_line(look()[1])


# a management server that cannot be believed


def test_that_of_another_cluster_is_not_believed(look, ndb):
    look()
    ndb.end(4)
    ndb.seen = {node: NodeStatus("STARTED", 0) for node in range(1, 9)} | {4: NodeStatus("STARTING", 2)}
    status, text = look()
    assert status == 2
    assert "node 4 is missing, node group 0 has only node 3 left - see ndb_4_out.log, if ended" in first_line(
        text
    )
    assert "[OK] the management server mgm1:1186 is not believed: it has 8 data nodes, nodes 1, 2" in text


def test_one_that_has_lost_the_data_nodes_is_not_believed(look, ndb):
    look()
    ndb.end(4)
    ndb.seen = {3: NodeStatus("NO_CONTACT", 0), 4: NodeStatus("STARTING", 0)}
    status, text = look()
    assert status == 2
    assert "not believed: it has no contact to node 3, which answers sql1:3306" in text


def test_it_gives_names_only_if_it_knows_those_that_answer(look, ndb):
    ndb.drop(*PLACED)
    ndb.end(4)
    ndb.seen = {1: NodeStatus("STARTED", 0), 2: NodeStatus("STARTED", 0)}
    assert "1 of 2 data nodes is missing" in first_line(look()[1])


# node groups


def test_groups_are_remembered(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    look = look_at(ndb)
    assert "4 of 4 data nodes are up in 2 node groups" in look()[1]
    ndb.end(4)
    ndb.end(5)
    status, text = look()
    assert status == 2
    assert "nodes 4 and 5 are missing, 2 node groups have one member left" in first_line(text)
    assert "groups_without_redundancy=2 groups_lost=0" in text


def test_a_group_without_a_member_is_told_first(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    look = look_at(ndb)
    look()
    ndb.end(5)
    ndb.end(6)
    ndb.starts(6)
    status, text = look()
    assert status == 2
    assert "node group 1 is down (nodes 5 and 6), data is missing - " in first_line(text)
    assert "groups_without_redundancy=0 groups_lost=1" in text


def test_a_group_that_starts_as_a_whole_is_critical(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    look = look_at(ndb)
    look()
    for node in (5, 6):
        ndb.answers(node, "STARTING", 4)
    status, text = look()
    assert status == 2
    assert "node group 1 is down" in first_line(text)
    assert " - wait, ndb_N_out.log shows the progress" in first_line(text)
    assert "ndbmtd" not in text


def test_a_group_that_only_the_sql_node_has_lost_is_not_to_be_started(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    look = look_at(ndb)
    look()
    for node in (5, 6):
        ndb.end(node)
        ndb.seen[node] = NodeStatus("STARTED", 0)
    look()
    status, text = look()
    assert status == 2
    assert "sql1:3306 has no contact to node group 1 (nodes 5 and 6) - check the net" in first_line(text)
    assert "ndbmtd" not in text
    assert "not there" not in text


def test_a_node_that_starts_does_not_know_its_group_yet(look, ndb):
    look()
    ndb.answers(4, "STARTING")
    ndb.tables["membership"][1]["group_id"] = 4294967040
    assert "node group 0 has only node 3 left" in look()[1]
    ndb.end(4)
    assert "node group 0 has only node 3 left" in look()[1]


def test_with_one_replica_a_node_is_a_group(look, ndb):
    for row in ndb.tables["config_values"]:
        if row["config_param"] == 101:
            row["config_value"] = "1"
    ndb.end(4)
    status, text = look()
    assert status == 2
    assert "node group of node 4 is down (node 4)" in first_line(text)
    assert "groups_lost=1" in text


def test_of_four_replicas_two_are_gone(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    for row in ndb.tables["membership"]:
        row["group_id"] = 0
    look = look_at(ndb)
    look()
    for node in (3, 4):
        ndb.end(node)
    assert "node group 0 has lost 2 members" in first_line(look()[1])


def test_nodes_that_were_never_started_have_not_ended(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    for node in (5, 6):
        ndb.end(node)
    _, text = look_at(ndb)()
    assert "\n  no look has seen them up: ndb_N_out.log may not exist yet" in text


def test_where_no_look_has_seen_it_up_the_group_is_the_one_that_has_room(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    ndb.end(6)
    _, text = look_at(ndb)()
    assert "node 6 is missing, node group 1 has only node 5 left" in first_line(text)


def test_a_group_is_never_guessed(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    ndb.end(3)
    ndb.end(6)
    status, text = look_at(ndb)()
    assert status == 2
    assert ("nodes 3 and 6 are missing - see ndb_N_out.log, then run ndbmtd --ndb-nodeid=N") in first_line(
        text
    )
    assert "\n  the node group of nodes 3 and 6 is not known" in text
    assert "groups_without_redundancy=2 groups_lost=0" in text


def test_a_third_member_leaves_redundancy(look_at):
    ndb = NodesNdb((3, 4, 5))
    for row in ndb.tables["membership"]:
        row["group_id"] = 0
    look = look_at(ndb)
    look()
    ndb.end(5)
    status, text = look()
    assert status == 2
    assert "node 5 is missing, node group 0 has lost a member" in first_line(text)
    assert "groups_without_redundancy=0" in text


def test_with_one_replica_there_is_no_redundancy_to_lose(look_at):
    ndb = NodesNdb((3, 4))
    for row in ndb.tables["membership"]:
        row["group_id"] = row["node_id"] - 3
    status, text = look_at(ndb)()
    assert status == 0
    assert "2 of 2 data nodes are up in 2 node groups" in first_line(text)
    assert "groups_without_redundancy=0" in text


@pytest.mark.parametrize("group", [65535, 65536, 4294967040])
def test_a_node_without_a_group_is_in_none(look_at, group):
    ndb = NodesNdb((3, 4, 5))
    ndb.tables["membership"][-1]["group_id"] = group
    look = look_at(ndb)
    status, text = look()
    assert status == 0
    assert "3 of 3 data nodes are up in 1 node group" in first_line(text)
    ndb.end(5)
    assert "node 5 is missing - see" in look()[1]


def test_a_node_that_was_taken_out_of_the_configuration_is_not_missed(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    look = look_at(ndb)
    look()
    for node in (5, 6):
        ndb.end(node)
    ndb.tables["config_nodes"] = [row for row in ndb.tables["config_nodes"] if row["node_id"] not in (5, 6)]
    ndb.status["Ndb_number_of_data_nodes"] = 2
    status, text = look()
    assert status == 0
    assert "2 of 2 data nodes are up in 1 node group" in first_line(text)


# SQL, API and management nodes


def test_an_sql_node_that_is_gone_is_a_warning_until_somebody_forgets_it(look, ndb):
    ndb.connect(52)
    for _ in range(12):
        assert look()[0] == 0
    ndb.disconnect(52)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - SQL node 52 is not connected to the data nodes"
        " - check mysqld at 10.0.0.52:3306 and its log"
    )
    assert perfdata(text)["api_nodes_missing"] == "1;0"
    assert "\n  node 52 was mysqld at 10.0.0.52:3306, last seen 1 min ago\n" in text
    assert look("--forget-api", "52")[0] == 0
    assert look()[0] == 0


def test_an_sql_node_that_data_nodes_reach_at_different_addresses_is_one(look, ndb):
    ndb.connect(52)
    ndb.tables["processes"][-1]["service_URI"] = "mysql://192.168.0.52:3306/?server-id=2"
    for _ in range(12):
        assert look()[0] == 0
    ndb.tables["processes"].reverse()
    assert look()[0] == 0
    ndb.disconnect(52)
    assert "check mysqld at 10.0.0.52:3306 and its log" in first_line(look()[1])


def test_a_node_that_the_user_expects_is_missed_at_once(look):
    assert look("--expect-api", "51")[0] == 0
    status, text = look("--expect-api", "51", "--expect-api", "60")
    assert status == 1
    assert "API node 60 is not connected to the data nodes" in first_line(text)


@pytest.mark.parametrize("number", ["0", "256", "x", "-1", "9" * 50])
def test_what_is_no_number_of_a_node_is_refused(look, number):
    status, text = look("--expect-api", number)
    assert status == 3
    assert "is not a number from 1 to 255" in text


def test_clients_that_cannot_be_asked_for_are_not_forgotten(look, ndb):
    ndb.connect(52)
    for _ in range(12):
        look()
    ndb.disconnect(52)
    ndb.failing = {"processes": MysqlError("sql1:3306 says something odd")}
    assert look()[0] == 3
    ndb.failing = {}
    assert look()[0] == 1


# restarts


def test_a_missing_node_is_named_although_the_user_bears_with_one(look, ndb):
    look()
    ndb.end(4)
    status, text = look("-c", "1")
    assert status == 0
    assert "[OK] node 4 is missing, node group 0 has only node 3 left" in text


def test_a_restart_is_a_warning_for_a_while(look, ndb):
    look()
    ndb.restart(4)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - node 4 restarted 1 min 20 s ago - if unplanned, see in "
        "ndb_4_out.log what ended it"
    )
    assert look(after=500)[0] == 1
    assert look()[0] == 0


def test_how_long_can_be_set(look, ndb):
    look()
    ndb.restart(4)
    assert look("--restarted", "1m")[0] == 0
    assert look("--restarted", "3m")[0] == 1


def test_a_rolling_restart_that_was_seen_is_an_aside(look, ndb):
    look()
    ndb.answers(4, "STOPPING_1")
    look()
    ndb.answers(4, "STARTED")
    for node in (3, 4):
        ndb.restart(node)
        ndb.node(node)["config_generation"] = 2
    for _ in range(2):
        status, text = look()
        assert status == 1  # node 3, of which nobody has seen it
        assert "node 3 restarted " in first_line(text)
        assert "\n[OK] node 4 has been restarted in order" in text
        assert "uptime=" in text
    ndb.restart(4)
    assert "nodes 3 (3 min 20 s ago) and 4 (1 min 20 s ago) restarted - if unplanned" in look()[1]


def test_a_crash_is_none_although_a_new_configuration_waits_for_it(look, ndb):
    look()
    ndb.restart(4)
    ndb.node(4)["config_generation"] = 2
    status, text = look()
    assert status == 1
    assert "node 4 restarted 1 min 20 s ago - if unplanned" in first_line(text)


def test_a_crash_loop_is_one_although_looks_have_seen_it_missing(look, ndb):
    look()
    for _ in range(3):
        ndb.end(4)
        assert look()[0] == 2
        ndb.back(4)
        status, text = look(after=300)
    assert status == 1
    assert "node 4 restarted 3 times within 1 h, the last time 5 min 20 s ago" in first_line(text)


def test_a_restart_right_after_a_look_is_seen_an_hour_later(look, ndb):
    ndb.restart(4, 1000)
    for _ in range(3):
        look()
        ndb.restart(4, 0)
        ndb.later(-3)
        ndb.node(3)["uptime"] += 3
        ndb.restart(4, 0)
        _, text = look(after=1150)
    assert "node 4 restarted 3 times within 1 h" in first_line(text)


def test_a_node_that_does_not_stay_up_is_told_as_such(look, ndb):
    look()
    for _ in range(3):
        look(after=300)
        ndb.restart(4)
        status, text = look()
    assert status == 1
    assert (
        "node 4 restarted 3 times within 1 h, the last time 1 min 20 s ago - if unplanned, see in "
        "ndb_4_out.log what ended it" in text
    )
    assert "more problem" not in text
    status, text = look(after=900)
    assert status == 1
    assert look(after=3600)[0] == 0


def test_nodes_that_have_started_together_are_one_sentence(look, ndb):
    ndb.restart(3, 10)
    ndb.restart(4, 30)
    _, text = look()
    assert "nodes 3 (1 min 10 s ago) and 4 (1 min 30 s ago) restarted - if" in first_line(text)


# configuration


def test_generations_that_differ_are_a_warning_when_it_lasts(look, ndb):
    ndb.node(3)["config_generation"] = 2
    assert look()[0] == 0
    assert look(after=1700)[0] == 0
    status, text = look(after=200)
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - the generations of the configuration differ: 1 on node 4 and 2 on node 3 "
        "(limit 30 min), a rolling restart is not finished - restart node 4"
    )
    ndb.node(4)["config_generation"] = 2
    assert look()[0] == 0
    ndb.node(4)["config_generation"] = 3
    assert look()[0] == 0


# arbitrator


def test_an_arbitrator_that_is_lost_is_critical_when_it_lasts(look, ndb):
    ndb.arbitration(3, arbitrator=0, arb_state="ARBIT_FIND", arb_connected="No")
    ndb.arbitration(4, arbitrator=0, arb_state="ARBIT_NULL", arb_connected="No")
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - the data nodes have no arbitrator, one more failure stops the cluster - "
        "check ndb_mgmd"
    )
    assert look(after=300)[0] == 1
    assert look(after=60)[0] == 2
    ndb.arbitration(arbitrator=1, arb_state="ARBIT_RUN", arb_connected="Yes")
    assert look()[0] == 0
    ndb.arbitration(arbitrator=0)
    assert look()[0] == 1


def test_without_an_arbitrator_a_management_node_that_is_down_is_named(look, ndb):
    ndb.arbitration(arbitrator=0)
    ndb.disconnect(1)
    ndb.seen = None
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_NODES WARNING - the data nodes have no arbitrator, management node mgm1:1186 is down - "
        "start ndb_mgmd there"
    )
    assert "\n  one more failure stops the cluster\n" in text


def test_a_management_node_that_runs_without_the_data_nodes_may_be_cut_off(look, ndb):
    ndb.arbitration(arbitrator=0)
    ndb.disconnect(1)
    assert first_line(look()[1]).endswith(
        "no arbitrator, no management node is connected - check ndb_mgmd, then its network"
    )


def test_a_management_node_that_hangs_is_told_below(look, ndb, monkeypatch):
    ndb.arbitration(arbitrator=0)
    ndb.disconnect(1)

    def hangs(host, port, _):
        raise ProbeError(f"the management server {host}:{port} has not answered within 1.5 s")

    monkeypatch.setattr(ndb_mgm, "data_nodes", hangs)
    _, text = look()
    assert "no management node is connected" in first_line(text)
    assert "\n  the management server mgm1:1186 has not answered within 1.5 s\n" in text


def test_a_management_node_is_asked_for_in_trouble_only(look, ndb):
    ndb.disconnect(1)
    assert look()[0] == 0
    assert ndb.asked_at == []


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"arbitrator": 51}, "the data nodes do not agree on an arbitrator: node 1 and node 51"),
        ({"arbitrator": 0}, "node 4 has no arbitrator"),
        ({"arb_connected": "No"}, "node 4 has lost the arbitrator, node 1"),
        ({"arb_ticket": "beef"}, "the data nodes do not agree on the ticket of the arbitrator, node 1"),
        ({"arb_state": "ARBIT_CRASH"}, "the arbitrator, node 1, does not run: ARBIT_CRASH on node 4"),
    ],
)
def test_all_have_to_agree(look, ndb, columns, words):
    ndb.arbitration(4, **columns)
    status, text = look()
    assert status == 1
    assert words in first_line(text)


@pytest.mark.parametrize("state", ["ARBIT_INIT", "ARBIT_PREP1", "ARBIT_PREP2", "ARBIT_START"])
def test_one_that_is_being_found_is_no_trouble(look, ndb, state):
    ndb.arbitration(3, arb_state=state)
    assert look()[0] == 0


def test_with_one_data_node_up_there_is_nothing_to_decide(look, ndb):
    ndb.end(4)
    ndb.arbitration(arbitrator=0)
    assert "arbitrator" not in look()[1]


@pytest.mark.parametrize(
    ("method", "words"), [("0", "Arbitration=Disabled"), ("2", "Arbitration=WaitExternal")]
)
def test_where_there_is_to_be_none_that_is_an_aside(look, ndb, method, words):
    ndb.arbitration(arbitrator=0, arb_state="ARBIT_NULL", arb_connected="No")
    for row in ndb.tables["config_values"]:
        if row["config_param"] == 142:
            row["config_value"] = method
    status, text = look()
    assert status == 0
    assert f"\n[OK] the data nodes have no arbitrator ({words}" in text


def test_more_nodes_have_more_to_lose(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    ndb.arbitration(arbitrator=0)
    assert "a network split may stop all data nodes" in look_at(ndb)()[1]


# transporters


def test_overloads_are_critical_the_second_time(look, ndb):
    look()
    ndb.link(3, 4, overload_count=30)
    status, text = look(after=120)
    assert status == 1
    assert "overloads=15;0" in text
    assert (
        "links of node 3 to data nodes were overloaded 15 times per minute (limit 10) - check CPU and "
        "network of the slow receivers"
    ) in first_line(text)
    assert "\n  30 times within 2 min\n" in text
    ndb.link(3, 4, overload_count=30)
    status, text = look()
    assert status == 2
    assert "overloads=30;0;10" in text
    assert look()[0] == 0
    ndb.link(3, 4, overload_count=1)
    assert look()[0] == 1


@pytest.mark.parametrize("after", [0, 5, 7])
def test_a_look_soon_after_another_confirms_nothing(look, ndb, after):
    look()
    ndb.link(3, 4, overload_count=30)
    assert look()[0] == 1
    assert look(after=after)[0] == 1
    assert look(after=after)[0] == 1
    ndb.link(3, 4, overload_count=30)
    assert look()[0] == 2


def test_of_a_link_that_was_connected_anew_nobody_knows_what_it_has_counted(look, ndb):
    ndb.link(3, 4, overload_count=1000)
    ndb.link(4, 3, overload_count=1000)
    look()
    ndb.link(3, 4, overload_count=-900, connect_count=1)
    ndb.link(4, 3, overload_count=-900, connect_count=1)
    status, text = look()
    assert status == 1
    assert "reconnected" in first_line(text)
    assert "overloads=" not in text


def test_what_is_not_measured_is_no_zero(look, ndb):
    look()
    ndb.denied = {"transporters"}
    status, text = look()
    assert status == 3
    assert {"overloads", "reconnects"}.isdisjoint(perfdata(text))


def test_a_first_look_says_what_it_cannot_tell(look, ndb):
    said = "overloads, reconnects and page faults of nodes 3 and 4 can be known from the next run on: "
    assert said + "no earlier look" in look()[1]
    assert said + "the first look was a moment ago" in look(after=5)[1]
    assert said not in look()[1]


def test_a_few_page_faults_in_a_moment_are_no_rate(look, ndb):
    look()
    ndb.tables["threadstat"][0]["os_ru_majflt"] += 9
    status, text = look(after=5)
    assert status == 0
    assert "major_faults" not in text


def test_links_to_clients_are_their_own_matter(look, ndb):
    look()
    ndb.link(3, 51, overload_count=30, connect_count=9)
    assert look()[0] == 0


def test_links_that_break_are_a_warning(look, ndb):
    look()
    ndb.link(3, 4, connect_count=2)
    ndb.link(4, 3, connect_count=2)
    status, text = look()
    assert status == 1
    assert (
        "links between data nodes reconnected 4 times within 1 min, most at node 3 - "
        "check the network between the data nodes"
    ) in first_line(text)


def test_a_node_that_ends_breaks_its_links_which_is_no_trouble_of_theirs(look, ndb):
    look()
    kept = {table: [dict(row) for row in rows] for table, rows in ndb.tables.items()}
    ndb.end(4)
    look()
    ndb.tables = kept
    ndb.status["Ndb_number_of_ready_data_nodes"] = 2
    ndb.node(3)["uptime"] += 60
    ndb.restart(4)
    ndb.link(3, 4, connect_count=1)
    for _ in range(3):
        _, text = look("--restarted", "0")
        assert "reconnected" not in text
    assert look()[0] == 1  # the restart itself


def test_counters_that_begin_anew_are_never_negative(look, ndb):
    ndb.link(3, 4, overload_count=50)
    look()
    ndb.link(3, 4, overload_count=-50)
    status, text = look()
    assert status == 0
    assert "=-" not in text


# threads


def test_a_thread_without_time_left_is_critical(look, ndb):
    ndb.works(4, 2, 97)
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_NODES CRITICAL - ldm thread 2 of node 4 worked 97 % of the last 6 min 40 s (limit 95 %) - add "
        "ldm threads (ThreadConfig) or reduce load"
    )
    assert "thread_use=97%;85;95" in text
    ndb.works(4, 2, 90)
    assert look()[0] == 1


def test_a_short_time_of_it_is_a_warning_at_most(look, ndb):
    ndb.works(4, 2, 100, samples=3)
    assert look()[0] == 1


def test_a_thread_that_gets_no_processor(look, ndb):
    ndb.works(3, 0, 96, processor=40)
    status, text = look()
    assert status == 2
    assert (
        "main thread 0 of node 3 worked 96 % of the last 6 min 40 s (limit 95 %), with a processor for "
        "40 % only - check other CPU load on its host"
    ) in text


def test_send_threads_help_out_only(look, ndb):
    ndb.works(3, 5, 99)
    assert look()[0] == 0


def test_a_node_that_swaps_is_a_warning(look, ndb):
    look()
    for row in ndb.tables["threadstat"]:
        row["os_ru_majflt"] += 50 if row["node_id"] == 4 else 1
    status, text = look()
    assert status == 1
    assert "node 4 had 300 major page faults per minute (limit 100), its host swaps - " in first_line(text)


# certificates


@pytest.mark.parametrize(
    ("days", "state", "words"),
    [
        (400, 0, "expires in 400 d"),
        (29, 1, "expires in 29 d"),
        (6, 2, "expires in 6 d"),
        (-2, 2, "has expired 2 d ago"),
    ],
)
def test_certificates_expire(look, ndb, days, state, words):
    ndb.tables["ndb$certificates"] = [
        {"node_id": node, "name": "NDB Data Node Cert", "serial": "1", "expires": ndb.now + 60 + due * DAY}
        for node, due in ((3, 500), (4, days))
    ]
    status, text = look("-v")
    assert status == state
    assert f"the TLS certificate of node 4 (NDB Data Node Cert) {words}" in text


def test_certificates_that_expire_together_are_one_sentence(look, ndb):
    ndb.tables["ndb$certificates"] = [
        {"node_id": node, "name": "NDB Data Node Cert", "serial": "1", "expires": ndb.now + 5 * DAY + node}
        for node in (3, 4)
    ]
    _, text = look()
    assert (
        "of nodes 3 and 4 (NDB Data Node Cert) expires in 5 d (minimum 7 d) - run ndb_sign_keys"
        in first_line(text)
    )


def test_a_bare_limit_of_certificates_is_refused(look):
    status, text = look("--certificate-warning", "30d")
    assert status == 3
    assert 'write "30d:"' in text


# what cannot be asked


@pytest.mark.parametrize(
    "table", ["restart_info", "membership", "transporters", "threadstat", "cpustat_20sec"]
)
@pytest.mark.parametrize("error", [MysqlError, NoAnswerError, UnreachableError, ProbeError])
def test_a_missing_node_is_told_whatever_else_fails(look, ndb, table, error):
    look()
    ndb.end(4)
    ndb.failing = {f"ndbinfo.{table}": error("sql1:3306 says something odd")}
    status, text = look("--unreachable", "unknown")
    assert status == 2
    assert "node 4 is missing, node group 0 has only node 3 left" in first_line(text)
    assert "] sql1:3306 says something odd" in text
    left_out = "not looked at, after that" in text
    assert left_out == (error in (NoAnswerError, UnreachableError))


def test_null_costs_its_subject_only(look, ndb):
    ndb.arbitration(4, arbitrator=None)
    ndb.works(4, 2, 99)
    status, text = look("--unreachable", "critical")
    assert status == 2
    assert "ldm thread 2 of node 4 worked 99 %" in first_line(text)
    assert "[UNKNOWN] ndbinfo: arbitrator is None, which is no number: " in text
    ndb.end(4)
    ndb.tables["restart_info"] = [
        {"node_id": 4, "node_restart_status": None, "node_restart_status_int": None}
    ]
    assert "node 4 is missing" in first_line(look()[1])


@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_where_everything_is_slow_the_missing_node_is_told_and_remembered(
    look, ndb, monkeypatch, tmp_path, verbose
):
    def silent(*_):
        ndb.later(1.5)
        raise ProbeError("the management server mgm1:1186 has not answered within 1.5 s")

    ndb.keep_time(monkeypatch)
    ndb.end(4)
    ndb.takes = 1.0
    monkeypatch.setattr(ndb_mgm, "data_nodes", silent)
    begun = ndb.now
    status, text = look(*verbose)
    assert ndb.now - begun < 60 + 8
    assert status == 2
    assert "node 4 is missing, node group 0 has only node 3 left" in first_line(text)
    assert "[OK] not looked at, as no time is left (--timeout): ndbinfo.transporters, threadstat" in text
    assert list(tmp_path.glob("*.json"))


def test_what_this_check_had_no_time_to_look_at_is_unknown(look, ndb, monkeypatch):
    ndb.keep_time(monkeypatch)
    ndb.end(4)
    ndb.takes = 1.4
    monkeypatch.setattr(Account, "lost", lambda _: 8.0)
    status, text = look()
    assert status == 2
    assert "node 4 is missing" in first_line(text)
    assert "[UNKNOWN] this check had 500 ms of 8 s left" in text


def test_what_was_left_out_is_the_first_at_the_next_look(look, ndb, monkeypatch):
    ndb.keep_time(monkeypatch)
    look()
    ndb.takes = 1.4
    said = [look()[1] for _ in range(2)]
    assert "ndbinfo.cpustat_20sec, certificates" in said[0]
    assert "thread_use" not in perfdata(said[0])
    assert "thread_use" in perfdata(said[1])


def test_a_run_that_is_cut_short_has_a_verdict(look, ndb, monkeypatch):
    look()
    ndb.end(4)
    told = []
    monkeypatch.setattr("stallwatch.frame.run.Run.so_far", lambda _, findings: told.append(list(findings)))
    look()
    findings, *_ = told
    assert any(
        (one.what, one.why) == ("node 4 is missing", "node group 0 has only node 3 left")
        for one in findings
        if hasattr(one, "why")
    )


def test_what_lasts_is_critical_although_every_run_is_cut_short(look, ndb):
    ndb.arbitration(arbitrator=0)
    ndb.failing = {"transporters": NoAnswerError("sql1:3306 has not answered within 1 s")}
    assert [look(after=100)[0] for _ in range(5)] == [1, 1, 1, 1, 2]


def test_one_hiccup_does_not_reset_a_clock(look, ndb):
    ndb.arbitration(arbitrator=0)
    look()
    assert look(after=400)[0] == 2
    ndb.failing = {"membership": MysqlError("sql1:3306 says something odd")}
    assert look()[0] == 3
    ndb.failing = {}
    assert look()[0] == 2
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    assert look()[0] == 1
    ndb.status["Ndb_number_of_ready_data_nodes"] = 2
    status, text = look()
    assert status == 2
    assert "no arbitrator" in first_line(text)


def test_a_cluster_that_goes_down_meanwhile_is_told_once(look, ndb, monkeypatch):
    look()
    real = ndb.rows

    def rows(sql, *arguments):
        if "cpustat" in sql:
            ndb.lost = 9
            ndb.status["Ndb_number_of_ready_data_nodes"] = 0
            ndb.seen = dict.fromkeys(ndb.seen, NodeStatus("NO_CONTACT", 0))
        return real(sql, *arguments)

    monkeypatch.setattr(ndb, "rows", rows)
    status, text = look()
    assert status == 2
    assert first_line(text).startswith("NDB_NODES CRITICAL - cluster down: none of 2 data nodes")
    assert "nodes_started_2" not in text


def test_a_version_whose_links_count_nothing(look, ndb):
    ndb.failing = {"overload_count": MysqlError("sql1:3306 says: Unknown column (error 1054)", "", 1054)}
    look()
    status, text = look("-v")
    assert status == 0
    assert "not looked at, as this version does not have it: ndbinfo.transporters" in text


def test_a_node_that_answers_has_rows_everywhere(look, ndb):
    for table in ("membership", "threadstat", "transporters"):
        ndb.tables[table] = [row for row in ndb.tables[table] if row["node_id"] != 4]
    status, text = look()
    assert status == 3
    for table in ("membership", "threadstat", "transporters"):
        assert f"node 4 answers, but has no row in ndbinfo.{table}" in text


@pytest.mark.parametrize("silent", [(), (3,)])
@pytest.mark.parametrize("table", ["membership", "transporters", "threadstat", "cpustat_20sec"])
def test_a_node_that_ends_meanwhile_is_missing(look, ndb, table, silent):
    """It is looked anew then: the rows of others are there again, and no number is told twice."""
    look()
    ndb.ends_before(table, 4, silent)
    status, text = look()
    assert status == 2
    assert first_line(text).startswith("NDB_NODES CRITICAL - node 4 is missing, node group 0 has only node 3")
    assert "has no row" not in text
    assert text.splitlines()[0].count(" nodes_started=") == 1
    assert perfdata(text)["nodes_missing"] == "1;;0"


def test_two_nodes_that_end_one_after_the_other_are_told(look_at):
    ndb = NodesNdb((3, 4, 5, 6))
    look = look_at(ndb)
    look()
    ndb.ends_before("transporters", 4)
    ndb.ends_before("threadstat", 6)
    status, text = look()
    assert status == 2
    assert "node 4 is missing" in first_line(text)
    assert "[UNKNOWN] node 6 has ended while sql1:3306 was asked, and one more just before - run the" in text
    assert "nodes 4 and 6 are missing" in first_line(look()[1])


def test_whether_a_node_has_ended_cannot_be_asked(look, ndb, monkeypatch):
    look()
    ndb.tables["threadstat"] = [row for row in ndb.tables["threadstat"] if row["node_id"] != 4]
    real = ndb.rows

    def rows(sql, *arguments):
        if "threadstat" in sql:
            ndb.failing = {"ndbinfo.nodes": NoAnswerError("sql1:3306 has not answered within 7 s")}
        return real(sql, *arguments)

    monkeypatch.setattr(ndb, "rows", rows)
    status, text = look()
    assert status == 3
    assert "node 4 answers, but has no row in ndbinfo.threadstat" in first_line(text)
    assert "[UNKNOWN] sql1:3306 has not answered within 7 s" in text
    assert perfdata(text)["nodes_started"] == "2;;;0;2"


def test_a_table_of_samples_that_is_empty_is_unknown(look, ndb):
    ndb.columns["cpustat_20sec"] = list(ndb.tables["cpustat_20sec"][0])
    ndb.tables["cpustat_20sec"] = []
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 answer, but have no row in ndbinfo.cpustat_20sec" in text


def test_a_node_without_samples_is_not_taken_for_one_that_rests(look, ndb):
    ndb.tables["cpustat_20sec"] = [row for row in ndb.tables["cpustat_20sec"] if row["node_id"] != 4]
    status, text = look()
    assert status == 3
    assert "node 4 answers, but has no row in ndbinfo.cpustat_20sec" in first_line(text)
    ndb.restart(4, 0)
    ndb.later(-30)
    ndb.restart(4, 10)
    assert "cpustat" not in look(after=25)[1]


def test_a_table_that_cannot_be_read_is_unknown_and_costs_no_memory(look, ndb):
    ndb.failing = {"cpustat_20sec": MysqlError("sql1:3306 says: Incompatible table definitions", "", 1296)}
    ndb.arbitration(arbitrator=0)
    assert look("--arbitrator-grace", "30")[0] == 1
    status, text = look("--arbitrator-grace", "30")
    assert status == 2
    assert "[UNKNOWN] sql1:3306 says: Incompatible table definitions" in text
    ndb.arbitration(arbitrator=1)
    assert look()[0] == 3


def test_an_old_version_is_judged_by_what_it_has(look, ndb):
    ndb.drop(*PLACED, "ndb$certificates", "threadstat", "restart_info")
    for row in ndb.tables["nodes"]:
        del row["config_generation"]
    look()
    status, text = look()
    assert status == 0
    assert text.count("\n") == 0
    assert "2 of 2 data nodes are up, the youngest for" in first_line(text)
    _, text = look("-v")
    assert (
        "[OK] not looked at, as this version does not have it: "
        "ndbinfo.membership, threadstat, cpustat_20sec, certificates, processes"
    ) in text
    ndb.end(4)
    status, text = look()
    assert status == 2
    assert "node 4 is missing" in first_line(text)


def test_an_old_version_has_names_from_the_management_server(look, ndb):
    ndb.drop(*PLACED)
    ndb.end(4)
    _, text = look()
    assert "node 4 is missing" in first_line(text)


def test_without_any_names_missing_nodes_are_counted(look, ndb):
    ndb.drop(*PLACED)
    ndb.end(4)
    ndb.seen = None
    status, text = look()
    assert status == 2
    assert "1 of 2 data nodes is missing" in first_line(text)
    assert "nodes_started=1;;;0;2 nodes_missing=1;;0" in text


def test_memory_that_is_damaged_does_no_harm(look, ndb, tmp_path):
    look()
    path = next(tmp_path.glob("ndb_nodes-*.json"))
    import json

    content = json.loads(path.read_text())
    names = list(content["values"])
    assert {
        "data_nodes",
        "clocks",
        "node_groups",
        "stopping",
        "restarts",
        "transporters",
        "threadstat",
    } <= set(names)
    for nonsense in (
        None,
        7,
        "x",
        [],
        {},
        [None],
        {"3": None, "4": {"uptime": "x"}},
        {"x": "y"},
        {"3": 10**300},
        [[1]],
        {"\u00b2": 1, "9" * 5000: 1, "4": -1, "5": True},
        {"time": "x", "at": None, "uptimes": [], "begun": {"3": "x"}},
    ):
        content["values"] = dict.fromkeys(names, nonsense)
        path.write_text(json.dumps(content))
        status, text = look()
        if nonsense == {"3": 10**400}:  # no number of ours: the whole file is damaged
            assert (status, "is damaged" in text) == (3, True)
            status, text = look()
        assert status == 0, text


def test_a_clock_that_is_set_back_does_no_harm(look, ndb):
    ndb.arbitration(arbitrator=0)
    look()
    ndb.now -= 5000
    status, text = look()
    assert status == 1
    assert "restarted" not in text


def test_a_restart_that_nobody_has_contact_to_any_more_has_ended(look, ndb):
    ndb.end(4)
    ndb.starts(4, status="NO_CONTACT", doing=(10, "Copy metadata"))
    assert look()[0] == 2


def test_without_state_nothing_lasts(look, ndb):
    ndb.arbitration(arbitrator=0)
    assert [look("--no-state", after=400)[0] for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(("option", "state"), [("unknown", 3), ("critical", 2), (None, 2)])
def test_an_sql_node_that_does_not_answer_is_what_the_user_says(look, monkeypatch, option, state):
    def refused(*_):
        raise UnreachableError("sql1:3306 refused the connection")

    monkeypatch.setattr(mysql, "connect", refused)
    status, text = look(*(("--unreachable", option) if option else ()))
    assert status == state
    assert "sql1:3306 refused the connection" in text


def test_offline_is_unknown(look, ndb):
    ndb.tables["nodes"].clear()
    ndb.columns["nodes"] = ["node_id"]
    ndb.notes = ["'NDBINFO' has been started in offline mode: @@global.ndbinfo_offline is turned on"]
    assert look()[0] == 3


def test_a_grant_that_is_missing_is_unknown(look, ndb):
    ndb.denied = {"nodes"}
    status, text = look()
    assert status == 3
    assert "GRANT SELECT ON ndbinfo.* TO 'mon'@'%'" in text


# 48 data nodes


@pytest.fixture
def many(look_at):
    ndb = NodesNdb(tuple(range(1, 49)))
    return ndb, look_at(ndb)


def test_the_line_stays_short(many):
    ndb, look = many
    look()
    for node in range(1, 49, 2):
        ndb.end(node)
    for node in range(1, 12, 2):
        ndb.starts(node)
    status, text = look()
    assert status == 2
    assert len(text.splitlines()[0].encode()) < 1023
    assert "nodes 13, 15, 17, 19 and 14 more are missing, 18 node groups have one member left" in (
        first_line(text)
    )
    assert "\n  node groups 6, 7, 8, 9 and 14 more have only one member each left\n" in text
    assert "node 1 is starting" in text
    assert "groups_without_redundancy=24 groups_lost=0" in text
    for node in range(2, 49, 2):
        if node != 48:
            ndb.end(node)
    status, text = look()
    assert status == 2
    assert len(text.splitlines()[0].encode()) < 1023
    assert "node groups 0, 1, 2, 3 and 19 more are down (nodes 1, 2, 3, 4 and 42 more)" in first_line(text)


def test_few_rows_are_read(many, monkeypatch):
    ndb, look = many
    rows = []
    real = ndb.rows

    def counted(*arguments, **settings):
        found = real(*arguments, **settings)
        rows.append(len(found))
        return found

    monkeypatch.setattr(ndb, "rows", counted)
    assert look()[0] == 0
    assert max(rows) == 48
    assert sum(rows) < 48 * 6 + 20
