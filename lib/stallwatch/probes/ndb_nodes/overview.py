"""All data nodes side by side."""

from __future__ import annotations

from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import MysqlError
from stallwatch.table import Table
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_nodes.presence import Presence
    from stallwatch.probes.ndb_nodes.threads import Thread
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.table import Cell

_COLUMNS = ("node", "group", "state", "phase", "up", "generation", "version", "busiest thread", "use %")
# Before 7.5.7 there is no such table.
_VERSIONS = "SELECT DISTINCT node_id, node_version FROM ndbinfo.processes WHERE node_type = 'NDB'"


def table(presence: Presence, versions: dict[int, str], threads: Sequence[Thread]) -> Table:
    """Put them together; ``threads`` are the busiest first."""
    busiest: dict[int, Thread] = {}
    for thread in threads:
        busiest.setdefault(thread.node, thread)
    rows = (
        _row(presence, node, versions.get(node), busiest.get(node)) for node in sorted(presence.standings)
    )
    return Table(_COLUMNS, tuple(rows))


def versions(ndbinfo: Ndbinfo) -> dict[int, str]:
    """Ask which software the data nodes run."""
    try:
        rows = ndbinfo.rows(_VERSIONS)
    except MysqlError:
        return {}
    return {whole(row, "node_id"): str(row["node_version"]).rpartition("ndb-")[2] for row in rows}


def _row(presence: Presence, node: int, version: str | None, thread: Thread | None) -> tuple[Cell, ...]:
    standing, answering = presence.standings[node], presence.cluster.nodes.get(node)
    group = presence.groups.of(node)
    return (
        node,
        group.id if group else None,
        standing.kind.value,
        standing.phase,
        say_duration(answering.uptime) if answering else None,
        answering.config_generation if answering else None,
        version,
        f"{thread.role} {thread.number}" if thread else None,
        round(thread.used, 1) if thread else None,
    )
