"""The place in one file of a log from which reading goes on."""

from __future__ import annotations

import math

from stallwatch.sources.logs.generations import Generation
from stallwatch.sources.logs.logfile import BLOCK
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.sources.logs.logfile import LogFile

RESERVE = 1.5  # seconds kept back for judging what was read; half the time, if that is less


def _keep_memory() -> None:
    """Let the next blocks take the place of the last ones.

    glibc 2.36 gives back to the system what is free beyond twice the largest piece that was freed so far,
    and asks for it again with each block: a quarter of the time of reading a log. Nobody touches this piece.
    """
    bytes(4 * BLOCK)


class Budget:
    """What one run may read."""

    def __init__(self, max_bytes: float, left: Callable[[], float] | None) -> None:
        self.bytes_read = 0
        self._max_bytes = max_bytes
        self._left = left or (lambda: math.inf)
        self._reserve = min(RESERVE, self._left() / 2)

    @property
    def room(self) -> int:
        """Bytes that the next block may have."""
        return int(max(0, min(BLOCK, self._max_bytes - self.bytes_read)))

    def time_is_short(self) -> bool:
        """Whether it is time to judge what was read."""
        return self._left() <= self._reserve

    def spent(self) -> bool:
        """Whether reading must stop."""
        return self.bytes_read >= self._max_bytes or self.time_is_short()


class Cursor:
    """Reads one file from where the last run stopped, from its beginning if it was not known then.

    ``left_behind``: nobody writes to the file any more; ``complete``: so its last line is one, too.
    """

    def __init__(self, file: LogFile, was: Generation | None = None) -> None:
        self.file = file
        self.offset = was.offset if was else 0
        self.left_behind = file.packed or bool(was and was.finished)
        self.complete = file.packed or bool(was and was.finished and was.seen == file.size)
        self._was = was
        self._overlong = bool(was and was.overlong)  # the offset is in the midst of a line that is skipped
        self._skipped = 0  # such lines that began in this run
        self._seen = 0 if file.packed else file.size
        self._at_end = not file.packed and self.offset >= file.size

    @classmethod
    def after_history(cls, file: LogFile, *, growing: bool) -> Cursor:
        """Place a cursor at the end of a plain file; of a ``growing`` one, before an incomplete last line."""
        cursor = cls(file)
        cursor.offset = file.size
        if growing:
            start = max(0, file.size - BLOCK)
            newline = file.text(start, file.size - start).rfind(b"\n")
            cursor.offset = start + newline + 1
            cursor._overlong = newline < 0 < start
        cursor._at_end = cursor.offset >= file.size
        return cursor

    def lines(self, budget: Budget) -> Iterator[bytes]:
        """Give blocks of whole lines, up to the end or until the budget is spent.

        Every block is read from the beginning of a line, so that nothing has to be carried over. A file that
        is truncated meanwhile ends here; the next run looks for a copy of it and goes on there.
        """
        _keep_memory()
        while not self._at_end and not budget.spent():
            room = BLOCK if self.file.packed else min(BLOCK, self.file.size - self.offset)
            block = self.file.text(self.offset, room)
            if self.file.truncated:  # looked at after reading: the block may be of another text
                self._at_end = True
                break
            self._seen = max(self._seen, self.offset + len(block))
            if self._overlong:
                end = block.find(b"\n") + 1
                self._overlong = not end
                self._at_end = len(block) < BLOCK and not end
                self._advance(end or len(block), budget)
            elif end := block.rfind(b"\n", 0, budget.room) + 1 or block.find(b"\n") + 1:
                self._advance(end, budget)
                yield block[:end]
            elif len(block) == BLOCK:
                self._overlong = True
                self._skipped += 1
                self._advance(BLOCK, budget)
            else:
                self._at_end = True
                if block and self.complete:
                    self._advance(len(block), budget)
                    yield block + b"\n"

    def _advance(self, length: int, budget: Budget) -> None:
        self.offset += length
        budget.bytes_read += length

    @property
    def behind(self) -> int:
        """Bytes that are known to be unread; of a gzipped file all that it has on disk."""
        if self._at_end:
            return 0
        return self.file.size if self.file.packed else self._seen - self.offset

    @property
    def exhausted(self) -> bool:
        """Whether nothing can follow: the file is compressed and read."""
        return self.file.packed and self._at_end

    def generation(self) -> Generation:
        """Give what is to be kept of it."""
        seen = max(self.offset, len(self.file.head())) if self.file.packed else self._seen
        if self.file.packed and self._was and self._was.seen >= seen:
            seen, edges = self._was.seen, self._was.edges  # to look there again would take its time
        else:
            edges = self.file.edges(seen) if self.file.packed else self.file.fingerprint
        return Generation(
            name=self.file.name,
            inode=self.file.inode,
            birth=self.file.birth,
            packed=self.file.packed,
            mtime=self.file.mtime,
            seen=seen,
            edges=edges,
            offset=self.offset,
            overlong=self._overlong,
            finished=self._at_end and self.left_behind,
        )

    def remarks(self) -> list[str]:
        """Say what could not be handed out."""
        lines = "1 line" if self._skipped == 1 else f"{self._skipped} lines"
        return [f"{lines} of {self.file.name} longer than {say_size(BLOCK)} skipped"] if self._skipped else []
