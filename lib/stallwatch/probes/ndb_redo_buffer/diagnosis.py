"""Which redo buffers are too full, and which is it then, a small buffer or a slow disk?

Only what stays full is CRITICAL: a buffer that is above the limits of `redo_buffer` in all samples of a run.
One that is above them in some has a peak, and of a single sample nobody knows which it is: both are readings
that are not confirmed, a WARNING at most. The evidence is in the order of its weight; nothing is guessed.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stallwatch.probes.ndb_redo_buffer.hosts import Busy, Heard
    from stallwatch.probes.ndb_redo_buffer.queries import Lag, Thread, Writing
    from stallwatch.probes.ndb_redo_buffer.samples import Samples, Use

    Alerts = Callable[..., bool]  # whether a threshold of a quantity alerts on a value: `Run.alerts`

REDO_BUFFER = "redo_buffer"  # the quantity that is judged
DISK = "the disk is too slow"
BURSTS = "short bursts"
PROCESSOR = "the processor cannot keep up"
UNDECIDED = "a small buffer or a slow disk"
_PROBABLY = {DISK: "probably a slow disk", UNDECIDED: f"probably {UNDECIDED}"}

_LAGS = 1 / 30  # of the time: 10 s in 5 min
_A_WHILE = 60.0  # seconds: what has not happened for less than that proves nothing

# The next step, and a line below.
_ADVICE = {
    DISK: (
        "use a faster disk",
        "a larger RedoBuffer will not help, different disks for redo and LCP or more data nodes will",
    ),
    BURSTS: ("increase RedoBuffer", "that takes a rolling restart"),
    PROCESSOR: (
        "add threads (NumCPUs)",
        "also AutomaticThreadConfig or ThreadConfig (rolling restart), or more data nodes",
    ),
}


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
    heard: Heard | None = None  # from its log
    right_now: Lag | None = None  # after the samples
    lately: Lag | None = None  # since the last run
    busy: Busy | None = None  # its disk
    writing: Writing | None = None
    threads: Sequence[Thread] = ()  # the busiest of each kind, the busiest first


class Diagnosis(NamedTuple):
    """Which it is, why we think so, and what to do."""

    answer: str  # one of DISK, BURSTS, PROCESSOR, UNDECIDED
    proof: str  # in a few words; "": there is none
    advice: str
    more: tuple[str, ...] = ()  # lines below
    certain: bool = True

    @property
    def cause(self) -> str:
        """The answer, with "probably" where that is not certain."""
        return self.answer if self.certain else _PROBABLY[self.answer]

    @property
    def why(self) -> str:
        """The cause with its proof."""
        return f"{self.cause}: {self.proof}" if self.proof else self.cause


def diagnose(evidence: Evidence) -> Diagnosis:
    """Return which it is."""
    for answer, proves in _RULES:
        if proof := proves(evidence):
            advice, below = _ADVICE[answer]
            more = (*_in_detail(evidence), *_beside(answer, evidence), below)
            other_disk = proves is _disk_is_busy and evidence.busy and not evidence.busy.is_only
            certain = proves is not _rate_is_flat and not other_disk
            return Diagnosis(answer, proof, advice, more, certain=certain)
    how = "" if evidence.heard else ", or name the log of the node with --log"
    more = (*_beside(UNDECIDED, evidence), f"no evidence which of the two: look while it lasts{how}")
    return Diagnosis(UNDECIDED, "", "run iostat -kx 1 on its host", more, certain=False)


def _log_tells_of_disk(evidence: Evidence) -> str:
    return evidence.heard.in_short if evidence.heard and evidence.heard.blames_disk else ""


def _lags_now(evidence: Evidence) -> str:
    return "redo writes lag" if evidence.right_now and evidence.right_now.seconds else ""


def _log_tells_of_bursts(evidence: Evidence) -> str:
    """Believe the log, in which a disk that lagged would show; not of a buffer that is full right now."""
    heard = evidence.heard
    bursts = heard and heard.blames_disk is False and not evidence.stays_full
    return heard.in_short if heard and bursts else ""


def _lagged_lately(evidence: Evidence) -> str:
    lately = evidence.lately
    if not lately or lately.seconds < max(1, _LAGS * lately.of):
        return ""
    return f"redo lagged {say_duration(round(lately.seconds))} of {say_duration(lately.of)}"


def _disk_is_busy(evidence: Evidence) -> str:
    return evidence.busy.trouble if evidence.busy else ""


def _thread_is_saturated(evidence: Evidence) -> str:
    """Find a thread that has to empty the buffer and has no time for it; others need not."""
    writer = next((one for one in evidence.threads if one.writes_redo), None)
    if not evidence.stays_full or not writer or not writer.is_saturated:
        return ""
    return f"{writer.name} thread {writer.works:.0f} % busy"


def _rate_is_flat(evidence: Evidence) -> str:
    """Find a buffer that stays full while it is emptied at one rate: as fast as that goes."""
    writing = evidence.writing
    if not evidence.stays_full or not writing or not writing.is_flat:
        return ""
    return f"redo stays at {say_size(writing.lately)}/s"


def _drains(evidence: Evidence) -> str:
    """Find a buffer that was seen to be emptied, of a node whose redo writes are known not to lag."""
    lately = evidence.lately
    if evidence.stays_full is not False or not lately or lately.of < _A_WHILE or lately.seconds:
        return ""
    return f"no redo write lagged in {say_duration(lately.of)}"


_RULES = (
    (DISK, _log_tells_of_disk),
    (DISK, _lags_now),
    (BURSTS, _log_tells_of_bursts),
    (DISK, _lagged_lately),
    (DISK, _disk_is_busy),
    (PROCESSOR, _thread_is_saturated),
    (DISK, _rate_is_flat),
    (BURSTS, _drains),
)


def _in_detail(evidence: Evidence) -> Iterator[str]:
    """Write all evidence of the disk and the buffer, whichever of it has decided."""
    node, heard, writing = evidence.node, evidence.heard, evidence.writing
    if heard and heard.blames_disk is not None:
        yield f"log of node {node}: {heard.said}"
    if _lags_now(evidence):
        yield f"redo writes of node {node} lag now (slowdowns_due_to_io_lag grows)"
    if lagged := _lagged_lately(evidence):
        yield f"node {node}: {lagged} (slowdowns_due_to_io_lag)"
    if busy := _disk_is_busy(evidence):
        yield f"disk of node {node}: {busy}"
    if evidence.busy and (pressure := evidence.busy.pressure):
        yield pressure
    if writing and _rate_is_flat(evidence):
        yield f"node {node} writes redo at {say_size(writing.lately)}/s, and has done so for a minute"
    if _drains(evidence):
        yield "the buffer empties between the samples"


def _beside(answer: str, evidence: Evidence) -> Iterator[str]:
    if evidence.threads and answer != PROCESSOR:
        busiest = evidence.threads[0]
        maybe = "maybe the processor, too" if busiest.is_saturated else "not the processor"
        whose = f"the busiest thread of node {evidence.node}, {busiest.name},"
        yield f"{maybe}: {whose} works {busiest.works:.0f} % of the time"
