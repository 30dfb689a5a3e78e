"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.probes.ndb_page_buffer.traffic import COUNTERS
from stallwatch.probes.ndbinfo.words import LABELLED, named
from stallwatch.reading import Fault, Reading, State
from stallwatch.table import Table
from stallwatch.units import say_duration, say_size

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.ndb_page_buffer.evidence import Evidence
    from stallwatch.probes.ndb_page_buffer.judging import Judged, Limits
    from stallwatch.probes.ndb_page_buffer.traffic import Traffic
    from stallwatch.table import Cell

HIT_RATIO = "hit_ratio"
UNSURE = "unsure_hit_ratio"  # critical if it lasts, and if it is the size of the buffer: a WARNING until then
_RATES = tuple(f"{name}_per_s" for name in COUNTERS)
_COLUMNS = ("node", "hit_ratio", *_RATES, "cumulative_hit_ratio", "uptime", "DiskPageBufferMemory")


def ratios(judged: Sequence[Judged], evidence: Evidence, *, sampled: bool) -> Iterator[Reading]:
    """Tell the hit ratios, worst first: the first node's in words, few nodes' each with perfdata."""
    if not judged:
        return
    worst, lowest = judged[0], min(judged, key=lambda one: one.ratio)
    low = [one.node for one in judged[1:] if one.is_low]
    what = f"{_ratio(worst)} over {say_duration(worst.traffic.seconds)}{_remark(worst, sampled=sampled)}"
    if len(judged) > 1 and not worst.is_low:
        what += f", the lowest of {len(judged)}"
    why = _why(worst, evidence) + (f", low on {named(low)}, too" if low else "")
    label = HIT_RATIO if worst is lowest else ""
    yield Reading(_name(worst), worst.ratio, "%", what, why, _advice(worst, evidence), label)
    if worst is not lowest:
        yield Reading(_name(lowest), lowest.ratio, "%", _ratio(lowest), label=HIT_RATIO, in_table=True)


def of_each(judged: Sequence[Judged], nodes: int) -> Iterator[Reading]:
    """Give the hit ratio of each node for the perfdata, if the cluster has so few nodes."""
    for one in sorted(judged) if nodes <= LABELLED else ():
        label = f"node{one.node}_{HIT_RATIO}"
        yield Reading(_name(one), one.ratio, "%", _ratio(one), label=label, in_table=True)


def since_start(totals: Mapping[int, Traffic], nodes: int) -> Iterator[Reading]:
    """Give the hit ratios since the nodes' start: they hide what goes on now, and are not judged."""
    found = [(one.ratio, node) for node, one in totals.items() if one.ratio is not None]
    if not found:
        return
    name, (lowest, whose) = "cumulative_hit_ratio", min(found)
    yield Reading(name, lowest, "%", f"hit ratio of node {whose} is {lowest:.2f} % since its start")
    for ratio, node in found if nodes <= LABELLED else ():
        yield Reading(name, ratio, "%", label=f"node{node}_{name}", in_table=True)


def rates(traffics: Sequence[Traffic]) -> Iterator[Reading]:
    """Give the sums of all nodes."""
    if not traffics:
        return
    for name, what, counts in (
        ("requests_per_s", "page requests/s", [one.requests for one in traffics]),
        ("pages_read_per_s", "pages/s read from disk", [one.pages_read for one in traffics]),
        ("log_waits_per_s", "waits/s for the undo log", [one.log_waits for one in traffics]),
    ):
        each = zip(traffics, counts, strict=True)
        total = round(sum(one.per_second(count) for one, count in each), 1)
        yield Reading(name, total, what=f"{total:g} {what}")


def quiet(idle: Mapping[int, Traffic], limits: Limits) -> Iterator[Fault]:
    """Name the nodes that are not judged because they had next to nothing to do."""
    if not idle:
        return
    busiest = max(idle.values(), key=lambda one: one.requests)
    nodes, span = named(list(idle)), say_duration(busiest.seconds)
    if busiest.requests:
        most = f"at most {busiest.requests:.0f}" if len(idle) > 1 else f"{busiest.requests:.0f}"
        least = f"{limits.min_requests:g} are needed"
        yield Fault(State.OK, f"too few requests to judge {nodes}: {most} in {span}, {least}")
    else:
        yield Fault(State.OK, f"no page requests on {nodes} in {span}")


