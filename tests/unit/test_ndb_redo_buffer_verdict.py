"""Small buffer or slow disk: which evidence outranks which."""

import pytest
from stallwatch.probes.ndb_redo_buffer import verdict
from stallwatch.probes.ndb_redo_buffer.device import Busy
from stallwatch.probes.ndb_redo_buffer.log import Heard
from stallwatch.probes.ndb_redo_buffer.processor import Busiest
from stallwatch.probes.ndb_redo_buffer.verdict import BURSTS, DISK, PROCESSOR, UNDECIDED, Evidence
from stallwatch.probes.ndb_redo_buffer.writing import Lag, Writing
from stallwatch.reading import Reading
from stallwatch.sources.host import DiskLoad

FULL = Reading("redo_full", 0.009, "s", "node 3 redo buffer full 65 times, median 9 ms, longest 94 ms")
NO_LAG = Reading("redo_lag", 0, "s", "no redo lag")
LAG = Reading("redo_lag", 6, "s", "node 3 redo log part 1 lags 6 s behind at 23:39:00")

SLOW_LOG = {"heard": Heard(3, FULL, LAG, (), blames_disk=True)}
BURSTS_LOG = {"heard": Heard(3, FULL, NO_LAG, (), blames_disk=False)}
QUIET_LOG = {"heard": Heard(3, FULL._replace(value=0), NO_LAG, (), blames_disk=None)}
LAGS = {"meanwhile": Lag(1, 1.6)}
NO_LAG_NOW = {"meanwhile": Lag(0, 1.6)}
LAGGED = {"lately": Lag(10, 300)}
LAGGED_A_LITTLE = {"lately": Lag(9, 300)}
NEVER_LAGGED = {"lately": Lag(0, 300)}
BUSY_DISK = {"busy": Busy("sda", DiskLoad(90.0, 0.01))}
IDLE_DISK = {"busy": Busy("sda", DiskLoad(16.0, 0.001))}
FLAT = {"writing": Writing(0, 2_000_000, 2_100_000)}
RISING = {"writing": Writing(0, 12_000_000, 2_000_000)}
SATURATED = {"busiest": Busiest("ldm", 95)}
AT_EASE = {"busiest": Busiest("recv", 44)}


def judge(*known, stays_full=True):
    parts = {name: value for one in known for name, value in one.items()}
    return verdict.judge(Evidence(3, stays_full=stays_full, **parts))


@pytest.mark.parametrize(
    ("known", "answer", "words"),
    [
        ((), UNDECIDED, "nothing that was looked at tells"),
        ((SLOW_LOG,), DISK, "its log says: redo log part 1 lags 6 s behind at 23:39:00"),
        ((SLOW_LOG, NO_LAG_NOW, NEVER_LAGGED, IDLE_DISK, SATURATED), DISK, "its log says"),
        ((LAGS,), DISK, "redo writes lag"),
        ((BURSTS_LOG, LAGS), DISK, "redo writes lag"),
        ((BURSTS_LOG,), UNDECIDED, "nothing"),  # what stays full is no burst
        ((LAGGED,), DISK, "redo writes lagged for 10 s of 5 min"),
        ((LAGGED_A_LITTLE,), UNDECIDED, "nothing"),
        ((BUSY_DISK,), DISK, "sda is 90.0 % busy"),
        ((IDLE_DISK,), UNDECIDED, "nothing"),  # a quota lets it look idle
        ((FLAT,), DISK, "redo is written at 1.9 MiB/s"),
        ((RISING,), UNDECIDED, "nothing"),
        ((FLAT, SATURATED), PROCESSOR, "its busiest thread, ldm, works 95 % of the time"),
        ((BUSY_DISK, SATURATED), DISK, "maybe the processor, too: its busiest thread, ldm"),
        ((BUSY_DISK, AT_EASE), DISK, "not the processor: its busiest thread, recv, works 44 % of the time"),
        ((QUIET_LOG, NO_LAG_NOW, NEVER_LAGGED), UNDECIDED, "nothing"),
    ],
)
def test_of_a_buffer_that_stays_full(known, answer, words):
    judged = judge(*known)
    assert judged.answer == answer
    assert words in judged.proof


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ((), UNDECIDED),
        ((BURSTS_LOG,), BURSTS),
        ((BURSTS_LOG, LAGGED, BUSY_DISK), BURSTS),
        ((NO_LAG_NOW, NEVER_LAGGED), BURSTS),
        ((NO_LAG_NOW,), UNDECIDED),  # a first look
        ((NO_LAG_NOW, LAGGED_A_LITTLE), UNDECIDED),
        ((NO_LAG_NOW, LAGGED), DISK),
        ((FLAT, SATURATED), UNDECIDED),  # it does empty
    ],
)
def test_of_a_buffer_with_a_peak(known, answer):
    assert judge(*known, stays_full=False).answer == answer


def test_what_cannot_be_told_is_to_be_looked_at():
    assert judge().advice == (
        "run iostat -kx 1 on the host of node 3 while it lasts, or give its log with --log"
    )
    assert judge(QUIET_LOG).advice == "run iostat -kx 1 on the host of node 3 while it lasts"


def test_a_larger_buffer_is_advised_for_bursts_only():
    assert judge(LAGS).advice.startswith("a larger RedoBuffer will not help: spread over more data nodes")
    assert judge(BURSTS_LOG, stays_full=False).advice == "increase RedoBuffer (rolling restart)"
    assert "RedoBuffer" not in judge(SATURATED).advice + judge().advice
