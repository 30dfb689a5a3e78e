"""A privilege that an account may have."""

from __future__ import annotations

from stallwatch.startup import NamedTuple


class Privilege(NamedTuple):
    """A privilege as either family calls it ("": it has none of the kind), and what it shows."""

    mysql: str
    mariadb: str
    shows: str
