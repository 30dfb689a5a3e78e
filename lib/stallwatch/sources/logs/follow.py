"""Following a log from run to run, and reading one whole: a cursor in each file, within one budget."""

from __future__ import annotations

import math
import os
import time

from stallwatch.findings import ProbeError
from stallwatch.sources.logs.generations import Generation, Kept, Whereabouts
from stallwatch.sources.logs.logfile import BLOCK, Budget, TimeShortError, open_log
from stallwatch.sources.logs.rotation import ATTEMPTS, age, look, without_copies
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.sources.logs.logfile import LogFile
    from stallwatch.sources.logs.rotation import Rotation

_WATCHED = 4  # finished generations that are still looked at, should they grow after all


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
        # glibc 2.36 returns to the system what is free beyond twice the largest piece freed so far, and
        # asks for it again with each block: a quarter of the time of reading a log. So free a large piece.
        bytes(4 * BLOCK)
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
        """Return what could not be handed out."""
        lines = "1 line" if self._skipped == 1 else f"{self._skipped} lines"
        return [f"{lines} of {self.file.name} longer than {say_size(BLOCK)} skipped"] if self._skipped else []


class Log:
    """A log to iterate over once, by blocks of whole lines: at most 1 MiB, with a newline at the end."""

    kept: Any = None  # where reading stopped, for the next run; None: that begins anew
    problem: ProbeError | None = None  # why the log itself cannot be read, although older parts of it can
    head = b""  # the first bytes of the log itself
    behind = 0  # bytes known to be unread: max_bytes or the time did not suffice

    def __init__(self, path: str, max_bytes: float, left: Callable[[], float] | None) -> None:
        self.path = path
        self.notes: list[str] = []  # sentences: what may be lost or was not handed out, and why
        self.asides: list[str] = []  # sentences: what is not worth an alert, copytruncate's lost moment
        self._budget = Budget(max_bytes, left)

    @property
    def bytes_read(self) -> int:
        """Bytes of text that were read, those of overlong lines included."""
        return self._budget.bytes_read

    @property
    def written(self) -> float | None:
        """When the log itself was last written to, in seconds since the epoch; None if that is not known."""
        try:
            return os.stat(self.path).st_mtime
        except OSError:
            return None

    def __iter__(self) -> Iterator[bytes]:
        """Give blocks of whole lines; raises ProbeError."""
        raise NotImplementedError


