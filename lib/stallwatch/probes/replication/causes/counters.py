"""Numbers that the server counts, and how they grew within a second."""

from __future__ import annotations

from stallwatch.probes.mysql import status
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stallwatch.probes.mysql.asking import Asking

_STATUS = (
    "Uptime",
    "Threads_running",
    "Opened_tables",
    "Handler_read_rnd_next",
    "Handler_update",
    "Handler_delete",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_dump_status",
    "Innodb_buffer_pool_load_status",
    "Innodb_history_list_length",
    "Innodb_data_pending_reads",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
    "Innodb_lsn_current",
    "Innodb_os_log_written",
    "Innodb_redo_log_current_lsn",
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_capacity_resized",
)
_METRICS = (
    "log_on_file_space_waits",
    "buffer_flush_sync_total_pages",
    "trx_rseg_history_len",
    "log_lsn_checkpoint_age",
)


class Counters(NamedTuple):
    """What the server told at one moment: numbers and texts by their names, metrics only if enabled."""

    at: float  # seconds, by a clock that never jumps
    numbers: Mapping[str, float]
    texts: Mapping[str, str]


def counters(asking: Asking, at: float) -> Counters:
    """Ask for status variables, and for InnoDB's metrics where PROCESS lets us."""
    values = status.global_status(asking, _STATUS) | status.metrics(asking, _METRICS)
    return Counters(at, status.numbers(values), {name: value for name, value in values.items() if value})


def grown(samples: Sequence[Counters], *names: str) -> float | None:
    """Tell how much these have grown together from the first sample to the last; None: not known."""
    if len(samples) < 2:  # noqa: PLR2004
        return None
    first, last = samples[0].numbers, samples[-1].numbers
    known = [name for name in names if name in first and name in last]
    return sum(last[name] - first[name] for name in known) if known else None


def rate(samples: Sequence[Counters], *names: str) -> float | None:
    """Tell how much they grow per second; None: not known."""
    growth = grown(samples, *names)
    if growth is None or samples[-1].at <= samples[0].at:
        return None
    return growth / (samples[-1].at - samples[0].at)
