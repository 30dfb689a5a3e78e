"""Which redo buffers are too full, and which is it then, a small buffer or a slow disk?

Only what stays full is CRITICAL: a buffer that is above the limits of `redo_buffer` in all samples of a run.
One that is above them in some has a peak, and of a single sample nobody knows which it is: both are readings
that are not confirmed, a WARNING at most. The evidence is in the order of its weight; nothing is guessed.
"""

from __future__ import annotations

from stallwatch.causes import Certainty, Kind, Rule, judged
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from stallwatch.causes import Cause, Subject
    from stallwatch.probes.ndb_redo_buffer.hosts import Busy, Heard
    from stallwatch.probes.ndb_redo_buffer.queries import Lag, Thread, Writing
    from stallwatch.probes.ndb_redo_buffer.samples import Samples, Use

    Proof = Mapping[str, Any] | None  # parameters of the words; None: the rule does not apply
    Alerts = Callable[..., bool]  # whether a threshold of a quantity alerts on a value: `Run.alerts`

REDO_BUFFER = "redo_buffer"  # the quantity that is judged
_LAGS = 1 / 30  # of the time: 10 s in 5 min
FULL = 95.0  # per cent; the last page or two are often not used before operations wait
_A_WHILE = 60.0  # seconds: what has not happened for less than that proves nothing


class TooFull(NamedTuple):
    """The redo buffers of one run that are too full, the fullest first."""

    confirmed: bool  # there is more than one sample
    steady: tuple[Use, ...]  # in all samples
    peaks: tuple[Use, ...]  # in some, of nodes that have no steady one

    def worst(self) -> list[Use]:
        """Return the worst buffer of each data node that has one, worst first."""
        found: dict[int, Use] = {}
        for use in (*self.steady, *self.peaks):
            found.setdefault(use.part.node, use)
        return list(found.values())

    def is_still(self, node: int) -> bool:
        """Whether a full buffer of this node had the same content in all of several samples."""
        return self.confirmed and any(
            use.part.node == node and use.smallest == use.largest >= FULL for use in self.steady
        )

    def stays_full(self, node: int) -> bool | None:
        """Whether a buffer of this node does; None: there is only one sample."""
        return any(use.part.node == node for use in self.steady) if self.confirmed else None


NOTHING = TooFull(confirmed=False, steady=(), peaks=())


def find_too_full(samples: Samples, alerts: Alerts) -> TooFull:
    """Find the buffers that are too full."""
    steady = [use for use in samples.uses if alerts(REDO_BUFFER, use.smallest)]
    nodes = {use.part.node for use in steady}
    peaks = [
        use
        for use in sorted(samples.uses, key=lambda use: -use.largest)
        if use.part.node not in nodes and alerts(REDO_BUFFER, use.largest)
    ]
    return TooFull(samples.taken > 1, tuple(steady), tuple(peaks))


class Evidence(NamedTuple):
    """What is known of one data node whose redo buffers fill."""

    node: int
    stays_full: bool | None = False  # a buffer, in all samples; None: there was one sample only
    still_for: float = 0.0  # seconds of samples in which a full buffer did not change at all
    heard: Heard | None = None  # from its log
    right_now: Lag | None = None  # after the samples
    lately: Lag | None = None  # since the last run
    busy: Busy | None = None  # its disk
    writing: Writing | None = None
    threads: Sequence[Thread] = ()  # the busiest of each kind, the busiest first


def _log_shows_lag(evidence: Evidence) -> Proof:
    heard = evidence.heard
    return {"heard": heard} if heard and heard.blames_disk else None


def _redo_lags(evidence: Evidence) -> Proof:
    return {} if evidence.right_now and evidence.right_now.seconds else None


def _log_shows_bursts(evidence: Evidence) -> Proof:
    """Believe the log, in which a disk that lagged would show; not of a buffer that is full right now."""
    heard = evidence.heard
    return {"heard": heard} if heard and heard.blames_disk is False and not evidence.stays_full else None


