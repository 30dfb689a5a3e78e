"""How the data nodes are that are up: arbitrator, links, threads, page faults, restarts, certificates."""

from __future__ import annotations

from stallwatch import words
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.history.streak import Streaks
from stallwatch.probes.ndb_nodes.model import WINDOW
from stallwatch.probes.ndb_nodes.queries import CONNECTS, LINKS, MAJOR_FAULTS, OVERLOADS, THREADS
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.probes.ndbinfo.queries import number, whole
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import have, listed, times

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndb_nodes.collect import Clocks
    from stallwatch.probes.ndb_nodes.model import Presence, Start
    from stallwatch.probes.ndb_nodes.queries import Busiest, Thread
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Row

_ARBITRATOR = "arbitrator"
# After a node's failure a new arbitrator is found within a second (9.7.2); until then it is one of these.
_ON_THE_WAY = ("ARBIT_INIT", "ARBIT_PREP1", "ARBIT_PREP2", "ARBIT_START")
_NO_ARBITER = "check ndb_mgmd"
_OTHER_ARBITER = "or set ArbitrationRank=2 for an SQL node, which then can be the arbitrator"
USE = "thread_use"
_IN_A_ROW = "overloads_in_a_row"
_CONFIRMED = 2  # intervals in a row: the next one may be good
_FIRST = 20  # seconds until a node has its first sample
_LASTING = 180.0  # seconds that have to be known of a thread for a critical state
_BUSY = 50.0  # per cent; below, waiting for a processor does not matter
_STARVED = 0.7  # of the time in which it works, a thread should have a processor
_FEW = 3  # nodes that have restarted of which the line shows when
_DAY = 86400.0  # seconds


def arbitrator(
    membership: Sequence[Row],
    up: Collection[int],
    clocks: Clocks,
    grace: float,
    why_none: Callable[[], str | None],
    no_manager: Callable[[], tuple[str, str, str]],
) -> Iterator[Fault]:
    """Return what is wrong with it: a WARNING, CRITICAL after ``grace`` seconds; raises a ProbeError.

    Asked for in trouble only: ``why_none``, and as ``no_manager`` that no management node is connected, the
    next step, and a line below; all empty: one is. With one data node up there is nothing to decide.
    """
    rows = [row for row in membership if whole(row, "node_id") in up]
    if len(rows) < 2:  # noqa: PLR2004
        return
    trouble = _trouble(rows)
    if not trouble:
        clocks.over(_ARBITRATOR)
        return
    lasting = clocks.seconds(_ARBITRATOR)
    if why := why_none():
        yield Fault(State.OK, f"the data nodes have no arbitrator ({why})")
        return
    consequence = "a network split may stop all data nodes"
    if len(up) == 2:  # noqa: PLR2004 - whoever is left is just one half
        consequence = "one more failure stops the cluster"
    state = State.CRITICAL if lasting > grace else State.WARNING
    why, step, below = no_manager()
    more = tuple(filter(None, (consequence if why else "", below, _OTHER_ARBITER)))
    yield Fault(state, trouble, why or consequence, step or _NO_ARBITER, Line(more=more))


def _trouble(rows: Sequence[Row]) -> str:
    """Return what is wrong; empty: all agree on one that is connected and runs."""
    arbitrators = sorted({whole(row, "arbitrator") for row in rows})
    if 0 in arbitrators:
        without = [row for row in rows if not whole(row, "arbitrator")]
        return f"{'the data nodes' if len(arbitrators) == 1 else _of(without)} {have(without)} no arbitrator"
    if len(arbitrators) > 1:
        each = [f"node {one}" for one in arbitrators]
        return f"the data nodes do not agree on an arbitrator: {listed(each)}"
    if lost := [row for row in rows if row["arb_connected"] != "Yes"]:
        return f"{_of(lost)} {have(lost)} lost the arbitrator, node {arbitrators[0]}"
    if len({row["arb_ticket"] for row in rows}) > 1:
        return f"the data nodes do not agree on the ticket of the arbitrator, node {arbitrators[0]}"
    if odd := [row for row in rows if row["arb_state"] not in ("ARBIT_RUN", *_ON_THE_WAY)]:
        return f"the arbitrator, node {arbitrators[0]}, does not run: {odd[0]['arb_state']} on {_of(odd)}"
    return ""


def _of(rows: Sequence[Row]) -> str:
    return named([whole(row, "node_id") for row in rows])


