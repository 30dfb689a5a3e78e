"""One run: find the pools, read them, diagnose, report it."""

from __future__ import annotations

from stallwatch.causes import Scope, Subject
from stallwatch.findings import ProbeError
from stallwatch.probes.jmx_thread_pools import collect, messages
from stallwatch.probes.jmx_thread_pools.diagnosis import troubles
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.queries import places
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_thread_pools.families.form import Family
    from stallwatch.sources.jmx import Server


def findings(
    server: Server,
    patterns: Sequence[re.Pattern[str]],
    memory: dict[str, Any],
    run: Run,
    *,
    deadlocks: bool,
    limits_busy: bool,
    limits_threads: bool,
    families: Sequence[Family] = FAMILIES,
) -> Iterator[Finding]:
    """Yield the sentence on all pools first, then each that is in trouble.

    No ``patterns``: look at all. ``limits_busy``: the user limits how busy a pool may be.
    ``families``: the table of pools. ``limits_threads``: and how many threads the JVM may have.
    """
    existing = places(server, run.trace, families)
    chosen = [place for place in existing if place.fits(patterns)] if patterns else existing
    snapshot = collect.snapshot(server, chosen, memory, run)
    if patterns and existing and not (snapshot.pools or snapshot.forbidden):
        yield messages.none_fits(patterns, existing, server.where, silent=bool(chosen))
    else:
        watched = bool(snapshot.pools) if patterns else deadlocks or limits_threads
        yield from messages.overview(snapshot, server.where, existing, watched=watched)
    jvm = Subject(server.where, started=snapshot.started)
    in_trouble = troubles(
        snapshot.pools, run, lambda pool: jvm._replace(thing=Scope.POOL, id="/".join(pool.key))
    )
    yield from messages.all_of_it(snapshot, in_trouble, one_by_one=bool(patterns), limits_busy=limits_busy)
    if isinstance(snapshot.second_look, ProbeError):
        raise snapshot.second_look
    if deadlocks:
        yield messages.deadlocks(collect.deadlocked(server), jvm)
