"""What check_ndb_log gives for graphs: the worst within --hold."""

from stallwatch.label import Label

LABELS = (
    Label("lines", "", "lines that were read in this run"),
    Label("shutdowns", "", "forced shutdowns"),
    Label("stuck", "s", "longest time without a sign of life of a thread"),
    Label("stuck_episodes", "", "how often threads were stuck"),
    Label("overslept", "s", "longest time a thread woke up too late"),
    Label("spin", "s", "longest time to spin for a lock"),
    Label("redo_full", "s", "median time a redo buffer was full"),
    Label("redo_lag", "s", "longest lag of a redo log part"),
    Label("missed_heartbeats", "", "heartbeats missed in a row, at most"),
    Label("gcp_commit_lag", "s", "longest lag of a GCP commit"),
    Label("gcp_save_lag", "s", "longest lag of a GCP save"),
    Label("backup_age", "s", "age of the last completed backup, with --backup-age"),
)
