"""One run: collect, diagnose, ask for evidence where something is wrong, say it."""

from __future__ import annotations

from stallwatch.history.streak import Streaks
from stallwatch.probes.ndb_page_buffer import collect, messages, queries
from stallwatch.probes.ndb_page_buffer.diagnosis import diagnose
from stallwatch.probes.ndb_page_buffer.model import READS
from stallwatch.probes.ndbinfo import ended
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_page_buffer.diagnosis import Diagnosis, Rules
    from stallwatch.probes.ndb_page_buffer.queries import Evidence
    from stallwatch.probes.ndbinfo.asking import Ndbinfo


class Asked(NamedTuple):
    """What the user asked for."""

    rules: Rules
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    sample: float | None = None  # seconds between two looks of one run
    everything: bool = False  # tell also what is asked only where something is wrong


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the traffic since the last look that ``memory`` knows of, or that of a sample."""
    yield from ended.settled(lambda: list(_findings(ndbinfo, asked, memory)))


def _findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    if asked.sample:
        snapshot = collect.in_this_run(ndbinfo, asked.sample)
    else:
        snapshot = collect.since_last_run(ndbinfo, memory)
    found = diagnose(snapshot, Streaks(memory, "low", snapshot.cluster.expected), asked.rules)
    asked.so_far(list(messages.all_of_it(snapshot, found, queries.NONE, asked.rules)))
    yield from messages.all_of_it(snapshot, found, _evidence(ndbinfo, asked, found), asked.rules)


def _evidence(ndbinfo: Ndbinfo, asked: Asked, found: Diagnosis) -> Evidence:
    if not found.low and not asked.everything:
        return queries.NONE
    slow_to_read = (one.node for one in found.low if one.traffic.waits_for == READS)
    return queries.gather(ndbinfo, next(slow_to_read, None))
