"""The words and the numbers for redo buffers, redo log and undo log."""

from __future__ import annotations

from stallwatch.findings import Line, Reading, State
from stallwatch.probes.ndb_redo_buffer.diagnosis import REDO_BUFFER
from stallwatch.probes.ndb_redo_buffer.samples import WATCHED
from stallwatch.probes.ndbinfo.cluster import LABELLED
from stallwatch.probes.ndbinfo.growth import say_full
from stallwatch.probes.ndbinfo.undo_log import UNDO_LOG
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import plural, worst_first

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_redo_buffer.diagnosis import Alerts, Diagnosis, TooFull
    from stallwatch.probes.ndb_redo_buffer.hosts import Heard
    from stallwatch.probes.ndb_redo_buffer.queries import Filled
    from stallwatch.probes.ndb_redo_buffer.samples import Samples, Use

    Diagnoses = Mapping[int, Diagnosis]  # by node
    Bounds = Mapping[int, tuple[float, float] | None]  # by node, seconds until a log is full

_IN_TABLE = 40  # the fullest buffers
_UNLESS = ", unless a checkpoint completes first"
_FULL = 95.0  # per cent; the last page or two are often not used before operations wait
_CLIENTS = "clients get time-outs (266, MySQL's 1205), or 1221 with DefaultOperationRedoProblemAction=abort"
# What it is, what happens when it is full, the cause, the next step, what else helps.
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
        "run iostat -kx 1 on its host",
        "log_waits in ndbinfo.diskpagebuffer counts these waits",
    ),
}


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
            news = diagnosis is not None and diagnosis.answer not in said
            said.add(diagnosis.answer if diagnosis else None)
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
        clients = (_CLIENTS,) if use.largest >= _FULL else ()
        others = self._all(alike) if use in alike[:1] else ()
        more = (seen, *others, *clients, *(diagnosis.more if diagnosis else ()))
        upto = "" if value == use.smallest else "up to "
        what = f"{where} {upto}{_say(value or 0.0)} % full"
        said = said._replace(what=what, line=Line(more=more))
        return said._replace(why=diagnosis.why, advice=diagnosis.advice) if diagnosis else said

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
        explained = (_explained(getattr(one, quantity), diagnoses.get(one.node or 0)) for one in logs)
        worst = worst_first(explained, lambda reading: reading.value or 0)
        yield from worst[:1]
        yield from (reading._replace(label="") for reading in worst[1:] if reading.value)


def _explained(reading: Reading, diagnosis: Diagnosis | None) -> Reading:
    """Answer with all that is known, not with what the log alone shows."""
    if not diagnosis or not reading.value:
        return reading
    return reading._replace(why=diagnosis.cause, advice=diagnosis.advice)


def log_space(
    name: str, used: dict[int, float], lasting: Container[int], bounds: Bounds, alerts: Alerts
) -> Iterator[Reading]:
    """Yield how full the fullest is, and of those that are critical for longer, the fullest: it counts."""
    fullest = space(name, used, bounds, alerts)
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
        yield space(name, certain, bounds, alerts)._replace(label="")


def space(name: str, used: dict[int, float], bounds: Bounds, alerts: Alerts) -> Reading:
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
    return said._replace(why=why, advice=advice, line=Line(soon, (*unless, *others, full, helps)))


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
