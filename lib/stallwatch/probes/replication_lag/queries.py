"""What a server is asked about its replication, and which of its names for that it has."""

from __future__ import annotations

from stallwatch.probes.mysql.asking import having, meant, number, record, whole
from stallwatch.probes.mysql.status import is_on
from stallwatch.probes.replication_lag.model import (
    NOTHING_TO_APPLY,
    Channel,
    Commits,
    Position,
    Thread,
    Worker,
)
from stallwatch.sources.mysql import MysqlError, UnknownStatementError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stallwatch.sources.mysql import Flavour
    from stallwatch.sources.mysql.rows import Value
    from stallwatch.sources.mysql.server import Server

    Row = Mapping[str, Value]

_REPLICA = (8, 0, 22)  # SHOW REPLICA STATUS and its columns are known from here on
_REPLICA_NET_TIMEOUT = (8, 0, 26)
_COMMIT_MOMENTS = (8, 0, 0)

_FACTS = """SELECT UNIX_TIMESTAMP(NOW(6)) AS now, @@server_id AS id, @@global.{net_timeout} AS net_timeout,
 @@global.read_only AS read_only, {own}"""
_OWN = "@@global.super_read_only AS super_read_only, @@server_uuid AS uuid"
_OWN_OF_MARIADB = "@@global.gtid_binlog_state AS written"

_RECEIVERS = """SELECT c.CHANNEL_NAME AS channel, UNIX_TIMESTAMP(NOW(6)) AS now,
 c.COUNT_RECEIVED_HEARTBEATS AS heartbeats, UNIX_TIMESTAMP(c.LAST_HEARTBEAT_TIMESTAMP) AS last_heartbeat,
 k.HEARTBEAT_INTERVAL AS heartbeat_period{moments}
 FROM performance_schema.replication_connection_status c{coordinators}
 LEFT JOIN performance_schema.replication_connection_configuration k USING (CHANNEL_NAME)"""
_RECEIVED = """, c.LAST_QUEUED_TRANSACTION AS queued, c.QUEUEING_TRANSACTION AS queueing,
 UNIX_TIMESTAMP(c.LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) AS queued_commit,
 UNIX_TIMESTAMP(c.LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP) AS queued_sent,
 UNIX_TIMESTAMP(c.LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP) AS queued_at,
 UNIX_TIMESTAMP(c.QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) AS queueing_commit,
 UNIX_TIMESTAMP(o.PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) AS coordinator_commit,
 o.THREAD_ID AS coordinator"""
# A single-threaded applier has no coordinator (8.0.46): an inner join would lose the channel.
_COORDINATORS = """
 LEFT JOIN performance_schema.replication_applier_status_by_coordinator o USING (CHANNEL_NAME)"""

_WORKERS = """SELECT CHANNEL_NAME AS channel, WORKER_ID AS number, THREAD_ID AS thread,
 LAST_ERROR_NUMBER AS errno, LAST_ERROR_MESSAGE AS error,
 UNIX_TIMESTAMP(LAST_ERROR_TIMESTAMP) AS error_at{moments}
 FROM performance_schema.replication_applier_status_by_worker"""
_APPLIED = """, APPLYING_TRANSACTION AS applying,
 UNIX_TIMESTAMP(APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) AS applying_commit,
 UNIX_TIMESTAMP(APPLYING_TRANSACTION_START_APPLY_TIMESTAMP) AS applying_since,
 APPLYING_TRANSACTION_RETRIES_COUNT AS retries,
 APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER AS retried_for,
 UNIX_TIMESTAMP(LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) AS applied_commit"""

_REPLICATION_THREADS = """SELECT COMMAND AS command, TIME AS time, STATE AS state
 FROM information_schema.PROCESSLIST WHERE USER = 'system user'"""
PATIENCE = 3.0  # seconds
LOCK_WAIT_TIMEOUT = 1205  # ER_LOCK_WAIT_TIMEOUT, after which an applier tries its transaction again
FREE_SPACE = "free space where its relay logs are (relay_log, datadir)"
_NO_SPACE = ("free space", "disk space")  # MariaDB and MySQL 5.7; MySQL 8


