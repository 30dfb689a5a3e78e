"""What a source writes for its replicas, and what its replicas and itself wait for."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_rate, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

_OFTEN = 10.0  # per second
_SHARE = 10.0  # per cent of the transactions


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge transactions larger than their cache, those tried again, and those that nobody acknowledged."""
    name, share = "Binlog_cache_disk_use", facts.share("Binlog_cache_disk_use", "Binlog_cache_use")
    yield Limit(
        name, f"{say_rate(facts.rate(name))} transactions go through a file to the binary log ({name})",
        f"{share:.0f} % of all: {facts.say('binlog_cache_size', say_size)}",
        "raise binlog_cache_size, which each session takes",
        f"{_OFTEN:.0f}" if share >= _SHARE else "",
    )  # fmt: skip
    name = "Slave_retried_transactions"
    yield Limit(
        name, f"{say_rate(facts.rate(name))} transactions of the source are tried again ({name})",
        "", "they meet locks here: see who else writes on this replica", "1",
    )  # fmt: skip
    for name in ("Rpl_semi_sync_master_no_tx", "Rpl_semi_sync_source_no_tx"):
        yield Limit(
            name, f"{say_rate(facts.rate(name))} commits were acknowledged by no replica ({name})",
            "", "semi-synchronous replication has become asynchronous: are its replicas connected?", "0",
        )  # fmt: skip


SET = Subject(
    (
        "Binlog_bytes_written", "Binlog_cache_use", "Binlog_cache_disk_use", "Binlog_stmt_cache_disk_use",
        "Binlog_commits", "Binlog_group_commits", "Slaves_connected", "Slaves_running",
        "Slave_open_temp_tables", "Replica_open_temp_tables", "Slave_retried_transactions",
        "Rpl_semi_sync_master_no_tx", "Rpl_semi_sync_master_yes_tx", "Rpl_semi_sync_master_clients",
        "Rpl_semi_sync_source_no_tx", "Rpl_semi_sync_source_yes_tx", "Rpl_semi_sync_source_clients",
    ),
    limits,
    ("binlog_cache_size",),
)  # fmt: skip
