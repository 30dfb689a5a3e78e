"""How full the redo log is: its age as a share of the age at which writers stall, whatever the version.

The age is a saw-tooth: 12, 99 and 16 per cent within two seconds (MySQL 9.7.4). Take several samples.
"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.reading import Reading
from stallwatch.units import say_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NEARLY_FULL, FULL = 90.0, 98.0  # per cent of the stall point

_PAGE = 16384
_OF_THREADS = 10 * 4 * _PAGE  # kept free for what threads write before they look again
_FILE_HEADER = 2048
_ASYNC = 7 / 8  # of what InnoDB means to use at most, in all versions (log_max_modified_age_async)


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


def redo(numbers: Mapping[str, float], settings: Mapping[str, str]) -> Redo | None:
    """Read the redo log's age from counters; None: this server does not tell it.

    MySQL 5.7 to 8.0.29 tells it if its metric is enabled (innodb_monitor_enable=log_lsn_checkpoint_age).
    """
    if "Innodb_redo_log_current_lsn" in numbers:
        age = numbers["Innodb_redo_log_current_lsn"] - numbers.get("Innodb_redo_log_checkpoint_lsn", 0)
        return _since_8_0_30(age, numbers.get("Innodb_redo_log_capacity_resized", 0))
    if "Innodb_checkpoint_max_age" in numbers:  # MariaDB from 10.5 on, Percona Server 5.7
        stall = numbers["Innodb_checkpoint_max_age"]
        return _redo(numbers.get("Innodb_checkpoint_age", 0), stall, _ASYNC * stall)
    if "log_lsn_checkpoint_age" in numbers:
        return before_8_0_30(numbers["log_lsn_checkpoint_age"], settings)
    return None


def _redo(age: float, stall: float, async_point: float) -> Redo | None:
    return Redo(age, stall, async_point) if stall > 0 else None


def _since_8_0_30(age: float, capacity: float) -> Redo | None:
    """Reckon when MySQL 8.0.30 and later let writers wait, from innodb_redo_log_capacity.

    Measured on 9.7.2 with 8 MiB to 1 GiB (log_free_space + log_lsn_checkpoint_age - log_concurrency_margin):
    right to 0.1 per cent. It is 82 % of 32 MiB, where writers were seen to wait, and 84 % of much; the
    async point (log_max_modified_age_async) is 77 % of 32 MiB.
    """
    soft = 0.95 * 29.9 / 32 * capacity - 185_300
    stall = 0.95 * soft - _OF_THREADS - 4096
    return _redo(age, stall, min(stall, _ASYNC * soft))  # of 8 MiB, writers wait before the async point


def before_8_0_30(age: float, settings: Mapping[str, str]) -> Redo | None:
    """Reckon with the rules of MySQL 5.7: writers flush for themselves at 15/16 of 90 % of 90 %.

    Exact on 5.7.42 with two files of 16 MiB: 24 813 735 bytes (log_max_modified_age_sync).
    """
    files = _number(settings, "innodb_log_files_in_group") or 1
    usable = 0.9 * files * (_number(settings, "innodb_log_file_size") - _FILE_HEADER)
    limit = 0.9 * (usable - _OF_THREADS - 8 * _PAGE)
    return _redo(age, limit * 15 / 16, limit * _ASYNC)


def _number(settings: Mapping[str, str], name: str) -> float:
    try:
        return float(settings.get(name, 0))
    except ValueError:
        return 0.0


def fullest(samples: Iterable[Redo]) -> Redo | None:
    """Give the fullest of several samples."""
    return max(samples, key=lambda one: one.fill, default=None)


def redo_log(redo: Redo) -> Reading:
    """Give the redo log as a reading, in per cent of the point at which writers stall."""
    what = f"the redo log is {redo.fill:.0f} % full, as far as writers may fill it"
    why = f"{say_size(redo.age)} of {say_size(redo.stall)} are not yet checkpointed"
    advice = "enlarge it (innodb_redo_log_capacity, innodb_log_file_size), or write less at once"
    return Reading("redo_log", round(redo.fill, 1), "%", what, why, advice)
