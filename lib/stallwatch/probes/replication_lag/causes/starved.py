"""R30 to R34: the replica's server gets too little processor time or memory."""

from __future__ import annotations

from stallwatch.probes.replication_lag.causes import threads_and_link
from stallwatch.probes.replication_lag.causes.case import SLOW, Cause, rule
from stallwatch.probes.replication_lag.diagnosis import WORTH_EXPLAINING
from stallwatch.sources.mysql import process_here
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Collection

    from stallwatch.probes.replication_lag.causes.case import Case

_HALF = 50.0  # per cent of the time: without the wait it could do twice as much
_SLOW, _SLOWER = 0.2, 10  # seconds, times as long as usual
_STOLEN = 20.0  # per cent of all processor time
_FAULTS, _STALLED = 50.0, 20.0  # pages per second, per cent of the time
_QUARTER = 25.0  # a wait is counted when it ends, and some are longer than we look


@rule("R16", "R17", "R19", slow=True)
def r30_applier_starved(case: Case) -> Cause | None:
    """Blame the processors that the applier does not get: its own threads wait for one half of the time.

    With 50 transactions/s, an applier that keeps up waits 0 to 4 % of the time, also beside 4 processes that
    want 2 processors. One that waits for a row lock waits 0 %, and one that is throttled to 15 to 40 % of its
    need 42 to 100 % (9.7.2, 10.11.19).
    """
    own = case.os_threads or _os_ids(case, receive=False)
    return _starved(case, own, case.subject, throttled=77, beside_others=63)


@rule(SLOW, "R8")
def r31_receiver_starved(case: Case) -> Cause | None:
    """Blame them for what R8 blames the link for: a slow link makes a receiver sleep, not wait."""
    if not threads_and_link.r8_receiver_bound(case):
        return None
    receivers = _os_ids(case, receive=True)
    own = receivers if len(receivers) == 1 else set[int]()  # else nothing shows which is the channel's
    return _starved(case, own, "the receiver", throttled=85, beside_others=85)


@rule(slow=True)
def r32_slow_to_answer(case: Case) -> Cause | None:
    """Suspect the host of a replica elsewhere: a log-in takes far longer than usual.

    Throttled to 40 % of its need a 9.7.2 takes 140 to 920 ms instead of 6 to 40. The network is not to blame
    where its own round trip, in which no process takes part, is short. A name server or directory that the
    server asks may be.
    """
    found = case.signals.answers
    if not found or not _lags(case) or not found.network:
        return None
    if found.now < max(_SLOW, _SLOWER * found.usual) or found.network > found.now / 10:
        return None
    took, usual = say_duration(found.now), say_duration(found.usual)
    what = f"the host is probably starved: a log-in takes {took} instead of {usual}"
    return Cause(52, what, "check its load, CPU limit, steal and swap")


@rule(slow=True)
def r33_stolen(case: Case) -> Cause | None:
    """Suspect the hypervisor, where the applier wants a processor for at least half of the time.

    The guest counts stolen time as time in which its threads ran, or waited. (A proposal: not measured.)
    """
    host = case.signals.host
    if not host.hunger or not _lags(case) or host.hunger.stolen < _STOLEN:
        return None
    wants = (host.busy_threads.get(one, 0.0) + host.hunger.waits.get(one, 0.0) for one in case.os_threads)
    if max(wants, default=0.0) < _HALF:
        return None
    what = f"the host is probably starved: {host.hunger.stolen:.0f} % of its processor time is stolen (steal)"
    return Cause(66, what, "give the virtual machine more of its host's processors")


@rule(slow=True)
def r34_memory_short(case: Case) -> Cause | None:
    """Suspect memory that is short: the server waits for pages of its own, and tasks of the host for memory.

    Each alone is nothing: a server that has just started reads its program, others may swap. Of a program
    that reads 64 MB at random where it may have 24 MB, these were 190 pages/s and 9 to 20 % of the time; of
    servers that have their memory, 0 pages/s and 0 to 4 %.
    """
    hunger = case.signals.host.hunger
    if not hunger or not _lags(case) or hunger.faults < _FAULTS or hunger.memory < _STALLED:
        return None
    what = f"mysqld is probably swapping: it waits for {hunger.faults:.0f} pages/s from disk (major faults)"
    return Cause(66, what, "see with vmstat 1 and free who takes the memory")


def _lags(case: Case) -> bool:
    lag = case.lag
    return lag.seconds is None or max(lag.seconds, lag.low) >= WORTH_EXPLAINING


def _os_ids(case: Case, *, receive: bool) -> set[int]:
    return {one.os_id for one in case.signals.threads if one.os_id and one.receives == receive}


def _starved(
    case: Case, threads: Collection[int], who: str, throttled: float, beside_others: float
) -> Cause | None:
    hunger = case.signals.host.hunger
    if not hunger or not _lags(case):
        return None
    waits = max((share for one, share in hunger.waits.items() if one in threads), default=None)
    if hunger.exhausted >= _HALF and (waits is None or waits >= _QUARTER):
        more = f"its control group has used up the limit in {hunger.exhausted:.0f} % of the periods"
        if waits is None:
            return Cause(throttled, process_here.said(hunger.exhausted), process_here.RAISE)
        what = f"mysqld is throttled by its CPU limit ({who} waits {waits:.0f} % of the time)"
        return Cause(throttled, what, process_here.RAISE, more=(more,))
    if waits is None or waits < _HALF:
        return None
    what = f"{who} is starved: it waits for a processor {waits:.0f} % of the time"
    return Cause(beside_others, what, "see with top who uses the processors")
