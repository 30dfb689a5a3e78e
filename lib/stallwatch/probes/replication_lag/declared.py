"""What check_replication_lag declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS
from stallwatch.sources.mysql.privilege import Privilege

# Privileges were tried out account by account on MySQL 5.7 to 9.7 and MariaDB 10.11.
# MariaDB's REPLICATION CLIENT is BINLOG MONITOR, and not enough (10.5.9 and later).
STATUS = Privilege(
    "REPLICATION CLIENT", "SLAVE MONITOR", "the replication status, without which all is unknown"
)
BINARY_LOG = Privilege(
    "REPLICATION CLIENT", "BINLOG MONITOR", "where its binary log ends, if it does without GTIDs"
)
ON_REPLICA = (STATUS, PROCESS, PERFORMANCE_SCHEMA)
ON_SOURCE = (BINARY_LOG, STATUS, PROCESS)  # the last two: whether it is a replica, and whether that hangs

_OF_CHANNEL = (
    ("lag", "s", "replication lag, excluding the configured delay"),
    ("transport_lag", "s", "part of the lag from the commit on the source to the relay log"),
    ("upstream_lag", "s", "part of the lag that arose before the direct source"),
    ("apply_lag", "s", "part of the lag from the relay log to the tables"),
    ("seconds_behind", "s", "the server's own Seconds_Behind_Source"),
    ("contact_age", "s", "time since the last event or heartbeat from the source"),
    ("slope", "", "growth of the lag in seconds per second, negative while it shrinks"),
    ("backlog", "", "transactions that are received and not yet applied"),
    ("clock_offset", "s", "time by which the replica's clock is ahead of the source's, where that is proven"),
    ("missing", "", "transactions of the source that are not applied on the replica, with --source"),
    (
        "errant",
        "",
        "transactions of the replica that the source does not have; without --source, those written recently",
    ),
)
_OF_SERVER = (
    (
        "redo_log",
        "%",
        "redo log in use, of the fill level at which writers wait; with a lag of 5 s, or with -v",
    ),
    (
        "history_list",
        "",
        "length of InnoDB's history list, which purge has yet to clear; with a lag of 5 s, or with -v",
    ),
    (
        "disk_busy",
        "%",
        "share of time that the disk of the data directory is busy; likewise, on the replica's host",
    ),
    ("innodb_status", "s", "duration of SHOW ENGINE INNODB STATUS; with a lag of 5 s, or with -v"),
)


def _panel(title: str, *labels: str) -> Panel:
    """Show these labels of the default channel, and of those that have a name."""
    return Panel(title, (*labels, *(f"{{channel}}_{label}" for label in labels)))


LAG = Service(
    "Replication lag",
    "replication_lag",
    "How far does it lag behind {source}, does the lag grow, and why?",
    (("not-replica", "critical"),),
)

DECLARED = Declared(
    labels=(
        *(Label(*one) for one in _OF_CHANNEL),
        *(
            Label(f"{{channel}}_{name}", unit, f"{about}; of a channel that has a name")
            for name, unit, about in _OF_CHANNEL
        ),
        *(Label(*one) for one in _OF_SERVER),
    ),
    privileges=(*ON_REPLICA, BINARY_LOG),
    services=(LAG,),
    panels=(
        _panel("Lag", "lag"),
        _panel("Where the lag is", "transport_lag", "upstream_lag", "apply_lag"),
        _panel("Transactions that wait, are missing, or are errant", "backlog", "missing", "errant"),
        _panel("Since the source was heard of", "contact_age"),
        Panel("Redo log and disk of the replica", ("redo_log", "disk_busy")),
        Panel("History list of the replica", ("history_list",)),
    ),
    healthy=Healthy("mysql", (), "lags 0 s"),
    row="Replication",
)
