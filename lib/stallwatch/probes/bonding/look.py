"""One look at all bonds."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.bonding import bond as reading
from stallwatch.probes.bonding import changes, judging, telling
from stallwatch.probes.bonding.modes import LACP
from stallwatch.reading import Fault, ProbeError, State
from stallwatch.sources import bonding
from stallwatch.words import are, listed

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.bonding.bond import Bond
    from stallwatch.reading import Finding

OTHERS = ""  # in Asked.modes: every bond that is not named

_NOT_HERE = "bonds of another network namespace cannot be seen: run it where they are"
_MAKE = "make it: options bonding max_bonds=N where the module makes them, else ip link add NAME type bond"


class Asked(NamedTuple):
    """What the user asked for."""

    expect: int = 0  # bonds, at least
    modes: Mapping[str, str] = {}  # by bond
    hold: float = 0.0  # seconds for which a change is told
    remembers: bool = True  # there will be a next run to tell what has changed


def findings(asked: Asked, memory: dict[str, Any], now: float) -> Iterator[Finding]:
    """Judge all bonds. Raises ProbeError if there is none and none is expected."""
    bonds = []
    for name, text in _described(asked).items():
        try:
            bonds.append(_with_partners(reading.bond(name, text)))
        except reading.NoBondError:
            yield ProbeError(f"{bonding.PLACE}/{name} is not what the bonding driver writes")
    yield from _missing(asked, [bond.name for bond in bonds])
    circumstances = [_circumstances(bond, asked, memory, now) for bond in bonds]
    known = changes.known(memory)
    happened = changes.events(memory, bonds, now, asked.hold)
    for bond, of_it in zip(bonds, circumstances, strict=True):
        yield from judging.faults(bond, of_it)
    yield from telling.changes(happened, now)
    yield from telling.readings(bonds, happened, known)
    if asked.remembers:
        yield from telling.new([bond.name for bond in bonds if bond.name not in known])


def _described(asked: Asked) -> Mapping[str, str]:
    try:
        described = bonding.bonds()
    except OSError as error:
        raise ProbeError(f"{error.filename or bonding.PLACE}: {error.strerror}") from None
    if not described and not _wanted(asked):
        what = f"no bond is here: {_why_none(described)}"
        raise ProbeError(what, "--expect tells how many there are to be")
    return described or {}


def _missing(asked: Asked, names: Sequence[str]) -> Iterator[Fault]:
    """Tell of bonds that are expected and are not there."""
    if absent := sorted(_wanted_names(asked) - set(names)):
        what = f"{listed(absent)} {are(absent)} not there"
        yield Fault(State.CRITICAL, what, _there(names), _MAKE)
    elif len(names) < asked.expect:
        bonds = "bond is" if len(names) == 1 else "bonds are"
        what = f"{len(names)} {bonds} there, {asked.expect} are expected"
        yield Fault(State.CRITICAL, what, _there(names), _MAKE)


def _there(names: Sequence[str]) -> str:
    return f"there {are(names)} {listed(names)}" if names else _why_none(bonding.bonds())


def _why_none(described: Mapping[str, str] | None) -> str:
    if described is None:
        return f"{bonding.PLACE} is missing, so the module bonding is not loaded; {_NOT_HERE}"
    return f"{bonding.PLACE} is empty; {_NOT_HERE}"


def _wanted(asked: Asked) -> bool:
    return bool(asked.expect or _wanted_names(asked))


def _wanted_names(asked: Asked) -> set[str]:
    return set(asked.modes) - {OTHERS}


def _with_partners(bond: Bond) -> Bond:
    """Ask of each link for what the bond's own file tells to the privileged only."""
    if bond.mode != LACP:
        return bond
    links = tuple(
        link._replace(partner=reading.has_partner(bonding.port_state(link.name)))
        if link.partner is None
        else link
        for link in bond.links
    )
    return bond._replace(links=links)


def _circumstances(bond: Bond, asked: Asked, memory: dict[str, Any], now: float) -> judging.Circumstances:
    return judging.Circumstances(
        asked.modes.get(bond.name, asked.modes.get(OTHERS)),
        changes.had_links(memory, bond.name),
        changes.alone_for(memory, bond.name, now, is_so=judging.is_alone(bond)),
    )
