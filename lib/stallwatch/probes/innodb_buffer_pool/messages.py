"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.history.delta import not_yet
from stallwatch.probes.innodb_buffer_pool.model import (
    COUNTERS,
    DIRTY,
    FLUSHED,
    MISS_RATIO,
    READS,
    REQUESTS,
    WAIT_FREE,
)
from stallwatch.probes.mysql import innodb
from stallwatch.probes.mysql.status import is_on
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration, say_short, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.innodb_buffer_pool.model import Pool, Snapshot

# "Optimizing your MySQL Tuning Methodology": of 750 MB, 1, 2 and 6 GB, the smallest was the fastest on one
# kind of machines, and 18 GB were on another, with the same queries.
LESSON = (
    "look at query times, then test a larger innodb_buffer_pool_size in small steps: that is a hypothesis to "
    "test, not a remedy (750 MB has been faster than 6 GB)"
)


def all_of_it(snapshot: Snapshot) -> Iterator[Finding]:
    """Give all that is known of the pool, in the order in which it is shown among equals."""
    yield from _misses(snapshot)
    yield from _pages(snapshot)
    yield from _waits(snapshot)
    yield from _rates(snapshot)
    yield from (
        one for one in (snapshot.interval.why, snapshot.pool.unanswered) if isinstance(one, ProbeError)
    )
    yield from _asides(snapshot)
    if name := innodb.old_dump(snapshot.pool.settings):
        what = f"{name} is on: the LRU list is dumped again and again"
        why = "that took 5 to 10 % of the transactions, and held replication up for hours behind a backup"
        yield Fault(State.WARNING, what, why, f"SET GLOBAL {name} = 0")


def _misses(snapshot: Snapshot) -> Iterator[Reading]:
    ratio, interval = snapshot.miss_ratio, snapshot.interval
    if ratio is None:
        return
    reads, requests = (interval.counts[name] / interval.seconds for name in (READS, REQUESTS))
    what = f"{ratio:.3g} % of page requests missed the pool in {say_duration(interval.seconds)}"
    counts = f", {say_short(reads)} of {say_short(requests)} pages/s"
    going_on = innodb.dump_under_way(snapshot.pool.texts)
    reasons = [f"buffer pool {going_on} is under way"] if going_on else []
    reasons += [] if snapshot.confirmed else ["critical if it lasts"]
    state = _state(snapshot.pool)
    yield Reading(
        MISS_RATIO, ratio, "%", what, ", ".join(reasons or [state]), LESSON,
        table=_table(snapshot),
        confirmed=snapshot.confirmed,
        line=Line(counts, (state,) if reasons else ()),
    )  # fmt: skip


def _state(pool: Pool) -> str:
    size = "the pool" if pool.size is None else say_size(pool.size)
    free = 100 * pool.free / max(1, pool.total)
    return f"{free:.3g} % of {size} free, {pool.dirty_share:.3g} % dirty"


def _pages(snapshot: Snapshot) -> Iterator[Reading]:
    pool = snapshot.pool
    free = f"{_state(pool)} ({pool.free} of {pool.total} pages are free)"
    yield Reading("pages_free", pool.free, what=free, most=pool.total)
    share, most = round(pool.dirty_share, 2), pool.most_dirty
    wanted = "" if most is None else f", innodb_max_dirty_pages_pct is {most:g} %"
    advice = "check whether the disk keeps up (iostat -kx 1), then innodb_io_capacity"
    yield Reading(DIRTY, share, "%", f"{share:g} % of the pages are dirty{wanted}", advice=advice)
    if pool.size is not None:
        yield Reading("pool_size", pool.size, "B", f"innodb_buffer_pool_size is {say_size(pool.size)}")


def _waits(snapshot: Snapshot) -> Iterator[Reading]:
    waits = snapshot.interval.counts.get(WAIT_FREE)
    if waits is None:
        return
    within = say_duration(snapshot.interval.seconds)
    what = f"{f'{waits:.0f} waits' if waits else 'no wait'} for a free page within {within}"
    advice = LESSON
    if snapshot.pool.is_dirty:
        advice = "check the disk (iostat -kx 1) and innodb_io_capacity: pages are not written fast enough"
    yield Reading("wait_free", waits, what=what, why=_state(snapshot.pool), advice=advice)


def _rates(snapshot: Snapshot) -> Iterator[Reading]:
    for name, counter, what in (
        ("read_requests_per_s", REQUESTS, "page requests/s"),
        ("reads_per_s", READS, "page reads/s from the disk"),
        ("pages_flushed_per_s", FLUSHED, "pages/s written"),
    ):
        rate = snapshot.interval.rate(counter)
        if rate is not None:
            yield Reading(name, round(rate, 1), what=f"{say_short(rate)} {what}")


def _asides(snapshot: Snapshot) -> Iterator[Fault]:
    pool, interval = snapshot.pool, snapshot.interval
    requests = interval.counts.get(REQUESTS)
    if not (interval.seconds or isinstance(interval.why, ProbeError)):
        yield not_yet("the miss ratio", interval)
    elif requests is not None and requests < snapshot.min_requests:
        few = f"{requests:.0f} in {say_duration(interval.seconds)}, {snapshot.min_requests} are needed"
        yield Fault(State.OK, f"too few page requests for a miss ratio: {few}")
    if going_on := innodb.dump_under_way(pool.texts):
        stop = ", SET GLOBAL innodb_buffer_pool_load_abort = ON ends it" if "load" in going_on else ""
        up = say_duration(pool.look.uptime)
        yield Fault(State.OK, f"buffer pool {going_on} is under way, {up} after the server's start{stop}")
    elif is_on(pool.texts.get("Innodb_buffer_pool_load_incomplete", "")):  # also while it is loaded
        yield Fault(State.OK, "the last load of the buffer pool is incomplete")


def _table(snapshot: Snapshot) -> Table:
    rows = []
    for name in COUNTERS:
        grown, rate = snapshot.interval.counts.get(name), snapshot.interval.rate(name)
        per_second = None if rate is None else round(rate, 1)
        rows.append((name, grown, per_second, snapshot.pool.look.counts.get(name)))
    return Table(("counter", "grown", "per_s", "since_start"), tuple(rows))
