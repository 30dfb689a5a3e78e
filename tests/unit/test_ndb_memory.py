"""What check_ndb_memory says of a cluster, from run to run."""

import json
import runpy
import time
from pathlib import Path

import pytest
from fake_ndb import FakeNdb
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.options import mysql
from stallwatch.probes.ndb_memory.growth import History
from stallwatch.probes.ndb_memory.uses import Use
from stallwatch.sources.mysql import NoAnswerError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_memory"))
MIB = 1 << 20
PAGE = 32768


def memory(node, kind, used, total):
    return {"node_id": node, "memory_type": kind, "used": float(used), "total": float(total)}


def disk_data(ndb, used=0, total=16719920):
    """Let the cluster have an undo log: what a real one with 16 MB of it says (9.7.2)."""
    redo = [
        {
            "node_id": node,
            "log_type": "REDO",
            "log_id": 0,
            "log_part": part,
            "total": 1 << 27,
            "used": 1 << 26,
        }
        for node in (3, 4)
        for part in range(4)
    ]
    undo = [
        {"node_id": node, "log_type": "DD-UNDO", "log_id": 13, "log_part": 0, "total": total, "used": used}
        for node in (3, 4)
    ]
    ndb.tables["logspaces"] = redo + undo


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
    ndb.tables["logspaces"] = []
    ndb.columns["logspaces"] = ["node_id", "log_type", "log_id", "log_part", "total", "used"]
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
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(time, "time", lambda: ndb.now)

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


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def perfdata(text):
    items = text.splitlines()[0].partition(" | ")[2].split()
    return dict(item.split("=") for item in items)


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
        "NDB_MEMORY CRITICAL - data memory of node 4 is 93.2 % full (74.6 MiB of 80 MiB): inserts fail at "
        "95 % (1114 The table is full, NDB error 827); also node 3 91 %: delete rows, drop tables, enlarge "
        "DataMemory (rolling restart), or add data nodes"
    )
    assert perfdata(text)["node3_data_memory"] == "91%;80;90"


def test_full_is_what_a_real_cluster_was_when_inserts_failed(look, ndb):
    for node in (3, 4):
        fill(ndb, 100 * 2432 / 2560, node)
    status, text = look()
    assert status == 2
    assert "data memory of node 3 is 95 % full (76 MiB of 80 MiB): inserts fail now, at 95 % (1114" in text


def test_what_others_say_is_not_on_the_line_of_a_problem(look, ndb):
    fill(ndb, 60, kind="Long message buffer")
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_MEMORY WARNING - long message buffer of node 3 is 60 % full (38.4 MiB of 64 MiB): a data node "
        "that runs out of it ends (error 2351): enlarge LongMessageBuffer (rolling restart), or make batches "
        "and transactions smaller"
    )
    fill(ndb, 81, kind="Long message buffer")
    assert look()[0] == 2


def test_old_versions_have_index_memory(look, ndb):
    ndb.tables["memoryusage"] += [memory(node, "Index memory", 85 * MIB, 100 * MIB) for node in (3, 4)]
    status, text = look()
    assert status == 1
    assert "index memory of node 3 is 85 % full (85 MiB of 100 MiB): inserts fail when it is full" in text
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
    state, text = look()
    assert state == status
    if status:
        assert f"undo log of node 3 is {used} % full" in text
        assert "1501" in text
        assert "ADD UNDOFILE" in text


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
        "NDB_MEMORY CRITICAL - tablespace ts_1 is 100 % full (15 of 15 extents of 1 MiB that can be had): "
        "a disk table that needs one more fails (1114 The table is full, NDB error 1601): not for want of "
        "memory: ALTER TABLESPACE ... ADD DATAFILE, delete rows or drop tables"
    )


def test_the_files_of_a_tablespace_are_added_up(look, ndb):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [data_file("ts_1", 0, 50), data_file("ts_1", 50, 50)]
    _, text = look()
    assert perfdata(text)["tablespace"] == "52.63%;80;90"


