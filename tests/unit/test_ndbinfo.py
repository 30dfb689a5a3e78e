"""Who is there in a cluster, and what its data nodes counted since the last look."""

import pytest
from fake_ndb import OFFLINE, FakeNdb
from stallwatch.findings import ProbeError, State
from stallwatch.history.delta import Interval, NoIntervalError
from stallwatch.probes.ndbinfo.cluster import Intervals, look, named
from stallwatch.probes.ndbinfo.queries import ClusterDownError, Ndbinfo
from stallwatch.sources.mysql import DeniedError, MissingTableError, MysqlError, NoAnswerError


@pytest.fixture
def ndb():
    return FakeNdb()


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)


def seen(ndb, memory=None):
    return look(Ndbinfo(ndb, ndb.deadline), {} if memory is None else memory)


def asides(cluster):
    found = list(cluster.asides())
    assert all(aside.state is State.OK for aside in found)
    return [aside.what for aside in found]


def test_all_are_there(ndb):
    cluster = seen(ndb)
    assert (cluster.started, cluster.not_started, cluster.missing) == ((3, 4), (), ())
    assert cluster.nodes[3].uptime == 5000
    assert asides(cluster) == []


def test_a_missing_node_is_named(ndb):
    ndb.end(4)
    cluster = seen(ndb)
    assert (cluster.started, cluster.missing) == ((3,), (4,))
    assert asides(cluster) == ["node 4 does not answer: judged without it"]


def test_many_missing_nodes_are_few_words():
    ndb = FakeNdb(nodes=range(1, 49))
    for node in range(2, 12):
        ndb.end(node)
    assert asides(seen(ndb)) == ["nodes 2, 3, 4, 5 and 6 more do not answer: judged without them"]


def test_a_starting_node_is_no_started_one(ndb):
    ndb.node(4).update(status="STARTING", start_phase=100)
    cluster = seen(ndb)
    assert (cluster.started, cluster.not_started, cluster.missing) == ((3,), (4,), ())
    assert asides(cluster) == ["node 4 is starting"]


