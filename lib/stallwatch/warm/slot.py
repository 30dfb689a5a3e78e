"""What a worker shows the supervisor of the check under way, in memory that both have."""

from __future__ import annotations

import mmap
import struct

from stallwatch.startup import NamedTuple

_FIELDS = struct.Struct("dd?")
_PULSE = struct.Struct("5d")
_OF_PULSE = 64  # where it is: a thread of its own writes it


class Pulse(NamedTuple):
    """What a worker, which looks up after each tick, showed the last time; times by the monotonic clock."""

    at: float
    awoke: float  # when it last went on after it had slept for longer than a tick
    computed: float  # seconds of processor time of the worker
    shown: float  # seconds for which the check had no processor, as far as it shows
    enough: float  # seconds of these where nobody else may be blamed


class Slot:
    """When the check has to have ended, and how far it has come."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)

    def clear(self) -> None:
        """Show that no check is under way, or that it has not begun."""
        self._show(0.0, 0.0)

    def begin(self, end: float, seconds: float) -> None:
        """Show that a check has begun: ``end`` by the monotonic clock, ``seconds`` that it may take."""
        self._show(end, seconds)

    def answering(self) -> None:
        """Show that the answer is being sent: nobody else may send one."""
        end, seconds, _ = self.read()
        self._show(end, seconds, answering=True)

    def beat(self, pulse: Pulse) -> None:
        """Show that the worker goes on."""
        _PULSE.pack_into(self._memory, _OF_PULSE, *pulse)

    def pulse(self) -> Pulse:
        """Give what the worker showed when it last went on."""
        return Pulse(*_PULSE.unpack_from(self._memory, _OF_PULSE))

    def read(self) -> tuple[float, float, bool]:
        """Give its end (0: it has not begun), its seconds, and whether it is being answered."""
        return _FIELDS.unpack_from(self._memory, 0)

    def _show(self, end: float, seconds: float, *, answering: bool = False) -> None:
        _FIELDS.pack_into(self._memory, 0, end, seconds, answering)

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()
