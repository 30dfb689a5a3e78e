"""One look at all pools of a JVM."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import NamedTuple

from stallwatch.probes.jmx_attributes.absent import NoChangeError
from stallwatch.probes.jmx_attributes.changes import CLOCK, Changes
from stallwatch.probes.jmx_attributes.reader import Reader
from stallwatch.probes.jmx_thread_pools import judging, words
from stallwatch.probes.jmx_thread_pools.finding import places, read
from stallwatch.reading import Fault, ProbeError, Reading, State
from stallwatch.sources.jmx.errors import JmxError, UnreachableError
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.jmx_thread_pools.finding import Found, Place
    from stallwatch.probes.jmx_thread_pools.judging import Judged, Thresholds
    from stallwatch.probes.jmx_thread_pools.pool import Pool
    from stallwatch.reading import Finding
    from stallwatch.sources.jmx import Server

_THREADING = "java.lang:type=Threading"
_THREADS = [(_THREADING, attribute) for attribute in ("ThreadCount", "PeakThreadCount", "DaemonThreadCount")]
_AGAIN = 1.0  # seconds to the second look at a pool in which somebody waits: what lasts less heals itself
_FEW, _MANY = 3, 30  # names in a sentence


class Asked(NamedTuple):
    """What the user asked for, and how to go about it."""

    pause: Callable[[float], None]  # waits for so many seconds
    trace: Callable[[str], None]  # is told what is asked of the server
    pools: Sequence[re.Pattern[str]] = ()  # only those whose whole name fits one; none: all
    deadlocks: bool = False

    def includes(self, pool: str) -> bool:
        """Whether this pool is to be looked at."""
        return not self.pools or any(pattern.fullmatch(pool) for pattern in self.pools)


class _Asides(NamedTuple):
    """What cannot be known in this run, and of which pools."""

    uncounted: dict[str, list[str]]
    unsettled: list[str]


def findings(
    server: Server, asked: Asked, memory: dict[str, Any], thresholds: Thresholds
) -> Iterator[Finding]:
    """Give the sentence on all pools first, then each that is in trouble."""
    judging.complete(thresholds)
    reader = Reader(server, lambda _: None)  # which would tell each of a hundred beans
    existing = places(server, asked.trace)
    chosen = [place for place in existing if asked.includes(place.pool)]
    found = _read(reader, chosen, asked, [*CLOCK, *_THREADS])
    again = _again(server, chosen, found.pools, asked)
    changes, asides = Changes(memory, reader), _Asides({}, [])
    settled = [_settled(pool, reader, asides) for pool in found.pools]
    judged = [_since(changes, pool, asides)._replace(again=again.get(pool.name)) for pool in settled]
    threads = _threads(reader)
    if asked.pools and not judged:
        yield _none_fits(asked, existing, server.where)
    else:
        yield _summary(judged, threads)
    yield from _told(asides, judged)
    yield threads
    yield from judging.totals(judged)
    yield from judging.told(judged, thresholds, alone=bool(asked.pools))
    yield from _unread(found.unread)
    if asked.deadlocks:
        yield _deadlocks(server)
    changes.keep()


def _read(
    reader: Reader, some: Sequence[Place], asked: Asked, besides: Sequence[tuple[str, str]] = ()
) -> Found:
    begun = time.monotonic()
    found = read(reader, some, besides)
    spent = say_duration(time.monotonic() - begun)
    asked.trace(f"read {len(some)} numbers of {len(found.pools)} pools in {spent}")
    return found


def _again(server: Server, chosen: Sequence[Place], pools: Sequence[Pool], asked: Asked) -> dict[str, Pool]:
    """Look a second time at pools in which somebody waits."""
    waited = {pool.name for pool in pools if judging.waits(pool)}
    if not waited:
        return {}
    asked.pause(_AGAIN)
    reader = Reader(server, lambda _: None)
    found = _read(reader, [place for place in chosen if place.pool in waited], asked)
    return {pool.name: pool for pool in found.pools}


def _settled(pool: Pool, reader: Reader, asides: _Asides) -> Pool:
    """Take an average that is younger than what it is over for not known; nobody is idle twice."""
    if pool.idle is None:
        return pool
    with suppress(JmxError):
        uptime = reader.value(*CLOCK[1])
        if isinstance(uptime, int | float) and uptime < pool.family.settles * 1000:
            asides.unsettled.append(pool.name)
            return pool._replace(idle=None)
    return pool._replace(idle=min(pool.idle, 1))


def _since(changes: Changes, pool: Pool, asides: _Asides) -> Judged:
    """Compare with the last run; ``asides`` gets what is to be said of counters that cannot be compared."""
    key = f"{pool.family.name}/{pool.name}"
    blocked = completed = None
    if pool.total_blocked is not None:
        try:
            blocked = changes.since(f"{key} blocked", pool.total_blocked, only_grows=True)
        except NoChangeError as error:
            asides.uncounted.setdefault(str(error), []).append(pool.name)
    if pool.completed is not None:
        with suppress(NoChangeError):
            completed = changes.since(f"{key} completed", pool.completed, only_grows=True)
            completed /= changes.seconds
    return judging.Judged(pool, blocked, completed, changes.seconds)


def _told(asides: _Asides, judged: Sequence[Judged]) -> Iterator[Finding]:
    counted = sum(one.pool.total_blocked is not None for one in judged)
    for reason, names in asides.uncounted.items():
        of = "" if len(names) == counted else f" of {_listed(names, _FEW)}"
        yield Fault(State.OK, f"blocked tasks{of} are counted from now on: {reason}")
    if asides.unsettled:
        of = _listed(asides.unsettled, _FEW)
        yield Fault(State.OK, f"how idle {of} are is not known yet: the JVM has just started")


def _listed(names: Sequence[str], room: int) -> str:
    more = f" and {len(names) - room} more" if len(names) > room else ""
    return ", ".join(names[:room]) + more


def _summary(judged: Sequence[Judged], threads: Reading) -> Reading:
    pools = [one.pool for one in judged]
    if pools:
        return Reading("pools", len(pools), what=words.summary(pools), table=words.table(pools))
    return Reading("pools", 0, what=f"{words.summary(pools)}; {threads.what}")


def _none_fits(asked: Asked, existing: Sequence[Place], where: str) -> ProbeError:
    names = list(dict.fromkeys(place.pool for place in existing))
    wanted = " or ".join(pattern.pattern for pattern in asked.pools)
    there = f"are {_listed(names, _MANY)}" if names else "is none of a kind that is known"
    return ProbeError(f"no pool of {where} fits {wanted}: there {there}")


def _threads(reader: Reader) -> Reading:
    try:
        count, peak, daemons = (reader.value(*one) for one in _THREADS)
    except UnreachableError:
        raise
    except JmxError as error:
        return Reading("threads", None, what=error.what, advice=error.advice)
    if not isinstance(count, int):
        return Reading("threads", None, what=f"ThreadCount of {_THREADING} is no number")
    return Reading("threads", count, what=f"{count} threads ({daemons} daemons, peak {peak})")


def _unread(why: Sequence[ProbeError]) -> Iterator[ProbeError]:
    if why:
        more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
        yield ProbeError(why[0].what + more, why[0].advice)


def _deadlocks(server: Server) -> Finding:
    try:
        threads = server.deadlocked_threads()
    except UnreachableError:
        raise
    except JmxError as error:
        return ProbeError(
            f"deadlocks cannot be looked for: {error.what}",
            "a read-only JMX role may not do that: log in as another one, or leave out --deadlocks",
        )
    if not threads:
        return Reading("deadlocked", 0, what="no threads are deadlocked")
    return Reading(
        "deadlocked",
        len(threads),
        what=f"{len(threads)} threads are deadlocked, they wait for each other for ever",
        why=", ".join(f"#{number}" for number in threads),
        advice="jstack PID shows them by these numbers, and what they hold; only a restart ends it",
    )
