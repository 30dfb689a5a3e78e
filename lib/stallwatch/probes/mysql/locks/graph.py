"""Who waits for whom, and who is at the head: waits of all kinds in one graph of connections."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import TypeVar

    One = TypeVar("One", int, str)

# Of what kind a wait is.
ROW, TABLE, SERVER, FLUSH, USER = "row", "table", "server", "flush", "user"


class Wait(NamedTuple):
    """A connection that waits, and one that it waits for; both by their ids in the process list."""

    waiting: int
    holding: int  # 0: a transaction that no connection has
    kind: str
    lock: str  # in words: "row lock", "metadata lock on shop.orders"
    on: str = ""  # the table, or what the lock is called where that is none
    key: str = ""  # of a row: the index
    release: str = "commit"  # what lets go of it, in "let it commit"
    certain: bool = True  # whether a table of the server has it
    queued: bool = False  # waits behind one that waits itself, and has no lock yet
    row: str = ""  # which of all rows, where nothing shows for certain who has it

    @property
    def said(self) -> str:
        """What is waited for: ``row lock on shop.orders, index PRIMARY``."""
        on = f"{'' if self.kind == USER else ' on'} {self.on}" if self.on and self.on not in self.lock else ""
        return f"{self.lock}{on}" + (f", index {self.key}" if self.key else "")


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

    def ends(self, waiting: int) -> set[int]:
        """Return where all waiting of a connection ends: who does not wait; none in a circle."""
        return ends(waiting, self._holding)

    def is_certain(self, waiting: int) -> bool:
        """Whether tables of the server show each wait between a connection and the ends of its waiting."""
        between = {waiting} | reached(waiting, self._holding)
        return all(one.certain for one in self.waits if one.waiting in between)

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
