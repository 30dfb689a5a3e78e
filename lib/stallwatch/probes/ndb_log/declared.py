"""What check_ndb_log declares: labels, services, panels, and when all is well."""

from stallwatch.declared import NDB_DATA_DIR, NDB_GUESS, Declared, Healthy, Label, Panel, Service, Times

NODE_LOG = Service(
    "NDB log", "ndb_log", f"What do data nodes complain of? Reported for an hour. {NDB_GUESS}",
    (("log", f"{NDB_DATA_DIR}/ndb_*_out.log"),), attempts=1, nrpe="stallwatch_ndb_log", guessed=True,
)  # fmt: skip
CLUSTER_LOG = Service(
    "NDB cluster log", "ndb_log", f"What does the cluster log report? Reported for an hour. {NDB_GUESS}",
    (("log", f"{NDB_DATA_DIR}/ndb_*_cluster.log"),), attempts=1, nrpe="stallwatch_ndb_cluster_log",
    guessed=True,
)  # fmt: skip

# Labels are of the worst within --hold.
DECLARED = Declared(
    labels=(
        Label("lines", "", "lines that were read in this run"),
        Label("shutdowns", "", "forced shutdowns"),
        Label("stuck"),
        Label("stuck_episodes", "", "how often threads were stuck"),
        Label("overslept"),
        Label("spin"),
        Label("redo_full"),
        Label("redo_lag"),
        Label("missed_heartbeats", "", "heartbeats missed in a row, at most"),
        Label("gcp_commit_lag"),
        Label("gcp_save_lag"),
        Label("unknown_warnings", "", "lines of level WARNING or above that no rule knows"),
        Label("backup_age", "s", "age of the last completed backup, with --backup-age"),
    ),
    privileges=(),
    services=(NODE_LOG, CLUSTER_LOG),
    panels=(
        Panel(
            "What data nodes complain of: the longest",
            ("stuck", "overslept", "redo_full", "redo_lag", "gcp_commit_lag", "gcp_save_lag"),
        ),
        Panel(
            "What data nodes complain of: how often", ("stuck_episodes", "missed_heartbeats", "shutdowns")
        ),
    ),
    healthy=Healthy("log", (), "no thread stuck", arguments=("--log", "{log}")),
    times=Times(attempts=2),  # what a log shows is reported for an hour
)  # fmt: skip
