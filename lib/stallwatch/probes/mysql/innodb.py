"""What InnoDB shows of itself: how full its redo log is, its status, dumps and loads of its buffer pool.

The redo log's age is shown as share of the age at which writers stall, whatever the version. It is a
saw-tooth: 12, 99 and 16 per cent within two seconds (MySQL 9.7.4). Take several samples.

SHOW ENGINE INNODB STATUS is asked on its own connection, last, and never twice at a time. In "Mystery Solved:
Replication lag in InnoDB" it hung for 2 to 3 minutes whenever replication did. Measured: 0 to 277 ms, even
while writers wait for the redo log (MySQL 9.7.4).

Dumps and loads are many reads, and in old Percona Servers locks: ``innodb_auto_lru_dump`` of 5.1
(innodb_buffer_pool_restore_at_startup in 5.5) cost replication 5 to 10 per cent at best, and hours behind a
backup (the same article).
"""

from __future__ import annotations

import re
import time

from stallwatch.findings import ProbeError, Reading
from stallwatch.probes.mysql.asking import PROCESS, Asking, Statement, text
from stallwatch.probes.mysql.processes import processes
from stallwatch.probes.mysql.status import is_on, numbers
from stallwatch.sources.mysql import MysqlError, NoAnswerError, NoTimeError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.probes.mysql.processes import Process
    from stallwatch.sources.mysql.server import Server

NEARLY_FULL, FULL = 90.0, 98.0  # per cent of the stall point

# What redo() reads of the server's counters and variables, beside a metric of MySQL before 8.0.30.
COUNTERS = (
    "Innodb_redo_log_current_lsn",
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_capacity_resized",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
)
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

STATUS = Statement("/* stallwatch */ SHOW ENGINE INNODB STATUS", PROCESS)
ADVICE = "InnoDB's own locks are contended: look at dumps of the buffer pool, and at large DROP TABLEs"

_LEAST = 1.5  # seconds: with less time, a timeout proves nothing
_ALIVE = 0.5  # seconds within which a server that answers at all answers _NOTHING
_NOTHING = "SELECT 1"  # it needs nothing of InnoDB
_HANGS = 10.0  # seconds, of anybody's
_SHOWS = r"(?i)(/\*.*?\*/ *)?SHOW\s+ENGINE\s+INNODB\s+STATUS"
_LSN = r"(?ms)^Log sequence number\s+(\d{1,20})\s*$.*?^Last checkpoint at\s+(\d{1,20})\s*$"

