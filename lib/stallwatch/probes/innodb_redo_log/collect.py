"""What is asked, several times: the redo log's age is a saw-tooth, of which one look shows nothing.

And which of InnoDB's metrics counts waits for the redo log. Not Innodb_log_waits: that is of the log buffer,
and stays 0 while all writers wait for the redo log. None of the metrics is enabled by default.
"""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history.delta import Look
from stallwatch.probes.mysql import innodb
from stallwatch.probes.mysql.asking import PROCESS, Asking
from stallwatch.probes.mysql.status import global_status, metrics, numbers, variables
from stallwatch.sources.mysql import DeniedError, MissingTableError, MysqlError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Interval
    from stallwatch.probes.mysql.innodb import Redo
    from stallwatch.sources.mysql import Flavour
    from stallwatch.sources.mysql.server import Server

REDO_TIME, STANDING = "redo_time", "standing"  # quantities that are judged
# What is counted between two looks. What is checkpointed moves by as much as is written, in the long run.
WRITTEN, CHECKPOINTED, WAITS, BUFFER_WAITS = "written", "checkpointed", "waits", "buffer_waits"

# Per cent of the stall point at which the age stands while writers wait: 99.2 to 99.8 on MySQL 9.7.2 with
# 8 and 32 MiB, 99.75 on 9.7.4, 100 on MariaDB 10.11.19.
STANDS = 99.0
_COUNTS_WAITS = (8, 0, 0)  # MySQL
TIMES, APART = 5, 0.2  # seconds
_BYTES = ("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written")  # the first one known
_STATUS = (
    "Uptime",
    *_BYTES[1:],  # the first one is among the others
    *innodb.COUNTERS,
    "Innodb_redo_log_enabled",
    "Innodb_log_waits",
)
_AGE = ("log_lsn_checkpoint_age",)
_TEXTS = 2  # of SHOW ENGINE INNODB STATUS in one look: it is the load that the article warns of
_BUDGET = 2.0  # seconds that one may take
_AGE_METRIC = "SET GLOBAL innodb_monitor_enable = 'log_lsn_checkpoint_age', which shows it at no cost"
_LACKING = (DeniedError, MissingTableError)  # a server that will not or cannot answer, whenever it is asked


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
    """Return which one a server has."""
    if flavour.mariadb:
        return _MARIADB
    return _MYSQL if flavour.version >= _COUNTS_WAITS else _MYSQL_5_7


