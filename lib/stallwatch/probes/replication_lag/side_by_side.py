"""The table of all channels, a row each."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.diagnosis import Diagnosis


def table(diagnoses: Sequence[Diagnosis]) -> Table:
    """Put the channels side by side."""
    columns = (
        "Channel", "Source", "Receiver", "Applier", "Lag s", "At most", "Transport", "Upstream", "Apply",
        "Seconds_Behind", "Backlog", "Missing", "Heard s ago",
    )  # fmt: skip
    return Table(columns, tuple(_row(one) for one in diagnoses))


def _row(one: Diagnosis) -> tuple[str | float | None, ...]:
    channel, found, snapshot = one.channel, one.lag, one.snapshot
    times = (found.seconds, found.high, found.transport, found.upstream, found.apply, channel.seconds_behind)
    return (
        channel.name or "-", channel.source, channel.receiver.running, channel.applier.running,
        *map(_rounded, times),
        snapshot.backlog, snapshot.source.missing if snapshot.source else None, _rounded(found.contact_age),
    )  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
