"""Which hit ratios are low, for how many intervals in a row, and what excuses them."""

from __future__ import annotations

from stallwatch.findings import Reading, State
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.ndb_page_buffer.collect import COUNTERS, INSTANCES, READS, Traffic
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stallwatch.history.delta import Interval
    from stallwatch.history.streak import Streaks
    from stallwatch.probes.ndb_page_buffer.collect import Snapshot

HIT_RATIO = "hit_ratio"  # the quantity that is judged


class Rules(NamedTuple):
    """How nodes are judged."""

    is_problem: Callable[[Reading, State], bool]  # whether a reading has that state, or a worse one
    confirm: int  # intervals in a row that are critical, until that is believed
    min_requests: int  # in an interval that is judged
    cold: float  # seconds since a node's start in which its buffer fills


class HitRatio(NamedTuple):
    """The hit ratio of a node that had enough to do, over one interval, and what is known of it."""

    node: int
    traffic: Traffic
    per_cent: float
    uptime: float  # seconds
    text: str  # the ratio as it is said: with as many decimals as put it on its side of each threshold
    is_cold: bool  # its buffer fills yet, after its start
    is_low: bool  # a threshold alerts on it
    is_critical: bool  # the critical one does
    in_a_row: int = 0  # intervals that were critical, with this one
    confirmed: bool = False  # there were as many as it takes, and nothing excuses it

    @property
    def is_excused(self) -> bool:
        """Whether a low ratio shows nothing on the size of the buffer."""
        return self.is_cold or self.traffic.waits_for != READS

    @property
    def is_certain(self) -> bool:
        """Whether it is critical, and that is confirmed."""
        return self.is_critical and self.confirmed


class Diagnosis(NamedTuple):
    """What was found of the started nodes; by node, as far as it is known."""

    totals: dict[int, Traffic]  # since their start
    intervals: dict[int, Traffic]
    ratios: list[HitRatio]  # of nodes with enough requests, worst first
    reasons: dict[str, list[int]]  # why nodes have no interval

    @property
    def low(self) -> list[HitRatio]:
        """Those that a threshold alerts on."""
        return [one for one in self.ratios if one.is_low]

    @property
    def idle(self) -> dict[int, Traffic]:
        """Nodes that had too little to do to be judged."""
        busy = {one.node for one in self.ratios}
        return {node: one for node, one in self.intervals.items() if node not in busy}


def diagnose(snapshot: Snapshot, streaks: Streaks, rules: Rules) -> Diagnosis:
    """Compare all started nodes with the look before, and judge those that had enough to do."""
    found = Diagnosis({}, {}, [], {})
    for node in snapshot.cluster.started:
        if node not in snapshot.counts:
            continue
        counts, uptime = snapshot.counts[node], snapshot.cluster.nodes[node].uptime
        found.totals[node] = _traffic(uptime, counts)
        try:
            interval = snapshot.since(node, counts)
        except NoIntervalError as error:
            streaks.end(node)
            found.reasons.setdefault(str(error), []).append(node)
            continue
        if why := _not_comparable(interval):
            found.reasons.setdefault(why, []).append(node)
            continue
        found.intervals[node] = traffic = _traffic(interval.seconds, interval.counts)
        if traffic.ratio is None or traffic.requests < rules.min_requests:
            streaks.end(node)  # nobody waits for the disk
            continue
        ratio = _hit_ratio(node, traffic, traffic.ratio, uptime, rules)
        if not interval.again:
            _count(ratio, streaks)
        in_a_row = streaks.of(node)
        confirmed = not ratio.is_excused and in_a_row >= rules.confirm
        found.ratios.append(ratio._replace(in_a_row=in_a_row, confirmed=confirmed))
    found.ratios.sort(key=lambda one: (not one.is_certain, one.per_cent, one.node))
    return found


def _hit_ratio(node: int, traffic: Traffic, ratio: float, uptime: float, rules: Rules) -> HitRatio:
    is_low, is_critical = side = _side(ratio, rules)
    two, three = (f"{ratio:.{decimals}f}" for decimals in (2, 3))
    text = next((said for said in (two, three) if _side(float(said), rules) == side), plain(ratio))
    is_cold = uptime < rules.cold
    return HitRatio(node, traffic, ratio, uptime, text, is_cold, is_low, is_critical)


def _side(ratio: float, rules: Rules) -> tuple[bool, bool]:
    """Return on which side of the thresholds it is: whether one alerts, and whether the critical one does."""
    reading = Reading(HIT_RATIO, ratio)
    return rules.is_problem(reading, State.WARNING), rules.is_problem(reading, State.CRITICAL)


def _count(ratio: HitRatio, streaks: Streaks) -> None:
    """Continue the streak of a node, or break it; a low ratio that is excused does neither."""
    if not ratio.is_critical:
        streaks.end(ratio.node)
    elif not ratio.is_excused:
        streaks.add(ratio.node)


def _traffic(seconds: float, counts: Mapping[str, float]) -> Traffic:
    return Traffic(seconds, **{name: counts[name] for name in COUNTERS})


def _not_comparable(interval: Interval) -> str:
    """Return why an interval shows nothing: rows may be missing without an error while a data node ends."""
    if interval.counts.get(INSTANCES) != 0:
        return "the number of threads that show their page buffer has changed"
    return "" if len(interval.counts) > len(COUNTERS) else "counters have been reset"
