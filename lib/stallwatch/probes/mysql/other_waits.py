"""Who waits for something that is no lock, as at a COMMIT; and why: one ordered table of rules."""

from __future__ import annotations

from stallwatch.causes import Cause, Certainty, Kind, Rule, judged
from stallwatch.probes.mysql import innodb, statements
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, Statement, text, whole
from stallwatch.probes.mysql.locks import waits
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.processes import Phase
from stallwatch.probes.mysql.status import global_status, is_on, numbers, variables
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from stallwatch.causes import Subject
    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.probes.mysql.processes import Process

LARGE = 100_000  # rows: of a transaction whose COMMIT may take its time
_LATER = 5.0  # seconds until the server writes into its log that a disk is full
_SEMI_SYNC = tuple(f"Rpl_semi_sync_{side}_clients" for side in ("source", "master"))
_WANTED = ("rpl_semi_sync_source_wait_for_replica_count", "rpl_semi_sync_master_wait_for_slave_count")
_IN_CLUSTERS = ("group_replication_group_name", "wsrep_on")  # variables
# Of Galera. "active" is shown by all members while one of them holds up the writes, "requested" by that one
# alone (measured with galera 26.4.23).
_GALERA = tuple(f"wsrep_{of}" for of in ("cluster_status", "flow_control_active", "flow_control_requested"))
_THROTTLES = "Gr_flow_control_throttle_active_count"  # of Group Replication, where its component is installed
# What other members show of one that is in ERROR is a bug (MySQL Shell leaves it out, too). A member that is
# OFFLINE has not joined.
_GROUP = Statement(
    "SELECT COUNT(*) AS members, SUM(MEMBER_STATE IN ('ONLINE', 'RECOVERING')) AS present,"
    " MAX(IF(MEMBER_STATE = 'UNREACHABLE', CONCAT(MEMBER_HOST, ':', MEMBER_PORT), NULL)) AS silent"
    " FROM performance_schema.replication_group_members"
    " WHERE MEMBER_STATE <> 'OFFLINE' AND (MEMBER_STATE <> 'ERROR' OR MEMBER_ID = @@server_uuid)",
    PERFORMANCE_SCHEMA,
)
# Of MySQL; MariaDB 10.11.19 counts none while its redo log cannot be written.
_PENDING = tuple(f"Innodb_{of}_pending_{what}" for of in ("os_log", "data") for what in ("fsyncs", "writes"))
_FULL = "Disk is full writing '"  # MySQL 9.7.2, MY-000035, again after 10 min
_LOGGED = "SELECT DATA AS said FROM performance_schema.error_log WHERE ERROR_CODE = '{}' AND LOGGED >= NOW(6)"
_FULL_DISKS = _LOGGED.format("MY-000035") + " - INTERVAL {:.0f} SECOND ORDER BY LOGGED DESC LIMIT 1"
# Threads of the server that wait for one another, which ends the server after 10 min.
_SEMAPHORES = _LOGGED.format("MY-012985") + " - INTERVAL 2 MINUTE ORDER BY LOGGED DESC LIMIT 1"
AHEAD = (Phase.SPACE, Phase.ACK)  # a COMMIT waits for those before it
_MEMBERS = (Phase.BEGIN, Phase.IN_ORDER, Phase.COMMIT)  # where members of a cluster may keep it waiting
_INNODB = (Phase.WRITE, Phase.TABLES, Phase.OTHER)


class Evidence(NamedTuple):
    """What is known of all statements that wait for the same thing."""

    phase: Phase
    full: str = ""  # the file that MySQL could not write since the first of them waits
    replicas: int = 0  # that are connected and would acknowledge
    wanted: int = 1
    in_cluster: bool = False  # of Group Replication or Galera, where members decide on a COMMIT
    members: int = 0  # of the cluster, as far as they are counted
    present: int = 0  # of them
    silent: str = ""  # one that the others do not reach
    is_apart: bool = False  # from the primary component of Galera
    is_slow: bool = False  # this member holds up the writes of all: flow control
    holds_up: bool = False  # another one does
    definition: str = ""  # that all members run in the same order, alone (Galera)
    pending_writes: int = 0  # that InnoDB waits for
    redo: float = 0.0  # per cent: how full the redo log is
    semaphores: bool = False  # InnoDB has written that it waits for its own for minutes

    @property
    def misses(self) -> bool:
        """Whether fewer replicas are connected than have to acknowledge."""
        return self.replicas < self.wanted

    @property
    def misses_members(self) -> bool:
        """Whether most members are gone: a COMMIT waits for them, for ever."""
        return self.present * 2 <= self.members != 0


def phase(process: Process) -> Phase | None:
    """Get what a client's statement has waited for, for seconds; None: for nothing, or for a lock."""
    return None if not process.is_client_s_statement or waits.kind(process) else process.phase


def evidence(
    asking: Asking, phases: Mapping[Phase, float], listed: Collection[Process]
) -> dict[Phase, Evidence]:
    """Ask what is needed to judge these phases; in each a statement has run for so many seconds."""
    common = Evidence(Phase.OTHER)
    if Phase.ACK in phases:
        clients = numbers(global_status(asking, _SEMI_SYNC))
        wanted = numbers(variables(asking, _WANTED))
        common = common._replace(
            replicas=int(max(clients.values(), default=0)), wanted=int(max(wanted.values(), default=1))
        )
    if not phases.keys().isdisjoint(_MEMBERS):
        common = _of_members(asking, common, listed)
    if not phases.keys().isdisjoint(_INNODB):
        common = _of_innodb(asking, common)
    if Phase.COMMIT in phases:
        pending = sum(numbers(global_status(asking, _PENDING)).values())
        said = _logged(asking, _FULL_DISKS.format(phases[Phase.COMMIT] + _LATER))
        full = said.partition(_FULL)[2].partition("'")[0]
        common = common._replace(full=full, pending_writes=int(pending))
    return {one: common._replace(phase=one) for one in phases}


