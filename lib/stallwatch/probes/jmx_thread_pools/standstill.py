"""A queue, or threads of a full pool, of which no task is completed: how long that lasts, and may last."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    from stallwatch.probes.jmx.changes import Changes
    from stallwatch.probes.jmx_thread_pools.model import Pool

_LEAST = 15.0  # seconds: what lasts less may be one long task
_UNUSUAL = 5  # times as long as tasks take: what lasts less may be some long ones at once
_UNKNOWN = 300.0  # seconds for tasks that may be long: nothing else is known of them


class Standstill(NamedTuple):
    """How long nothing was completed, over all runs that found it so."""

    seconds: float
    stalled: float | None = None  # tasks that wait, or threads, once it is no longer what such tasks do
    usual: float | None = None  # seconds that a task takes at most, on average; None: nothing is known


def standstill(pool: Pool, changes: Changes, per_s: float | None, uptime: float | None) -> Standstill:
    """Compare a pool with the last run, since which ``per_s`` tasks were completed each second.

    ``uptime`` of the JVM is in seconds. A full pool that serves requests or blocks tasks is reported anyway:
    it may stall for the least time only.
    """
    queue = pool.family.drains
    key = "/".join(pool.key)
    before = changes.before(f"{key} still")
    seconds: float = 0
    if pool.pending if queue else pool.full and (pool.meaning.serves or pool.blocked):
        seconds = before + changes.seconds if is_number(before) and per_s == 0 else 0
        changes.note(f"{key} still", seconds)
    if not queue:
        return Standstill(seconds, pool.active if seconds >= _LEAST else None)
    exact = _while_waiting(pool, changes, (per_s or 0) * changes.seconds, waited=is_number(before))
    # N threads complete at most N * U / T tasks of T seconds in U seconds. They may have been idle for long.
    rough = _threads(pool) * uptime / pool.completed if pool.completed and uptime else None
    usual = min(filter(None, (exact, rough)), default=None)
    patience = _UNKNOWN if usual is None else max(_LEAST, _UNUSUAL * usual)
    patience = patience if exact else min(patience, _UNKNOWN)
    return Standstill(seconds, pool.pending if seconds >= patience else None, usual)


def _threads(pool: Pool) -> float:
    return pool.limit or pool.size or pool.active or 1


def _while_waiting(pool: Pool, changes: Changes, done: float, *, waited: bool) -> float | None:
    """Return how long tasks take by the time in which some waited, so that no thread was idle.

    As many as there are threads may have been at work before the first of them waited: these do not count.
    """
    keys = [f"{'/'.join(pool.key)} {of}" for of in ("worked", "finished")]
    worked, finished = (kept if is_number(kept := changes.before(key)) else 0 for key in keys)
    if pool.pending and waited:
        worked, finished = worked + _threads(pool) * changes.seconds, finished + done
    elif pool.pending:
        finished -= _threads(pool)
    for key, number in zip(keys, (worked, finished), strict=True):
        changes.note(key, number)
    return worked / finished if finished > 0 else None
