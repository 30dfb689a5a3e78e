"""The words and the numbers for redo buffers, redo log and undo log."""

from __future__ import annotations

import time

from stallwatch.causes import Cause, Certainty, Kind
from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import Forms, forms
from stallwatch.probes.ndb_redo_buffer import slow_disk
from stallwatch.probes.ndb_redo_buffer.diagnosis import FULL, REDO_BUFFER
from stallwatch.probes.ndb_redo_buffer.pages import LONG
from stallwatch.probes.ndb_redo_buffer.samples import WATCHED
from stallwatch.probes.ndb_redo_buffer.slow_disk import FILES, KINDS, REDO, UNDO_BUFFER
from stallwatch.probes.ndbinfo.cluster import LABELLED
from stallwatch.probes.ndbinfo.growth import say_full
from stallwatch.probes.ndbinfo.undo_log import UNDO_LOG
from stallwatch.sources.mysql import NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_duration, say_size
from stallwatch.words import listed, plural, worst_first

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.causes import Subject
    from stallwatch.findings import Finding
    from stallwatch.probes.mysql.asking import Refusal
    from stallwatch.probes.ndb_redo_buffer.diagnosis import Alerts, Diagnosis, TooFull
    from stallwatch.probes.ndb_redo_buffer.hosts import Busy, Heard
    from stallwatch.probes.ndb_redo_buffer.queries import Filled, Lag
    from stallwatch.probes.ndb_redo_buffer.samples import Samples, Use
    from stallwatch.probes.ndb_redo_buffer.slow_disk import Waits

    Subjects = Callable[[int], Subject]  # by node
    Diagnoses = Mapping[int, Diagnosis]  # by node
    Bounds = Mapping[int, tuple[float, float] | None]  # by node, seconds until a log is full

_LOOK = Forms("run iostat -kx 1 on its host", "run iostat -kx 1")
_SILENT = (NoAnswerError, UnreachableError)
# What a cause is called, if it is certain and if it is not; the next step; a line below.
_WORDS = {
    Kind.SLOW_DISK: (
        "the disk is too slow",
        "probably a slow disk",
        "use a faster disk",
        "a larger RedoBuffer will not help, different disks for redo and LCP or more data nodes will",
    ),
    Kind.REDO_BURSTS: ("short bursts", "", "increase RedoBuffer", "that takes a rolling restart"),
    Kind.BUSY_THREAD: (
        "the processor cannot keep up",
        "",
        "add threads (NumCPUs)",
        "also AutomaticThreadConfig or ThreadConfig (rolling restart), or more data nodes",
    ),
    Kind.UNKNOWN: (
        "",
        "probably a small buffer or a slow disk",
        _LOOK,
        "no evidence which of the two: look while it lasts",
    ),
}
# What has decided, in a few words.
_PROOFS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "log_shows_lag": lambda of: _by_log(of["heard"]),
    "redo_lags": lambda _: "redo writes lag",
    "log_shows_bursts": lambda of: _by_log(of["heard"]),
    "redo_lagged": lambda of: f"redo lagged {_of_time(of['lag'])}",
    "disk_is_busy": lambda of: _disk(of["busy"]),
    "one_of_its_disks_is_busy": lambda of: _disk(of["busy"]),
    "writer_is_saturated": lambda of: f"{of['thread'].name} thread {of['thread'].works:.0f} % busy",
    "rate_is_flat": lambda of: f"redo stays at {say_size(of['rate'])}/s",
    "nothing_leaves": lambda of: f"nothing left the buffer in {say_duration(round(of['seconds'], 1))}",
    "drains": lambda of: f"no redo write lagged in {say_duration(of['of'])}",
}
_PAGES = {"page_reads": "page reads", "page_writes": "page writes", "log_waits": "undo log waits"}
_IN_TABLE = 40  # the fullest buffers
_UNLESS = ", unless a checkpoint completes first"
_CLIENTS = "clients get time-outs (266, MySQL's 1205), or 1221 with DefaultOperationRedoProblemAction=abort"
# What it is, what happens when it is full, the cause, the next step, what else helps; all causes are likely.
_SPACES = {
    "redo_space": (
        "redo log",
        "when it is full, writes fail with error 410",
        "checkpoints probably do not keep up",
        "raise MaxDiskWriteSpeed",
        "a faster disk or a higher NoOfFragmentLogFiles (initial restarts) helps, too",
    ),
    "undo_space": UNDO_LOG,
    "undo_buffer": (
        "undo buffer of disk tables",
        "when it is full, writes to them wait for the disk of the undo log",
        "probably a slow disk",
        _LOOK,
        "log_waits in ndbinfo.diskpagebuffer counts these waits",
    ),
}


