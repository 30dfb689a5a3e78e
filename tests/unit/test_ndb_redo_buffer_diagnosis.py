"""Small buffer or slow disk: which evidence outranks which."""

import pytest
from stallwatch.causes import Certainty, Kind, Scope, Subject
from stallwatch.findings import Reading
from stallwatch.probes.ndb_redo_buffer import messages
from stallwatch.probes.ndb_redo_buffer.diagnosis import Evidence, diagnose
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
ONE_OF_SEVERAL_DISKS = {"busy": Busy("sda", 90.0, is_only=False)}
IDLE_DISK = {"busy": Busy("sda", 16.0)}
FLAT = {"writing": writing(2_000_000, 2_100_000)}
RISING = {"writing": writing(12_000_000, 2_000_000)}
SATURATED = {"threads": [Thread("ldm", 95), Thread("recv", 44)]}
AT_EASE = {"threads": [Thread("recv", 44), Thread("ldm", 30)]}
BUSY_RECEIVER = {"threads": [Thread("recv", 99), Thread("ldm", 60)]}
STILL = {"still_for": 1.6}
BOTH_BUSY = {"threads": [Thread("recv", 99), Thread("ldm", 90)]}


CERTAIN, LIKELY, POSSIBLE = Certainty
DISK, BURSTS, THREAD, UNKNOWN = Kind.SLOW_DISK, Kind.REDO_BURSTS, Kind.BUSY_THREAD, Kind.UNKNOWN
NODE = Subject("db1:3306", Scope.NODE, "3")


def judge(*known, stays_full=True):
    parts = {name: value for one in known for name, value in one.items()}
    return diagnose(Evidence(3, stays_full=stays_full, **parts), NODE)


@pytest.mark.parametrize(
    ("known", "kind", "certainty", "evidence"),
    [
        ((), UNKNOWN, POSSIBLE, ""),
        ((SLOW_LOG,), DISK, CERTAIN, "log_shows_lag"),
        ((SLOW_LOG, NO_LAG_NOW, NEVER_LAGGED, IDLE_DISK, SATURATED), DISK, CERTAIN, "log_shows_lag"),
        ((LAGS,), DISK, CERTAIN, "redo_lags"),
        ((BURSTS_LOG, LAGS), DISK, CERTAIN, "redo_lags"),
        ((LAGS, FLAT), DISK, CERTAIN, "redo_lags"),
        ((BURSTS_LOG,), UNKNOWN, POSSIBLE, ""),  # what stays full is no burst
        ((LAGGED,), DISK, CERTAIN, "redo_lagged"),
        ((LAGGED_A_LITTLE,), UNKNOWN, POSSIBLE, ""),
        ((LAGGED_IN_A_MOMENT,), DISK, CERTAIN, "redo_lagged"),
        ((LAGGED_FOR_LESS_THAN_A_SECOND,), UNKNOWN, POSSIBLE, ""),
        ((BUSY_DISK,), DISK, CERTAIN, "disk_is_busy"),
        ((ONE_OF_SEVERAL_DISKS,), DISK, LIKELY, "one_of_its_disks_is_busy"),
        ((LESS_BUSY_DISK,), UNKNOWN, POSSIBLE, ""),
        ((IDLE_DISK,), UNKNOWN, POSSIBLE, ""),  # a quota lets it look idle
        ((FLAT,), DISK, LIKELY, "rate_is_flat"),
        ((RISING,), UNKNOWN, POSSIBLE, ""),
        ((FLAT, SATURATED), THREAD, CERTAIN, "writer_is_saturated"),
        ((BOTH_BUSY,), THREAD, CERTAIN, "writer_is_saturated"),
        ((BUSY_RECEIVER,), UNKNOWN, POSSIBLE, ""),
        ((FLAT, BUSY_RECEIVER), DISK, LIKELY, "rate_is_flat"),
        ((BUSY_DISK, SATURATED), DISK, CERTAIN, "disk_is_busy"),
        ((QUIET_LOG, NO_LAG_NOW, NEVER_LAGGED), UNKNOWN, POSSIBLE, ""),
        ((STILL, AT_EASE), DISK, LIKELY, "nothing_leaves"),
        ((STILL,), UNKNOWN, POSSIBLE, ""),  # a thread may have no time
        ((STILL, BUSY_RECEIVER), UNKNOWN, POSSIBLE, ""),
        ((STILL, SATURATED), THREAD, CERTAIN, "writer_is_saturated"),
        ((STILL, AT_EASE, LAGS), DISK, CERTAIN, "redo_lags"),
    ],
)
def test_of_a_buffer_that_stays_full(known, kind, certainty, evidence):
    cause = judge(*known).cause
    assert (cause.kind, cause.certainty, cause.evidence) == (kind, certainty, evidence)
    assert cause.subject == NODE


@pytest.mark.parametrize(
    ("known", "kind", "evidence"),
    [
        ((), UNKNOWN, ""),
        ((BURSTS_LOG,), BURSTS, "log_shows_bursts"),
        ((BURSTS_LOG, LAGGED, BUSY_DISK), BURSTS, "log_shows_bursts"),
        ((NO_LAG_NOW, NEVER_LAGGED), BURSTS, "drains"),
        ((NO_LAG_NOW,), UNKNOWN, ""),  # a first look
        ((NO_LAG_FOR_A_WHILE,), BURSTS, "drains"),
        ((NO_LAG_FOR_LESS,), UNKNOWN, ""),
        ((NO_LAG_NOW, LAGGED_A_LITTLE), UNKNOWN, ""),
        ((NO_LAG_NOW, LAGGED), DISK, "redo_lagged"),
        ((FLAT, SATURATED), UNKNOWN, ""),  # it does empty
    ],
)
def test_of_a_buffer_with_a_peak(known, kind, evidence):
    cause = judge(*known, stays_full=False).cause
    assert (cause.kind, cause.evidence) == (kind, evidence)


def test_a_larger_buffer_is_advised_for_bursts_only():
    assert messages.advice(judge(BURSTS_LOG, stays_full=False).cause) == "increase RedoBuffer"
    assert not any("RedoBuffer" in messages.advice(judge(known).cause) for known in (LAGS, SATURATED, {}))


@pytest.mark.parametrize(
    ("lag", "words"), [(LAG, "its log shows 6 s lag"), (NO_LAG, "full for 9 ms by its log")]
)
def test_a_log_that_blames_the_disk_shows_lag_or_how_long_buffers_were_full(lag, words):
    log = {"heard": Heard(3, FULL, lag, (), blames_disk=True)}
    assert messages.why(judge(log).cause) == f"the disk is too slow: {words}"


def test_the_lines_below_have_all_evidence():
    lines = [*messages.below(judge(SLOW_LOG, LAGS, LAGGED, BUSY_DISK, FLAT, AT_EASE))]
    assert [word for word in ("log: node 3", "lag now", "lagged 10 s of 5 min", "sda is 90.0 % busy",
                              "writes redo at 1.9 MiB/s", "not the processor", "a larger RedoBuffer")
            if not any(word in line for line in lines)] == []  # fmt: skip


@pytest.mark.parametrize("known", [FLAT, SATURATED, NEVER_LAGGED])
def test_one_sample_proves_neither_staying_nor_emptying(known):
    assert judge(known, stays_full=None).cause.kind is UNKNOWN


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
