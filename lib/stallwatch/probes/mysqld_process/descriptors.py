"""How many of the descriptors that it may have a process has open: files, connections."""

from __future__ import annotations

from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.mysqld_process.choosing import SERVERS, named, user_name
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.mysqld_process.use import Seen

NAME = "descriptors"
_WITHOUT = "at the limit it can neither take connections nor open files (error 24, Too many open files)"
_SERVER = "raise open_files_limit and LimitNOFILE of its unit, or lower table_open_cache, max_connections"
_OTHER = "raise its limit: LimitNOFILE of its unit, ulimit -n where it is started"


class Limits(NamedTuple):
    """What the user says of them."""

    alerts: Callable[[float], bool]  # whether a range alerts on so many per cent
    is_critical: Callable[[float], bool]
    are_wanted: bool = False  # the user gave one
    at_once: bool = False  # the user gave a critical one, which counts in the first look already


def are_critical(seen: Seen, limits: Limits) -> bool:
    """Whether so many are open that it is critical, if that lasts."""
    return seen.descriptors is not None and bool(seen.limit) and limits.is_critical(_filled(seen))


def findings(seen: Seen, limits: Limits, *, lasting: bool) -> Iterator[Finding]:
    """Judge them; ``lasting``: they are critical, and were at the look before.

    Where they are not for us to see, the slots that the kernel keeps for them are as many or more; if these
    do not tell either, that is an aside, but UNKNOWN if it was wanted.
    """
    if seen.descriptors is not None:
        yield Reading("open_descriptors", seen.descriptors, "", in_table=True)
    if seen.limit is None:
        return
    who = named(seen.process)
    filled = _filled(seen)
    if seen.descriptors is not None:
        what = f"{who} has {seen.descriptors} of {seen.limit} descriptors open"
        confirmed = lasting or limits.at_once
        why = _WITHOUT if limits.alerts(filled) else ""
        advice = _SERVER if seen.process.name in SERVERS else _OTHER
        yield Reading(NAME, filled, "%", what, why, advice, confirmed=confirmed)
    elif not limits.alerts(filled):
        what = f"{who} has at most {seen.most_descriptors} of {seen.limit} descriptors open"
        yield Reading(NAME, filled, "%", what, label="")
    else:
        what = f"how many of {seen.limit} descriptors {who} has open is not for {user_name()} to see"
        state = State.UNKNOWN if limits.are_wanted else State.OK
        yield Fault(state, what, advice="run this as its user (sudo -u)")


def _filled(seen: Seen) -> float:
    """Tell how much of its limit that is, in per cent."""
    return round(100 * seen.most_descriptors / seen.limit, 2) if seen.limit else 100.0
