"""What check_ndb_redo_buffer says of a cluster, from run to run."""

import json
import re
import runpy
import shutil
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from clock import keep_time
from redo_buffers import MIB, RECORDED, FakeRedo, buffers, recorded
from stallwatch.causes import MEANINGS, Kind
from stallwatch.deadline import Deadline
from stallwatch.findings import Fault, State
from stallwatch.frame.options import mysql
from stallwatch.probes.ndb_log.collect import Snapshot
from stallwatch.probes.ndb_redo_buffer import hosts, probe
from stallwatch.probes.ndbinfo.queries import Ndbinfo
from stallwatch.sources import host
from stallwatch.sources.mysql import MysqlError, NoAnswerError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_redo_buffer"))
DISK = "use a faster disk"
LARGER = "  a larger RedoBuffer will not help, different disks for redo and LCP or more data nodes will"


@pytest.fixture
def ndb():
    return FakeRedo()


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
        line, _, _ = first_line(text).partition(" (+")  # without the number of other problems
        assert status in (0, 3) or len(line) <= 160
        run.perfdata = dict(item.split("=") for item in text.splitlines()[0].partition(" | ")[2].split())
        return status, text

    return run


@pytest.fixture
def disk(monkeypatch, tmp_path):
    """The data directory of node 3, on a disk that was as busy as iostat says in the article."""
    directory = tmp_path / "data"
    (directory / "ndb_3_fs").mkdir(parents=True)
    uses = iter([host.DiskUse(0, 100, 0, 0), host.DiskUse(100, 195.3, 12, 1454)])
    monkeypatch.setattr(host, "disk_of", lambda _: "cciss/c0d1")
    monkeypatch.setattr(host, "disk_use", lambda _: next(uses))
    return directory


@pytest.fixture
def log(tmp_path, ndb):
    """A data node's log of which every line has just been written."""

    def log(name, node=3):
        path = tmp_path / f"ndb_{node}_out.log"
        shutil.copy(RECORDED / "ndb_log" / f"{name}.ndb_{node}_out.log", path)
        last = path.read_text().splitlines()[-1].split(maxsplit=1)[0]
        ndb.now = datetime.fromisoformat(last).timestamp()
        return path

    return log


def low_space(path):
    """Let a log say that there is too little room in the redo log, and nothing else."""
    last = path.read_text().splitlines()[-1]
    path.write_text(last.replace(" : Redo buffer not full", " problem started : Low space.  (0x1)") + "\n")


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def number(perfdata):
    return float(perfdata.partition("%")[0])


def test_an_idle_cluster_is_ok(look, ndb):
    status, text = look()
    assert status == 0
    assert text == (
        "NDB_REDO_BUFFER OK - redo buffer of node 3 part 0 9 % full (5 samples in 1.6 s) | "
        "redo_buffer=9.09%;60;85 redo_buffer_peak=9.09%;60;85 node3_redo_buffer=9.09%;60;85 "
        "node4_redo_buffer=9.09%;60;85 redo_space=0.82%;70;85"
    ).replace("9.09%", look.perfdata["redo_buffer"].partition(";")[0])
    assert len(ndb.asked) == 11  # three on the data nodes, three on what else fills, five samples


def test_the_articles_light_load_is_basically_nothing(look, ndb):
    ndb.show(*recorded("article_light_load"))
    status, text = look()
    assert status == 0
    assert "redo buffer of node 3 part 2 0.6 % full" in first_line(text)


def test_the_articles_heavy_load_is_a_disk_that_cannot_keep_up(look, ndb, disk):
    ndb.show(*recorded("article_heavy_load"))
    ndb.tables["cpustat"][4]["thread_exec"] = 44
    status, text = look("--data-dir", disk)
    assert status == 2
    assert first_line(text) == (
        "NDB_REDO_BUFFER CRITICAL - redo buffer of node 3 part 4 86.1 % full (limit 85 %), "
        f"the disk is too slow: cciss/c0d1 is 95.3 % busy - {DISK}"
    )
    assert text.splitlines()[1:] == [
        "  86.1 % full (5 samples in 1.6 s)",
        "  3 redo buffers of this node are too full",
        "  disk of node 3: cciss/c0d1 is 95.3 % busy",
        "  not the processor: the busiest thread of node 3, recv, works 44 % of the time",
        LARGER,
        f"  whether {MEANINGS[Kind.REDO_BURSTS]} cannot be seen while this lasts",
    ]
    assert look.perfdata["redo_buffer"].startswith("86.1")  # 85.5 % of the raw size


def test_without_any_evidence_nothing_is_guessed(look, ndb):
    ndb.show(*recorded("article_heavy_load"))
    status, text = look()
    assert status == 2
    assert ", probably a small buffer or a slow disk - run iostat -kx 1 on its host" in first_line(text)
    assert "no evidence which of the two: look while it lasts, or name the log of the node with --log" in text


def test_a_buffer_of_1_mib_is_full_at_69_percent_of_it(look, ndb):
    ndb.show(*recorded("slow_disk"))
    ndb.slept = lambda _: ndb.lag(3)
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 0 100 % full (limit 85 %), the disk" in first_line(text)
    assert f"the disk is too slow: redo writes lag - {DISK}" in first_line(text)
    assert "redo writes of node 3 lag now (slowdowns_due_to_io_lag grows)" in text
    assert "clients get time-outs (266, MySQL's 1205), or 1221 with" in text


def test_clients_that_time_out_have_a_full_buffer_behind_them(look, ndb):
    ndb.show(*recorded("slow_disk_through_sql"))
    before = {3: (4, 3), 4: (5, 4)}
    for node, (one, other) in before.items():
        ndb.change("disk_write_speed_aggregate", node, slowdowns_due_to_io_lag=one)
        ndb.tables["disk_write_speed_aggregate"][-1]["slowdowns_due_to_io_lag"] = other
    assert look()[0] == 2
    for node in (3, 4):
        ndb.change("disk_write_speed_aggregate", node, slowdowns_due_to_io_lag=9)
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 0 100 % full" in first_line(text)
    assert "the disk is too slow: redo lagged 5 s of 1 min" in first_line(text)


