"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.history.delta import FIRST
from stallwatch.probes.innodb import dump
from stallwatch.probes.innodb_buffer_pool.pool import COUNTERS, FLUSHED, READS, REQUESTS, WAIT_FREE
from stallwatch.probes.mysql.status import is_on
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.history.delta import Interval
    from stallwatch.probes.innodb_buffer_pool.pool import Pool

MISS_RATIO, DIRTY = "miss_ratio", "dirty"

# "Optimizing your MySQL Tuning Methodology": of 750 MB, 1, 2 and 6 GB, the smallest was the fastest on one
# kind of machines, and 18 GB were on another, with the same queries.
LESSON = (
    "a larger innodb_buffer_pool_size is a hypothesis to test, not a remedy: small steps, and look at query "
    "times first (750 MB has been faster than 6 GB)"
)
_MUCH = 0.5  # a rule of thumb, not measured: of the dirty pages that innodb_max_dirty_pages_pct allows


class Found(NamedTuple):
    """What one run knows."""

    pool: Pool
    interval: Interval | None
    why: str | ProbeError  # there is no interval: an error if the second look of a sample was lost
    min_requests: int
    is_doubtful: bool = False  # a miss ratio that alerts: the next one may be good

    def grown(self, name: str) -> float | None:
        """Tell how much one of the counters grew since the last look; None: not known."""
        return self.interval.counts.get(name) if self.interval else None

    @property
    def miss_ratio(self) -> float | None:
        """Per cent of the page requests since the last look that had to wait for the disk."""
        requests, reads = self.grown(REQUESTS), self.grown(READS)
        if requests is None or reads is None or requests < self.min_requests:
            return None
        return min(100.0, round(100 * reads / requests, 4))

    @property
    def is_dirty(self) -> bool:
        """Whether dirty pages may be why none is free."""
        return self.pool.dirty_share >= _MUCH * (self.pool.most_dirty or 100)


def findings(found: Found) -> Iterator[Finding]:
    """Tell all that is known of the pool."""
    yield from _misses(found)
    yield from _pages(found)
    yield from _waits(found)
    yield from _rates(found)
    yield from (one for one in (found.why, found.pool.unanswered) if isinstance(one, ProbeError))
    yield from _asides(found)
    if name := dump.old_dump(found.pool.settings):
        yield _old_dump(name)


def _misses(found: Found) -> Iterator[Reading]:
    ratio, interval = found.miss_ratio, found.interval
    if ratio is None or interval is None:
        return
    reads, requests = (interval.counts[name] / interval.seconds for name in (READS, REQUESTS))
    what = f"{ratio:.3g} % of page requests missed the pool over {say_duration(interval.seconds)}"
    what += f" ({_rate(reads)} of {_rate(requests)}/s), {_state(found.pool)}"
    going_on = dump.under_way(found.pool.texts)
    reasons = [f"buffer pool {going_on} is under way"] if going_on else []
    reasons += ["critical if it lasts"] if found.is_doubtful else []
    yield Reading(
        MISS_RATIO, ratio, "%", what, ", ".join(reasons), LESSON,
        table=_table(found),
        confirmed=not found.is_doubtful,
    )  # fmt: skip


def _state(pool: Pool) -> str:
    size = "the pool" if pool.size is None else say_size(pool.size)
    free = 100 * pool.free / max(1, pool.total)
    return f"{free:.3g} % of {size} free, {pool.dirty_share:.3g} % dirty"


def _pages(found: Found) -> Iterator[Reading]:
    pool = found.pool
    yield Reading(
        "pages_free", pool.free, what=f"{_state(pool)} ({pool.free} of {pool.total} pages are free)"
    )
    share, most = round(pool.dirty_share, 2), pool.most_dirty
    wanted = "" if most is None else f", innodb_max_dirty_pages_pct is {most:g} %"
    advice = "see whether the disk keeps up (iostat -kx 1), and innodb_io_capacity"
    yield Reading(DIRTY, share, "%", f"{share:g} % of the pages are dirty{wanted}", advice=advice)
    if pool.size is not None:
        yield Reading("pool_size", pool.size, "B", f"innodb_buffer_pool_size is {say_size(pool.size)}")


def _waits(found: Found) -> Iterator[Reading]:
    waits = found.grown(WAIT_FREE)
    if waits is None or found.interval is None:
        return
    within = say_duration(found.interval.seconds)
    what = (
        f"{waits:.0f} waits for a free page within {within}"
        if waits
        else f"no wait for a free page within {within}"
    )
    advice = LESSON
    if found.is_dirty:
        advice = "pages are not written fast enough: see the disk (iostat -kx 1) and innodb_io_capacity"
    yield Reading("wait_free", waits, what=what, why=_state(found.pool), advice=advice)


def _rates(found: Found) -> Iterator[Reading]:
    for name, counter, what in (
        ("read_requests_per_s", REQUESTS, "page requests/s"),
        ("reads_per_s", READS, "of them from the disk/s"),
        ("pages_flushed_per_s", FLUSHED, "pages/s written"),
    ):
        rate = found.interval.rate(counter) if found.interval else None
        if rate is not None:
            yield Reading(name, round(rate, 1), what=f"{_rate(rate)} {what}")


def _asides(found: Found) -> Iterator[Fault]:
    pool, requests = found.pool, found.grown(REQUESTS)
    if not (found.interval or isinstance(found.why, ProbeError)):
        first = "first look" if found.why == FIRST else found.why
        yield Fault(State.OK, f"{first}: the miss ratio is told from the next run on, or by --sample")
    elif found.interval and requests is not None and requests < found.min_requests:
        few = f"{requests:.0f} in {say_duration(found.interval.seconds)}, {found.min_requests} are needed"
        yield Fault(State.OK, f"too few page requests for a miss ratio: {few}")
    if going_on := dump.under_way(pool.texts):
        stop = ", SET GLOBAL innodb_buffer_pool_load_abort = ON ends it" if "load" in going_on else ""
        up = say_duration(pool.look.uptime)
        yield Fault(State.OK, f"buffer pool {going_on} is under way, {up} after the server's start{stop}")
    elif is_on(pool.texts.get("Innodb_buffer_pool_load_incomplete", "")):  # also while it is loaded
        yield Fault(State.OK, "the last load of the buffer pool is incomplete")


def _old_dump(name: str) -> Fault:
    what = f"{name} is on: the LRU list is dumped again and again"
    why = "that took 5 to 10 % of the transactions, and held replication up for hours behind a backup"
    return Fault(State.WARNING, what, why, f"SET GLOBAL {name} = 0")


def _table(found: Found) -> Table:
    rows = (
        (name, found.grown(name), _per_second(found, name), found.pool.look.counts.get(name))
        for name in COUNTERS
    )
    return Table(("counter", "grown", "per_s", "since_start"), tuple(rows))


def _per_second(found: Found, name: str) -> float | None:
    rate = found.interval.rate(name) if found.interval else None
    return None if rate is None else round(rate, 1)


def _rate(number: float) -> str:
    return f"{number:.0f}" if number >= 10 or number == 0 else f"{number:.2g}"  # noqa: PLR2004