def overloads(
    intervals: Mapping[int, Interval],
    memory: dict[str, Any],
    is_problem: Callable[[Reading, State], bool],
) -> Iterator[Reading]:
    """Return how often send buffers were found full beyond OverloadLimit, per minute.

    Not of links that broke: what a link counts begins anew whenever it is connected. It is critical from the
    second interval in a row on, which ``memory`` counts.
    """
    # Where not all links of a node have gone on counting, the others hide what these have counted.
    steady = _unchanged(_unchanged(intervals, CONNECTS), LINKS)
    node = _worst(steady, OVERLOADS)
    if node is None:
        return
    interval = steady[node]
    what = "no link between data nodes was overloaded"
    per_minute, span = _per_minute(interval, OVERLOADS), say_duration(interval.seconds)
    if count := int(interval.counts[OVERLOADS]):
        what = f"links of node {node} to data nodes were overloaded {per_minute:.3g} times per minute"
    reading = Reading(
        OVERLOADS, per_minute, "", what if count else f"{what} within {span}",
        advice="check CPU and network of the slow receivers",
        line=Line(
            more=(
                f"{times(count)} within {span}",
                "overload_count in ndbinfo.transporters shows which nodes are slow to receive",
                "if they are idle, increase SendBufferMemory, and OverloadLimit with it (rolling restart)",
            )
            if count
            else (),
        ),
    )  # fmt: skip
    is_critical = is_problem(reading, State.CRITICAL)
    streaks = Streaks(memory, _IN_A_ROW, again=interval.again)
    (streaks.add if is_critical else streaks.end)(OVERLOADS)
    yield reading._replace(confirmed=not is_critical or streaks.of(OVERLOADS) >= _CONFIRMED)