_UNDER_WAY, _OVER = ("Dumping", "Loading", "Loaded"), ("not started", "completed", "aborted")
_LOADED = r"(\d{1,20})/(\d{1,20}) pages"
_DUMPING = r"(\d{1,20})/(\d{1,20}), page (\d{1,20})/(\d{1,20})"  # the first is of the pool's instances
_OLD_DUMPS = ("innodb_auto_lru_dump", "innodb_buffer_pool_restore_at_startup")


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
    """Read the redo log's age from counters; None: this server lacks them.

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
    """Get how many bytes are kept free for what threads write before they look again."""
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
    """Find the fullest of several samples."""
    return max(samples, key=lambda one: one.fill, default=None)


def redo_log(redo: Redo, what: str = "", advice: str = "") -> Reading:
    """Get the redo log as a reading, in per cent of the point at which writers stall.

    ``what`` and ``advice`` replace the words that fit any server.
    """
    what = what or f"the redo log is {redo.fill:.0f} % full, as far as writers may fill it"
    why = f"{say_size(redo.age)} of {say_size(redo.stall)} are not yet checkpointed"
    advice = advice or "enlarge it (innodb_redo_log_capacity, innodb_log_file_size), or write less at once"
    return Reading("redo_log", round(redo.fill, 1), "%", what, why, advice)


def hanging(listed: Iterable[Process]) -> Process | None:
    """Find one, ours or not, that runs far too long."""
    found = (one for one in listed if one.seconds >= _HANGS and re.match(_SHOWS, one.info))
    return max(found, key=lambda one: one.seconds, default=None)


class Answer(NamedTuple):
    """How long it took, as far as that is known, and its text."""

    reading: Reading | None = None
    text: str = ""
    why: ProbeError | None = None  # neither is known: a DeniedError if it needs PROCESS

    @property
    def excuse(self) -> str:
        """Why there is no text."""
        return self.why.what if self.why else self.reading.what if self.reading else ""


def ask_status(
    server: Server, budget: float, idle: Server | None = None, listed: Sequence[Process] | None = None
) -> Answer:
    """Ask for it on this connection, which may be lost by that; limit: ``budget`` seconds.

    While an earlier one hangs it is not asked again: that is the finding. So is a timeout, unless the server
    does not answer on ``idle`` either, another connection to it: then the whole server hangs, which proves
    nothing about InnoDB. The process list is asked for that first, if it is not ``listed``.
    """
    if budget < _LEAST:
        server.deadline.must_have_had_time()
        what = f"no time was left to ask {server.where} SHOW ENGINE INNODB STATUS, {server.deadline.short()}"
        return Answer(why=ProbeError(what, "give it a longer --timeout"))
    begun = time.monotonic()
    asking = Asking(server, lambda _: None)
    earlier = _earlier(processes(asking) if listed is None else listed)
    if asking.failed:
        return Answer(why=asking.failed)
    if earlier:
        return Answer(_reading(earlier.seconds, *_said(earlier)))
    left = budget - (time.monotonic() - begun) - (_ALIVE if idle else 0)
    return _asked(server, max(_LEAST, left), idle)


def _asked(server: Server, budget: float, idle: Server | None) -> Answer:
    clock = server.deadline.clock
    begun = clock()
    try:
        rows = server.rows(STATUS.sql, within=budget)
    except NoAnswerError as late:
        seconds = clock() - begun
        try:
            if idle:
                idle.rows(_NOTHING, within=_ALIVE)
        except NoTimeError:  # what is known is that this one was not answered
            return Answer(why=late)
        except MysqlError as error:
            return Answer(why=error)
        longer = f"SHOW ENGINE INNODB STATUS takes longer than {say_duration(seconds)}"
        return Answer(_reading(seconds, longer))
    except MysqlError as error:
        return Answer(why=error)
    seconds = clock() - begun
    reading = _reading(seconds, f"SHOW ENGINE INNODB STATUS takes {say_duration(seconds)}")
    return Answer(reading, "".join(text(row, "Status") for row in rows))


def _earlier(listed: Sequence[Process]) -> Process | None:
    """Find one that hangs: of ours, any that takes longer than one that another check asks just now."""
    ours = (one for one in listed if _is_ours(one) and one.seconds >= _LEAST)
    return max(ours, key=lambda one: one.seconds, default=None) or hanging(listed)


def _is_ours(one: Process) -> bool:
    return one.info.startswith(STATUS.sql)


def _said(one: Process) -> tuple[str, str]:
    whose = "ours" if _is_ours(one) else f"the user {one.user}"
    hangs = f"an earlier SHOW ENGINE INNODB STATUS of {whose} hangs for {say_duration(one.seconds)}"
    return hangs, f"connection {one.id}"


def _reading(seconds: float, what: str, why: str = "") -> Reading:
    return Reading("innodb_status", round(seconds, 6), "s", what, why, ADVICE)


def redo_in(status: str, settings: Mapping[str, str]) -> Redo | None:
    """Read the redo log's age from the text, of which "Log capacity used" is not one (8.0.30 and later)."""
    match = re.search(_LSN, status)
    return before_8_0_30(int(match[1]) - int(match[2]), settings) if match else None


def dump_under_way(texts: Mapping[str, str]) -> str:
    """Return what is going on with the buffer pool's dump: "load 31 %"; "": nothing."""
    for what in ("load", "dump"):
        status = texts.get(f"Innodb_buffer_pool_{what}_status", "")
        if status.startswith(_UNDER_WAY) and not any(words in status for words in _OVER):
            share = _share(status)
            return what if share is None else f"{what} {100 * share:.0f} %"
    return ""


def _share(status: str) -> float | None:
    if match := re.search(_DUMPING, status):
        instance, instances, page, pages = map(int, match.groups())
        return (instance - 1 + page / pages) / instances if instances and pages else None
    if match := re.search(_LOADED, status):
        done, total = map(int, match.groups())
        return done / total if total else None
    return None


def old_dump(settings: Mapping[str, str]) -> str:
    """Get the name of the variable that lets an old Percona Server dump its LRU list all the time."""
    return next((name for name in _OLD_DUMPS if is_on(settings.get(name, ""))), "")
