"""What is wrong with bonds, whatever the thresholds."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, State
from stallwatch.probes.bonding.model import ACTIVE_BACKUP, LACP, needs
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import are, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.bonding.model import Bond, Link

OTHERS = ""  # in Rules: the bonds that are not named
NEGOTIATION = 120.0  # seconds: three LACPDUs at the slow rate, one each 30 s, and the driver's own delays
_OPTIONS = (
    "give each bond options of its own (BONDING_OPTS of its ifcfg file, its netdev or netplan file): "
    "those of the module hold for all bonds"
)
_MAKE = "make it: options bonding max_bonds=N where the module makes them, else ip link add NAME type bond"
_BUNDLE = "check LACP on the switch ports"


class Rules(NamedTuple):
    """What the user expects of bonds."""

    expect: Mapping[str, int] = {}  # links at least, by bond; OTHERS: how many bonds
    modes: Mapping[str, str] = {}  # by bond; OTHERS: of every bond that is not named
    remembers: bool = True  # there will be a next run to report what has changed

    @property
    def named(self) -> set[str]:
        """The bonds that are to be there."""
        return {*self.modes, *self.expect} - {OTHERS}

    @property
    def bonds(self) -> int:
        """How many bonds are to be there, at least; 0: not set."""
        return self.expect.get(OTHERS, 0)


def missing(rules: Rules, names: Sequence[str], had: Sequence[str], why_none: str) -> Iterator[Fault]:
    """Report bonds that are expected, or were there, and are not.

    It is as bad as a bond without any link, unless the user sets that so many are enough.
    """
    there = f"there {are(names)} {listed(names)}" if names else why_none
    if absent := sorted(rules.named - set(names)):
        what = f"{listed(absent)} {are(absent)} not there"
        yield Fault(State.CRITICAL, what, there, _MAKE)
    elif len(names) < rules.bonds:
        bonds = "bond is" if len(names) == 1 else "bonds are"
        what = f"{len(names)} {bonds} there, {rules.bonds} are expected"
        yield Fault(State.CRITICAL, what, there, _MAKE)
    lost = [name for name in had if name not in names and name not in rules.named]
    if lost and not rules.bonds and len(names) < len(had):
        what = f"{listed(lost)} {are(lost)} not there any more"
        meant = f", or accept it: --expect {len(names)}" if names else ""
        yield Fault(State.CRITICAL, what, there, f"find out who removed it: dmesg, ip link{meant}")


def why_none(*, is_loaded: bool) -> str:
    """Return why no bond is here: the driver of bonds is not loaded, or has none."""
    why = "is empty" if is_loaded else "is missing, so the module bonding is not loaded"
    return f"{kernel.BONDS} {why}: bonds of another network namespace show only in that namespace"


def faults(bond: Bond, rules: Rules) -> Iterator[Fault]:
    """Return what is wrong with it, the worst first."""
    mode = rules.modes.get(bond.name, rules.modes.get(OTHERS))
    yield from _mode(bond, mode)
    if not bond.links:
        yield _empty(bond, is_meant=bool(mode or rules.expect.get(bond.name)))
        return
    yield from _down(bond)
    yield from _fewer(bond, rules.expect.get(bond.name, 0))
    if bond.up and bond.mode == LACP:
        yield from _lacp(bond, remembers=rules.remembers)
    if bond.up:
        yield from _speeds(bond)
    if not bond.watches:
        what = f"{bond.name} does not watch its links"
        why = "miimon and arp_interval are 0, so a link that fails stays in use"
        yield Fault(State.WARNING, what, why, "set miimon=100")


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


def _empty(bond: Bond, *, is_meant: bool) -> Fault:
    advice = "check that its interfaces exist (ip link) with their drivers loaded, and have it as master"
    if bond.had:
        return Fault(
            State.CRITICAL, f"{bond.name} has no links any more", f"it had {listed(bond.had)}", advice
        )
    what = f"{bond.name} has no links at all"
    if is_meant:
        return Fault(State.CRITICAL, what, advice=advice)
    advice = f"if it is not used, ip link delete {bond.name}"
    more = ("max_bonds=0 for the module prevents such bonds",)
    return Fault(State.WARNING, what, "the module made it when it was loaded", advice, Line(more=more))


def _fewer(bond: Bond, wanted: int) -> Iterator[Fault]:
    """Report links that have left the bond, unless the user sets that so many are enough."""
    there, enough = len(bond.links), wanted or len(bond.had)
    if there >= enough:
        return
    lost = [name for name in bond.had if name not in {link.name for link in bond.links}]
    which = f": {listed(lost)} {are(lost)} not in it any more" if lost else ""
    what = f"{bond.name} has {there} of {enough} links{which}"
    name = lost[0] if lost else "NAME"
    advice = f"put it back if it exists (ip link, dmesg): ip link set {name} master {bond.name}"
    advice += "" if wanted else f", or accept it: --expect {bond.name}={there}"
    yield Fault(State.WARNING, what, advice=advice)


def _down(bond: Bond) -> Iterator[Fault]:
    if bond.up and bond.is_up:
        return
    first = bond.links[0].name
    if bond.up:
        what = f"{bond.name} is down although {_links(bond.up)} up"
        yield Fault(State.CRITICAL, what, advice="set it up (ip link set up), and check min_links")
        return
    what = f"{bond.name} is down, {_links(bond.down)} down"
    advice = f"check cables, switch and driver (ethtool {first}, dmesg)"
    yield Fault(State.CRITICAL, what, advice=advice)


def _lacp(bond: Bond, *, remembers: bool) -> Iterator[Fault]:
    if bond.is_alone:
        lasts = bond.alone >= NEGOTIATION
        what = f"{bond.name} has no LACP partner on {_names(bond.up)}"
        why = "only one link is used at most"
        state = State.CRITICAL if lasts else State.WARNING
        may_last = remembers and not lasts
        more = (f"CRITICAL after {NEGOTIATION:.0f} s",) if may_last else ()
        yield Fault(state, what, why, _BUNDLE, Line(more=more))
    elif apart := [link for link in bond.up if _is_apart(bond, link)]:
        what = f"{bond.name} does not use {_names(apart)} ({_why_apart(apart)})"
        others = [link for link in bond.up if link not in apart]
        carry = "carry" if others[1:] else "carries"
        why = f"only {_names(others)} {carry} traffic" if others else "they carry no traffic"
        yield Fault(State.WARNING, what, why, _BUNDLE)
    elif len({link.aggregator for link in bond.up}) > 1:
        each = listed([f"{link.name} {link.aggregator}" for link in bond.up])
        what = f"links of {bond.name} are in different aggregators ({each})"
        yield Fault(State.WARNING, what, "only one carries traffic", _BUNDLE)
    elif churned := [link for link in bond.up if link.churned]:
        what = f"{_names(churned)} of {bond.name} {are(churned)} churned"
        why = "LACP with the switch is out of step for more than a minute"
        yield Fault(State.WARNING, what, why, _BUNDLE)


def _is_apart(bond: Bond, link: Link) -> bool:
    """Whether it is known that the bond does not use this link, and uses another one."""
    return link.is_alone or (bond.aggregator is not None and link.aggregator != bond.aggregator)


def _why_apart(apart: list[Link]) -> str:
    if all(link.is_alone for link in apart):
        return "no LACP partner there"
    return f"in aggregator {listed([str(link.aggregator or 'none') for link in apart])}"


def _speeds(bond: Bond) -> Iterator[Fault]:
    """Report links that do not go together; a slower spare link may be meant."""
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
