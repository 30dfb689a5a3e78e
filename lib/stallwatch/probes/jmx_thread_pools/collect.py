"""What the pools of a JVM show: now, a second later where somebody waits, and at the last run."""

from __future__ import annotations

import math
import time
from contextlib import suppress

from stallwatch.findings import ProbeError
from stallwatch.history import recall
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.jmx.changes import CLOCK, Changes
from stallwatch.probes.jmx.reader import Reader
from stallwatch.probes.jmx_thread_pools.families import kafka
from stallwatch.probes.jmx_thread_pools.model import NO_USE, Observation, Pool
from stallwatch.probes.jmx_thread_pools.standstill import standstill
from stallwatch.sources.jmx.errors import (
    ForbiddenError,
    JmxError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreachableError,
)
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_thread_pools.queries import Place
    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.values import Value

    Answer = TypeVar("Answer")

    # The pools by family and name, or why it failed; None: there was no time for it.
    Second = dict[tuple[str, str], Pool] | ProbeError | None

THREADING = "java.lang:type=Threading"
_THREADS = [(THREADING, attribute) for attribute in ("ThreadCount", "PeakThreadCount", "DaemonThreadCount")]
_BESIDES = (*CLOCK, *_THREADS)  # what is read together with the pools
_ALTERNATIVES = 2  # names that an attribute may have
_AGAIN = 1.0  # seconds to the second look at a pool in which somebody waits: what lasts less heals itself
_LARGEST = 2**63 - 1  # Java's largest long; a BigInteger can be more, and no pool
_POOLS = "pools"  # beside what Changes keeps in the memory


class Found(NamedTuple):
    """What a look at a JVM found."""

    pools: list[Pool]
    unread: list[ProbeError]  # why numbers cannot be had
    forbidden: tuple[str, ...] = ()  # pools of which Jolokia's policy forbids numbers


class Snapshot(NamedTuple):
    """What there is to judge."""

    pools: list[Observation]
    had: int  # pools that there were when any were last seen, without those that every JVM has
    threads: list[Value] | JmxError  # of the JVM: now, at most, daemons
    unread: list[ProbeError]  # why numbers cannot be had
    second_look: Second  # at pools in which somebody waited
    forbidden: tuple[str, ...] = ()  # pools of which Jolokia's policy forbids numbers
    unwatched: bool = False  # the network threads of Kafka's broker
    started: float | None = None  # the JVM, in seconds since 1970


def snapshot(server: Server, places: Sequence[Place], memory: dict[str, Any], run: Run) -> Snapshot:
    """Read the pools, compare them with the last run that ``memory`` knows of, and remember this one."""
    reader = Reader(server, lambda _: None)  # which would trace each of a hundred beans
    pools, unread, forbidden = read(reader, places, run.trace, _BESIDES)
    waiting = {pool.key for pool in pools if pool.waits}
    second = _second_look(server, [place for place in places if place.key in waiting], run)
    again = second if isinstance(second, dict) else {}
    had, changes = recall(memory, _POOLS, int) or 0, Changes(memory, reader)
    started, uptime = (_seconds(reader, one) for one in CLOCK)
    settled, unwatched = kafka.settled(pools, server, changes, uptime)
    observed = [
        _observation(pool, changes, uptime)._replace(
            second=again.get(pool.key), unsettled=before.idle is not None and pool.idle is None
        )
        for before, pool in zip(pools, settled, strict=True)
    ]
    threads = _or_why_not(lambda: [reader.value(*one) for one in _THREADS])
    found = Snapshot(observed, had, threads, unread, second, forbidden, unwatched, started)
    changes.keep()
    memory[_POOLS] = sum(not pool.family.everywhere for pool in pools) or found.had
    return found


def read(
    reader: Reader,
    wanted: Sequence[Place],
    trace: Callable[[str], None],
    besides: Iterable[tuple[str, str]] = (),
) -> Found:
    """Read these numbers, and what is asked for besides, all at once. What is gone by now is left out."""
    begun = time.monotonic()
    numbers: dict[tuple[str, str], dict[str, float]] = {place.key: {} for place in wanted}
    families = {place.family.name: place.family for place in wanted}
    labels = {place.key: place.label for place in wanted}
    unread: list[ProbeError] = []
    forbidden: dict[str, None] = {}
    heard: set[str] = set()  # beans with any of the attributes
    missing: list[tuple[Place, ProbeError]] = []
    left, more = list(wanted), list(besides)
    for turn in range(_ALTERNATIVES):
        reader.read_ahead([*more, *((place.bean, place.attributes[turn]) for place in left)])
        asked, left, more = left, [], []
        for place in asked:
            try:
                number = _number(reader, place, place.attributes[turn])
            except NoSuchAttributeError as error:
                if turn + 1 < len(place.attributes):
                    left.append(place)
                else:
                    missing.append((place, error))
            except NoSuchBeanError:
                continue
            except ForbiddenError:
                forbidden[place.name] = None
            except ProbeError as error:
                unread.append(error)
            else:
                heard.add(place.bean)
                if number is not None:
                    numbers[place.key][place.number] = number
    unread += [
        why
        for place, why in missing
        if numbers[place.key] and place.number not in numbers[place.key] and place.bean not in heard
    ]
    pools = [
        _counted(Pool(families[key[0]], key[1], **values, label=labels[key]))
        for key, values in numbers.items()
        if values.keys() - NO_USE
    ]
    spent = say_duration(time.monotonic() - begun)
    trace(f"read {plural(len(wanted), 'number')} of {plural(len(pools), 'pool')} in {spent}")
    return Found(pools, unread, (*forbidden,))


