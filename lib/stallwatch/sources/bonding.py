"""What the kernel tells of bonded network interfaces, in the network namespace that we are in."""

from __future__ import annotations

import os

PLACE = "/proc/net/bonding"
_NET = "/sys/class/net"


def bonds() -> dict[str, str] | None:
    """Give what the kernel tells of each bond; None: the driver is not loaded. Raises OSError.

    The file of a bond tells less to a user without CAP_NET_ADMIN: nothing of the partner (since Linux 4.3).
    """
    try:
        names = sorted(os.listdir(PLACE))
    except FileNotFoundError:
        return None
    found = {}
    for name in names:
        try:
            with open(f"{PLACE}/{name}", encoding="utf-8", errors="replace") as file:
                found[name] = file.read()
        except FileNotFoundError:
            continue  # it was removed a moment ago
    return found


def port_state(link: str) -> int | None:
    """Give the state of a link in LACP, bits of IEEE 802.3ad; anybody may read it. None: it is not told."""
    try:
        with open(f"{_NET}/{link}/bonding_slave/ad_actor_oper_port_state", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None
