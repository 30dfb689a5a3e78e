"""Small buffer or slow disk: which evidence outranks which."""

import pytest
from stallwatch.findings import Reading
from stallwatch.probes.ndb_redo_buffer.diagnosis import (
    BURSTS,
    DISK,
    PROCESSOR,
    UNDECIDED,
    Evidence,
    diagnose,
)
from stallwatch.probes.ndb_redo_buffer.hosts import Busy, Heard
from stallwatch.probes.ndb_redo_buffer.queries import Lag, Lagged, Thread, Writing, between


def writing(lately, before, lagged=(2, 0, 0)):
    return Writing(Lagged(*lagged), lately, before)


FULL = Reading("redo_full", 0.009, "s", "node 3 redo buffer full 65 times, median 9 ms, longest 94 ms")
NO_LAG = Reading("redo_lag", 0, "s", "no redo lag")
LAG = Reading("redo_lag", 6, "s", "node 3 redo log part 1 lags 6 s behind at 23:39:00")

SLOW_LOG = {"heard": Heard(3, FULL, LAG, (), blames_disk=True)}
BURSTS_LOG = {"heard": Heard(3, FULL, NO_LAG, (), blames_disk=False)}
QUIET_LOG = {"heard": Heard(3, FULL._replace(value=0), NO_LAG, (), blames_disk=None)}
LAGS = {"right_now": Lag(1, 1.6)}
NO_LAG_NOW = {"right_now": Lag(0, 1.6)}
LAGGED = {"lately": Lag(10, 300)}
LAGGED_A_LITTLE = {"lately": Lag(9, 300)}
NEVER_LAGGED = {"lately": Lag(0, 300)}
LAGGED_IN_A_MOMENT = {"lately": Lag(1, 3)}
LAGGED_FOR_LESS_THAN_A_SECOND = {"lately": Lag(0.9, 3)}
NO_LAG_FOR_A_WHILE = {"lately": Lag(0, 60)}
NO_LAG_FOR_LESS = {"lately": Lag(0, 59)}
BUSY_DISK = {"busy": Busy("sda", 90.0)}
LESS_BUSY_DISK = {"busy": Busy("sda", 89.9)}
IDLE_DISK = {"busy": Busy("sda", 16.0)}
FLAT = {"writing": writing(2_000_000, 2_100_000)}
RISING = {"writing": writing(12_000_000, 2_000_000)}
SATURATED = {"threads": [Thread("ldm", 95), Thread("recv", 44)]}
AT_EASE = {"threads": [Thread("recv", 44), Thread("ldm", 30)]}
BUSY_RECEIVER = {"threads": [Thread("recv", 99), Thread("ldm", 60)]}
BOTH_BUSY = {"threads": [Thread("recv", 99), Thread("ldm", 90)]}


def judge(*known, stays_full=True):
    parts = {name: value for one in known for name, value in one.items()}
    return diagnose(Evidence(3, stays_full=stays_full, **parts))


