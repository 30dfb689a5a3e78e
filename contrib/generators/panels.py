"""What the dashboards show: rows of panels, each of labels in one unit, as "PLUGIN LABEL LABEL ..."."""

from __future__ import annotations

from typing import NamedTuple

from generators.plugins import declared


class Panel(NamedTuple):
    """One panel: its title, and what it shows of which plugin."""

    title: str
    series: tuple[str, ...]


def _panel(title: str, *series: str) -> Panel:
    return Panel(title, series)


def _declared(plugin: str) -> list[Panel]:
    panels = declared(plugin).panels
    return [_panel(one.title, " ".join((plugin, *one.labels)), *one.besides) for one in panels]


ROWS = {
    "Replication": tuple(_declared("replication_lag")),
    "NDB Cluster": (
        _declared("ndb_nodes")[0],
        *_declared("ndb_memory"),
        *_declared("ndb_redo_buffer"),
        *_declared("ndb_page_buffer"),
        *_declared("ndb_transactions"),
        *_declared("ndb_nodes")[1:],
        *_declared("ndb_log"),
    ),
    "MySQL, MariaDB, InnoDB": (
        *_declared("mysql_query"),
        *_declared("mysql_status"),
        *_declared("innodb_redo_log"),
        *_declared("innodb_buffer_pool"),
        *_declared("mysql_backup"),
    ),
    "JMX": (
        *_declared("jmx_thread_pools"),
        *_declared("jmx"),
    ),
    "Host": (
        *_declared("host"),
        *_declared("bonding"),
        *_declared("mysqld_process"),
    ),
}
