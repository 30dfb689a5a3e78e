"""A pool and its numbers, at this look and at others."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.jmx_thread_pools.families.form import Family, Meaning

# The numbers of a pool, named as in families.Bean.
NUMBERS = (
    "active", "size", "maximum", "core", "pending", "blocked", "total_blocked", "completed", "idle", "low",
    "spare",
)  # fmt: skip
# What does not show alone how a pool is: bounds, that it is low on threads, and tasks that another pool may
# have completed, as those of a Tomcat connector with a shared Executor.
NO_USE = frozenset({"size", "maximum", "core", "completed", "low", "spare"})
# Whose thresholds judge what lasts.
LASTING = {name: f"{name} that lasts" for name in ("blocked", "busy", "pending")}
# Whose thresholds judge waiting for a connection that is over a second later: the pool works as it should.
MOMENTARY = "blocked for a moment"
_UNLIMITED = 2**31 - 1  # Java's largest int


class Pool(NamedTuple):
    """A pool of threads or connections; None is what its server does not show."""

    family: Family
    name: str
    active: float | None = None
    size: float | None = None  # threads that there are, at work or not
    maximum: float | None = None
    core: float | None = None  # threads from which on tasks go to the queue
    pending: float | None = None
    blocked: float | None = None
    total_blocked: float | None = None
    completed: float | None = None
    idle: float | None = None  # about 0 to 1
    idle_at_most: float | None = None  # where only the sum of two pools is known: ``idle`` is its least then
    low: float | None = None  # 0 or 1
    spare: float | None = None  # how many threads it calls low; from 2 on that is not full
    label: str = ""  # in the perfdata

    @property
    def key(self) -> tuple[str, str]:
        """What no other pool of the JVM has: family and name."""
        return self.family.name, self.name

    @property
    def meaning(self) -> Meaning:
        """What a block in it means."""
        from stallwatch.probes.jmx_thread_pools.families.form import between

        rows = self.family.meanings
        fit = (row for row in rows for form in row.pools.split() if between(form, self.name) is not None)
        return next(fit, rows[-1])

    @property
    def limit(self) -> float | None:
        """The maximum, where there is one: -1, 0 and Java's largest number are words for none."""
        return self.maximum if self.maximum and 0 < self.maximum < _UNLIMITED else None

    @property
    def busy(self) -> float | None:
        """How much of the limit is in use, in per cent."""
        return None if self.limit is None or self.active is None else 100 * self.active / self.limit

    @property
    def full(self) -> bool:
        """Whether all of it is in use, or all that there may be before the queue is full."""
        if self.low is not None and (self.spare or 0) <= 1:
            return bool(self.low and self.pending)
        if self.limit is None or self.active is None:
            return self.family.blocks_when_full and bool(self.blocked)
        queues = self.core is not None and bool(self.pending)
        return self.active >= (max(self.core or 0, 1) if queues else self.limit)

    @property
    def waits(self) -> bool:
        """Whether somebody waits because it is full, or has nothing to lend."""
        if self.family.lends and self.blocked:
            return True
        served = self.meaning.serves and self.pending != 0  # not all that serve show how many requests wait
        return self.full and bool(self.blocked or served)

    @property
    def rank(self) -> tuple[float, float, float, str]:
        """Its place among others: those in which most wait come first."""
        return -(self.blocked or 0), -(self.pending or 0), -(self.active or 0), self.name


class Observation(NamedTuple):
    """A pool at this look, and what is known of it from others."""

    pool: Pool
    blocked_new: float | None  # in the last so many ``seconds``
    completed_per_s: float | None
    seconds: float  # since the last run, or since the pool was made
    second: Pool | None = None  # the same at a second look, if somebody waited at the first
    idle_before: float | None = None  # in per cent, at the look that this one is compared with
    stalled: float | None = None  # tasks in a queue, of which none is completed
    still: float = 0  # for how many seconds that is known
    usual: float | None = None  # seconds that a task takes at most, on average; None: nothing is known
    uncounted: str = ""  # why it is not known how many were blocked since the last run
    unsettled: bool = False  # it is not known yet how idle it is

    @property
    def lasting(self) -> str:
        """Which number shows that somebody waits for a full pool, and still did at the second look."""
        if self.second is None or not (self.pool.waits and self.second.waits):
            return ""
        if self.pool.blocked and self.second.blocked:
            return "blocked"
        return "pending" if self.pool.busy is None else "busy"

    @property
    def readings(self) -> list[Reading]:
        """What is known, yet without words, the number first that explains the others best."""
        pool = self.pool
        passed = pool.family.lends and self.second is not None and not self.second.blocked
        readings = (
            Reading("blocked", pool.blocked, judged_as=MOMENTARY if passed else ""),
            Reading("blocked_new", self.blocked_new),
            Reading("stalled", self.stalled),
            Reading("idle", None if pool.idle is None else 100 * pool.idle, "%", confirmed=False),
            Reading("busy", pool.busy, "%"),
            Reading("pending", pool.pending),
            Reading("active", pool.active),
            Reading("completed_per_s", self.completed_per_s),
        )
        return [reading for reading in readings if reading.value is not None]
