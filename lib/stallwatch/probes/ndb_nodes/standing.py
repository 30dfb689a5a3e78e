"""How each data node stands: up, starting, shutting down in order, or gone."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from stallwatch.probes.ndbinfo.cluster import STARTED
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import MysqlError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.ndb_nodes.management import Management
    from stallwatch.probes.ndb_nodes.since import Since
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster, Node

    Restarts = dict[int, tuple[int, str]]  # by node: how far its restart is, as a number and in words

SINGLE_USER = "SINGLEUSER"
# Seconds. Nobody has contact to a node that starts while it reads its configuration and takes its memory, for
# 2 to 8 s with 80 MB of data on a busy machine (9.7.2). ndbinfo.restart_info then says "Allocated node id",
# and goes on to say so if the node dies: it was still there after minutes.
_UNSEEN = 300.0
_BEGINNING = ("NOT_STARTED", "UNKNOWN", "RESTARTING")  # the first is also that of a start with --nostart
_ALLOCATED, _COMPLETED = 4, 19  # ndbinfo.restart_info: its node id is allocated; the restart is over


class Kind(Enum):
    """What becomes of a node."""

    UP = "up"
    STARTING = "starting"
    STOPPING = "stopping"
    MISSING = "missing"


class Standing(NamedTuple):
    """How one node stands."""

    kind: Kind
    phase: int | None = None  # the start phase that it has completed last
    doing: str = ""  # how far its restart is, in the words of ndbinfo.restart_info


def standings(
    cluster: Cluster, management: Management, restarts: Restarts, since: Since
) -> dict[int, Standing]:
    """Tell it of every expected node. ``restarts`` is what ``restarts_under_way`` gave."""
    told = {node.id: _answering(node, restarts) for node in cluster.nodes.values()}
    for node in cluster.missing:
        told[node] = _silent(node, management, restarts, since)
    return told


def restarts_under_way(ndbinfo: Ndbinfo) -> Restarts:
    """Ask how far the restarts are that the cluster's master takes part in; nothing before 7.4."""
    try:
        rows = ndbinfo.rows("SELECT * FROM ndbinfo.restart_info")
    except MysqlError:
        return {}
    said = {
        whole(row, "node_id"): (whole(row, "node_restart_status_int"), str(row["node_restart_status"]))
        for row in rows
    }
    return {node: (code, words) for node, (code, words) in said.items() if _ALLOCATED <= code < _COMPLETED}


def _answering(node: Node, restarts: Restarts) -> Standing:
    if node.status in (STARTED, SINGLE_USER):
        return Standing(Kind.UP)
    if node.status.startswith("STOPPING"):
        return Standing(Kind.STOPPING)
    _, doing = restarts.get(node.id, (0, ""))
    return Standing(Kind.STARTING, node.start_phase, doing)


def _silent(node: int, management: Management, restarts: Restarts, since: Since) -> Standing:
    """Tell of a node that does not answer the SQL node: while it starts, others see it first."""
    status = management.of(node)
    code, doing = restarts.get(node, (0, ""))
    if status == "SHUTTING_DOWN":
        return Standing(Kind.STOPPING)
    if status == "STARTING":
        return Standing(Kind.STARTING, management.nodes[node].phase or None, doing)
    if code > _ALLOCATED and status in ("", "STARTED"):  # it is not reachable, or ahead of us
        return Standing(Kind.STARTING, None, doing)
    begins = code or status in _BEGINNING
    if begins and since.seconds(f"node {node} begins") < _UNSEEN:
        return Standing(Kind.STARTING, None, doing)
    return Standing(Kind.MISSING)
