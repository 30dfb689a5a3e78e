"""SQL nodes, other API nodes and management nodes that are not connected to the data nodes.

The configuration does not show which of them are to be connected: it also has slots for programs that come
and go (ndb_restore, ndb_mgm), and spare ones. So those are expected that --expect-api names, and SQL
nodes and management nodes that earlier looks have seen connected for a while.

An SQL node without --ndb-nodeid takes any free slot when it starts. So a node is known by its address, and by
its id only where nobody has that address any more.
"""

from __future__ import annotations

from stallwatch.findings import Line, Reading
from stallwatch.history import recall, remember
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import are, listed, named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

NAME = "api_nodes_missing"
_KEPT = "api_nodes"
# Seconds for which a node was seen connected before it is expected: a mysqld that somebody tries out is none.
_SETTLED = 600.0
MANAGEMENT = "ndb_mgmd"
_KINDS = {"mysqld": "SQL node", MANAGEMENT: "management node"}
_ANY = "API node"
_LASTING = tuple(_KINDS)  # programs that are meant to stay


class Client(NamedTuple):
    """A node that is connected and stores no data."""

    program: str  # mysqld, ndb_mgmd, ndb_restore, ...
    address: str  # where it can be asked, as 10.0.0.1:3306; of others their host

    def __str__(self) -> str:
        return f"{self.program} at {self.address}" if self.address else self.program


class Seen(NamedTuple):
    """A client that looks have seen connected: as which node, and when, in seconds of ``Clocks.time``."""

    node: int
    client: Client
    first: float
    last: float

    @property
    def is_settled(self) -> bool:
        """Whether it was connected long enough to be expected."""
        return self.last - self.first >= _SETTLED


def missing(
    connected: Mapping[int, Client],
    wanted: Collection[int],
    forgotten: Collection[int],
    memory: dict[str, Any],
    now: float,
    *,
    told: str = "",
) -> Reading:
    """Return which nodes of ``wanted`` and ``memory`` are not connected, without the ``forgotten``.

    Who goes before it has settled is forgotten: two attempts a day apart are not a day. If ``told`` is the
    program of all of them, something else has said so.
    """
    lasting = {node: client for node, client in connected.items() if client.program in _LASTING}
    here, away = _recognized(lasting, _seen(memory), now)
    away = [seen for seen in away if seen.is_settled and seen.node not in forgotten]
    remember(memory, _KEPT, [*here, *away])
    unknown = sorted({*wanted} - {*connected} - {seen.node for seen in away})
    expected = {seen.node for seen in here if seen.is_settled} | ({*wanted} & {*connected})
    if not away and not unknown:
        what = "no SQL, API or management node is missing"
        return Reading(NAME, 0, "", f"{what} (expected: {len(expected)})")
    found = _reading(sorted(away), unknown, connected, now)
    return found._replace(in_table=not unknown and {seen.client.program for seen in away} == {told})


def managers(memory: dict[str, Any]) -> list[str]:
    """Return the addresses of the management nodes that ``memory`` knows."""
    return [seen.client.address for seen in _seen(memory) if seen.client.program == MANAGEMENT]


def _seen(memory: dict[str, Any]) -> list[Seen]:
    return recall(memory, _KEPT, list[Seen]) or []


# What makes a client one that was seen, the strongest first. A mysqld with --ndb-cluster-connection-pool has
# several slots, and one address. Who has the slot of another, and an address of its own, has replaced it.
_SAME: tuple[Callable[[Seen, int, Client], bool], ...] = (
    lambda seen, node, client: (seen.node, seen.client) == (node, client),
    lambda seen, _, client: seen.client == client,
    lambda seen, node, client: (seen.node, seen.client.program) == (node, client.program),
)


def _recognized(lasting: dict[int, Client], before: list[Seen], now: float) -> tuple[list[Seen], list[Seen]]:
    """Return those that are connected now, since the first look in a row, and those that were before."""
    here = []
    for is_same in _SAME:
        for seen in tuple(before):
            node = next((node for node, client in lasting.items() if is_same(seen, node, client)), None)
            if node is not None:
                before.remove(seen)
                here.append(Seen(node, lasting.pop(node), seen.first, now))
    return [*here, *(Seen(node, client, now, now) for node, client in lasting.items())], before


def _reading(
    away: Sequence[Seen], unknown: Sequence[int], connected: Mapping[int, Client], now: float
) -> Reading:
    """Name the missing: by the id, unless somebody else has that now."""
    names: dict[str, list[str]] = {}
    for seen in away:
        kind = _KINDS.get(seen.client.program, _ANY)
        names.setdefault(kind, []).append(seen.client.address if seen.node in connected else str(seen.node))
    if unknown:
        names.setdefault(_ANY, []).extend(map(str, unknown))
    all_of_them = [*away, *unknown]
    each = listed([named(kind, those) for kind, those in names.items()])
    what = f"{each} {are(all_of_them)} not connected to the data nodes"
    several = len(all_of_them) > 1
    who = "their processes and logs" if several else f"{away[0].client} and its log" if away else ""
    more = [_said(seen, connected.get(seen.node), now) for seen in away]
    if forget := " ".join(f"--forget-api {seen.node}" for seen in away[:3]):
        more.append(f"if the cluster is to be without {'them' if len(away) > 1 else 'it'}: {forget}, once")
    advice = f"check {who or 'its process and log'}"
    return Reading(NAME, len(all_of_them), "", what, "", advice, line=Line(more=tuple(more)))


def _said(seen: Seen, now_there: Client | None, now: float) -> str:
    said = f"node {seen.node} was {seen.client}, last seen {say_duration(now - seen.last)} ago"
    return f"{said}, and is {now_there} now" if now_there else said
