"""Following a log from run to run, and reading one whole."""

from __future__ import annotations

import math
import time

from stallwatch.findings import ProbeError
from stallwatch.sources.logs.cursor import Budget, Cursor
from stallwatch.sources.logs.generations import Kept, Whereabouts
from stallwatch.sources.logs.logfile import TimeShortError, open_log
from stallwatch.sources.logs.rotation import ATTEMPTS, age, look, without_copies
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.sources.logs.generations import Generation
    from stallwatch.sources.logs.rotation import Rotation

MAX_BYTES = 256 << 20
WATCHED = 4  # finished generations that are still looked at, should they grow after all


class Follow:
    """What is new in a log since the last run: iterate once, over blocks of whole lines.

    Each block has at most 1 MiB and ends with a newline. ``kept`` is what the last run left (None: there
    was none); after the iteration, even one broken off, it is what to leave for the next. Every line is
    handed out once, the oldest first, wherever rotation has put it. A first run reads the log itself from
    its beginning; older generations are history then. An incomplete last line waits for its rest. In a
    generation that its writer has left for a newer one it counts as a line when it has not grown for a
    run, and at once when the generation is compressed.

    Raises ProbeError if nothing can be read. If only the log itself cannot (it is missing, but rotated
    generations are there) that is the ``problem``, to be reported beside what the lines say.
    """

    def __init__(
        self,
        path: str,
        kept: Any,
        *,
        max_bytes: int = MAX_BYTES,
        left: Callable[[], float] | None = None,
        now: float | None = None,
    ) -> None:
        self.path = path
        self.kept = kept
        self.first_run = kept is None
        self.notes: list[str] = []  # sentences: what may be lost, and why
        self.asides: list[str] = []  # sentences: what is not worth an alert, copytruncate's lost moment
        self.problem: ProbeError | None = None
        self.head = b""  # the first bytes of the log itself
        self.behind = 0  # bytes known to be unread: max_bytes or the time did not suffice
        self._budget = Budget(max_bytes, left)
        self._now = time.time() if now is None else now  # seconds since the epoch

    @property
    def bytes_read(self) -> int:
        """Bytes of text that were read, those of overlong lines included."""
        return self._budget.bytes_read

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
        for older, cursor in enumerate(cursors, 1):
            cursor.left_behind |= any(newer.file.size for newer in cursors[older:])
        try:
            for cursor in cursors:
                yield from cursor.lines(self._budget)
        finally:
            self.behind = sum(cursor.behind for cursor in cursors)
            for cursor in cursors:
                self.notes += cursor.remarks()
                if cursor.file.damage:
                    self.notes.append(
                        f"{cursor.file.name} is damaged ({cursor.file.damage}): its rest is lost"
                    )
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
    return tuple(generation for generation in generations if generation not in done[:-WATCHED])


class Whole:
    """All lines of one file, plain or gzipped: iterate once, over blocks of whole lines.

    An incomplete last line is ended like the others. Raises ProbeError if the file cannot be read, or,
    after what could be read of it, if it is damaged.
    """

    def __init__(self, path: str, *, left: Callable[[], float] | None = None) -> None:
        self.path = path
        self.notes: list[str] = []  # sentences: what was not handed out, and why
        self.asides: list[str] = []
        self.kept = None  # nothing: the next look begins anew
        self.problem: ProbeError | None = None
        self.head = b""  # the first bytes of the file
        self.behind = 0  # bytes known to be unread: the time did not suffice
        self._budget = Budget(math.inf, left)

    @property
    def bytes_read(self) -> int:
        """Bytes of text that were read, those of overlong lines included."""
        return self._budget.bytes_read

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