def test_a_full_redo_log_is_told_apart_from_a_full_buffer(look, ndb):
    ndb.show(*recorded("fast_disk"))
    ndb.tables["logspaces"] = recorded("fast_disk", "logspaces")[1]
    said = "checkpoints probably do not keep up - raise MaxDiskWriteSpeed"
    fullest = "redo log of node 3 100 % full"
    below = [
        "  2 nodes above the limit",
        "  when it is full, writes fail with error 410",
        "  a faster disk or a higher NoOfFragmentLogFiles (initial restarts) helps, too",
    ]
    status, text = look()
    assert status == 1
    assert first_line(text) == f"NDB_REDO_BUFFER WARNING - {fullest} (limit 70 %), {said}"
    assert text.splitlines()[1:] == ["  seen in one run so far", *below]
    status, text = look()
    assert status == 2
    assert first_line(text) == f"NDB_REDO_BUFFER CRITICAL - {fullest} (limit 85 %), {said}"
    assert text.splitlines()[1:] == below
    assert look.perfdata["redo_space"] == "100%;70;85"
    assert number(look.perfdata["redo_buffer_peak"]) < 60


@pytest.mark.parametrize(
    ("total", "used", "told"), [(12, 6, 100), (16, 10, 100), (24, 12, 66.67), (256, 40, 16)]
)
def test_of_a_redo_log_6_mib_cannot_be_used(look, ndb, total, used, told):
    """9.7.2 refuses writes (error 410) with 6 of 12 MiB used, while half of the redo log is free."""
    for node in (3, 4):
        ndb.change("logspaces", node, total=total * MIB, used=used * MIB)
    status, text = look()
    assert look.perfdata["redo_space"] == f"{told}%;70;85"
    assert status == (1 if told > 70 else 0), text
    assert look()[0] == (2 if told > 85 else 0)


def test_undo_log_and_undo_buffer_have_their_own_advice(look, ndb):
    undo = {"node_id": 4, "log_type": "DD-UNDO", "log_id": 4, "log_part": 0}
    ndb.tables["logspaces"].append(undo | {"total": 1000, "used": 600})  # of 667 that can be used
    ndb.tables["logbuffers"].append(undo | {"total": 1000, "used": 900})
    status, text = look()
    assert status == 1
    assert first_line(text).startswith(
        "NDB_REDO_BUFFER WARNING - undo buffer of disk tables of node 4 90 % full (limit 85 %), "
        "probably a slow disk - run iostat -kx 1 on its host"
    )
    assert (
        "\n  also: undo log of node 4 90 % full (limit 70 %), checkpoints probably do not keep up"
        " - ALTER LOGFILE GROUP ... ADD UNDOFILE\n" in text
    )
    assert look.perfdata["undo_space"] == "90%;70;85"
    assert look.perfdata["undo_buffer"] == "90%;85"


def test_a_peak_alone_is_a_warning(look, ndb):
    quiet = [*buffers(3, used=9), *buffers(4, used=9)]
    ndb.show(quiet, quiet, [*buffers(3, used=9), *buffers(4, used=[9, 100, 9, 9])], quiet)
    status, text = look()
    assert status == 1
    assert "WARNING - redo buffer of node 4 part 1 up to 100 % full (limit 60 %)" in first_line(text)
    assert "\n  9 to 100 % full (5 samples in 1.6 s)\n" in text
    assert "- run iostat -kx 1 on its host" in first_line(text)
    assert number(look.perfdata["redo_buffer"]) < 10
    assert look.perfdata["redo_buffer_peak"] == "100%;60;85"


def test_peaks_of_buffers_in_turn_are_not_one_that_stays_full(look, ndb):
    ndb.show(
        *[
            [*buffers(3, used=[100 if part == turn else 9 for part in range(4)]), *buffers(4, used=9)]
            for turn in (0, 1, 2, 3, 0)
        ]
    )
    status, text = look()
    assert status == 1
    assert "4 redo buffers of this node are too full" in text


def test_short_bursts_are_proved_by_a_node_whose_redo_writes_never_lagged(look, ndb):
    quiet = [*buffers(3, used=9), *buffers(4, used=9)]
    assert look()[0] == 0
    ndb.show(quiet, [*buffers(3, used=90), *buffers(4, used=9)], quiet)
    status, text = look()
    assert status == 1
    assert first_line(text).endswith("short bursts: no redo write lagged in 1 min - increase RedoBuffer")
    assert "the buffer empties between the samples" in text


def test_a_buffer_that_stays_full_at_a_flat_rate_is_the_disk(look, ndb):
    ndb.show([*buffers(3, used=90), *buffers(4, used=9)])
    ndb.change("disk_write_speed_aggregate", 3, redo_speed_last_10sec=500_000, redo_speed_last_60sec=520_000)
    status, text = look()
    assert status == 2
    assert "probably a slow disk: redo stays at 976.6 KiB/s" in first_line(text)
    assert "node 3 writes redo at 976.6 KiB/s, and has done so for a minute" in text


def test_a_thread_that_is_always_at_work_is_the_processor(look, ndb):
    ndb.show([*buffers(3, used=90), *buffers(4, used=9)])
    ndb.tables["cpustat"][2] |= {"thread_exec": 90, "thread_send": 7}
    _, text = look()
    assert "the processor cannot keep up: ldm thread 97 % busy - add threads" in first_line(text)


