"""One run: collect, diagnose, look for evidence where something is wrong, report it."""

from __future__ import annotations

from stallwatch.history.streak import Streaks
from stallwatch.probes.ndb_page_buffer import collect, messages
from stallwatch.probes.ndb_page_buffer.diagnosis import diagnose
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.ndb_page_buffer.collect import Evidence
    from stallwatch.probes.ndb_page_buffer.diagnosis import Diagnosis, Rules
    from stallwatch.probes.ndbinfo.queries import Ndbinfo


def findings(
    ndbinfo: Ndbinfo, options: Namespace, run: Run, rules: Rules, memory: dict[str, Any]
) -> Iterator[Finding]:
    """Judge the traffic since the last look that ``memory`` knows of, or that of a sample."""
    yield from data_nodes.settled(lambda: list(_findings(ndbinfo, options, run, rules, memory)))


def _findings(
    ndbinfo: Ndbinfo, options: Namespace, run: Run, rules: Rules, memory: dict[str, Any]
) -> Iterator[Finding]:
    if options.sample:
        snapshot = collect.in_this_run(ndbinfo, options.sample)
    else:
        snapshot = collect.since_last_run(ndbinfo, memory)
    found = diagnose(snapshot, Streaks(memory, "low", snapshot.cluster.expected), rules)
    run.so_far(list(messages.all_of_it(snapshot, found, collect.NONE, rules)))
    evidence = _evidence(ndbinfo, found, even_if_well=bool(options.verbose))
    yield from messages.all_of_it(snapshot, found, evidence, rules)


def _evidence(ndbinfo: Ndbinfo, found: Diagnosis, *, even_if_well: bool) -> Evidence:
    if not found.low and not even_if_well:
        return collect.NONE
    slow_to_read = (one.node for one in found.low if one.traffic.waits_for == collect.READS)
    return collect.gather(ndbinfo, next(slow_to_read, None))
