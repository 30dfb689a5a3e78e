"""One look at all pools of a JVM."""

from __future__ import annotations

import time
from contextlib import suppress

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.probes.jmx_attributes.absent import NoChangeError
from stallwatch.probes.jmx_attributes.changes import CLOCK, Changes
from stallwatch.probes.jmx_attributes.reader import Reader
from stallwatch.probes.jmx_thread_pools import judging, words
from stallwatch.probes.jmx_thread_pools.finding import places, read
from stallwatch.probes.jmx_thread_pools.last import POOLS, counter, last
from stallwatch.sources.jmx.errors import JmxError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.jmx_thread_pools.finding import Found, Place
    from stallwatch.probes.jmx_thread_pools.judging import Judged, Thresholds
    from stallwatch.probes.jmx_thread_pools.last import Last
    from stallwatch.probes.jmx_thread_pools.pool import Pool
    from stallwatch.sources.jmx import Server

_THREADING = "java.lang:type=Threading"
_THREADS = [(_THREADING, attribute) for attribute in ("ThreadCount", "PeakThreadCount", "DaemonThreadCount")]
_AGAIN = 1.0  # seconds to the second look at a pool in which somebody waits: what lasts less heals itself
_OF_TWO = 1.5  # share of time: a single one's is about 1 at most
_FEW, _MANY = 3, 30  # names in a sentence
_MOST = 10  # pools that each have perfdata of their own: every one takes about 200 characters of the line


class Asked(NamedTuple):
    """What the user asked for, and how to go about it."""

    pause: Callable[[float], bool]  # waits for so many seconds, or says that there is no time for it
    trace: Callable[[str], None]  # is told what is asked of the server
    pools: Sequence[re.Pattern[str]] = ()  # only those whose whole name fits one; none: all
    deadlocks: bool = False

    @property
    def wanted(self) -> str:
        """The choice of pools in words."""
        return " or ".join(pattern.pattern for pattern in self.pools)

    def includes(self, place: Place) -> bool:
        """Whether this pool is to be looked at; one that shares its name may be meant by that alone."""
        names = (place.name, place.pool)
        return not self.pools or any(pattern.fullmatch(name) for pattern in self.pools for name in names)


class _Asides(NamedTuple):
    """What cannot be known in this run, and of which pools."""

    uncounted: dict[str, list[str]]
    unsettled: list[str]


class _Second(NamedTuple):
    """What a second look found of the pools in which somebody waited, by family and name."""

    pools: dict[tuple[str, str], Pool]
    in_time: bool = True
    lost: ProbeError | None = None  # why it failed


def findings(
    server: Server, asked: Asked, memory: dict[str, Any], thresholds: Thresholds
) -> Iterator[Finding]:
    """Give the sentence on all pools first, then each that is in trouble."""
    judging.complete(thresholds)
    reader = Reader(server, lambda _: None)  # which would tell each of a hundred beans
    existing = places(server, asked.trace)
    chosen = [place for place in existing if asked.includes(place)]
    found = _read(reader, chosen, asked, [*CLOCK, *_THREADS])
    second = _again(server, chosen, found.pools, asked)
    before, changes, asides = last(memory, reader), Changes(memory, reader), _Asides({}, [])
    settled = [_settled(pool, reader, before, changes, asides) for pool in found.pools]
    judged = [
        _since(changes, before, pool, asides)._replace(again=second.pools.get(pool.key)) for pool in settled
    ]
    threads = _threads(reader)
    if asked.pools and not judged:
        yield _no_numbers(asked, server.where) if chosen else _none_fits(asked, existing, server.where)
    elif before.pools and not judged:
        yield _all_gone(before.pools, server.where)
    else:
        yield _summary(judged, threads)
    yield from _told(asides, judged)
    if not second.in_time:
        yield Fault(State.OK, "no time was left for a second look at who waits: only what lasts is critical")
    yield threads
    yield from judging.totals(judged)
    yield from judging.told(judged, thresholds, alone=bool(asked.pools) and len(judged) <= _MOST)
    if asked.pools and len(judged) > _MOST:
        yield Fault(
            State.OK, f"{len(judged)} pools fit, more than {_MOST}: only their sums are in the perfdata"
        )
    yield from _unlimited(judged, thresholds)
    yield from _unread(found.unread)
    changes.keep()
    memory[POOLS] = len(judged) or before.pools
    if second.lost:
        raise second.lost
    if asked.deadlocks:
        yield _deadlocks(server)


