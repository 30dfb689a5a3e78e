"""The true lag of a replica at any moment: from when commits were made, and when the replica showed them."""

from bisect import bisect_left, bisect_right
from typing import NamedTuple


class Seen(NamedTuple):
    """A look at the replica: its newest commit at some moment between the two."""

    asked: float
    answered: float
    number: int


def true_lag(committed, seen, moment):
    """The least and the most seconds of lag that there can have been at a moment.

    ``committed``  (number, moment) of each commit, oldest first
    ``seen``       looks at the replica, oldest first

    The lag is the age of the oldest commit that the replica did not show; 0.0: it showed all. None is known
    before the first look.
    """
    before = bisect_right([one.answered for one in seen], moment) - 1
    after = bisect_left([one.asked for one in seen], moment)
    if before < 0:
        return None
    most = _age(committed, seen[before].number, moment)
    least = _age(committed, seen[after].number, moment) if after < len(seen) else 0.0
    return min(least, most), most


def _age(committed, number, moment):
    place = bisect_right(committed, (number, float("inf")))
    missing = committed[place][1] if place < len(committed) else moment
    return max(0.0, moment - missing)


def lag_within(committed, seen, begun, ended):
    """The least and the most lag between two moments; None: nothing is known."""
    moments = [begun, ended, *(at for one in seen for at in (one.asked, one.answered) if begun < at < ended)]
    found = [one for one in (true_lag(committed, seen, moment) for moment in moments) if one]
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None
