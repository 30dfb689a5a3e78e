"""The modes of the bonding driver (the kernel's Documentation/networking/bonding.rst)."""

from __future__ import annotations

from stallwatch.units import NotUnderstoodError

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
    """Tell what the switch is to do with its ports for this mode; of a mode that we do not know, nothing."""
    return _NEEDS.get(mode, "does not bundle")
