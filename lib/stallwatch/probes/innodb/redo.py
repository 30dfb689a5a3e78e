"""How full the redo log is: its age as a share of the age at which writers stall, whatever the version.

The age is a saw-tooth: 12, 99 and 16 per cent within two seconds (MySQL 9.7.4). Take several samples.
"""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.mysql.status import numbers
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NEARLY_FULL, FULL = 90.0, 98.0  # per cent of the stall point

# What redo() reads of the server's variables.
SETTINGS = (
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_thread_concurrency",
)

_PAGE = 16384  # bytes, by default
_IN_BACKGROUND, _PAGES = 10, 4  # threads of InnoDB's own; pages that each may write before it looks again
_FILE_HEADER = 2048
_ASYNC = 7 / 8  # of what InnoDB means to use at most, in all versions (log_max_modified_age_async)
_SYNC = 15 / 16  # of it, where writers flush for themselves from there on: MySQL 5.7, Percona Server 5.7


class Redo(NamedTuple):
    """The redo log at one moment, in bytes."""

    age: float  # written since the last checkpoint
    stall: float  # the age at which writers have to wait for a checkpoint
    async_point: float  # the age from which on pages are written for the log's sake, as fast as possible

    @property
    def fill(self) -> float:
        """Per cent of the way to the stall point."""
        return 100 * self.age / self.stall

    @property
    def is_flushed_for(self) -> bool:
        """Whether it is full enough for aggressive flushing."""
        return self.age >= self.async_point


def redo(counters: Mapping[str, float], settings: Mapping[str, str]) -> Redo | None:
    """Read the redo log's age from counters; None: this server does not tell it.

    ``settings`` has SETTINGS as far as this version has them. MySQL 5.7 to 8.0.29 shows the age if its metric
    is enabled (innodb_monitor_enable=log_lsn_checkpoint_age).
    """
    value = counters.get
    current, checkpoint = value("Innodb_redo_log_current_lsn"), value("Innodb_redo_log_checkpoint_lsn")
    if current is not None and checkpoint is not None:
        return _since_8_0_30(current - checkpoint, value("Innodb_redo_log_capacity_resized", 0), settings)
    age, most = value("Innodb_checkpoint_age"), value("Innodb_checkpoint_max_age")
    if age is not None and most is not None:  # MariaDB from 10.5 on, Percona Server 5.7
        # MariaDB has one file from 10.5 on, and lets writers wait there. Percona Server 5.7 with two files of
        # 16 MiB was measured to have its log_max_modified_age_sync at 15/16 of it.
        several = _number(settings, "innodb_log_files_in_group", 1) > 1
        return _redo(age, _SYNC * most if several else most, _ASYNC * most)
    if (age := value("log_lsn_checkpoint_age")) is not None:
        return before_8_0_30(age, settings)
    return None


def _redo(age: float, stall: float, async_point: float) -> Redo | None:
    return Redo(age, stall, min(stall, async_point)) if stall > 0 else None


def _of_threads(settings: Mapping[str, str]) -> float:
    """Give how many bytes are kept free for what threads write before they look again."""
    threads = _IN_BACKGROUND + _number(settings, "innodb_thread_concurrency", 0)  # 0: as many as there are
    return threads * _PAGES * _number(settings, "innodb_page_size", _PAGE)


def _since_8_0_30(age: float, capacity: float, settings: Mapping[str, str]) -> Redo | None:
    """Reckon when MySQL 8.0.30 and later let writers wait, from innodb_redo_log_capacity.

    Measured on 9.7.2 (log_free_space + log_lsn_checkpoint_age - log_concurrency_margin) with 8 MiB to 1 GiB,
    innodb_thread_concurrency 0 to 1000 and pages of 4 to 64 KiB: right to 0.1 per cent. By default it is 82 %
    of 32 MiB, where writers were seen to wait, and 84 % of much. What is kept free for threads is limited, so
    that it is 41 % of 100 MiB with 900 of them and with 1000. The async point (log_max_modified_age_async)
    has nothing to do with threads: 77 % of 32 MiB.
    """
    soft = 0.95 * 29.9 / 32 * capacity - 185_300
    margin = min(_of_threads(settings) + 4096 + 0.05 * soft, 0.55 * soft * 496 / 512)
    return _redo(age, soft - margin, _ASYNC * soft)  # of 8 MiB, writers wait before the async point


def before_8_0_30(age: float, settings: Mapping[str, str]) -> Redo | None:
    """Reckon with the rules of MySQL 5.7: writers flush for themselves at 15/16 of 90 % of 90 %.

    Exact on 5.7.42 with two files of 16 MiB: 24 813 735 bytes (log_max_modified_age_sync).
    """
    files = _number(settings, "innodb_log_files_in_group", 1)
    usable = 0.9 * files * (_number(settings, "innodb_log_file_size", 0) - _FILE_HEADER)
    extra = 8 * _number(settings, "innodb_page_size", _PAGE)
    limit = 0.9 * (usable - _of_threads(settings) - extra)
    return _redo(age, limit * _SYNC, limit * _ASYNC)


def _number(settings: Mapping[str, str], name: str, default: float) -> float:
    return numbers(settings).get(name, default)


def fullest(samples: Iterable[Redo]) -> Redo | None:
    """Give the fullest of several samples."""
    return max(samples, key=lambda one: one.fill, default=None)


def redo_log(redo: Redo, what: str = "", advice: str = "") -> Reading:
    """Give the redo log as a reading, in per cent of the point at which writers stall.

    ``what`` and ``advice`` say more than the words that fit to any server.
    """
    what = what or f"the redo log is {redo.fill:.0f} % full, as far as writers may fill it"
    why = f"{say_size(redo.age)} of {say_size(redo.stall)} are not yet checkpointed"
    advice = advice or "enlarge it (innodb_redo_log_capacity, innodb_log_file_size), or write less at once"
    return Reading("redo_log", round(redo.fill, 1), "%", what, why, advice)