class Follow(Log):
    """What is new in a log since the last run.

    ``kept`` is what the last run left (None: there was none); after the iteration, even one broken off, it
    is what to leave for the next. Every line is handed out once, the oldest first, wherever rotation has put
    it. A first run reads the log itself from its beginning; older generations are history then. An incomplete
    last line waits for its rest. In a generation that its writer has left for a newer one it counts as a line
    when it has not grown for a run, and at once when the generation is compressed.

    Raises ProbeError if nothing can be read. If only the log itself cannot (it is missing, but rotated
    generations are there) that is the ``problem``, to be reported beside what the lines show.
    """

    def __init__(
        self,
        path: str,
        kept: Any,
        *,
        max_bytes: float = 256 << 20,
        left: Callable[[], float] | None = None,
        now: float | None = None,
    ) -> None:
        super().__init__(path, max_bytes, left)
        self.kept = kept
        self.first_run = kept is None
        self._now = time.time() if now is None else now  # seconds since the epoch

    def __iter__(self) -> Iterator[bytes]:
        rotation = None
        try:
            rotation, there = self._look()
            self.problem = rotation.problem
            self.head = rotation.live.head() if rotation.live else b""
            if rotation.problem and not rotation.rotated:
                raise rotation.problem
            if rotation.live and rotation.live.packed:
                raise ProbeError(f"{self.path} is compressed", "name the log that is being written")
            if there is None:
                yield from self._read(_begin(rotation), [], rotation)
                if rotation.live and rotation.live.truncated:  # without a state there is no next run
                    self.notes.append(f"{self.path} was truncated while it was read: lines may be lost")
            else:
                yield from self._go_on(there, rotation)
        except TimeShortError as short:
            self.behind = self.behind or short.size
        finally:
            if rotation:
                rotation.close()

    def _look(self) -> tuple[Rotation, Whereabouts | None]:
        """Find what the last run knew again, at a moment when nothing is truncated."""
        kept = None if self.first_run else Kept.from_json(self.kept)
        for attempt in range(ATTEMPTS):
            rotation = look(self.path, self._budget.time_is_short)
            try:
                there = Whereabouts(kept, rotation, self._now) if kept else None
                if attempt == ATTEMPTS - 1 or not rotation.truncated:
                    break
            except BaseException:
                rotation.close()
                raise
            rotation.close()
        return rotation, there

    def _go_on(self, there: Whereabouts, rotation: Rotation) -> Iterator[bytes]:
        """Read each generation from where the last run stopped, then what is new since."""
        cursors = []
        for generation in there.kept.generations:
            if generation in there.found:
                cursors.append(Cursor(there.found[generation], generation))
                cursors[-1].left_behind |= there.is_copy(generation)
        cursors += [Cursor(file) for file in there.newcomers]
        if rotation.live and rotation.live in there.strangers:
            cursors.append(Cursor(rotation.live))
        cursors.sort(key=lambda cursor: cursor.file is rotation.live)  # it may be known, but empty
        self.notes += there.losses(copied=False) + there.obstacles()
        self.asides += there.losses(copied=True)
        yield from self._read(cursors, there.unread(), rotation)

    def _read(self, cursors: list[Cursor], unread: list[Generation], rotation: Rotation) -> Iterator[bytes]:
        """Hand out what the cursors reach, the oldest first, and keep where each of them stopped."""
        for older, cursor in enumerate(cursors, 1):
            cursor.left_behind |= any(newer.file.size for newer in cursors[older:])
        try:
            for cursor in cursors:
                yield from cursor.lines(self._budget)
        finally:
            self.behind = sum(cursor.behind for cursor in cursors)
            for cursor in cursors:
                self.notes += cursor.remarks()
                if damage := cursor.file.damage:
                    self.notes.append(f"{cursor.file.name} is damaged ({damage}): its rest is lost")
            generations = unread + [cursor.generation() for cursor in cursors if not cursor.exhausted]
            self.kept = Kept(_worth_keeping(generations), rotation.newest, self._now).to_json()


def _begin(rotation: Rotation) -> list[Cursor]:
    """Begin the log itself at its beginning and those beside it at their ends: one may still grow."""
    live = [rotation.live] if rotation.live else []
    history = without_copies([file for file in rotation.rotated if not file.packed], live)
    history.sort(key=age)
    cursors = [
        Cursor.after_history(file, growing=not any(newer.size for newer in (*history[older:], *live)))
        for older, file in enumerate(history, 1)
    ]
    return cursors + [Cursor(file) for file in live]


def _worth_keeping(generations: list[Generation]) -> tuple[Generation, ...]:
    """Drop old generations that are done: all others may still grow or are not yet handed out."""
    done = [generation for generation in generations if generation.done]
    return tuple(generation for generation in generations if generation not in done[:-_WATCHED])


class Whole(Log):
    """All lines of one file, plain or gzipped.

    An incomplete last line is ended like the others. Raises ProbeError if the file cannot be read, or,
    after what could be read of it, if it is damaged.
    """

    def __init__(self, path: str, *, left: Callable[[], float] | None = None) -> None:
        super().__init__(path, math.inf, left)

    def __iter__(self) -> Iterator[bytes]:
        file = open_log(self.path, self._budget.time_is_short)
        cursor = Cursor(file)
        cursor.complete = True
        try:
            self.head = file.head()
            yield from cursor.lines(self._budget)
        except TimeShortError:
            pass
        finally:
            self.behind = cursor.behind
            self.notes += cursor.remarks()
            cut = file.truncated
            file.close()
        if file.damage:
            raise ProbeError(f"{self.path} is damaged: {file.damage}", "fetch it again")
        if cut:
            raise ProbeError(f"{self.path} was truncated while it was read", "look again")
