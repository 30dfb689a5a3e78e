"""What check_ndb_redo_buffer says of a cluster, from run to run."""

import runpy
import shutil
import time
from datetime import datetime
from pathlib import Path

import pytest
from redo_buffers import MIB, RECORDED, FakeRedo, buffers, recorded
from stallwatch.options import mysql
from stallwatch.sources import host
from stallwatch.sources.mysql import MysqlError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_redo_buffer"))
DISK = "a larger RedoBuffer will not help: spread over more data nodes, faster disks, redo and LCP on"


@pytest.fixture
def ndb():
    return FakeRedo()


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin at that cluster, a minute after the last time."""
    slept = [0.0]
    real = time.monotonic

    def sleep(seconds):
        slept[0] += seconds
        ndb.sleep(seconds)

    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    monkeypatch.setattr(time, "time", lambda: ndb.now)
    monkeypatch.setattr(time, "monotonic", lambda: real() + slept[0])
    monkeypatch.setattr(time, "sleep", sleep)

    def run(*arguments, after=60):
        ndb.later(after)
        options = ["--state-dir", str(tmp_path / "state"), *map(str, arguments)]
        status, text = PLUGIN["check"].run(PLUGIN["findings"], options)
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


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def number(perfdata):
    return float(perfdata.partition("%")[0])


def test_an_idle_cluster_is_ok(look, ndb):
    status, text = look()
    assert status == 0
    assert text == (
        "NDB_REDO_BUFFER OK - redo buffer of node 3 log part 0 9 % full (5 samples in 1.6 s) | "
        "redo_buffer=9.09%;60;85 redo_buffer_peak=9.09%;60 node3_redo_buffer=9.09%;60;85 "
        "node4_redo_buffer=9.09%;60;85 redo_space=0.78%;70;85"
    ).replace("9.09%", look.perfdata["redo_buffer"].partition(";")[0])
    assert len(ndb.asked) == 11  # three on the data nodes, three on what else fills, five samples


def test_the_articles_light_load_is_basically_nothing(look, ndb):
    ndb.show(*recorded("article_light_load"))
    status, text = look()
    assert status == 0
    assert "redo buffer of node 3 log part 2 0.6 % full" in first_line(text)


def test_the_articles_heavy_load_is_a_disk_that_cannot_keep_up(look, ndb, disk):
    ndb.show(*recorded("article_heavy_load"))
    ndb.tables["cpustat"][4]["thread_exec"] = 44
    status, text = look("--data-dir", disk)
    assert status == 2
    assert first_line(text).startswith(
        "NDB_REDO_BUFFER CRITICAL - redo buffer of node 3 log part 4 86.1 % full (5 samples in 1.6 s), and 2 "
        "more: the disk cannot keep up: cciss/c0d1 is 95.3 % busy, not the processor: its busiest thread, "
        f"recv, works 44 % of the time: {DISK} different devices"
    )
    assert look.perfdata["redo_buffer"].startswith("86.1")  # 85.5 % of the raw size


def test_without_any_evidence_nothing_is_guessed(look, ndb):
    ndb.show(*recorded("article_heavy_load"))
    status, text = look()
    assert status == 2
    assert ": a small buffer or a slow disk: nothing that was looked at tells" in first_line(text)
    assert "run iostat -kx 1 on the host of node 3 while it lasts, or give its log" in first_line(text)


def test_a_buffer_of_1_mib_is_full_at_69_percent_of_it(look, ndb):
    ndb.show(*recorded("slow_disk"))
    ndb.slept = lambda _: ndb.change("disk_write_speed_aggregate", 3, slowdowns_due_to_io_lag=2)
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 log part 0 100 % full (5 samples in 1.6 s), and " in first_line(text)
    assert "the disk cannot keep up: redo writes lag (slowdowns_due_to_io_lag grows)" in first_line(text)
    assert "clients get time-outs (266, MySQL's 1205), or 1221 with" in first_line(text)


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
    assert "redo buffer of node 3 log part 0 100 % full" in first_line(text)
    assert "the disk cannot keep up: redo writes lagged for 5 s of 1 min" in first_line(text)


def test_a_full_redo_log_is_told_apart_from_a_full_buffer(look, ndb):
    ndb.show(*recorded("fast_disk"))
    ndb.tables["logspaces"] = recorded("fast_disk", "logspaces")[1]
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "NDB_REDO_BUFFER CRITICAL - redo log of node 4 and 1 more 96.1 % full: when it is full, writes fail "
        "with error 410: checkpoints do not keep up: faster disk, MaxDiskWriteSpeed; NoOfFragmentLogFiles "
        "(initial restarts)"
    )
    assert look.perfdata["redo_space"] == "96.09%;70;85"
    assert number(look.perfdata["redo_buffer_peak"]) < 60


def test_undo_log_and_undo_buffer_have_their_own_advice(look, ndb):
    undo = {"node_id": 4, "log_type": "DD-UNDO", "log_id": 4, "log_part": 0}
    ndb.tables["logspaces"].append(undo | {"total": 1000, "used": 800})
    ndb.tables["logbuffers"].append(undo | {"total": 1000, "used": 900})
    status, text = look()
    assert status == 1
    assert "undo log of disk tables of node 4 80 % full: when it is full, writes to them fail with" in text
    assert "ALTER LOGFILE GROUP ... ADD UNDOFILE" in text
    assert "[WARNING] undo buffer of disk tables of node 4 90 % full" in text
    assert look.perfdata["undo_space"] == "80%;70;85"
    assert look.perfdata["undo_buffer"] == "90%;85"


def test_a_peak_alone_is_a_warning(look, ndb):
    quiet = [*buffers(3, used=9), *buffers(4, used=9)]
    ndb.show(quiet, quiet, [*buffers(3, used=9), *buffers(4, used=[9, 100, 9, 9])], quiet)
    status, text = look()
    assert status == 1
    assert "WARNING - redo buffer of node 4 log part 1 9 to 100 % full (5 samples" in first_line(text)
    assert "run iostat -kx 1 on the host of node 4" in first_line(text)
    assert number(look.perfdata["redo_buffer"]) < 10
    assert look.perfdata["redo_buffer_peak"] == "100%;60"


def test_peaks_of_buffers_in_turn_are_not_one_that_stays_full(look, ndb):
    ndb.show(
        *[
            [*buffers(3, used=[100 if part == turn else 9 for part in range(4)]), *buffers(4, used=9)]
            for turn in (0, 1, 2, 3, 0)
        ]
    )
    status, text = look()
    assert status == 1
    assert "and 3 more" in first_line(text)


def test_short_bursts_are_proved_by_a_node_whose_redo_writes_never_lagged(look, ndb):
    quiet = [*buffers(3, used=9), *buffers(4, used=9)]
    assert look()[0] == 0
    ndb.show(quiet, [*buffers(3, used=90), *buffers(4, used=9)], quiet)
    status, text = look()
    assert status == 1
    assert "short bursts: it empties between the samples, no redo write lagged for 1 min" in first_line(text)
    assert first_line(text).endswith(": increase RedoBuffer (rolling restart)")


def test_a_buffer_that_stays_full_at_a_flat_rate_is_the_disk(look, ndb):
    ndb.show([*buffers(3, used=90), *buffers(4, used=9)])
    ndb.change("disk_write_speed_aggregate", 3, redo_speed_last_10sec=500_000, redo_speed_last_60sec=520_000)
    status, text = look()
    assert status == 2
    assert "the disk cannot keep up: redo is written at 976.6 KiB/s, and was so for a minute" in first_line(
        text
    )


def test_a_thread_that_is_always_at_work_is_the_processor(look, ndb):
    ndb.show([*buffers(3, used=90), *buffers(4, used=9)])
    ndb.tables["cpustat"][2] |= {"thread_exec": 90, "thread_send": 7}
    _, text = look()
    assert "the processor cannot keep up: its busiest thread, ldm, works 97 % of the time" in first_line(text)


def test_the_log_of_a_slow_disk(look, ndb, log):
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    status, text = look("--log", log("R3_redo_throttled_abort"))
    assert status == 2
    assert "the disk cannot keep up: its log says: redo log part 1 lags 6 s behind at 23:39" in first_line(
        text
    )
    assert "[WARNING] node 3 redo buffer full 56 times since 23:38:42, median 9" in text
    assert look.perfdata["redo_lag"] == "6s;1"


def test_the_log_of_a_small_buffer_and_no_sample_that_hits(look, log):
    path = log("R1_redo_small_buffer")
    for _ in range(2):  # what is told is held
        status, text = look("--log", path)
        assert status == 1
        assert (
            "WARNING - node 3 redo buffer full 12 times since 19:43:42, median 4 ms, longest 10.1 ms: short "
            in text
        )
        assert "short bursts: increase RedoBuffer (rolling restart)" in text
        assert "redo_lag=0s;1" in text
    assert look("--log", path, after=3600)[0] == 0


def test_a_disk_that_lags_now_outranks_bursts_of_before(look, ndb, log):
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    ndb.slept = lambda _: ndb.change("disk_write_speed_aggregate", 3, slowdowns_due_to_io_lag=2)
    status, text = look("--log", log("R1_redo_small_buffer"))
    assert status == 2
    assert "the disk cannot keep up: redo writes lag" in first_line(text)


def test_a_cluster_log_tells_nothing_of_redo_buffers(look, tmp_path, ndb):
    path = tmp_path / "ndb_1_cluster.log"
    shutil.copy(RECORDED / "ndb_log" / "R3_redo_throttled_abort.ndb_1_cluster.log", path)
    status, text = look("--log", path)
    assert status == 3
    assert "is not a data node's own log" in text
    assert "name ndb_N_out.log" in text


def test_nodes_with_different_causes_are_both_told(look, ndb, log):
    ndb.show([*buffers(3, used=100), *buffers(4, used=90)])
    ndb.change("disk_write_speed_aggregate", 4, redo_speed_last_10sec=500_000, redo_speed_last_60sec=500_000)
    ndb.tables["cpustat"][2]["thread_exec"] = 99
    status, text = look()
    assert status == 2
    assert (
        "node 3 log part 0 100 % full (5 samples in 1.6 s), and 7 more of 2 nodes: the processor"
        in first_line(text)
    )
    assert "[CRITICAL] redo buffer of node 4 log part 0 90 % full (5 samples in 1.6 s): the disk" in text
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


def test_a_node_that_ends_between_the_samples_is_not_said_to_stay_full(look, ndb):
    ndb.show([*buffers(3, used=9), *buffers(4, used=100)], buffers(3, used=9))
    status, text = look()
    assert status == 1
    assert "redo buffer of node 4 log part 0 up to 100 % full" in first_line(text)


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
    assert "nothing that was looked at tells" in first_line(text)


def test_an_old_version_knows_less_and_says_so_when_it_matters(look, ndb):
    for table in ("disk_write_speed_aggregate", "cpustat", "threads"):
        del ndb.tables[table]
    assert look()[1].count("\n") == 0
    ndb.show(*recorded("article_heavy_load"))
    status, text = look()
    assert status == 2
    assert "nothing that was looked at tells: run iostat" in first_line(text)
    assert "[OK] without ndbinfo.disk_write_speed_aggregate, a slow disk shows only with" in text


def test_time_that_is_short_makes_fewer_samples(look, ndb):
    status, text = look("-t", "2", "--every", "700ms")
    assert status == 0
    assert "(3 of 5 samples, time was short)" in first_line(text)


def test_one_sample_is_a_warning_at_most(look, ndb):
    ndb.show([*buffers(3, used=100), *buffers(4, used=9)])
    status, text = look("-t", "2", "--every", "5s")
    assert status == 1
    assert "100 % full (1 of 5 samples, time was short)" in first_line(text)
    assert look.perfdata["redo_buffer"] == "100%;60"


@pytest.mark.parametrize("samples", ["1", "0", "-3", "x", "101", "2.5"])
def test_one_sample_cannot_be_asked_for(look, samples):
    status, text = look("--samples", samples)
    assert status == 3
    assert "is not a number from 2 to 100" in text


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
    assert "nothing that was looked at tells" in first_line(text)


def test_no_connected_data_node_is_not_this_checks_alert(look, ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    status, text = look()
    assert status == 3
    assert "cluster down: none of 2 data nodes is connected" in text


def test_what_was_seen_is_told_if_the_search_for_the_cause_fails(look, ndb):
    ndb.show(*recorded("article_heavy_load"))
    ndb.failing["cpustat"] = MysqlError("sql1:3306 says: no")
    status, text = look()
    assert status == 2
    assert "redo buffer of node 3 log part 4 86.1 % full" in first_line(text)
    assert "[UNKNOWN] sql1:3306 says: no" in text


def test_a_log_that_is_not_there_is_unknown_beside_the_rest(look, tmp_path):
    status, text = look("--log", tmp_path / "ndb_3_out.log")
    assert status == 3
    assert "ndb_3_out.log" in first_line(text)
    assert "redo_buffer=9" in text


def test_a_problem_of_the_redo_log_in_the_log_is_critical(look, log):
    path = log("R1_redo_small_buffer")
    last = path.read_text().splitlines()[-1]
    path.write_text(last.replace(" : Redo buffer not full", " problem started : Low space.  (0x1)") + "\n")
    status, text = look("--log", path)
    assert status == 2
    assert "node 3 redo log part 0: low space since 19:43:47, not cleared" in first_line(text)
    assert "(error 410)" in first_line(text)


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
    assert (
        "redo buffer of node 1 log part 0 100 % full (5 samples in 1.6 s), and at least 63 more of 48 nodes"
        in text
    )
    assert len(text.splitlines()[0]) < 1023
    assert sum(counted) < 900  # 1536 buffers in five samples would be 7680


def test_a_full_buffer_among_many_is_found(look, crowd):
    crowd.show(crowded(n40=[9.0] * 31 + [99.0]))
    status, text = look()
    assert status == 2
    assert "redo buffer of node 40 log part 31 99 % full (5 samples in 1.6 s): " in first_line(text)
    assert "node40_redo_buffer" not in text


def test_a_peak_outside_of_the_fullest_of_the_first_sample_is_found(look, crowd):
    busy = crowded(n1=50.0, n2=50.0)
    crowd.show(busy, crowded(n1=9.0, n2=9.0, n30=[9.0] * 31 + [95.0]), busy)
    status, text = look()
    assert status == 1
    assert "redo buffer of node 30 log part 31 up to 95 % full" in first_line(text)


def test_those_that_are_watched_are_seen_in_all_samples(look, crowd):
    """However many others are fuller meanwhile."""
    fuller = crowded(n1=90.0, **{f"n{node}": 99.0 for node in range(5, 49)})
    crowd.show(crowded(n1=99.0), fuller)
    status, text = look()
    assert status == 2
    assert "redo buffer of node 1 log part 0 90 to 99 % full" in first_line(text)


def test_part_numbers_are_log_ids_where_there_are_several(look, ndb):
    ndb.show([*buffers(3, used=[9, 9, 9, 80], total=32 * MIB), *buffers(4, used=9)])
    assert "node 3 log part 3 80 % full" in look()[1]
