"""What is said of redo buffers, redo log and undo log, and in which order."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.ndb_redo_buffer.judging import REDO_BUFFER
from stallwatch.probes.ndb_redo_buffer.use import WATCHED
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_redo_buffer.judging import IsProblem, Judged
    from stallwatch.probes.ndb_redo_buffer.log import Heard
    from stallwatch.probes.ndb_redo_buffer.space import Filled
    from stallwatch.probes.ndb_redo_buffer.use import Samples, Use
    from stallwatch.probes.ndb_redo_buffer.verdict import Verdict

    Verdicts = dict[int, Verdict]  # by node

_IN_TABLE = 40  # the fullest buffers
_FULL = 95.0  # per cent; the last page or two are often not used before operations wait
_CLIENTS = "clients get time-outs (266, MySQL's 1205), or 1221 with DefaultOperationRedoProblemAction=abort"
_SPACES = {
    "redo_space": (
        "redo log",
        "when it is full, writes fail with error 410",
        "checkpoints do not keep up: faster disk, MaxDiskWriteSpeed; NoOfFragmentLogFiles (initial restarts)",
    ),
    "undo_space": (
        "undo log of disk tables",
        "when it is full, writes to them fail with error 1501",
        "checkpoints do not keep up: ALTER LOGFILE GROUP ... ADD UNDOFILE; faster disk",
    ),
    "undo_buffer": (
        "undo buffer of disk tables",
        "when it is full, writes to them wait for the disk of the undo log",
        "look at log_waits in ndbinfo.diskpagebuffer, and with iostat -kx 1 at the disk of the undo files",
    ),
}


class Buffers(NamedTuple):
    """What is said of the redo buffers of one run."""

    samples: Samples
    judged: Judged
    verdicts: Verdicts
    filled: Filled  # of all buffers, where not all are watched
    is_problem: IsProblem

    def findings(self, *, by_node: bool) -> Iterator[Finding]:
        """Say how full the fullest one stayed, then what else is too full; with the numbers of each node."""
        fullest, peak = self.samples.fullest, self.samples.peak
        table = _table(self.samples.uses)
        if fullest is None:
            what = "redo buffers: none was seen in all samples, data nodes came and went meanwhile"
            yield Reading(REDO_BUFFER, None, "%", what, table=table)
        else:
            yield self._stayed(fullest)._replace(label=REDO_BUFFER, table=table)
        yield self._peaked(peak)._replace(label="redo_buffer_peak", in_table=True)
        yield from self._not_said_yet()
        if by_node:
            yield from self._by_node()

    def _not_said_yet(self) -> Iterator[Reading]:
        """Say what is too full besides the fullest: the first peak, and each other cause."""
        fullest = self.samples.fullest
        said = set()
        for use in self.judged.worst():
            verdict = self.verdicts.get(use.part.node)
            news = verdict is not None and verdict.answer not in said
            said.add(verdict.answer if verdict else None)
            if use in self.judged.peaks and (news or use is self.judged.peaks[0]):
                yield self._peaked(use)
            elif use in self.judged.steady and use is not fullest and (news or use is self.judged.steady[0]):
                yield self._stayed(use)

    def _by_node(self) -> Iterator[Reading]:
        fullest = {use.part.node: use for use in reversed(self.samples.uses) if use.smallest is not None}
        for node, use in sorted(fullest.items()):
            yield self._stayed(use)._replace(label=f"node{node}_redo_buffer", in_table=True)

    def _stayed(self, use: Use) -> Reading:
        return self._said(use, use.smallest, self.judged.steady, confirmed=self.judged.confirmed)

    def _peaked(self, use: Use) -> Reading:
        return self._said(use, use.largest, self.judged.peaks, confirmed=False)

    def _said(self, use: Use, value: float | None, alike: Sequence[Use], *, confirmed: bool) -> Reading:
        """Say it of one buffer; of the first of those that are too full, how many are ``alike``."""
        part = use.part.log_id if self._numbered_by_id else use.part.log_part
        where = f"redo buffer of node {use.part.node} log part {part}"
        others = self._others(alike) if use in alike[:1] else ""
        what = f"{where} {_between(use)} full ({_when(self.samples)}){others}"
        verdict = self.verdicts.get(use.part.node)
        said = Reading(REDO_BUFFER, value, "%", what, label="", confirmed=confirmed)
        if verdict is None or not self.is_problem(said):
            return said
        why = f"{verdict.why}; {_CLIENTS}" if use.largest >= _FULL else verdict.why
        return said._replace(why=why, advice=verdict.advice)

    def _others(self, alike: Sequence[Use]) -> str:
        """Count the others; where not all are watched, the nodes are counted."""
        if len(alike) <= 1:
            return ""
        nodes = {use.part.node for use in alike}
        unseen = len(alike) >= WATCHED and len(self.samples.uses) != self.filled.redo_parts
        if unseen:
            filled = self.filled.redo.items()
            nodes |= {node for node, used in filled if self.is_problem(Reading(REDO_BUFFER, used))}
        said = f", and {'at least ' * unseen}{len(alike) - 1} more"
        return f"{said} on {len(nodes)} nodes" if len(nodes) > 1 else said

    @property
    def _numbered_by_id(self) -> bool:
        return self.filled.numbered_by_id or any(use.part.log_id for use in self.samples.uses)


def spaces(
    logs: Filled, buffers: Filled, lasting: Mapping[str, Container[int]], is_problem: IsProblem
) -> Iterator[Reading]:
    """Say how full redo log, undo log and undo buffers are; ``lasting`` had so full a log before, by name."""
    for name, used in (("redo_space", logs.redo), ("undo_space", logs.undo)):
        if used:
            yield from _log_space(name, used, lasting.get(name, ()), is_problem)
    if buffers.undo:
        yield _space("undo_buffer", buffers.undo, is_problem)


def heard(all_heard: Sequence[Heard], verdicts: Verdicts) -> Iterator[Finding]:
    """Say what the nodes' logs tell."""
    if not all_heard:
        return
    from stallwatch.probes.ndb_redo_buffer.log import worst_first

    for one in all_heard:
        yield from one.problems
    for readings in ([one.full for one in all_heard], [one.lag for one in all_heard]):
        explained = (
            _explained(reading, verdicts.get(one.node or 0))
            for reading, one in zip(readings, all_heard, strict=True)
        )
        yield from worst_first(explained)


