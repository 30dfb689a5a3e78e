"""The signals as readings: of the server as a whole, for thresholds and perfdata."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.innodb.redo import redo_log
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.replication.causes.signals import Signals


def findings(signals: Signals) -> Iterator[Finding]:
    """Give what is known of the whole server; what could not be measured is left out."""
    if signals.redo:
        yield redo_log(signals.redo)
    if signals.history is not None:
        what = f"InnoDB's history list has {signals.history:.0f} entries"
        yield Reading("history_list", signals.history, what=what)
    if signals.host.load:
        busy = round(signals.host.load.busy, 1)
        yield Reading("disk_busy", busy, "%", f"disk {signals.host.disk} is busy {busy:g} % of the time")
