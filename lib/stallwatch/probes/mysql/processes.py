"""Who is at work in the server: the process list, and which of it are replication threads."""

from __future__ import annotations

import re
from enum import Enum

from stallwatch import units
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS, Statement, number, record, text, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from stallwatch.probes.mysql.asking import Asking, Row

# Without FULL: the first 100 characters of a statement are enough, and no megabytes come.
PROCESSES = Statement("SHOW PROCESSLIST", PROCESS)
THREADS = Statement(
    "SELECT THREAD_ID AS thread, NAME AS name, PROCESSLIST_ID AS id, THREAD_OS_ID AS os_id"
    " FROM performance_schema.threads"
    " WHERE NAME REGEXP '^thread/sql/((replica|slave)_(sql|worker)|rpl_parallel.*)$'",
    PERFORMANCE_SCHEMA,
)
_THREADS_HERE = {  # the receivers, too; by whether it is MariaDB, which needs no performance_schema for it
    True: Statement(
        "SELECT ID AS id, TID AS os_id, COMMAND = 'Slave_IO' AS receives FROM information_schema.PROCESSLIST"
        " WHERE COMMAND IN ('Slave_IO', 'Slave_SQL', 'Slave_worker')",
        PROCESS,
    ),
    False: Statement(
        "SELECT THREAD_ID AS thread, PROCESSLIST_ID AS id, THREAD_OS_ID AS os_id,"
        " NAME LIKE '%_io' AS receives"
        " FROM performance_schema.threads WHERE NAME REGEXP '^thread/sql/(replica|slave)_(sql|worker|io)$'",
        PERFORMANCE_SCHEMA,
    ),
}
ATTRIBUTES = Statement(
    "SELECT PROCESSLIST_ID AS id, ATTR_NAME AS name, ATTR_VALUE AS value"
    " FROM performance_schema.session_connect_attrs WHERE ATTR_NAME IN ('_pid', 'program_name')",
    PERFORMANCE_SCHEMA,
)

