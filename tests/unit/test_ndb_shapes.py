import re

from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.ndb_log.collect import WORDS
from stallwatch.probes.ndb_log.lines import Shapes

QUIET = b"2026-11-20T23:08:22.849502Z [ndbd] INFO     -- Global checkpoint 96 started\n"
STUCK = b"2026-11-20T23:07:58.327137Z [ndbd] WARNING  -- Ndb kernel thread 2 is stuck in: x elapsed=100\n"
LOAD = b"2026-11-20T23:07:58.327137Z [ndbd] INFO     -- Operations=7\n"


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
