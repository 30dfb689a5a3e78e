"""What disks did, in the figures that iostat printed in the article "Tuning your Cluster with ndbinfo".

Its columns were made from the counters of /proc/diskstats; here they are made into such counters again.
"""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.history.delta import Interval, Look, between
from stallwatch.probes.host.collect import of_disk
from stallwatch.probes.host.model import loads
from stallwatch.sources.kernel import Disk

SECONDS = 100  # iostat looked each second; a longer interval has more digits


class Row(NamedTuple):
    """A row of ``iostat -kx``: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await svctm %util."""

    device: str
    rrqm: float
    wrqm: float
    r: float
    w: float
    rkb: float
    wkb: float
    avgrq_sz: float  # sectors
    avgqu_sz: float
    await_: float  # milliseconds
    svctm: float  # milliseconds
    util: float

    def counters(self):
        """What /proc/diskstats counted meanwhile."""
        waited = self.await_ * (self.r + self.w)
        each = (
            self.r, self.rrqm, 2 * self.rkb, 0,
            self.w, self.wrqm, 2 * self.wkb, waited,
            0, self.util * 10, self.avgqu_sz * 1000,
        )  # fmt: skip
        return Disk(*(round(SECONDS * one) for one in each))


ARTICLE = [
    Row("cciss/c0d0", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    Row("cciss/c0d1", 0, 27796, 0, 1454, 0, 115196, 158.45, 12.03, 8.25, 0.66, 95.3),
    Row("dm-0", 0, 0, 0, 29270, 0, 117080, 8.00, 274.79, 9.33, 0.03, 95.2),
    Row("dm-1", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
]


def interval(before, after, seconds=SECONDS):
    def counts(disks):
        return {
            of_disk(name, field): count
            for name, disk in disks.items()
            for field, count in disk._asdict().items()
        }

    return between(
        Look(1000.0, 1000.0, counts(before)), Look(1000.0 + seconds, 1000.0 + seconds, counts(after))
    )


def of_article():
    started = Disk(*[10**6] * 11)._replace(in_flight=0)
    before = {row.device: started for row in ARTICLE}
    after = {
        row.device: Disk(*(one + more for one, more in zip(started, row.counters(), strict=True)))
        for row in ARTICLE
    }
    return loads(interval(before, after), after, None)


@pytest.mark.parametrize("row", ARTICLE, ids=lambda row: row.device)
def test_the_rows_of_the_article(row):
    disk = next(load for load in of_article() if load.name == row.device)
    assert disk.busy == pytest.approx(row.util, abs=0.005)
    assert disk.wait == (pytest.approx(row.await_ / 1000, abs=5e-6) if row.w else None)
    assert disk.queue == pytest.approx(row.avgqu_sz, abs=0.005)
    assert (disk.reads, disk.writes, disk.merged) == (row.r, row.w, row.rrqm + row.wrqm)
    assert (disk.read / 1024, disk.written / 1024) == (row.rkb, row.wkb)
    assert (disk.size or 0) / 512 == pytest.approx(row.avgrq_sz, abs=0.005)
    assert (disk.busy * 10 / disk.requests if disk.requests else 0) == pytest.approx(row.svctm, abs=0.005)


def test_the_busiest_disk_comes_first():
    assert [load.name for load in of_article()] == ["cciss/c0d1", "dm-0", "cciss/c0d0", "dm-1"]


def test_what_waits_is_the_queue():
    """Little's law holds in the article, so its columns are understood as they were meant."""
    for row in ARTICLE:
        assert row.avgqu_sz == pytest.approx((row.r + row.w) * row.await_ / 1000, rel=0.01)


counters = st.lists(st.integers(0, 2**40), min_size=11, max_size=11).map(lambda each: Disk(*each))


@given(counters, counters, st.floats(0.5, 1e6))
def test_whatever_is_counted_is_no_nonsense(before, after, seconds):
    found = loads(interval({"sda": before}, {"sda": after}, seconds), {"sda": after}, {"sda"})
    goes_back = {name for name in Disk._fields if getattr(after, name) < getattr(before, name)}
    assert bool(found) == (goes_back <= {"in_flight", "read_ms", "write_ms", "busy_ms", "queue_ms"})
    for disk in found:
        assert disk.busy is None or 0 <= disk.busy <= 100
        assert all(value is None or value >= 0 for value in disk[1:])
        assert disk.silent <= seconds + 1e-6


def test_a_disk_that_never_did_anything_is_told_only_if_chosen():
    idle = Disk(*[0] * 11)
    looked = interval({"sr0": idle}, {"sr0": idle})
    assert loads(looked, {"sr0": idle}, None) == []
    assert [load.name for load in loads(looked, {"sr0": idle}, {"sr0"})] == ["sr0"]


def test_a_disk_that_was_not_there_before_is_not_told():
    assert loads(Interval(60.0, {}), {"sda": Disk(*[5] * 11)}, {"sda"}) == []
