"""What check_ndb_redo_buffer says of disks below disk tables, from run to run."""

import runpy
import time
from pathlib import Path

import pytest
from clock import keep_time
from first_line import first_line, perfdata
from redo_buffers import FakeRedo, buffers
from stallwatch.frame.options import mysql
from stallwatch.sources import host, kernel
from stallwatch.sources.mysql import MysqlError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_redo_buffer"))
FAST, LONG = 1 << 9, 1 << 20  # us
BOUNDS = (0, FAST, 1 << 19, LONG, 0xFFFFFFFF)
UNDO = {"log_type": "DD-UNDO", "log_id": 4, "log_part": 0}


class DiskTables(FakeRedo):
    """A cluster with tables on disk, whose nodes count in ndbinfo.pgman_time_track_stats."""

    def __init__(self, nodes=(3, 4)):
        super().__init__(nodes)
        for table in ("logspaces", "logbuffers"):
            self.tables[table] += [{"node_id": node, **UNDO, "total": 1000, "used": 0} for node in nodes]
        self.tables["pgman_time_track_stats"] = [
            {"node_id": node, "block_instance": instance, "upper_bound": bound, "page_reads": 0,
             "page_writes": 0, "log_waits": 0}
            for node in nodes for instance in (1, 2) for bound in BOUNDS
        ]  # fmt: skip

    def count(self, node, kind, fast=0, long=0):
        """Let a node have done so much more."""
        for row in self.tables["pgman_time_track_stats"]:
            if (row["node_id"], row["block_instance"]) == (node, 1):
                row[kind] += {FAST: fast, LONG: long}.get(row["upper_bound"], 0)

    def fill_undo_buffer(self, node, used):
        for row in self.tables["logbuffers"]:
            if row["node_id"] == node and row["log_type"] == "DD-UNDO":
                row["used"] = used


