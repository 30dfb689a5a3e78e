"""What is stored: waits in InnoDB, and what a source writes for its replicas."""

from __future__ import annotations

from stallwatch.probes.mysql_status.model import Facts, Limit, StatusSet
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain, say_count, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

# InnoDB: waits that show a limit, and the traffic behind them.

_OFTEN_WAITED = "1"  # per second


def _innodb(facts: Facts) -> Iterator[Limit]:
    """Judge what had to wait; a miss ratio is evidence, and no verdict.

    "Optimizing your MySQL Tuning Methodology": a smaller buffer pool was faster there, with more misses.
    """
    free = f"{plain(facts.now('Innodb_buffer_pool_pages_free'))} pages are free"
    yield facts.per_second(
        "Innodb_buffer_pool_wait_free", "wait/s for a free page", free,
        "check how busy the disk is (pages are not written fast enough), then innodb_io_capacity",
        _OFTEN_WAITED,
    )  # fmt: skip
    yield facts.per_second(
        "Innodb_log_waits", "wait/s for the log buffer",
        facts.say("innodb_log_buffer_size", say_size), "raise innodb_log_buffer_size", _OFTEN_WAITED,
    )  # fmt: skip
    missed = facts.share("Innodb_buffer_pool_reads", "Innodb_buffer_pool_read_requests")
    yield facts.per_second(
        "Innodb_buffer_pool_reads", "page/s read from disk",
        f"{plain(float(f'{missed:.2g}'))} % of what was wanted, {free}",
        "test whether a larger innodb_buffer_pool_size makes queries faster: it may not",
    )  # fmt: skip
    name = "Innodb_row_lock_time"
    waiting = facts.rate(name) / 1000  # it counts milliseconds
    yield Limit(
        name, f"{say_count(facts.rate(name))} ms of waiting for row locks in each second ({name})",
        f"{waiting:.2g} sessions wait at any time", "see who holds them (sys.innodb_lock_waits, INNODB_TRX)",
    )  # fmt: skip


INNODB = StatusSet(
    (
        "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_buffer_pool_wait_free",
        "Innodb_buffer_pool_pages_free", "Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_flushed",
        "Innodb_data_read", "Innodb_data_written", "Innodb_data_fsyncs", "Innodb_data_pending_reads",
        "Innodb_data_pending_writes", "Innodb_data_pending_fsyncs", "Innodb_log_waits",
        "Innodb_os_log_written", "Innodb_row_lock_current_waits", "Innodb_row_lock_time",
        "Innodb_row_lock_waits", "Innodb_deadlocks", "Innodb_history_list_length",
    ),
    _innodb,
    ("innodb_log_buffer_size",),
)  # fmt: skip

# What a source writes for its replicas, and what its replicas and itself wait for.

_OFTEN = "10"  # per second
_SHARE = 10.0  # per cent of the transactions


def _replication(facts: Facts) -> Iterator[Limit]:
    """Judge transactions larger than their cache, those tried again, and those that nobody acknowledged."""
    share = facts.share("Binlog_cache_disk_use", "Binlog_cache_use")
    yield facts.per_second(
        "Binlog_cache_disk_use", "transaction/s written to the binary log through a file",
        f"{share:.0f} % of all: {facts.say('binlog_cache_size', say_size)}",
        "raise binlog_cache_size, which each session takes",
        _OFTEN if share >= _SHARE else "",
    )  # fmt: skip
    yield facts.per_second(
        "Slave_retried_transactions", "transaction/s of the source retried", "",
        "they meet locks here: see who else writes on this replica", "1",
    )  # fmt: skip
    advice = "check whether its replicas are connected: semi-synchronous replication has become asynchronous"
    for name in ("Rpl_semi_sync_master_no_tx", "Rpl_semi_sync_source_no_tx"):
        yield facts.per_second(name, "commit/s acknowledged by no replica", "", advice, "0")


REPLICATION = StatusSet(
    (
        "Binlog_bytes_written", "Binlog_cache_use", "Binlog_cache_disk_use", "Binlog_stmt_cache_disk_use",
        "Binlog_commits", "Binlog_group_commits", "Slaves_connected", "Slaves_running",
        "Slave_open_temp_tables", "Replica_open_temp_tables", "Slave_retried_transactions",
        "Rpl_semi_sync_master_no_tx", "Rpl_semi_sync_master_yes_tx", "Rpl_semi_sync_master_clients",
        "Rpl_semi_sync_source_no_tx", "Rpl_semi_sync_source_yes_tx", "Rpl_semi_sync_source_clients",
    ),
    _replication,
    ("binlog_cache_size",),
)  # fmt: skip