def _counted(pool: Pool) -> Pool:
    """Complete a pool's numbers: where tasks wait, all threads that there are are at work."""
    return pool._replace(active=pool.size) if pool.active is None and pool.pending else pool


def _number(reader: Reader, place: Place, attribute: str) -> float | None:
    """Read a number; servers show a negative one for none. Raises ProbeError."""
    bean = place.bean
    value = reader.value(bean, attribute)
    if place.number == "idle" and kafka.has_no_threads(place.key, value):
        return None
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and abs(value) > _LARGEST:
        value = math.inf
    if isinstance(value, int | float) and is_number(value):
        if place.number == "idle" and not kafka.is_share(place.key, value):
            raise ProbeError(f"{attribute} of {bean} is {value:g}, which is no share of the time (0 to 1)")
        return value if value >= 0 else None
    said = value if isinstance(value, float | str) else type(value).__name__
    raise ProbeError(f"{attribute} of {bean} is {'null' if value is None else said}, which is not a number")


def _second_look(server: Server, waiting: Sequence[Place], run: Run) -> Second:
    """Look again at pools in which somebody waits; what the first look found is kept anyhow."""
    if not waiting:
        return {}
    if run.deadline.left() < 2 * _AGAIN:
        return None
    run.deadline.doing = "looking a second time at pools in which somebody waits"
    run.deadline.rest(_AGAIN)
    try:
        found = read(Reader(server, lambda _: None), waiting, run.trace)
    except ProbeError as error:
        return error
    return {pool.key: pool for pool in found.pools}


def _seconds(reader: Reader, of: tuple[str, str]) -> float | None:
    """Return an attribute of the JVM's clock in seconds, if known."""
    with suppress(JmxError):
        found = reader.value(*of)
        if isinstance(found, int | float) and is_number(found):
            return found / 1000
    return None


def _observation(pool: Pool, changes: Changes, uptime: float | None) -> Observation:
    """Compare a pool with the last run; ``uptime`` of the JVM, in seconds."""
    blocked_key, completed_key, idle_key = (
        f"{'/'.join(pool.key)} {of}" for of in ("blocked", "completed", "idle")
    )
    blocked = completed = None
    seconds, uncounted = changes.seconds, ""
    if pool.total_blocked is not None:
        is_new = changes.last(blocked_key) is None and changes.last(completed_key) is None
        try:
            blocked = changes.since(blocked_key, pool.total_blocked, only_grows=True)
        except NoIntervalError as error:
            if begun := _counting_for(changes, is_new=is_new):
                blocked, seconds = pool.total_blocked, begun
            else:
                uncounted = str(error)
    if pool.completed is not None:
        with suppress(NoIntervalError):
            completed = changes.since(completed_key, pool.completed, only_grows=True) / changes.seconds
    stop = standstill(pool, changes, completed, uptime)
    idle_before = changes.before(idle_key)
    if pool.idle is not None:
        changes.note(idle_key, 100 * (pool.idle if pool.idle_at_most is None else pool.idle_at_most))
    known = idle_before if isinstance(idle_before, int | float) else None
    return Observation(
        pool,
        blocked,
        completed,
        seconds,
        idle_before=known,
        stalled=stop.stalled,
        still=stop.seconds,
        usual=stop.usual,
        uncounted=uncounted,
    )


def _counting_for(changes: Changes, *, is_new: bool) -> float | None:
    """Return the seconds within which the counters of a pool began at 0; None if they are older."""
    if changes.restarted_for is not None:
        return changes.restarted_for
    return changes.seconds if changes.seconds > 0 and is_new else None


def deadlocked(server: Server) -> Sequence[int] | JmxError:
    """Ask for the numbers of threads that wait for each other."""
    return _or_why_not(server.deadlocked_threads)


def _or_why_not(ask: Callable[[], Answer]) -> Answer | JmxError:
    """Return the answer, or the error that takes nothing from what else was found."""
    try:
        return ask()
    except UnreachableError:
        raise
    except JmxError as error:
        return error
