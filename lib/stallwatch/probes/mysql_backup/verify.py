"""Reading the files of a backup from beginning to end: are they whole?

Threads do as well as processes: zlib lets others run while it works (CPython 3.11: two threads read two files
of 39 MB in the time that two processes need). What was read is remembered by inode, size and time of each
file, so that the next run goes on where the time was up.
"""

from __future__ import annotations

import os
import random
import threading
import time

from stallwatch.findings import ProbeError
from stallwatch.history import recall, remember
from stallwatch.probes.mysql_backup import mydumper, sql_text
from stallwatch.probes.mysql_backup.model import Table
from stallwatch.sources.backups import contents
from stallwatch.sources.host import processors
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.probes.mysql_backup.model import Backup
    from stallwatch.sources.backups.files import File

SAMPLE = 64 << 20  # bytes of files, as they are, that a sample reads in a run, and one file at least
_MOST_WORKERS = 4  # files that are read at once, each of which takes 5 MiB of memory, and zstd as much again
_MOST_TABLES = 50_000  # that are remembered, of all files
_KEPT, _LATE = "verified", "too_long"
_CLOSE = 2.0  # seconds by which the time of two runs may differ
_TAIL = 4096  # bytes of the text that its end is judged by


class Verified(NamedTuple):
    """What came out, of all files that can be verified."""

    files: int
    size: int  # bytes
    done: int  # bytes of those that were read, in this run or an earlier one
    damaged: Mapping[str, tuple[str, float]]  # by file: what is wrong, and how many seconds ago it was read
    sealed: Mapping[str, str]  # why nothing can be known of a file
    problems: tuple[ProbeError, ...]  # files that cannot be read
    untold: Sequence[str] = ()  # files that were read to their end, which does not show whether it is the end
    ago: float = 0.0  # how many seconds ago the first of them was read
    too_long: Sequence[str] = ()  # files that have had all the time of a run, and needed more

    @property
    def percent(self) -> float:
        """How much of it was read."""
        return 100 * self.done / self.size if self.size else 100.0


class _Found(NamedTuple):
    """What came out for one file."""

    wrong: str  # "": nothing
    untold: bool  # its end does not show whether it is the end
    at: float  # when it was read, in seconds since the epoch
    tables: list[tuple[str, str]]  # schema and name


class Kept:
    """What earlier runs found in files; ``memory`` is kept between runs."""

    def __init__(self, memory: dict[str, Any]) -> None:
        self._memory = memory
        self._found = recall(memory, _KEPT, dict[str, _Found]) or {}
        self._late = recall(memory, _LATE, dict[str, float]) or {}

    def wrong(self, file: File) -> str | None:
        """Return what is wrong with a file; None: it has not been read as it is now."""
        return self._found[file.key].wrong if file.key in self._found else None

    def keep(self, file: File, wrong: str, tables: Iterable[Table], *, untold: bool) -> None:
        """Remember what was found in a file."""
        names = [(table.schema, table.name) for table in tables]
        self._found[file.key] = _Found(wrong, untold, time.time(), names)

    def ago(self, file: File) -> float:
        """Return how many seconds ago a file was read."""
        return max(0.0, time.time() - self._found[file.key].at)

    def is_untold(self, file: File) -> bool:
        """Whether the end of a file that was read does not show that it is the end."""
        return file.key in self._found and self._found[file.key].untold

    def tables(self, files: Iterable[File]) -> dict[str, list[Table]]:
        """Return the tables of each of these that was read and is whole."""
        whole = [file for file in files if self.wrong(file) == ""]
        return {file.name: [Table(*names) for names in self._found[file.key].tables] for file in whole}

    def needs(self, file: File) -> float:
        """Return how many seconds have not been enough for a file; 0: it has not been tried."""
        return self._late.get(file.key, 0.0)

    def needs_more(self, file: File, seconds: float) -> None:
        """Remember that so many seconds have not been enough for a file."""
        self._late[file.key] = round(max(seconds, self.needs(file)), 1)

    def save(self, files: Iterable[File]) -> None:
        """Leave to the next run what is known of these files, and no others."""
        known = {file.key: self._found[file.key] for file in files if file.key in self._found}
        remember(self._memory, _KEPT, known)
        unread = {file.key: self.needs(file) for file in files if file.key not in self._found}
        self._memory[_LATE] = {key: seconds for key, seconds in unread.items() if seconds}


def verify(
    backup: Backup, kept: Kept, deadline: Deadline, progress: Callable[[str], None], *, sample: bool
) -> Verified:
    """Read all files of a backup, or a sample, that have not been read yet, as long as there is time."""
    new = [file for file in backup.files if kept.wrong(file) is None]
    run = _Run(backup, kept, deadline, progress)
    longest = deadline.left() + _CLOSE
    # The longest first, but those last that so much time was not enough for.
    order = sorted(new, key=lambda file: (kept.needs(file) + 2 * _CLOSE > longest, -file.size))
    run.read(_sample(new) if sample else order)
    kept.save(backup.files)
    done = [file for file in backup.files if kept.wrong(file) is not None and not kept.is_untold(file)]
    return Verified(
        files=len(backup.files) - len(run.sealed),
        size=sum(file.size for file in backup.files if file.name not in run.sealed),
        done=sum(file.size for file in done),
        damaged={file.name: (wrong, kept.ago(file)) for file in done if (wrong := kept.wrong(file))},
        sealed=run.sealed,
        problems=tuple(run.problems),
        untold=[file.name for file in backup.files if kept.is_untold(file)],
        ago=max(map(kept.ago, done), default=0.0),
        too_long=[file.name for file in backup.files if kept.wrong(file) is None and kept.needs(file)],
    )


