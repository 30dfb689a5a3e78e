"""What the dashboards show: rows of panels, each of labels in one unit, as "PLUGIN LABEL LABEL ..."."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.declared import every

# The row of a plugin that declares none, by what it asks.
_ROWS = {
    "ndb": "NDB Cluster",
    "log": "NDB Cluster",
    "mysql": "MySQL, MariaDB, InnoDB",
    "jmx": "JMX",
    "here": "Host",
}


class Panel(NamedTuple):
    """One panel: its title, and what it shows of which plugin."""

    title: str
    series: tuple[str, ...]


def rows() -> dict[str, list[Panel]]:
    """Return the panels that plugins declare, by row."""
    found: dict[str, list[Panel]] = {}
    for plugin, declared in every().items():
        row = found.setdefault(declared.row or _ROWS[declared.healthy.source], [])
        for panel in declared.panels:
            row.append(Panel(panel.title, (" ".join((plugin, *panel.labels)), *panel.besides)))
    return found
