"""How full the redo buffers are, in several samples: a small one is full for milliseconds at a time."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.probes.ndbinfo.cluster import LABELLED
from stallwatch.probes.ndbinfo.queries import whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

# A log part takes no operation while less than 10 pages of 32 KiB are free (9.7.2 source, DblqhMain.cpp,
# ZMIN_LOG_PAGES_OPERATION). Measured: RedoBuffer=1M is full at 68.8 % of its size; the node itself, for
# checkpoints, has been seen to go a page beyond.
RESERVED = 10 * 32768
WATCHED = 64  # buffers: the fullest of the first sample; the others were emptier than all of these
_MOST_PARTS = 32  # log parts of a data node (9.7.2 source, ConfigInfo.cpp, NoOfFragmentLogParts)
_OTHERS = 16  # more of each later sample: one of them may have a peak
_TO_BE_SURE = 2  # samples: of one alone nobody knows whether it is a peak
_AFTERWARDS = 3  # statements that are asked after the samples, each within the time of the slowest one
_BUFFER = "node_id * 1000000 + log_id * 1000 + log_part"  # one number for each, in any dialect of SQL
_FULLEST = f"""SELECT node_id, log_id, log_part, total, used FROM ndbinfo.logbuffers
 WHERE log_type = 'REDO' AND total > {RESERVED} AND used IS NOT NULL AND node_id IN ({{}})
 ORDER BY {{}} 1.0 * used / (total - {RESERVED}) DESC, {_BUFFER} LIMIT {{}}"""  # noqa: S608 - our own numbers


class Part(NamedTuple):
    """A redo log part of a data node, as ndbinfo.logbuffers names it."""

    node: int
    log_id: int  # the part, in versions that number them here (measured: 9.7.2); else 0
    log_part: int  # there the LDM instance; up to 7.5 the part

    @property
    def key(self) -> int:
        """As `_BUFFER` makes it."""
        return self.node * 1_000_000 + self.log_id * 1000 + self.log_part


class Use(NamedTuple):
    """How full one redo buffer was in all samples, in per cent of what operations may use."""

    part: Part
    total: int  # bytes: RedoBuffer
    largest: float
    smallest: float | None  # None: it was not in all samples


class Samples(NamedTuple):
    """What all samples so far showed: the fullest buffers first."""

    uses: tuple[Use, ...]
    taken: int
    wanted: int
    seconds: float  # from the first to the last
    slowest: float  # seconds that one took
    failed: ProbeError | None = None  # why there is no further one, if not for want of time

    @property
    def fullest(self) -> Use | None:
        """The buffer that never was emptier than this."""
        return next((use for use in self.uses if use.smallest is not None), None)

    @property
    def peak(self) -> Use:
        """The buffer with the largest of all samples."""
        return max(self.uses, key=lambda use: use.largest)


class _Watch:
    """The samples of one run as they come."""

    def __init__(self, ndbinfo: Ndbinfo, cluster: Cluster) -> None:
        self._ndbinfo = ndbinfo
        self._nodes = ", ".join(map(str, cluster.started))
        # Nodes that have perfdata of their own have it in every run: then all buffers are watched.
        self._limit = LABELLED * _MOST_PARTS if cluster.configured <= LABELLED else WATCHED
        self._seen: dict[Part, list[float]] = {}
        self._total: dict[Part, int] = {}
        self._watched: list[int] = []
        self.taken = 0
        self.slowest = 0.0

    def sample(self) -> None:
        """Ask for the fullest buffers, later for the same ones and whatever else is full by then."""
        first, limit = "", self._limit
        if self._watched:
            keys = ", ".join(map(str, self._watched))
            first, limit = f"CASE WHEN {_BUFFER} IN ({keys}) THEN 0 ELSE 1 END,", self._limit + _OTHERS
        begun = time.monotonic()
        rows = self._ndbinfo.some(_FULLEST.format(self._nodes, first, limit))
        self.slowest = max(self.slowest, time.monotonic() - begun)
        for part, total, used in map(_numbers, rows):
            self._total[part] = total
            share = min(100.0, 100 * used / (total - RESERVED))
            self._seen.setdefault(part, []).append(round(share, 2))
        if len(self._seen) == self._limit:  # there may be more
            self._watched = [part.key for part in self._seen]
        self.taken += 1

    def uses(self) -> Iterable[Use]:
        """Sum up."""
        for part, seen in self._seen.items():
            smallest = min(seen) if len(seen) == self.taken else None
            yield Use(part, self._total[part], max(seen), smallest)

    def has_time(self, seconds: float) -> bool:
        """Whether one more sample, so many seconds from now, leaves time for what is asked afterwards."""
        afterwards = _AFTERWARDS if self.taken >= _TO_BE_SURE else 0
        return self._ndbinfo.deadline.left() >= seconds + (1 + afterwards) * self.slowest


def watch(ndbinfo: Ndbinfo, cluster: Cluster, wanted: int, spread: float) -> Iterator[Samples]:
    """Take samples of the started nodes within ``spread`` seconds; yield what they show after each one.

    A sample that fails ends them; raises a ProbeError if it is the first one.
    """
    watched = _Watch(ndbinfo, cluster)
    begun = time.monotonic()
    while watched.taken < wanted:
        if watched.taken:
            wait = max(0.0, begun + spread * watched.taken / wanted - time.monotonic())
            if not watched.has_time(wait):
                return
            ndbinfo.deadline.doing = "looking several times at the redo buffers"
            ndbinfo.deadline.rest(wait)
        at = time.monotonic()
        failed = None
        try:
            watched.sample()
        except ProbeError as error:
            if not watched.taken:
                raise
            failed = error
        else:
            seconds = at - begun
        uses = sorted(watched.uses(), key=lambda use: (use.smallest or 0, use.largest), reverse=True)
        yield Samples(tuple(uses), watched.taken, wanted, seconds, watched.slowest, failed)
        if failed:
            return


def _numbers(row: Row) -> tuple[Part, int, int]:
    node, log_id, log_part, total, used = (
        whole(row, name) for name in ("node_id", "log_id", "log_part", "total", "used")
    )
    return Part(node, log_id, log_part), total, used
