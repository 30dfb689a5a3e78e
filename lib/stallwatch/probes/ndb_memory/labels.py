"""What check_ndb_memory gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("data_memory", "%", "data memory in use, of the fullest node"),
    Label("index_memory", "%", "index memory in use, of the fullest node; until NDB 7.5"),
    Label("long_message_buffer", "%", "long message buffer in use, of the fullest node"),
    Label("undo_space", "%", "undo log of disk tables in use"),
    Label("tablespace", "%", "extents in use, of the fullest tablespace"),
    Label("node{node}_data_memory", "%", "data memory in use, of this node; in a cluster of up to 4"),
)
