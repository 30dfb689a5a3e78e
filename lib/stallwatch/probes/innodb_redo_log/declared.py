"""What check_innodb_redo_log declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.mysql.asking import PROCESS

DECLARED = Declared(
    labels=(
        Label("redo_log", "%", "how full the redo log was at most, of the point where writers stall"),
        Label(
            "waits", "", "waits of writers for the redo log since the last look, where the server counts them"
        ),
        Label("checkpoint_age", "B", "bytes that are not yet checkpointed, at most"),
        Label("redo_written_per_s", "B", "bytes per second written to the redo log"),
        Label("redo_time", "s", "time of writes at this rate that the redo log holds"),
    ),
    privileges=(PROCESS,),
    services=(
        Service(
            "InnoDB redo log",
            "innodb_redo_log",
            "How near is the redo log to where writers wait?",
            sets="mysql",
            notes="Do writers wait for the redo log? A burst is over by the third attempt",
        ),
    ),
    panels=(
        Panel("Redo log", ("redo_log",)),
        Panel("Writers and readers that wait", ("waits",), ("innodb_buffer_pool wait_free",)),
        Panel("Written to the redo log", ("redo_written_per_s",)),
        Panel("Not yet checkpointed", ("checkpoint_age",)),
    ),
    healthy=Healthy("mysql", (), "of the stall point in 5 samples"),
)