_STATEMENTS = (
    "SELECT t.PROCESSLIST_ID AS id, t.PROCESSLIST_COMMAND = 'Sleep' AS idle, t.PROCESSLIST_TIME AS seconds,"
    " s.DIGEST_TEXT AS digest, s.TIMER_WAIT / 1e12 AS took"
    " FROM performance_schema.threads t"
    " JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID"
    " WHERE s.NESTING_EVENT_LEVEL = 0 AND t.PROCESSLIST_ID IN ({})"
)
_PROGRESS = {  # by whether it is MariaDB
    True: "SELECT p.ID AS id, p.QUERY_ID AS query, p.EXAMINED_ROWS AS examined,"
    " t.trx_rows_modified AS modified FROM information_schema.PROCESSLIST p"
    " LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID WHERE p.ID IN ({})",
    False: "SELECT t.PROCESSLIST_ID AS id, SUM(s.VARIABLE_VALUE) AS done FROM performance_schema.threads t"
    " JOIN performance_schema.status_by_thread s ON s.THREAD_ID = t.THREAD_ID"
    " WHERE t.PROCESSLIST_ID IN ({}) AND s.VARIABLE_NAME LIKE 'Handler%' GROUP BY t.PROCESSLIST_ID",
}
_MOST = 20  # connections whose last statements are asked for
_OWN_PROCESS_LIST = (8, 0, 22)
_LEAST = 2  # seconds of another wait than for a lock: to write what was changed takes milliseconds
_LONG = 10  # seconds of a write that may make no progress
_WAITS_FOR_LOCK = "STATE LIKE 'Waiting for % lock' OR STATE IN ('Waiting for table flush', 'User lock')"
# A client's statement that waits for something else, or may make no progress: `Phase` decides what it is.
_WAITS_FOR_OTHER = (
    f"COMMAND IN ('Query', 'Execute') AND USER <> 'system user' AND TIME >= {_LEAST}"
    " AND (STATE LIKE 'waiting %' OR STATE IN ('Commit', 'Commit implicit', 'query end', 'Writing to binlog',"
    " 'Opening tables')"
    " OR (STATE = 'starting' AND INFO LIKE 'COMMIT%') OR STATE LIKE 'Executing hook%'"
    f" OR (TIME >= {_LONG} AND (STATE LIKE 'updat%' OR STATE LIKE 'delet%' OR STATE LIKE 'insert%')))"
    f" AND NOT ({_WAITS_FOR_LOCK})"
)
_SUMMED = (
    "SELECT SUM({0}) AS waiting, MAX(IF({0}, TIME, NULL)) AS seconds, SUM({1}) AS others,"
    " @@max_connections AS most FROM "
)
_WAITING = _SUMMED.format(_WAITS_FOR_LOCK, _WAITS_FOR_OTHER)
_SYSTEM = "system user"
# States of appliers of MySQL 5.7 to 9.7 and MariaDB 10.5 to 11.8, measured there: nothing to do, and who
# only assigns work.
IDLE = re.compile(r"has read all relay log|Waiting for an event from Coordinator|Waiting for work from SQL")
COORDINATES = re.compile(
    r"Waiting for (slave|replica) workers|to free pending events|[Ww]orker queue|worker thread"
    r"|Worker to release|Reading event from the relay log|next event in relay log"
)
# In MySQL 5.7 to 9.7 only its state distinguishes the receiver from appliers.
_RECEIVES = re.compile(
    r"(master|source) to send event|event to the relay log|^(Re)?[Cc]onnecting|reconnect|[Rr]equesting binlog"
    r"|Checking (master|source) version|Registering|free enough relay log space",
)
# SELECT GET_LOCK() and SLEEP(), whatever waits for a lock, and whoever waits for us to read.
_WAITS = re.compile(r"User (lock|sleep)|Waiting|Writing to net|Sending to client|Reading from net")
# What a client asked to wait for (SOURCE_POS_WAIT and its like), and threads that have nothing to do.
_AS_ASKED = re.compile(
    r"Waiting (in|for) (MASTER_GTID_WAIT|GTID to be committed|next activation|.* position$)"
)
_SECONDS_LIMIT = 4e9  # 5.7 writes a moment that lies ahead as an unsigned number


class Phase(Enum):
    """What a statement waits for that is no lock; the value is its state.

    By the states that MySQL 5.7.22, 8.0.15 and 9.7.2 and MariaDB 10.11.19 and 11.8.9 list as stages of
    statements (performance_schema.setup_instruments). OTHER is whatever else waits, locks too. A WRITE waits
    only if it makes no progress, which its state does not show.
    """

    SPACE = re.compile(r"Waiting for (someone to free space|disk space)")
    ACK = re.compile(r"(?i).*semi-?sync ACK")
    BEGIN = re.compile(r"Executing hook on transaction begin")  # of Group Replication
    IN_ORDER = re.compile(r"Waiting (to execute in isolation|for TOI DDL)")  # of Galera
    COMMIT = re.compile(
        r"waiting for handler commit|Commit( implicit)?$|[Qq]uery end|Writing to binlog|starting: COMMIT"
        r"|Waiting for (prior transaction to (start )?commit|certification|flow control|Binlog Group Commit)"
    )
    TABLES = re.compile(r"Opening tables?$")
    WRITE = re.compile(r"[Uu]pdat(e|ing)\b|init for update$|(?i:delet|insert)")
    OTHER = re.compile(r"[Ww]aiting ")