def _of_members(asking: Asking, common: Evidence, listed: Collection[Process]) -> Evidence:
    cluster = variables(asking, _IN_CLUSTERS)
    if is_on(cluster.get("wsrep_on", "")):
        status = global_status(asking, _GALERA)
        primary, active, requested = (status.get(name, "") for name in _GALERA)
        defines = (one.info for one in listed if statements.defines(one.info) and not waits.kind(one))
        return common._replace(
            in_cluster=True,
            is_apart=primary.lower() == "non-primary",
            is_slow=is_on(requested),
            holds_up=is_on(active),
            definition=statements.said(next(defines, "")),
        )
    if not cluster.get("group_replication_group_name"):
        return common
    row = next(iter(asking.rows(_GROUP)), {"members": None})
    throttles = numbers(global_status(asking, (_THROTTLES,)))
    return common._replace(
        in_cluster=row["members"] != 0,
        members=whole(row, "members"),
        present=whole(row, "present"),
        silent=text(row, "silent"),
        holds_up=bool(throttles.get(_THROTTLES)),
    )


def _of_innodb(asking: Asking, common: Evidence) -> Evidence:
    counters = numbers(global_status(asking, innodb.COUNTERS))
    redo = innodb.redo(counters, variables(asking, innodb.SETTINGS))
    return common._replace(
        redo=redo.fill if redo else 0.0, semaphores=bool(_logged(asking, _SEMAPHORES))
    )


def _logged(asking: Asking, sql: str) -> str:
    """Return what MySQL's error log has of it, from 8.0.22 on."""
    if asking.server.flavour.mariadb:
        return ""
    return next((text(row, "said") for row in asking.rows(Statement(sql, PERFORMANCE_SCHEMA))), "")


def _rule(
    kind: Kind,
    certainty: Certainty,
    evidence: str,
    step: Step,
    phases: Collection[Phase],
    applies: Callable[[Evidence], object] = lambda _: True,
) -> Rule:
    def proves(one: Evidence) -> Mapping[str, Any] | None:
        fits = one.phase in phases and applies(one)
        return {"step": NextStep(step), "seen": one} if fits else None

    return Rule(kind, certainty, evidence, proves)


_CERTAIN, _LIKELY, _POSSIBLE = Certainty
_ACK, _COMMIT, _SPACE = (Phase.ACK,), (Phase.COMMIT,), (Phase.SPACE,)
RULES = (  # the first that applies decides
    _rule(Kind.DISK_FULL, _CERTAIN, "waits_for_space", Step.FREE_SPACE, _SPACE),
    _rule(Kind.DISK_FULL, _CERTAIN, "log_names_it", Step.FREE_SPACE, _COMMIT, lambda one: one.full),
    _rule(Kind.NO_ACK, _CERTAIN, "too_few", Step.START_REPLICA, _ACK, lambda one: one.misses),
    _rule(Kind.NO_ACK, _CERTAIN, "silent", Step.SEE_REPLICAS, _ACK),
    _rule(Kind.NO_QUORUM, _CERTAIN, "members", Step.FIND_PRIMARY, _MEMBERS, lambda one: one.misses_members),
    _rule(Kind.NO_QUORUM, _CERTAIN, "apart", Step.FIND_PRIMARY, _MEMBERS, lambda one: one.is_apart),
    _rule(Kind.FLOW_CONTROL, _CERTAIN, "own", Step.SEE_APPLIER, _MEMBERS, lambda one: one.is_slow),
    _rule(Kind.FLOW_CONTROL, _LIKELY, "of_another", Step.SEE_QUEUES, _MEMBERS, lambda one: one.holds_up),
    _rule(Kind.SILENT_MEMBER, _LIKELY, "unreachable", Step.SEE_MEMBER, _MEMBERS, lambda one: one.silent),
    _rule(Kind.TOTAL_ORDER, _LIKELY, "definition", Step.LET_IT_END, _MEMBERS, lambda one: one.definition),
    _rule(Kind.UNKNOWN, _POSSIBLE, "cluster", Step.SEE_CLUSTER, _MEMBERS, lambda one: one.in_cluster),
    _rule(Kind.SLOW_DISK, _LIKELY, "writes", Step.SEE_DISK, _COMMIT, lambda one: one.pending_writes),
    _rule(Kind.SLOW_DISK, _LIKELY, "commit", Step.SEE_DISK, _COMMIT),
    _rule(Kind.REDO_FULL, _LIKELY, "redo", Step.SEE_REDO, _INNODB, lambda one: one.redo >= innodb.FULL),
    _rule(Kind.SEMAPHORES, _CERTAIN, "semaphores", Step.SEE_ERROR_LOG, _INNODB, lambda one: one.semaphores),
    _rule(Kind.UNKNOWN, _POSSIBLE, "other", Step.SEE_PROCESSES, tuple(Phase)),
)


def judge(seen: Evidence, server: Subject, since: float) -> Cause:
    """Judge why they wait since that moment, seconds since 1970."""
    return judged(RULES, seen, server, since)[0]
