"""The lag by a heartbeat table (rule E1): the best there is, as long as its writer lives."""

from __future__ import annotations

from stallwatch.probes.replication.lag.figure import Figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.lag.view import View

BY = "heartbeat table"
_INTERVAL = 1.0  # s: how often heartbeats are written, pt-heartbeat's default
_IN_THE_FUTURE = -2.0  # seconds of age: clocks, not lag
_OLD = 10.0  # seconds: nothing is said of a writer before


def figure(view: View) -> Figure | None:
    """E1: the age of the row is the lag, if its writer is alive and the clocks allow it."""
    if (age := _age(view)) is None or age < _IN_THE_FUTURE or writer_is_dead(view):
        return None
    seconds = max(0.0, age)
    return Figure(seconds, max(0.0, seconds - _INTERVAL), seconds, BY)


def _age(view: View) -> float | None:
    row = view.evidence.heartbeat
    return None if row is None else row.age + view.ahead


def writer_is_dead(view: View) -> bool:
    """Whether the row is old because nobody writes it: it is so on the source, or younger work is applied.

    A stopped writer has taken whole services out of order as "lag".
    """
    row, age, source, commits = (
        view.evidence.heartbeat, _age(view), view.evidence.source, view.evidence.commits,
    )  # fmt: skip
    if row is None or age is None or age < _OLD:
        return False
    if row.source_age is not None:
        return row.source_age > _OLD
    if source is not None and source.missing is not None:
        return source.missing == 0
    if commits is None or commits.applied_commit is None:
        return False
    return commits.now - commits.applied_commit + view.ahead < age - _OLD
