"""What is kept of a log between runs, and finding it again among the files that are there now."""

from __future__ import annotations

from functools import cached_property

from stallwatch.sources.logs.rotation import age, without_copies
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.sources.logs.logfile import LogFile
    from stallwatch.sources.logs.rotation import Rotation


class Generation(NamedTuple):
    """What was written to one file of a log: how far it was read, and how to know it again.

    There is no device number: it changes with a reboot on NFS and LVM, and the content is verified anyway.
    """

    name: str
    inode: int
    birth: int  # of that inode; 0 if the file system does not show it
    packed: bool  # gzipped
    mtime: int  # ns
    seen: int  # bytes of text looked at
    edges: str  # the fingerprint of that text
    offset: int  # bytes of text handed out: the next line begins here
    overlong: bool  # in the midst of a line that is too long to be handed out
    finished: bool  # all is handed out but an incomplete last line, and its writer has left it

    def is_file(self, file: LogFile) -> bool:
        """Whether it may be this very file: whatever it holds now."""
        # Compressing makes a new file, if perhaps with an old inode.
        return (file.inode, file.birth, file.packed) == (self.inode, self.birth, self.packed)

    @property
    def done(self) -> bool:
        """Whether nothing is missed when it disappears."""
        return self.finished and self.offset == self.seen


class Kept(NamedTuple):
    """What one run leaves for the next."""

    generations: tuple[Generation, ...]  # the oldest first
    newest: int  # when any file of the log was last written, history included (ns)
    looked: float  # when the run was (seconds since the epoch)

    @classmethod
    def from_json(cls, value: Any) -> Kept:
        """Take what ``to_json`` gave; anything else is a KeyError or TypeError."""
        generations = tuple(Generation(**generation) for generation in value["generations"])
        return cls(generations, value["newest"], value["looked"])

    def to_json(self) -> dict[str, Any]:
        """Give a value that JSON can hold."""
        generations = [generation._asdict() for generation in self.generations]
        return {**self._asdict(), "generations": generations}


class Whereabouts:
    """Which file holds which generation now. No inode is trusted without its content."""

    def __init__(self, kept: Kept, rotation: Rotation, now: float) -> None:
        self.kept = kept
        self.rotation = rotation
        self.elapsed = now - kept.looked
        self.found: dict[Generation, LogFile] = {}
        self.strangers = rotation.files  # those that hold no known generation
        self._find(lambda generation: [file for file in self.strangers if _same_file(generation, file)])
        self._find(self._with_its_content)

    def _find(self, files_of: Callable[[Generation], list[LogFile]]) -> None:
        for generation in self.kept.generations:
            if generation not in self.found and (files := files_of(generation)):
                self.found[generation] = files[0]
                self.strangers.remove(files[0])

    def _with_its_content(self, generation: Generation) -> list[LogFile]:
        """Give the files in which a generation went on, the log itself or else the longest first.

        Of two that are equal, the compressed one: gzip reads a file to its end, a copy may lack something.
        """
        files = [file for file in self.strangers if _same_content(generation, file)]
        if self.rotation.live in files or len(files) == 1:
            return files
        return without_copies(sorted(files, key=lambda file: not file.packed), [])

    @property
    def moved(self) -> bool:
        """Whether the log is not the file that it was in the last run, or may not be."""
        last = self.kept.generations[-1] if self.kept.generations else None
        return not (last and last.seen and last in self.found and self.found[last] is self.rotation.live)

    @cached_property
    def newcomers(self) -> list[LogFile]:
        """The rotated files that were born after the last run and are no copies, the oldest first.

        As long as the log is the file that it was, whatever appears beside it is history.
        """
        empty = [generation for generation in self.kept.generations if not generation.seen]
        filled = [file for file in self.strangers if any(generation.is_file(file) for generation in empty)]
        young = [
            file
            for file in self.strangers
            if file is not self.rotation.live
            and file.mtime > self.kept.newest
            and (self.moved or file in filled)
        ]
        young.sort(key=lambda file: file not in filled)
        found = without_copies(young, [file for file in self.rotation.files if file not in young])
        return sorted(found, key=age)

    def is_copy(self, generation: Generation) -> bool:
        """Whether a generation was found in another file than the one that its writer had."""
        file = self.found[generation]
        return not (generation.is_file(file) or file.name == generation.name or file is self.rotation.live)

    def _copy(self, generation: Generation) -> LogFile | None:
        """Give the copy in which a generation was found, or what a log that was empty has become."""
        if generation.seen:
            return self.found[generation] if generation in self.found and self.is_copy(generation) else None
        live = self.rotation.live
        return self.newcomers[-1] if live and generation.is_file(live) and self.newcomers else None

    def unread(self) -> list[Generation]:
        """Give the generations that are there but cannot be read."""
        closed = {closed.inode for closed in self.rotation.closed}
        return [
            generation
            for generation in self.kept.generations
            if generation not in self.found and generation.inode in closed
        ]

    def obstacles(self) -> list[str]:
        """Return what may hold new lines but cannot be read."""
        unread = {generation.inode for generation in self.unread()}
        return [
            closed.why
            for closed in self.rotation.closed
            if closed.inode in unread or (self.moved and closed.mtime > self.kept.newest)
        ]

    def losses(self, *, copied: bool) -> list[str]:
        """Report of which generations something may be lost, and why.

        Of one that was ``copied`` before it was truncated, that is what was written in between.
        """
        unread = self.unread()
        return [
            self._tell_loss(generation)
            for generation in self.kept.generations
            if generation not in unread and not generation.done and self._may_have_lost(generation)
            if (self._copy(generation) is not None) == copied
        ]

    def _truncated(self, generation: Generation) -> bool:
        """Whether it was the log itself, and its file is there, under any name, with another content."""
        text = self.found.get(generation) if generation.seen else None
        others = (file for file in self.rotation.files if file is not text)
        return generation.name == self.rotation.name and any(generation.is_file(file) for file in others)

    def _may_have_lost(self, generation: Generation) -> bool:
        copy = self._copy(generation)
        if not copy and (generation in self.found or self._grew(generation)):
            return False
        # gzip reads a file to its end; what is written between copying and truncating is nowhere.
        return self._truncated(generation) or not (copy and copy.packed)

    def _grew(self, generation: Generation) -> bool:
        """Whether a stranger can be what was empty when last seen: no content shows it."""
        return not generation.seen and any(
            file.mtime > self.kept.newest
            if generation.is_file(file)
            else file.packed and file.mtime >= generation.mtime
            for file in self.strangers
        )

    def _tell_loss(self, generation: Generation) -> str:
        copy = self._copy(generation)
        fate = "deleted"
        if self._truncated(generation):
            fate = "truncated in place" if generation.birth else "truncated in place or recreated"
        read = f" (its copy {copy.name} is read)" if copy else ""
        unread = 0 if copy else generation.seen - generation.offset
        also = f"{say_size(unread)} that were not yet read and " if unread else ""
        return (
            f"{generation.name} was {fate}{read}: {also}what was written to it "
            f"in the last {say_duration(self.elapsed)} may be lost"
        )


def _same_file(generation: Generation, file: LogFile) -> bool:
    if not generation.seen:  # no content to know it by: once it has some, it is as good as new
        return generation.is_file(file) and not file.size
    return generation.is_file(file) and file.edges(generation.seen) == generation.edges


def _same_content(generation: Generation, file: LogFile) -> bool:
    return (
        generation.seen > 0
        and file.mtime >= generation.mtime  # a copy is as old as its original or younger
        and file.edges(generation.seen) == generation.edges
    )