@pytest.fixture
def ndb():
    return DiskTables()


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin at that cluster, a minute after the last time."""
    slept = [0.0]

    def sleep(seconds):
        slept[0] += seconds
        ndb.sleep(seconds)

    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    keep_time(monkeypatch, lambda: ndb.now, sleep)
    monkeypatch.setattr(time, "monotonic", lambda: slept[0] + ndb.now)

    def run(*arguments, after=60):
        ndb.later(after)
        options = ["--state-dir", str(tmp_path / "state"), *map(str, arguments)]
        status, text = PLUGIN["check"].run(PLUGIN["findings"], options)
        assert status in (0, 3) or len(first_line(text)) <= 160
        return status, text

    return run


def test_without_disk_tables_nobody_asks(look, ndb):
    for table in ("logspaces", "logbuffers"):
        ndb.tables[table] = [row for row in ndb.tables[table] if row["log_type"] == "REDO"]
    look()
    assert not any("pgman" in sql for sql in ndb.asked)


def test_a_first_look_tells_nothing(look, ndb):
    ndb.count(3, "page_writes", long=500)
    status, text = look()
    assert status == 0
    assert "slow_pages" not in perfdata(text)


def test_slow_data_files_alone_are_probably_the_disk(look, ndb):
    look()
    ndb.count(3, "page_writes", fast=6, long=54)
    ndb.count(3, "log_waits", fast=20)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_REDO_BUFFER WARNING - node 3: 90 % of page writes took over 0.5 s (limit 10 %), "
        "probably a slow disk - run iostat -kx 1 on its host"
    )
    assert text.splitlines()[1:] == [
        "  node 3: 54 of 60 page writes and 0 of 20 undo log waits took over 0.5 s in 1 min",
        "  no other evidence of the disk: look at the processors of its host, too",
    ]
    assert perfdata(text)["slow_pages"] == "90%;10;50"
    assert perfdata(text)["slow_undo"] == "0%;10;50"


def test_slow_undo_files_alone_are_probably_the_disk(look, ndb):
    look()
    ndb.count(4, "page_writes", fast=60)
    ndb.count(4, "log_waits", fast=1, long=9)
    status, text = look()
    assert status == 1
    assert "node 4: 90 % of undo log waits took over 0.5 s (limit 10 %), probably a slow disk " in text
    assert "probably a slow disk - run iostat" in first_line(text)


def test_slow_data_and_undo_files_together_are_the_disk(look, ndb):
    look()
    for _ in range(2):
        ndb.count(3, "page_writes", fast=6, long=54)
        ndb.count(3, "log_waits", long=9)
        ndb.fill_undo_buffer(3, 990)
        status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_REDO_BUFFER CRITICAL - node 3: 90 % of page writes took over 0.5 s (limit 50 %), "
        "the disk is too slow for data and undo - use a faster disk"
    )
    assert perfdata(text)["undo_buffer"] == "99%;85"  # it waits for the same disk
    assert len(first_line(text)) <= 160


def test_page_reads_that_take_long_are_told_as_well(look, ndb):
    look()
    ndb.count(3, "page_reads", fast=10, long=10)
    ndb.count(3, "page_writes", fast=100)
    assert "node 3: 50 % of page reads took over 0.5 s (limit 10 %)" in look()[1]


def test_a_large_checkpoint_that_is_fast_is_ok(look, ndb):
    """Some few of many thousands are always late, as while a node stands still."""
    look()
    ndb.count(3, "page_writes", fast=20_000, long=60)
    ndb.count(3, "log_waits", fast=5000, long=64)
    status, text = look()
    assert status == 0
    assert perfdata(text)["slow_pages"] == "0.3%;10;50"


def test_a_few_pages_tell_nothing(look, ndb):
    look()
    ndb.count(3, "page_writes", long=2)
    status, text = look()
    assert status == 0
    assert "slow_pages" not in perfdata(text)


def test_a_node_that_restarted_has_nothing_to_compare(look, ndb):
    ndb.count(3, "page_writes", fast=1000, long=100)
    look()
    for row in ndb.tables["pgman_time_track_stats"]:
        row["page_writes"] = 0
    ndb.count(3, "page_writes", long=60)
    ndb.later(60)
    ndb.restart(3, uptime=30)
    status, text = look(after=0)
    assert status == 0
    assert "page writes" not in text


def test_what_was_seen_is_held_while_nothing_is_written(look, ndb):
    look()
    ndb.count(3, "page_writes", long=60)
    look()
    status, text = look()
    assert status == 1
    assert "node 3: 100 % of page writes took over 0.5 s until " in first_line(text)
    assert "took over 0.5 s in 1 min, nothing was read or written since\n" in text
    assert look(after=400)[0] == 0


def test_what_is_written_fast_again_is_over(look, ndb):
    look()
    ndb.count(3, "page_writes", long=60)
    assert look()[0] == 1
    ndb.count(3, "page_writes", fast=60)
    assert look()[0] == 0


def test_redo_writes_that_lag_are_told_before_a_buffer_is_full(look, ndb):
    look()
    ndb.lag(3, 9)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_REDO_BUFFER WARNING - redo writes of node 3 lagged 15 % of the time (limit 5 %), "
        "the disk is too slow for redo - use a faster disk"
    )
    assert "  node 3: redo writes lagged 9 s of 1 min (slowdowns_due_to_io_lag)" in text


def test_a_full_redo_buffer_is_the_same_incident(look, ndb):
    look()
    ndb.lag(3, 30)
    full = [*buffers(3, used=100), *buffers(4, used=9)]
    ndb.tables["logbuffers"] = [
        *full,
        *(row for row in ndb.tables["logbuffers"] if row["log_type"] != "REDO"),
    ]
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 0 100 % full (limit 85 %), the disk is too slow: " in first_line(text)
    assert "more problem" not in first_line(text)
    assert "\n  also: redo writes of node 3 lagged 50 % of the time" in text
    assert perfdata(text)["redo_lagged"] == "50%;5;50"


def test_a_second_of_lag_in_a_minute_is_ok(look, ndb):
    look()
    ndb.lag(3, 1)
    status, text = look()
    assert status == 0
    assert perfdata(text)["redo_lagged"] == "1.7%;5;50"


def test_a_version_without_the_table_says_so_to_who_wants_to_know(look, ndb):
    del ndb.tables["pgman_time_track_stats"]
    assert look()[0] == 0
    assert "this version does not show how long page reads and writes take" in look("-v")[1]
    ndb.failing["pgman"] = MysqlError("sql1:3306 says: no")
    assert "[OK] not known is how long page reads and writes take: sql1:3306 says: no" in look("-v")[1]


@pytest.mark.parametrize("busy", [{"busy": 95.0, "waited": 1.0}, {"busy": 4.0, "waited": 80.0}])
def test_a_disk_of_this_host_that_is_waited_for_leaves_no_doubt(look, ndb, tmp_path, monkeypatch, busy):
    (tmp_path / "data" / "ndb_3_fs").mkdir(parents=True)
    uses = [host.DiskUse(0, 100, 0, 0), host.DiskUse(100, 100 + busy["busy"], busy["waited"], 100)] * 2
    pressure = [10.0, 97.0] * 2
    monkeypatch.setattr(host, "disk_of", lambda _: "vda")
    monkeypatch.setattr(host, "disk_use", lambda _: uses.pop(0))
    monkeypatch.setattr(kernel, "stalled", lambda _: pressure.pop(0))
    look()
    ndb.count(3, "page_writes", long=60)
    status, text = look("--data-dir", tmp_path / "data")
    assert status == 1
    assert "the disk is too slow for data - use a faster disk" in first_line(text)
    said = "vda is 95.0 % busy" if busy["busy"] > 90 else "vda takes 800 ms per request"
    assert f"  {said}\n  tasks of its host waited for disks 87 % of the time (/proc/pressure/io)" in text


def test_a_busy_disk_beside_another_one_leaves_a_doubt(look, ndb, tmp_path, monkeypatch):
    """Files of disk tables may be on the other one (FileSystemPathDD)."""
    for name in ("vda", "vdb"):
        (tmp_path / name / "ndb_3_fs").mkdir(parents=True)
    looks = {"vda": 0, "vdb": 0}

    def use(disk):
        looks[disk] += 1
        busy = 95 if disk == "vda" else 5
        return host.DiskUse(100 * looks[disk], 100 + busy * looks[disk], 0, 0)

    monkeypatch.setattr(host, "disk_of", lambda directory: Path(directory).name)
    monkeypatch.setattr(host, "disk_use", use)
    look()
    ndb.count(3, "page_writes", long=60)
    _, text = look("--data-dir", tmp_path / "vda", "--data-dir", tmp_path / "vdb")
    assert "probably a slow disk - run iostat" in first_line(text)
    assert "\n  vda is 95.0 % busy\n" in text


@pytest.mark.parametrize(
    "damage", [7, {"3": 7}, {"3": [1, 2, 3]}, {"3": [1e12, 5, {"page_writes": [1]}]}, {"3": ["a", 5, {}]}]
)
def test_damaged_memory_is_forgotten(look, ndb, tmp_path, damage):
    import json

    look()
    look()
    state = next((tmp_path / "state").glob("*.json"))
    kept = json.loads(state.read_text())
    inner = next(value for value in kept.values() if isinstance(value, dict) and "pages" in value)
    inner["pages"] = damage
    state.write_text(json.dumps(kept))
    assert look()[0] == 0


def test_nodes_and_files_together_are_one_incident(look, ndb):
    look()
    for _ in range(2):
        ndb.lag(3, 40)
        ndb.count(4, "log_waits", long=9)
        status, text = look()
    assert status == 2
    assert "CRITICAL - node 4: 100 % of undo log waits took over 0.5 s (limit 50 %), " in first_line(text)
    assert "more problem" not in first_line(text)
    assert "  node 3: redo writes lagged 40 s of 1 min (slowdowns_due_to_io_lag)" in text


def test_a_full_undo_log_is_a_symptom_of_a_slow_disk(look, ndb):
    look()
    for row in ndb.tables["logspaces"]:
        if row["log_type"] == "DD-UNDO":
            row["used"] = 660
    for _ in range(2):
        ndb.count(3, "page_writes", fast=75, long=25)
        status, text = look()
    assert status == 2
    assert "CRITICAL - node 3: 25 % of page writes took over 0.5 s (limit 10 %), probably" in first_line(text)
    assert "\n  also: undo log of node 3 99 % full" in text
    assert "more problem" not in first_line(text)


def test_a_burst_fills_an_undo_buffer_for_a_moment(look, ndb):
    look()
    ndb.fill_undo_buffer(3, 940)
    ndb.slept = lambda seconds: ndb.fill_undo_buffer(3, 0) if seconds > 1 else None
    status, text = look()
    assert status == 0
    assert perfdata(text)["undo_buffer"] == "0%;85"


def test_an_undo_buffer_that_stays_full_is_probably_the_disk(look, ndb):
    look()
    ndb.fill_undo_buffer(3, 940)
    status, text = look()
    assert status == 1
    assert "undo buffer of disk tables of node 3 94 % full (limit 85 %), probably a slow disk - run" in text
    ndb.lag(3, 9)
    assert "the disk is too slow for undo and redo" in first_line(look()[1])


def test_an_incident_is_as_bad_as_its_worst_part(look, ndb):
    look()
    for _ in range(2):
        ndb.lag(3, 40)
        ndb.count(3, "page_writes", fast=75, long=25)
        status, text = look()
    assert status == 2
    assert "CRITICAL - node 3: 25 % of page writes took over 0.5 s (limit 10 %), the disk is too" in text
    assert "more problem" not in first_line(text)


def test_a_full_redo_log_and_lag_of_redo_are_one_incident(look, ndb):
    look()
    for row in ndb.tables["logspaces"]:
        if row["log_type"] == "REDO":
            row["used"] = row["total"]
    ndb.lag(4, 9)
    status, text = look()
    assert status == 1
    assert "node 4 lagged 15 % of the time (limit 5 %), the disk is too slow" in first_line(text)
    assert "\n  also: redo log of node 3 100 % full (limit 70 %), checkpoints probably do not keep up" in text
    assert "more problem" not in first_line(text)
    assert "\n  node 4: redo writes lagged 9 s of 1 min (slowdowns_due_to_io_lag)" in text
