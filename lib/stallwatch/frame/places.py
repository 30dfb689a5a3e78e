"""Where state may be kept between runs."""

from __future__ import annotations

import os

from stallwatch.accounts import user_name

SHARED_PLACE = "/var/lib/stallwatch"


def candidates(directory: str | None) -> list[str]:
    """Return the places that may be used, the best first."""
    # systemd separates several state directories of one unit by colons (systemd.exec, StateDirectory=).
    if chosen := directory or os.environ.get("STATE_DIRECTORY", "").partition(":")[0]:
        return [chosen]
    places = [f"{SHARED_PLACE}/{user_name(os.geteuid())}", os.path.expanduser("~/.local/state/stallwatch")]
    # A user without HOME and without an entry in the password file has only the first.
    return [place for place in places if not place.startswith("~")]


