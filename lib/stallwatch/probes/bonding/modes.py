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
_ANY_SWITCH = frozenset((ACTIVE_BACKUP, "balance-tlb", "balance-alb"))  # section "Switch Configuration"


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


def works_with_any_switch(mode: str) -> bool:
    """Whether the ports of the switch need not be bundled for this mode."""
    return mode in _ANY_SWITCH
