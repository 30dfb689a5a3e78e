"""How far the clocks of source and replica differ (rule E8): commit times and heartbeats are the source's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.evidence import Evidence

WORTH_TELLING = 2.0  # seconds
_LOOKS = 5  # so many in a row with the same offset are no accident
_SPREAD = 1.5  # seconds; a heartbeat's own age varies by its interval, 1 s


def ahead(evidence: Evidence) -> float:
    """Give the seconds by which the source's clock is ahead of the replica's, 0.0 if nothing tells.

    Asked of both servers; or else from what cannot be: transactions that arrive before they were
    committed; or a lag that stays the same while nothing is behind (measured on MariaDB 10.11 with a clock
    120 s off: Seconds_Behind 0, heartbeat 119 to 121 s).
    """
    if evidence.source and evidence.source.clock_ahead is not None:
        return evidence.source.clock_ahead
    if (early := _arrived_early(evidence)) > WORTH_TELLING:
        return early
    return -_constant_offset(evidence)


def _arrived_early(evidence: Evidence) -> float:
    """Tell how long before its commit the last transaction is said to have come."""
    late = _on_its_way(evidence)
    return 0.0 if late is None else -late


def _on_its_way(evidence: Evidence) -> float | None:
    commits = evidence.commits
    if commits is None or commits.queued_sent is None or commits.queued_at is None:
        return None
    return commits.queued_at - commits.queued_sent


def _constant_offset(evidence: Evidence) -> float:
    offsets = evidence.before.offsets[-_LOOKS:] if evidence.before else ()
    if len(offsets) < _LOOKS or max(offsets) - min(offsets) > _SPREAD:
        return 0.0
    offset = sorted(offsets)[_LOOKS // 2]
    return offset if abs(offset) > WORTH_TELLING else 0.0


def offset(evidence: Evidence, *, behind: bool) -> float | None:
    """Give what looks like lag although nothing else says so, to be compared with the next looks'.

    ``behind`` is whether anything but the clocks speaks for a lag.
    """
    if behind or evidence.channel.seconds_behind != 0:
        return None
    row = evidence.heartbeat
    if row is None:
        return _on_its_way(evidence)
    return None if row.remark else row.age  # a zone that is taken for another one is no clock
