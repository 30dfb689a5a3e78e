"""Several looks at the redo log in one run: its age is a saw-tooth, of which one look tells nothing."""

from __future__ import annotations

import time

from stallwatch.probes.innodb import redo, status
from stallwatch.probes.innodb_redo_log.waits import counter
from stallwatch.probes.looks import Look
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.privileges import PROCESS
from stallwatch.probes.mysql.status import global_status, metrics, numbers, variables
from stallwatch.reading import ProbeError
from stallwatch.sources.mysql import MysqlError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.deadline import Deadline
    from stallwatch.probes.innodb.redo import Redo
    from stallwatch.sources.mysql.server import Server

TIMES, APART = 5, 0.2  # seconds
WRITTEN, WAITS, BUFFER_WAITS = "written", "waits", "buffer_waits"  # what is counted between two looks

_SETTINGS = ("innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity")
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


class Samples:
    """The looks of one run at one server."""

    def __init__(self, server: Server, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self._asking = Asking(server, trace)
        self._server = server
        self._deadline = deadline
        self._another: Server | None = None
        self.settings = variables(self._asking, _SETTINGS)
        self.counter = counter(server.flavour)
        self.redos: list[Redo] = []
        self.counts_waits = False
        self.is_enabled = True  # the redo log itself: MySQL can do without one

    @property
    def lacks_process(self) -> bool:
        """Whether the account may not see InnoDB's metrics."""
        return PROCESS.mysql in self._asking.missing

    def take(self) -> Look:
        """Look several times, and give the counters of the last; raises a ProbeError."""
        found = self._sample()
        for _ in range(TIMES - 1):
            if self._deadline.left() <= APART:
                break
            time.sleep(APART)
            found = self._sample()
        waits = self.counter.read(numbers(metrics(self._asking, self.counter.needs)))
        self.counts_waits = waits is not None
        counts = {
            WRITTEN: next((found[name] for name in _BYTES if name in found), None),
            WAITS: waits,
            BUFFER_WAITS: found.get("Innodb_log_waits"),
        }
        known = {name: count for name, count in counts.items() if count is not None}
        return Look(found["Uptime"], time.time(), known)

    def _sample(self) -> dict[str, float]:
        told = global_status(self._asking, _STATUS)
        found = numbers(told)
        if self._asking.lost:
            raise self._asking.lost
        if "Uptime" not in found:
            raise ProbeError(f"{self._server.where} does not tell its status: SHOW GLOBAL STATUS is empty")
        self.is_enabled = told.get("Innodb_redo_log_enabled") != "OFF"
        if one := redo.redo(found, self.settings) or self._before_8_0_30():
            self.redos.append(one)
        return found

    def _before_8_0_30(self) -> Redo | None:
        """Ask MySQL 5.7 to 8.0.29: by the metric if it is enabled, else by the text of the status."""
        if self.lacks_process:
            return None
        if one := redo.redo(numbers(metrics(self._asking, _AGE)), self.settings):
            return one
        try:
            self._another = self._another or self._server.again()
        except MysqlError:  # an account may have one connection only
            return None
        answer = status.look(self._another, self._deadline.left())
        return status.redo_in(answer.text, self.settings)

    def close(self) -> None:
        """Log out of what was logged in to."""
        if self._another:
            self._another.close()