class Process(NamedTuple):
    """One connection or thread, in the server's words; ``seconds`` since it does what it does now."""

    id: int
    user: str
    host: str
    command: str
    seconds: float
    state: str
    info: str = ""
    database: str = ""
    tells_idle: bool = True  # whether ``seconds`` of one that sleeps begin when its last statement ended

    @property
    def is_system(self) -> bool:
        """Whether it belongs to replication, not to a client."""
        return self.user == _SYSTEM

    @property
    def is_client(self) -> bool:
        """Whether a client is connected; threads of the server, those that feed replicas and we are none."""
        serves = self.command in {"Daemon", "Killed"} or self.command.startswith("Binlog Dump")
        return not (self.is_system or serves or self.info == PROCESSES.sql)

    @property
    def is_client_s_statement(self) -> bool:
        """Whether a client's statement runs."""
        return self.is_client and self.command != "Sleep"

    @property
    def phase(self) -> Phase | None:
        """What it has waited for, for seconds; None: for nothing, or for what it asked for.

        A COMMIT of MySQL 5.7 has the state of what begins.
        """
        if self.seconds < _LEAST or self.command == "Sleep" or _AS_ASKED.match(self.state):
            return None
        state = f"starting: {self.info[:6].upper()}" if self.state == "starting" else self.state
        found = next((one for one in Phase if one.value.match(state)), None)
        return None if found is Phase.WRITE and self.seconds < _LONG else found

    @property
    def is_client_at_work(self) -> bool:
        """Whether it is a client's statement that does not wait."""
        return self.is_client_s_statement and not _WAITS.match(self.state)

    @property
    def applies(self) -> bool:
        """Whether it is an applier: MariaDB names them, MySQL has all but the receiver's states for them."""
        if self.command.startswith("Slave_"):
            return self.command != "Slave_IO"
        return self.is_system and self.command != "Daemon" and not _RECEIVES.search(self.state)

    @property
    def is_applier_at_work(self) -> bool:
        """Whether it is an applier that has something to apply."""
        return self.applies and not (IDLE.search(self.state) or COORDINATES.search(self.state))

    @property
    def tells_since_when(self) -> bool:
        """Whether ``seconds`` begin with its statement: of an applier of MySQL, when the source wrote it."""
        return not self.is_system or self.command.startswith("Slave_")


class Thread(NamedTuple):
    """A thread of replication as performance_schema or MariaDB's process list has it."""

    thread: int  # THREAD_ID; 0: not known
    id: int  # in the process list
    os_id: int | None  # of the operating system, 0 and NULL: not known
    receives: bool = False


class Program(NamedTuple):
    """What a client wrote of itself when it connected."""

    name: str = ""
    pid: int | None = None


class Last(NamedTuple):
    """The last statement of a connection."""

    digest: str  # without values; "": not kept
    idle: float | None  # whole seconds since it ended; None: it runs, or it is not known


def processes(asking: Asking) -> tuple[Process, ...]:
    """Ask for the process list; without PROCESS there is only ourselves in it.

    MySQL counts since when one is idle from the begin of its last statement, which may have waited for long
    for the very lock. 1 s after SLEEP(5) it is 6 s on 5.7.22, 8.0.15 and 9.7.2; MariaDB 10.11.19 counts from
    its end.
    """
    mariadb = asking.server.flavour.mariadb
    return tuple(_process(row, mariadb=mariadb) for row in asking.rows(PROCESSES))


def _process(row: Row, *, mariadb: bool) -> Process:
    seconds = number(row, "Time")
    return Process(
        id=whole(row, "Id"),
        user=text(row, "User"),
        host=text(row, "Host"),
        command=text(row, "Command"),
        seconds=seconds if 0 <= seconds < _SECONDS_LIMIT else 0.0,
        state=text(row, "State"),
        info=text(row, "Info"),
        database=text(row, "db"),
        tells_idle=mariadb or text(row, "Command") != "Sleep",
    )


def threads(asking: Asking) -> tuple[Thread, ...]:
    """Ask for the threads of appliers; MariaDB's performance_schema is off by default and has none."""
    return tuple(record(row, Thread) for row in asking.rows(THREADS))


def threads_here(asking: Asking) -> tuple[Thread, ...]:
    """Ask for the threads of appliers and receivers of a server on our host, whose numbers mean something."""
    return tuple(record(row, Thread) for row in asking.rows(_THREADS_HERE[asking.server.flavour.mariadb]))


