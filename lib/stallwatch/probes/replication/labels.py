"""What check_replication_lag gives for graphs."""

from stallwatch.label import Label

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

LABELS = (
    *(Label(name, unit, about) for name, unit, about in _OF_CHANNEL),
    *(
        Label(f"{{channel}}_{name}", unit, f"{about}; of a channel that has a name")
        for name, unit, about in _OF_CHANNEL
    ),
    Label(
        "redo_log", "%", "redo log in use, of the point where writers stall; when there is lag, or with -v"
    ),
    Label(
        "history_list", "", "InnoDB's history list: what purge has yet to do; when there is lag, or with -v"
    ),
    Label("disk_busy", "%", "time that the data's disk has something to do; likewise, on the replica's host"),
    Label("innodb_status", "s", "time that SHOW ENGINE INNODB STATUS takes; when there is lag, or with -v"),
)
