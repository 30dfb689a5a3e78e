"""What check_ndb_redo_buffer gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("redo_buffer", "%", "how full the fullest redo buffer stayed in all samples"),
    Label("redo_buffer_peak", "%", "how full any redo buffer was in one sample"),
    Label(
        "node{node}_redo_buffer",
        "%",
        "how full the fullest redo buffer of this node stayed; in a cluster of up to 4",
    ),
    Label("redo_space", "%", "redo log in use, of the fullest node"),
    Label("undo_space", "%", "undo log of disk tables in use, of the fullest node"),
    Label("undo_buffer", "%", "undo buffer of disk tables in use, of the fullest node"),
    Label("redo_full", "s", "median time a redo buffer was full, by --log"),
    Label("redo_lag", "s", "longest lag of a redo log part, by --log"),
)