def why(cause: Cause) -> str:
    """Return the words of a cause, with what has decided."""
    proof = _PROOFS[cause.evidence](cause.parameters) if cause.evidence else ""
    called = _called(cause)
    return Forms(f"{called}: {proof}", called) if proof else called


def _called(cause: Cause) -> str:
    certain, likely, *_ = _WORDS[cause.kind]
    return certain if cause.certainty is Certainty.CERTAIN else likely


def advice(cause: Cause) -> str:
    """Return the next step."""
    return _WORDS[cause.kind][2]


def below(diagnosis: Diagnosis) -> Iterator[str]:
    """Write all evidence of the disk and the buffer, whichever of it has decided, and what else helps."""
    cause, evidence = diagnosis.cause, diagnosis.evidence
    if cause.kind is not Kind.UNKNOWN:
        yield from _in_detail(diagnosis)
    if evidence.threads and cause.kind is not Kind.BUSY_THREAD:
        busiest = evidence.threads[0]
        maybe = "maybe the processor, too" if busiest.is_saturated else "not the processor"
        whose = f"the busiest thread of node {evidence.node}, {busiest.name},"
        yield f"{maybe}: {whose} works {busiest.works:.0f} % of the time"
    how = ", or name the log of the node with --log"
    yield _WORDS[cause.kind][3] + how * (cause.kind is Kind.UNKNOWN and not evidence.heard)


def _in_detail(diagnosis: Diagnosis) -> Iterator[str]:
    evidence, proven = diagnosis.evidence, diagnosis.proven
    node, heard = evidence.node, evidence.heard
    if heard and heard.blames_disk is not None:
        yield f"log: {heard.worst.what}"
    if "redo_lags" in proven:
        yield f"redo writes of node {node} lag now (slowdowns_due_to_io_lag grows)"
    if evidence.lately and "redo_lagged" in proven:
        yield f"node {node}: redo lagged {_of_time(evidence.lately)} (slowdowns_due_to_io_lag)"
    if evidence.busy:
        yield from _of_disk(evidence.busy, f"disk of node {node}: ")
    if evidence.writing and "rate_is_flat" in proven:
        rate = say_size(evidence.writing.lately)
        yield f"node {node} writes redo at {rate}/s, and has done so for a minute"
    if "drains" in proven:
        yield "the buffer empties between the samples"


def _by_log(heard: Heard) -> str:
    """Write the lag that a log shows; a disk may be blamed by a log that shows how long buffers were full."""
    if heard.lag.value:
        return f"its log shows {say_duration(heard.lag.value)} lag"
    return f"full for {say_duration(heard.full.value or 0)} by its log"


def _disk(busy: Busy) -> str:
    if busy.is_busy:
        return f"{busy.disk} is {busy.percent:.1f} % busy"
    return f"{busy.disk} takes {say_duration(busy.wait)} per request"


def _of_disk(busy: Busy, of: str = "") -> Iterator[str]:
    """Write that a disk is slow, and for which share of the time tasks of its host waited for disks."""
    if busy.is_slow:
        yield f"{of}{_disk(busy)}"
    if busy.is_waited_for:
        yield f"tasks of its host waited for disks {busy.stalled:.0f} % of the time (/proc/pressure/io)"


def _of_time(lag: Lag) -> str:
    return f"{say_duration(round(lag.seconds))} of {say_duration(round(lag.of))}"


