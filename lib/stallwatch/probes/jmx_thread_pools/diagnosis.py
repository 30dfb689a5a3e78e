"""What it means that a pool is blocked or full, and which of its numbers shows the worst trouble."""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.jmx_thread_pools.families.form import Meaning
from stallwatch.probes.jmx_thread_pools.model import LASTING
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.findings import Reading
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_thread_pools.model import Observation, Pool


# Nobody waits for a pool that may grow, unless it cannot. With some in use that is a guess: who waits
# and who is served is counted one after the other, and connections change hands in between.
_NO_NEW = Meaning(
    "*",
    "the pool is slow or unable to open new ones",
    "check that the database or service answers",
    "and that it lets the application log in; the application's log has the errors",
)
_PERHAPS_NO_NEW = _NO_NEW._replace(why=f"probably {_NO_NEW.why}")


def meaning(pool: Pool) -> Meaning:
    """Return what a block in this pool means."""
    if pool.family.lends and pool.blocked and pool.busy is not None and not pool.full:
        return _PERHAPS_NO_NEW if pool.active else _NO_NEW
    return pool.family.meaning(pool.name)


class Trouble(NamedTuple):
    """The worst of a pool that is in trouble."""

    one: Observation
    worst: Reading


def waits(pool: Pool) -> bool:
    """Whether somebody waits because the pool is full, or has nothing to lend."""
    served = meaning(pool).serves and pool.pending != 0  # not all that serve show how many requests wait
    return pool.starved or (pool.full and bool(pool.blocked or served))


def troubles(observed: Iterable[Observation], run: Run) -> list[Trouble]:
    """Return what is wrong with each pool, the one first in which most wait."""
    ranked = sorted(observed, key=lambda one: one.pool.rank)
    return [Trouble(one, worst) for one in ranked if (worst := _worst(one, run))]


def _worst(one: Observation, run: Run) -> Reading | None:
    lasting = _lasting(one)
    if run.alerts(LASTING["idle"], one.idle_before):
        lasting = "idle"

    def gravity(reading: Reading) -> int:
        return run.is_problem(reading) + run.is_problem(reading, State.CRITICAL)

    readings = [
        reading._replace(judged_as=LASTING[lasting]) if reading.name == lasting else reading
        for reading in one.readings
    ]
    if one.pool.idle_at_most is not None:
        readings = [_bounded(reading, one.pool.idle_at_most, run) for reading in readings]
    worst = max(readings, key=gravity, default=None)
    return worst if worst and gravity(worst) else None


def _bounded(reading: Reading, most: float, run: Run) -> Reading:
    """Make an idle time that may be more a WARNING at most, unless it would be critical at ``most``, too."""
    if reading.name != "idle":
        return reading
    return reading._replace(confirmed=run.is_problem(reading._replace(value=100 * most), State.CRITICAL))


def _lasting(one: Observation) -> str:
    """Return which number shows that somebody waits for a full pool, and still did at the second look."""
    if one.second is None or not (waits(one.pool) and waits(one.second)):
        return ""
    if one.pool.blocked and one.second.blocked:
        return "blocked"
    return "pending" if one.pool.busy is None else "busy"