def test_the_log_of_a_slow_disk(look, ndb, log):
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    status, text = look("--log", log("R3_redo_throttled_abort"))
    assert status == 2
    assert "the disk is too slow: its log shows 6 s lag" in text
    assert "log: node 3 redo log part 1 lagged 6 s at 23:39" in text
    assert "also: node 3 redo buffer of part 0 is full since 23:39:01" in text
    assert look.perfdata["redo_lag"] == "6s;1"


def test_the_log_of_a_small_buffer_and_no_sample_that_hits(look, log):
    path = log("R1_redo_small_buffer")
    for _ in range(2):  # what is told is held
        status, text = look("--log", path)
        assert status == 1
        assert "WARNING - node 3 redo buffer was full 12 times from 19:43:42 until 19:43:47, short " in text
        assert "short bursts - increase RedoBuffer" in text
        assert "redo_lag=0s;1" in text
    assert look("--log", path, after=3600)[0] == 0


def test_a_disk_that_lags_now_outranks_bursts_of_before(look, ndb, log):
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    ndb.slept = lambda _: ndb.lag(3)
    status, text = look("--log", log("R1_redo_small_buffer"))
    assert status == 2
    assert "the disk is too slow: redo writes lag" in first_line(text)


def test_a_cluster_log_tells_nothing_of_redo_buffers(look, tmp_path, ndb):
    path = tmp_path / "ndb_1_cluster.log"
    shutil.copy(RECORDED / "ndb_log" / "R3_redo_throttled_abort.ndb_1_cluster.log", path)
    status, text = look("--log", path)
    assert status == 3
    assert "is a management node's, which shows no full redo buffers" in text
    assert "name the data nodes' ndb_N_out.log" in text


def test_a_management_nodes_log_is_passed_over_beside_those_of_data_nodes(look, tmp_path, log, ndb):
    path = tmp_path / "ndb_1_cluster.log"
    shutil.copy(RECORDED / "ndb_log" / "R3_redo_throttled_abort.ndb_1_cluster.log", path)
    _, alone = look("--log", log("R1_redo_small_buffer"))
    _, both = look("--log", log("R1_redo_small_buffer"), "--log", path)
    assert first_line(both) == first_line(alone)
    assert "management" not in both


def test_nodes_with_different_causes_are_both_told(look, ndb, log):
    ndb.show([*buffers(3, used=100), *buffers(4, used=90)])
    ndb.change("disk_write_speed_aggregate", 4, redo_speed_last_10sec=500_000, redo_speed_last_60sec=500_000)
    ndb.tables["cpustat"][2]["thread_exec"] = 99
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 0 100 % full (limit 85 %), the processor" in first_line(text)
    assert "\n  100 % full (5 samples in 1.6 s)\n  8 redo buffers of 2 nodes are too full\n" in text
    assert "[CRITICAL] redo buffer of node 4 part 0 90 % full (limit 85 %), probably a slow disk" in text
    assert text.splitlines()[0].count("node4_redo_buffer=") == 1


def test_a_node_that_is_down_is_named_and_the_rest_is_judged(look, ndb):
    look()
    ndb.end(4)
    status, text = look()
    assert status == 0
    assert "node 4 does not answer: judged without it" in text
    assert "node4" not in look.perfdata


def test_a_started_node_without_rows_is_unknown(look, ndb):
    ndb.show(buffers(3, used=9))
    status, text = look()
    assert status == 3
    assert "node 4 answers, but has no row in ndbinfo.logbuffers" in text


@pytest.mark.parametrize("silent", [(), (3,)])
@pytest.mark.parametrize("part", ["FROM ndbinfo.logspaces", "1.0 * used", "COUNT(used) AS told"])
def test_a_node_that_ends_meanwhile_is_judged_without(look, ndb, part, silent):
    ndb.ends_before(part, 4, silent)
    status, text = look()
    assert status == 0
    assert "node 4 does not answer: judged without it" in text
    assert "has no row" not in text
    assert {"redo_space", "node3_redo_buffer"} <= look.perfdata.keys()


def test_a_node_that_ends_between_the_samples_is_not_said_to_stay_full(look, ndb):
    ndb.show([*buffers(3, used=9), *buffers(4, used=100)], buffers(3, used=9))
    status, text = look()
    assert status == 1
    assert "redo buffer of node 4 part 0 up to 100 % full" in first_line(text)


def test_after_a_restart_there_is_no_lag_to_compare(look, ndb):
    for node in (3, 4):
        ndb.change("disk_write_speed_aggregate", node, slowdowns_due_to_io_lag=500)
    assert look()[0] == 0
    ndb.change("disk_write_speed_aggregate", 3, slowdowns_due_to_io_lag=0)
    ndb.later(60)
    ndb.restart(3, uptime=30)
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    status, text = look(after=0)
    assert status == 2
    assert "nothing left the buffer in" in text


def test_an_old_version_knows_less_and_says_so_when_it_matters(look, ndb):
    for table in ("disk_write_speed_aggregate", "cpustat", "threads"):
        del ndb.tables[table]
    assert look()[1].count("\n") == 0
    ndb.show(*recorded("article_heavy_load"))
    status, text = look()
    assert status == 2
    assert "a small buffer or a slow disk - run iostat" in first_line(text)
    assert "[OK] this version does not show whether redo writes lagged" in text
    assert "[OK] this version does not show how busy threads are" in text


def test_time_that_is_short_makes_fewer_samples(look, ndb):
    status, text = look("-t", "2", "--spread", "3.5s")
    assert status == 0
    assert "(3 of 5 samples, time was short)" in first_line(text)


def test_one_sample_is_a_warning_at_most_and_proves_no_staying(look, ndb):
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    ndb.change("disk_write_speed_aggregate", 3, redo_speed_last_10sec=500_000, redo_speed_last_60sec=520_000)
    status, text = look("-t", "2", "--spread", "25s")
    assert status == 1
    assert "no evidence which of the two" in text
    assert "100 % full (1 of 5 samples, time was short)" in text
    assert look.perfdata["redo_buffer"] == "100%;60;85"


