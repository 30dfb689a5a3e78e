"""What is asked of ndbinfo, and what its rows are: one small statement for each table."""

from __future__ import annotations

from stallwatch import units
from stallwatch.probes.ndbinfo.queries import (
    ARBITRATION,
    NO_OF_REPLICAS,
    address_of,
    configured,
    number,
    whole,
)
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_nodes.clients import Client
    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

    Counts = dict[int, dict[str, float]]  # by node, and name

ALLOCATED, _COMPLETED = 4, 19  # ndbinfo.restart_info: the node id is allocated; the restart is over
OVERLOADS, CONNECTS, LINKS = "overloads", "connects", "links"
MAJOR_FAULTS, THREADS = "major_faults", "threads"

_LINKS = """SELECT node_id, COUNT(*) AS links, SUM(connect_count) AS connects,
 SUM(overload_count) AS overloads
 FROM ndbinfo.transporters WHERE remote_node_id IN ({nodes}) GROUP BY node_id"""
_FAULTS = """SELECT node_id, COUNT(*) AS threads, SUM(os_ru_majflt) AS major_faults
 FROM ndbinfo.threadstat GROUP BY node_id"""
# Up to 20 samples of 20 s each: the last 400 s. A thread works, sends, spins, waits for a buffer or sleeps,
# which adds up to the elapsed time exactly (9.7.2). While it works it may still wait for a processor: 37 % of
# work with a processor for 7 % of the time were measured, on a host with too many servers. Send threads help
# the others with sending, who do it themselves when those are busy; only the table threads shows which.
_EACH = """SELECT c.node_id, c.thr_no, t.thread_name, SUM(c.elapsed_time) AS elapsed,
 100.0 * SUM(c.exec_time + c.send_time) / SUM(c.elapsed_time) AS used,
 100.0 * SUM(c.OS_user_time + c.OS_system_time) / SUM(c.elapsed_time) AS processor
 FROM ndbinfo.cpustat_20sec c JOIN ndbinfo.threads t ON t.node_id = c.node_id AND t.thr_no = c.thr_no
 WHERE t.thread_name <> 'send' AND c.elapsed_time > 0
 GROUP BY c.node_id, c.thr_no, t.thread_name"""
_BUSIEST = (
    "SELECT node_id, MAX(used) AS used, MIN(elapsed) AS elapsed FROM "  # noqa: S608
    f"({_EACH}) AS each_thread GROUP BY node_id"
)
_WHICH = (
    "SELECT thr_no, thread_name, used, processor FROM "  # noqa: S608
    f"({_EACH}) AS each_thread WHERE node_id = %s ORDER BY used DESC LIMIT 1"
)
# Not the view ndbinfo.certificates, which shows the day only, as text in the server's language.
_SOONEST = "SELECT DISTINCT node_id, name, expires FROM ndbinfo.ndb$certificates ORDER BY expires LIMIT 48"

# Before 7.5.7 there is no such table.
_CLIENTS = (
    "SELECT DISTINCT node_id, process_name, service_URI FROM ndbinfo.processes WHERE node_type <> 'NDB'"
)
_VERSIONS = "SELECT DISTINCT node_id, node_version FROM ndbinfo.processes WHERE node_type = 'NDB'"
_WHY_NO_ARBITRATOR = {  # by Arbitration; 1 is Default
    "0": "Arbitration=Disabled",
    "2": "Arbitration=WaitExternal: another cluster manager decides",
}


class Restart(NamedTuple):
    """How far the restart of a node is, as those see it that are up."""

    code: int
    words: str


class Busiest(NamedTuple):
    """The busiest thread of a data node."""

    node: int
    used: float  # per cent of the time, in which it worked
    seconds: float  # that are known of every thread


class Thread(NamedTuple):
    """Which thread of its node that is."""

    number: int
    role: str  # ldm, tc, main, rep, recv, ...
    used: float  # per cent of the time, in which it worked
    processor: float  # per cent of it, in which it had a processor


