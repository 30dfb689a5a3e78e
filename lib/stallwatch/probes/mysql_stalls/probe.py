"""One run: whether anybody waits, and if somebody does, who blocks whom and what that connection does."""

from __future__ import annotations

from stallwatch.causes import Subject
from stallwatch.findings import ProbeError
from stallwatch.history import delta, recall
from stallwatch.probes.mysql import other_waits
from stallwatch.probes.mysql.locks.graph import Graph
from stallwatch.probes.mysql.processes import last_statements, since_idle
from stallwatch.probes.mysql_stalls import connections, diagnosis, heads, messages
from stallwatch.probes.mysql_stalls.collect import DEADLOCKS, LEFT, PAUSE, TIMEOUTS, Collector, Details
from stallwatch.probes.mysql_stalls.messages import MOST_HEADS, STALLED, TRANSACTION
from stallwatch.probes.mysql_stalls.model import Found
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Look
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.sources.mysql.server import Server

_WORTH = 1.0  # seconds of a wait from which on it is asked who blocks whom
_SPARE = 1.0  # seconds that are left for the line when the latest deadlock is asked for


def findings(server: Server, run: Run, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge who blocks whom; raises a ProbeError if it is not known whether anybody waits."""
    collector = Collector(server, run)
    looked: list[Look] = []

    def look() -> Look:
        looked.append(collector.counters())
        return looked[-1]

    interval = delta.measured(look, memory, None, run.deadline)
    kept = heads.Memory(memory, looked[-1].uptime)
    waiting = collector.waiting()
    now = looked[-1].at
    subject = Subject(server.where, started=now - looked[-1].uptime)
    found = Found(waiting, Details(Graph(()), {}), subject, now, interval, server.flavour)
    grown = _grown(memory, looked[-1].uptime, collector.history)
    used = connections.look(
        collector.asking, collector.connected, collector.most_connections, memory
    )
    found = found._replace(history=collector.history, grown=grown, used=used)
    run.so_far(messages.all_of_it(found, run))
    lasts = waiting.longest >= _WORTH or kept.knew_any or interval.counts.get(TIMEOUTS)
    old = run.alerts(TRANSACTION, max((one.age for one in waiting.transactions), default=None))
    if (waiting.number and lasts) or waiting.other_waits or old:
        waiting, details = collector.details(waiting)
        details = collector.without_progress(details, run.deadline)
        blockers = heads.heads(waiting, details, kept)
        if any(one.certain < one.possible and run.alerts(STALLED, one.possible) for one in blockers):
            blockers = heads.lasting(blockers, _after_a_pause(collector, run))
        found = found._replace(
            waiting=waiting,
            details=details,
            heads=blockers,
            circles=heads.circles(waiting, details, kept),
            unexplained=heads.unexplained(waiting, details, kept),
            other_waits=heads.other_waits(waiting, details, kept),
            oldest=heads.oldest(waiting, blockers, details),
            is_detailed=True,
        )
        run.so_far(messages.all_of_it(found, run), all_but="what the connections do")
        named = [one.connection for one in blockers[:MOST_HEADS] if one.connection]
        named += [found.oldest.process] if old and found.oldest and found.oldest.process else []
        last = {
            **details.last,
            **last_statements(collector.asking, [one for one in named if one not in details.last]),
        }
        details = details._replace(processes=since_idle(details.processes, last))
        found = found._replace(details=details, last=last, programs=collector.programs(named))
        if found.other_waits:
            seconds = heads.longest(found.other_waits, details)
            seen = other_waits.evidence(collector.asking, seconds, details.processes.values())
            found = diagnosis.standing(found._replace(evidence=seen))
    if (interval if interval.seconds else looked[-1]).counts.get(DEADLOCKS):
        run.so_far(messages.all_of_it(found, run), all_but="the latest deadlock")
        parties, at = collector.latest_deadlock(run.deadline.left() - _SPARE)
        found = found._replace(deadlock=parties, deadlock_at=at)
    kept.forget_others()
    yield from messages.all_of_it(
        found._replace(missing=tuple(collector.asking.missing.values()), lost=collector.asking.lost), run
    )


def _grown(memory: dict[str, Any], uptime: float, history: float | None) -> tuple[float, float] | None:
    """Return by how much the history list has grown since an earlier run, and in how many seconds."""
    at, length = recall(memory, "history", tuple[float, float | None]) or (float("inf"), None)
    passed = uptime - at
    if 0 <= passed < delta.LEAST:  # the same look again
        return None
    memory["history"] = [uptime, history]
    return None if passed < 0 or history is None or length is None else (history - length, passed)


def _after_a_pause(collector: Collector, run: Run) -> Sequence[Transaction] | None:
    """Look at the transactions once more; None: there was no time for it."""
    if run.deadline.left() < PAUSE + LEFT:
        return None
    run.deadline.rest(PAUSE)
    try:
        found = collector.transactions()
    except ProbeError:  # what is known already is worth more
        return None
    return None if collector.asking.failed else found
