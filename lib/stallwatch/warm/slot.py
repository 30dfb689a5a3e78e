"""What a worker shows the supervisor of the check under way, in memory that both have."""

from __future__ import annotations

import mmap
import struct

_FIELDS = struct.Struct("dd?")


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

    def read(self) -> tuple[float, float, bool]:
        """Give its end (0: it has not begun), its seconds, and whether it is being answered."""
        return _FIELDS.unpack_from(self._memory, 0)

    def _show(self, end: float, seconds: float, *, answering: bool = False) -> None:
        _FIELDS.pack_into(self._memory, 0, end, seconds, answering)

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()