@pytest.mark.parametrize("samples", ["1", "0", "-3", "x", "101", "2.5", "9" * 50])
def test_one_sample_cannot_be_asked_for(look, samples):
    status, text = look("--count", samples)
    assert status == 3
    assert re.search("--count: .* is not a (whole )?number from [12] to ", text)


def test_limits_are_the_users(look, ndb):
    ndb.show([*buffers(3, used=50), *buffers(4, used=9)])
    assert look("-w", "40", "-c", "45")[0] == 2
    assert look("-w", "40")[0] == 1
    assert look()[0] == 0


def test_what_cannot_be_seen_is_said_to_who_wants_to_know_it_all(look, log):
    _, text = look("-v")
    assert "[OK] not seen is a redo buffer that was full for milliseconds between the samples" in text
    assert "node_id  log_id  log_part    total  smallest  largest" in text
    _, text = look("-v", "--log", log("R1_redo_small_buffer"))
    assert "not seen" not in text


def test_a_data_directory_is_one_of_a_data_node(look, tmp_path):
    status, text = look("--data-dir", tmp_path)
    assert status == 3
    assert "has no data node's files: no ndb_N_fs is there" in text
    status, text = look("--data-dir", tmp_path / "none")
    assert status == 3
    assert "No such file or directory" in text


def test_a_disk_that_nobody_counts_is_an_aside(look, disk, monkeypatch):
    monkeypatch.setattr(host, "disk_of", lambda _: None)
    status, text = look("--data-dir", disk)
    assert status == 0
    assert "cannot be looked at: it has no block device of its own" in text


def test_a_busy_disk_accuses_its_own_node_only(look, ndb, disk):
    ndb.show([*buffers(3, used=9), *buffers(4, used=100)])
    _, text = look("--data-dir", disk)
    assert "nothing left the buffer in" in text


def test_no_connected_data_node_is_not_this_checks_alert(look, ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    status, text = look()
    assert status == 3
    assert "none of 2 data nodes is connected" in text


@pytest.mark.parametrize(("error", "state"), [(MysqlError, "OK"), (NoAnswerError, "UNKNOWN")])
@pytest.mark.parametrize(
    ("table", "about"),
    [
        ("disk_write_speed_aggregate", "whether redo writes lagged"),
        ("cpustat", "how busy threads are"),
        ("threads", "how busy threads are"),
    ],
)
def test_evidence_that_is_not_answered_is_missing(look, ndb, table, about, error, state):
    ndb.show(*recorded("article_heavy_load"))
    ndb.failing[f"ndbinfo.{table}"] = error("sql1:3306 says: no")
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 4 86.1 % full" in first_line(text)
    assert f"[{state}] not known is {about}: sql1:3306 says: no" in text


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("disk_write_speed_aggregate", "slowdowns_due_to_io_lag"),
        ("disk_write_speed_aggregate", "redo_speed_last_10sec"),
        ("cpustat", "thread_exec"),
    ],
)
def test_evidence_without_a_number_is_missing_evidence(look, ndb, table, column):
    ndb.show(*recorded("article_heavy_load"))
    for row in ndb.tables[table]:
        row[column] = None
    status, text = look()
    assert status == 2
    assert "[OK] not known is " in text


def test_evidence_that_is_denied_is_missing_evidence(look, ndb):
    ndb.show(*recorded("article_heavy_load"))
    ndb.denied = {"disk_write_speed_aggregate"}
    status, text = look()
    assert status == 2
    assert "[OK] not known is whether redo writes lagged: sql1:3306 denied" in text


def test_evidence_that_is_missing_is_no_word_worth_while_all_is_well(look, ndb):
    ndb.failing["disk_write_speed"] = MysqlError("sql1:3306 says: no")
    status, text = look()
    assert status == 0
    assert "says: no" not in text
    assert "[OK] not known is whether redo writes lagged: sql1:3306 says: no" in look("-v")[1]


def test_a_log_that_is_not_there_is_unknown_beside_the_rest(look, tmp_path):
    status, text = look("--log", tmp_path / "ndb_3_out.log")
    assert status == 3
    assert "ndb_3_out.log" in first_line(text)
    assert "redo_buffer=9" in text


def test_a_problem_of_the_redo_log_in_the_log_is_critical(look, log):
    path = log("R1_redo_small_buffer")
    low_space(path)
    status, text = look("--log", path)
    assert status == 2
    assert "node 3 redo log part 0: low space since 19:43:47" in first_line(text)
    assert "writes fail with error 410" in first_line(text)


@pytest.fixture
def crowd(ndb):
    """48 data nodes of 32 log parts each."""
    ndb.__init__(tuple(range(1, 49)))
    return ndb


def crowded(**used):
    return [row for node in range(1, 49) for row in buffers(node, 32, used=used.get(f"n{node}", 9.0))]


def test_a_large_cluster_costs_few_rows_and_a_short_line(look, crowd, monkeypatch):
    crowd.show(crowded(**{f"n{node}": 100.0 for node in range(1, 49)}))
    counted = []
    rows = crowd.rows
    monkeypatch.setattr(
        crowd, "rows", lambda *asked, **more: counted.append(len(found := rows(*asked))) or found
    )
    status, text = look()
    assert status == 2
    assert "redo buffer of node 1 part 0 100 % full (limit 85 %)" in first_line(text)
    assert "at least 64 redo buffers of 48 nodes are too full" in text
    assert len(text.splitlines()[0]) < 1023
    assert sum(counted) < 900  # 1536 buffers in five samples would be 7680


def test_a_full_buffer_among_many_is_found(look, crowd):
    crowd.show(crowded(n40=[9.0] * 31 + [99.0]))
    status, text = look()
    assert status == 2
    assert "redo buffer of node 40 part 31 99 % full (limit 85 %), " in first_line(text)
    assert "node40_redo_buffer" not in text