def _explained(reading: Reading, verdict: Verdict | None) -> Reading:
    """Answer with all that is known, not with what the log alone says."""
    if not verdict or not reading.value:
        return reading
    return reading._replace(why=verdict.answer, advice=verdict.advice)


def _log_space(
    name: str, used: dict[int, float], lasting: Container[int], is_problem: IsProblem
) -> Iterator[Reading]:
    """Say how full the fullest is; and of those that are so for longer, which weighs more, the fullest."""
    said = _space(name, used, is_problem)
    certain = {node: share for node, share in used.items() if node in lasting}
    if not is_problem(said) or max(certain.values(), default=None) == said.value:
        yield said
        return
    yield said._replace(what=f"{said.what} (seen in one run so far)", confirmed=False)
    if certain:
        yield _space(name, certain, is_problem)._replace(label="")


def _space(name: str, used: dict[int, float], is_problem: IsProblem) -> Reading:
    what, why, advice = _SPACES[name]
    node = max(used, key=lambda one: used[one])
    more = sum(is_problem(Reading(name, share)) for share in used.values()) - 1
    others = f", and of {plural(more, 'more node')}" if more > 0 else ""
    said = f"{what} of node {node} {_say(used[node])} % full{others}"
    return Reading(name, used[node], "%", said, why, advice, label=name)


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
