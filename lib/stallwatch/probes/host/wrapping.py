"""Counters of 32 bits that begin at 0 again, counted on.

The kernel tells the milliseconds of disks as 32 bits, on 64-bit processors too (%u in diskstats_show of
block/genhd.c): they begin again after 50 days of work, that of a queue of 275 requests after 4 hours.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from stallwatch.sources.kernel import Disk

_TURN = 1 << 32
_KEPT = "turns"
_TIMES = ("read_ms", "write_ms", "busy_ms", "queue_ms")
_OTHERS = ("reads", "writes", "sectors_read", "sectors_written")


def counted_on(disks: Mapping[str, Disk], memory: dict[str, Any]) -> dict[str, Disk]:
    """Give the same with times that go on where they have begun again since the last look."""
    kept = memory.get(_KEPT)
    before = kept if isinstance(kept, dict) else {}
    turns = {name: _turns(disk, before.get(name)) for name, disk in disks.items()}
    memory[_KEPT] = {name: [disk._asdict(), turns[name]] for name, disk in disks.items()}
    return {
        name: disk._replace(
            **{time: getattr(disk, time) + turn * _TURN for time, turn in turns[name].items()}
        )
        for name, disk in disks.items()
    }


def _turns(disk: Disk, before: Any) -> dict[str, int]:
    """Tell how often each time has begun again; never, if the disk itself is another one."""
    match before:
        case [dict(counts), dict(turns)] if all(
            getattr(disk, name) >= _whole(counts.get(name)) for name in _OTHERS
        ):
            return {
                time: _whole(turns.get(time)) + _turned(_whole(counts.get(time)), getattr(disk, time))
                for time in _TIMES
            }
    return dict.fromkeys(_TIMES, 0)


def _turned(before: int, now: int) -> bool:
    """Whether it has begun again; old kernels count back a little where requests were miscounted."""
    return now < _TURN // 2 <= before


def _whole(kept: Any) -> int:
    return kept if type(kept) is int and kept >= 0 else 0