class Buffers(NamedTuple):
    """What is shown of the redo buffers of one run."""

    samples: Samples
    too_full: TooFull
    diagnoses: Diagnoses
    filled: Filled  # of all buffers, where not all are watched
    alerts: Alerts

    def findings(self, nodes: int) -> Iterator[Finding]:
        """Return how full the fullest one stayed, then what else is too full; of so few nodes, of each."""
        fullest, peak = self.samples.fullest, self.samples.peak
        table = _table(self.samples.uses)
        if fullest is None:
            what = "redo buffers: none was seen in all samples, data nodes came and went meanwhile"
            yield Reading(REDO_BUFFER, None, "%", what, table=table)
        else:
            yield self._stayed(fullest)._replace(label=REDO_BUFFER, table=table)
        yield self._peaked(peak)._replace(label="redo_buffer_peak", in_table=True)
        yield from self._not_said_yet()
        if nodes <= LABELLED:
            yield from self._by_node()

    def _not_said_yet(self) -> Iterator[Reading]:
        """Return what is too full besides the fullest: the first peak, and each other cause."""
        fullest = self.samples.fullest
        said = set()
        for use in self.too_full.worst():
            diagnosis = self.diagnoses.get(use.part.node)
            kind = diagnosis.cause.kind if diagnosis else None
            news = diagnosis is not None and kind not in said
            said.add(kind)
            steady, peaks = self.too_full.steady, self.too_full.peaks
            if use in peaks and (news or use is peaks[0]):
                yield self._peaked(use)
            elif use in steady and use is not fullest and (news or use is steady[0]):
                yield self._stayed(use)

    def _by_node(self) -> Iterator[Reading]:
        fullest = {use.part.node: use for use in reversed(self.samples.uses) if use.smallest is not None}
        for node, use in sorted(fullest.items()):
            yield self._stayed(use)._replace(label=f"node{node}_redo_buffer", in_table=True)

    def _stayed(self, use: Use) -> Reading:
        return self._said(use, use.smallest, self.too_full.steady, confirmed=self.too_full.confirmed)

    def _peaked(self, use: Use) -> Reading:
        return self._said(use, use.largest, self.too_full.peaks, confirmed=False)

    def _said(self, use: Use, value: float | None, alike: Sequence[Use], *, confirmed: bool) -> Reading:
        """Write it of one buffer; of the first of those that are too full, how many are ``alike``."""
        part = use.part.log_id if self._numbered_by_id else use.part.log_part
        where = f"redo buffer of node {use.part.node} part {part}"
        seen = f"{_between(use)} full ({_when(self.samples)})"
        said = Reading(REDO_BUFFER, value, "%", f"{where} {seen}", label="", confirmed=confirmed)
        diagnosis = self.diagnoses.get(use.part.node)
        if not self.alerts(REDO_BUFFER, value):
            return said
        clients = (_CLIENTS,) if use.largest >= FULL else ()
        others = self._all(alike) if use in alike[:1] else ()
        more = (seen, *others, *clients, *(below(diagnosis) if diagnosis else ()))
        upto = "" if value == use.smallest else "up to "
        what = f"{where} {upto}{_say(value or 0.0)} % full"
        said = said._replace(what=what, line=Line(more=more))
        return explained(said, diagnosis.cause, why(diagnosis.cause)) if diagnosis else said

    def _all(self, alike: Sequence[Use]) -> tuple[str, ...]:
        """Count those that are too full; where not all are watched, the nodes are counted."""
        if len(alike) <= 1:
            return ()
        nodes = {use.part.node for use in alike}
        unseen = len(alike) >= WATCHED and len(self.samples.uses) != self.filled.redo_parts
        if unseen:
            filled = self.filled.redo.items()
            nodes |= {node for node, used in filled if self.alerts(REDO_BUFFER, used)}
        of = f"{len(nodes)} nodes" if len(nodes) > 1 else "this node"
        return (f"{'at least ' * unseen}{len(alike)} redo buffers of {of} are too full",)

    @property
    def _numbered_by_id(self) -> bool:
        return self.filled.numbered_by_id or any(use.part.log_id for use in self.samples.uses)