class Facts(NamedTuple):
    """What is asked of the server as a whole."""

    now: float  # its clock, seconds of Unix time
    server_id: int
    uptime: float  # seconds
    net_timeout: float  # seconds after which a receiver drops a silent source
    read_only: bool | None = None
    super_read_only: bool | None = None  # MariaDB has none
    uuid: str = ""  # "" on MariaDB
    written: str = ""  # gtid_binlog_state of MariaDB: what each server has written to its log

    @property
    def closed_by(self) -> str:
        """Which variable keeps all clients from writing."""
        return "super_read_only" if self.uuid else "read_only"

    @property
    def is_closed(self) -> bool | None:
        """Whether it does."""
        return self.super_read_only if self.uuid else self.read_only


class Appliers(NamedTuple):
    """What the process list shows of the appliers."""

    visible: bool  # without PROCESS only one's own processes are
    idle: tuple[float, ...] = ()  # for each that has nothing to do: seconds since its last event
    lack_space: bool = False  # one of them or a receiver waits until somebody frees disk space


def channels(server: Server) -> list[Channel]:
    """Ask for all channels; none: the server is no replica. Raises MysqlError.

    It waits with a receiver that waits for disk space (MariaDB 10.11.19), so only for a part of the time.
    """
    first, *others = _statements(server.flavour)
    try:
        rows = server.rows(first, within=PATIENCE)
    except UnknownStatementError:
        if not others:
            raise
        rows = server.rows(*others, within=PATIENCE)
    return [channel(row) for row in rows]


def _statements(flavour: Flavour) -> list[str]:
    """Name the statement that this version has, and what a fork of it may have instead."""
    if flavour.mariadb:
        return ["SHOW ALL SLAVES STATUS"]  # SHOW SLAVE STATUS hides named connections
    names = ["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"]
    return names if flavour.version >= _REPLICA else names[::-1]


def channel(row: Row) -> Channel:
    """Read one row of SHOW REPLICA STATUS, SHOW SLAVE STATUS or SHOW ALL SLAVES STATUS.

    MySQL 8.0.22 renamed Master_ and Slave_ to Source_ and Replica_; MariaDB keeps the old names whatever
    the statement is called (10.11.19). Columns are found by name: their order differs between versions. A
    column that all versions have raises MissingColumnError where it is not there: without
    Replica_SQL_Running, nothing shows that the applier is stopped.
    """
    of = _Row(row)
    received_gtids, stale_gtids = _gtids(of.maybe("Retrieved_Gtid_Set", "Gtid_IO_Pos")), ""
    if of.maybe("Using_Gtid") == "No":  # it stays where it was when they were last used (MariaDB 10.11.19)
        received_gtids, stale_gtids = "", received_gtids
    return Channel(
        name=of.maybe("Channel_Name", "Connection_name"),
        receiver=_thread(of, "IO", of.maybe("Replica_IO_State", "Slave_IO_State")),
        applier=_thread(of, "SQL", of.maybe("Replica_SQL_Running_State", "Slave_SQL_Running_State")),
        source_host=of.text("Source_Host", "Master_Host"),
        source_port=of.count("Source_Port", "Master_Port"),
        source_id=of.count("Source_Server_Id", "Master_Server_Id"),
        source_uuid=of.maybe("Source_UUID", "Master_UUID"),
        seconds_behind=of.number("Seconds_Behind_Source", "Seconds_Behind_Master"),
        delay=meant(of.maybe("SQL_Delay")) or 0.0,
        remaining_delay=meant(of.maybe("SQL_Remaining_Delay")),
        received=Position(
            of.text("Source_Log_File", "Master_Log_File"),
            of.count("Read_Source_Log_Pos", "Read_Master_Log_Pos"),
        ),
        applied=Position(
            of.text("Relay_Source_Log_File", "Relay_Master_Log_File"),
            of.count("Exec_Source_Log_Pos", "Exec_Master_Log_Pos"),
        ),
        received_gtids=received_gtids,
        stale_gtids=stale_gtids,
        applied_gtids=_gtids(of.maybe("Executed_Gtid_Set", "Gtid_Slave_Pos")),
        heartbeats=of.count("Slave_received_heartbeats") if "Slave_received_heartbeats" in row else None,
        heartbeat_period=meant(of.maybe("Slave_heartbeat_period")),
        newest_received=of.maybe("Master_last_event_time"),
        retries=of.count("Retried_transactions") if "Retried_transactions" in row else None,
        relay_log=of.maybe("Relay_Log_File"),
        filters=tuple(f"{name} = {row[name]}" for name in row if name.startswith("Replicate_") and row[name]),
    )


def _thread(of: _Row, kind: str, state: str) -> Thread:
    running = of.text(f"Replica_{kind}_Running", f"Slave_{kind}_Running")
    return Thread(running, state, of.count(f"Last_{kind}_Errno"), of.text(f"Last_{kind}_Error"))


