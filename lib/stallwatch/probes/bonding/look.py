"""One look at all bonds."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.bonding import bond as describing
from stallwatch.probes.bonding import changes, judging, telling
from stallwatch.probes.bonding.modes import LACP
from stallwatch.sources import bonding, kernel
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import are, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.bonding.bond import Bond

OTHERS = ""  # in Asked.modes: every bond that is not named

_BONDS = "bonds"
_NOT_HERE = "bonds of another network namespace cannot be seen: run it where they are"
_MAKE = "make it: options bonding max_bonds=N where the module makes them, else ip link add NAME type bond"


class Asked(NamedTuple):
    """What the user asked for."""

    trace: Callable[[str], None]
    expect: Mapping[str, int] = {}  # links at least, by bond; how many bonds as that of all others
    modes: Mapping[str, str] = {}  # by bond
    hold: float = 0.0  # seconds for which a change is told
    remembers: bool = True  # there will be a next run to tell what has changed

    @property
    def named(self) -> set[str]:
        """The bonds that are to be there."""
        return {*self.modes, *self.expect} - {OTHERS}

    @property
    def bonds(self) -> int:
        """How many bonds are to be there, at least; 0: nobody says."""
        return self.expect.get(OTHERS, 0)


def findings(asked: Asked, memory: dict[str, Any], now: float) -> Iterator[Finding]:
    """Judge all bonds. Raises ProbeError if there is none, and none was, and none is expected."""
    uptime = _uptime()
    described = _described(asked, memory)
    bonds = []
    for name, text in described.items():
        asked.trace(f"{bonding.PLACE}/{name}: {len(text)} characters")
        try:
            bonds.append(_with_partners(describing.bond(name, text)))
        except describing.NoBondError:
            yield ProbeError(f"{bonding.PLACE}/{name} is not what the bonding driver writes")
    yield from _missing(asked, list(described), changes.most(memory, _BONDS, described))
    changes.began(memory, kernel.boot())
    circumstances = [_circumstances(bond, asked, memory, uptime) for bond in bonds]
    known = changes.known(memory)
    happened = changes.events(memory, bonds, now, asked.hold)
    for bond, of_it in zip(bonds, circumstances, strict=True):
        yield from judging.faults(bond, of_it)
    yield from telling.changes(happened, now)
    yield from telling.readings(bonds, happened, known)
    if asked.remembers:
        yield from telling.new([bond.name for bond in bonds if bond.name not in known])


def _uptime() -> float:
    try:
        return kernel.uptime()
    except OSError as error:
        advice = "check_bonding looks at Linux's /proc"
        raise ProbeError(f"{error.filename}: {error.strerror}", advice) from None


def _described(asked: Asked, memory: dict[str, Any]) -> Mapping[str, str]:
    try:
        described = bonding.bonds()
    except OSError as error:
        raise ProbeError(f"{error.filename or bonding.PLACE}: {error.strerror}") from None
    if not described and not asked.bonds and not asked.named and not changes.most(memory, _BONDS, ()):
        what = f"no bond is here: {_why_none(described)}"
        raise ProbeError(what, "--expect tells how many there are to be")
    return described or {}


def _missing(asked: Asked, names: Sequence[str], had: Sequence[str]) -> Iterator[Fault]:
    """Tell of bonds that are expected, or were there, and are not.

    It is as bad as a bond without any link, unless the user says that so many are enough.
    """
    if absent := sorted(asked.named - set(names)):
        what = f"{listed(absent)} {are(absent)} not there"
        yield Fault(State.CRITICAL, what, _there(names), _MAKE)
    elif len(names) < asked.bonds:
        bonds = "bond is" if len(names) == 1 else "bonds are"
        what = f"{len(names)} {bonds} there, {asked.bonds} are expected"
        yield Fault(State.CRITICAL, what, _there(names), _MAKE)
    lost = [name for name in had if name not in names and name not in asked.named]
    if lost and not asked.bonds and len(names) < len(had):
        what = f"{listed(lost)} {are(lost)} not there any more"
        meant = f"; or say that it is meant: --expect {len(names)}" if names else ""
        yield Fault(State.CRITICAL, what, _there(names), f"who has removed it? dmesg, ip link{meant}")


def _there(names: Sequence[str]) -> str:
    return f"there {are(names)} {listed(names)}" if names else _why_none(bonding.bonds())


def _why_none(described: Mapping[str, str] | None) -> str:
    if described is None:
        return f"{bonding.PLACE} is missing, so the module bonding is not loaded; {_NOT_HERE}"
    return f"{bonding.PLACE} is empty; {_NOT_HERE}"


def _with_partners(bond: Bond) -> Bond:
    """Ask of each link for what the bond's own file tells to the privileged only."""
    if bond.mode != LACP:
        return bond
    links = tuple(
        link._replace(partner=describing.has_partner(bonding.port_state(link.name)))
        if link.partner is None
        else link
        for link in bond.links
    )
    return bond._replace(links=links)


def _circumstances(bond: Bond, asked: Asked, memory: dict[str, Any], uptime: float) -> judging.Circumstances:
    return judging.Circumstances(
        asked.modes.get(bond.name, asked.modes.get(OTHERS)),
        asked.expect.get(bond.name, 0),
        changes.most(memory, f"links of {bond.name}", [link.name for link in bond.links]),
        changes.alone_for(memory, bond.name, uptime, is_so=judging.is_alone(bond)),
        asked.remembers,
    )