def test_a_peak_outside_of_the_fullest_of_the_first_sample_is_found(look, crowd):
    busy = crowded(n1=50.0, n2=50.0)
    crowd.show(busy, crowded(n1=9.0, n2=9.0, n30=[9.0] * 31 + [95.0]), busy)
    status, text = look()
    assert status == 1
    assert "redo buffer of node 30 part 31 up to 95 % full" in first_line(text)


def test_those_that_are_watched_are_seen_in_all_samples(look, crowd):
    """However many others are fuller meanwhile."""
    fuller = crowded(n1=90.0, **{f"n{node}": 99.0 for node in range(5, 49)})
    crowd.show(crowded(n1=99.0), fuller)
    status, text = look()
    assert status == 2
    assert "redo buffer of node 1 part 0 90 % full (limit 85 %)" in first_line(text)
    assert "\n  90 to 99 % full (5 samples" in text


def test_part_numbers_are_log_ids_where_there_are_several(look, ndb):
    ndb.show([*buffers(3, used=[9, 9, 9, 80], total=32 * MIB), *buffers(4, used=9)])
    assert "node 3 part 3 80 % full" in look()[1]


QUIET = [*buffers(3, used=9), *buffers(4, used=9)]
FULL = [*buffers(3, used=100), *buffers(4, used=9)]
NO_ANSWER = NoAnswerError("sql1:3306 has not answered within 3 s")


def fill_redo_log(ndb, **percent):
    """Set how full the redo log of a data node is, of what may be used: ``n3=98``."""
    for node, share in percent.items():
        ndb.change("logspaces", int(node[1:]), used=round(122 * MIB * share / 100))


def fail_at(ndb, monkeypatch, number, *, part="ORDER BY", error=NO_ANSWER):
    """Let the statement fail that is the so-and-so-many-th of its kind."""
    rows, asked = ndb.rows, []

    def fail(sql, *arguments, **more):
        if part in sql:
            asked.append(sql)
            if len(asked) == number:
                raise error
        return rows(sql, *arguments, **more)

    monkeypatch.setattr(ndb, "rows", fail)


def test_a_sample_that_fails_ends_the_samples_and_not_the_run(look, ndb, monkeypatch):
    ndb.show(FULL)
    fail_at(ndb, monkeypatch, 5)
    status, text = look()
    assert status == 2
    assert "\n  100 % full (4 of 5 samples, the next one failed)\n  4 redo buffers of this" in text
    assert "[UNKNOWN] only 4 of 5 samples: sql1:3306 has not answered within 3 s" in text


def test_a_server_that_hangs_in_a_later_sample_is_not_ok(look, ndb, monkeypatch):
    fail_at(ndb, monkeypatch, 2)
    status, text = look("--count", 2)
    assert status == 3
    assert "UNKNOWN - only 1 of 2 samples: sql1:3306 has not answered within 3 s" in first_line(text)
    assert " redo_buffer=9%;" in text


def test_a_server_that_hangs_in_its_last_answer_is_not_ok(look, ndb):
    ndb.failing["disk_write_speed"] = NO_ANSWER
    status, text = look()
    assert status == 3
    assert "UNKNOWN - not known is whether redo writes lagged: sql1:3306 has not answered within" in text


def test_what_there_was_no_time_to_look_at_is_not_ok(look, ndb):
    ndb.takes = 1.6
    status, text = look()
    assert status == 3
    assert " s of 8 s left: how full the redo log is - raise --timeout" in text


def test_a_full_redo_log_is_told_without_any_sample(look, ndb):
    fill_redo_log(ndb, n3=99)
    look()
    ndb.failing["ORDER BY"] = NoAnswerError(NO_ANSWER.what, number=3024)  # the server goes on
    status, text = look()
    assert status == 2
    assert "redo log of node 3 99 % full" in first_line(text)
    assert "[UNKNOWN] sql1:3306 has not answered within 3 s" in text


def test_buffers_are_told_if_nobody_tells_how_full_the_redo_log_is(look, ndb):
    ndb.show(FULL)
    ndb.failing["logspaces"] = NO_ANSWER
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 0 100 % full (limit 85 %)" in first_line(text)
    assert "[UNKNOWN] sql1:3306 has not answered within 3 s" in text


def test_a_server_that_answers_nothing_is_unreachable(look, ndb):
    ndb.failing["ndbinfo.log"] = NO_ANSWER
    assert look()[0] == 3
    assert look("--unreachable", "critical")[0] == 2


class StandstillError(BaseException):
    """Nothing comes back until the run is cut short."""


@pytest.mark.parametrize(
    ("part", "number", "known"),
    [
        ("ORDER BY", 2, {"redo_buffer"}),
        ("logspaces", 1, {"redo_buffer"}),
        ("disk_write_speed", 1, {"redo_buffer", "redo_space"}),
        ("cpustat", 1, {"redo_buffer", "redo_space"}),
        ("disk_write_speed", 2, {"redo_buffer", "redo_space"}),
    ],
)
def test_what_is_known_is_told_before_the_next_statement(look, ndb, monkeypatch, part, number, known):
    ndb.show(FULL)
    fail_at(ndb, monkeypatch, number, part=part, error=StandstillError)
    told = []
    ndb.deadline = Deadline(8)
    options = SimpleNamespace(count=5, spread=0.05, log=[], hold=3600, data_dir=[], verbose=0)
    run = SimpleNamespace(alerts=lambda *_: True, so_far=lambda findings: told.append(list(findings)))
    with pytest.raises(StandstillError):
        list(probe.findings(Ndbinfo(ndb, ndb.deadline), options, run, {}))
    assert {getattr(finding, "label", "") for finding in told[-1]} & {"redo_buffer", "redo_space"} == known