def membership(ndbinfo: Ndbinfo) -> list[Row]:
    """Ask what each node reports of its node group and of the arbitrator."""
    return ndbinfo.rows("SELECT * FROM ndbinfo.membership")


def replicas(ndbinfo: Ndbinfo) -> int:
    """Ask how many data nodes a node group has; 0: that is not known."""
    values = configured(ndbinfo, NO_OF_REPLICAS).values()
    return max((units.whole(value) or 0 for value in values), default=0)


def why_no_arbitrator(ndbinfo: Ndbinfo) -> str:
    """Ask why there is none on purpose; empty: there should be one."""
    methods = configured(ndbinfo, ARBITRATION).values()
    return next((_WHY_NO_ARBITRATOR[method] for method in methods if method in _WHY_NO_ARBITRATOR), "")


def restarts_under_way(ndbinfo: Ndbinfo) -> dict[int, Restart]:
    """Ask how far the restarts are that the cluster's master takes part in; the table is of 7.4 and later."""
    rows = ndbinfo.rows("SELECT * FROM ndbinfo.restart_info")
    found = {
        whole(row, "node_id"): Restart(whole(row, "node_restart_status_int"), str(row["node_restart_status"]))
        for row in rows
        if row["node_restart_status_int"] is not None
    }
    return {node: restart for node, restart in found.items() if ALLOCATED <= restart.code < _COMPLETED}


def links(ndbinfo: Ndbinfo, nodes: Sequence[int]) -> Counts:
    """Ask what each node has counted on its links to the other data nodes."""
    rows = ndbinfo.rows(_LINKS.format(nodes=", ".join(map(str, nodes))))
    return _counts(rows, OVERLOADS, CONNECTS, LINKS)


def page_faults(ndbinfo: Ndbinfo) -> Counts:
    """Ask how many pages each node's threads had to read from disk to go on: major page faults."""
    return _counts(ndbinfo.rows(_FAULTS), MAJOR_FAULTS, THREADS)


def _counts(rows: Sequence[Row], *names: str) -> Counts:
    return {whole(row, "node_id"): {name: number(row, name) for name in names} for row in rows}


def busiest(ndbinfo: Ndbinfo) -> dict[int, Busiest]:
    """Ask for the busiest thread of each node, the busiest first; send threads are not among them."""
    found = [
        Busiest(whole(row, "node_id"), number(row, "used"), number(row, "elapsed") / 1e6)
        for row in ndbinfo.rows(_BUSIEST)
    ]
    return {one.node: one for one in sorted(found, key=lambda one: (-one.used, one.node))}


def busiest_of(ndbinfo: Ndbinfo, node: int) -> Thread | None:
    """Ask which thread of a node is the busiest."""
    for row in ndbinfo.rows(_WHICH, node):
        used, processor = number(row, "used"), number(row, "processor")
        return Thread(whole(row, "thr_no"), str(row["thread_name"]), used, processor)
    return None


def certificates(ndbinfo: Ndbinfo) -> list[Row]:
    """Ask for the certificates with which data nodes talk in TLS; from 8.3.0 on, and only where they do.

    Those that expire first come first.
    """
    return ndbinfo.rows(_SOONEST)


def clients(ndbinfo: Ndbinfo) -> dict[int, Client]:
    """Ask which SQL nodes, API nodes and management nodes are connected to the data nodes."""
    from stallwatch.probes.ndb_nodes.clients import Client

    # A node that has several addresses may have another one for each data node: always the same one is taken.
    rows = sorted(ndbinfo.rows(_CLIENTS), key=lambda row: str(row["service_URI"] or ""), reverse=True)
    return {
        whole(row, "node_id"): Client(
            str(row["process_name"] or ""), address_of(str(row["service_URI"] or ""))
        )
        for row in rows
    }


def versions(ndbinfo: Ndbinfo) -> dict[int, str]:
    """Ask which software the data nodes run."""
    rows = ndbinfo.rows(_VERSIONS)
    return {whole(row, "node_id"): str(row["node_version"]).rpartition("ndb-")[2] for row in rows}