def test_old_versions_tell_of_each_file_on_each_node(look, ndb):
    disk_data(ndb)
    ndb.tables["information_schema.files"] = [
        data_file("ts_1", 50, 100, extra="CLUSTER_NODE=3"),
        data_file("ts_1", 10, 100, extra="CLUSTER_NODE=4"),
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
    assert "data memory of node 3 is 85 % full" in text
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


def test_rows_without_numbers_are_no_rows(look, ndb):
    for row in ndb.tables["memoryusage"]:
        if row["node_id"] == 4:
            row["total"] = None
    assert look()[0] == 3
    for row in ndb.tables["memoryusage"]:
        row["total"] = 0
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 answer, but have no row in ndbinfo.memoryusage" in text


def test_a_cluster_that_is_down_is_unknown(look, ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    status, text = look()
    assert status == 3
    assert "cluster down" in first_line(text)


def test_no_answer_is_unknown(look, ndb):
    ndb.failing["memoryusage"] = NoAnswerError("sql1:3306 has not answered within 7 s")
    assert look()[0] == 3


def test_nobody_started_is_unknown(look, ndb):
    for node in (3, 4):
        ndb.node(node)["status"] = "STARTING"
    status, text = look()
    assert status == 3
    assert "nodes 3 and 4 are starting" in first_line(text)


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
    percents = [20, 21, 22, 23, 24, 25]
    for percent in percents:
        fill(ndb, percent)
        status, text = look("--horizon", "6h")
    assert status == 1
    assert first_line(text).startswith(
        "NDB_MEMORY WARNING - data memory of node 3 is 25 % full (20 MiB of 80 MiB), "
        "full in 5 h 50 min at this rate"
    )
    assert look("--horizon", "1h")[0] == 0


def test_the_horizon_does_not_tell_a_problem_twice(look, ndb):
    for percent in [76, 77, 78, 79, 80, 81]:
        fill(ndb, percent)
        status, text = look("--horizon", "1d")
    assert status == 1
    assert "more problem" not in first_line(text)
    assert "81 % full (64.8 MiB of 80 MiB), full in 1 h 10 min at this rate" in first_line(text)


def test_what_is_full_is_no_prediction(look, ndb):
    for percent in [92, 93, 94, 94.5, 95, 95]:
        fill(ndb, percent)
        status, text = look("--horizon", "1d", "-w", "~:", "-c", "~:")
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
        {"samples": {"data_memory/node 3": 7}},
        {"samples": {"data_memory/node 3": [1, 2]}},
        {"samples": {"data_memory/node 3": [["a", "b"]]}},
        {"samples": {"data_memory/node 3": [[1, 2, 3]]}},
        {"samples": {"data_memory/node 3": [[[1], 2]]}},
        {"samples": {"data_memory/node 3": [[1e300, None]]}},
        {"samples": {"data_memory/node 3": [[2_000_000_000, 5]] * 6}},
        {"samples": [1, 2]},
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
    assert look()[0] == 0


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 100)), max_size=30))
def test_any_history_gives_a_time_or_none(steps):
    memory, now = {}, 1_795_000_000.0
    for passed, used in steps:
        now += passed
        found = History(memory, now).growth("data_memory/node 3", Use("node 3", used, 100), 1e9)
        assert found is None or found.pace > 0
        assert found is None or 0 <= found.time_to(95, Use("node 3", used, 100)) < 1e9
        memory = json.loads(json.dumps(memory))
    assert len(memory.get("samples", {}).get("data_memory/node 3", [])) <= 12


# many nodes


@pytest.fixture
def ndb_of_48(look, monkeypatch):
    many = cluster(range(3, 51))
    monkeypatch.setattr(mysql, "connect", lambda *_: many)
    monkeypatch.setattr(time, "time", lambda: many.now)
    return many


def test_48_nodes_make_a_short_line(look, ndb_of_48):
    for node in range(10, 30):
        fill(ndb_of_48, 60 + node, node)
    status, text = look()
    assert status == 1
    line = text.splitlines()[0]
    assert len(line.encode()) < 1023
    assert "data memory of node 29 is 89 % full" in line
    assert "also node 28 88 %, node 27 87 %, node 26 86 %, node 25 85 % and 4 more" in line
    assert list(perfdata(text)) == ["data_memory", "long_message_buffer"]


def test_the_memory_of_48_nodes_is_small(look, ndb_of_48):
    for number in range(15):
        for node in range(3, 51):
            fill(ndb_of_48, 20 + number / 100, node)
        ndb_of_48.later(300)
        look(after=0)
    assert look.state().stat().st_size < 30_000


def test_details_have_a_table(look, ndb):
    grow(look, ndb, [20, 21, 22, 23, 24])
    _, text = look("-v")
    title, first, second = text.splitlines()[-3:]
    assert title.split() == ["node", "data_memory", "used", "total", "grows_per_hour"]
    assert first.split() == ["node", "3", "24", "20132659", "83886080", "10066326"]
    assert second.split() == ["node", "4", "2.66", "2228224", "83886080", "-"]
