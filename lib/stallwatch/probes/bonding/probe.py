"""One run: describe all bonds, compare them with earlier runs, report what is wrong."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history import Since, own, recall, remember
from stallwatch.probes.bonding import diagnosis, messages, model
from stallwatch.probes.bonding.model import Event
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.bonding.diagnosis import Rules
    from stallwatch.probes.bonding.model import Bond

_LAST, _EVENTS, _ALONE, _BOOT, _MOST_OF = "last", "events", "alone", "boot", "most"
_MOST = 200  # events: a link that goes up and down all the time


class _Last(NamedTuple):
    """A bond at the last look."""

    active: str | None
    failures: dict[str, int]  # of each link


def findings(
    rules: Rules, hold: float, trace: Callable[[str], None], memory: dict[str, Any]
) -> Iterator[Finding]:
    """Judge all bonds. Raises ProbeError if there is none, and none was, and none is expected.

    A change is reported for ``hold`` seconds.
    """
    now, uptime, texts = time.time(), _uptime(), _texts()
    names = list(texts or {})
    had = _most(memory, "bonds", names)
    why_none = diagnosis.why_none(is_loaded=texts is not None)
    if not (names or had or rules.bonds or rules.named):
        raise ProbeError(f"no bond is here: {why_none}", "--expect sets how many there must be")
    bonds = []
    for name, text in (texts or {}).items():
        trace(f"{kernel.BONDS}/{name}: {len(text)} characters")
        try:
            bonds.append(_described(name, text))
        except ProbeError as error:
            yield error
    yield from diagnosis.missing(rules, names, had, why_none)
    _forget_before_boot(memory)
    bonds = [_with_history(memory, bond, uptime) for bond in bonds]
    before = frozenset(own(memory, _LAST))  # bonds of an earlier run since the host was started
    events = _events(memory, bonds, now, hold)
    for bond in bonds:
        yield from diagnosis.faults(bond, rules)
    yield from messages.changes(events, now)
    yield from messages.readings(bonds, events, before)
    if rules.remembers:
        yield from messages.new([bond.name for bond in bonds if bond.name not in before])


def _uptime() -> float:
    try:
        return kernel.uptime()
    except OSError as error:
        advice = "check_bonding looks at Linux's /proc"
        raise ProbeError(f"{error.filename}: {error.strerror}", advice) from None


def _texts() -> dict[str, str] | None:
    """Return what the kernel shows of each bond; None: the driver is not loaded."""
    try:
        return kernel.bonds()
    except OSError as error:
        raise ProbeError(f"{error.filename or kernel.BONDS}: {error.strerror}") from None


def _described(name: str, text: str) -> Bond:
    """Read what the kernel shows of a bond. Raises ProbeError.

    Of links it asks for what the bond's own file shows to the privileged only.
    """
    try:
        found = model.bond(name, text)
    except model.NoBondError:
        raise ProbeError(f"{kernel.BONDS}/{name} is not what the bonding driver writes") from None
    if found.mode != model.LACP:
        return found
    links = []
    for link in found.links:
        partner = link.partner
        if partner is None:
            partner = model.has_partner(kernel.port_state(link.name))
        links.append(link._replace(partner=partner))
    return found._replace(links=tuple(links))


def _forget_before_boot(memory: dict[str, Any]) -> None:
    """Forget what a start of the host ends: which link is in use, how often each has failed, who is alone."""
    boot = kernel.boot()
    if memory.get(_BOOT) != boot:
        for name in (_LAST, _ALONE):
            memory.pop(name, None)
    memory[_BOOT] = boot


def _with_history(memory: dict[str, Any], bond: Bond, uptime: float) -> Bond:
    """Add what earlier runs know of a bond: which links it had, for how long it has had no LACP partner."""
    had = _most(memory, f"links of {bond.name}", [link.name for link in bond.links])
    alone = Since(own(memory, _ALONE), uptime).seconds(bond.name, holds=bond.is_alone)
    return bond._replace(had=had, alone=alone)


def _most(memory: dict[str, Any], what: str, now: Iterable[str]) -> list[str]:
    """Name what was there when most of it was: the bonds, or the links of one.

    ``memory`` keeps it, so that it is reported until as many are there again, whatever they are called.
    """
    most = own(memory, _MOST_OF)
    before, there = recall(most, what, list[str]) or [], sorted(now)
    if len(there) >= len(before):
        most[what] = before = there
    return before


def _events(memory: dict[str, Any], bonds: Iterable[Bond], now: float, hold: float) -> list[Event]:
    """Return what has happened within ``hold`` seconds and since the last run; ``memory`` keeps it."""
    last, found = own(memory, _LAST), recall(memory, _EVENTS, list[Event]) or []
    for bond in bonds:
        if before := recall(last, bond.name, _Last):
            found += _since(before, bond, now)
        remember(last, bond.name, _Last(bond.active, {link.name: link.failures for link in bond.links}))
    remember(memory, _EVENTS, found[-_MOST:])
    return [event for event in found if 0 <= now - event.at <= hold]


def _since(before: _Last, bond: Bond, now: float) -> Iterator[Event]:
    for link in bond.links:
        had = before.failures.get(link.name, link.failures)
        if link.failures > had:
            yield Event(now, bond.name, link.name, link.failures - had)
    if before.active is not None and bond.active and bond.active != before.active:
        yield Event(now, bond.name, bond.active, before=before.active)