def heard(logs: Sequence[Heard], diagnoses: Diagnoses) -> Iterator[Finding]:
    """Yield what the nodes' logs show: of each quantity the worst, which alone is in the perfdata, first."""
    for one in logs:
        yield from one.problems
    for quantity in ("full", "lag"):
        found = (_by_all(getattr(one, quantity), diagnoses.get(one.node or 0)) for one in logs)
        worst = worst_first(found, lambda reading: reading.value or 0)
        yield from worst[:1]
        yield from (reading._replace(label="") for reading in worst[1:] if reading.value)


def _by_all(reading: Reading, diagnosis: Diagnosis | None) -> Reading:
    """Answer with all that is known, not with what the log alone shows."""
    if not diagnosis or not reading.value:
        return reading
    return explained(reading, diagnosis.cause, _called(diagnosis.cause))


def explained(reading: Reading, cause: Cause, why: str) -> Reading:
    """Return a reading with its cause, in words and as data."""
    return reading._replace(why=why, advice=advice(cause), cause=cause)


def disks(
    waits: Mapping[int, Waits], lasts: Mapping[str, set[int]], subjects: Subjects, alerts: Alerts
) -> Iterator[Reading]:
    """Write each quantity of its worst node, in words the first that alerts: all are one incident."""
    slow = {node: found for node, one in waits.items() if (found := one.slow(alerts))}
    critical = any(lasts.get(name, set()) & slow.keys() for name in FILES)
    said = False
    for name in FILES:
        known = {node: percent for node, one in waits.items() if (percent := one.percent(name)) is not None}
        if not known:
            continue
        node = max(known, key=lambda one: known[one])
        confirmed = node in lasts.get(name, ())
        reading = Reading(name, known[node], "%", _waited(waits[node], name), confirmed=confirmed)
        if said or not alerts(name, known[node]):
            yield reading._replace(in_table=True)
            continue
        said = True
        cause = slow_disk.cause(waits[node], slow[node], subjects(node))
        others = tuple(line for other in slow if other != node for line in _measured(waits[other]))
        more = (*_measured(waits[node]), *others)
        why, step = _called(cause), advice(cause)
        if cause.certainty is Certainty.CERTAIN:
            files = listed([FILES[one] for one in cause.parameters["files"]])
            why = Forms(f"{why} for {files}", *forms(why))
        else:
            more = (*more, "no other evidence of the disk: look at the processors of its host, too")
            step = _LOOK
        state = State.CRITICAL if critical else State.OK
        yield reading._replace(why=why, advice=step, line=Line(more=more), state=state, cause=cause)


def _waited(one: Waits, quantity: str) -> str:
    percent = one.percent(quantity) or 0
    if quantity == REDO or not one.pages:
        return f"redo writes of node {one.node} lagged {percent:g} % of the time"
    kind, _ = one.pages.long(*KINDS[quantity]) or ("", None)
    until = time.strftime(" until %H:%M", time.localtime(one.pages.until)) if one.pages.until else ""
    return f"node {one.node}: {percent:g} % of {_PAGES[kind]} took over {LONG:g} s{until}"


def _measured(one: Waits) -> Iterator[str]:
    """Write all that was measured of a node's disks."""
    if one.pages:
        counts = [f"{of.longer:.0f} of {of.of:.0f} {_PAGES[kind]}" for kind, of in one.pages.kinds.items()]
        since = ", nothing was read or written since" if one.pages.until else ""
        span = say_duration(round(one.pages.seconds))
        yield f"node {one.node}: {listed(counts)} took over {LONG:g} s in {span}{since}"
    if one.lag and one.lag.seconds:
        yield f"node {one.node}: redo writes lagged {_of_time(one.lag)} (slowdowns_due_to_io_lag)"
    if one.busy:
        yield from _of_disk(one.busy)


