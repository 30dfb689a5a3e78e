"""Which nodes ended, by all logs together. A node that several logs report is reported once."""

from __future__ import annotations

from collections import Counter

from stallwatch.findings import Reading
from stallwatch.probes.ndb_log.down import DECLARED_DEAD, OVER, RESTART, SPLIT, all_down
from stallwatch.probes.ndb_log.events import TOGETHER, WINDOW, Event, Kind
from stallwatch.probes.ndb_log.lines import compiled
from stallwatch.probes.ndb_log.links import lives, of_links
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_log.down import Down
    from stallwatch.probes.ndb_log.model import Present
    from stallwatch.probes.ndb_log.shutdown import Shutdown


def of_shutdowns(logs: list[Shutdown]) -> Iterator[Finding | Event]:
    """Yield each node that ended once, in the words of the log that knows most, and the number of ends."""
    known = {node for log in logs for node in log.data_nodes}
    of_nodes: dict[int | None, list[tuple[Down, Present]]] = {}
    every = {node for log in logs if log.is_cluster_log for node in log.data_nodes}
    missed = []
    for down, present in (end for log in logs for end in log.ended()):
        if down.client:
            missed.append((down, present))
            continue
        if _is_no_data_node(down, present, known, every):
            missed += [(down._replace(by=teller), present) for teller in down.tellers]
            continue
        ordered = down.hearsay and any(log.has_ordered(str(down.node), down.when) for log in logs)
        lives_on = any(log.has_won(down) for log in logs)
        if not ordered and not lives_on and (down.by is None or down.node in known):
            of_nodes.setdefault(down.node, []).append((down, present))
    best = [_explained(_best(of_node), logs) for of_node in of_nodes.values()]
    told = [end for end in best if end[0].by is not None and (end[0].phase == "back" or lives(end[0], logs))]
    yield from of_links(told, missed, logs)
    gone = [end for end in best if end[0].phase not in OVER and end not in told]
    if len(every) > 1 and every <= {down.node for down, _ in gone}:
        newest, present = max(gone, key=lambda end: end[0].when)
        gone.sort(key=lambda end: end[0].when)
        nodes, faults = [str(node) for node in sorted(every)], [down.fault(of) for down, of in gone]
        since = present.at(newest.clock, newest.when, "since")
        fault = all_down(nodes, faults, {down.phase for down, _ in gone}, since)
        yield Event(Kind.ENDED, None, fault, newest.when, newest.when, over=False)
        told += gone
    for down, present in _of_splits([end for end in best if end not in told]):
        over = down.phase in OVER
        fault, seconds = down.fault(present), 2 * down.stall
        cause = "was declared dead" if down.what == DECLARED_DEAD else down.what
        begin = down.when - down.waited
        yield Event(
            Kind.ENDED, None if down.also else down.node, fault, begin, down.when, over, seconds,
            speaker=down.lost, judge=down.judge, cause=cause,
        )  # fmt: skip
    ends = [Counter(node for _, node in log.times) for log in logs]
    ended = set().union(*ends) - {down.node for down, _ in missed}
    count = sum(max(of_log[node] for of_log in ends) for node in ended)
    yield Reading("shutdowns", count, what=f"forced shutdowns: {count}")


def _explained(end: tuple[Down, Present], logs: list[Shutdown]) -> tuple[Down, Present]:
    """Return why a node ended of which others only know that they lost it, where its own log shows it."""
    down, present = end
    for log in logs:
        down = log.explained(down)
    return down, present


def _of_splits(ends: list[tuple[Down, Present]]) -> Iterator[tuple[Down, Present]]:
    """Make one of the ends of nodes that lost the same arbitration, and are as far since."""
    of_split: dict[object, list[tuple[Down, Present]]] = {}
    for down, present in ends:
        split = compiled(SPLIT).match(down.why)
        of_split.setdefault((down.why, down.phase) if split else down.node, []).append((down, present))
    for group in of_split.values():
        first, present = min(group, key=lambda end: end[0].when)
        near = [down for down, _ in group if down is not first and down.when - first.when <= WINDOW]
        others = sorted(down.node for down in near if down.node is not None)
        if others:
            why, advice = compiled(SPLIT).sub(r"they \1", first.why), first.advice.partition(RESTART)[0]
            yield first._replace(also=others, why=why, advice=advice), present
        yield from (end for end in group if not others or end[0] not in (first, *near))


def _is_no_data_node(down: Down, present: Present, known: set[int], every: set[int]) -> bool:
    """Whether a node declared dead is an SQL or API node.

    QMGR of 9.7.2 logs the same of all kinds of nodes. A cluster log knows data nodes, which write to it. Data
    nodes name others as such when they fail ("NR Status: node=4"), and look for a majority in that instant.
    """
    if not down.tellers or down.node in known or down.data_node:
        return False
    return len(every) > 1 or (not every and abs(present.now - down.when) > TOGETHER)


def _best(of_node: list[tuple[Down, Present]]) -> tuple[Down, Present]:
    """Choose what is known best of what several logs have of one node, and how far the node has come."""
    newest = max(down.when for down, _ in of_node)
    of_node = [end for end in of_node if newest - end[0].when <= WINDOW and not _came_back(end[0], newest)]
    latest, _ = max(of_node, key=lambda end: max(end[0].when, end[0].since))
    best, present = max(of_node, key=lambda end: _knowledge(end[0]))
    judge = next((down.judge for down, _ in of_node if down.judge), None)
    best = best._replace(phase=latest.phase, since=latest.since, since_clock=latest.since_clock)
    return best._replace(judge=judge), present


def _came_back(down: Down, before: float) -> bool:
    """Whether the node had started again before another end of it; a clock may have been set back since."""
    return down.phase == "back" and down.since < before and down.when < before


def _knowledge(down: Down) -> tuple[bool, bool, bool, float]:
    """Rank what is known of an end."""
    return not down.hearsay, down.by is None, bool(down.gave_up), down.when
