"""Who waits for whom, and who is at the head: waits of all kinds in one graph of connections."""

from __future__ import annotations

from enum import Enum, auto

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import TypeVar

    One = TypeVar("One", int, str)


class LockKind(Enum):
    """What somebody waits for."""

    ROW = auto()
    METADATA = auto()  # of a table
    DATABASE = auto()  # the metadata lock of one
    TABLE = auto()  # of MyISAM and its like: no table of the server has the holder
    READ = auto()  # of FLUSH TABLES WITH READ LOCK
    BACKUP = auto()  # of LOCK INSTANCE FOR BACKUP, and of MariaDB's BACKUP STAGE
    SERVER = auto()  # one of these two: MariaDB has one state for both
    FLUSH = auto()  # of tables, which waits itself
    STATEMENT = auto()  # the end of one that uses a table, which a FLUSH waits for
    USER = auto()  # of GET_LOCK()

    @property
    def is_of_server(self) -> bool:
        """Whether it is of the whole server."""
        return self in {LockKind.READ, LockKind.BACKUP, LockKind.SERVER}


class Release(Enum):
    """How a holder lets go of a lock by itself."""

    COMMIT = "commit"
    COMMIT_OR_UNLOCK = "COMMIT or UNLOCK TABLES"
    UNLOCK_TABLES = "UNLOCK TABLES"
    UNLOCK_INSTANCE = "UNLOCK INSTANCE"
    BACKUP_STAGE_END = "BACKUP STAGE END"
    RELEASE_LOCK = "RELEASE_LOCK"
    END = "end"  # of its statement, or of what it does


class Wait(NamedTuple):
    """A connection that waits, and one that it waits for; both by their ids in the process list."""

    waiting: int
    holding: int  # 0: a transaction that no connection has
    lock: LockKind
    on: str = ""  # the table, the database, or the name of a user lock; "": none, or not known
    key: str = ""  # of a row: the index
    release: Release = Release.COMMIT
    certain: bool = True  # whether a table of the server has it
    queued: bool = False  # waits behind one that waits itself, and has no lock yet
    row: str = ""  # which of all rows, where nothing shows for certain who has it


class Graph:
    """All waits of a server."""

    def __init__(self, waits: Iterable[Wait]) -> None:
        self.waits = tuple(dict.fromkeys(waits))
        self._holding: dict[int, list[int]] = {}
        self._waiting: dict[int, list[int]] = {}
        for one in self.waits:
            self._holding.setdefault(one.waiting, []).append(one.holding)
            self._waiting.setdefault(one.holding, []).append(one.waiting)

    def heads(self) -> list[int]:
        """Return who keeps others waiting and does not wait itself, who has most behind it first."""
        found = [one for one in self._waiting if one not in self._holding]
        return sorted(found, key=lambda one: -len(self.behind(one)))

    def holders(self, waiting: int) -> list[Wait]:
        """List the waits of a connection itself."""
        return [one for one in self.waits if one.waiting == waiting]

    def last(self, waiting: int) -> list[Wait]:
        """List the waits for who is at the end of all waiting of a connection; none in a circle.

        One is certain if tables of the server show it and each wait before it.
        """
        between = {waiting} | reached(waiting, self._holding)
        on_the_way = [one for one in self.waits if one.waiting in between]
        before = all(one.certain for one in on_the_way if one.holding in self._holding)
        at_ends = [one for one in on_the_way if one.holding not in self._holding]
        return [one._replace(certain=one.certain and before) for one in at_ends]

    def behind(self, head: int) -> set[int]:
        """Return who waits for it, directly or for others that do."""
        return reached(head, self._waiting)

    def circles(self) -> list[set[int]]:
        """Return who wait for each other without anybody who could go on: no server sees all such circles."""
        found: list[set[int]] = []
        for one in self._holding:
            circle = {other for other in self.behind(one) if one in self.behind(other)}
            if one in self.behind(one) and not ends(one, self._holding) and circle not in found:
                found.append(circle)
        return found

    def first(self, head: int) -> list[Wait]:
        """List the waits for what the head itself has, and of those that only queue behind such a wait."""
        direct = [one for one in self.waits if one.holding == head]
        next_to_it = {one.waiting for one in direct}
        return direct + [one for one in self.waits if one.queued and one.holding in next_to_it]


def reached(start: One, following: Mapping[One, Collection[One]]) -> set[One]:
    """Find all that follow, one after the other; the start itself only if it follows one of them."""
    found: set[One] = set()
    ahead = [start]
    while ahead:
        new = set(following.get(ahead.pop(), ())) - found
        found |= new
        ahead += new
    return found


def ends(start: One, holding: Mapping[One, Collection[One]]) -> set[One]:
    """Find who is at the end of all waiting from here: who does not wait; none in a circle."""
    return {one for one in reached(start, holding) if not holding.get(one)}
