"""What the numbers of a pool come to: which of them are judged, and what is told of them."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.jmx_thread_pools.meanings import meaning
from stallwatch.probes.jmx_thread_pools.words import facts, trouble
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.thresholds import Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.jmx_thread_pools.pool import Pool

    Thresholds = dict[str, dict[str, Range | None]]

_LEVELS = ("warning", "critical")
# Whose limits judge what lasts, see complete.
_LASTING = {name: f"{name} that lasts" for name in ("blocked", "busy", "pending", "idle")}


class Judged(NamedTuple):
    """A pool and what else is known of it."""

    pool: Pool
    blocked_new: float | None  # since the last run
    completed_per_s: float | None
    seconds: float  # since the last run
    again: Pool | None = None  # the same at a second look, if somebody waited at the first
    idle_before: float | None = None  # in per cent, at the last run

    def readings(self) -> Iterator[Reading]:
        """Give its numbers, the one first that explains the others best."""
        pool, of = self.pool, meaning(self.pool)
        for number, value, unit in (
            ("blocked", pool.blocked, ""),
            ("blocked_new", self.blocked_new, ""),
            ("idle", None if pool.idle is None else 100 * pool.idle, "%"),
            ("busy", pool.busy, "%"),
            ("pending", pool.pending, ""),
            ("active", pool.active, ""),
            ("completed_per_s", self.completed_per_s, ""),
        ):
            if value is not None:
                what = facts(pool, self.blocked_new, self.seconds, first=number)
                label = f"{pool.name}.{number}"
                yield Reading(number, value, unit, what, of.why, of.advice, label, in_table=True)

    def worst(self, thresholds: Thresholds) -> Reading | None:
        """Give the one that tells of the worst trouble, if there is any."""
        lasting = self._lasting
        if self.idle_before is not None and _alerts(thresholds[_LASTING["idle"]], self.idle_before):
            lasting = "idle"
        readings = [
            reading._replace(judged_as=_LASTING[lasting]) if reading.name == lasting else reading
            for reading in self.readings()
        ]
        worst = max(readings, key=lambda reading: _gravity(reading, thresholds), default=None)
        return worst if worst and _gravity(worst, thresholds) else None

    @property
    def _lasting(self) -> str:
        """Which number tells that somebody waits for a full pool, and still did at the second look."""
        if self.again is None or not (waits(self.pool) and waits(self.again)):
            return ""
        if self.pool.blocked and self.again.blocked:
            return "blocked"
        return "pending" if self.pool.busy is None else "busy"


def waits(pool: Pool) -> bool:
    """Whether somebody waits because the pool is full, or has nothing to give."""
    served = meaning(pool).serves and pool.pending != 0  # not all that serve say how many requests wait
    return pool.starved or (pool.full and bool(pool.blocked or served))


def told(judged: Sequence[Judged], thresholds: Thresholds, *, alone: bool) -> Iterator[Reading]:
    """Give what is wrong with each pool in one reading, the worst first.

    It has no label: one that comes and goes with its trouble would be worthless. ``alone`` gives all numbers
    besides, always in the same order.
    """
    for one in sorted(judged, key=lambda one: trouble(one.pool)):
        if worst := one.worst(thresholds):
            yield worst._replace(label="", in_table=False)
    for one in sorted(judged, key=lambda one: one.pool.name) if alone else ():
        yield from one.readings()


def _gravity(reading: Reading, thresholds: Thresholds) -> int:
    return _alerts(thresholds.get(reading.judged_as or reading.name, {}), reading.value or 0)


def _alerts(limits: dict[str, Range | None], value: float) -> int:
    alerts = [limit is not None and limit.alerts(value) for limit in map(limits.get, _LEVELS)]
    return max((rank for rank, alert in enumerate(alerts, 1) if alert), default=0)


def complete(thresholds: Thresholds) -> None:
    """Add those of what lasts, stricter where the user gave none.

    Whoever waits for a full pool waits for somebody else to be done: that is critical. A web server whose
    threads are all busy may not say that requests wait, so that this is worth a warning itself.
    Threads that are deadlocked stay so. Kafka's are not idle while it starts: critical is what was so at the
    last run, too.
    """
    blocked, busy, pending = (thresholds[name] for name in ("blocked", "busy", "pending"))
    thresholds[_LASTING["blocked"]] = {**blocked, "critical": blocked["critical"] or Range("0")}
    thresholds[_LASTING["busy"]] = {**busy, "warning": busy["warning"] or Range("~:0", "%")}
    thresholds[_LASTING["pending"]] = {**pending, "warning": pending["warning"] or Range("0")}
    thresholds[_LASTING["idle"]] = thresholds["idle"]
    thresholds["idle"] = {**thresholds["idle"], "critical": None}
    thresholds["deadlocked"] = {"warning": None, "critical": Range("0")}


def totals(judged: Sequence[Judged]) -> Iterator[Reading]:
    """Give numbers over all pools, whose labels do not depend on what pools there are today."""
    pools = [one.pool for one in judged]
    for name, values in (
        ("active", [pool.active for pool in pools]),
        ("pending", [pool.pending for pool in pools]),
        ("blocked", [pool.blocked for pool in pools]),
        ("blocked_new", [one.blocked_new for one in judged]),
    ):
        if known := [value for value in values if value is not None]:
            yield Reading(f"total_{name}", sum(known), label=name, in_table=True)
    if shares := [pool.busy for pool in pools if pool.busy is not None]:
        yield Reading("highest_busy", max(shares), "%", label="busy", in_table=True)
    if idle := [pool.idle for pool in pools if pool.idle is not None]:
        yield Reading("lowest_idle", 100 * min(idle), "%", label="idle", in_table=True)
