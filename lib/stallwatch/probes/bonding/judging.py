"""What is wrong with a bond, whatever the thresholds."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.probes.bonding.modes import ACTIVE_BACKUP, LACP, needs
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import are, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    wanted_links: int = 0  # at least; 0: nobody says how many
    had: Sequence[str] = ()  # its links at the look at which it had most
    alone: float = 0.0  # seconds for which it has had no LACP partner
    remembers: bool = True  # there will be a next run


def faults(bond: Bond, known: Circumstances) -> Iterator[Fault]:
    """Tell what is wrong with it, the worst first."""
    yield from _mode(bond, known.wanted_mode)
    if not bond.links:
        yield _empty(bond, known)
        return
    yield from _down(bond)
    yield from _fewer(bond, known)
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
    if wanted is None or wanted == bond.mode:
        return
    what = f"{bond.name} is in mode {bond.mode}, not {wanted}"
    if needs(bond.mode) == needs(wanted):
        why = "both work with the same ports of the switch, but it is not as it was meant to be"
        yield Fault(State.WARNING, what, why, _OPTIONS)
    else:
        how = f"{bond.mode} needs ports that the switch {needs(bond.mode)}, {wanted} those that it"
        why = f"{how} {needs(wanted)}: frames get lost, or arrive out of order or twice"
        yield Fault(State.CRITICAL, what, why, _OPTIONS)


def _empty(bond: Bond, known: Circumstances) -> Fault:
    advice = "are the interfaces there (ip link), their drivers loaded, and do they name the bond as master?"
    if known.had:
        return Fault(State.CRITICAL, f"{bond.name} has no links any more", _were(known.had), advice)
    what = f"{bond.name} has no links at all"
    if known.wanted_mode or known.wanted_links:
        return Fault(State.CRITICAL, what, advice=advice)
    advice = f"if nobody uses it, remove it: ip link delete {bond.name}, max_bonds=0 for the module"
    return Fault(State.WARNING, what, "the module makes such a bond when it is loaded", advice)


def _fewer(bond: Bond, known: Circumstances) -> Iterator[Fault]:
    """Tell of links that have left the bond, unless the user says that so many are enough."""
    there = len(bond.links)
    if there >= (known.wanted_links or len(known.had)):
        return
    lost = [name for name in known.had if name not in {link.name for link in bond.links}]
    which = f": {listed(lost)} {are(lost)} not in it any more" if lost else ""
    enough = known.wanted_links or len(known.had)
    what = f"{bond.name} has {there} of {enough} links{which}"
    name = lost[0] if lost else "NAME"
    advice = f"is the interface there (ip link, dmesg)? Put it back: ip link set {name} master {bond.name}"
    advice += "" if known.wanted_links else f"; or say that it is meant: --expect {bond.name}={there}"
    yield Fault(State.WARNING, what, advice=advice)


def _were(had: Sequence[str]) -> str:
    return f"it had {listed(had)}"


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
        may_last = known.remembers and not lasts
        yield Fault(state, what, f"{why}; critical if it lasts" if may_last else why, _BUNDLE)
    elif apart := [link for link in bond.up if _is_apart(bond, link)]:
        what = f"{bond.name} does not use {_names(apart)}: {_why_apart(apart)}"
        others = [link for link in bond.up if link not in apart]
        carry = "carry" if others[1:] else "carries"
        why = f"only {_names(others)} {carry} anything" if others else "they carry nothing"
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