def test_what_a_log_says_is_told_if_the_search_for_the_cause_fails(look, ndb, log):
    path = log("R1_redo_small_buffer")
    low_space(path)
    ndb.show([*buffers(3, used=70), *buffers(4, used=9)])
    ndb.failing["cpustat"] = NO_ANSWER
    for _ in range(2):  # it is remembered, too
        status, text = look("--log", path)
        assert status == 2
        assert "node 3 redo log part 0: low space since 19:43:47" in first_line(text)


@pytest.mark.parametrize("quiet_first", [True, False])
def test_of_two_logs_of_a_node_the_worst_counts(look, log, tmp_path, quiet_first):
    path = log("R3_redo_throttled_abort")
    (tmp_path / "other").mkdir()
    quiet = tmp_path / "other" / path.name
    lines = path.read_text().splitlines(keepends=True)
    quiet.write_text("".join(line for line in lines if "Redo log part" not in line))
    logs = [quiet, path] if quiet_first else [path, quiet]
    status, text = look("--log", logs[0], "--log", logs[1])
    assert status == 1
    assert "  also: node 3 redo log part 1 lagged 6 s at 23:39:00" in text
    last = next(line for line in reversed(lines) if "Redo buffer not full" in line)
    with path.open("a") as log_file:
        log_file.write(last.replace(" : Redo buffer not full", " problem started : Low space.  (0x1)"))
    status, text = look("--log", logs[0], "--log", logs[1])
    assert status == 2
    assert "low space since" in first_line(text)


def test_a_log_of_a_node_nobody_knows_is_heard_all_the_same(look, log, tmp_path):
    path = log("R1_redo_small_buffer").rename(tmp_path / "datanode.log")
    status, text = look("--log", path)
    assert status == 1
    assert "redo buffer was full 12 times from 19:43:42" in first_line(text)
    assert "datanode.log does not name its data node: it is no evidence for any, unless it" in text


@pytest.mark.parametrize("kept", [5, [], None, {"/x": 5}, "x"])
def test_a_memory_of_logs_that_is_damaged_is_begun_anew(look, ndb, log, tmp_path, kept):
    path = log("R1_redo_small_buffer")
    look("--log", path)
    (file,) = (tmp_path / "state").glob("*.json")
    memory = json.loads(file.read_text())
    memory["values"]["logs"] = kept
    file.write_text(json.dumps(memory))
    ndb.show(FULL)
    for _ in range(2):
        status, text = look("--log", path)
        assert status == 2
        assert "internal error" not in text


@pytest.mark.parametrize(
    ("nodes", "samples", "left_out"),
    [(24, "5 samples", ""), (40, "4 of 5 samples", "how busy threads are"), (48, "2 of 5", "how busy")],
)
def test_a_large_cluster_has_time_for_what_matters(look, ndb, nodes, samples, left_out):
    """A statement takes 20 ms for each data node: measured on 9.7.2."""
    ndb.__init__(tuple(range(1, nodes + 1)))
    ndb.takes = 0.02 * nodes
    ndb.show([row for node in range(1, nodes + 1) for row in buffers(node, 32, used=100 if node == 2 else 9)])
    fill_redo_log(ndb, n7=95)
    look()
    status, text = look()
    assert status == 2
    assert "redo buffer of node 2 part 0 100 % full (limit 85 %)" in first_line(text)
    assert f"\n  100 % full ({samples}" in text
    assert "redo log of node 7 95 % full" in text
    assert ("not looked at, as time was short: " in text) == bool(left_out)
    assert left_out in text
    assert "whether redo writes lagged" not in text  # which was asked for
    assert "no verdict within" not in text


def test_two_samples_come_before_all_else(look, ndb):
    """Of one alone nobody knows whether it is a peak."""
    ndb.show(FULL)
    ndb.takes = 1.6
    status, text = look()
    assert status == 2
    assert "(2 of 5 samples, time was short)" in text
    assert "[UNKNOWN] not looked at, as this check had " in text
    assert " s of 8 s left: how full the redo log is - raise" in text


def test_a_node_that_is_not_started_is_not_judged(look, ndb):
    """Nobody's operations wait for it."""
    ndb.show([*buffers(3, used=9), *buffers(4, used=100)])
    fill_redo_log(ndb, n4=99)
    ndb.node(4).update(status="STARTING", start_phase=5)
    status, text = look()
    assert status == 0
    assert "[OK] node 4 is starting" in text
    ndb.node(3).update(status="STARTING")
    assert look()[0] == 3


def test_a_node_that_ends_after_it_was_asked_for_is_missing(look, ndb):
    ndb.samples = [QUIET] * 2
    ndb.slept = lambda _: None if ndb.samples or len(ndb.tables["nodes"]) == 1 else ndb.end(4)
    status, text = look()
    assert status == 0
    assert "[OK] node 4 does not answer: judged without it" in text


@pytest.mark.parametrize("limits", [("-w", "~:", "-c", "85"), ("-w", "~:")])
def test_whatever_alerts_is_suspected(look, ndb, limits):
    ndb.show([*buffers(3, used=87), *buffers(4, used=9)])
    status, text = look(*limits)
    assert status == 2
    assert "no evidence which of the two" in text
    assert "run iostat -kx 1 on its host" in first_line(text)


@pytest.mark.parametrize("options", [(), ("-t", "2", "--spread", "25s")])
def test_what_is_doubtful_warns_where_only_a_critical_limit_is_given(look, ndb, options):
    ndb.show(*([FULL] if options else [QUIET, FULL, QUIET]))
    status, text = look("-w", "~:", "-c", "85", *options)
    assert status == 1
    assert "100 % full" in first_line(text)


