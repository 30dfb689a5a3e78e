"""A privilege that an account may have."""

from __future__ import annotations

from stallwatch.named import NamedTuple


class Privilege(NamedTuple):
    """A privilege as either family calls it ("": it has none of the kind), and what it shows."""

    mysql: str
    mariadb: str
    shows: str
