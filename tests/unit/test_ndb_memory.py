"""What check_ndb_memory says of a cluster, from run to run."""

import contextlib
import json
import runpy
from pathlib import Path

import pytest
from clock import keep_time
from fake_ndb import FakeNdb
from first_line import first_line, perfdata
from hypothesis import given
from hypothesis import strategies as st
from redo_buffers import FakeRedo
from stallwatch.findings import Reading
from stallwatch.frame.options import mysql
from stallwatch.frame.run import Run
from stallwatch.probes.ndbinfo.growth import History
from stallwatch.sources.mysql import MissingTableError, MysqlError, NoAnswerError

PLUGINS = Path(__file__).parents[2] / "plugins"
PLUGIN = runpy.run_path(str(PLUGINS / "check_ndb_memory"))
MIB = 1 << 20
MIN_FREE_PERCENT = 630


def memory(node, kind, used, total):
    return {"node_id": node, "memory_type": kind, "used": float(used), "total": float(total)}


def log(node, log_type, part, used, total):
    return {
        "node_id": node,
        "log_type": log_type,
        "log_id": 0,
        "log_part": part,
        "total": total,
        "used": used,
    }


def redo_log(node):
    return [log(node, "REDO", part, 1 << 26, 1 << 27) for part in range(4)]


def disk_data(ndb, used=0, total=16719920):
    """Let the cluster have an undo log: what a real one with 16 MB of it says (9.7.2).

    ``used`` is what it would be if all of it could be used; a third cannot.
    """
    ndb.tables["logspaces"] += [log(node, "DD-UNDO", 0, used * 2 / 3, total) for node in (3, 4)]


def data_file(name, free, total, **more):
    row = {
        "tablespace_name": name, "file_type": "DATAFILE", "engine": "ndbcluster", "extra": None,
        "free_extents": free, "total_extents": total, "extent_size": MIB,
    }  # fmt: skip
    return row | more


UNDO_FILE = data_file("lg_1", 0, 4194304, file_type="UNDO LOG", extent_size=4)


def cluster(nodes=(3, 4)):
    ndb = FakeNdb(nodes)
    ndb.tables["memoryusage"] = [
        row
        for node in nodes
        for row in (
            memory(node, "Data memory", 2228224, 80 * MIB),  # of a real one, idle (9.7.2)
            memory(node, "Long message buffer", 655360, 64 * MIB),
        )
    ]
    ndb.tables["logspaces"] = [row for node in nodes for row in redo_log(node)]
    ndb.tables["config_values"] = [
        {"node_id": node, "config_param": param, "config_value": value}
        for node in nodes
        for param, value in [(MIN_FREE_PERCENT, "5"), (160, "67108864")]
    ]
    ndb.tables["information_schema.files"] = []
    ndb.columns["information_schema.files"] = list(data_file("", 0, 0))
    return ndb


