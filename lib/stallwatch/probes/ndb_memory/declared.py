"""What check_ndb_memory declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.ndbinfo.declared import NDBINFO, PROCESS

DECLARED = Declared(
    labels=(
        Label("data_memory", "%", "data memory in use, of the fullest node"),
        Label("index_memory", "%", "index memory in use, of the fullest node; until NDB 7.5"),
        Label("long_message_buffer", "%", "long message buffer in use, of the fullest node"),
        Label("undo_space", "%", "undo log of disk tables in use"),
        Label("tablespace", "%", "extents in use, of the fullest tablespace"),
        Label("node{node}_data_memory", "%", "data memory in use, of this node; in a cluster of up to 4"),
    ),
    privileges=(NDBINFO, PROCESS),
    services=(
        Service(
            "NDB memory",
            "ndb_memory",
            "How full is it, and when will writes fail?",
            sets="ndb",
            notes="Which memory, tablespace or undo log is full?",
        ),
    ),
    panels=(
        Panel("Memory", ("data_memory", "index_memory", "long_message_buffer", "tablespace", "undo_space")),
        Panel("Memory of each data node", ("node{node}_data_memory",)),
    ),
    healthy=Healthy("ndb", (), "data memory at most"),
)
