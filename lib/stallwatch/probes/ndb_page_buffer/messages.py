"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.ndb_page_buffer.collect import CHECKPOINTS, COUNTERS, READS
from stallwatch.probes.ndb_page_buffer.diagnosis import HIT_RATIO
from stallwatch.probes.ndbinfo.cluster import LABELLED, named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import plain, say_duration, say_short, say_size
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_page_buffer.collect import Evidence, Snapshot, Traffic
    from stallwatch.probes.ndb_page_buffer.diagnosis import Diagnosis, HitRatio, Rules
    from stallwatch.table import Cell

_RATES = tuple(f"{name}_per_s" for name in COUNTERS)
_COLUMNS = ("node", "hit_ratio", *_RATES, "cumulative_hit_ratio", "uptime", "DiskPageBufferMemory")


def all_of_it(snapshot: Snapshot, found: Diagnosis, evidence: Evidence, rules: Rules) -> Iterator[Finding]:
    """Write all that was found, in the order in which it is shown among equals."""
    nodes = snapshot.cluster.configured
    yield from _ratios(found, evidence, rules, is_sample=snapshot.is_sample)
    yield from _quiet(found.idle, rules.min_requests)
    yield from _unknown_yet(found.reasons, is_first=snapshot.is_first, is_sample=snapshot.is_sample)
    yield from _of_each(found.ratios, nodes)
    yield from _rates([*found.intervals.values()])
    yield from _since_start(found.totals, nodes)
    yield _all_nodes(found.totals, found.intervals, evidence)
    yield from snapshot.cluster.asides()
    yield from evidence.missing
    yield from snapshot.problems


def _ratios(found: Diagnosis, evidence: Evidence, rules: Rules, *, is_sample: bool) -> Iterator[Reading]:
    """Return the hit ratios, worst first: in words that of one node for each cause of low ones."""
    if not found.ratios:
        return
    lowest = min(found.ratios, key=lambda one: one.per_cent)
    groups = _by_cause(found.low or found.ratios[:1])
    for worst, *others in groups:
        label = HIT_RATIO if worst is lowest else ""
        span = f"over {say_duration(worst.traffic.seconds)}{_remark(worst, rules, is_sample=is_sample)}"
        if not worst.is_low:
            which = f", the lowest of {len(found.ratios)}" if len(found.ratios) > 1 else ""
            yield _reading(worst, f"{_ratio(worst)} {span}{which}", label)
            continue
        also = (f"low on {named([one.node for one in others])}, too",) if others else ()
        advice, below = _advice(worst, evidence, rules)
        line = Line(more=(f"measured {span}", *_evidence(worst, evidence), *also, *below))
        yield _reading(worst, _ratio(worst), label)._replace(why=_why(worst), advice=advice, line=line)
    if all(worst is not lowest for worst, *_ in groups):
        yield _reading(lowest, _ratio(lowest))._replace(in_table=True)


def _reading(one: HitRatio, what: str, label: str = HIT_RATIO) -> Reading:
    return Reading(HIT_RATIO, one.per_cent, "%", what, label=label, confirmed=one.confirmed)


def _by_cause(low: Sequence[HitRatio]) -> list[list[HitRatio]]:
    groups: dict[tuple[str, bool], list[HitRatio]] = {}
    for one in low:
        groups.setdefault((one.traffic.waits_for, one.is_cold), []).append(one)
    return [*groups.values()]


def _of_each(ratios: Sequence[HitRatio], nodes: int) -> Iterator[Reading]:
    """Give the hit ratio of each node for the perfdata, if the cluster has so few nodes."""
    for one in sorted(ratios) if nodes <= LABELLED else ():
        label = f"node{one.node}_{HIT_RATIO}"
        yield _reading(one, _ratio(one), label=label)._replace(in_table=True)


def _since_start(totals: Mapping[int, Traffic], nodes: int) -> Iterator[Reading]:
    """Give the hit ratios since the nodes' start: they hide what goes on now, and are not judged."""
    found = [(one.ratio, node) for node, one in totals.items() if one.ratio is not None]
    if not found:
        return
    name, (lowest, whose) = "cumulative_hit_ratio", min(found)
    yield Reading(name, lowest, "%", f"hit ratio of node {whose} is {lowest:.2f} % since its start")
    for ratio, node in found if nodes <= LABELLED else ():
        yield Reading(name, ratio, "%", label=f"node{node}_{name}", in_table=True)


def _rates(traffics: Sequence[Traffic]) -> Iterator[Reading]:
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
        yield Reading(name, total, what=f"{plain(total)} {what}")


def _quiet(idle: Mapping[int, Traffic], min_requests: int) -> Iterator[Fault]:
    """Name the nodes that are not judged because they had next to nothing to do."""
    if not idle:
        return
    busiest = max(idle.values(), key=lambda one: one.requests)
    nodes, span = named(list(idle)), say_duration(busiest.seconds)
    if busiest.requests:
        most = f"at most {busiest.requests:.0f}" if len(idle) > 1 else f"{busiest.requests:.0f}"
        least = f"{min_requests} are needed"
        yield Fault(State.OK, f"too few requests to judge {nodes}: {most} in {span}, {least}")
    else:
        yield Fault(State.OK, f"no page requests on {nodes} in {span}")


