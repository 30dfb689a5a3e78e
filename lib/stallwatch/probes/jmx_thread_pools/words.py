"""What there is to say of pools, in sentences and in a table."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import plain, say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.jmx_thread_pools.pool import Pool

_KINDS = "Cassandra, Tomcat, Jetty, HikariCP, DBCP, Tomcat JDBC, Commons Pool, Kafka"


def facts(pool: Pool, blocked_new: float | None, seconds: float, first: str) -> str:
    """Say all that counts of one pool, the ``first`` number first.

    ``blocked_new`` is how many were blocked in the last ``seconds``.
    """
    said = {
        "blocked": _count(pool.blocked, *pool.family.waiting) if pool.blocked or first == "blocked" else "",
        "blocked_new": _blocked_new(pool, blocked_new, seconds, first) if blocked_new else "",
        "idle": "" if pool.idle is None else f"{_idle(pool.idle)} of the time",
        "active": "" if pool.active is None else in_use(pool),
        "pending": "" if pool.pending is None else f"{plain(pool.pending)} pending",
    }
    leading = said.pop({"busy": "active"}.get(first, first), "")
    return f"{pool.name}: {', '.join(filter(None, (leading, *said.values())))}"


def _blocked_new(pool: Pool, number: float, seconds: float, first: str) -> str:
    counted = plain(number) if pool.blocked and first == "blocked" else _count(number, *pool.family.waiting)
    return f"{counted} in the last {say_duration(seconds)}"


def in_use(pool: Pool) -> str:
    """Say how much of the pool is in use."""
    if pool.limit is None:
        return _count(pool.active, *pool.family.busy)
    return f"{plain(pool.active or 0)} of {_count(pool.limit, *pool.family.busy)}"


def _count(number: float | None, one: str, several: str) -> str:
    return f"{plain(number or 0)} {one if number == 1 else several}"


def _idle(share: float) -> str:
    return f"idle {100 * share:.0f} %"


def summary(pools: Sequence[Pool]) -> str:
    """Say in a sentence how all pools are."""
    if not pools:
        return f"no pool of a kind that is known ({_KINDS})"
    return ", ".join([_count(len(pools), "pool", "pools"), *_blocked(pools), *_busiest(pools)])


def _blocked(pools: Sequence[Pool]) -> Iterator[str]:
    if any(pool.blocked is not None for pool in pools):
        yield f"{sum(bool(pool.blocked) for pool in pools) or 'none'} blocked"


def _busiest(pools: Sequence[Pool]) -> Iterator[str]:
    busiest = max(pools, key=lambda pool: (pool.busy or 0, pool.pending or 0, pool.active or 0))
    if busiest.active or busiest.pending:
        used = [in_use(busiest)] if busiest.active is not None else []
        pending = [f"{plain(busiest.pending)} pending"] if busiest.pending else []
        yield f"busiest {busiest.name}: {', '.join(used + pending)}"
    if idle := [(pool.idle, pool.name) for pool in pools if pool.idle is not None]:
        share, name = min(idle)
        yield f"{name} {_idle(share)} of the time"
    elif busiest.active == 0 and not busiest.pending:
        yield "all idle"


def table(pools: Sequence[Pool]) -> Table:
    """Put all numbers side by side, as nodetool tpstats does, those in trouble on top."""
    ranked = sorted(pools, key=trouble)
    columns: dict[str, list[str | float | None]] = {
        "Pool Name": [pool.name for pool in ranked],
        "Active": [pool.active for pool in ranked],
        "Max": [pool.limit for pool in ranked],
        "Pending": [pool.pending for pool in ranked],
        "Completed": [pool.completed for pool in ranked],
        "Blocked": [pool.blocked for pool in ranked],
        "All time blocked": [pool.total_blocked for pool in ranked],
        "Idle %": [None if pool.idle is None else round(100 * pool.idle, 1) for pool in ranked],
    }
    told = {name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)}
    return Table(tuple(told), tuple(zip(*told.values(), strict=True)))


def trouble(pool: Pool) -> tuple[float, float, float, str]:
    """Rank pools: those in which most wait first."""
    return -(pool.blocked or 0), -(pool.pending or 0), -(pool.active or 0), pool.name