@pytest.fixture
def ndb():
    return cluster()


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin at that cluster, five minutes after the last time."""
    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    keep_time(monkeypatch, lambda: ndb.now)

    def run(*arguments, after=300):
        ndb.later(after)
        return PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(tmp_path), *arguments])

    run.state = lambda: next(tmp_path.glob("*.json"))
    return run


def fill(ndb, percent, node=3, kind="Data memory"):
    row = next(
        row for row in ndb.tables["memoryusage"] if (row["node_id"], row["memory_type"]) == (node, kind)
    )
    row["used"] = row["total"] * percent / 100


def test_an_idle_cluster_is_ok_in_one_line(look, ndb):
    status, text = look()
    assert status == 0
    assert text == (
        "NDB_MEMORY OK - data memory at most 2.7 % (node 3), long message buffer at most 1 % | "
        "data_memory=2.66%;80;90 long_message_buffer=0.98%;50;80 "
        "node3_data_memory=2.66%;80;90 node4_data_memory=2.66%;80;90"
    )
    assert len(ndb.asked) == 5


def test_without_disk_data_nobody_asks_for_tablespaces(look, ndb):
    look()
    assert not any("information_schema" in sql for sql in ndb.asked)


def test_all_is_told_in_a_sentence_when_all_is_well(look, ndb):
    disk_data(ndb, 100_000)
    ndb.tables["information_schema.files"] = [UNDO_FILE, data_file("ts_1", 12, 16)]
    status, text = look()
    assert status == 0
    assert first_line(text).endswith("undo log at most 0.6 %, tablespace ts_1 26.7 %")
    assert perfdata(text)["tablespace"] == "26.67%;80;90"
    assert perfdata(text)["undo_space"] == "0.6%;70;85"


@pytest.mark.parametrize(("percent", "status"), [(79.9, 0), (80.1, 1), (89.9, 1), (90.1, 2), (95, 2)])
def test_data_memory_is_judged_by_its_limits(look, ndb, percent, status):
    fill(ndb, percent, node=4)
    assert look()[0] == status


def test_the_fullest_node_comes_first_and_the_others_are_named(look, ndb):
    fill(ndb, 93.2, node=4)
    fill(ndb, 91.0, node=3)
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_MEMORY CRITICAL - data memory of node 4 93.2 % full (limit 90 %), inserts fail at 95 % - "
        "delete rows or enlarge DataMemory"
    )
    assert text.splitlines()[1:] == [
        "  74.6 MiB of 80 MiB",
        "  also node 3 91 %",
        "  inserts fail at 95 % (1114 The table is full, NDB error 827)",
        "  dropped tables or more data nodes help, too, a larger DataMemory takes a rolling restart",
    ]
    assert perfdata(text)["node3_data_memory"] == "91%;80;90"


def test_full_is_what_a_real_cluster_was_when_inserts_failed(look, ndb):
    for node in (3, 4):
        fill(ndb, 100 * 2432 / 2560, node)
    status, text = look()
    assert status == 2
    assert "data memory of node 3 95 % full (limit 90 %), inserts fail now, at 95 % - " in text


def test_what_others_say_is_not_on_the_line_of_a_problem(look, ndb):
    fill(ndb, 60, kind="Long message buffer")
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_MEMORY WARNING - long message buffer of node 3 60 % full (limit 50 %), "
        "when full, the data node ends - enlarge LongMessageBuffer"
    )


def test_old_versions_have_index_memory(look, ndb):
    ndb.tables["memoryusage"] += [memory(node, "Index memory", 85 * MIB, 100 * MIB) for node in (3, 4)]
    status, text = look()
    assert status == 1
    assert (
        "index memory of node 3 85 % full (limit 80 %), when full, inserts fail - enlarge IndexMemory" in text
    )
    assert perfdata(text)["index_memory"] == "85%;80;90"


def test_the_oldest_version_calls_it_otherwise(look, ndb):
    ndb.tables["memoryusage"] = [
        {"node_id": node, "memory_type": kind, "used": 40 * MIB, "max": 80 * MIB}
        for node in (3, 4)
        for kind in ("DATA_MEMORY", "INDEX_MEMORY")
    ]
    status, text = look()
    assert status == 0
    assert "data memory at most 50 % (node 3), index memory at most 50 %" in text


@pytest.mark.parametrize(("used", "status"), [(69, 0), (71, 1), (86, 2)])
def test_the_undo_log_is_judged(look, ndb, used, status):
    disk_data(ndb, used * 167199.2)
    look()
    state, text = look()
    assert state == status
    if status:
        assert f"undo log of node 3 {used} % full" in text
        assert f"  also node 4 {used} %\n" in text
        assert "  when it is full, writes to disk tables fail with error 1501\n" in text
        assert "ADD UNDOFILE" in text


@pytest.mark.parametrize(
    ("version", "told"), [((9, 7, 2), "100%;70;85"), ((8, 0, 44), "100%;70;85"), ((5, 7, 44), "66.67%;70;85")]
)
def test_the_undo_log_is_full_while_a_third_of_it_is_free(look, ndb, version, told):
    """9.7.2 says 66.67 % while all writes fail with error 1501; of NDB 7.6 and older it is not known."""
    ndb.flavour = ndb.flavour._replace(version=version)
    disk_data(ndb, 16719920)
    look()
    status, text = look()
    assert perfdata(text)["undo_space"] == told
    assert status == (2 if told.startswith("100%") else 0), text


def test_while_a_node_restarts_writes_use_more_of_the_undo_log(look, ndb):
    """Then only a quarter is kept free: it is not fuller than full."""
    disk_data(ndb, 16719920 * 9 / 8)
    assert perfdata(look()[1])["undo_space"] == "100%;70;85"


def test_the_undo_log_is_told_as_check_ndb_redo_buffer_tells_it(look, ndb, monkeypatch):
    disk_data(ndb, 12_500_000)
    _, ours = look()
    other = runpy.run_path(str(PLUGINS / "check_ndb_redo_buffer"))
    redo = FakeRedo()
    redo.tables["logspaces"] = ndb.tables["logspaces"]
    monkeypatch.setattr(mysql, "connect", lambda *_: redo)
    _, theirs = other["check"].run(other["findings"], ["--no-state"])
    for said in (
        "undo log of node 3",
        "when it is full, writes to disk tables fail with error 1501",
        "ALTER LOGFILE GROUP ... ADD UNDOFILE",
    ):
        assert said in ours
        assert said in theirs
    assert perfdata(ours)["undo_space"] == perfdata(theirs)["undo_space"] == "74.76%;70;85"


@pytest.mark.parametrize(
    ("free", "total", "percent"),
    [(16, 16, 0), (1, 16, 100), (2, 32, 100), (3, 64, 100), (11, 256, 100), (0, 1, 100), (12, 256, 99.59)],
)
def test_a_tablespace_is_full_while_some_extents_are_free(look, ndb, free, total, percent):
    """Those of 16 to 256 extents were filled on a real cluster until 1601 came."""
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", free, total)]
    _, text = look()
    assert perfdata(text)["tablespace"] == f"{percent:g}%;80;90"


def test_a_full_tablespace_is_not_taken_for_memory(look, ndb):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 1, 16), data_file("ts_2", 20, 32)]
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_MEMORY CRITICAL - tablespace ts_1 100 % full (limit 90 %), when full, inserts fail - "
        "ALTER TABLESPACE ... ADD DATAFILE"
    )
    assert text.splitlines()[1] == "  15 of 15 extents of 1 MiB that can be had"
    assert "extent fails (1114 The table is full, NDB error 1601), not for want of memory\n" in text


def test_the_files_of_a_tablespace_are_added_up(look, ndb):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 0, 50), data_file("ts_1", 50, 50)]
    _, text = look()
    assert perfdata(text)["tablespace"] == "52.63%;80;90"


@pytest.mark.parametrize("free", [(50, 10), (10, 50)])
def test_old_versions_tell_of_each_file_on_each_node(look, ndb, free):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [
        data_file("ts_1", extents, 100, extra=f"CLUSTER_NODE={node}")
        for node, extents in zip((3, 4), free, strict=True)
    ]
    _, text = look()
    assert perfdata(text)["tablespace"] == "94.74%;80;90"


def test_without_process_tablespaces_are_dropped_and_named_once(look, ndb):
    disk_data(ndb)
    ndb.denied.add("information_schema.files")
    status, text = look("-v")
    assert status == 0
    assert text.count("PROCESS") == 1
    assert "[OK] how full tablespaces are is not seen: GRANT PROCESS ON *.* TO 'mon'@'%'" in text
    assert "tablespace" not in perfdata(text)


def test_a_missing_node_is_said_and_the_others_are_judged(look, ndb):
    disk_data(ndb)
    look()
    fill(ndb, 85, node=3)
    ndb.end(4)
    status, text = look()
    assert status == 1
    assert "[OK] node 4 does not answer: judged without it" in text
    assert "data memory of node 3 85 % full" in text
    assert "node4_data_memory" not in perfdata(text)


def test_a_node_that_starts_is_not_judged_it_is_being_filled(look, ndb):
    fill(ndb, 99, node=4)
    ndb.node(4)["status"] = "STARTING"
    status, text = look()
    assert status == 0
    assert "[OK] node 4 is starting" in text


@pytest.mark.parametrize("table", ["memoryusage", "logspaces"])
def test_a_started_node_without_rows_is_unknown(look, ndb, table):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 12, 16)]
    ndb.tables[table] = [row for row in ndb.tables[table] if row["node_id"] == 3]
    status, text = look()
    assert status == 3
    assert f"node 4 answers, but has no row in ndbinfo.{table}" in first_line(text)


@pytest.mark.parametrize("silent", [(), (3,)])
@pytest.mark.parametrize("table", ["memoryusage", "logspaces"])
def test_a_node_that_ends_meanwhile_is_judged_without(look, ndb, table, silent):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 12, 16)]
    fill(ndb, 85)
    ndb.ends_before(table, 4, silent)
    status, text = look()
    assert status == 1
    assert "data memory of node 3 85 % full" in first_line(text)
    assert "[OK] node 4 does not answer: judged without it" in text
    assert perfdata(text)["undo_space"] == "0%;70;85"


def test_what_is_full_for_one_look_is_not_full_for_two_because_a_node_ends_meanwhile(look, ndb):
    disk_data(ndb)
    fill(ndb, 85, kind="Long message buffer")
    ndb.ends_before("logspaces", 4)
    assert look()[0] == 1
    assert look()[0] == 2


@pytest.mark.parametrize("answers", [True, False])
def test_whether_a_node_has_ended_cannot_be_asked(look, ndb, monkeypatch, answers):
    fill(ndb, 85)
    ndb.tables["memoryusage"] = [row for row in ndb.tables["memoryusage"] if row["node_id"] == 3]
    real = ndb.rows

    def rows(sql, *arguments):
        if "memoryusage" in sql:
            ndb.failing = {"ndbinfo.nodes": MysqlError("sql1:3306 says: no (error 1)", "", 1)}
            ndb.status["Ndb_number_of_ready_data_nodes"] = 2 * answers
            ndb.lost = 0 if answers else 9
        return real(sql, *arguments)

    monkeypatch.setattr(ndb, "rows", rows)
    status, text = look()
    if answers:
        assert status == 1
        assert "data memory of node 3 85 % full" in first_line(text)
        assert "[UNKNOWN] node 4 answers, but has no row in ndbinfo.memoryusage" in text
        assert "[UNKNOWN] sql1:3306 says: no (error 1)" in text
    else:
        assert (status, "none of 2 data nodes" in first_line(text)) == (3, True)


def test_a_cluster_that_is_down_is_unknown(look, ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    status, text = look()
    assert status == 3
    assert "none of 2 data nodes" in first_line(text)


def test_no_answer_is_unknown(look, ndb):
    ndb.failing["memoryusage"] = NoAnswerError("sql1:3306 has not answered within 7 s")
    assert look()[0] == 3


def test_nobody_started_is_unknown(look, ndb):
    for node in (3, 4):
        ndb.node(node)["status"] = "STARTING"
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 are starting" in first_line(text)


# one look at what goes up and down


def troubled_by(ndb, quantity):
    """Let it be critical on node 3."""
    if quantity == "undo_space":
        disk_data(ndb)
        next(row for row in ndb.tables["logspaces"] if row["log_type"] == "DD-UNDO")["used"] = 10_667_000
    else:
        fill(ndb, 95.7, kind="Long message buffer")


healing = pytest.mark.parametrize("quantity", ["long_message_buffer", "undo_space"])


@healing
def test_one_look_pages_nobody_two_do(look, ndb, quantity):
    look()
    troubled_by(ndb, quantity)
    status, text = look()
    assert status == 1
    assert "of node 3 95.7 % full" in first_line(text)
    assert "  critical if the next look finds it so, too\n" in text
    assert perfdata(text)[quantity].startswith("95.")
    status, text = look()
    assert status == 2
    assert "next look" not in text
    assert look()[0] == 2


def test_nor_does_the_first_look_of_all(look, ndb):
    fill(ndb, 99, kind="Long message buffer")
    assert look()[0] == 1
    assert look("--no-state")[0] == 1


def test_a_look_soon_after_another_is_the_same_look(look, ndb):
    fill(ndb, 99, kind="Long message buffer")
    assert look()[0] == 1
    assert look(after=5)[0] == 1
    assert look(after=5)[0] == 1
    assert look()[0] == 2
    assert look(after=5)[0] == 2


def test_a_good_look_between_two_bad_ones_ends_it(look, ndb):
    for percent, status in [(99, 1), (60, 1), (99, 1), (99, 2), (10, 0), (99, 1)]:
        fill(ndb, percent, kind="Long message buffer")
        assert look()[0] == status


def test_what_is_no_more_than_the_limit_in_the_perfdata_was_not_critical(look, ndb):
    for percent, shown, status in [(80.004, "80%", 1), (90, "90%", 1), (90, "90%", 2)]:
        fill(ndb, percent, kind="Long message buffer")
        found, text = look()
        assert perfdata(text)["long_message_buffer"] == f"{shown};50;80"
        assert ("critical if the next look finds it so, too" in text) == ((shown, status) == ("90%", 1))
        assert found == status


def test_another_node_is_another_first_look(look, ndb):
    fill(ndb, 99, node=3, kind="Long message buffer")
    look()
    fill(ndb, 1, node=3, kind="Long message buffer")
    fill(ndb, 99, node=4, kind="Long message buffer")
    assert look()[0] == 1


def test_where_only_critical_is_given_the_first_look_warns(look, ndb):
    fill(ndb, 45, kind="Long message buffer")
    limits = ("--long-message-buffer-warning", "~:", "--long-message-buffer-critical", "40")
    assert look(*limits)[0] == 1
    assert look(*limits)[0] == 2
    assert look(*limits[:2], "--long-message-buffer-critical", "~:")[0] == 0


def test_data_memory_and_tablespaces_do_not_heal(look, ndb):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 1, 16)]
    assert look()[0] == 2
    ndb.tables["information_schema.files"] = []
    fill(ndb, 91)
    assert look()[0] == 2


# what cannot be found out


FAILURES = [
    NoAnswerError("sql1:3306 has not answered within 7 s"),
    MysqlError("sql1 says: Got error 4012 'Request ndbd time-out' (error 1297)", "", 1297),
    MissingTableError("sql1 says: Table doesn't exist", "", 1146),
]


@pytest.mark.parametrize("error", FAILURES)
@pytest.mark.parametrize("table", ["logspaces", "information_schema.files"])
def test_full_memory_is_told_whatever_else_fails(look, ndb, table, error):
    disk_data(ndb, 14_000_000)
    ndb.failing[table] = error
    status, text = look()
    assert status == (3 if table == "logspaces" else 1)
    assert error.what in text
    assert "data_memory" in perfdata(text)
    fill(ndb, 96)
    status, text = look()
    assert status == 2
    assert "data memory of node 3 96 % full" in first_line(text)
    assert f"[UNKNOWN] {error.what}" in text


def test_tablespaces_are_looked_at_even_if_the_undo_log_cannot_be(look, ndb):
    ndb.failing["logspaces"] = FAILURES[1]
    ndb.tables["information_schema.files"] = [data_file("ts_1", 1, 16)]
    status, text = look()
    assert status == 2
    assert "tablespace ts_1 100 % full" in first_line(text)


def test_a_run_that_is_cut_short_tells_what_is_known(look, ndb, monkeypatch):
    told = []
    monkeypatch.setattr(Run, "so_far", lambda _, findings: told.extend(findings))
    fill(ndb, 96)
    ndb.failing["logspaces"] = KeyboardInterrupt()
    ndb.end(4)
    with contextlib.suppress(KeyboardInterrupt):
        look()
    assert [one.name for one in told if isinstance(one, Reading)] == ["data_memory", "long_message_buffer"]
    assert "data memory of node 3 96 % full" in told[0].what
    assert told[-1].what == "node 4 does not answer: judged without it"


@pytest.mark.parametrize("column", ["used", "total"])
@pytest.mark.parametrize("kind", ["Data memory", "Long message buffer"])
@pytest.mark.parametrize("nodes", [(4,), (3, 4)])
def test_rows_without_numbers_are_unknown(look, ndb, column, kind, nodes):
    for row in ndb.tables["memoryusage"]:
        if row["memory_type"] == kind and row["node_id"] in nodes:
            row[column] = None
    status, text = look()
    assert status == 3
    who = "node 4 has" if nodes == (4,) else "nodes 3 and 4 have"
    assert first_line(text) == f"NDB_MEMORY UNKNOWN - {who} no numbers in ndbinfo.memoryusage ({kind})"
    assert text.count("ndbinfo") == 1


def test_a_pool_of_no_size_is_none(look, ndb):
    for row in ndb.tables["memoryusage"]:
        row["total"] = 0
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 answer, but have no row in ndbinfo.memoryusage" in text


def test_no_data_memory_at_all_is_unknown(look, ndb):
    ndb.tables["memoryusage"] = [row for row in ndb.tables["memoryusage"] if row["memory_type"][0] == "L"]
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 answer, but have no row in ndbinfo.memoryusage (Data memory)" in first_line(text)


def test_a_node_without_long_message_buffer_is_unknown(look, ndb):
    ndb.tables["memoryusage"].pop()
    status, text = look()
    assert status == 3
    assert "node 4 answers, but has no row in ndbinfo.memoryusage (Long message buffer)" in first_line(text)


def test_an_undo_log_without_numbers_is_unknown_and_hides_no_tablespace(look, ndb):
    disk_data(ndb, 5, None)
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 have no numbers in ndbinfo.logspaces (DD-UNDO)" in first_line(text)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 0, 16)]
    assert look()[0] == 2


@pytest.mark.parametrize("column", ["free_extents", "total_extents", "extent_size"])
def test_a_tablespace_without_numbers_is_unknown(look, ndb, column):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 10, 16), data_file("ts_2", 10, 16)]
    for row in ndb.tables["information_schema.files"][1:]:
        row[column] = None
    status, text = look()
    assert status == 3
    assert perfdata(text)["tablespace"] == "40%;80;90"
    assert "ts_2" in first_line(text)


def test_one_file_without_numbers_makes_its_tablespace_unknown(look, ndb):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 10, 16), data_file("ts_1", None, 16)]
    status, text = look()
    assert status == 3
    assert "the fill level of tablespace ts_1 is not known" in first_line(text)


def test_an_empty_logspaces_is_not_taken_for_no_disk_data(look, ndb):
    ndb.columns["logspaces"] = list(redo_log(3)[0])
    ndb.tables["logspaces"] = []
    ndb.notes = [
        "This table is not available as the data nodes are not upgraded yet - no rows can be returned"
    ]
    status, text = look()
    assert status == 3
    assert "has no rows in ndbinfo.logspaces: This table is not available as the data nodes" in first_line(
        text
    )


def test_only_the_undo_log_and_the_files_of_tablespaces_count(look, ndb):
    disk_data(ndb, 1000)
    for row in ndb.tables["logspaces"]:
        if row["log_type"] == "REDO":
            row["used"] = row["total"]
    ndb.tables["information_schema.files"] = [
        data_file("ts_1", 12, 16),
        UNDO_FILE,
        data_file("innodb", 0, 16, engine="InnoDB"),
    ]
    status, text = look()
    assert status == 0
    assert "tablespace ts_1 26.7 %" in first_line(text)


# where inserts fail


def min_free_percent(ndb, *values):
    rows = (row for row in ndb.tables["config_values"] if row["config_param"] == MIN_FREE_PERCENT)
    for row, value in zip(rows, values, strict=True):
        row["config_value"] = value


def test_min_free_percent_says_where_inserts_fail(look, ndb):
    min_free_percent(ndb, "20", "0")
    fill(ndb, 82)
    status, text = look()
    assert status == 1
    assert "inserts fail now, at 80 % with MinFreePct=20 - delete" in first_line(text)
    fill(ndb, 10)
    fill(ndb, 96, node=4)
    assert "inserts fail at 100 % with MinFreePct=0 - delete" in first_line(look()[1])


def test_time_to_full_is_until_inserts_fail(look, ndb):
    min_free_percent(ndb, "20", "5")
    _, text = grow(look, ndb, [20, 21, 22, 23, 24, 25])
    assert "full in 4 h 35 min at this rate" in first_line(text)


@pytest.mark.parametrize("how", ["fails", "is missing", "is empty", "makes no sense"])
def test_without_that_setting_the_default_is_said(look, ndb, how):
    if how == "fails":
        ndb.failing["config_values"] = FAILURES[0]
    elif how == "is missing":
        del ndb.tables["config_values"]
    elif how == "is empty":
        ndb.columns["config_values"] = list(ndb.tables["config_values"][0])
        ndb.tables["config_values"] = []
    else:
        min_free_percent(ndb, None, "much")
    fill(ndb, 91)
    status, text = look()
    assert status == 2
    assert "inserts fail at 95 % by default - delete rows" in first_line(text)
    assert "UNKNOWN" not in text


def test_that_setting_is_asked_for_only_if_something_is_said_of_it(look, ndb):
    fill(ndb, 99, kind="Long message buffer")
    look()
    assert not any("config_values" in sql for sql in ndb.asked)


# where it goes


def grow(look, ndb, percents, node=3, **more):
    """Look at each of these, five minutes apart."""
    for percent in percents:
        fill(ndb, percent, node)
        found = look(**more)
    return found


def test_time_to_full_is_told(look, ndb):
    status, text = grow(look, ndb, [20, 21, 22, 23, 24, 25])
    assert status == 0
    assert "data memory at most 25 % (node 3), full in 5 h 50 min at this rate, long" in first_line(text)
    status, text = grow(look, ndb, [85])  # a jump is no trend, but it goes on
    assert status == 1


def test_time_to_full_is_told_of_what_is_full_soonest(look, ndb):
    fill(ndb, 60, node=4)
    _, text = grow(look, ndb, [20, 21, 22, 23, 24, 25])
    assert "data memory at most 60 % (node 4), node 3 full in 5 h 50 min at this rate" in first_line(text)


def test_what_goes_up_and_down_has_no_trend(look, ndb):
    for percent in [20, 21, 22, 23, 24, 25]:
        fill(ndb, percent, kind="Long message buffer")
        _, text = look("--horizon", "1d", "-v", after=3600)
    assert "long message buffer at most 25 %" in text
    assert "at this rate" not in text


def test_four_looks_are_no_trend(look, ndb):
    _, text = grow(look, ndb, [20, 30, 40, 50])
    assert "at this rate" not in text


@pytest.mark.parametrize(
    "percents",
    [
        [50] * 12,
        [50.0, 50.01, 50.02, 50.03, 50.02, 50.04],
        [60, 55, 50, 45, 40, 35],
        [20, 30, 40, 50, 50, 50],
        [20, 30, 40, 50, 60, 10],
    ],
)
def test_flat_falling_or_over_is_no_trend(look, ndb, percents):
    _, text = grow(look, ndb, percents)
    assert "at this rate" not in text


def test_one_bad_sample_does_not_bend_the_trend(look, ndb):
    _, text = grow(look, ndb, [20, 21, 70, 23, 24, 25, 26])
    assert "full in 5 h 45 min at this rate" in text


def test_a_restart_is_no_trend(look, ndb):
    """What a node has after its start was filled and packed anew."""
    grow(look, ndb, [20, 21, 22, 23, 24])
    ndb.restart(3, uptime=0)
    _, text = grow(look, ndb, [40, 41, 42, 43])
    assert "at this rate" not in text
    _, text = grow(look, ndb, [44])
    assert "full in 4 h 15 min at this rate" in text


def test_runs_every_minute_keep_few_samples(look, ndb):
    for minute in range(75):
        fill(ndb, 20 + minute / 10)
        _, text = look(after=60)
    assert "full in 11 h 16 min at this rate" in text
    assert look.state().stat().st_size < 2000


def test_the_horizon_warns(look, ndb):
    for percent in [20, 23, 26, 29, 32]:
        fill(ndb, percent)
        status, text = look("--horizon", "6h", after=900)
    assert status == 1
    assert first_line(text) == (
        "NDB_MEMORY WARNING - data memory of node 3 32 % full, full in 5 h 15 min at this rate - "
        "delete rows or enlarge DataMemory"
    )
    assert text.splitlines()[1:3] == [
        "  25.6 MiB of 80 MiB",
        "  inserts fail at 95 % (1114 The table is full, NDB error 827)",
    ]


def test_what_is_full_after_the_horizon_is_ok(look, ndb):
    for percent in [20, 21, 22, 23, 24]:
        fill(ndb, percent)
        status, text = look("--horizon", "1h")
    assert status == 0
    assert "full in 5 h 55 min at this rate" in text


def test_a_load_at_night_does_not_go_on_for_a_day(look, ndb):
    """It takes half an hour, in which the memory would be full within 11 h, and comes after a quiet day."""
    for percent in [20] * 150 + [21, 22, 23, 24, 25, 26, 26]:
        fill(ndb, percent)
        status, text = look("--horizon", "1d")
        assert status == 0
        assert "at this rate" not in text


def test_a_day_is_told_from_half_a_day(look, ndb):
    for minutes in range(0, 13 * 60, 5):
        fill(ndb, 20 + minutes / 60 * 3)
        status, text = look("--horizon", "1d")
        assert status == (minutes >= 210)
    assert "data memory of node 3 58.8 % full" in text
    assert "full in 12 h 5 min at this rate" in text


def test_the_horizon_says_when_it_does_not_know_yet(look, ndb):
    for number in range(1, 5):
        fill(ndb, 20 + number)
        status, text = look("--horizon", "1d", after=3600)
        said = (
            f"[OK] what will be full within 1 d is not known yet: it takes 5 looks 1 h apart, {number} so far"
        )
        assert said in text
        assert status == 0
    assert "not known yet" not in look("--horizon", "1d", after=3600)[1]
    assert "not known yet" not in look()[1]


def test_from_the_second_look_on_there_is_a_bound(look, ndb):
    said = []
    for percent in (20, 35, 40, 45):
        fill(ndb, percent)
        status, text = look("--horizon", "1d", after=3600)
        assert status == 0
        said.append(text)
    bound = ", at the fastest pace so far data memory of node 3 is full in "
    assert bound not in said[0]
    assert bound + "4 h\n" in said[1] + "\n"
    assert bound + "3 h 20 min\n" in said[3] + "\n"
    fill(ndb, 50)
    assert "fastest" not in look("--horizon", "1d", after=3600)[1]


def test_what_does_not_grow_has_no_bound(look, ndb):
    for percent in (50, 50.1, 49.9):
        fill(ndb, percent)
        _, text = look("--horizon", "1d", after=3600)
        assert "not known yet" in text
        assert "fastest" not in text


def test_looks_that_are_hours_apart_make_a_trend(look, ndb):
    for percent in [20, 25, 30, 35, 40]:
        fill(ndb, percent)
        status, text = look("--horizon", "3d", after=6 * 3600)
    assert status == 1
    assert "full in 2 d 18 h at this rate" in text


def test_each_horizon_has_its_own_samples(look, ndb):
    for percent in [20, 21, 22, 23, 24]:
        fill(ndb, percent)
        look()
    assert "1 so far" in look("--horizon", "1d")[1]


def test_a_look_right_after_another_is_no_sample(look, ndb):
    grow(look, ndb, [20, 20, 20, 20])
    fill(ndb, 30)
    _, text = look(after=3)
    assert "at this rate" not in text


def test_what_is_older_than_a_week_is_forgotten(look, ndb):
    grow(look, ndb, [20, 21, 22, 23])
    ndb.later(7 * 86400)
    _, text = grow(look, ndb, [24, 25, 26, 27])
    assert "at this rate" not in text


def test_a_horizon_of_a_month_takes_looks_of_a_month(look, ndb):
    for percent in [20, 25, 30, 35, 40]:
        fill(ndb, percent)
        status, text = look("--horizon", "30d", after=2 * 86400)
    assert status == 1
    assert "full in 22 d at this rate" in text


def test_a_clock_that_was_wrong_delays_no_trend(look, ndb):
    ndb.later(86400)
    grow(look, ndb, [20, 21])
    ndb.now -= 86400
    _, text = grow(look, ndb, [22, 23, 24, 25, 26])
    assert "at this rate" in text


def test_looks_of_every_minute_see_what_takes_an_hour(look, ndb):
    for minute in range(63):
        fill(ndb, 20 + minute * 0.02)
        _, text = look(after=60)
        assert minute > 45 or "at this rate" not in text
    assert "at this rate" in text


def test_the_last_hour_is_told(look, ndb):
    _, text = grow(look, ndb, [20] * 14 + list(range(21, 33)))
    assert "full in 5 h 15 min at this rate" in text


def test_the_horizon_does_not_tell_a_problem_twice(look, ndb):
    for percent in [76, 77, 78, 79, 80, 81]:
        fill(ndb, percent)
        status, text = look("--horizon", "2h")
    assert status == 1
    assert "more problem" not in first_line(text)
    assert "81 % full (limit 80 %), full in 1 h 10 min at this rate" in first_line(text)


def test_what_is_full_is_no_prediction(look, ndb):
    for percent in [91, 92, 93, 94, 95, 96]:
        fill(ndb, percent)
        status, text = look("--horizon", "2h", "-w", "~:", "-c", "~:")
    assert status == 0
    assert "at this rate" not in text


def test_a_tablespace_grows_too(look, ndb):
    disk_data(ndb)
    for free in range(1000, 940, -10):
        ndb.tables["information_schema.files"] = [data_file("ts_1", free, 1000)]
        _, text = look()
    assert "tablespace ts_1 5.2 %, full in 7 h" in text


@pytest.mark.parametrize(
    "damage",
    [
        {"samples": 7},
        {"samples": {"data_memory/3": 7}},
        {"samples": {"data_memory/3": [1, 2]}},
        {"samples": {"data_memory/3": [["a", "b"]]}},
        {"samples": {"data_memory/3": [[1, 2, 3]]}},
        {"samples": {"data_memory/3": [[[1], 2]]}},
        {"samples": {"data_memory/3": [[1e300, None]]}},
        {"samples": {"data_memory/3": [[2_000_000_000, 5]] * 6}},
        {"samples": [1, 2]},
        {"samples": {"data_memory/3": [[1_795_000_000 + at, 10**300] for at in range(5)]}},
        {"samples": {"data_memory/3": [[10**300, 5]] * 6}},
        {"samples": {"data_memory/3": [[1_795_000_000 + at, (-1) ** at * 1e308] for at in range(8)]}},
        {"samples": {"data_memory/3": [[1_795_000_300 - 300 * k, -1e17 * (k + 1)] for k in range(8)]}},
        {"critical_long_message_buffer": 7},
        {"critical_long_message_buffer": {"at": 10**300, "nodes": [3]}},
        {"critical_long_message_buffer": {"at": 1_795_000_000, "nodes": "3", "before": {}}},
    ],
)
def test_a_damaged_memory_is_begun_anew(look, ndb, damage):
    look()
    kept = json.loads(look.state().read_text())
    text = json.dumps(kept)
    inner = next(value for value in kept.values() if isinstance(value, dict) and "samples" in value)
    inner.update(damage)
    assert json.dumps(kept) != text
    look.state().write_text(json.dumps(kept))
    status, text = look()
    if str(10**400) in json.dumps(damage):  # no number of ours: the whole file is damaged
        assert (status, "is damaged" in text) == (3, True)
        status, text = look()
    assert status == 0
    assert "at this rate" not in text


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 100)), max_size=30))
def test_any_history_gives_a_pace_or_none(steps):
    memory, now = {}, 1_795_000_000.0
    for passed, used in steps:
        now += passed
        pace = History(memory, now).pace("data_memory/3", used, 100, 1e9)
        assert pace is None or (pace > 0 and max(0, 95 - used) / pace < 1e9)
        memory = json.loads(json.dumps(memory))
    assert len(memory.get("samples", {}).get("data_memory/3", [])) <= 12


# many nodes


@pytest.fixture
def ndb_of_48(look, monkeypatch):
    many = cluster(range(3, 51))
    monkeypatch.setattr(mysql, "connect", lambda *_: many)
    keep_time(monkeypatch, lambda: many.now)
    return many


def test_48_nodes_make_a_short_line(look, ndb_of_48):
    for node in range(10, 30):
        fill(ndb_of_48, 60 + node, node)
    status, text = look()
    assert status == 1
    line = text.splitlines()[0]
    assert len(line.encode()) < 1023
    assert "data memory of node 29 89 % full" in line
    assert "also node 28 88 %, node 27 87 %, node 26 86 %, node 25 85 % and 4 more" in text
    assert list(perfdata(text)) == ["data_memory", "long_message_buffer"]


def test_the_memory_of_48_nodes_is_small(look, ndb_of_48):
    for number in range(15):
        for node in range(3, 51):
            fill(ndb_of_48, 20 + number / 100, node)
        ndb_of_48.later(300)
        look(after=0)
    assert look.state().stat().st_size < 30_000


def test_details_have_tables_of_everything(look, ndb):
    disk_data(ndb, 100_000)
    ndb.tables["information_schema.files"] = [data_file("ts_2", 30, 32), data_file("ts_1", 12, 16)]
    grow(look, ndb, [20, 21, 22, 23, 24])
    _, text = look("-v")
    assert [line.split() for line in text.splitlines()[-12:]] == [
        ["node", "data_memory", "used", "total", "grows_per_hour"],
        ["3", "24", "20132659", "83886080", "10066326"],
        ["4", "2.66", "2228224", "83886080", "-"],
        ["node", "long_message_buffer", "used", "total", "grows_per_hour"],
        ["3", "0.98", "655360", "67108864", "-"],
        ["4", "0.98", "655360", "67108864", "-"],
        ["node", "undo_space", "used", "total", "grows_per_hour"],
        ["3", "0.6", "66667", "11146613", "-"],
        ["4", "0.6", "66667", "11146613", "-"],
        ["tablespace", "tablespace", "used_extents", "total_extents", "grows_extents_per_hour"],
        ["ts_1", "26.67", "4", "15", "-"],
        ["ts_2", "6.67", "2", "30", "-"],
    ]


def test_nodes_are_in_the_order_of_their_numbers(look, ndb, monkeypatch):
    of_four = cluster((3, 4, 10, 11))
    monkeypatch.setattr(mysql, "connect", lambda *_: of_four)
    _, text = look()
    assert list(perfdata(text))[2:] == [f"node{node}_data_memory" for node in (3, 4, 10, 11)]
