"""Who waits for something that is no lock, as at a COMMIT; and why: one ordered table of rules."""

from __future__ import annotations

from stallwatch.causes import Cause, Certainty, Kind, Rule, judged
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, Statement, text
from stallwatch.probes.mysql.locks import waits
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.processes import Phase
from stallwatch.probes.mysql.status import global_status, is_on, numbers, variables
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from stallwatch.causes import Subject
    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.probes.mysql.processes import Process

LARGE = 100_000  # rows: of a transaction whose COMMIT may take its time
_LATER = 5.0  # seconds until the server writes into its log that a disk is full
_SEMI_SYNC = tuple(f"Rpl_semi_sync_{side}_clients" for side in ("source", "master"))
_WANTED = ("rpl_semi_sync_source_wait_for_replica_count", "rpl_semi_sync_master_wait_for_slave_count")
_IN_CLUSTERS = ("group_replication_group_name", "wsrep_on")  # variables
# Of MySQL; MariaDB 10.11.19 counts none while its redo log cannot be written.
_PENDING = tuple(f"Innodb_{of}_pending_{what}" for of in ("os_log", "data") for what in ("fsyncs", "writes"))
_FULL = "Disk is full writing '"  # MySQL 9.7.2, MY-000035, again after 10 min
_FULL_DISKS = (
    "SELECT DATA AS said FROM performance_schema.error_log WHERE ERROR_CODE = 'MY-000035'"
    " AND LOGGED >= NOW(6) - INTERVAL {:.0f} SECOND ORDER BY LOGGED DESC LIMIT 1"
)
AHEAD = (Phase.SPACE, Phase.ACK)  # a COMMIT waits for those before it


class Evidence(NamedTuple):
    """What is known of all statements that wait for the same thing."""

    phase: Phase
    full: str = ""  # the file that MySQL could not write since the first of them waits
    replicas: int = 0  # that are connected and would acknowledge
    wanted: int = 1
    in_cluster: bool = False  # of Group Replication or Galera, where members decide on a COMMIT
    pending_writes: int = 0  # that InnoDB waits for

    @property
    def misses(self) -> bool:
        """Whether fewer replicas are connected than have to acknowledge."""
        return self.replicas < self.wanted


def phase(process: Process) -> Phase | None:
    """Get what a client's statement has waited for, for seconds; None: for nothing, or for a lock."""
    return None if not process.is_client_s_statement or waits.kind(process) else process.phase


def evidence(asking: Asking, phases: Mapping[Phase, float]) -> dict[Phase, Evidence]:
    """Ask what is needed to judge these phases; in each a statement has run for so many seconds."""
    common = Evidence(Phase.OTHER)
    if Phase.ACK in phases:
        clients = numbers(global_status(asking, _SEMI_SYNC))
        wanted = numbers(variables(asking, _WANTED))
        common = common._replace(
            replicas=int(max(clients.values(), default=0)), wanted=int(max(wanted.values(), default=1))
        )
    if Phase.COMMIT in phases:
        common = common._replace(
            in_cluster=any(map(is_on, variables(asking, _IN_CLUSTERS).values())),
            pending_writes=int(sum(numbers(global_status(asking, _PENDING)).values())),
        )
        if not asking.server.flavour.mariadb:
            sql = _FULL_DISKS.format(phases[Phase.COMMIT] + _LATER)
            for row in asking.rows(Statement(sql, PERFORMANCE_SCHEMA)):
                common = common._replace(full=text(row, "said").partition(_FULL)[2].partition("'")[0])
    return {one: common._replace(phase=one) for one in phases}


def _rule(
    kind: Kind,
    certainty: Certainty,
    evidence: str,
    step: Step,
    phase: Phase | None = None,  # None: all
    applies: Callable[[Evidence], object] = lambda _: True,
) -> Rule:
    def proves(one: Evidence) -> Mapping[str, Any] | None:
        fits = phase in {None, one.phase} and applies(one)
        return {"step": NextStep(step), "seen": one} if fits else None

    return Rule(kind, certainty, evidence, proves)


_COMMIT, _FREE = Phase.COMMIT, Step.FREE_SPACE
RULES = (  # the first that applies decides
    _rule(Kind.DISK_FULL, Certainty.CERTAIN, "waits_for_space", _FREE, Phase.SPACE),
    _rule(Kind.DISK_FULL, Certainty.CERTAIN, "log_names_it", _FREE, _COMMIT, lambda one: one.full),
    _rule(Kind.NO_ACK, Certainty.CERTAIN, "too_few", Step.START_REPLICA, Phase.ACK, lambda one: one.misses),
    _rule(Kind.NO_ACK, Certainty.CERTAIN, "silent", Step.SEE_REPLICAS, Phase.ACK),
    _rule(Kind.UNKNOWN, Certainty.POSSIBLE, "cluster", Step.SEE_CLUSTER, _COMMIT, lambda one: one.in_cluster),
    _rule(Kind.SLOW_DISK, Certainty.LIKELY, "writes", Step.SEE_DISK, _COMMIT, lambda one: one.pending_writes),
    _rule(Kind.SLOW_DISK, Certainty.LIKELY, "commit", Step.SEE_DISK, _COMMIT),
    _rule(Kind.UNKNOWN, Certainty.POSSIBLE, "other", Step.SEE_PROCESSES),
)


def judge(seen: Evidence, server: Subject, since: float) -> Cause:
    """Judge why they wait since that moment, seconds since 1970."""
    return judged(RULES, seen, server, since)[0]
