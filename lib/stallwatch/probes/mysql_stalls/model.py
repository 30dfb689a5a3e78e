"""What one run knows."""

from __future__ import annotations

from stallwatch.history.delta import NOTHING
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stallwatch.causes import Subject
    from stallwatch.findings import ProbeError
    from stallwatch.history.delta import Interval
    from stallwatch.probes.mysql.locks.deadlocks import Party
    from stallwatch.probes.mysql.locks.ending import Head
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.other_waits import Evidence
    from stallwatch.probes.mysql.processes import Last, Phase, Program
    from stallwatch.probes.mysql_stalls.collect import Details, Waiting
    from stallwatch.probes.mysql_stalls.connections import Used
    from stallwatch.probes.mysql_stalls.heads import Blocked
    from stallwatch.sources.mysql import Flavour


class Found(NamedTuple):
    """What one run knows."""

    waiting: Waiting
    details: Details
    server: Subject
    at: float  # seconds since 1970
    interval: Interval = NOTHING
    flavour: Flavour | None = None
    is_detailed: bool = False  # whether it was asked who blocks whom
    heads: Sequence[Head] = ()
    circles: Sequence[Blocked] = ()
    unexplained: Sequence[Blocked] = ()
    other_waits: Sequence[Blocked] = ()  # who wait for no lock
    evidence: Mapping[Phase, Evidence] = {}  # of what they wait for
    oldest: Transaction | None = None  # that blocks nobody
    last: Mapping[int, Last] = {}  # statements of connections
    programs: Mapping[int, Program] = {}
    history: float | None = None  # length of the history list
    grown: tuple[float, float] | None = None  # by how much it has, in how many seconds
    deadlock: Sequence[Party] = ()  # the latest one: since the last run, or before the first
    deadlock_at: tuple[str, float] | None = None  # the server's time, and seconds since; None: not known
    used: Used | None = None  # connections; None: not known
    missing: Sequence[str] = ()  # sentences, one for each GRANT
    lost: ProbeError | None = None  # what has ended the connection