def _redo_lagged(evidence: Evidence) -> Proof:
    lately = evidence.lately
    return {"lag": lately} if lately and lately.seconds >= max(1, _LAGS * lately.of) else None


def _disk_is_busy(evidence: Evidence) -> Proof:
    busy = evidence.busy
    return {"busy": busy} if busy and busy.is_slow and busy.is_only else None


def _one_of_its_disks_is_busy(evidence: Evidence) -> Proof:
    busy = evidence.busy
    return {"busy": busy} if busy and busy.is_slow else None


def _writer_is_saturated(evidence: Evidence) -> Proof:
    """Find a thread that has to empty the buffer and has no time for it; others need not."""
    writer = next((one for one in evidence.threads if one.writes_redo), None)
    return {"thread": writer} if evidence.stays_full and writer and writer.is_saturated else None


def _rate_is_flat(evidence: Evidence) -> Proof:
    """Find a buffer that stays full while it is emptied at one rate: as fast as that goes."""
    writing = evidence.writing
    return {"rate": writing.lately} if evidence.stays_full and writing and writing.is_flat else None


def _nothing_leaves(evidence: Evidence) -> Proof:
    """Find a full buffer that nothing leaves: bursts come and go, and a thread without time would be busy.

    NDB 9.7.2 whose disk hung (8 KB/s): 100 % in all samples, threads at 1 %, and no lag was counted.
    """
    has_time = bool(evidence.threads) and not any(one.is_saturated for one in evidence.threads)
    return {"seconds": evidence.still_for} if evidence.still_for and has_time else None


def _drains(evidence: Evidence) -> Proof:
    """Find a buffer that was seen to be emptied, of a node whose redo writes are known not to lag."""
    lately = evidence.lately
    if evidence.stays_full is not False or not lately or lately.of < _A_WHILE or lately.seconds:
        return None
    return {"of": lately.of}


# In the order of their weight. What a rule names as evidence has its words in ``messages``.
RULES = (
    Rule(Kind.SLOW_DISK, Certainty.CERTAIN, "log_shows_lag", _log_shows_lag),
    Rule(Kind.SLOW_DISK, Certainty.CERTAIN, "redo_lags", _redo_lags),
    Rule(Kind.REDO_BURSTS, Certainty.CERTAIN, "log_shows_bursts", _log_shows_bursts),
    Rule(Kind.SLOW_DISK, Certainty.CERTAIN, "redo_lagged", _redo_lagged),
    Rule(Kind.SLOW_DISK, Certainty.CERTAIN, "disk_is_busy", _disk_is_busy),
    Rule(Kind.SLOW_DISK, Certainty.LIKELY, "one_of_its_disks_is_busy", _one_of_its_disks_is_busy),
    Rule(Kind.BUSY_THREAD, Certainty.CERTAIN, "writer_is_saturated", _writer_is_saturated),
    Rule(Kind.SLOW_DISK, Certainty.LIKELY, "rate_is_flat", _rate_is_flat),
    Rule(Kind.SLOW_DISK, Certainty.LIKELY, "nothing_leaves", _nothing_leaves),
    Rule(Kind.REDO_BURSTS, Certainty.CERTAIN, "drains", _drains),
)


class Diagnosis(NamedTuple):
    """Which it is, and all that is known."""

    causes: tuple[Cause, ...]  # the strongest first
    evidence: Evidence

    @property
    def cause(self) -> Cause:
        """The one to report."""
        return self.causes[0]

    @property
    def proven(self) -> set[str]:
        """The evidence of all rules that apply, whichever has decided."""
        return {one.evidence for one in self.causes}


def diagnose(evidence: Evidence, subject: Subject) -> Diagnosis:
    """Return which it is, a small buffer or a slow disk."""
    return Diagnosis(judged(RULES, evidence, subject), evidence)