def _read(
    reader: Reader, some: Sequence[Place], asked: Asked, besides: Sequence[tuple[str, str]] = ()
) -> Found:
    begun = time.monotonic()
    found = read(reader, some, besides)
    spent = say_duration(time.monotonic() - begun)
    asked.trace(f"read {len(some)} numbers of {len(found.pools)} pools in {spent}")
    return found


def _again(server: Server, chosen: Sequence[Place], pools: Sequence[Pool], asked: Asked) -> _Second:
    """Look a second time at pools in which somebody waits; what the first look told is kept anyhow."""
    waited = {pool.key for pool in pools if judging.waits(pool)}
    if not waited:
        return _Second({})
    if not asked.pause(_AGAIN):
        return _Second({}, in_time=False)
    reader = Reader(server, lambda _: None)
    try:
        found = _read(reader, [place for place in chosen if (place.family.name, place.name) in waited], asked)
    except ProbeError as error:
        return _Second({}, lost=error)
    return _Second({pool.key: pool for pool in found.pools})


def _settled(pool: Pool, reader: Reader, before: Last, changes: Changes, asides: _Asides) -> Pool:
    """Take an average that is younger than what it is over for not known; nobody is idle twice.

    Where two share a number (see families), the one that is busier is idle for what exceeds 1, at least: the
    other one may be idle all the time. That they do is known once the sum was too large for one of them.
    """
    if pool.idle is None:
        return pool
    same = before.uptime is None
    shares = pool.idle > _OF_TWO or (same and before.numbers.get(counter("/".join(pool.key), "of two")) == 1)
    with suppress(NoChangeError):
        changes.since(counter("/".join(pool.key), "of two"), int(shares), only_grows=False)
    with suppress(JmxError):
        uptime = reader.value(*CLOCK[1])
        if isinstance(uptime, int | float) and uptime < pool.family.settles * 1000:
            asides.unsettled.append(pool.name)
            return pool._replace(idle=None)
    return pool._replace(idle=max(0, min(pool.idle - shares, 1)))


def _since(changes: Changes, before: Last, pool: Pool, asides: _Asides) -> Judged:
    """Compare with the last run; ``asides`` gets what is to be said of counters that cannot be compared."""
    key = "/".join(pool.key)
    blocked = completed = None
    seconds = changes.seconds
    if pool.total_blocked is not None:
        try:
            blocked = changes.since(counter(key, "blocked"), pool.total_blocked, only_grows=True)
        except NoChangeError as error:
            if begun := before.begun(key, seconds):
                blocked, seconds = pool.total_blocked, begun
            else:
                asides.uncounted.setdefault(str(error), []).append(pool.name)
    if pool.completed is not None:
        with suppress(NoChangeError):
            completed = changes.since(counter(key, "completed"), pool.completed, only_grows=True)
            completed /= changes.seconds
    idle = before.numbers.get(counter(key, "idle"))
    if pool.idle is not None:
        with suppress(NoChangeError):
            changes.since(counter(key, "idle"), 100 * pool.idle, only_grows=False)
    known = idle if isinstance(idle, int | float) else None
    return judging.Judged(pool, blocked, completed, seconds, idle_before=known)


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


def _no_numbers(asked: Asked, where: str) -> ProbeError:
    return ProbeError(
        f"the pools of {where} that fit {asked.wanted} tell no numbers",
        "a Tomcat connector with a shared Executor has none, the Executor is the pool",
    )


def _all_gone(before: int, where: str) -> ProbeError:
    pools = "1 pool" if before == 1 else f"{before} pools"
    return ProbeError(
        f"{where} had {pools} and has none now",
        "is it starting, or has it lost them? If it is to have none, there is nothing to check here",
    )


def _none_fits(asked: Asked, existing: Sequence[Place], where: str) -> ProbeError:
    names = list(dict.fromkeys(place.name for place in existing))
    there = f"are {_listed(names, _MANY)}" if names else "is none of a kind that is known"
    return ProbeError(f"no pool of {where} fits {asked.wanted}: there {there}")


def _unlimited(judged: Sequence[Judged], thresholds: Thresholds) -> Iterator[Finding]:
    """Say so where the user's limits of how busy a pool may be cannot be judged."""
    names = [one.pool.name for one in judged if one.pool.busy is None]
    if not names or not any(thresholds["busy"].values()):
        return
    if len(names) == len(judged):
        yield ProbeError("how busy the pools are cannot be judged: none tells how large it may be")
    else:
        yield Fault(
            State.OK, f"how busy {_listed(names, _FEW)} may be is not judged: without a limit of its own"
        )


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
            error.advice
            or "a read-only JMX role may not do that: log in as another one, or leave out --deadlocks",
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
