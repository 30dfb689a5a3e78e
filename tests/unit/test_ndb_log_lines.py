"""Lines of NDB logs: taking one apart, and the first look that picks those of interest."""

import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.ndb_log.collect import WORDS
from stallwatch.probes.ndb_log.lines import Shapes, parse, speaks_ndb
from stallwatch.probes.ndb_log.model import Present, Rules

QUIET = b"2026-11-20T23:08:22.849502Z [ndbd] INFO     -- Global checkpoint 96 started\n"
STUCK = b"2026-11-20T23:07:58.327137Z [ndbd] WARNING  -- Ndb kernel thread 2 is stuck in: x elapsed=100\n"
LOAD = b"2026-11-20T23:07:58.327137Z [ndbd] INFO     -- Operations=7\n"


def test_a_line_of_9_7_has_utc_time_source_and_text():
    line = parse(b"2026-11-20T23:06:41.711002Z [ndbd] WARNING  -- Node 1 missed heartbeat 2\n")
    assert (line.when, line.clock) == (1795216001.711002, "2026-11-20 23:06:41")
    assert (line.source, line.node, line.text) == ("ndbd", None, "Node 1 missed heartbeat 2")


def test_a_line_with_an_offset_is_at_the_same_moment():
    assert parse(b"2026-11-21T00:06:41.711002+01:00 [ndbd] INFO     -- x").when == 1795216001.711002


def test_a_line_of_6_3_to_9_3_has_local_time():
    line = parse(b"2013-03-19 10:04:44 [ndbd] INFO     -- x")
    assert line.when == datetime(2013, 3, 19, 10, 4, 44).timestamp()  # noqa: DTZ001
    assert line.clock == "2013-03-19 10:04:44"


def test_a_line_of_5_0_has_the_time_before_the_date():
    line = parse(b"09:19:30 2005-07-24 [NDB] INFO -- Node 4 Connected")
    assert (line.clock, line.source, line.text) == ("2005-07-24 09:19:30", "NDB", "Node 4 Connected")


def test_a_cluster_log_names_the_node_that_speaks():
    line = parse(b"2006-05-11 04:06:14 [MgmSrvr] INFO -- Node 3: Node 53 Connected")
    assert (line.source, line.node, line.text) == ("MgmSrvr", 3, "Node 53 Connected")


def test_a_dash_of_a_web_page_is_as_good_as_two_hyphens():
    line = parse("2014-01-14 02:28:46 [MgmtSrvr] ALERT \u2013 Node 50: Node 1 Disconnected".encode())
    assert (line.node, line.text) == (50, "Node 1 Disconnected")


def test_a_printf_line_is_all_text():
    line = parse(b"sendbufferpool waiting for lock, contentions: 6000 spins: 489200")
    assert (line.when, line.clock, line.source) == (None, "", "")
    assert line.text == "sendbufferpool waiting for lock, contentions: 6000 spins: 489200"


def test_a_repeated_line_was_said_as_often_as_it_counts():
    line = parse(
        b"2026-11-20T23:09:10.8Z [ndbd] INFO     -- pgman: page buffer entries = 10 - Repeated 2 times"
    )
    assert (line.text, line.times) == ("pgman: page buffer entries = 10", 2)


@pytest.mark.parametrize(
    "raw", [b"", b"\r\n", b"\xff\xfe\x00", b"2026-13-45 99:99:99 [ndbd] INFO     -- x", b"[" * 9999]
)
def test_any_bytes_are_a_line_without_a_time(raw):
    assert parse(raw).when is None


def test_windows_line_ends_are_no_text():
    assert parse(b"2013-03-19 10:04:44 [ndbd] INFO     -- Node started\r\n").text == "Node started"


def test_an_ndb_log_is_known_by_its_prefix_and_an_old_one_by_its_words():
    assert speaks_ndb(b"x\n2013-03-19 10:04:44 [ndbd] INFO     -- x\n")
    assert speaks_ndb(b"Ndb kernel thread 4 is stuck in: Job Handling elapsed=100\n")
    assert not speaks_ndb(b"2026-11-20T23:06:41.711002Z 0 [Warning] [MY-010068] [Server] CA certificate\n")


def test_quiet_lines_are_passed_over():
    assert Shapes([b"stuck in"]).pick(QUIET * 1000) == []


def test_a_line_of_interest_is_found_among_quiet_ones():
    assert Shapes([b"stuck in"]).pick(QUIET * 1000 + STUCK + QUIET) == [STUCK.rstrip(b"\n")]


def test_lines_of_one_shape_are_all_found_each_time():
    shapes = Shapes([b"stuck in"])
    assert len(shapes.pick(STUCK + STUCK.replace(b"100", b"200"))) == 2
    assert len(shapes.pick(STUCK)) == 1


def test_context_comes_with_a_line_of_interest_only():
    shapes = Shapes([b"stuck in"], context=[b"Operations="])
    assert shapes.pick(LOAD + QUIET) == []
    assert shapes.pick(LOAD + STUCK) == [LOAD.rstrip(b"\n"), STUCK.rstrip(b"\n")]


def test_no_word_has_a_digit_for_shapes_have_none():
    assert [word for word in WORDS if re.search(rb"\d", word)] == []


FRAGMENTS = st.sampled_from(
    [b"stuck in", b"lag 12 ", b"Global ", b"7", b"99", b" ", b"\x00", b"\xff", b"stuck ", b"in"]
)


@given(st.lists(st.lists(FRAGMENTS, max_size=8).map(b"".join), max_size=30), st.integers(1, 5))
def test_the_first_look_finds_what_a_look_at_every_line_finds(lines, runs):
    shapes = Shapes([b"stuck in", b"lag "])
    block = b"".join(line + b"\n" for line in lines)
    slow = [line for line in lines if re.search(rb"stuck in|lag ", re.sub(rb"\d", b"", line))]
    assert [shapes.pick(block) for _ in range(runs)] == [slow] * runs
    assert shapes.lines == runs * len(lines)


@pytest.mark.parametrize(("when", "over"), [(1e9 - 59, False), (1e9 - 61, True), (1e9 + 3600, True)])
def test_what_a_clock_that_was_set_back_left_in_the_future_does_not_go_on(when, over):
    assert Present(Rules(now=1e9)).over(when) is over
