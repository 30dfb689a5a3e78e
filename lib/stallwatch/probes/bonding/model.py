"""A bond, its mode and its links, as /proc/net/bonding describes them.

The modes are those of the kernel's Documentation/networking/bonding.rst. The lines are those that its
bond_procfs.c writes, 2.6.18 to 6.12: a part for the bond, then one for each link. Newer kernels have more of
them.
"""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import NotUnderstoodError, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

LACP = "802.3ad"
ACTIVE_BACKUP = "active-backup"
MODES = ("balance-rr", ACTIVE_BACKUP, "balance-xor", "broadcast", LACP, "balance-tlb", "balance-alb")
_WORDS = {  # in /proc/net/bonding
    "load balancing (round-robin)": "balance-rr",
    "fault-tolerance (active-backup)": ACTIVE_BACKUP,
    "load balancing (xor)": "balance-xor",
    "fault-tolerance (broadcast)": "broadcast",
    "IEEE 802.3ad Dynamic link aggregation": LACP,
    "transmit load balancing": "balance-tlb",
    "adaptive load balancing": "balance-alb",
}
_BUNDLED = "bundles without LACP"
_NEEDS = {  # section "Switch Configuration"
    "balance-rr": _BUNDLED,
    "balance-xor": _BUNDLED,
    "broadcast": _BUNDLED,
    LACP: "bundles with LACP",
}

_NOBODY = "00:00:00:00:00:00"
_UNKNOWN_SPEEDS = frozenset((65535, 4294967295))  # -1, before Linux 3.13
_DETAILS = re.compile(r"details (actor|partner) lacp pdu")
_DEFAULTED = 0x40  # LACP_STATE_DEFAULTED, in the state of our end: it hears nothing from the other one


def mode(text: str) -> str:
    """Read the name or the number of a mode, for an option."""
    if text in MODES:
        return text
    if text.isascii() and text.isdigit() and int(text) < len(MODES):
        return MODES[int(text)]
    raise NotUnderstoodError(f'"{text}" is no bonding mode: write one of {", ".join(MODES)}, or 0 to 6')


def mode_of(text: str) -> str:
    """Name the mode that the kernel describes so; one that we do not know stays as it is."""
    for words, name in _WORDS.items():
        if text.startswith(words):  # "(fail_over_mac active)" may follow
            return name
    return text


def needs(mode: str) -> str:
    """Give what the switch is to do with its ports for this mode; of a mode that we do not know, nothing."""
    return _NEEDS.get(mode, "does not bundle")


class NoBondError(Exception):
    """A text does not describe a bond."""


class Link(NamedTuple):
    """One network interface of a bond."""

    name: str
    status: str  # "up", "down", "going down", "going back"
    speed: int | None = None  # Mbit/s
    duplex: str = ""  # "full", "half"
    failures: int = 0  # since it was put into the bond
    aggregator: int | None = None
    churned: bool = False  # our end or the other one is out of step for more than a minute
    partner: bool | None = None  # whether its other end speaks LACP; None: not known

    @property
    def is_up(self) -> bool:
        """Whether the bond may use it."""
        return self.status in {"up", "going down"}

    @property
    def is_alone(self) -> bool:
        """Whether nobody speaks LACP at its other end."""
        return self.partner is False or self.aggregator is None


class Event(NamedTuple):
    """A link of a bond failed so often, or the bond took it instead of the one before."""

    at: float
    bond: str
    link: str
    failures: int = 0
    before: str = ""  # the link that was in use


class Bond(NamedTuple):
    """A bond; ``active`` is the link that is in use, in the modes that use one."""

    name: str
    mode: str
    is_up: bool
    links: tuple[Link, ...] = ()
    active: str | None = None
    watches: bool = True  # whether it would notice that a link has failed
    aggregator: int | None = None  # the one in use; None: not known
    partner: str | None = None  # address of the switch; None: there is none, or it is not known
    had: Sequence[str] = ()  # its links at the look that found most
    alone: float = 0.0  # seconds for which it has had no LACP partner, as far as looks show

    @property
    def up(self) -> list[Link]:
        """The links that are up."""
        return [link for link in self.links if link.is_up]

    @property
    def down(self) -> list[Link]:
        """The links that are not."""
        return [link for link in self.links if not link.is_up]

    @property
    def is_alone(self) -> bool:
        """Whether it speaks LACP and is bundled with nobody on any of its links."""
        return self.mode == LACP and bool(self.up) and all(link.is_alone for link in self.up)


def bond(name: str, text: str) -> Bond:
    """Read what the kernel shows of a bond; raises NoBondError."""
    head, *parts = re.split(r"^Slave Interface:", text, flags=re.MULTILINE)
    about = _fields(head)
    if "bonding mode" not in about:
        raise NoBondError
    mode, active = mode_of(about["bonding mode"]), about.get("currently active slave")
    partner = about.get("partner mac address")
    polls = (_number(about.get(f"{what} polling interval (ms)")) for what in ("mii", "arp"))
    links = tuple(_link(part, is_lacp=mode == LACP) for part in parts)
    return Bond(
        name,
        mode,
        about.get("mii status") == "up",
        links,
        None if active == "None" else active,
        any(polls),
        _number(about.get("aggregator id")),
        None if partner == _NOBODY else partner,
    )


def _link(part: str, *, is_lacp: bool) -> Link:
    about = _fields(f"name:{part}")
    speed = _number(about.get("speed", "").partition(" ")[0])
    duplex = about.get("duplex", "")
    churns = {about.get(f"{end} churn state") for end in ("actor", "partner")}
    other_end = about.get("partner system mac address")
    return Link(
        about["name"],
        about.get("mii status", "down"),
        None if speed in _UNKNOWN_SPEEDS else speed,
        "" if duplex == "Unknown" else duplex,
        _number(about.get("link failure count")) or 0,
        _number(about.get("aggregator id")),
        "churned" in churns,
        other_end != _NOBODY if is_lacp and other_end else None,
    )


def has_partner(port_state: int | None) -> bool | None:
    """Whether the other end of a link speaks LACP, by the state of our end; None: not known."""
    return None if port_state is None else not port_state & _DEFAULTED


def _fields(part: str) -> dict[str, str]:
    """Give the values of ``name: value`` by name; what is said of a LACP PDU begins with whose it is."""
    found, whose = {}, ""
    for line in part.splitlines():
        name, _, value = line.partition(":")
        name = name.strip().lower()
        if details := _DETAILS.fullmatch(name):
            whose = f"{details[1]} "
        else:
            found[f"{whose}{name}"] = value.strip()
    return found


def _number(text: str | None) -> int | None:
    return whole(text) if text else None