class Counted(NamedTuple):
    """What all connections wait for, by their states: row locks are not among them, as they have none."""

    waiting: int  # connections that wait for a lock
    seconds: float  # the longest time of one
    others: int  # clients' statements that wait for something else
    most: int  # max_connections; 0: not known


def waiting_by_state(asking: Asking) -> Counted:
    """Count the connections whose state is to wait."""
    return record(next(iter(of_process_list(asking, _WAITING)), {}), Counted)


def of_process_list(asking: Asking, select: str, then: str = "") -> list[Row]:
    """Ask what the process list has, as a table: ``select`` is the statement before its name.

    performance_schema.processlist (MySQL 8.0.22) blocks nobody, while information_schema.PROCESSLIST looks at
    each connection under a mutex. The first is empty where performance_schema is off.
    """
    flavour, rows = asking.server.flavour, []
    if not flavour.mariadb and flavour.version >= _OWN_PROCESS_LIST:
        rows = asking.rows(Statement(f"{select}performance_schema.processlist{then}", PERFORMANCE_SCHEMA))
    if not rows or next(iter(rows[0].values())) is None:
        rows = asking.rows(Statement(f"{select}information_schema.processlist{then}", PROCESS))
    return rows


def progress(asking: Asking, connections: Sequence[int]) -> dict[int, tuple[float, ...]]:
    """Ask how far the statements of these connections are, in numbers that grow while one makes progress.

    Those of MySQL's joins, of which ROWS_EXAMINED stays 0 until they end, too (9.7.2). Where it is not shown
    there is none.
    """
    sql = _PROGRESS[asking.server.flavour.mariadb].format(", ".join(map(str, connections[:_MOST])))
    rows = asking.rows(Statement(sql, PROCESS if asking.server.flavour.mariadb else PERFORMANCE_SCHEMA))
    return {
        whole(row, "id"): tuple(number(row, name) for name in sorted(row) if name != "id") for row in rows
    }


def programs(asking: Asking, ids: Collection[int] = ()) -> dict[int, Program]:
    """Ask what clients wrote of themselves, by process list id: these, by default all."""
    found: dict[int, Program] = {}
    some = f" AND PROCESSLIST_ID IN ({', '.join(map(str, ids))})" if ids else ""
    for row in asking.rows(ATTRIBUTES._replace(sql=ATTRIBUTES.sql + some)):
        known = found.get(whole(row, "id"), Program())
        value = text(row, "value")
        if text(row, "name") == "program_name":
            found[whole(row, "id")] = known._replace(name=value)
        elif (pid := units.whole(value)) is not None:
            found[whole(row, "id")] = known._replace(pid=pid)
    return found


def last_statements(asking: Asking, connections: Sequence[int]) -> dict[int, Last]:
    """Ask for the last statement of the first of these connections; where it is not kept there is none."""
    if not connections:
        return {}
    sql = _STATEMENTS.format(", ".join(map(str, connections[:_MOST])))
    found = asking.rows(Statement(sql, PERFORMANCE_SCHEMA))
    return {whole(row, "id"): Last(text(row, "digest"), _idle(row)) for row in found}


def _idle(row: Row) -> float | None:
    """Return for how long who sleeps has done so: the server's time begins with its last statement."""
    if not whole(row, "idle") or row.get("took") is None:
        return None
    return float(round(max(0.0, number(row, "seconds") - number(row, "took"))))


def since_idle(listed: Mapping[int, Process], last: Mapping[int, Last]) -> dict[int, Process]:
    """Let the seconds of who sleeps begin when the last statement ended, where that is known."""
    found = dict(listed)
    for process in listed.values():
        known = last.get(process.id)
        if not process.tells_idle and known and known.idle is not None:
            found[process.id] = process._replace(seconds=known.idle, tells_idle=True)
    return found


def by_id(listed: Iterable[Process]) -> dict[int, Process]:
    """Map processes by their id."""
    return {one.id: one for one in listed}
