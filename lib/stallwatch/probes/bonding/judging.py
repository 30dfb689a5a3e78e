"""What is wrong with a bond, whatever the thresholds."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.bonding.modes import ACTIVE_BACKUP, LACP, works_with_any_switch
from stallwatch.reading import Fault, State
from stallwatch.words import are, listed

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.bonding.bond import Bond, Link

NEGOTIATION = 120.0  # seconds: three LACPDUs at the slow rate, one each 30 s, and the driver's own delays
_OPTIONS = (
    "give each bond options of its own (BONDING_OPTS of its ifcfg file, its netdev or netplan file): "
    "those of the module hold for all bonds"
)
_BUNDLE = "look at the switch: are the ports that these cables go to in one port channel, with LACP?"


class Circumstances(NamedTuple):
    """What is known of a bond besides what the kernel tells now."""

    wanted_mode: str | None = None
    had_links: bool = False  # at an earlier run
    alone: float = 0.0  # seconds for which it has had no LACP partner


def faults(bond: Bond, known: Circumstances) -> Iterator[Fault]:
    """Tell what is wrong with it, the worst first."""
    yield from _mode(bond, known.wanted_mode)
    if not bond.links:
        yield _empty(bond, known)
        return
    yield from _down(bond)
    if bond.up and bond.mode == LACP:
        yield from _lacp(bond, known)
    if bond.up:
        yield from _speeds(bond)
    if not bond.watches:
        what = f"{bond.name} does not watch its links: miimon and arp_interval are 0"
        why = "a link that fails stays in use, and what is sent over it is lost"
        yield Fault(State.WARNING, what, why, "set miimon=100")


def is_alone(bond: Bond) -> bool:
    """Whether it speaks LACP and is bundled with nobody on any of its links."""
    return bond.mode == LACP and bool(bond.up) and all(map(_is_alone, bond.up))


def _is_alone(link: Link) -> bool:
    return link.partner is False or link.aggregator is None


def _mode(bond: Bond, wanted: str | None) -> Iterator[Fault]:
    """Take it for critical if the switch has to know of it: its ports are bundled otherwise or not at all."""
    if wanted in {None, bond.mode}:
        return
    what = f"{bond.name} is in mode {bond.mode}, not {wanted}"
    if works_with_any_switch(bond.mode):
        why = "it works with any switch, but not as it was meant to"
        yield Fault(State.WARNING, what, why, _OPTIONS)
    else:
        how = "with LACP" if bond.mode == LACP else "without LACP"
        why = f"{bond.mode} needs ports that the switch bundles {how}: else frames get lost or out of order"
        yield Fault(State.CRITICAL, what, why, _OPTIONS)


def _empty(bond: Bond, known: Circumstances) -> Fault:
    if known.had_links or known.wanted_mode:
        advice = (
            "are the interfaces there (ip link), their drivers loaded, and do they name the bond as master?"
        )
        return Fault(State.CRITICAL, f"{bond.name} has no links any more", advice=advice)
    what = f"{bond.name} has no links at all"
    advice = f"if nobody uses it, remove it: ip link delete {bond.name}, max_bonds=0 for the module"
    return Fault(State.WARNING, what, "the module makes such a bond when it is loaded", advice)


def _down(bond: Bond) -> Iterator[Fault]:
    if bond.up and bond.is_up:
        return
    first = bond.links[0].name
    if bond.up:
        what = f"{bond.name} is down although {_links(bond.up)} up"
        yield Fault(
            State.CRITICAL, what, advice="is it set up (ip link set up)? Does min_links ask for more?"
        )
        return
    what = f"{bond.name} is down: {_links(bond.down)} down"
    advice = f"look at cables, switch and driver: ethtool {first}, dmesg"
    yield Fault(State.CRITICAL, what, advice=advice)


def _lacp(bond: Bond, known: Circumstances) -> Iterator[Fault]:
    if is_alone(bond):
        lasts = known.alone >= NEGOTIATION
        what = f"{bond.name} has no LACP partner: nobody answers on {_names(bond.up)}"
        why = "its links are not bundled: one is used at most"
        state = State.CRITICAL if lasts else State.WARNING
        yield Fault(state, what, why if lasts else f"{why}; critical if it lasts", _BUNDLE)
    elif apart := [link for link in bond.up if _is_apart(bond, link)]:
        what = f"{bond.name} does not use {_names(apart)}: {_why_apart(apart)}"
        others = [link for link in bond.up if link not in apart]
        why = f"only {_names(others)} carries anything" if others else "they carry nothing"
        yield Fault(State.WARNING, what, why, _BUNDLE)
    elif len({link.aggregator for link in bond.up}) > 1:
        each = listed([f"{link.name} {link.aggregator}" for link in bond.up])
        what = f"the links of {bond.name} are in different aggregators: {each}"
        yield Fault(State.WARNING, what, "only those of one carry anything", _BUNDLE)
    elif churned := [link for link in bond.up if link.churned]:
        what = f"{_names(churned)} of {bond.name} {are(churned)} churned"
        why = "the switch and we have not been in step for more than a minute"
        yield Fault(State.WARNING, what, why, _BUNDLE)


def _is_apart(bond: Bond, link: Link) -> bool:
    """Whether it is known that the bond does not use this link, and uses another one."""
    return _is_alone(link) or (bond.aggregator is not None and link.aggregator != bond.aggregator)


def _why_apart(apart: list[Link]) -> str:
    if all(map(_is_alone, apart)):
        return "nobody speaks LACP there"
    return f"in another aggregator ({listed([str(link.aggregator or 'none') for link in apart])})"


def _speeds(bond: Bond) -> Iterator[Fault]:
    """Tell of links that do not go together; a slower spare link may be meant."""
    half = [link for link in bond.up if link.duplex == "half"]
    if half:
        what = f"{_names(half)} of {bond.name} {are(half)} half duplex"
        advice = "let both ends negotiate, or set both: ethtool"
        yield Fault(State.WARNING, what, "collisions and late frames", advice)
    speeds = {link.speed for link in bond.up if link.speed}
    if len(speeds) > 1 and bond.mode != ACTIVE_BACKUP:
        each = listed([f"{link.name} {link.speed} Mbit/s" for link in bond.up if link.speed])
        what = f"the links of {bond.name} differ in speed: {each}"
        why = "one that is slower than it was, or a cable in another port"
        yield Fault(State.WARNING, what, why, "compare ethtool's words on both")


def _links(links: list[Link]) -> str:
    return f"{_names(links)} {are(links)}"


def _names(links: list[Link]) -> str:
    return listed([link.name for link in links])
