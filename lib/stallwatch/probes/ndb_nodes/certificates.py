"""The certificates with which data nodes talk in TLS; from 8.3.0 on, and only where they do."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.probes.ndbinfo.words import named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.ndbinfo.asking import Ndbinfo

# Not the view ndbinfo.certificates, which tells the day only, as text in the server's language.
_SOONEST = "SELECT DISTINCT node_id, name, expires FROM ndbinfo.ndb$certificates ORDER BY expires LIMIT 48"
_DAY = 86400.0


def look(ndbinfo: Ndbinfo, now: float) -> Iterator[Reading]:
    """Tell how long the certificate is good that expires first, by our clock; nothing where there is none."""
    rows = ndbinfo.rows(_SOONEST)
    if not rows:
        return
    first = number(rows[0], "expires")
    nodes = sorted({whole(row, "node_id") for row in rows if number(row, "expires") < first + _DAY})
    left = round(first - now)
    end = f"expires in {say_duration(left)}" if left > 0 else f"has expired {say_duration(-left)} ago"
    yield Reading(
        "certificate", left, "s", f"the TLS certificate of {named(nodes)} ({rows[0]['name']}) {end}",
        f"nobody can set up a link in TLS with it {'then' if left > 0 else 'any more'}",
        f"sign a new one with ndb_sign_keys, then restart {named(nodes)}"
        f"{', one at a time' if len(nodes) > 1 else ''}",
    )  # fmt: skip
