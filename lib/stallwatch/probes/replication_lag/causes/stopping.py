"""R36: a STOP REPLICA that does not end."""

from __future__ import annotations

from stallwatch.probes.replication_lag.causes.case import Cause, rule
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes.case import Case

_LONG = 5.0  # seconds


@rule()
def r36_stop_waits(case: Case) -> Cause | None:
    """Report a STOP REPLICA that waits for the applier, which ends what it has begun.

    It waits until an event group that changes a non-transactional table is applied, else until the
    transaction is rolled back (MySQL Reference Manual, "STOP REPLICA"; MariaDB, "STOP SLAVE"). Nothing
    shows which. The process list has the statement. A lock that the applier waits for holds it up, too,
    and comes first.
    """
    channel = case.snapshot.channel
    if not channel.applier.runs:
        return None
    mariadb = bool(case.signals.flavour and case.signals.flavour.mariadb)
    stops = [
        one
        for one in case.signals.processes.values()
        if one.is_client_s_statement and one.seconds >= _LONG
        if activity.stops_applier(one.info, channel.name, mariadb=mariadb)
    ]
    if not stops:
        return None
    first = max(stops, key=lambda one: one.seconds)
    what = f"STOP {case.slave} of connection {first.id} has waited for {say_duration(first.seconds)}"
    more = ("it waits until the applier ends a change of a table without transactions, or has rolled back",)
    return Cause(85, what, f"wait until it ends, then {case.start('SQL_THREAD')}", more=more)