def reconnects(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Yield how often links were connected anew. Only where no node has ended: that breaks its links, too."""
    changed = {
        node: interval.counts[CONNECTS] for node, interval in intervals.items() if CONNECTS in interval.counts
    }
    if not changed:
        return
    count, worst = sum(changed.values()), max(changed, key=lambda node: changed[node])
    span = say_duration(max(interval.seconds for interval in intervals.values()))
    what = f"no link between data nodes reconnected within {span}"
    why = ""
    if count:
        what = f"links between data nodes reconnected {times(int(count))} within {span}"
        why = f"most at node {worst}"
    advice = "check the network between the data nodes"
    more = "no node has restarted: look for errors of interfaces, firewalls, time-outs"
    yield Reading("reconnects", count, "", what, why, advice, line=Line(more=(more,) if count else ()))


def major_faults(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Return how many major page faults there are per minute: NDB's memory is not to be swapped."""
    comparable = _unchanged(intervals, THREADS)
    node = _worst(comparable, MAJOR_FAULTS)
    if node is not None:
        per_minute = _per_minute(comparable[node], MAJOR_FAULTS)
        yield Reading(
            MAJOR_FAULTS, per_minute, "",
            f"node {node} had {per_minute:.0f} major page faults per minute",
            "its host swaps" if per_minute else "",
            "free memory on that host, or set LockPagesInMainMemory=1", line=Line(),
        )  # fmt: skip


def thread_use(worst: Busiest, thread: Thread | None) -> Reading:
    """Return how busy the busiest of all is, and which thread that is, as far as it was asked.

    A short time of it is no more than a WARNING.
    """
    name = f"{thread.role} thread {thread.number}" if thread else "the busiest thread"
    span = say_duration(round(worst.seconds))
    what = f"{name} of node {worst.node} worked {worst.used:.0f} % of the last {span}"
    advice = f"add {f'{thread.role} ' if thread else ''}threads (ThreadConfig) or reduce load"
    why = ""
    if thread and thread.used > _BUSY and thread.processor < _STARVED * thread.used:
        why = f"with a processor for {thread.processor:.0f} % only"
        advice = "check other CPU load on its host"
    confirmed = worst.seconds >= _LASTING
    used = round(worst.used, 2)
    return Reading(USE, used, "%", what, why, advice, confirmed=confirmed, line=Line())


def too_young(cluster: Cluster) -> set[int]:
    """Return the nodes that may have no samples of their threads yet."""
    return {node.id for node in cluster.nodes.values() if node.uptime <= 2 * _FIRST}


def _unchanged(intervals: Mapping[int, Interval], name: str) -> dict[int, Interval]:
    """Leave out nodes of which a number has changed, or is not known."""
    return {node: interval for node, interval in intervals.items() if interval.counts.get(name) == 0}


def _worst(intervals: Mapping[int, Interval], name: str) -> int | None:
    """Return the node that has counted most per minute, of nodes whose counter has not begun anew."""
    rates = {node: _per_minute(one, name) for node, one in intervals.items() if name in one.counts}
    return max(sorted(rates), key=lambda node: rates[node], default=None)


def _per_minute(interval: Interval, name: str) -> float:
    return round(60.0 * interval.counts[name] / interval.seconds, 2)


def restarts(presence: Presence, starts: Mapping[int, Start], young: float) -> Iterator[Finding]:
    """Name nodes that have restarted within ``young`` seconds, and any that does so repeatedly.

    That those are back which were seen to be shut down in order is an aside.
    """
    up = sorted(presence.up, key=lambda node: starts[node].uptime)
    often = [node for node in up if starts[node].is_unstable]
    fresh = [node for node in up if starts[node].uptime < young and node not in often]
    in_order = [node for node in fresh if starts[node].in_order]
    if often:
        first, *others = often
        how_often = f"{len(starts[first].restarts)} times within {say_duration(WINDOW)}"
        more = [f"{named(others)} {have(others)} restarted often, too"] if others else []
        yield Fault(
            State.WARNING, f"node {first} restarted {how_often}, the last time {_uptime(starts[first])} ago",
            advice=f"if unplanned, see in ndb_{first}_out.log what ended it",
            line=Line(more=(*more,)),
        )  # fmt: skip
    if in_order:
        yield Fault(State.OK, f"{named(in_order)} {have(in_order)} been restarted in order")
    if unexplained := sorted(node for node in fresh if node not in in_order):
        log = f"ndb_{unexplained[0] if len(unexplained) == 1 else 'N'}_out.log"
        yield Fault(
            State.WARNING, _restarted(unexplained, starts),
            advice=f"if unplanned, see in {log} what ended {'it' if len(unexplained) == 1 else 'them'}",
            line=Line(),
        )  # fmt: skip
    if up:
        what = f"the youngest, node {up[0]}, is up for {_uptime(starts[up[0]])}"
        yield Reading("uptime", starts[up[0]].uptime, "s", what)


def _restarted(nodes: Sequence[int], starts: Mapping[int, Start]) -> str:
    """Return when each of these has, if they are few: nodes 3 (4 min ago) and 4 (20 s ago) restarted."""
    if len(nodes) == 1:
        return f"node {nodes[0]} restarted {_uptime(starts[nodes[0]])} ago"
    if len(nodes) > _FEW:
        youngest = min((starts[node] for node in nodes), key=lambda start: start.uptime)
        return f"{named(nodes)} restarted, the last {_uptime(youngest)} ago"
    each = [f"{node} ({_uptime(starts[node])} ago)" for node in nodes]
    return f"{words.named('node', each)} restarted"


def _uptime(start: Start) -> str:
    return say_duration(start.uptime)


def generations(nodes: Mapping[int, list[int]], seconds: float) -> Iterator[Reading]:
    """Yield how long the generations of the configuration differ; nothing where they are not known."""
    if not nodes:
        return
    if len(nodes) == 1:
        yield Reading("generations", 0, "s", "no generations of the configuration differ")
        return
    old = [node for generation, those in nodes.items() if generation != max(nodes) for node in those]
    each = [f"{generation} on {named(those)}" for generation, those in sorted(nodes.items())]
    yield Reading(
        "generations", seconds, "s",
        f"the generations of the configuration differ: {listed(each)}",
        "a rolling restart is not finished",
        f"restart {named(sorted(old))}{', one at a time' if len(old) > 1 else ''}", line=Line(),
    )  # fmt: skip


def certificate(rows: Sequence[Row], now: float) -> Iterator[Reading]:
    """Yield how long the first certificate to expire is good, by our clock; nothing where there is none."""
    if not rows:
        return
    first = number(rows[0], "expires")
    nodes = sorted({whole(row, "node_id") for row in rows if number(row, "expires") < first + _DAY})
    left = round(first - now)
    end = f"expires in {say_duration(left)}" if left > 0 else f"has expired {say_duration(-left)} ago"
    yield Reading(
        "certificate", left, "s", f"the TLS certificate of {named(nodes)} ({rows[0]['name']}) {end}",
        "",
        f"run ndb_sign_keys, then restart {'them one by one' if len(nodes) > 1 else 'it'}", line=Line(),
    )  # fmt: skip


def no_baseline(subjects: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[Fault]:
    """Yield which subjects are not known yet, by the reason and the names of the nodes."""
    for (why, whose), names in subjects.items():
        yield Fault(State.OK, f"{listed(names)} of {whose} can be known from the next run on: {why}")