def _sample(files: list[File]) -> list[File]:
    chosen: list[File] = []
    left = SAMPLE
    for file in random.sample(files, len(files)):
        if file.size <= left or not chosen:
            chosen.append(file)
            left -= file.size
    return chosen


def _workers(files: Iterable[File]) -> int:
    """Return how many files are read at once: what zstd looks back for all of them is to be in memory."""
    widest = max((contents.window(file.path) for file in files if ".zst" in file.name), default=0)
    return max(1, min(processors(), _MOST_WORKERS, contents.WIDEST // max(1, widest)))


class _Run:
    """Threads that read files, one each at a time, until all are read or the time is up."""

    def __init__(
        self, backup: Backup, kept: Kept, deadline: Deadline, progress: Callable[[str], None]
    ) -> None:
        self.sealed: dict[str, str] = {}
        self.problems: list[ProbeError] = []
        self._backup = backup
        self._kept = kept
        self._deadline = deadline
        self._progress = progress
        self._lock = threading.Lock()
        self._left: list[File] = []
        self._tables = 0  # that were found in all files
        self._begun: dict[File, float] = {}  # of files that are being read: seconds that were left then
        self._read: dict[str, int] = {}  # bytes of each file, as it is

    def read(self, files: list[File]) -> None:
        self._left = files[::-1]
        whole = self._deadline.left()
        size = sum(file.size for file in files)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(_workers(files))]
        for thread in threads:
            thread.start()
        while (alive := [thread for thread in threads if thread.is_alive()]) and self._deadline.left():
            self._show(size, len(files))
            alive[0].join(0.2)
        self._show(size, len(files))
        self._progress("")
        with self._lock:
            for file, left in [*self._begun.items()]:
                if left > whole - _CLOSE and not self._deadline.left():
                    self._kept.needs_more(file, left)  # it has had all of it

    def _show(self, size: int, files: int) -> None:
        from stallwatch.units import say_size

        read = sum([*self._read.values()])
        share = min(1.0, read / size) if size else 1.0
        bar = "#" * round(30 * share)
        text = f"[{bar:.<30}] {share:.0%}, {say_size(read)} of {say_size(size)} in {files} files"
        self._deadline.doing = f"{text} verified"
        self._progress(text)

    def _work(self) -> None:
        os.nice(19)  # of this thread (Linux) and its children: whoever else needs the processor has it
        while file := self._next():
            try:
                self._begun[file] = self._deadline.left()
                wrong, tables, untold = self._judge(file)
            except _TimeIsUpError:
                return
            except contents.SealedError as sealed:
                self.sealed[file.name] = str(sealed)
            except ProbeError as error:
                self.problems.append(error)
            else:
                with self._lock:
                    self._tables += len(tables)
                    if self._tables > _MOST_TABLES:
                        self.problems.append(_too_many_tables(file))
                        del self._begun[file]
                        continue
                    self._kept.keep(file, wrong, tables, untold=untold)
            with self._lock:
                del self._begun[file]

    def _next(self) -> File | None:
        with self._lock:
            return self._left.pop() if self._left and self._deadline.left() else None

    def _judge(self, file: File) -> tuple[str, list[Table], bool]:
        """Return what is wrong with a file, the tables that it makes, and whether its end shows nothing."""
        head, tail, tables = b"", b"", sql_text.Tables()

        def moved(size: int) -> None:
            self._read[file.name] = self._read.get(file.name, 0) + size

        try:
            for piece in contents.text(file.path, self._deadline.children, moved=moved):
                if not self._deadline.left():
                    raise _TimeIsUpError
                head = head or piece[:_TAIL]
                tail = piece[-_TAIL:] if len(piece) >= _TAIL else (tail + piece)[-_TAIL:]
                if self._backup.by_mysqldump:
                    tables.feed(piece)
                    if len(tables.found) > _MOST_TABLES:
                        raise _too_many_tables(file)
        except contents.DamagedError as damage:
            return str(damage), [], False
        finally:
            self._read[file.name] = file.size
        if mydumper.makes_no_table(file.name, head):
            return mydumper.WITHOUT_TABLE, [], False
        found = tables.end()
        wrong = _wrong_end(head, tail, by_mysqldump=self._backup.by_mysqldump, name=file.name)
        untold = self._backup.by_mysqldump and sql_text.cut_off(head, tail) is None and _has_rows(head, found)
        return wrong, found, untold and not wrong


def _has_rows(head: bytes, tables: Sequence[Table]) -> bool:
    """Whether it matters where a text ends: not that of grants, or of a place in the binary log."""
    return bool(tables) or b"INSERT " in head


def _too_many_tables(file: File) -> ProbeError:
    what = f"{file.path} and others make more than {_MOST_TABLES} tables, more than a check notes"
    return ProbeError(what, "look whether it is a dump")


class _TimeIsUpError(Exception):
    """It ends before the file does."""


def _wrong_end(head: bytes, tail: bytes, *, by_mysqldump: bool, name: str) -> str:
    """Return what is wrong with the end of a text that is whole as far as its packing goes."""
    if by_mysqldump:
        cut = sql_text.cut_off(head, tail)
        return sql_text.wrong_head(head) or (f"it {cut}" if cut else "")
    if sql_text.DUMP.search(name):  # mydumper 0.10: every file of SQL ends so
        return "" if tail.rstrip().endswith(b";") else mydumper.NO_END if head else sql_text.NOTHING
    return "" if head or not name.endswith((".dat", ".csv")) else sql_text.NOTHING
