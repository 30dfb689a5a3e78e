"""One replication channel as its server tells it: the same words, whatever the version calls them."""

from __future__ import annotations

from stallwatch.probes.mysql.statement import meant
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, object]


NOTHING_TO_APPLY = "has read all relay log"  # the state of an applier, from MySQL 5.7 to MariaDB 11.8


class Position(NamedTuple):
    """A place in the source's binary log."""

    file: str
    offset: int


class Thread(NamedTuple):
    """The receiver (which the server calls IO thread) or the applier (SQL thread) of a channel."""

    running: str  # "Yes" or "No"; the receiver also "Connecting" and, on MariaDB, "Preparing"
    state: str  # what it does, in the server's words
    errno: int  # of the last error, 0: none
    error: str

    @property
    def runs(self) -> bool:
        """Whether it does its work."""
        return self.running == "Yes"

    @property
    def has_read_all(self) -> bool:
        """Whether it has come to the end of the relay log; its parallel workers may still be at work."""
        return NOTHING_TO_APPLY in self.state


class Channel(NamedTuple):
    """What SHOW REPLICA STATUS and its older names say of one channel; times in seconds."""

    name: str  # "" is the default channel
    receiver: Thread
    applier: Thread
    source_host: str
    source_port: int
    source_id: int  # server_id of the source, 0: not connected yet
    source_uuid: str  # "" on MariaDB
    seconds_behind: float | None  # the server's own figure
    delay: float  # intended (SOURCE_DELAY, MASTER_DELAY)
    remaining_delay: float | None  # while an event waits for it
    received: Position  # what the receiver has read to
    applied: Position  # what the applier has come to
    relay_log_space: int  # bytes of all relay logs
    received_gtids: str  # MySQL: Retrieved_Gtid_Set; MariaDB: Gtid_IO_Pos
    applied_gtids: str  # of the whole server; MySQL: Executed_Gtid_Set; MariaDB: Gtid_Slave_Pos
    heartbeats: int | None = None  # received from the source; None: this statement does not tell
    heartbeat_period: float | None = None
    newest_received: str = ""  # MariaDB 11.6: when the newest received event was written, UTC


def channel(row: Row) -> Channel:
    """Read one row of SHOW REPLICA STATUS, SHOW SLAVE STATUS or SHOW ALL SLAVES STATUS.

    MySQL 8.0.22 renamed Master_ and Slave_ to Source_ and Replica_; MariaDB keeps the old names whatever
    the statement is called (10.11.19). Columns are found by name: their order differs between versions. A
    column that all versions have raises MissingColumnError where it is not there: without
    Replica_SQL_Running, nobody may say that the applier is stopped.
    """
    of = _Row(row)
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
        relay_log_space=of.count("Relay_Log_Space"),
        received_gtids=_gtids(of.maybe("Retrieved_Gtid_Set", "Gtid_IO_Pos")),
        applied_gtids=_gtids(of.maybe("Executed_Gtid_Set", "Gtid_Slave_Pos")),
        heartbeats=of.count("Slave_received_heartbeats") if "Slave_received_heartbeats" in row else None,
        heartbeat_period=meant(of.maybe("Slave_heartbeat_period")),
        newest_received=of.maybe("Master_last_event_time"),
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