def test_a_peak_is_told_beside_what_is_worse(look, ndb):
    ndb.show(QUIET, FULL, QUIET)
    fill_redo_log(ndb, n4=75)
    look()
    ndb.show(QUIET, FULL, QUIET)
    _, text = look()
    assert "redo buffer of node 3 part 0 up to 100 % full (limit 60 %), short bursts" in text
    assert "redo log of node 4 75 % full" in text


def test_a_peak_of_a_node_is_told_beside_another_that_stays_full(look, ndb):
    ndb.show(*([*buffers(3, used=65), *buffers(4, used=share)] for share in (9, 100, 9)))
    status, text = look()
    assert status == 1
    assert "redo buffer of node 3 part 0 65 % full (limit 60 %), " in text
    assert "redo buffer of node 4 part 0 up to 100 % full (limit 60 %), " in text
    assert text.count("4 redo buffers of this node are too full") == 2


def test_peaks_of_a_node_that_stays_full_anyway_are_not_told_twice(look, ndb):
    ndb.show(*([*buffers(3, used=[70, share, 9, 9]), *buffers(4, used=9)] for share in (9, 100, 9)))
    status, text = look()
    assert status == 1
    assert text.count("redo buffer of node 3") == 1


def test_the_labels_of_nodes_are_the_same_in_every_run(look, ndb):
    ndb.__init__((1, 2, 3, 4))
    labels = [f"node{node}_redo_buffer" for node in (1, 2, 3, 4)]
    for full in ((), (1, 2), (3, 4)):
        ndb.show([row for node in (1, 2, 3, 4) for row in buffers(node, 32, used=20 if node in full else 9)])
        look()
        assert [label for label in look.perfdata if label.startswith("node")] == labels


@pytest.mark.parametrize("busy_first", [True, False])
def test_the_busiest_of_several_disks_is_probably_the_cause(look, ndb, monkeypatch, tmp_path, busy_first):
    """Which of its files are on that one is not known."""
    directories = [tmp_path / name for name in (("redo", "dd") if busy_first else ("dd", "redo"))]
    for directory in directories:
        (directory / "ndb_3_fs").mkdir(parents=True)
    begun = set()

    def use(disk):
        first = disk not in begun
        begun.add(disk)
        return (
            host.DiskUse(0, 100, 0, 0) if first else host.DiskUse(100, 199 if disk == "redo" else 101, 9, 9)
        )

    monkeypatch.setattr(host, "disk_of", lambda directory: directory.rpartition("/")[2])
    monkeypatch.setattr(host, "disk_use", use)
    ndb.show(FULL)
    _, text = look("--data-dir", directories[0], "--data-dir", directories[1])
    assert "probably a slow disk: redo is 99.0 % busy" in first_line(text)


def test_a_minute_without_lag_proves_bursts_and_less_does_not(look, ndb):
    for after, proves in ((60, False), (30, False), (60, True)):
        ndb.show(QUIET, [*buffers(3, used=90), *buffers(4, used=9)], QUIET)
        _, text = look(after=after)
        assert ("short bursts" in text) == proves


def test_one_thread_that_lags_is_enough(look, ndb):
    rows = ndb.tables["disk_write_speed_aggregate"]
    rows += [row | {"thr_no": number} for row in list(rows) for number in range(2, 16)]
    look()
    rows[0]["slowdowns_due_to_io_lag"] = 25
    ndb.show(FULL)
    assert "redo lagged 25 s of 1 min" in first_line(look()[1])


def test_a_row_that_was_missing_is_no_lag(look, ndb):
    ndb.change("disk_write_speed_aggregate", 3, slowdowns_due_to_io_lag=50)
    rows = ndb.tables["disk_write_speed_aggregate"]
    rows[0]["slowdowns_due_to_io_lag"] = 500
    lost = rows.pop(0)
    look()
    rows.insert(0, lost)
    ndb.show(FULL)
    assert "nothing left the buffer in" in look()[1]


@pytest.mark.parametrize("runs", [(10, 20), (0, 0)])
def test_a_thread_that_only_waits_is_no_evidence_against_the_processor(look, ndb, runs):
    """The disk is at its limit: ldm threads execute all the time and use hardly any processor."""
    ndb.show(FULL)
    for row in ndb.tables["cpustat"]:
        row |= {"thread_exec": 100, "thread_send": 0, "OS_user": runs[0], "OS_system": runs[1]}
    _, text = look()
    assert "maybe the processor" not in text
    assert "the processor cannot keep up" not in text


def test_a_busy_thread_that_writes_no_redo_is_no_cause(look, ndb):
    ndb.show(FULL)
    ndb.tables["cpustat"][4] |= {"thread_exec": 99, "thread_send": 3}  # recv
    ndb.change("disk_write_speed_aggregate", 3, redo_speed_last_10sec=500_000, redo_speed_last_60sec=520_000)
    _, text = look()
    assert "probably a slow disk: redo stays at 976.6 KiB/s" in first_line(text)
    assert "maybe the processor, too: the busiest thread of node 3, recv, works 100 % of the time" in text


def test_lag_is_given_the_time_to_show(look, ndb):
    """It is counted in whole seconds."""
    ndb.show(FULL)
    ndb.slept = lambda seconds: ndb.lag(3) if seconds > 1 else None
    assert "the disk is too slow: redo writes lag - use" in first_line(look()[1])


def test_a_row_of_no_size_is_no_buffer(look, ndb):
    row = QUIET[0] | {"log_id": 9, "total": 0, "used": 65536}
    ndb.show([*QUIET, row])
    assert look()[0] == 0


@pytest.mark.parametrize("rows", [slice(7, 8), slice(4, 8)])
def test_a_buffer_without_a_number_is_left_out_and_said(look, ndb, rows):
    shown = [dict(row) for row in FULL]
    for row in shown[rows]:
        row["used"] = None
    ndb.show(shown)
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 part 0 100 % full" in first_line(text)
    missing = len(shown[rows])
    assert f"[UNKNOWN] {missing} of 4 rows (REDO) of node 4 in ndbinfo.logbuffers have no number" in text
    assert "node 4 answers" not in text