def _unknown_yet(reasons: Mapping[str, list[int]], *, is_first: bool, is_sample: bool) -> Iterator[Fault]:
    """Name the nodes that there is nothing to compare with of, by the reason for that."""
    for why, nodes in reasons.items():
        many = len(nodes) > 1
        later = f"{'their' if many else 'its'} hit ratio is known from the next run on"
        if is_sample:
            what = f"{named(nodes)}: {why}"
        elif is_first:
            what = f"first look at {named(nodes)}: {later}, or by --sample"
        else:
            what = f"{named(nodes)}: {why}, {later}"
            if why.startswith("it has "):
                what = f"{named(nodes)} {'have' if many else 'has'} {why.removeprefix('it has ')}: {later}"
        yield Fault(State.OK, what)


def _all_nodes(
    totals: Mapping[int, Traffic], intervals: Mapping[int, Traffic], evidence: Evidence
) -> Reading:
    """Count the nodes that show their page buffer, with a table of all that they show."""
    rows = tuple(_row(node, total, intervals.get(node), evidence) for node, total in totals.items())
    what = f"{plural(len(rows), 'data node')} showed the page buffer"
    return Reading("data_nodes", len(rows), what=what, table=Table(_COLUMNS, rows))


def _row(node: int, total: Traffic, interval: Traffic | None, evidence: Evidence) -> tuple[Cell, ...]:
    size = evidence.sizes.get(node)
    ratio = interval.ratio if interval else None
    return f"node {node}", ratio, *_rates_of(interval), total.ratio, total.seconds, size


def _rates_of(interval: Traffic | None) -> tuple[float | None, ...]:
    if interval is None:
        return (None,) * len(_RATES)
    return tuple(round(interval.per_second(getattr(interval, name)), 1) for name in COUNTERS)


def _ratio(one: HitRatio) -> str:
    return f"hit ratio of node {one.node} is {one.text} %"


def _remark(one: HitRatio, rules: Rules, *, is_sample: bool) -> str:
    """Return what keeps a low ratio from being critical, or for how long it has been."""
    if not one.is_critical or one.is_excused:
        return ""
    if one.confirmed:
        return f" ({one.in_a_row} intervals in a row)" if one.in_a_row > 1 else ""
    if is_sample:
        return " (one sample)"
    return f" ({one.in_a_row} of {rules.confirm} intervals)" if one.in_a_row else " (too soon again to count)"


def _why(one: HitRatio) -> str:
    of = one.traffic
    waits, requests, reads = (
        say_short(of.per_second(count)) for count in (of.waited, of.requests, of.pages_read)
    )
    if of.waits_for != READS:
        return f"{of.waits_for} hold up {waits} of {requests} requests/s"
    if one.is_cold:
        return f"its buffer is cold {say_duration(one.uptime)} after its start"
    return f"{reads} pages/s read from disk"


def _evidence(one: HitRatio, evidence: Evidence) -> Iterator[str]:
    """Return what waited, what was read and written, and how long that takes."""
    of = one.traffic
    counts = (of.waited, of.requests, of.pages_read)
    waits, requests, reads = (say_short(of.per_second(count)) for count in counts)
    if of.waits_for == READS:
        yield f"{waits} of {requests} requests/s waited for the disk, {reads} pages/s read"
        if one.node in evidence.read_times:
            yield f"half of the page reads of node {one.node} so far took {evidence.read_times[one.node]}"
    else:
        written = say_short(of.per_second(of.pages_written + of.pages_written_lcp))
        lcp = say_short(of.per_second(of.pages_written_lcp))
        pages = f"{written} written ({lcp} by checkpoints)" if written != "0" else "none written"
        yield f"{waits} of {requests} requests/s waited, but only {reads} pages/s read, {pages}"
        if one.is_cold:
            yield f"its buffer is cold {say_duration(one.uptime)} after its start"
    if of.log_waits:
        yield f"{say_short(of.per_second(of.log_waits))}/s waited for the undo log"


def _advice(one: HitRatio, evidence: Evidence, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """Give the next step, and lines below."""
    size = evidence.sizes.get(one.node)
    buffer = "DiskPageBufferMemory" + ("" if size is None else f", now {say_size(size)}")
    waits_for = one.traffic.waits_for
    if waits_for == READS and one.is_cold:
        later = f"if the hit ratio stays low then, enlarge {buffer} (rolling restart)"
        return f"look again {say_duration(rules.cold)} after its start", (later,)
    if waits_for == READS:
        return f"enlarge {buffer}", ("that takes a rolling restart",)
    disk, look = "check the disk of the tablespaces", "see how busy that disk is (iostat -kx 1)"
    if waits_for == CHECKPOINTS:
        return disk, (f"{look}, a larger DiskPageBufferMemory does not help",)
    return disk, (f"as of bulk inserts: {look} before you enlarge {buffer}",)