@pytest.mark.parametrize(
    ("known", "answer", "words"),
    [
        ((), UNDECIDED, "no evidence which of the two"),
        ((SLOW_LOG,), DISK, "log of node 3: redo log part 1 lags 6 s behind at 23:39:00"),
        ((SLOW_LOG, NO_LAG_NOW, NEVER_LAGGED, IDLE_DISK, SATURATED), DISK, "its log shows 6 s lag"),
        ((LAGS,), DISK, "redo writes lag"),
        ((BURSTS_LOG, LAGS), DISK, "redo writes lag"),
        ((BURSTS_LOG,), UNDECIDED, "no evidence"),  # what stays full is no burst
        ((LAGGED,), DISK, "redo lagged 10 s of 5 min"),
        ((LAGGED_A_LITTLE,), UNDECIDED, "no evidence"),
        ((LAGGED_IN_A_MOMENT,), DISK, "redo lagged 1 s of 3 s"),
        ((LAGGED_FOR_LESS_THAN_A_SECOND,), UNDECIDED, "no evidence"),
        ((BUSY_DISK,), DISK, "sda is 90.0 % busy"),
        ((LESS_BUSY_DISK,), UNDECIDED, "no evidence"),
        ((IDLE_DISK,), UNDECIDED, "no evidence"),  # a quota lets it look idle
        ((FLAT,), DISK, "writes redo at 1.9 MiB/s"),
        ((RISING,), UNDECIDED, "no evidence"),
        ((FLAT, SATURATED), PROCESSOR, "ldm thread 95 % busy"),
        ((BOTH_BUSY,), PROCESSOR, "ldm thread 90 % busy"),
        ((BUSY_RECEIVER,), UNDECIDED, "too: the busiest thread of node 3, recv, works 99 %"),
        ((FLAT, BUSY_RECEIVER), DISK, "maybe the processor, too: the busiest thread of node 3, recv"),
        ((BUSY_DISK, SATURATED), DISK, "maybe the processor, too: the busiest thread of node 3, ldm"),
        ((BUSY_DISK, AT_EASE), DISK, "not the processor: the busiest thread of node 3, recv, works 44 %"),
        ((QUIET_LOG, NO_LAG_NOW, NEVER_LAGGED), UNDECIDED, "no evidence"),
    ],
)
def test_of_a_buffer_that_stays_full(known, answer, words):
    judged = judge(*known)
    assert judged.answer == answer
    assert any(words in line for line in (judged.why, *judged.more))


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ((), UNDECIDED),
        ((BURSTS_LOG,), BURSTS),
        ((BURSTS_LOG, LAGGED, BUSY_DISK), BURSTS),
        ((NO_LAG_NOW, NEVER_LAGGED), BURSTS),
        ((NO_LAG_NOW,), UNDECIDED),  # a first look
        ((NO_LAG_FOR_A_WHILE,), BURSTS),
        ((NO_LAG_FOR_LESS,), UNDECIDED),
        ((NO_LAG_NOW, LAGGED_A_LITTLE), UNDECIDED),
        ((NO_LAG_NOW, LAGGED), DISK),
        ((FLAT, SATURATED), UNDECIDED),  # it does empty
    ],
)
def test_of_a_buffer_with_a_peak(known, answer):
    assert judge(*known, stays_full=False).answer == answer


def test_what_cannot_be_told_is_to_be_looked_at():
    assert judge().advice == judge(QUIET_LOG).advice == "run iostat -kx 1 on its host"
    unread = "no evidence which of the two: look while it lasts, or name the log of the node with --log"
    assert judge().more == (unread,)
    assert judge(QUIET_LOG).more == ("no evidence which of the two: look while it lasts",)


def test_a_flat_rate_is_no_proof():
    assert judge(FLAT).why == "probably a slow disk: redo stays at 1.9 MiB/s"
    assert judge().why == "probably a small buffer or a slow disk"
    assert judge(LAGS, FLAT).why == "the disk is too slow: redo writes lag"


def test_a_larger_buffer_is_advised_for_bursts_only():
    assert judge(LAGS).advice == "use a faster disk"
    assert judge(LAGS).more[-1].startswith("a larger RedoBuffer will not help, different disks")
    assert judge(BURSTS_LOG, stays_full=False).advice == "increase RedoBuffer"
    assert "RedoBuffer" not in judge(SATURATED).advice + judge().advice


@pytest.mark.parametrize("known", [FLAT, SATURATED, NEVER_LAGGED])
def test_one_sample_proves_neither_staying_nor_emptying(known):
    assert judge(known, stays_full=None).answer == UNDECIDED


@pytest.mark.parametrize(
    ("lately", "flat"), [(75, True), (125, True), (74.9, False), (125.1, False), (0, False)]
)
def test_a_rate_is_flat_within_a_quarter(lately, flat):
    assert writing(lately, 100).is_flat == flat


def test_nothing_written_is_no_rate():
    assert not writing(0, 0).is_flat


@pytest.mark.parametrize(
    ("before", "after", "lag"),
    [
        ((2, 5, 9), (2, 5, 9), Lag(0, 3)),
        ((2, 5, 9), (2, 7, 11), Lag(2, 3)),
        ((4, 500, 500), (4, 500, 502), Lag(0.5, 3)),  # not the one that had lagged most
        ((4, 0, 0), (4, 9, 9), Lag(3, 3)),  # counted in whole seconds, of which it was one more than passed
        ((4, 5, 9), (3, 5, 9), None),  # a row is missing
        ((3, 5, 9), (4, 5, 9), None),
        ((2, 5, 9), (2, 0, 0), None),  # restarted
    ],
)
def test_lag_is_what_one_thread_must_have_lagged(before, after, lag):
    lags = between({3: writing(0, 0, before)}, {3: writing(0, 0, after), 4: writing(0, 0)}, 3)
    assert lags == ({3: lag} if lag else {})
