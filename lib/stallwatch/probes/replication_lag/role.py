"""What a server is to be, by ``--role``, against what it is: only a source accepts writes."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.probes.replication_lag.queries import Facts

SOURCE, REPLICA = "source", "replica"


def judge(role: str | None, facts: Facts, channels: Sequence[Channel], where: str) -> Iterator[Fault]:
    """Judge read_only by the role; without one do nothing."""
    if role == REPLICA and facts.read_only is False:
        advice = f"SET GLOBAL {facts.closed_by} = ON, unless this is the source"
        yield Fault(State.WARNING, "clients can write to this replica, read_only is OFF", "", advice)
    if role != SOURCE:
        return
    if facts.read_only:
        advice = "SET GLOBAL read_only = OFF, if this is still the source"
        yield Fault(State.CRITICAL, "no client can write to this source, read_only is ON", "", advice)
    elif not channels:
        is_open = "read_only is OFF, " if facts.read_only is False else ""
        what = f"{where} is a source: {is_open}it replicates from no other server"
        yield Fault(State.OK, f"{what} (check_mysql_stalls shows whether its clients can commit)")
    for one in channels:
        yield Fault(State.OK, f"this source still replicates from {one.source}")
