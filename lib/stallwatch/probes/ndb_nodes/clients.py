"""SQL nodes, other API nodes and management nodes that are not connected to the data nodes.

Which of them are to be connected, the configuration does not say: it also has slots for programs that come
and go (ndb_restore, ndb_mgm). So those are expected that --expect-api names, and SQL nodes and management
nodes that earlier looks have seen connected for a while.
"""

from __future__ import annotations

from stallwatch.findings import Line, Reading
from stallwatch.history import own
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, say_duration
from stallwatch.words import are, named

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

NAME = "api_nodes_missing"
_KEPT = "api_nodes"
# Seconds for which a node was seen connected before it is expected: a mysqld that somebody tries out is none.
_SETTLED = 600.0
_LASTING = ("mysqld", "ndb_mgmd")  # programs that are meant to stay


class Client(NamedTuple):
    """A node that is connected and stores no data."""

    program: str  # mysqld, ndb_mgmd, ndb_restore, ...
    uri: str  # where it can be asked, as mysql://10.0.0.1:3306; of others their host


class Seen(NamedTuple):
    """When looks have seen a node connected, in seconds of ``Clocks.time``."""

    program: str
    uri: str
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
) -> Reading:
    """Say which nodes are not connected that ``wanted`` names or ``memory`` knows, without the ``forgotten``.

    An SQL node without --ndb-nodeid takes any free slot when it starts: it is known by its address.
    """
    kept = own(memory, _KEPT)
    before = {node: seen for node, seen in _read(kept).items() if node not in forgotten}
    moved = {client.uri for node, client in connected.items() if node not in before and "://" in client.uri}
    # Who went before it had settled is forgotten: two attempts a day apart are not a day.
    seen = {
        node: one
        for node, one in before.items()
        if node in connected or (one.is_settled and one.uri not in moved)
    }
    for node, client in connected.items():
        if client.program in _LASTING:
            known = [one.first for one in before.values() if one.uri == client.uri]
            first = min(known, default=now)
            seen[node] = Seen(client.program, client.uri, first, now)
    kept.clear()
    kept.update({str(node): [*one] for node, one in seen.items()})
    expected = set(wanted) | {node for node, one in seen.items() if one.is_settled}
    return _reading({node: seen.get(node) for node in sorted(expected - set(connected))}, len(expected), now)


def _read(kept: Mapping[str, Any]) -> dict[int, Seen]:
    """Read what was kept; what is none of ours is forgotten."""
    found = {}
    for node, one in kept.items():
        match one:
            case [str(program), str(uri), first, last] if is_number(first) and is_number(last):
                if node.isascii() and node.isdecimal() and len(node) < 6:  # noqa: PLR2004 - digits
                    found[int(node)] = Seen(program, uri, first, last)
    return found


def _reading(gone: Mapping[int, Seen | None], expected: int, now: float) -> Reading:
    if not gone:
        what = "no SQL, API or management node is missing"
        return Reading(NAME, 0, "", f"{what} (expected: {expected})")
    kinds = {one.program if one else "" for one in gone.values()}
    kind = {"mysqld": "SQL node", "ndb_mgmd": "management node"}.get(next(iter(kinds)), "API node")
    kind = kind if len(kinds) == 1 else "node"
    what = f"{named(kind, [str(node) for node in gone])} {are(gone)} not connected to the data nodes"
    at = [
        f"node {node} was {one.program} at {one.uri}, last seen {say_duration(now - one.last)} ago"
        for node, one in gone.items()
        if one
    ]
    forget = " ".join(f"--forget-api {node}" for node in list(gone)[:3])
    more = [*at, f"if the cluster is to be without {'them' if len(gone) > 1 else 'it'}: {forget}, once"]
    whose = "their" if len(gone) > 1 else "its"
    advice = f"check {whose} process and log"
    return Reading(NAME, len(gone), "", what, "", advice, line=Line(more=tuple(more)))