def unknown_yet(reasons: Mapping[str, list[int]], *, is_first: bool) -> Iterator[Fault]:
    """Name the nodes that there is nothing to compare with of, by the reason for that."""
    for why, nodes in reasons.items():
        its = "their" if len(nodes) > 1 else "its"
        later = f"{its} hit ratio is told from the next run on"
        first = f"first look at {named(nodes)}: {later}, or by --sample"
        yield Fault(State.OK, first if is_first else f"{named(nodes)}: {why}: {later}")


def all_of_them(
    totals: Mapping[int, Traffic], intervals: Mapping[int, Traffic], evidence: Evidence
) -> Reading:
    """Count the nodes that tell of their page buffer, with a table of all that they tell."""
    rows = tuple(_row(node, total, intervals.get(node), evidence) for node, total in totals.items())
    what = f"{len(rows)} data node{'s' * (len(rows) != 1)} told of the page buffer"
    return Reading("data_nodes", len(rows), what=what, table=Table(_COLUMNS, rows))


def _row(node: int, total: Traffic, interval: Traffic | None, evidence: Evidence) -> tuple[Cell, ...]:
    size = evidence.sizes.get(node)
    ratio = interval.ratio if interval else None
    return f"node {node}", ratio, *_rates(interval), total.ratio, total.seconds, size


def _rates(interval: Traffic | None) -> tuple[float | None, ...]:
    if interval is None:
        return (None,) * len(_RATES)
    return tuple(round(interval.per_second(getattr(interval, name)), 1) for name in COUNTERS)


def _name(one: Judged) -> str:
    return HIT_RATIO if one.is_sure or not one.is_suspect else UNSURE


def _ratio(one: Judged) -> str:
    return f"hit ratio of node {one.node} is {one.ratio:.2f} %"


def _remark(one: Judged, *, sampled: bool) -> str:
    """Say what keeps a low ratio from being critical, or for how long it has been."""
    if not one.is_low:
        return ""
    if one.is_cold:
        return f", its buffer is cold, {say_duration(one.uptime)} after its start"
    if not one.is_suspect or one.traffic.waits_for_writes:
        return ""
    if one.is_sure:
        return f" ({one.run} intervals in a row)" if one.run > 1 else ""
    return " (one sample)" if sampled else f" ({one.run} of {one.limits.confirm} intervals)"


def _why(one: Judged, evidence: Evidence) -> str:
    of = one.traffic
    counts = (of.waited, of.requests, of.pages_read)
    waits, requests, reads = (_rate(of.per_second(count)) for count in counts)
    if of.waits_for_writes:
        written = _rate(of.per_second(of.pages_written + of.pages_written_lcp))
        lcp = _rate(of.per_second(of.pages_written_lcp))
        why = f"{waits} of {requests} requests/s waited, but only {reads} pages/s read"
        why += f", {written} written ({lcp} by checkpoints)"
    else:
        why = f"{waits} of {requests} requests/s waited for the disk, {reads} pages/s read"
        if evidence.read_time is not None:
            why += f", half of its page reads so far took up to {say_duration(evidence.read_time)}"
    if of.log_waits:
        why += f", {_rate(of.per_second(of.log_waits))}/s waited for the undo log"
    return why


def _advice(one: Judged, evidence: Evidence) -> str:
    size = evidence.sizes.get(one.node)
    buffer = "DiskPageBufferMemory" + ("" if size is None else f", now {say_size(size)}")
    disk = "see how busy the disk of the tablespaces is (iostat -kx 1)"
    if one.traffic.waits_for_checkpoints:
        return f"checkpoints hold them up: {disk}; a larger DiskPageBufferMemory does not help"
    if one.traffic.waits_for_writes:
        return f"writes hold them up, as of bulk inserts: {disk} before you enlarge {buffer}"
    later = f"if it stays low {say_duration(one.limits.cold)} after the start, " if one.is_cold else ""
    return f"{later}enlarge {buffer} (rolling restart)"


def _rate(number: float) -> str:
    return f"{number:.0f}" if number >= 10 or number == 0 else f"{number:.2g}"  # noqa: PLR2004