def test_no_data_node_connected(ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    with pytest.raises(ClusterDownError, match=r"^none of 2 data nodes is connected to sql1:3306"):
        seen(ndb)


def test_an_sql_node_that_has_not_reached_its_cluster_yet(ndb):
    ndb.status = {"Ndb_number_of_data_nodes": 0, "Ndb_number_of_ready_data_nodes": 0}
    with pytest.raises(ClusterDownError, match="sql1:3306 has reached no data node since it was started"):
        seen(ndb)


def test_an_sql_node_that_loses_its_cluster_for_a_moment(ndb, monkeypatch):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    monkeypatch.setattr("time.sleep", lambda _: ndb.status.update(Ndb_number_of_ready_data_nodes=2))
    assert seen(ndb).started == (3, 4)


@pytest.mark.parametrize(
    ("waited", "restart", "check"), [(7, True, True), (2, False, True), (0.1, False, False)]
)
def test_ndbinfo_is_silent(ndb, waited, restart, check):
    """A restart is advised only after a silence that no frozen data node explains."""
    silent = f"sql1:3306 has not answered within {waited} s: asked SELECT * FROM ndbinfo.nodes"
    ndb.failing["ndbinfo.nodes"] = error = NoAnswerError(silent)
    error.waited = waited
    with pytest.raises(NoAnswerError, match=f"has not answered within {waited} s") as caught:
        seen(ndb)
    assert ("restart that SQL node" in caught.value.advice) == restart
    assert caught.value.advice.startswith("check for a frozen data node") == check


def test_ndbinfo_is_off(ndb):
    unknown = "sql1:3306 says: Unknown storage engine 'ndbinfo' (error 1286): asked SELECT"
    ndb.failing["ndbinfo.nodes"] = MysqlError(unknown, "", 1286)
    with pytest.raises(ProbeError, match="Unknown storage engine") as caught:
        seen(ndb)
    assert caught.value.advice == "start that mysqld with --ndbinfo=ON"


def test_no_sql_node(ndb):
    ndb.status = {}
    with pytest.raises(ProbeError, match="no SQL node of an NDB Cluster") as caught:
        seen(ndb)
    assert not isinstance(caught.value, ClusterDownError)


def test_offline_says_why(ndb):
    ndb.tables["nodes"], ndb.notes = [], [OFFLINE]
    with pytest.raises(ProbeError, match=r"no rows in ndbinfo\.nodes, ndbinfo is offline") as caught:
        seen(ndb)
    assert "ndbinfo_offline = 0" in caught.value.advice


def test_no_rows_without_a_note(ndb):
    ndb.tables["nodes"] = []
    with pytest.raises(ProbeError, match=r"no rows in ndbinfo\.nodes, and no data node answers it"):
        seen(ndb)


def test_the_grant_that_is_missing_is_all_of_ndbinfo(ndb):
    ndb.denied = {"nodes"}
    with pytest.raises(DeniedError) as caught:
        seen(ndb)
    assert caught.value.advice == "GRANT SELECT ON ndbinfo.* TO 'mon'@'%'"
    assert caught.value.grant == "SELECT on ndbinfo.*"


def test_no_ndbinfo_at_all(ndb):
    del ndb.tables["nodes"]
    with pytest.raises(MissingTableError):
        seen(ndb)


def test_a_node_that_ends_meanwhile_is_asked_again(ndb):
    ndb.lost = 1
    assert seen(ndb).started == (3, 4)


def test_the_second_failure_is_told(ndb):
    ndb.lost = 2
    with pytest.raises(MysqlError, match="error 157"):
        seen(ndb)


def test_the_cluster_goes_down_meanwhile(ndb):
    ndbinfo = Ndbinfo(ndb, ndb.deadline)
    ndb.lost = 1
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    with pytest.raises(ClusterDownError):
        ndbinfo.rows("SELECT * FROM ndbinfo.nodes")


def test_nodes_added_online_are_expected_before_mysqld_counts_them():
    ndb = FakeNdb(nodes=(3, 4, 5, 6))
    ndb.end(4)
    ndb.status |= {"Ndb_number_of_data_nodes": 2, "Ndb_number_of_ready_data_nodes": 2}
    cluster = seen(ndb)
    assert (cluster.missing, cluster.configured) == ((4,), 4)


def test_many_starting_nodes_are_few_words():
    ndb = FakeNdb(nodes=range(1, 49))
    for node in range(2, 12):
        ndb.node(node)["status"] = "STARTING"
    ndb.node(12)["status"] = "STOPPING_1"
    assert asides(seen(ndb)) == ["nodes 2, 3, 4, 5 and 6 more are starting", "node 12 is stopping 1"]


def test_old_versions_tell_only_how_many(ndb):
    del ndb.tables["config_nodes"]
    ndb.end(4)
    cluster = seen(ndb)
    assert (cluster.expected, cluster.missing, cluster.unnamed) == ((3,), (), 1)
    assert asides(cluster) == ["1 of 2 data nodes do not answer: judged without them"]


def test_what_was_seen_once_is_expected(ndb):
    del ndb.tables["config_nodes"]
    memory = {}
    seen(ndb, memory)
    ndb.end(4)
    cluster = seen(ndb, memory)
    assert (cluster.missing, cluster.unnamed) == ((4,), 0)


def test_a_node_that_was_taken_out_is_not_expected(ndb):
    del ndb.tables["config_nodes"]
    memory = {}
    seen(ndb, memory)
    ndb.end(4)
    ndb.status["Ndb_number_of_data_nodes"] = 1
    assert seen(ndb, memory).missing == ()


@pytest.mark.parametrize("kept", [None, "x", [None, "3"], {"3": 1}])
def test_a_damaged_memory_is_no_memory(ndb, kept):
    del ndb.tables["config_nodes"]
    assert seen(ndb, {"data_nodes": kept}).expected == (3, 4)


def since(ndb, memory, node=3, **counts):
    return Intervals(memory, seen(ndb), ndb.now).since(node, counts)


def reason(ndb, memory, node=3, **counts):
    with pytest.raises(NoIntervalError) as caught:
        since(ndb, memory, node, **counts)
    return str(caught.value)


def test_the_first_look_has_nothing_to_compare_with(ndb):
    assert reason(ndb, {}, reads=5) == "no earlier look to compare with"


def test_what_was_counted_meanwhile(ndb):
    memory = {}
    reason(ndb, memory, reads=5)
    ndb.later(60)
    assert since(ndb, memory, reads=25) == Interval(60, {"reads": 20}, again=False)
    ndb.later(30)
    assert since(ndb, memory, reads=26) == Interval(30, {"reads": 1}, again=False)


def test_a_restart_has_no_baseline(ndb):
    memory = {}
    reason(ndb, memory, reads=5)
    ndb.later(60)
    ndb.restart(3, uptime=20)
    assert reason(ndb, memory, reads=9) == "it has restarted since the last look"
    ndb.later(60)
    assert since(ndb, memory, reads=10).counts == {"reads": 1}


def test_a_restart_is_seen_although_the_node_is_up_for_longer_than_before(ndb):
    memory = {}
    ndb.restart(3, uptime=20)
    reason(ndb, memory, reads=5)
    ndb.later(600)
    ndb.restart(3, uptime=500)
    assert reason(ndb, memory, reads=9) == "it has restarted since the last look"


def test_what_begins_anew_is_not_among_the_counts(ndb):
    memory = {}
    reason(ndb, memory, reads=5, connects=9)
    ndb.later(60)
    assert since(ndb, memory, reads=6, connects=1, new=7).counts == {"reads": 1}


def test_a_second_look_at_once_is_the_same_look(ndb):
    memory = {}
    reason(ndb, memory, reads=5)
    assert reason(ndb, memory, reads=6) == "the first look was less than a second ago"
    ndb.later(60)
    assert since(ndb, memory, reads=25).counts == {"reads": 20}
    assert since(ndb, memory, reads=27) == Interval(60, {"reads": 22}, again=True)
    ndb.later(14)
    assert since(ndb, memory, reads=28) == Interval(74, {"reads": 23}, again=True)
    ndb.later(1)
    assert since(ndb, memory, reads=30) == Interval(15, {"reads": 5}, again=False)


def test_a_second_look_soon_after_the_first_has_that_to_compare_with(ndb):
    memory = {}
    reason(ndb, memory, reads=5)
    ndb.later(3)
    assert since(ndb, memory, reads=6) == Interval(3, {"reads": 1}, again=True)
    ndb.later(12)
    assert since(ndb, memory, reads=9) == Interval(15, {"reads": 4}, again=False)


def test_what_nodes_counted_that_are_no_more_is_forgotten(ndb):
    memory = {}
    reason(ndb, memory, reads=5)
    memory["counters"]["99"] = memory["counters"]["3"]
    ndb.later(60)
    since(ndb, memory, reads=6)
    assert list(memory["counters"]) == ["3"]


def test_a_restart_is_seen_although_little_time_has_passed(ndb):
    memory = {}
    ndb.restart(3, uptime=2)
    reason(ndb, memory, reads=5)
    ndb.later(60)
    ndb.restart(3, uptime=50)
    assert reason(ndb, memory, reads=9) == "it has restarted since the last look"


def test_a_node_that_was_away_is_compared_when_it_is_back(ndb):
    memory = {}
    reason(ndb, memory, 4, reads=5)
    row = ndb.node(4)
    ndb.end(4)
    ndb.later(60)
    reason(ndb, memory, 3, reads=5)
    ndb.tables["nodes"].append(row | {"uptime": 5120})
    ndb.now += 60
    assert since(ndb, memory, 4, reads=8) == Interval(120, {"reads": 3}, again=False)


@pytest.mark.parametrize(
    "kept",
    [None, "x", [], {"3": None}, {"3": {"uptime": "x", "at": 1, "counts": {}}},
     {"3": {"uptime": 1, "at": 1, "counts": {"reads": "x"}}}, {"3": {"uptime": 1, "at": 1, "counts": []}}],
)  # fmt: skip
def test_damaged_counters_are_none(ndb, kept):
    assert reason(ndb, {"counters": kept}, reads=5) == "no earlier look to compare with"


def test_names_of_nodes():
    assert named((3,)) == "node 3"
    assert named((3, 4)) == "nodes 3 and 4"
    assert named((1, 2, 3, 4)) == "nodes 1, 2, 3 and 4"
    assert named(range(1, 7)) == "nodes 1, 2, 3, 4 and 2 more"


@pytest.mark.parametrize("uptime", [None, "soon", float("nan")])
def test_what_is_no_number_is_said(ndb, uptime):
    ndb.node(4)["uptime"] = uptime
    with pytest.raises(ProbeError, match=r"ndbinfo: uptime is .*, which is no number: "):
        seen(ndb)
