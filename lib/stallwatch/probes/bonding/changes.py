"""What has happened to bonds between runs: links that failed, another link in use."""

from __future__ import annotations

from stallwatch.history import own
from stallwatch.history.since import Since
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.probes.bonding.bond import Bond

_LAST, _EVENTS, _ALONE, _BOOT, _MOST_OF = "last", "events", "alone", "boot", "most"
_MOST = 200  # events: a link that goes up and down all the time


class Event(NamedTuple):
    """A link of a bond failed so often, or the bond took it instead of the one before."""

    at: float
    bond: str
    link: str
    failures: int = 0
    before: str = ""  # the link that was in use


def began(memory: dict[str, Any], boot: str | None) -> None:
    """Forget what a start of the host ends: which link is in use, how often each has failed, who is alone."""
    if memory.get(_BOOT) != boot:
        for name in (_LAST, _ALONE):
            memory.pop(name, None)
    memory[_BOOT] = boot


def events(memory: dict[str, Any], bonds: Iterable[Bond], now: float, hold: float) -> list[Event]:
    """Tell what has happened within ``hold`` seconds and since the last run; ``memory`` keeps it."""
    last = own(memory, _LAST)
    found = [event for event in map(_event, _kept(memory)) if event]
    for bond in bonds:
        found += _since(last.get(bond.name), bond, now)
        last[bond.name] = {
            "active": bond.active,
            "failures": {link.name: link.failures for link in bond.links},
        }
    memory[_EVENTS] = [list(event) for event in found[-_MOST:]]
    return [event for event in found if 0 <= now - event.at <= hold]


def known(memory: dict[str, Any]) -> frozenset[str]:
    """Name the bonds that were there at an earlier run since the host was started."""
    return frozenset(own(memory, _LAST))


def most(memory: dict[str, Any], what: str, now: Iterable[str]) -> list[str]:
    """Name what was there when most of it was: the bonds, or the links of one.

    ``memory`` keeps it, so that it is told until as many are there again, whatever they are called.
    """
    kept, there = own(memory, _MOST_OF).get(what), sorted(now)
    before = [name for name in kept if isinstance(name, str)] if isinstance(kept, list) else []
    if len(there) >= len(before):
        memory[_MOST_OF][what] = before = there
    return before


def alone_for(memory: dict[str, Any], bond: str, uptime: float, *, is_so: bool) -> float:
    """Tell for how many seconds the bond has had no LACP partner, as far as looks tell."""
    return Since(own(memory, _ALONE), uptime).seconds(bond, holds=is_so)


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


def _number(kept: Any, otherwise: int) -> int:
    return kept if type(kept) is int else otherwise
