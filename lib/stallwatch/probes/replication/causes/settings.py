"""How the server is set up, as far as it matters to replication."""

from __future__ import annotations

from stallwatch.probes.mysql.status import variables
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.probes.mysql.asking import Asking

_NAMES = (
    "datadir",
    "innodb_auto_lru_dump",  # Percona Server 5.1
    "innodb_buffer_pool_restore_at_startup",  # its name in Percona Server 5.5
    "innodb_flush_log_at_trx_commit",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_thread_concurrency",
    "performance_schema",
    "pid_file",
    "port",
    "read_only",
    "relay_log_space_limit",
    "replica_parallel_workers",  # MySQL 8.0.26 and later
    "slave_parallel_threads",  # MariaDB
    "slave_parallel_workers",
    "socket",
    "sync_binlog",
)

# In this order: MariaDB has the third one, too, and it means nothing there.
_WORKERS = ("replica_parallel_workers", "slave_parallel_threads", "slave_parallel_workers")


def settings(asking: Asking) -> dict[str, str]:
    """Ask for the variables that this version has."""
    return variables(asking, _NAMES)


def workers(known: Mapping[str, str]) -> tuple[str, int] | None:
    """Tell which variable says how many appliers work side by side, and how many; None: not known."""
    for name in _WORKERS:
        if known.get(name, "").isdecimal():
            return name, int(known[name])
    return None
