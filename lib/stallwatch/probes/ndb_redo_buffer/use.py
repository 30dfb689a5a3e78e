"""How full the redo buffers are, in several samples: a small one is full for milliseconds at a time."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.ndbinfo.numbers import whole

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row

# A log part takes no operation while less than 10 pages of 32 KiB are free (9.7.2 source, DblqhMain.cpp,
# ZMIN_LOG_PAGES_OPERATION). Measured: RedoBuffer=1M is full at 68.8 % of its size; the node itself, for
# checkpoints, has been seen to go a page beyond.
RESERVED = 10 * 32768
WATCHED = 64  # buffers: the fullest of the first sample; the others were emptier than all of these
_OTHERS = 16  # more of each later sample: one of them may have a peak
_AFTERWARDS = 5  # statements that are asked after the samples, each within the time of the slowest one
_BUFFER = "node_id * 1000000 + log_id * 1000 + log_part"  # one number for each, in any dialect of SQL
_FULLEST = f"""SELECT node_id, log_id, log_part, total, used FROM ndbinfo.logbuffers WHERE log_type = 'REDO'
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
    """What all samples showed: the fullest buffers first."""

    uses: tuple[Use, ...]
    taken: int
    wanted: int
    seconds: float  # from the first to the last

    @property
    def fullest(self) -> Use | None:
        """The buffer that never was emptier than this."""
        return next((use for use in self.uses if use.smallest is not None), None)

    @property
    def peak(self) -> Use:
        """The buffer with the largest of all samples."""
        return max(self.uses, key=lambda use: use.largest)

    def of(self, node: int) -> tuple[Use, ...]:
        """Give those of one data node."""
        return tuple(use for use in self.uses if use.part.node == node)


class _Watch:
    """The samples of one run as they come."""

    def __init__(self) -> None:
        self._seen: dict[Part, list[float]] = {}
        self._total: dict[Part, int] = {}
        self._watched: list[int] = []
        self.taken = 0

    def sample(self, ndbinfo: Ndbinfo) -> None:
        """Ask for the fullest buffers, later for the same ones and whatever else is full by then."""
        first, limit = "", WATCHED
        if self._watched:
            keys = ", ".join(map(str, self._watched))
            first, limit = f"CASE WHEN {_BUFFER} IN ({keys}) THEN 0 ELSE 1 END,", WATCHED + _OTHERS
        rows = ndbinfo.some(_FULLEST.format(first, limit))
        for part, total, used in map(_numbers, rows):
            self._total[part] = total
            self._seen.setdefault(part, []).append(100 * used / max(1, total - RESERVED))
        if len(self._seen) == WATCHED:  # there may be more
            self._watched = [part.key for part in self._seen]
        self.taken += 1

    def uses(self) -> Iterable[Use]:
        """Sum up."""
        for part, seen in self._seen.items():
            whole = len(seen) == self.taken
            yield Use(part, self._total[part], max(seen), min(seen) if whole else None)


def watch(ndbinfo: Ndbinfo, wanted: int, every: float, wait: Callable[[float, float], bool]) -> Samples:
    """Take samples, ``every`` so many seconds.

    ``wait(seconds, kept)`` waits, or tells that less than ``kept`` seconds would be left then.
    """
    watched = _Watch()
    begun = last = time.monotonic()
    slowest = 0.0
    while watched.taken < wanted:
        due = max(0.0, begun + watched.taken * every - time.monotonic())
        if watched.taken and not wait(due, _AFTERWARDS * slowest):
            break
        last = time.monotonic()
        watched.sample(ndbinfo)
        slowest = max(slowest, time.monotonic() - last)
    uses = sorted(watched.uses(), key=lambda use: (use.smallest or 0, use.largest), reverse=True)
    return Samples(tuple(uses), watched.taken, wanted, last - begun)


def _numbers(row: Row) -> tuple[Part, int, int]:
    node, log_id, log_part, total, used = (
        whole(row, name) for name in ("node_id", "log_id", "log_part", "total", "used")
    )
    return Part(node, log_id, log_part), total, used