def log_space(
    name: str,
    used: dict[int, float],
    lasting: Container[int],
    bounds: Bounds,
    subjects: Subjects,
    alerts: Alerts,
) -> Iterator[Reading]:
    """Yield how full the fullest is, and of those that are critical for longer, the fullest: it counts."""
    fullest = space(name, used, bounds, subjects, alerts)
    certain = {node: share for node, share in used.items() if node in lasting}
    if max(certain.values(), default=None) == fullest.value:
        yield fullest
        return
    if alerts(name, fullest.value, State.CRITICAL):
        line = fullest.line or Line()
        line = line._replace(more=("seen in one run so far", *line.more))
        fullest = fullest._replace(confirmed=False, line=line)
    yield fullest
    if certain:
        yield space(name, certain, bounds, subjects, alerts)._replace(label="")


def space(name: str, used: dict[int, float], bounds: Bounds, subjects: Subjects, alerts: Alerts) -> Reading:
    """Return how full the fullest is, within which bound it will be full, and how many more are too full."""
    what, full, why, advice, helps = _SPACES[name]
    node = max(used, key=lambda one: used[one])
    fullest = f"{what} of node {node} {_say(used[node])} % full"
    said = Reading(name, used[node], "%", fullest, full, label=name)
    alerting = sum(alerts(name, share) for share in used.values())
    bound = bounds.get(node)
    soon = f", {say_full(bound)}" if bound else ""
    if not alerts(name, used[node]):
        return said._replace(what=f"{fullest}{soon}{_UNLESS if soon else ''}")
    unless = (f"at the pace so far{_UNLESS}",) if soon else ()
    others = (f"{plural(alerting, 'node')} above the limit",) if alerting > 1 else ()
    kind = Kind.SLOW_DISK if name == UNDO_BUFFER else Kind.CHECKPOINTS_BEHIND
    cause = Cause(kind, subjects(node), Certainty.LIKELY)
    line = Line(soon, (*unless, *others, full, helps))
    return said._replace(why=why, advice=advice, line=line, cause=cause)


def _between(use: Use) -> str:
    largest = f"{_say(use.largest)} %"
    if use.smallest is None:
        return f"up to {largest}"
    smallest = f"{_say(use.smallest)} %"
    return smallest if smallest == largest else f"{_say(use.smallest)} to {largest}"


def _when(samples: Samples) -> str:
    if samples.taken < samples.wanted:
        why = "the next one failed" if samples.failed else "time was short"
        return f"{samples.taken} of {samples.wanted} samples, {why}"
    return f"{samples.taken} samples in {say_duration(round(samples.seconds, 1))}"


def _table(uses: Iterable[Use]) -> Table:
    """Show the fullest, by node and log part, as ndbinfo.logbuffers does."""
    rows = ((*use.part, use.total, use.smallest, use.largest) for use in sorted(list(uses)[:_IN_TABLE]))
    return Table(("node_id", "log_id", "log_part", "total", "smallest", "largest"), tuple(rows))


def _say(percent: float) -> str:
    return f"{round(percent, 1):.10g}"


def not_found_out(refused: Iterable[Refusal]) -> Iterator[ProbeError]:
    """Write why the verdict is UNKNOWN: a server or a data node that hangs is never OK."""
    for one in refused:
        if one.evidence and one.asked and isinstance(one.error, _SILENT):
            yield ProbeError(f"not known is {one.about}: {one.error.what}", one.error.advice)
        elif not one.evidence and one.asked:
            yield one.error
        elif not (one.evidence or one.error.ends_connection):
            yield ProbeError(f"not looked at, as {one.error.what}: {one.about}", one.error.advice)


def left_out(refused: Iterable[Refusal], *, everything: bool) -> Iterator[Fault]:
    """Write which evidence was not looked at, and with ``everything`` what else of it is missing."""
    not_asked = [one for one in refused if not one.asked and (one.evidence or one.error.ends_connection)]
    if not_asked:
        why = "after that" if not_asked[-1].error.ends_connection else "as time was short"
        yield Fault(State.OK, f"not looked at, {why}: {'; '.join(one.about for one in not_asked)}")
    for one in refused if everything else ():
        if one.evidence and one.asked and not isinstance(one.error, _SILENT):
            lacking, unknown = f"this version does not show {one.about}", f"not known is {one.about}"
            yield Fault(State.OK, lacking if one.of_version else f"{unknown}: {one.error.what}")
