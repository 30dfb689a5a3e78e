"""Which of InnoDB's metrics counts waits for the redo log, and what is judged of it.

Not Innodb_log_waits: that is of the log buffer, and stays 0 while all writers wait for the redo log. None of
the metrics is enabled by default.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.sources.mysql import Flavour

REDO_LOG, REDO_TIME, STANDING = "redo_log", "redo_time", "standing"  # quantities that are judged
# What is counted between two looks. What is checkpointed moves by as much as is written, in the long run.
WRITTEN, CHECKPOINTED, WAITS, BUFFER_WAITS = "written", "checkpointed", "waits", "buffer_waits"

# Per cent of the stall point at which the age stands while writers wait: 99.2 to 99.8 on MySQL 9.7.2 with
# 8 and 32 MiB, 99.75 on 9.7.4, 100 on MariaDB 10.11.19.
STANDS = 99.0


_COUNTS_WAITS = (8, 0, 0)  # MySQL


class Counter(NamedTuple):
    """A metric that counts waits, if all that it ``needs`` are enabled."""

    name: str
    needs: tuple[str, ...]
    enable: str  # for SET GLOBAL innodb_monitor_enable
    said: str  # with {} for how often

    def read(self, metrics: Mapping[str, float]) -> float | None:
        """Give what it has counted, from those metrics that are enabled; None: it does not count."""
        return metrics[self.name] if all(name in metrics for name in self.needs) else None


# Measured on 9.7.2 with 8 and 32 MiB: it grows whenever the log is at 98 % of the stall point and above. It
# does not grow by ALTER TABLE, OPTIMIZE, FLUSH TABLES, a dump of the buffer pool or a new size of the log.
_MYSQL = Counter(
    "log_on_file_space_waits",
    ("log_on_file_space_waits",),
    "log_on_file_space_waits",
    "writers waited {} times for space in the redo log",
)
# By its source: user threads count each 10 ms in which they wait for pages to be flushed.
_MYSQL_5_7 = Counter(
    "buffer_flush_sync_waits",
    ("buffer_flush_sync_waits",),
    "buffer_flush_sync_waits",
    "writers waited {} times for space in the redo log",
)
# Measured on 10.11.19 with 16 and 48 MiB: it grows while the age is at Innodb_checkpoint_max_age and never
# else, nor by what is named above, nor by mariabackup; by SET GLOBAL innodb_log_checkpoint_now, though (see
# Snapshot.cannot_have_waited). It counts only where the second one is enabled, too. buffer_flush_sync_waits
# stays 0.
_MARIADB = Counter(
    "buffer_flush_sync",
    ("buffer_flush_sync", "buffer_flush_sync_total_pages"),
    "buffer_flush_sync%",
    "{} sync flushes made writers wait for space in the redo log",
)


def counter(flavour: Flavour) -> Counter:
    """Tell which one a server has."""
    if flavour.mariadb:
        return _MARIADB
    return _MYSQL if flavour.version >= _COUNTS_WAITS else _MYSQL_5_7
