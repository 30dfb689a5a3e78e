"""All data nodes side by side."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.probes.ndb_nodes.presence import Presence
    from stallwatch.probes.ndb_nodes.threads import Busiest
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.table import Cell

_COLUMNS = ("node", "group", "state", "phase", "up for", "generation", "version", "busiest thread %")
# Before 7.5.7 there is no such table.
_VERSIONS = "SELECT DISTINCT node_id, node_version FROM ndbinfo.processes WHERE node_type = 'NDB'"


def reading(presence: Presence, versions: Mapping[int, str], busiest: Mapping[int, Busiest]) -> Reading:
    """Put them together."""
    rows = (_row(presence, node, versions, busiest) for node in sorted(presence.statuses))
    table, count = Table(_COLUMNS, tuple(rows)), presence.total
    return Reading("data_nodes", count, "", f"{count} data nodes are configured", label="", table=table)


def versions(ndbinfo: Ndbinfo) -> dict[int, str]:
    """Ask which software the data nodes run."""
    rows = ndbinfo.rows(_VERSIONS)
    return {whole(row, "node_id"): str(row["node_version"]).rpartition("ndb-")[2] for row in rows}


def _row(
    presence: Presence, node: int, versions: Mapping[int, str], busiest: Mapping[int, Busiest]
) -> tuple[Cell, ...]:
    about, answering = presence.statuses[node], presence.cluster.nodes.get(node)
    group = presence.groups.of(node)
    return (
        node,
        group.name if group else None,
        about.status.value,
        about.phase,
        say_duration(answering.uptime) if answering else None,
        answering.config_generation if answering else None,
        versions.get(node),
        round(busiest[node].used, 1) if node in busiest else None,
    )
