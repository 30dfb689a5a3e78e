"""What check_ndb_page_buffer says of the page buffers of a cluster, from run to run."""

import json
import re
import runpy
from pathlib import Path

import pytest
from clock import keep_time
from fake_ndb import FakeNdb
from stallwatch.frame.options import mysql
from stallwatch.sources.mysql import NoAnswerError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_page_buffer"))
COUNTERS = (
    "pages_written", "pages_written_lcp", "pages_read", "log_waits", "page_requests_direct_return",
    "page_requests_wait_queue", "page_requests_wait_io",
)  # fmt: skip
# How long page reads took on a data node with 4 MB of page buffer: captured from NDB 9.7.2.
READS = {64: 33, 128: 6182, 256: 7846, 512: 536, 1024: 149, 2048: 144, 4096: 36, 8192: 5, 4294967295: 0}


class PagesNdb(FakeNdb):
    """A cluster whose nodes have three page buffers each: two LDM threads, one for extents."""

    def __init__(self, nodes=(3, 4)):
        super().__init__(nodes)
        self.tables["diskpagebuffer"] = [row for node in nodes for row in fresh(node)]
        self.tables["config_values"] = [
            {"node_id": node, "config_param": parameter, "config_value": value}
            for node in nodes
            for parameter, value in ((160, "4194304"), (205, "10"))
        ]
        self.tables["pgman_time_track_stats"] = [
            {"node_id": node, "block_instance": instance, "upper_bound": bound, "page_reads": count}
            for node in nodes
            for instance in (1, 2)
            for bound, count in READS.items()
        ]

    def buffers(self, node):
        return [row for row in self.tables["diskpagebuffer"] if row["node_id"] == node]

    def serve(
        self, node, direct=0, waited=0, *, read=None, written=0, lcp=0, queued=0, log_waits=0, instance=1
    ):
        """Let a node answer page requests; each wait is for a page read, unless that is said."""
        row = next(row for row in self.buffers(node) if row["block_instance"] == instance)
        row["page_requests_direct_return"] += direct
        row["page_requests_wait_io"] += waited
        row["page_requests_wait_queue"] += queued
        row["pages_read"] += waited if read is None else read
        row["pages_written"] += written
        row["pages_written_lcp"] += lcp
        row["log_waits"] += log_waits

    def hits(self, node, percent, requests=100_000):
        """Let a node answer so many requests with that hit ratio, over two of its threads."""
        waited = round(requests * (100 - percent) / 100)
        self.serve(node, requests // 2, waited // 2)
        self.serve(node, requests - requests // 2 - waited, waited - waited // 2, instance=2)

    def restart(self, node, uptime=20):
        super().restart(node, uptime)
        others = [row for row in self.tables["diskpagebuffer"] if row["node_id"] != node]
        self.tables["diskpagebuffer"] = [*others, *fresh(node)]

    def come_back(self, node, uptime=20):
        """Let a node that has ended be there again, started so many seconds ago."""
        like = self.tables["nodes"][0]
        self.tables["nodes"].append({**like, "node_id": node, "uptime": uptime})
        self.tables["diskpagebuffer"] += fresh(node)
        self.status["Ndb_number_of_ready_data_nodes"] += 1


def fresh(node):
    return [
        {"node_id": node, "block_instance": instance, **dict.fromkeys(COUNTERS, 0)} for instance in (1, 2, 3)
    ]


@pytest.fixture
def ndb():
    return PagesNdb()


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin, a minute after the last time."""
    return runner(ndb, tmp_path, monkeypatch)


def runner(ndb, folder, monkeypatch, during=lambda: None):
    """Gives a function that runs the plugin; ``during`` is what happens while it samples."""

    def sleep(seconds):
        ndb.later(round(seconds))  # data nodes tell whole ones
        during()

    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    keep_time(monkeypatch, lambda: ndb.now, sleep)

    def run(*arguments, after=60):
        ndb.later(after)
        ndb.asked.clear()
        return PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(folder), *arguments])

    return run


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def perfdata(text):
    items = text.splitlines()[0].partition(" | ")[2].split()
    return {name: float(value.rstrip("%")) for name, _, value in (item.partition("=") for item in items)}


def each(look, ndb, *percents, nodes=(3, 4), arguments=()):
    """The statuses of a first look and one after each of these hit ratios of all nodes."""
    statuses = [look(*arguments)[0]]
    for percent in percents:
        for node in nodes:
            ndb.hits(node, percent)
        statuses.append(look(*arguments)[0])
    return statuses


def test_the_first_look_is_ok_and_says_so(look, ndb):
    ndb.hits(3, 90)
    status, text = look()
    assert status == 0
    assert first_line(text) == (
        "NDB_PAGE_BUFFER OK - first look at nodes 3 and 4: their hit ratio is known from the next run on, "
        "or by --sample"
    )
    assert perfdata(text) == {"cumulative_hit_ratio": 90, "node3_cumulative_hit_ratio": 90, "data_nodes": 2}


def test_a_healthy_cluster_is_ok_and_costs_few_statements(look, ndb):
    look()
    ndb.hits(3, 99.9)
    ndb.hits(4, 99.8)
    status, text = look()
    assert status == 0
    assert (
        first_line(text) == "NDB_PAGE_BUFFER OK - hit ratio of node 4 is 99.80 % over 1 min, the lowest of 2"
    )
    assert len(ndb.asked) == 4


@pytest.mark.parametrize(
    ("percent", "statuses"),
    [(93.36, [0, 1, 1, 2, 2]), (99.20, [0, 1, 1, 1, 1]), (99.53, [0, 0, 0, 0, 0])],
)
def test_the_ratios_of_the_example_are_critical_once_confirmed_a_warning_and_ok(look, ndb, percent, statuses):
    assert each(look, ndb, *[percent] * 4) == statuses


def test_a_warning_tells_evidence_and_advice(look, ndb):
    look()
    ndb.hits(3, 93.36)
    ndb.hits(4, 99.9)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_PAGE_BUFFER WARNING - hit ratio of node 3 is 93.36 % (minimum 99.5 %), "
        "111 pages/s read from disk - enlarge DiskPageBufferMemory, now 4 MiB"
    )
    assert text.splitlines()[1:] == [
        "  measured over 1 min (1 of 3 intervals)",
        "  111 of 1667 requests/s waited for the disk, 111 pages/s read",
        "  half of the page reads of node 3 so far took up to 256 us",
        "  that takes a rolling restart",
    ]


def test_a_confirmed_one_tells_for_how_long(look, ndb):
    each(look, ndb, 80, 80, 80)
    for node in (3, 4):
        ndb.hits(node, 80)
    status, text = look()
    assert status == 2
    assert "hit ratio of node 3 is 80.00 % (minimum 95 %), " in first_line(text)
    assert "\n  measured over 1 min (4 intervals in a row)\n" in text
    assert "\n  low on node 4, too\n" in text


def test_one_good_interval_breaks_the_run(look, ndb):
    assert each(look, ndb, 80, 80, 96, 80, 80, 80) == [0, 1, 1, 1, 1, 1, 2]


def test_a_run_belongs_to_one_node(look, ndb):
    look()
    for low, other in ((3, 4), (4, 3)) * 3:
        ndb.hits(low, 80)
        ndb.hits(other, 99.9)
        assert look()[0] == 1


def test_the_one_that_is_sure_is_told_before_one_that_is_lower(look, ndb):
    each(look, ndb, 80, 80, nodes=(3,))
    ndb.hits(3, 90)
    ndb.hits(4, 50)
    status, text = look()
    assert status == 2
    assert "hit ratio of node 3 is 90.00 %" in first_line(text)
    assert "\n  low on node 4, too\n" in text
    numbers = perfdata(text)
    assert (numbers["hit_ratio"], numbers["node3_hit_ratio"], numbers["node4_hit_ratio"]) == (50, 90, 50)


def test_the_number_of_intervals_can_be_set(look, ndb):
    assert each(look, ndb, 80, arguments=["--confirm", "1"]) == [0, 2]


def test_a_single_interval_is_not_counted(look, ndb):
    each(look, ndb, nodes=(3,), arguments=["--confirm", "1"])
    ndb.hits(3, 80)
    assert "  measured over 1 min\n" in look("--confirm", "1")[1]


def test_thresholds_can_be_set_and_a_bare_number_is_refused(look, ndb):
    assert each(look, ndb, 80, 80, 80, arguments=["-w", "70:", "-c", "60:"]) == [0, 0, 0, 0]
    assert each(look, ndb, 80, 80, arguments=["-w", "~:", "-c", "90:", "--confirm", "2"]) == [0, 1, 2]
    status, text = look("-w", "99.5")
    assert status == 3
    assert 'lower is worse here: write "99.5:"' in text


# a second look in the same second


def test_a_second_look_at_once_tells_the_same_and_counts_nothing(look, ndb):
    each(look, ndb, 80, 80)
    for _ in range(3):
        status, text = look(after=0)
        assert status == 1
        assert "  measured over 1 min (2 of 3 intervals)\n" in text
    ndb.hits(3, 80)
    assert look()[0] == 2


def test_a_second_look_right_after_the_first_one_has_nothing_to_tell(look, ndb):
    look()
    ndb.hits(3, 50)
    status, text = look(after=0)
    assert status == 0
    assert "nodes 3 and 4: the first look was less than a second ago" in text


def test_runs_in_quick_succession_confirm_nothing(look, ndb):
    """A scan of 6 s pages nobody, however often it is looked at."""
    look()
    told = []
    for _ in range(5):
        ndb.hits(3, 80)
        told.append(look(after=2))
    assert [status for status, _ in told] == [1] * 5
    assert "  measured over 10 s (too soon again to count)\n" in told[-1][1]


def test_runs_in_quick_succession_neither_hide_an_alert_nor_lengthen_it(look, ndb):
    each(look, ndb, 80, 80, 80)
    ndb.hits(3, 99.9, requests=10)
    status, text = look(after=10)
    assert status == 2
    assert "over 1 min 10 s (3 intervals in a row)" in text
    ndb.hits(3, 80)
    assert "(4 intervals in a row)" in look()[1]


# too little to judge


def test_too_few_requests_are_ok_and_say_so(look, ndb):
    look()
    ndb.hits(3, 50, requests=999)
    ndb.hits(4, 50, requests=10)
    status, text = look()
    assert status == 0
    assert first_line(text) == (
        "NDB_PAGE_BUFFER OK - too few requests to judge nodes 3 and 4: at most 999 in 1 min, 1000 are needed"
    )
    assert "hit_ratio" not in perfdata(text)
    assert perfdata(text)["requests_per_s"] == pytest.approx(16.8)


def test_the_least_number_of_requests_can_be_set(look, ndb):
    look("--min-requests", "10")
    ndb.hits(3, 50, requests=10)
    assert look("--min-requests", "10")[0] == 1


def test_no_requests_at_all_are_ok_and_say_so(look):
    look()
    status, text = look()
    assert status == 0
    assert first_line(text) == "NDB_PAGE_BUFFER OK - no page requests on nodes 3 and 4 in 1 min"


def test_one_idle_node_does_not_hide_the_other(look, ndb):
    look()
    ndb.hits(3, 99)
    status, text = look()
    assert status == 1
    assert "hit ratio of node 3 is 99.00 % (minimum 99.5 %), " in first_line(text)
    assert "\n[OK] no page requests on node 4 in 1 min" in text


def test_an_interval_of_too_few_requests_breaks_a_run(look, ndb):
    """A job each quarter of an hour pages nobody: nobody waits for the disk in between."""
    statuses = []
    look()
    for interval in range(9):
        ndb.hits(3, 80, requests=100 if interval % 3 else 100_000)
        statuses.append(look()[0])
    assert statuses == [1, 0, 0] * 3
    assert each(look, ndb, 80, 80, 80) == [0, 1, 1, 2]


# what excuses a low ratio


def test_a_cold_buffer_is_a_warning_at_most_and_says_so(look, ndb):
    ndb.node(3)["uptime"] = 600
    look()
    for _ in range(5):
        ndb.hits(3, 60)
        status, text = look()
        assert status == 1
    assert first_line(text).endswith(
        "hit ratio of node 3 is 60.00 % (minimum 99.5 %), its buffer is cold 16 min after its start - "
        "look again 30 min after its start"
    )
    assert "  if the hit ratio stays low then, enlarge DiskPageBufferMemory, now 4 MiB (rolling" in text


def test_intervals_of_a_cold_buffer_confirm_nothing(look, ndb):
    ndb.node(3)["uptime"] = 1500
    look()
    statuses = []
    for _ in range(7):
        ndb.hits(3, 60)
        statuses.append(look()[0])
    assert ndb.node(3)["uptime"] == 1980
    assert statuses == [1, 1, 1, 1, 1, 2, 2]  # it is cold at the first three


def test_how_long_a_buffer_is_cold_can_be_set(look, ndb):
    ndb.node(3)["uptime"] = 30
    assert each(look, ndb, 60, nodes=(3,), arguments=["--cold", "2m", "--confirm", "1"]) == [0, 2]


def test_a_cold_buffer_that_is_fine_is_ok(look, ndb):
    ndb.node(3)["uptime"] = 600
    assert each(look, ndb, 99.9) == [0, 0]


BULK_INSERT = {"read": 339, "written": 1579, "lcp": 710, "queued": 121, "log_waits": 475}


def test_waits_that_far_exceed_page_reads_are_a_warning_at_most_with_other_advice(look, ndb):
    """The numbers of a bulk insert, measured on NDB 9.7.2 with 4 MB of page buffer."""
    look()
    for _ in range(5):
        ndb.serve(3, 30654, 11031, **BULK_INSERT)
        status, text = look()
        assert status == 1
    assert first_line(text) == (
        "NDB_PAGE_BUFFER WARNING - hit ratio of node 3 is 73.54 % (minimum 99.5 %), "
        "writes hold up 184 of 695 requests/s - check the disk of the tablespaces"
    )
    bulk = "as of bulk inserts: see how busy that disk is (iostat -kx 1) before you enlarge"
    assert text.splitlines()[1:5] == [
        "  measured over 1 min",
        "  184 of 695 requests/s waited, but only 5.7 pages/s read, 38 written (12 by checkpoints)",
        "  7.9/s waited for the undo log",
        f"  {bulk} DiskPageBufferMemory, now 4 MiB",
    ]


def test_waits_for_checkpoints_are_no_reason_for_a_larger_buffer(look, ndb):
    """The numbers of a bulk insert, measured on NDB 9.7.2 with 64 MB of page buffer."""
    look()
    ndb.serve(3, 20008, 649, read=1, lcp=592, log_waits=16)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_PAGE_BUFFER WARNING - hit ratio of node 3 is 96.86 % (minimum 99.5 %), "
        "checkpoints hold up 11 of 344 requests/s - check the disk of the tablespaces"
    )
    assert text.splitlines()[2:5] == [
        "  11 of 344 requests/s waited, but only 0.017 pages/s read, 9.9 written (9.9 by checkpoints)",
        "  0.27/s waited for the undo log",
        "  see how busy that disk is (iostat -kx 1), a larger DiskPageBufferMemory does not help",
    ]


def test_waits_for_writes_confirm_nothing(look, ndb):
    each(look, ndb, 80, 80)
    ndb.serve(3, 30654, 11031, **BULK_INSERT)
    assert look()[0] == 1
    ndb.hits(3, 80)
    status, text = look()
    assert status == 2
    assert "(3 intervals in a row)" in text


def test_some_waits_for_writes_excuse_nothing(look, ndb):
    """Node 3 after reads with 4 MB of page buffer: 14969 of 17702 waits were for a page read."""
    look("--confirm", "1")
    ndb.serve(3, 23417, 16003, read=14969, written=546, lcp=157, log_waits=365)
    ndb.serve(3, 18820, 1699, read=0, written=565, lcp=131, queued=51, log_waits=437, instance=2)
    ndb.serve(3, 0, 1, read=1, lcp=5, instance=3)
    status, text = look("--confirm", "1")
    assert status == 2
    assert perfdata(text)["node3_hit_ratio"] == 70.4655
    assert first_line(text).endswith(" - enlarge DiskPageBufferMemory, now 4 MiB")


@pytest.mark.parametrize(("read", "status"), [(5000, 2), (4999, 1)])
def test_twice_as_many_waits_as_page_reads_are_the_limit(look, ndb, read, status):
    look("--confirm", "1")
    ndb.serve(3, 10_000, 10_000, read=read, written=1)
    assert look("--confirm", "1")[0] == status


def test_waits_for_pages_that_are_neither_read_nor_written_are_called_what_they_are(look, ndb):
    look("--confirm", "1")
    ndb.serve(3, 90_000, 10_000, read=100)
    status, text = look("--confirm", "1")
    assert status == 1
    assert first_line(text) == (
        "NDB_PAGE_BUFFER WARNING - hit ratio of node 3 is 90.00 % (minimum 99.5 %), "
        "new pages hold up 167 of 1667 requests/s - check the disk of the tablespaces"
    )
    assert "167 of 1667 requests/s waited, but only 1.7 pages/s read, none written\n" in text


def test_nodes_that_are_low_for_another_reason_are_told_with_advice_of_their_own(look, ndb):
    look("--confirm", "1")
    ndb.hits(3, 80)
    ndb.serve(4, 20008, 2649, read=1, lcp=592)
    status, text = look("--confirm", "1")
    assert status == 2
    first, second = (line for line in text.splitlines() if "hit ratio of node" in line)
    assert "hit ratio of node 3 is 80.00 %" in first
    assert "enlarge DiskPageBufferMemory, now 4 MiB (+1 more problem)" in first
    assert "low on" not in text
    assert second.startswith("[WARNING] hit ratio of node 4 is 88.31 % (minimum 99.5 %), checkpoints hold up")
    assert "a larger DiskPageBufferMemory does not help" in text
    assert perfdata(text)["hit_ratio"] == 80
    assert "hit_ratio_2" not in perfdata(text)


def test_the_time_of_page_reads_is_that_of_the_node_that_waits_for_them(look, ndb):
    look()
    ndb.hits(3, 80)
    ndb.serve(4, 20008, 9649, read=1, lcp=592)
    text = look()[1]
    first, second = (line for line in text.splitlines() if "hit ratio of node" in line)
    assert "hit ratio of node 4 is 67.46 %" in first
    assert "hit ratio of node 3 is 80.00 %" in second
    assert "half of the page reads of node 3 so far took up to 256 us" in text


def test_a_cold_buffer_and_one_that_is_not_are_told_apart(look, ndb):
    ndb.node(4)["uptime"] = 600
    look()
    for node in (3, 4):
        ndb.hits(node, 80)
    first, second = (line for line in look()[1].splitlines() if "hit ratio of node" in line)
    assert "hit ratio of node 3 is 80.00 % (minimum 99.5 %), 333 pages/s read" in first
    assert "hit ratio of node 4 is 80.00 % (minimum 99.5 %), its buffer is cold 12 min after its st" in second


def test_waits_for_the_undo_log_alone_are_for_writes(look, ndb):
    look()
    ndb.serve(3, 90_000, 10_000, read=100, log_waits=600)
    text = look()[1]
    assert ", writes hold up 167 of 1667 requests/s" in first_line(text)
    assert "none written\n  10/s waited for the undo log\n" in text


# restarts and missing nodes


def test_a_restarted_node_has_no_baseline_and_the_other_is_judged(look, ndb):
    each(look, ndb, 80, 80)
    ndb.restart(3)
    ndb.serve(3, 10, 10)
    ndb.hits(4, 99.9)
    status, text = look(after=20)
    assert status == 0
    assert "hit ratio of node 4 is 99.90 %" in first_line(text)
    assert (
        "\n[OK] node 3 has restarted since the last look: its hit ratio is known from the next run on" in text
    )
    assert "-" not in text.splitlines()[0].partition(" | ")[2]
    ndb.hits(3, 80)
    status, text = look()
    assert status == 1
    assert "its buffer is cold 1 min 40 s after its start" in first_line(text)


def test_a_counter_that_goes_down_is_no_negative_number(look, ndb):
    each(look, ndb, 99.9)
    for row in ndb.buffers(3):
        row["pages_read"] = 0
    ndb.hits(4, 99.9)
    status, text = look()
    assert status == 0
    assert "node 3: counters have been reset, " in text
    assert "=-" not in text
    ndb.hits(3, 99.7)
    assert "hit ratio of node 3 is 99.70 %" in first_line(look()[1])


def test_a_missing_node_is_named_and_the_rest_is_judged(look, ndb):
    each(look, ndb, 99.9)
    ndb.end(4)
    ndb.hits(3, 99)
    status, text = look()
    assert status == 1
    assert "hit ratio of node 3 is 99.00 % (minimum 99.5 %)" in first_line(text)
    assert "\n[OK] node 4 does not answer: judged without it" in text
    assert "node4" not in text.splitlines()[0]


def test_a_starting_node_is_named(look, ndb):
    each(look, ndb, 99.9)
    ndb.node(4).update(status="STARTING", start_phase=100)
    ndb.hits(3, 99.9)
    status, text = look()
    assert status == 0
    assert "\n[OK] node 4 is starting" in text


def test_no_started_node_is_unknown(look, ndb):
    for node in (3, 4):
        ndb.node(node).update(status="STARTING", start_phase=5)
    status, text = look()
    assert status == 3
    assert first_line(text) == "NDB_PAGE_BUFFER UNKNOWN - nodes 3 and 4 are starting"


def test_a_node_without_a_row_is_unknown_not_health(look, ndb):
    each(look, ndb, 99.9)
    ndb.tables["diskpagebuffer"] = [*ndb.buffers(3)]
    ndb.hits(3, 99.9)
    status, text = look()
    assert status == 3
    assert "node 4 answers, but has no row in ndbinfo.diskpagebuffer" in first_line(text)
    assert perfdata(text)["hit_ratio"] == 99.9


@pytest.mark.parametrize("silent", [(), (3,)])
def test_a_node_that_ends_meanwhile_is_judged_without(look, ndb, silent):
    each(look, ndb, 99.9)
    for node in (3, 4):
        ndb.hits(node, 99.9)
    ndb.ends_before("diskpagebuffer", 4, silent)
    status, text = look()
    assert status == 0
    assert "\n[OK] node 4 does not answer: judged without it" in text
    assert perfdata(text)["node3_hit_ratio"] == 99.9


def test_a_node_that_ends_after_a_sample_is_judged_without(look, ndb):
    ndb.serve(3, 100_000)
    ndb.ends_before("GROUP BY", 4)
    status, text = look("--sample", "2s", "--no-state", "-t", "20s")
    assert status == 0
    assert "\n[OK] node 4 does not answer: judged without it" in text


def test_counters_without_a_value_are_unknown(look, ndb):
    for row in ndb.buffers(4):
        row["pages_read"] = None
    status, text = look()
    assert status == 3
    assert "node 4 answers, but has no row in ndbinfo.diskpagebuffer" in first_line(text)


def test_a_thread_whose_row_is_missing_for_once_makes_no_interval(look, ndb):
    """While a data node is killed, rows of others may be missing without an error."""
    ndb.serve(3, 100, 100_000)
    each(look, ndb, 99.9)
    whole = ndb.tables["diskpagebuffer"]
    ndb.tables["diskpagebuffer"] = [row for row in whole if row is not ndb.buffers(3)[0]]
    ndb.hits(4, 99.9)
    assert not_comparable(look())
    ndb.tables["diskpagebuffer"] = whole
    for node in (3, 4):
        ndb.hits(node, 99.9)
    assert not_comparable(look())
    for node in (3, 4):
        ndb.hits(node, 99.9)
    status, text = look()
    assert status == 0
    assert perfdata(text)["node3_hit_ratio"] == 99.9


def not_comparable(said):
    status, text = said
    assert status == 0
    assert "node3_hit_ratio" not in perfdata(text)
    return "[OK] node 3: the number of threads that show their page buffer has changed, " in text


def test_such_an_interval_breaks_no_run(look, ndb):
    each(look, ndb, 80, 80)
    missing = ndb.tables["diskpagebuffer"].pop(0)
    look()
    ndb.tables["diskpagebuffer"].append(missing)
    look()
    ndb.hits(3, 80)
    assert look()[0] == 2


def test_a_number_that_one_thread_does_not_tell_is_unknown(look, ndb):
    each(look, ndb, 99.9)
    ndb.buffers(3)[0]["pages_read"] = None
    status, text = look()
    assert status == 3
    assert "node 3 answers, but has no row in ndbinfo.diskpagebuffer" in text


def test_a_node_that_was_away_for_a_look_and_has_not_restarted_keeps_its_run(look, ndb):
    each(look, ndb, 80, 80)
    tables = {name: [*rows] for name, rows in ndb.tables.items()}
    ndb.end(3)
    assert look()[0] == 0
    back = {name: [*rows] for name, rows in tables.items()}
    ndb.tables.update(back)
    ndb.node(3)["uptime"] = ndb.node(4)["uptime"]
    ndb.status["Ndb_number_of_ready_data_nodes"] += 1
    ndb.hits(3, 80)
    status, text = look()
    assert status == 2
    assert "over 2 min (3 intervals in a row)" in text


def test_a_node_that_has_restarted_begins_a_run_anew(look, ndb):
    each(look, ndb, 80, 80, arguments=["--cold", "0"])
    ndb.restart(3)
    look("--cold", "0")
    ndb.hits(3, 80)
    assert "(1 of 3 intervals)" in look("--cold", "0")[1]


def test_a_cluster_that_is_down_is_unknown(look, ndb):
    ndb.end(3)
    ndb.end(4)
    status, text = look()
    assert status == 3
    assert "none of 2 data nodes is connected" in first_line(text)


def test_the_story_of_the_example(look, ndb):
    """Its hit ratios, told as if each had been reached since the one before."""
    look()
    for node, percent in ((3, 93.3577), (4, 93.6565)):
        ndb.hits(node, percent, 1_000_000)
    status, text = look(after=340)
    assert status == 1
    assert "hit ratio of node 3 is 93.36 % (minimum" in first_line(text)
    assert "  measured over 5 min 40 s (1 of 3 intervals)\n" in text
    ndb.end(3)
    ndb.hits(4, 91.2639, 1_000_000)
    status, text = look(after=355)
    assert status == 1
    assert "hit ratio of node 4 is 91.26 %" in first_line(text)
    assert "(2 of 3 intervals)" in text
    assert "node 3 does not answer: judged without it" in text
    ndb.come_back(3, uptime=100)
    ndb.restart(4, uptime=10)
    status, text = look(after=20)
    assert status == 0
    assert "nodes 3 and 4 have restarted since the last look" in text
    for percents in ((98.2487, 98.6386), (99.2035, 99.5251)):
        for node, percent in zip((3, 4), percents, strict=True):
            ndb.hits(node, percent, 1_000_000)
        status, text = look(after=500)
        assert status == 1
        assert f"node 3 is {percents[0]:.2f} % (minimum 99.5 %), its buffer is cold" in text
        assert perfdata(text)["node4_hit_ratio"] == percents[1]


def test_a_real_rolling_restart(look, ndb):
    """Random reads while DiskPageBufferMemory grew from 4 to 64 MB: NDB 9.7.2, counters of both nodes.

    Pages read were not recorded: each wait is taken for one. The looks were a third as far apart.
    """
    recording = Path(__file__).parents[1] / "recorded" / "ndb_page_buffer" / "rolling_restart.txt"
    nodes, last, told = {row["node_id"]: dict(row) for row in ndb.tables["nodes"]}, {}, []
    for at, counted in recorded(recording.read_text()):
        after = at - told[-1][0] if told else 0
        for node, row in nodes.items():
            row["uptime"] += after
            if node in counted and counted[node] < last.get(node, ()):
                row["uptime"] = 5
        last |= counted
        show(ndb, [nodes[node] for node in counted], counted, after)
        status, text = look(after=after)
        assert "=-" not in text
        told.append((at, status, text))
    statuses = [status for _, status, _ in told]
    assert statuses[:12] == [0, 3, 1, 1, 2, 2, 3, 0, 0, 0, 0, 0]
    assert set(statuses[12:]) == {0, 3}
    beginnings = [re.split(r" - run |: | \(", first_line(text))[0] for _, _, text in told]
    assert beginnings[2:12] == [
        "NDB_PAGE_BUFFER WARNING - hit ratio of node 4 is 20.42 %",
        "NDB_PAGE_BUFFER WARNING - hit ratio of node 4 is 19.71 %",
        "NDB_PAGE_BUFFER CRITICAL - hit ratio of node 4 is 19.33 %",
        "NDB_PAGE_BUFFER CRITICAL - hit ratio of node 4 is 19.80 %",
        "NDB_PAGE_BUFFER UNKNOWN - none of 2 data nodes is connected to sql1:3306",  # for a moment
        "NDB_PAGE_BUFFER OK - hit ratio of node 3 is 99.60 % over 54 s",
        "NDB_PAGE_BUFFER OK - hit ratio of node 3 is 100.00 % over 21 s",
        "NDB_PAGE_BUFFER OK - hit ratio of node 3 is 100.00 % over 21 s",
        "NDB_PAGE_BUFFER OK - hit ratio of node 3 is 100.00 % over 18 s",
        "NDB_PAGE_BUFFER OK - no page requests on nodes 3 and 4 in 18 s",
    ]
    assert "node 3 does not answer: judged without it" in told[4][2]
    assert "node 3 has restarted since the last look" in told[5][2]
    # Its requests are more than before it restarted, its waits are not.
    assert "node 4 has restarted since the last look" in told[10][2]


def show(ndb, nodes, counted, after):
    """Show these nodes, with these counters, after so many seconds."""
    ndb.tables["nodes"] = [{**row, "uptime": row["uptime"] - after} for row in nodes]
    ndb.tables["diskpagebuffer"] = [row for node in counted for row in fresh(node)]
    ndb.status["Ndb_number_of_ready_data_nodes"] = len(nodes)
    for node, (waited, queued, direct) in counted.items():
        ndb.serve(node, direct, waited, queued=queued)


def recorded(text):
    """The time in seconds of each look, with the waits, queued and direct requests by node."""
    looks = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == 1:
            hours, minutes, seconds = map(int, words[0].split(":"))
            looks.append((3 * (hours * 3600 + minutes * 60 + seconds), {}))
        else:
            looks[-1][1][int(words[0])] = (int(words[6]), int(words[4]), int(words[2]))
    return looks


# a sample


@pytest.fixture
def sample(ndb, tmp_path, monkeypatch):
    """Run the plugin with a sample, during which node 3 answers its requests with that hit ratio."""

    def run(percent, *arguments, seconds=5):
        look = runner(ndb, tmp_path, monkeypatch, during=lambda: ndb.hits(3, percent))
        return look("--sample", str(seconds), *arguments)

    return run


def test_a_sample_is_a_warning_at_most_and_remembers_nothing(sample, tmp_path):
    for _ in range(5):
        status, text = sample(80)
        assert status == 1
        assert "hit ratio of node 3 is 80.00 % (minimum 99.5 %), 4000 pages/s read from disk" in text
        assert "  measured over 5 s (one sample)\n  4000 of 20000 requests/s" in text
    assert list(tmp_path.iterdir()) == []


def test_a_sample_is_critical_for_whoever_wants_it(sample):
    status, text = sample(80, "--confirm", "1")
    assert status == 2
    assert "  measured over 5 s\n" in text


def test_a_sample_of_a_healthy_cluster_is_ok(sample):
    status, text = sample(99.9)
    assert status == 0
    assert first_line(text) == "NDB_PAGE_BUFFER OK - hit ratio of node 3 is 99.90 % over 5 s"
    assert "\n[OK] no page requests on node 4 in 5 s" in text


@pytest.mark.parametrize(("seconds", "timeout"), [(0, 8), (0.5, 8), (7, 8), (60, 61)])
def test_a_sample_has_to_fit_into_the_timeout(sample, ndb, seconds, timeout):
    status, text = sample(99, "-t", str(timeout), seconds=seconds)
    assert status == 3
    assert "--sample takes 1 s at least, and 2 s less than --timeout" in text
    assert ndb.asked == []


def test_a_restart_during_a_sample_is_said(ndb, tmp_path, monkeypatch):
    look = runner(ndb, tmp_path, monkeypatch, during=lambda: ndb.restart(3, uptime=2))
    status, text = look("--sample", "5s")
    assert status == 0
    assert "\n[OK] node 3: not up for the whole sample\n" in f"{text}\n"
    assert "next run" not in text
    assert "last look" not in text


def test_a_node_that_ends_during_a_sample_is_missing(ndb, tmp_path, monkeypatch):
    look = runner(ndb, tmp_path, monkeypatch, during=lambda: ndb.end(3))
    status, text = look("--sample", "5s")
    assert status == 0
    assert "[OK] node 3 does not answer: judged without it" in text


def test_a_node_that_is_not_in_both_looks_of_a_sample_is_not_compared(ndb, tmp_path, monkeypatch):
    rows = ndb.tables["diskpagebuffer"]
    ndb.tables["diskpagebuffer"] = ndb.buffers(4)

    def come():
        ndb.tables["diskpagebuffer"] = rows

    status, text = runner(ndb, tmp_path, monkeypatch, during=come)("--sample", "5s")
    assert status == 0
    assert "\n[OK] node 3: not up for the whole sample" in text


def test_a_counter_that_goes_down_during_a_sample_is_no_negative_number(ndb, tmp_path, monkeypatch):
    def begin_anew():
        for row in ndb.buffers(3):
            row["pages_read"] = 0

    ndb.hits(3, 80)
    status, text = runner(ndb, tmp_path, monkeypatch, during=begin_anew)("--sample", "5s")
    assert status == 0
    assert "\n[OK] node 3: counters have been reset" in text


def test_a_sample_is_as_long_as_it_was(sample, ndb):
    """Many nodes take their time to answer, which belongs to the interval."""
    ndb.takes = 0.5
    status, text = sample(80, seconds=2)
    assert status == 1
    assert "  measured over 3 s (one sample)\n  6667 of 33333 requests/s" in text
    assert perfdata(text)["requests_per_s"] == pytest.approx(33333.3)


def test_a_sample_of_48_nodes_ends_in_time(tmp_path, monkeypatch):
    """Each statement takes 20 ms for each data node: measured on NDB 9.7.2."""
    ndb = PagesNdb(range(1, 49))
    ndb.takes = 48 * 0.02
    look, begun = runner(ndb, tmp_path, monkeypatch, during=lambda: ndb.hits(3, 80)), ndb.now
    status, text = look("--sample", "5s", after=0)
    assert status == 1
    assert ndb.now - begun < 7.5
    assert len([sql for sql in ndb.asked if "ndbinfo." in sql]) <= 7
    assert "  measured over 3.9 s (one sample)\n" in text
    assert text.count("not known how ") == 2


def test_a_cluster_too_slow_for_a_sample_is_unknown_and_says_so(sample, ndb):
    ndb.takes = 1.3
    status, text = sample(80, seconds=2)
    assert status == 3
    assert first_line(text) == (
        "NDB_PAGE_BUFFER UNKNOWN - no time is left for a sample: the first of its two looks took 3.9 s - "
        "give it a longer --timeout"
    )


# what is remembered, and what cannot be


@pytest.mark.parametrize(
    "damage",
    [
        {"counters": 5, "low": 5, "data_nodes": 5},
        {"counters": {"3": [], "4": {"uptime": "x", "at": 0, "counts": {}}}, "low": {"3": 7, "4": ["x", 0]}},
        {
            "counters": {"3": {"uptime": 5100, "at": 1, "counts": {"direct": None}}},
            "low": {"4": -1, "3": True},
        },
    ],
)
def test_a_damaged_memory_is_a_first_look(look, ndb, tmp_path, damage):
    look()
    (file,) = tmp_path.glob("*.json")
    kept = json.loads(file.read_text())
    (key,) = [name for name, value in kept.items() if isinstance(value, dict) and "counters" in value]
    kept[key] = damage
    file.write_text(json.dumps(kept))
    for node in (3, 4):
        ndb.hits(node, 80)
    status, text = look()
    assert status == 0
    assert "nodes 3 and 4: no earlier look to compare with" in first_line(text)
    for node in (3, 4):
        ndb.hits(node, 80)
    status, text = look()
    assert status == 1
    assert "(1 of 3 intervals)" in text


@pytest.mark.parametrize("run", [-5, True, "x", [2, 0], 2.0, None])
def test_a_damaged_run_is_none(look, ndb, tmp_path, run):
    look()
    (file,) = tmp_path.glob("*.json")
    kept = json.loads(file.read_text())
    kept["values"]["low"] = {"3": run}
    file.write_text(json.dumps(kept))
    ndb.hits(3, 80)
    assert "(1 of 3 intervals)" in look()[1]


def test_other_thresholds_begin_a_run_of_their_own(look, ndb):
    each(look, ndb, 80, 80)
    assert each(look, ndb, 80, 80, arguments=["-c", "96:"]) == [0, 1, 1]


def test_without_state_there_is_nothing_but_a_sample(look, sample, ndb):
    status, text = look("--no-state")
    assert status == 3
    assert "--no-state leaves no last run to compare with: add --sample 5s" in first_line(text)
    assert ndb.asked == []
    assert sample(99.9, "--no-state")[0] == 0


# what else is told


@pytest.mark.parametrize(
    ("percent", "said"),
    [(99.4961, "99.496 %"), (99.4999, "99.4999 %"), (94.996, "94.996 %"), (94.99, "94.99 %")],
)
def test_a_ratio_is_never_said_to_be_on_the_other_side_of_its_threshold(look, ndb, percent, said):
    look()
    ndb.hits(3, percent, 1_000_000)
    status, text = look()
    assert status == 1
    assert f"hit ratio of node 3 is {said} (minimum" in first_line(text)


def test_large_numbers_are_written_out(look, ndb):
    look("--min-requests", "700000000")
    ndb.hits(3, 99.9, 600_000_000)
    _, text = look("--min-requests", "700000000", "-v")
    assert "node 3: 600000000 in 1 min, 700000000 are needed" in text.replace(
        "nodes 3 and 4: at most", "node 3:"
    )
    assert "\n[OK] 10000000 page requests/s" in text


def test_a_ratio_that_is_not_confirmed_has_the_same_name_for_a_program(look, ndb):
    each(look, ndb, 80)
    names = []
    for _ in range(2):
        ndb.hits(3, 80)
        names.append(json.loads(look("--output", "json")[1])["findings"][0]["name"])
    assert names == ["hit_ratio", "hit_ratio"]


def test_all_numbers_are_told_on_demand(look, ndb):
    look()
    ndb.hits(3, 99.9)
    ndb.serve(3, queued=600, log_waits=1200, written=60, lcp=30)
    ndb.end(4)
    status, text = look("-v")
    assert status == 0
    lines = text.splitlines()
    names, *rows = [line.split() for line in lines[lines.index(next(x for x in lines if "uptime" in x)) :]]
    assert rows == [
        ["node", "3", "99.9", "1665", "10", "1.7", "1.7", "1", "0.5", "20", "99.9", "5120", "4194304"]
    ]
    assert names == [
        "node", "hit_ratio", "direct_per_s", "queued_per_s", "waited_per_s", "pages_read_per_s",
        "pages_written_per_s", "pages_written_lcp_per_s", "log_waits_per_s", "cumulative_hit_ratio", "uptime",
        "DiskPageBufferMemory",
    ]  # fmt: skip
    assert "[OK] 1666.7 page requests/s" in lines
    assert "[OK] hit ratio of node 3 is 99.90 % since its start" in lines


def test_the_perfdata_of_a_small_cluster(look, ndb):
    look()
    ndb.hits(3, 99)
    ndb.hits(4, 98)
    ndb.serve(4, log_waits=120)
    numbers = perfdata(look()[1])
    assert numbers == {
        "hit_ratio": 98, "node3_hit_ratio": 99, "node4_hit_ratio": 98, "requests_per_s": 3333.3,
        "pages_read_per_s": 50, "log_waits_per_s": 2, "cumulative_hit_ratio": 98,
        "node3_cumulative_hit_ratio": 99, "node4_cumulative_hit_ratio": 98, "data_nodes": 2,
    }  # fmt: skip


def test_the_cumulative_ratio_is_not_judged(look, ndb):
    ndb.hits(3, 50, requests=1_000_000)
    look()
    ndb.hits(3, 99.9)
    status, text = look()
    assert status == 0
    assert perfdata(text)["cumulative_hit_ratio"] == 54.5364


def test_a_program_is_told_the_same(look, ndb):
    look()
    ndb.hits(3, 80)
    status, text = look("--output", "json")
    told = json.loads(text)
    assert status == 1
    assert told["findings"][0]["value"] == 80
    assert told["findings"][0]["advice"] == "enlarge DiskPageBufferMemory, now 4 MiB"
    (table,) = [finding["table"] for finding in told["findings"] if "table" in finding]
    assert [row["node"] for row in table] == ["node 3", "node 4"]


@pytest.mark.parametrize("tables", [("config_values", "pgman_time_track_stats"), ()])
def test_what_a_version_or_an_account_lacks_is_left_out(look, ndb, tables):
    look()
    for table in tables:
        del ndb.tables[table]
    if not tables:
        ndb.denied = {"config_values", "pgman_time_track_stats"}
    ndb.hits(3, 80)
    status, text = look()
    assert status == 1
    assert first_line(text).endswith("333 pages/s read from disk - enlarge DiskPageBufferMemory")
    assert "\n[OK] not known how large page buffers are: " in text
    assert "\n[OK] not known how long page reads take: " in text


def test_what_is_known_is_told_if_the_run_ends_while_evidence_is_asked_for(look, ndb, monkeypatch):
    runs, known = [], []
    answer, findings = ndb.rows, PLUGIN["findings"]

    def rows(sql, *arguments):
        if "config_values" in sql:
            known.extend(runs[-1]._so_far)
        return answer(sql, *arguments)

    def watched(options, run):
        runs.append(run)
        return findings(options, run)

    monkeypatch.setattr(ndb, "rows", rows)
    monkeypatch.setitem(PLUGIN, "findings", watched)
    each(look, ndb, 80, nodes=(3,))
    assert known[0].what == "hit ratio of node 3 is 80.00 %"
    assert known[0].advice == "enlarge DiskPageBufferMemory"


def test_evidence_that_is_not_answered_costs_no_verdict(look, ndb):
    each(look, ndb, 80, 80)
    ndb.failing["config_values"] = NoAnswerError("sql1:3306 has not answered within 3 s")
    ndb.hits(3, 80)
    status, text = look()
    assert status == 2
    assert "  measured over 1 min (3 intervals in a row)\n" in text
    assert text.count("not known how ") == 1  # it is not waited for a second time


def test_evidence_that_is_nonsense_costs_no_verdict(look, ndb):
    look()
    for row in ndb.tables["config_values"]:
        row["config_value"] = "4M"
    for row in ndb.tables["pgman_time_track_stats"]:
        row["upper_bound"] = None
    ndb.hits(3, 80)
    status, text = look()
    assert status == 1
    assert first_line(text).endswith("333 pages/s read from disk - enlarge DiskPageBufferMemory")
    assert text.count("not known how ") == 2


def test_page_reads_that_took_longer_than_all_bounds(look, ndb):
    look()
    for row in ndb.tables["pgman_time_track_stats"]:
        row["page_reads"] = 5 if row["upper_bound"] == 4294967295 else 0
    ndb.tables["pgman_time_track_stats"] += [
        {"node_id": 3, "block_instance": 1, "upper_bound": 2097152, "page_reads": 0}
    ]
    ndb.hits(3, 80)
    assert "half of the page reads of node 3 so far took more than 2.1 s\n" in look()[1]


def test_a_node_that_ends_meanwhile_is_asked_for_again(look, ndb):
    each(look, ndb, 99.9)
    ndb.lost = 1
    assert look()[0] == 0


def test_a_missing_grant_is_named(look, ndb):
    ndb.denied = {"diskpagebuffer"}
    status, text = look()
    assert status == 3
    assert "GRANT SELECT ON ndbinfo.* TO 'mon'@'%'" in first_line(text)


def test_many_nodes_stay_a_short_line(tmp_path, monkeypatch):
    nodes = range(1, 49)
    ndb = PagesNdb(nodes)
    look = runner(ndb, tmp_path, monkeypatch)
    look()
    for node in nodes:
        ndb.hits(node, 90 - node / 10)
    status, text = look("-v")
    line = text.splitlines()[0]
    assert status == 1
    assert len(line.encode()) < 700
    assert "hit ratio of node 48 is 85.20 %" in line
    assert "low on nodes 47, 46, 45, 44 and 43 more, too" in text
    assert len(ndb.asked) == 6
    for node in nodes[10:]:
        ndb.end(node)
    line = look()[1].splitlines()[0]
    assert "no page requests on nodes 1, 2, 3, 4 and 6 more" in line
    assert "node1_" not in line
