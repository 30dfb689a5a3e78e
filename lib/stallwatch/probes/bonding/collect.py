"""What the kernel tells of bonds, and what has happened to them between runs: failures, another link."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.history import Since, own
from stallwatch.probes.bonding import model
from stallwatch.probes.bonding.model import Event
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.probes.bonding.model import Bond

_LAST, _EVENTS, _ALONE, _BOOT, _MOST_OF = "last", "events", "alone", "boot", "most"
_MOST = 200  # events: a link that goes up and down all the time


def uptime() -> float:
    """Tell for how many seconds the host has been up. Raises ProbeError."""
    try:
        return kernel.uptime()
    except OSError as error:
        advice = "check_bonding looks at Linux's /proc"
        raise ProbeError(f"{error.filename}: {error.strerror}", advice) from None


def texts() -> dict[str, str] | None:
    """Give what the kernel tells of each bond; None: the driver is not loaded. Raises ProbeError."""
    try:
        return kernel.bonds()
    except OSError as error:
        raise ProbeError(f"{error.filename or kernel.BONDS}: {error.strerror}") from None


def described(name: str, text: str) -> Bond:
    """Read what the kernel tells of a bond. Raises ProbeError.

    Of links it asks for what the bond's own file tells to the privileged only.
    """
    try:
        found = model.bond(name, text)
    except model.NoBondError:
        raise ProbeError(f"{kernel.BONDS}/{name} is not what the bonding driver writes") from None
    if found.mode != model.LACP:
        return found
    links = tuple(
        link._replace(partner=model.has_partner(kernel.port_state(link.name)))
        if link.partner is None
        else link
        for link in found.links
    )
    return found._replace(links=links)


def forget_before_boot(memory: dict[str, Any]) -> None:
    """Forget what a start of the host ends: which link is in use, how often each has failed, who is alone."""
    boot = kernel.boot()
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


def bonds_before(memory: dict[str, Any]) -> frozenset[str]:
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


def with_history(memory: dict[str, Any], bond: Bond, uptime: float) -> Bond:
    """Add what earlier runs know of a bond: which links it had, for how long it has had no LACP partner."""
    had = most(memory, f"links of {bond.name}", [link.name for link in bond.links])
    alone = Since(own(memory, _ALONE), uptime).seconds(bond.name, holds=bond.is_alone)
    return bond._replace(had=had, alone=alone)


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
