"""The sentences on pools, their readings for the perfdata, and the table of all their numbers."""

from __future__ import annotations

from functools import partial

from stallwatch.causes import Cause, Certainty, Kind
from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import Forms, in_all_forms
from stallwatch.probes.jmx_thread_pools.collect import THREADING
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.sources.jmx.errors import JmxError
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import plain, say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.causes import Subject
    from stallwatch.findings import Finding
    from stallwatch.probes.jmx_thread_pools.collect import Snapshot
    from stallwatch.probes.jmx_thread_pools.diagnosis import Trouble
    from stallwatch.probes.jmx_thread_pools.model import Observation, Pool
    from stallwatch.probes.jmx_thread_pools.queries import Place
    from stallwatch.sources.jmx.values import Value

POLICY_OF_BEANS = "take them out of <deny>, or add them to <allow>, in jolokia-access.xml"
# Of a role with "readonly" in jmxremote.access: MBeanServerFileAccessController of JDK 17.
_READ_ONLY = "Access denied! Invalid access level"
_FEW, _MANY = 3, 30  # names in a sentence
_MOST = 10  # pools that each have perfdata of their own: every one takes about 200 characters of the line

# By evidence, words that are not those of the pool's row in the table of its family.
_NO_NEW = {
    "why": Forms("the pool is slow or unable to open new ones", "no new ones in time"),
    "advice": Forms("check that the database or service answers", "check the database or service"),
    "more": "and that it lets the application log in; the application's log has the errors",
}
_WORDS = {
    "none_in_use": _NO_NEW,
    "not_all_in_use": _NO_NEW,
    "no_request_completed": {"why": "blocked or long requests"},
    "no_thread_at_work": {"why": "no thread works on them"},
}
_BELOW = {
    "no_task_ever_completed": "none has been completed since the JVM started: they may be long by design",
}
_SUM_OF_TWO = (
    "before Kafka 4.2 a broker that is also a controller shows only the sum of both idle times; "
    "RequestQueueTimeMs of kafka.network:type=RequestMetrics shows which requests wait"
)
_UNWATCHED = (
    "the broker's network threads are not watched, NetworkProcessor is the controller's: "
    "use check_jmx -O 'kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*' "
    "-A io-wait-ratio --unit share --aggregate min -w 30%:"
)


def overview(snapshot: Snapshot, where: str, places: Sequence[Place], *, watched: bool) -> Iterator[Finding]:
    """Yield the number of pools, with a sentence on all and their table; nothing watched is UNKNOWN.

    ``places``: where there may be numbers. ``watched``: something is anyhow, the JVM's threads, or pools that
    the user named.
    """
    pools = [one.pool for one in snapshot.pools]
    silent = list(dict.fromkeys(place.name for place in places if not place.family.everywhere))
    table = _table(pools) if pools else None
    if watched or any(not pool.family.everywhere for pool in pools):
        none = f"no numbers of {listed(silent, _FEW)}" if silent else "no pool of a known kind"
        what = ", ".join(_summary(pools)) if pools else f"{none}, {_threads(snapshot.threads).what}"
        yield Reading("pools", len(pools), what=what, table=table)
        return
    yield Reading("pools", len(pools), what=plural(len(pools), "pool"), table=table, in_table=True)
    if snapshot.forbidden:  # which is reported for itself
        return
    if snapshot.had:
        what = f"{where} had {plural(snapshot.had, 'pool')} and has none now"
        advice = "check whether the JVM is starting, or lost them"
        yield Fault(State.UNKNOWN, what, advice=advice)
        return
    if silent:
        what = f"the pools of {where} show no numbers: {listed(silent, _FEW)}"
        line = Line(more=_why_silent(places))
        yield Fault(State.UNKNOWN, what, "nothing is watched", "check other numbers with check_jmx", line)
        return
    advice = "make the JVM show its pools (below), or describe them with --pools FILE"
    ways: dict[str, list[str]] = {}  # in which servers are made to show their pools, each once
    for family in FAMILIES:
        if family.shown:
            ways.setdefault(family.shown, []).append(family.name)
    known = ", ".join(dict.fromkeys(family.name for family in FAMILIES if not family.everywhere))
    line = Line(more=(f"searched for {known}", *(f"{listed(names)}: {way}" for way, names in ways.items())))
    yield Fault(State.UNKNOWN, f"no pool of a known kind in {where}", "nothing is watched", advice, line)


