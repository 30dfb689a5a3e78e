"""What has happened to bonds between runs: links that failed, another link in use."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.probes.bonding.bond import Bond

_LAST, _EVENTS, _ALONE = "last", "events", "alone"
_MOST = 200  # events: a link that goes up and down all the time


class Event(NamedTuple):
    """A link of a bond failed so often, or the bond took it instead of the one before."""

    at: float
    bond: str
    link: str
    failures: int = 0
    before: str = ""  # the link that was in use


def events(memory: dict[str, Any], bonds: Iterable[Bond], now: float, hold: float) -> list[Event]:
    """Tell what has happened within ``hold`` seconds and since the last run; ``memory`` keeps it."""
    last = _part(memory, _LAST)
    found = [event for event in map(_event, _kept(memory)) if event and 0 <= now - event.at <= hold]
    for bond in bonds:
        found += _since(last.get(bond.name), bond, now)
        last[bond.name] = {
            "active": bond.active,
            "failures": {link.name: link.failures for link in bond.links},
            "links": bool(bond.links) or had_links(memory, bond.name),
        }
    memory[_EVENTS] = [list(event) for event in found[-_MOST:]]
    return found


def known(memory: dict[str, Any]) -> frozenset[str]:
    """Name the bonds that were there at an earlier run."""
    return frozenset(_part(memory, _LAST))


def had_links(memory: dict[str, Any], bond: str) -> bool:
    """Whether the bond has had links at an earlier run."""
    before = _part(memory, _LAST).get(bond)
    return isinstance(before, dict) and before.get("links") is True


def alone_for(memory: dict[str, Any], bond: str, now: float, *, is_so: bool) -> float:
    """Tell for how many seconds the bond has had no LACP partner, as far as looks tell."""
    since = _part(memory, _ALONE)
    if not is_so:
        since.pop(bond, None)
        return 0.0
    begun = since.setdefault(bond, now)
    if not is_number(begun) or begun > now:
        begun = since[bond] = now
    return now - float(begun)


def _since(before: Any, bond: Bond, now: float) -> Iterable[Event]:
    match before:
        case {"active": active, "failures": dict(failures)}:
            for link in bond.links:
                more = link.failures - _number(failures.get(link.name), link.failures)
                if more > 0:
                    yield Event(now, bond.name, link.name, more)
            if isinstance(active, str) and bond.active and bond.active != active:
                yield Event(now, bond.name, bond.active, before=active)


def _kept(memory: dict[str, Any]) -> Sequence[Any]:
    kept = memory.get(_EVENTS)
    return kept if isinstance(kept, list) else []


def _event(kept: Any) -> Event | None:
    match kept:
        case [int() | float() as at, str(bond), str(link), int(failures), str(before)]:
            return Event(at, bond, link, failures, before)
    return None


def _part(memory: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(memory.get(name), dict):
        memory[name] = {}
    part: dict[str, Any] = memory[name]
    return part


def _number(kept: Any, otherwise: int) -> int:
    return kept if type(kept) is int else otherwise