def test_a_redo_log_that_a_checkpoint_empties_again_pages_nobody(look, ndb):
    statuses = []
    for share in (1, 98, 1, 98, 98, 98, 1):
        fill_redo_log(ndb, n3=share)
        statuses.append(look(after=300)[0])
    assert statuses == [0, 1, 0, 1, 2, 2, 0]


def test_a_second_look_at_the_redo_log_soon_after_is_the_same_look(look, ndb):
    fill_redo_log(ndb, n3=98)
    assert [look(after=after)[0] for after in (60, 3, 3, 60, 3)] == [1, 1, 1, 2, 2]


def test_a_warning_of_the_redo_log_is_no_look_that_was_critical(look, ndb):
    for percent, status, remark in [
        (75, 1, False),
        (75, 1, False),
        (90, 1, True),
        (90, 2, False),
        (75, 1, False),
    ]:
        fill_redo_log(ndb, n3=percent)
        found, text = look()
        assert (percent, found) == (percent, status)
        assert ("seen in one run so far" in text) == remark


def test_of_redo_logs_the_one_that_stays_full_is_critical(look, ndb):
    fill_redo_log(ndb, n3=90)
    look()
    fill_redo_log(ndb, n4=98)
    status, text = look()
    assert status == 2
    assert "redo log of node 3 90 % full" in first_line(text)
    assert "[WARNING] redo log of node 4 98 % full (limit 70 %), checkpoints" in text
    assert "\n  seen in one run so far\n  2 nodes above the limit\n" in text
    assert look.perfdata["redo_space"].startswith("98%")


@pytest.mark.parametrize("kept", [5, {"at": "x"}, {"at": 1.0, "nodes": 5}, {"at": 1.0, "nodes": ["x", None]}])
def test_a_memory_of_the_redo_log_that_is_damaged_is_none(look, ndb, tmp_path, kept):
    look()
    (file,) = (tmp_path / "state").glob("*.json")
    memory = json.loads(file.read_text())
    memory["values"]["redo_space"] = kept
    file.write_text(json.dumps(memory))
    fill_redo_log(ndb, n3=98)
    assert [look()[0], look()[0]] == [1, 2]


def test_what_is_well_has_no_cause(look, log):
    _, text = look("-v", "--log", log("R1_redo_small_buffer"))
    assert "[OK] redo buffer of node 3 part 0 9 % full (5 samples in 1.6 s)\n" in text
    assert "[OK] no redo lag\n" in text


def test_a_buffer_is_never_more_than_full(look, ndb):
    """The node itself goes a page beyond: measured on 9.7.2."""
    ndb.show([*buffers(3, used=104), *buffers(4, used=9)])
    _, text = look()
    assert "part 0 100 % full" in first_line(text)
    assert look.perfdata["redo_buffer"].startswith("100%")


def test_the_fullest_are_in_the_table(look, crowd):
    crowd.show(crowded(n40=99.0))
    lines = look("-v")[1].splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("node_id"))
    assert len(lines) - begin - 1 == 40
    assert sum(line.split()[0] == "40" for line in lines[begin + 1 :]) == 32


def test_several_peaks_outside_of_the_fullest_are_found(look, crowd):
    busy = crowded(n1=50.0, n2=50.0)
    crowd.show(busy, crowded(n1=9.0, n2=9.0, n30=[9.0] * 20 + [95.0] * 12), busy)
    text = look()[1]
    assert "part 20 up to 95 % full (limit 60 %)" in first_line(text)
    assert "12 redo buffers of this node are too full" in text


def test_the_fullest_nodes_are_searched_before_those_whose_logs_complain(look, ndb, log):
    path = log("R1_redo_small_buffer")
    ndb.__init__((3, 4, 5, 6, 7))
    ndb.now = path.stat().st_mtime
    ndb.now = datetime.fromisoformat(path.read_text().splitlines()[-1].split(maxsplit=1)[0]).timestamp()
    ndb.show([row for node in (3, 4, 5, 6, 7) for row in buffers(node, used=9 if node == 3 else 90)])
    _, text = look("--log", path)
    (sql,) = [sql for sql in ndb.asked if "cpustat" in sql]
    assert "IN (4, 5, 6, 7)" in sql
    assert "RedoBuffer is too small for the bursts" in text  # of node 3, by its log alone


def test_the_largest_peak_is_told_first(look, ndb):
    ndb.show(QUIET, [*buffers(3, used=70), *buffers(4, used=100)], QUIET)
    text = look()[1]
    assert "redo buffer of node 4 part 0 up to 100 % full (limit 60 %)" in first_line(text)
    assert "\n  9 to 100 % full (5 samples in 1.6 s)\n  8 redo buffers of 2 nodes are too full\n" in text


@pytest.mark.parametrize("slow_first", [True, False])
def test_of_two_logs_of_a_node_the_one_that_tells_of_the_disk_is_believed(look, ndb, log, slow_first):
    path = log("R1_redo_small_buffer")
    bursts = path.rename(path.with_name("datanode_ndb_3_out.log"))
    last = bursts.read_text().splitlines()[-1].replace("Redo buffer not full", "Lag - time to complete : 6s")
    path.write_text(last.replace(" : Lag", " Lag") + "\n")
    ndb.show(FULL)
    logs = [path, bursts] if slow_first else [bursts, path]
    assert "the disk is too slow: its log shows " in look("--log", logs[0], "--log", logs[1])[1]


def test_what_is_worth_a_word_of_a_log_is_told():
    findings = hosts.hear(Snapshot((), (), ("copied and truncated",)))[1]
    assert findings == [Fault(State.OK, "copied and truncated")]