def _why_silent(places: Iterable[Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.family.silent for place in places if place.family.silent))


def none_fits(
    patterns: Sequence[re.Pattern[str]], places: Iterable[Place], where: str, *, silent: bool
) -> ProbeError:
    """Return which pools there are instead, or that pools that fit are ``silent``."""
    wanted = " or ".join(pattern.pattern for pattern in patterns)
    if silent:
        found = ProbeError(f"the pools of {where} that fit {wanted} show no numbers")
        found.more = _why_silent(place for place in places if place.fits(patterns))
        return found
    names = list(dict.fromkeys(place.name for place in places))
    there = f"are {listed(names, _MANY)}" if names else "is none of a kind that is known"
    return ProbeError(f"no pool of {where} fits {wanted}: there {there}")


def all_of_it(
    snapshot: Snapshot,
    troubles: Sequence[Trouble],
    *,
    one_by_one: bool,
    limits_busy: bool,
) -> Iterator[Finding]:
    """Write all that was found, in the order in which it is shown among equals.

    ``one_by_one``: each pool has perfdata, always in the same order. ``limits_busy``: the user limits how
    busy a pool may be.
    """
    pools = snapshot.pools
    yield from _not_yet(pools)
    if snapshot.unwatched:
        yield Fault(State.OK, _UNWATCHED)
    if snapshot.second_look is None:
        yield Fault(State.OK, "no time was left for a second look at who waits: only what lasts is critical")
    yield _threads(snapshot.threads)
    yield from _totals(pools)
    yield from _in_trouble(troubles)
    if one_by_one and len(pools) <= _MOST:
        for one in sorted(pools, key=lambda one: one.pool.label):
            for reading in filter(lambda of: of.name != "stalled", one.readings):  # which comes and goes
                what = f"{one.pool.name}: {', '.join(_facts(one, reading.name)[:1])}"
                yield reading._replace(what=what, label=f"{one.pool.label}.{reading.name}", in_table=True)
    elif one_by_one:
        what = f"{len(pools)} pools fit, more than {_MOST}: only their sums are in the perfdata"
        yield Fault(State.OK, what)
    if limits_busy:
        yield from _unlimited([one.pool for one in pools])
    if snapshot.forbidden:
        yield ProbeError(forbidden(snapshot.forbidden), POLICY_OF_BEANS)
    if snapshot.unread:
        first, *others = snapshot.unread
        more = f" (and {len(others)} more)" if others else ""
        yield ProbeError(first.what + more, first.advice)


def forbidden(pools: Sequence[str]) -> str:
    """Report of which pools numbers may not be read."""
    return f"Jolokia's policy forbids numbers of {listed(pools, _FEW)}"


def deadlocks(threads: Sequence[int] | JmxError, jvm: Subject) -> Finding:
    """Return which threads wait for each other."""
    if isinstance(threads, JmxError) and _READ_ONLY in threads.what:
        return ProbeError(
            "deadlocks cannot be looked for: the role of this user is read-only",
            "leave out --deadlocks, or use another role",
        )
    if isinstance(threads, JmxError):
        return ProbeError(
            f"deadlocks cannot be looked for: {threads.what}",
            threads.advice
            or "a read-only JMX role may not do that: log in as another one, or leave out --deadlocks",
        )
    if not threads:
        return Reading("deadlocked", 0, what="no threads are deadlocked")
    return Reading(
        "deadlocked",
        len(threads),
        what=f"{plural(len(threads), 'thread')} deadlocked",
        why=listed([f"#{number}" for number in threads]),
        advice=Forms(
            "find these numbers in a thread dump (jstack PID), then restart the JVM",
            "run jstack PID, then restart the JVM",
        ),
        line=Line(more=("deadlocked threads wait for each other for ever: only a restart ends that",)),
        cause=Cause(Kind.THREAD_DEADLOCK, jvm, Certainty.CERTAIN, {"threads": threads}, "found_by_the_jvm"),
    )


def _not_yet(pools: Sequence[Observation]) -> Iterator[Fault]:
    """Name the pools of which something is not known yet."""
    reasons: dict[str, list[str]] = {}
    for one in pools:
        if one.uncounted:
            reasons.setdefault(one.uncounted, []).append(one.pool.name)
    counted = sum(one.pool.total_blocked is not None for one in pools)
    for reason, names in reasons.items():
        of = "" if len(names) == counted else f" of {listed(names, _FEW)}"
        yield Fault(State.OK, f"blocked tasks{of} are counted from now on: {reason}")
    if unsettled := [one.pool.name for one in pools if one.unsettled]:
        of = listed(unsettled, _FEW)
        yield Fault(State.OK, f"the idle time of {of} is not known yet: the JVM has just started")


