"""The server that a process is, if it is to be asked, too: nothing about the process is lost for its sake."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.mysql import status
from stallwatch.probes.mysql.asking import Asking, Statement, text, whole
from stallwatch.probes.mysqld_process.declared import PERFORMANCE_SCHEMA, PROCESS
from stallwatch.probes.mysqld_process.model import CONNECTED, READ_BUFFER, Role, named
from stallwatch.sources import processes
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stallwatch.findings import Finding
    from stallwatch.sources.mysql.server import Server
    from stallwatch.sources.processes import Running

# Which of its threads serves us: MariaDB shows it to everybody.
_THREAD = Statement(
    "SELECT TID AS thread FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
)
_THREAD_MYSQL = Statement(
    "SELECT THREAD_OS_ID AS thread FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    PERFORMANCE_SCHEMA,
)
_THREADS = Statement(
    "SELECT NAME AS name, THREAD_OS_ID AS os_id, PROCESSLIST_ID AS id, PROCESSLIST_USER AS user"
    " FROM performance_schema.threads WHERE THREAD_OS_ID IS NOT NULL",
    PERFORMANCE_SCHEMA,
)
_CONNECTIONS = Statement(  # MariaDB
    "SELECT 'connection' AS name, TID AS os_id, ID AS id, USER AS user FROM information_schema.PROCESSLIST"
    " WHERE TID IS NOT NULL",
    PROCESS,
)
_CONNECTION = "one_connection"  # of the thread pools, too
_UPTIME = "Uptime"
_APART = 60.0  # seconds; 0 to 1 were measured (MySQL 9.7.2, MariaDB 10.11.19), as long as no clock is set
_CERTAIN, _AS_OLD, _ANOTHER = 2, 1, 0


class QueriedServer:
    """What a server shows of itself; nothing where it does not answer."""

    def __init__(self, connect: Callable[[], Server], trace: Callable[[str], None]) -> None:
        self._asking: Asking | None = None
        self._lost: ProbeError | None = None  # why nobody is logged in
        self._connect = connect
        self._trace = trace
        self._thread = 0  # of the server, which serves us; 0: not known
        self._started: float | None = None  # seconds by our clock that never jumps

    @property
    def lost(self) -> ProbeError | None:
        """Why it does not answer."""
        return self._lost or (self._asking.lost if self._asking else None)

    def missing(self) -> Mapping[str, str]:
        """Return what it does not show, by the privilege that is missing."""
        return self._asking.missing if self._asking else {}

    def close(self) -> None:
        """Log out."""
        if self._asking:
            self._asking.server.close()

    def likeness(self, process: Running) -> int:
        """Return how sure it is that it is this process; 0: it is not, or nobody knows. Logs in."""
        self._log_in()
        if self._thread and processes.thread(process.pid, self._thread):
            return _CERTAIN
        status, task = processes.status(process.pid), processes.task(process.pid)
        is_in_container = status is not None and status.is_in_container
        if self._started is None or (self._thread and not is_in_container):
            return _ANOTHER
        age = processes.age(task) if task else process.age
        return _AS_OLD if abs(age - (time.monotonic() - self._started)) < _APART else _ANOTHER

    def _log_in(self) -> None:
        if self._asking or self._lost:
            return
        try:
            self._asking = asking = Asking(self._connect(), self._trace)
        except ProbeError as error:
            self._lost = error
            return
        uptime = self._status(_UPTIME)
        self._started = None if uptime is None else time.monotonic() - uptime
        statement = _THREAD if asking.server.flavour.mariadb else _THREAD_MYSQL
        self._thread = next((whole(row, "thread") for row in asking.rows(statement)), 0)

    def must_be(self, process: Running) -> None:
        """Ask it no more if it is another process."""
        if self.likeness(process) or self._asking is None or self.lost:
            return
        up = ""
        if self._started is not None:
            up = f", up {say_duration(round(time.monotonic() - self._started))},"
        age = say_duration(round(process.age))
        self._lost = ProbeError(
            f"{self._asking.server.where}{up} is not {named(process)}, up {age}: it was not asked",
            "name the process with --pid-file, --listens or --data-dir, and its server with -S, or -H and -P",
        )
        self.close()
        self._asking = None

    def counts(self) -> dict[str, float]:
        """Ask for what it counts."""
        connections = self._status(CONNECTED)
        return {} if connections is None else {CONNECTED: connections}

    def read_buffer_size(self) -> float | None:
        """Ask how large a buffer for reading new sessions have, in bytes."""
        told = status.variables(self._asking, [READ_BUFFER]) if self._asking else {}
        return status.numbers(told).get(READ_BUFFER)

    def roles(self) -> dict[int, Role]:
        """Ask what each thread does, by its id for the operating system."""
        if self._asking is None:
            return {}
        statement = _CONNECTIONS if self._asking.server.flavour.mariadb else _THREADS
        return {
            whole(row, "os_id"): _role(text(row, "name"), whole(row, "id"), text(row, "user"))
            for row in self._asking.rows(statement)
        }

    def asides(self) -> Iterator[Finding]:
        """Return what it did not."""
        for grant, sentence in self.missing().items():
            if grant:
                yield Fault(State.OK, f"not seen: {sentence}")

    def _status(self, name: str) -> float | None:
        told = status.global_status(self._asking, [name]) if self._asking else {}
        return status.numbers(told).get(name)


def _role(name: str, connection: int, user: str) -> Role:
    short = name.removeprefix("thread/").removeprefix("sql/")
    if short in {_CONNECTION, "connection"}:
        return Role("connection", f"{connection} of {user}" if connection else "")
    return Role(short)
