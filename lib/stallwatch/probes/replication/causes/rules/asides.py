"""R23: what does not explain a lag but is worth knowing with it."""

from __future__ import annotations

from stallwatch.probes.mysql.status import is_on
from stallwatch.probes.replication.causes.case import Cause
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication.causes.case import Case


def r23_written_to(case: Case) -> Cause | None:
    """Tell that somebody has written here: five local GRANTs stopped a 10.11.19 with error 1950."""
    source = case.evidence.source
    if not source or not source.errant:
        return None
    what = f"{source.errant} transactions here are not on {source.where}"
    if not is_on(case.signals.settings.get("read_only", "ON")):
        what += ", and read_only is OFF"
    advice = "find who writes here before read_only keeps them from it, and compare the data"
    return Cause("R23", 20, what, advice, explains=False)