class Samples:
    """The looks of one run at one server; raises a ProbeError if that does not show its settings."""

    def __init__(self, server: Server, run: Run) -> None:
        self._asking = Asking(server, run.trace)
        self._server = server
        self._deadline = run.deadline
        self._another: Server | None = None
        self._texts = 0
        self.settings = variables(self._asking, innodb.SETTINGS)
        self._asking.must_have_answered()
        self.counter = counter(server.flavour)
        self.redos: list[Redo] = []
        self.counts_waits = False
        self.is_enabled = True  # the redo log itself: MySQL can do without one
        self.unknown: ProbeError | None = None  # why it is not known how full it is

    @property
    def always_flushed_for(self) -> bool:
        """Whether pages were flushed for the log's sake in all samples. A peak alone is no trouble.

        MariaDB does so from 87.5 % of the stall point on, MySQL from 92 to 94 % on.
        """
        return len(self.redos) >= TIMES and all(one.is_flushed_for for one in self.redos)

    @property
    def lacks_process(self) -> bool:
        """Whether the account may not see InnoDB's metrics."""
        return PROCESS.mysql in self._asking.missing

    def take(self) -> Look:
        """Look several times, and give the counters of the last.

        Raises a ProbeError if one of these looks or the count of waits could not be had: what was seen until
        then is in ``redos``.
        """
        self._texts = 0
        found = self._sample()
        for _ in range(TIMES - 1):
            if self._deadline.left() <= APART:
                break
            self._deadline.rest(APART)
            found = self._sample()
        written = next((found[name] for name in _BYTES if name in found), None)
        age = found.get("Innodb_checkpoint_age")
        counts = {
            WRITTEN: written,
            CHECKPOINTED: None if written is None or age is None else written - age,
            WAITS: self._waits(),
            BUFFER_WAITS: found.get("Innodb_log_waits"),
        }
        known = {name: count for name, count in counts.items() if count is not None}
        return Look(found["Uptime"], time.time(), known)

    def _waits(self) -> float | None:
        waits = self.counter.read(self._metrics(self.counter.needs))
        self.counts_waits = waits is not None
        return waits

    def _metrics(self, names: Sequence[str]) -> dict[str, float]:
        """Ask for metrics: none where they are denied or disabled; no answer is neither."""
        found = numbers(metrics(self._asking, names))
        self._asking.must_have_answered(_LACKING)
        return found

    def _sample(self) -> dict[str, float]:
        texts = global_status(self._asking, _STATUS)
        self._asking.must_have_answered()
        found = numbers(texts)
        if "Uptime" not in found:
            raise ProbeError(f"{self._server.where} does not show its status: SHOW GLOBAL STATUS is empty")
        self.is_enabled = texts.get("Innodb_redo_log_enabled") != "OFF"
        if one := innodb.redo(found, self.settings) or self._before_8_0_30():
            self.redos.append(one)
        return found

    def _before_8_0_30(self) -> Redo | None:
        """Ask MySQL 5.7 to 8.0.29: by the metric if it is enabled, else by the text of the status."""
        if one := innodb.redo(self._metrics(_AGE), self.settings):
            return one
        if self.lacks_process or self.unknown or self._texts == _TEXTS:
            return None
        self._texts += 1
        try:
            self._another = self._another or self._server.again()
        except MysqlError as error:  # an account may have one connection only
            self._does_not_know(error.what)
            return None
        answer = innodb.ask_status(self._another, min(_BUDGET, self._deadline.left()))
        if not answer.text and (unanswered := answer.why or answer.reading):
            self._does_not_know(unanswered.what)
        return innodb.redo_in(answer.text, self.settings)

    def _does_not_know(self, why: str) -> None:
        self.unknown = ProbeError(f"it is not known how full the redo log is: {why}", _AGE_METRIC)

    def close(self) -> None:
        """Log out of what was logged in to."""
        if self._another:
            self._another.close()


class Snapshot(NamedTuple):
    """What one run knows."""

    samples: Samples
    interval: Interval  # since the last look
    lasts: bool = False  # it stood at the stall point, and did so at the last look, too
    warns: bool = False  # beyond the async point in all samples, where the user gave no threshold

    @property
    def fullest(self) -> Redo | None:
        """The redo log in the fullest of the samples; None: not known."""
        return innodb.fullest(self.samples.redos)

    @property
    def standing(self) -> int:
        """How many samples stood at the stall point."""
        return sum(one.fill >= STANDS for one in self.samples.redos)

    @property
    def rate(self) -> float | None:
        """Bytes that were written per second."""
        return self.interval.rate(WRITTEN)

    @property
    def holds(self) -> float | None:
        """Seconds of writes at this rate that fit below the stall point; None: not known, or none at all."""
        return self.fullest.stall / self.rate if self.fullest and self.rate else None

    @property
    def waits(self) -> float | None:
        """How often writers waited since the last look; None: not known."""
        counted = self.interval.counts.get(WAITS)
        return 0 if counted and self.cannot_have_waited else counted

    @property
    def cannot_have_waited(self) -> bool:
        """Whether the log was so empty at the last look that what was written since has not filled it.

        What was checkpointed since then and what is not yet is the age that it would have now if nothing had
        been checkpointed. So on MariaDB an idle server is known, where a checkpoint was ordered.
        """
        checkpointed = self.interval.counts.get(CHECKPOINTED)
        if checkpointed is None or self.fullest is None:
            return False
        return checkpointed + self.fullest.age < innodb.NEARLY_FULL / 100 * self.fullest.stall