def _threads(counts: list[Value] | JmxError) -> Reading:
    if isinstance(counts, JmxError):
        return Reading("threads", None, what=counts.what, advice=counts.advice)
    count, peak, daemons = counts
    if not isinstance(count, int):
        return Reading("threads", None, what=f"ThreadCount of {THREADING} is no number")
    return Reading("threads", count, what=f"{count} threads ({daemons} daemons, peak {peak})")


def _totals(observed: Sequence[Observation]) -> Iterator[Reading]:
    """Yield numbers over all pools, whose labels do not depend on what pools there are today."""
    pools = [one.pool for one in observed]
    for name, of, values in (
        ("active", ("in use", "in use"), [pool.active for pool in pools]),
        ("pending", ("task in queues", "tasks in queues"), [pool.pending for pool in pools]),
        ("blocked", ("task or thread blocked", "tasks or threads blocked"), [pool.blocked for pool in pools]),
        ("blocked_new", ("task blocked since the last run", "tasks blocked since the last run"),
         [one.blocked_new for one in observed]),
    ):  # fmt: skip
        if known := [value for value in values if value is not None]:
            what = f"all pools together: {_count(round(sum(known)), *of)}"
            yield Reading(f"total_{name}", sum(known), label=name, what=what, in_table=True)
    if shares := [pool.busy for pool in pools if pool.busy is not None]:
        what = f"the busiest pool uses {max(shares):.0f} % of its threads or connections"
        yield Reading("highest_busy", max(shares), "%", label="busy", what=what, in_table=True)
    if least := _least_idle(pools):
        what = f"the least idle pool was {_at_least_idle(least)} of the time"
        yield Reading("lowest_idle", 100 * (least.idle or 0), "%", label="idle", what=what, in_table=True)


def _in_trouble(troubles: Iterable[Trouble]) -> Iterator[Reading]:
    """Write the worst of each pool, its other numbers, and why that is; what helps only once.

    It has no label: one that comes and goes would be worthless.
    """
    helped = set()
    for one, worst, cause in troubles:
        row, own = cause.parameters["meaning"], _WORDS.get(cause.evidence, {})
        words = row._replace(**own)
        likely = cause.certainty is Certainty.LIKELY
        helps = cause.kind if "more" in own else row
        usual = f"a task took at most {say_duration(one.usual)} on average until now" if one.usual else ""
        below = (
            _BELOW.get(cause.evidence, usual) if one.stalled else "",
            "" if one.pool.idle_at_most is None else _SUM_OF_TWO,
            "" if helps in helped else words.more,
        )
        helped.add(helps)
        what, *others = _facts(one, first=worst.name)
        facts = ["".join(f", {fact}" for fact in others[:many]) for many in range(len(others), 0, -1)]
        yield worst._replace(
            what=in_all_forms(what, partial("{}: {}".format, one.pool.name)),
            why=in_all_forms(words.why, "probably {}".format) if likely else words.why,
            advice=words.advice,
            label="",
            line=Line(Forms(*facts or [""], ""), tuple(filter(None, below))),
            cause=cause,
        )


def _unlimited(pools: Sequence[Pool]) -> Iterator[Finding]:
    """Report where the user's limits of how busy a pool may be cannot be judged."""
    names = [pool.name for pool in pools if pool.busy is None]
    if names and len(names) == len(pools):
        yield ProbeError("how busy the pools are cannot be judged: none shows how large it may be")
    elif names:
        of = listed(names, _FEW)
        yield Fault(State.OK, f"how busy {of} may be is not judged: without a limit of its own")


