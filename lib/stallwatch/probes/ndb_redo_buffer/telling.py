"""What is said of redo buffers, redo log and undo log, and in which order."""

from __future__ import annotations

from stallwatch.probes.ndb_redo_buffer.use import WATCHED
from stallwatch.probes.ndbinfo.words import LABELLED
from stallwatch.reading import Reading
from stallwatch.table import Table
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from stallwatch.probes.ndb_redo_buffer.log import Heard
    from stallwatch.probes.ndb_redo_buffer.space import Logs
    from stallwatch.probes.ndb_redo_buffer.use import Samples, Use
    from stallwatch.probes.ndb_redo_buffer.verdict import Verdict
    from stallwatch.reading import Finding

    Alerts = Callable[[str, float | None], bool]
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


def all_of(samples: Samples, logs: Logs, verdicts: Verdicts, alerts: Alerts) -> Iterator[Finding]:
    """Say how full all is, the redo buffers first."""
    yield from _buffers(samples, logs, verdicts, alerts)
    for name, used in (
        ("redo_space", logs.redo_space),
        ("undo_space", logs.undo_space),
        ("undo_buffer", logs.undo_buffer),
    ):
        if used:
            yield _space(name, used, alerts)


def heard(all_heard: Sequence[Heard], verdicts: Verdicts) -> Iterator[Finding]:
    """Say what the nodes' logs tell."""
    if not all_heard:
        return
    from stallwatch.probes.ndb_redo_buffer.log import worst_first

    for one in all_heard:
        yield from one.problems
    for readings in ([one.full for one in all_heard], [one.lag for one in all_heard]):
        explained = (
            _explained(reading, verdicts.get(one.node))
            for reading, one in zip(readings, all_heard, strict=True)
        )
        yield from worst_first(explained)


def _explained(reading: Reading, verdict: Verdict | None) -> Reading:
    """Answer with all that is known, not with what the log alone says."""
    return reading._replace(why=verdict.answer, advice=verdict.advice) if verdict else reading


def _buffers(samples: Samples, logs: Logs, verdicts: Verdicts, alerts: Alerts) -> Iterator[Finding]:
    """Say how full the fullest buffer stayed, then what is left to say: its peak, and each node by itself."""
    name = "redo_buffer" if samples.taken > 1 else "doubtful_redo_buffer"  # one sample may be a peak
    fullest, peak = samples.fullest, samples.peak
    table = _table(samples.uses)
    if fullest is None:
        what = "redo buffers: none was seen in all samples, data nodes came and went meanwhile"
        yield Reading("redo_buffer", None, "%", what, table=table)
    else:
        others = _others([use for use in samples.uses if alerts(name, use.smallest)], logs, alerts)
        yield _buffer(name, fullest, fullest.smallest, samples, logs, verdicts, others)._replace(table=table)
    others = _others([use for use in samples.uses if alerts("redo_buffer_peak", use.largest)], logs, alerts)
    yield _buffer("redo_buffer_peak", peak, peak.largest, samples, logs, verdicts, others)._replace(
        label="redo_buffer_peak", in_table=True
    )
    yield from _by_node(name, samples, logs, verdicts, alerts)


def _by_node(
    name: str, samples: Samples, logs: Logs, verdicts: Verdicts, alerts: Alerts
) -> Iterator[Finding]:
    """Give each node its numbers; one that is full for another reason than the fullest is told, too."""
    fullest = {use.part.node: use for use in reversed(samples.uses) if use.smallest is not None}
    first = samples.fullest
    said = verdicts.get(first.part.node) if first else None
    labelled = logs.nodes <= LABELLED
    for node, use in sorted(fullest.items()):
        verdict = verdicts.get(node)
        another = verdict is not None and (said is None or verdict.answer != said.answer)
        told = another and alerts(name, use.smallest)
        if labelled or told:
            reading = _buffer(name, use, use.smallest, samples, logs, verdicts)
            label = f"node{node}_redo_buffer" if labelled else ""
            yield reading._replace(label=label, in_table=not told)


def _buffer(
    name: str,
    use: Use,
    value: float | None,
    samples: Samples,
    logs: Logs,
    verdicts: Verdicts,
    others: str = "",
) -> Reading:
    verdict = verdicts.get(use.part.node)
    part = use.part.log_id if logs.numbered_by_id else use.part.log_part
    where = f"redo buffer of node {use.part.node} log part {part}"
    what = f"{where} {_between(use)} full ({_when(samples)}){others}"
    why = "; ".join(filter(None, (verdict and verdict.why, _CLIENTS * (use.largest >= _FULL))))
    advice = verdict.advice if verdict else ""
    rounded = None if value is None else round(value, 2)
    return Reading(name, rounded, "%", what, why, advice, label="redo_buffer")


def _others(full: Sequence[Use], logs: Logs, alerts: Alerts) -> str:
    """Count the buffers that are full besides the first; where not all are watched, the nodes are counted."""
    if len(full) <= 1:
        return ""
    nodes = {use.part.node for use in full}
    unseen = WATCHED <= len(full) < logs.redo_parts
    if unseen:
        nodes |= {node for node, used in logs.redo_buffer.items() if alerts("redo_buffer_peak", used)}
    said = f", and {'at least ' * unseen}{len(full) - 1} more"
    return f"{said} of {len(nodes)} nodes" if len(nodes) > 1 else said


def _between(use: Use) -> str:
    largest = f"{_say(use.largest)} %"
    if use.smallest is None:
        return f"up to {largest}"
    smallest = f"{_say(use.smallest)} %"
    return smallest if smallest == largest else f"{_say(use.smallest)} to {largest}"


def _when(samples: Samples) -> str:
    if samples.taken < samples.wanted:
        return f"{samples.taken} of {samples.wanted} samples, time was short"
    return f"{samples.taken} samples in {say_duration(round(samples.seconds, 1))}"


def _space(name: str, used: dict[int, float], alerts: Alerts) -> Reading:
    what, why, advice = _SPACES[name]
    node = max(used, key=lambda one: used[one])
    more = sum(alerts(name, share) for share in used.values()) - 1
    others = f" and {more} more" * (more > 0)
    said = f"{what} of node {node}{others} {_say(used[node])} % full"
    return Reading(name, round(used[node], 2), "%", said, why, advice)


def _table(uses: Iterable[Use]) -> Table:
    """Show the fullest, by node and log part, as ndbinfo.logbuffers does."""
    shown = sorted(list(uses)[:_IN_TABLE])
    rows = (
        (
            *use.part,
            use.total,
            None if use.smallest is None else round(use.smallest, 1),
            round(use.largest, 1),
        )
        for use in shown
    )
    return Table(("node_id", "log_id", "log_part", "total", "smallest", "largest"), tuple(rows))


def _say(percent: float) -> str:
    return f"{round(percent, 1):g}"
