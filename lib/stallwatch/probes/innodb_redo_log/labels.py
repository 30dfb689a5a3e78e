"""What check_innodb_redo_log gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("redo_log", "%", "how full the redo log was at most, of the point where writers stall"),
    Label("waits", "", "waits of writers for the redo log since the last look, where the server counts them"),
    Label("checkpoint_age", "B", "bytes that are not yet checkpointed, at most"),
    Label("redo_written_per_s", "B", "bytes per second written to the redo log"),
    Label("redo_time", "s", "time of writes at this rate that the redo log holds"),
)
