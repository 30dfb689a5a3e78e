"""What check_ndb_redo_buffer declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.ndbinfo.declared import NDBINFO

DECLARED = Declared(
    labels=(
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
        Label(
            "slow_pages", "%", "page reads or writes of disk tables since the last run that took over 0.5 s"
        ),
        Label("slow_undo", "%", "waits for the undo log since the last run that took over 0.5 s"),
        Label("redo_lagged", "%", "time since the last run in which redo writes lagged, of the worst node"),
        Label("redo_full", "s", "median time a redo buffer was full, by --log"),
        Label("redo_lag", "s", "longest lag of a redo log part, by --log"),
    ),
    privileges=(NDBINFO,),
    services=(
        Service(
            "NDB redo buffer",
            "ndb_redo_buffer",
            "Do redo buffers fill: is it the buffer or the disk?",
            sets="ndb",
            notes="Do redo buffers fill, and is it the buffer or the disk?",
        ),
    ),
    panels=(
        Panel("Redo buffers", ("redo_buffer", "redo_buffer_peak", "node{node}_redo_buffer")),
        Panel("Redo log, undo log, undo buffer", ("redo_space", "undo_space", "undo_buffer")),
        Panel("Slow disks", ("slow_pages", "slow_undo", "redo_lagged")),
    ),
    healthy=Healthy("ndb", ("--count", "2"), "2 samples"),
)
