"""The signals as readings: of the server as a whole, for thresholds and perfdata."""

from __future__ import annotations

from stallwatch.reading import Reading
from stallwatch.units import say_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.replication.causes.redo import Redo
    from stallwatch.probes.replication.causes.signals import Signals
    from stallwatch.reading import Finding


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


def redo_log(redo: Redo) -> Reading:
    """Give the redo log as a reading, in per cent of the point at which writers stall."""
    what = f"the redo log is {redo.fill:.0f} % full, as far as writers may fill it"
    why = f"{say_size(redo.age)} of {say_size(redo.stall)} are not yet checkpointed"
    advice = "enlarge it (innodb_redo_log_capacity, innodb_log_file_size), or write less at once"
    return Reading("redo_log", round(redo.fill, 1), "%", what, why, advice)
