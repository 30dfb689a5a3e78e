"""Several looks at the redo log in one run: its age is a saw-tooth, of which one look tells nothing."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history.delta import Look
from stallwatch.probes.innodb import redo, status
from stallwatch.probes.innodb.redo import SETTINGS
from stallwatch.probes.innodb_redo_log.waits import counter
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.privileges import PROCESS
from stallwatch.probes.mysql.status import global_status, metrics, numbers, variables
from stallwatch.sources.mysql import DeniedError, MissingTableError, MysqlError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.frame.deadline import Deadline
    from stallwatch.probes.innodb.redo import Redo
    from stallwatch.sources.mysql.server import Server

TIMES, APART = 5, 0.2  # seconds
# What is counted between two looks. What is checkpointed moves by as much as is written, in the long run.
WRITTEN, CHECKPOINTED, WAITS, BUFFER_WAITS = "written", "checkpointed", "waits", "buffer_waits"

_BYTES = ("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written")  # the first one known
_STATUS = (
    "Uptime",
    *_BYTES,
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_capacity_resized",
    "Innodb_redo_log_enabled",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
    "Innodb_log_waits",
)
_AGE = ("log_lsn_checkpoint_age",)
_TEXTS = 2  # of SHOW ENGINE INNODB STATUS in one look: it is the load that the article warns of
_BUDGET = 2.0  # seconds that one may take
_AGE_METRIC = "SET GLOBAL innodb_monitor_enable = 'log_lsn_checkpoint_age', which tells it at no cost"
_LACKING = (DeniedError, MissingTableError)  # a server that will not or cannot tell, whenever it is asked


class Samples:
    """The looks of one run at one server; raises a ProbeError if that does not tell its settings."""

    def __init__(self, server: Server, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self._asking = Asking(server, trace)
        self._server = server
        self._deadline = deadline
        self._another: Server | None = None
        self._texts = 0
        self.settings = variables(self._asking, SETTINGS)
        self._must_have_answered()
        self.counter = counter(server.flavour)
        self.redos: list[Redo] = []
        self.counts_waits = False
        self.is_enabled = True  # the redo log itself: MySQL can do without one
        self.untold: ProbeError | None = None  # why it is not known how full it is

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
            time.sleep(APART)
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
        told = numbers(metrics(self._asking, names))
        self._must_have_answered(_LACKING)
        return told

    def _must_have_answered(self, but: tuple[type[MysqlError], ...] = ()) -> None:
        if self._asking.failed and not isinstance(self._asking.failed, but):
            raise self._asking.failed

    def _sample(self) -> dict[str, float]:
        told = global_status(self._asking, _STATUS)
        self._must_have_answered()
        found = numbers(told)
        if "Uptime" not in found:
            raise ProbeError(f"{self._server.where} does not tell its status: SHOW GLOBAL STATUS is empty")
        self.is_enabled = told.get("Innodb_redo_log_enabled") != "OFF"
        if one := redo.redo(found, self.settings) or self._before_8_0_30():
            self.redos.append(one)
        return found

    def _before_8_0_30(self) -> Redo | None:
        """Ask MySQL 5.7 to 8.0.29: by the metric if it is enabled, else by the text of the status."""
        if one := redo.redo(self._metrics(_AGE), self.settings):
            return one
        if self.lacks_process or self.untold or self._texts == _TEXTS:
            return None
        self._texts += 1
        try:
            self._another = self._another or self._server.again()
        except MysqlError as error:  # an account may have one connection only
            self.untold = ProbeError(f"it is not known how full the redo log is: {error.what}", _AGE_METRIC)
            return None
        answer = status.look(self._another, min(_BUDGET, self._deadline.left()))
        if unanswered := answer.why or answer.reading if not answer.text else None:
            self.untold = ProbeError(
                f"it is not known how full the redo log is: {unanswered.what}", _AGE_METRIC
            )
        return status.redo_in(answer.text, self.settings)

    def close(self) -> None:
        """Log out of what was logged in to."""
        if self._another:
            self._another.close()
