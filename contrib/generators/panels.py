"""What the dashboards show: rows of panels, each of labels in one unit, as "PLUGIN LABEL LABEL ..."."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from generators.plugins import declared

if TYPE_CHECKING:
    from collections.abc import Iterator


class Panel(NamedTuple):
    """One panel: its title, and what it shows of which plugin."""

    title: str
    series: tuple[str, ...]


def _panel(title: str, *series: str) -> Panel:
    return Panel(title, series)


def _declared(plugin: str) -> Iterator[Panel]:
    found = declared(plugin)
    for panel in found.panels if found else ():
        yield _panel(panel.title, " ".join((plugin, *panel.labels)))


ROWS = {
    "Replication": (
        _panel("Lag", "replication_lag lag {channel}_lag"),
        _panel(
            "Where the lag is",
            "replication_lag transport_lag upstream_lag apply_lag "
            "{channel}_transport_lag {channel}_upstream_lag {channel}_apply_lag",
        ),
        _panel(
            "Transactions that wait, are missing, or are errant",
            "replication_lag backlog missing errant {channel}_backlog {channel}_missing {channel}_errant",
        ),
        _panel("Since the source was heard of", "replication_lag contact_age {channel}_contact_age"),
        _panel("Redo log and disk of the replica", "replication_lag redo_log disk_busy"),
        _panel("History list of the replica", "replication_lag history_list"),
    ),
    "NDB Cluster": (
        _panel(
            "Data nodes",
            "ndb_nodes nodes_started nodes_missing nodes_starting groups_without_redundancy groups_lost",
        ),
        _panel("Memory", "ndb_memory data_memory index_memory long_message_buffer tablespace undo_space"),
        _panel("Memory of each data node", "ndb_memory node{node}_data_memory"),
        _panel("Redo buffers", "ndb_redo_buffer redo_buffer redo_buffer_peak node{node}_redo_buffer"),
        _panel("Redo log, undo log, undo buffer", "ndb_redo_buffer redo_space undo_space undo_buffer"),
        *_declared("ndb_page_buffer"),
        _panel("Transactions and locks: the longest", "ndb_transactions inactive lock_held lock_wait"),
        _panel("Open transactions", "ndb_transactions transactions operations largest"),
        _panel("The busiest thread", "ndb_nodes thread_use"),
        _panel("Links and page faults", "ndb_nodes overloads reconnects major_faults"),
        _panel(
            "What data nodes complain of: the longest",
            "ndb_log stuck overslept redo_full redo_lag gcp_commit_lag gcp_save_lag",
        ),
        _panel(
            "What data nodes complain of: how often", "ndb_log stuck_episodes missed_heartbeats shutdowns"
        ),
    ),
    "MySQL, MariaDB, InnoDB": (
        _panel("Time of a query", "mysql_query p50 p95 max connection"),
        _panel("Queries per second", "mysql_status Queries"),
        _panel("Clients", "mysql_status Threads_connected Threads_running"),
        _panel("Redo log", "innodb_redo_log redo_log"),
        _panel("Writers and readers that wait", "innodb_redo_log waits", "innodb_buffer_pool wait_free"),
        _panel("Written to the redo log", "innodb_redo_log redo_written_per_s"),
        _panel("Not yet checkpointed", "innodb_redo_log checkpoint_age"),
        _panel("Buffer pool: miss ratio and dirty pages", "innodb_buffer_pool miss_ratio dirty"),
        _panel(
            "Buffer pool: pages",
            "innodb_buffer_pool read_requests_per_s reads_per_s pages_flushed_per_s",
        ),
        _panel("Backups: age", "mysql_backup age"),
        _panel("Backups: size", "mysql_backup size"),
        _panel("Backups: what is wrong", "mysql_backup missing_tables damaged_files"),
    ),
    "JMX": (
        _panel("Thread pools", "jmx_thread_pools active pending blocked blocked_new"),
        _panel("The busiest pool, the least idle one", "jmx_thread_pools busy idle"),
        _panel("Threads", "jmx_thread_pools threads deadlocked"),
        _panel("Tasks in the queue of each pool", "jmx_thread_pools {pool}.pending"),
        _panel("Tasks blocked of each pool", "jmx_thread_pools {pool}.blocked {pool}.blocked_new"),
        _panel("Tasks completed by each pool", "jmx_thread_pools {pool}.completed_per_s"),
        _panel("What check_jmx is asked for", "jmx {quantity}"),
    ),
    "Host": (
        _panel("Processors", "host cpu user system iowait steal busiest_processor"),
        _panel("Load per processor", "host load"),
        _panel("Memory available", "host memory_available"),
        _panel("Disks: busy", "host disk_busy {disk}_busy"),
        _panel("Disks: time of a request", "host disk_await {disk}_await"),
        _panel("Disks: read and written", "host {disk}_read {disk}_written"),
        _panel("Swapped", "host swap_in swap_out"),
        _panel("Network", "host network_errors network_drops"),
        _panel("Bonds", "bonding {bond}_links_down {bond}_link_failures"),
        _panel("mysqld: processors", "mysqld_process cpu user system busiest_thread"),
        _panel("mysqld: memory", "mysqld_process resident_memory swapped_memory"),
        _panel("mysqld: descriptors", "mysqld_process descriptors"),
    ),
}
