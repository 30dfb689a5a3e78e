"""InnoDB: waits that show a limit, and the traffic behind them."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain, say_count, say_rate, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

_OFTEN = "1"  # per second


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge what had to wait; a miss ratio is evidence, and no verdict.

    "Optimizing your MySQL Tuning Methodology": a smaller buffer pool was faster there, with more misses.
    """
    name = "Innodb_buffer_pool_wait_free"
    free = f"{plain(facts.now('Innodb_buffer_pool_pages_free'))} pages are free"
    yield Limit(
        name, f"{say_rate(facts.rate(name))} waits for a free page ({name})",
        free,
        "pages are not written as fast as others are wanted: how busy is the disk? see innodb_io_capacity",
        _OFTEN,
    )  # fmt: skip
    name = "Innodb_log_waits"
    yield Limit(
        name, f"{say_rate(facts.rate(name))} waits for the log buffer ({name})",
        facts.say("innodb_log_buffer_size", say_size), "raise innodb_log_buffer_size", _OFTEN,
    )  # fmt: skip
    name = "Innodb_buffer_pool_reads"
    missed = facts.share(name, "Innodb_buffer_pool_read_requests")
    yield Limit(
        name, f"{say_rate(facts.rate(name))} pages read from disk ({name})",
        f"{plain(float(f'{missed:.2g}'))} % of what was wanted, {free}",
        "a larger innodb_buffer_pool_size is a hypothesis to test, not a remedy: do queries get faster?",
    )  # fmt: skip
    name = "Innodb_row_lock_time"
    waiting = facts.rate(name) / 1000  # it counts milliseconds
    yield Limit(
        name, f"{say_count(facts.rate(name))} ms of waiting for row locks in each second ({name})",
        f"{waiting:.2g} sessions wait at any time", "see who holds them (sys.innodb_lock_waits, INNODB_TRX)",
    )  # fmt: skip


SET = Subject(
    (
        "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_buffer_pool_wait_free",
        "Innodb_buffer_pool_pages_free", "Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_flushed",
        "Innodb_data_read", "Innodb_data_written", "Innodb_data_fsyncs", "Innodb_data_pending_reads",
        "Innodb_data_pending_writes", "Innodb_data_pending_fsyncs", "Innodb_log_waits",
        "Innodb_os_log_written", "Innodb_row_lock_current_waits", "Innodb_row_lock_time",
        "Innodb_row_lock_waits", "Innodb_deadlocks", "Innodb_history_list_length",
    ),
    limits,
    ("innodb_log_buffer_size",),
)  # fmt: skip
