"""A bond and its links, as /proc/net/bonding describes them.

The lines are those that the kernel's bond_procfs.c writes, 2.6.18 to 6.12: a part for the bond, then one for
each link. Newer kernels have more of them.
"""

from __future__ import annotations

import re

from stallwatch.probes.bonding.modes import LACP, mode_of
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOBODY = "00:00:00:00:00:00"
_UNKNOWN_SPEEDS = frozenset((65535, 4294967295))  # -1, before Linux 3.13
_DETAILS = re.compile(r"details (actor|partner) lacp pdu")
_DEFAULTED = 0x40  # LACP_STATE_DEFAULTED, in the state of our end: it hears nothing from the other one


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
    partner: bool | None = None  # whether its other end speaks LACP; None: it is not told

    @property
    def is_up(self) -> bool:
        """Whether the bond may use it."""
        return self.status in {"up", "going down"}


class Bond(NamedTuple):
    """A bond; ``active`` is the link that is in use, in the modes that use one."""

    name: str
    mode: str
    is_up: bool
    links: tuple[Link, ...] = ()
    active: str | None = None
    watches: bool = True  # whether it would notice that a link has failed
    aggregator: int | None = None  # the one in use; None: it is not told
    partner: str | None = None  # address of the switch; None: there is none, or it is not told

    @property
    def up(self) -> list[Link]:
        """The links that are up."""
        return [link for link in self.links if link.is_up]

    @property
    def down(self) -> list[Link]:
        """The links that are not."""
        return [link for link in self.links if not link.is_up]


def bond(name: str, text: str) -> Bond:
    """Read what the kernel tells of a bond; raises NoBondError."""
    head, *parts = re.split(r"^Slave Interface:", text, flags=re.MULTILINE)
    about = _fields(head)
    if "bonding mode" not in about:
        raise NoBondError
    mode, partner = mode_of(about["bonding mode"]), about.get("partner mac address")
    polls = (_number(about.get(f"{what} polling interval (ms)")) for what in ("mii", "arp"))
    links = tuple(_link(part, is_lacp=mode == LACP) for part in parts)
    return Bond(
        name,
        mode,
        about.get("mii status") == "up",
        links,
        _name(about.get("currently active slave")),
        any(polls),
        _number(about.get("aggregator id")),
        None if partner == _NOBODY else partner,
    )


def _link(part: str, *, is_lacp: bool) -> Link:
    about = _fields(f"name:{part}")
    speed = _number(about.get("speed", "").partition(" ")[0])
    churns = {about.get(f"{end} churn state") for end in ("actor", "partner")}
    other_end = about.get("partner system mac address")
    return Link(
        about["name"],
        about.get("mii status", "down"),
        None if speed in _UNKNOWN_SPEEDS else speed,
        _known(about.get("duplex")),
        _number(about.get("link failure count")) or 0,
        _number(about.get("aggregator id")),
        "churned" in churns,
        other_end != _NOBODY if is_lacp and other_end else None,
    )


def has_partner(port_state: int | None) -> bool | None:
    """Whether the other end of a link speaks LACP, by the state of our end; None: it is not told."""
    return None if port_state is None else not port_state & _DEFAULTED


def _fields(part: str) -> dict[str, str]:
    """Give the values of ``name: value`` by name; what is said of a LACP PDU begins with whose it is."""
    return dict(_pairs(part))


def _pairs(part: str) -> Iterator[tuple[str, str]]:
    whose = ""
    for line in part.splitlines():
        name, _, value = line.partition(":")
        name = name.strip().lower()
        if details := _DETAILS.fullmatch(name):
            whose = f"{details[1]} "
        else:
            yield f"{whose}{name}", value.strip()


def _known(text: str | None) -> str:
    return "" if text in {None, "Unknown"} else str(text)


def _name(text: str | None) -> str | None:
    return None if text in {None, "None"} else text


def _number(text: str | None) -> int | None:
    return whole(text) if text else None
