"""What check_mysqld_process declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import NDB_DATA_DIR, NDB_GUESS, Declared, Healthy, Label, Panel, Service
from stallwatch.sources.mysql.privilege import Privilege

PROCESS = Privilege("PROCESS", "PROCESS", "which connection a thread belongs to")
PERFORMANCE_SCHEMA = Privilege(
    "SELECT ON performance_schema.*", "SELECT ON performance_schema.*", "what a thread does"
)

MYSQL_PROCESS = Service(
    "MySQL process",
    "mysqld_process",
    "What does the process use, and which of its threads?",
    nrpe="stallwatch_mysqld_process",
)
NDB_PROCESS = Service(
    "NDB process",
    "mysqld_process",
    f"What does the process of a data node use? {NDB_GUESS}",
    (("data-dir", NDB_DATA_DIR), ("program", "ndbmtd"), ("program", "ndbd")),
    nrpe="stallwatch_ndb_process",
    guessed=True,
)
JVM_PROCESS = Service(
    "JVM process",
    "mysqld_process",
    "What does the JVM's process use, and which of its threads?",
    (("program", "java"),),
)

DECLARED = Declared(
    labels=(
        Label("cpu", "%", "processor time, of one processor"),
        Label("user", "%", "time of it in the program"),
        Label("system", "%", "time of it in the kernel"),
        Label("system_share", "%", "share of system time in its processor time"),
        Label("minor_faults"),
        Label("major_faults", "", "major page faults per second: pages that it had to wait for"),
        Label("resident_memory"),
        Label("swapped_memory"),
        Label("threads"),
        Label("busiest_thread"),
        Label("uptime"),
        Label("open_descriptors", "", "descriptors that it has open: files, connections"),
        Label("descriptors", "%", "the same, of those that it may have"),
    ),
    privileges=(PROCESS, PERFORMANCE_SCHEMA),
    services=(MYSQL_PROCESS, NDB_PROCESS, JVM_PROCESS),
    panels=(
        Panel("mysqld: processors", ("cpu", "user", "system", "busiest_thread")),
        Panel("mysqld: memory", ("resident_memory", "swapped_memory")),
        Panel("mysqld: descriptors", ("descriptors",)),
    ),
    healthy=Healthy(
        "here",
        ("--major-faults-warning=~:",),
        "sleep ",
        arguments=("--pid-file", "{pid_file}", "--program", "{program}"),
    ),
)
