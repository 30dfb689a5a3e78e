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
ON_SOURCE = (BINARY_LOG,)

_OF_CHANNEL = (
    ("lag", "s", "time that the channel is behind, without its intended delay"),
    ("transport_lag", "s", "time of it from the source's commit to the relay log"),
    ("upstream_lag", "s", "time of it before the direct source"),
    ("apply_lag", "s", "time of it from the relay log to the tables"),
    ("seconds_behind", "s", "the server's own Seconds_Behind_Source"),
    ("contact_age", "s", "time since the source was last heard of"),
    ("slope", "", "seconds of lag that come in a second"),
    ("backlog", "", "transactions received and not applied"),
    ("missing", "", "transactions of the source that are not applied here, with --source"),
    ("errant", "", "transactions here that the source does not have, with --source"),
)
_OF_SERVER = (
    ("redo_log", "%", "redo log in use, of the point where writers stall; when there is lag, or with -v"),
    ("history_list", "", "InnoDB's history list: what purge has yet to do; when there is lag, or with -v"),
    ("disk_busy", "%", "time that the data's disk has something to do; likewise, on the replica's host"),
    ("innodb_status", "s", "time that SHOW ENGINE INNODB STATUS takes; when there is lag, or with -v"),
)


def _panel(title: str, *labels: str) -> Panel:
    """Show these labels of the default channel, and of those that have a name."""
    return Panel(title, (*labels, *(f"{{channel}}_{label}" for label in labels)))


LAG = Service(
    "Replication lag",
    "replication_lag",
    "How far is it behind {source}, where is that going, and why?",
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
    privileges=(*ON_REPLICA, *ON_SOURCE),
    services=(LAG,),
    panels=(
        _panel("Lag", "lag"),
        _panel("Where the lag is", "transport_lag", "upstream_lag", "apply_lag"),
        _panel("Transactions that wait, are missing, or are errant", "backlog", "missing", "errant"),
        _panel("Since the source was heard of", "contact_age"),
        Panel("Redo log and disk of the replica", ("redo_log", "disk_busy")),
        Panel("History list of the replica", ("history_list",)),
    ),
    healthy=Healthy("mysql", (), "0 s behind"),
    row="Replication",
)
