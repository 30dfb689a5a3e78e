"""One pool and its numbers."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.jmx_thread_pools.families import Family

# The numbers of a pool, named as in families.Bean.
NUMBERS = ("active", "maximum", "pending", "blocked", "total_blocked", "completed", "idle", "low", "spare")
_UNLIMITED = 2**31 - 1  # Java's largest int


class Pool(NamedTuple):
    """A pool of threads or connections; None is what its server does not tell."""

    family: Family
    name: str
    active: float | None = None
    maximum: float | None = None
    pending: float | None = None
    blocked: float | None = None
    total_blocked: float | None = None
    completed: float | None = None
    idle: float | None = None  # about 0 to 1
    low: float | None = None  # 0 or 1
    spare: float | None = None  # how many threads it calls low; from 2 on that is not full

    @property
    def key(self) -> tuple[str, str]:
        """What no other pool of the JVM has: family and name."""
        return self.family.name, self.name

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
        """Whether all of it is in use."""
        if self.low is not None and (self.spare or 0) <= 1:
            return bool(self.low and self.pending)
        if self.limit is None or self.active is None:
            return self.family.blocks_when_full and bool(self.blocked)
        return self.active >= self.limit

    @property
    def starved(self) -> bool:
        """Whether connections are waited for, be it that all are in use or that none can be made."""
        return self.family.lends and bool(self.blocked)