def _gtids(text: str) -> str:
    return "".join(text.split())  # MySQL breaks long sets into lines


class _Row:
    """A row whose columns may have several names, of which the newest is first; NULL is no text."""

    def __init__(self, row: Row) -> None:
        self.row = row

    def maybe(self, *names: str) -> str:
        """Read a column that only some versions have."""
        return self.text(*names) if any(name in self.row for name in names) else ""

    def text(self, *names: str) -> str:
        """Read a column; raises MissingColumnError."""
        value = self.row[next((name for name in names if name in self.row), " or ".join(names))]
        return "" if value is None else str(value)

    def number(self, *names: str) -> float | None:
        return meant(self.text(*names))

    def count(self, *names: str) -> int:
        return int(self.number(*names) or 0)


def facts(server: Server) -> Facts:
    """Ask for the server's clock and settings; no privilege is needed. Raises MysqlError."""
    renamed = not server.flavour.mariadb and server.flavour.version >= _REPLICA_NET_TIMEOUT
    net_timeout = f"{'replica' if renamed else 'slave'}_net_timeout"
    own = _OWN_OF_MARIADB if server.flavour.mariadb else _OWN
    row = only(server, _FACTS.format(net_timeout=net_timeout, own=own), "now", "id", "net_timeout")
    uptime = only(server, "SHOW GLOBAL STATUS LIKE 'Uptime'", "Value")
    switches = {name: _switch(row, name) for name in ("read_only", "super_read_only")}
    return record(row, Facts, server_id=whole(row, "id"), uptime=number(uptime, "Value"), **switches)


def commits(server: Server) -> dict[str, Commits]:
    """Ask for the moments of transactions, by channel. Raises MysqlError.

    MySQL 5.7 has no moments of transactions, but heartbeats and errors; MariaDB has none of it (10.11).
    """
    if server.flavour.mariadb:
        return {}
    moments = server.flavour.version >= _COMMIT_MOMENTS
    receivers = server.rows(
        _RECEIVERS.format(moments=_RECEIVED if moments else "", coordinators=_COORDINATORS if moments else "")
    )
    workers = server.rows(_WORKERS.format(moments=_APPLIED if moments else ""))
    having(receivers, "channel", "now", "last_heartbeat", "heartbeats")
    having(workers, "channel", "number", "thread", "errno", "error", "error_at")
    return {str(row["channel"]): _commits(row, workers) for row in receivers}


def _commits(row: Row, workers: Iterable[Row]) -> Commits:
    return record(
        row,
        Commits,
        heartbeat_period=meant(row["heartbeat_period"]),  # 0: the source sends none
        workers=tuple(_worker(one) for one in workers if one["channel"] == row["channel"]),
        coordinator_thread=whole(row, "coordinator") or None,
    )


def _worker(row: Row) -> Worker:
    retries = whole(row, "retries") if whole(row, "retried_for") == LOCK_WAIT_TIMEOUT else 0
    return record(row, Worker, retries=retries)


def appliers(server: Server, within: float | None = None) -> Appliers:
    """Look which appliers have nothing to do, and for how long: PROCESS is needed. Raises MysqlError.

    ``Time`` of an idle applier counts from its last event, on MySQL 5.7 to 9.7 (the coordinator) and on
    MariaDB 10.5 to 11.8 (Slave_SQL); no version shows its channel.
    Where disk space is lacking, SHOW ALL SLAVES STATUS hangs until there is, even when its connection is
    gone: one a minute, and max_connections is used up (10.11.19).
    """
    rows = server.rows(_REPLICATION_THREADS, within=within)
    idle = [meant(row["time"]) or 0.0 for row in rows if NOTHING_TO_APPLY in str(row["state"])]
    lack_space = any(words in str(row["state"]) for row in rows for words in _NO_SPACE)
    return Appliers(visible=bool(rows), idle=tuple(idle), lack_space=lack_space)


def only(server: Server, sql: str, *columns: str) -> Row:
    """Ask for a single row, which has these columns. Raises MysqlError."""
    rows = server.rows(sql)
    if len(rows) != 1:
        raise MysqlError(f"{server.where} gave {len(rows)} rows instead of one: asked {sql}")
    return having(rows, *columns)[0]


def _switch(row: Row, name: str) -> bool | None:
    return None if row.get(name) is None else is_on(str(row[name]))