def _facts(one: Observation, first: str) -> list[str]:
    """Write all that counts of one pool, the ``first`` number first."""
    pool, waiting = one.pool, one.pool.family.waiting
    lent = pool.family.lends and (pool.blocked or first == "blocked")
    new = (
        plain(one.blocked_new or 0)
        if pool.blocked and first == "blocked"
        else _count(one.blocked_new, *waiting)
    )
    # What stalls is the queue of a pool that drains, and the threads of others: either has been named then.
    says_active = pool.active is not None and (pool.family.drains or not one.stalled)
    says_pending = first == "pending" or (pool.pending and not one.stalled)
    said = {
        "blocked": _count(pool.blocked, *waiting) if pool.blocked or first == "blocked" else "",
        "blocked_new": f"{new} in the last {say_duration(one.seconds)}" if one.blocked_new else "",
        "stalled": _stalled(one) if one.stalled else "",
        "idle": "" if pool.idle is None else f"idle {_share(pool.idle, pool.idle_at_most)} % of the time",
        "active": _in_use(pool, short=bool(lent)) if says_active else "",
        "pending": f"{plain(pool.pending or 0)} pending" if says_pending else "",
    }
    leading = said.pop({"busy": "active"}.get(first, first), "")
    return [*filter(None, (leading, *said.values()))]


def _stalled(one: Observation) -> str:
    tasks, none = one.stalled or 0, f"none completed in {say_duration(one.still)}"
    waits = f"{plural(tasks, 'task')} wait{'s' * (tasks == 1)}"
    return Forms(f"{waits if one.pool.family.drains else _in_use(one.pool)}, {none}", none)


def _in_use(pool: Pool, *, short: bool = False) -> str:
    """Return how much of the pool is in use; ``short``: the sentence has named what it lends."""
    if pool.limit is not None and short:
        return f"{plain(pool.active or 0)} of {plain(pool.limit)} in use"
    if pool.limit is None:
        return _count(pool.active, *pool.family.busy)
    return f"{plain(pool.active or 0)} of {_count(pool.limit, *pool.family.busy)}"


def _count(number: float | None, one: str, several: str) -> str:
    return f"{plain(number or 0)} {one if number == 1 else several}"


def _share(least: float, most: float | None) -> str:
    """Return a share in per cent, and how much it may be; ``most`` is None where it was measured."""
    low, high = (f"{100 * share:.0f}" for share in (least, least if most is None else most))
    return low if low == high else f"{low} to {high}"


def _least_idle(pools: Sequence[Pool]) -> Pool | None:
    """Return the pool that was idle for the shortest time, as far as that is known of any."""
    known = [pool for pool in pools if pool.idle is not None]
    return min(known, key=lambda pool: (pool.idle, pool.name), default=None)


def _at_least_idle(pool: Pool) -> str:
    return f"idle {'' if pool.idle_at_most is None else 'at least '}{100 * (pool.idle or 0):.0f} %"


def _summary(pools: Sequence[Pool]) -> Iterator[str]:
    """Return in parts of a sentence how all pools are."""
    yield plural(len(pools), "pool")
    blocked = sum(bool(pool.blocked) for pool in pools)
    if any(pool.blocked is not None for pool in pools):
        yield f"{blocked or 'none'} blocked"
    busiest = max(pools, key=lambda pool: (pool.busy or 0, pool.pending or 0, pool.active or 0))
    if busiest.active or busiest.pending:
        used = [_in_use(busiest)] if busiest.active is not None else []
        pending = [f"{plain(busiest.pending)} pending"] if busiest.pending else []
        yield f"busiest {busiest.name}: {', '.join(used + pending)}"
    if least := _least_idle(pools):
        yield f"{least.name} {_at_least_idle(least)} of the time"
    elif busiest.active == 0 and not busiest.pending and not blocked:
        yield "all idle"


def _table(pools: Sequence[Pool]) -> Table:
    """Put all numbers side by side, as nodetool tpstats does, those in trouble on top."""
    ranked = sorted(pools, key=lambda pool: pool.rank)
    columns: dict[str, list[str | float | None]] = {
        "Pool Name": [pool.name for pool in ranked],
        "Active": [pool.active for pool in ranked],
        "Max": [pool.limit for pool in ranked],
        "Pending": [pool.pending for pool in ranked],
        "Completed": [pool.completed for pool in ranked],
        "Blocked": [pool.blocked for pool in ranked],
        "All time blocked": [pool.total_blocked for pool in ranked],
        "Idle %": [pool.idle and round(100 * pool.idle, 1) for pool in ranked],
        "Idle % at most": [pool.idle_at_most and round(100 * pool.idle_at_most, 1) for pool in ranked],
    }
    told = {name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)}
    return Table(tuple(told), tuple(zip(*told.values(), strict=True)))
