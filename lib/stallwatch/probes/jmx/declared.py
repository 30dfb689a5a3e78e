"""What check_jmx declares: labels, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service

STORAGE = "org.apache.cassandra.db:type=StorageService"
DROPPED = "org.apache.cassandra.metrics:type=DroppedMessage,scope=*,name=Dropped"
COMPACTIONS = "org.apache.cassandra.metrics:type=Compaction,name=PendingTasks"
COLLECTORS = "java.lang:type=GarbageCollector,name=*"

_MEMORY = "java.lang:type=Memory"
_CRITICAL = (("unreachable", "critical"),)
_RATE = ("--rate", "--aggregate", "sum")

HEAP = Service(
    "JVM heap",
    "jmx",
    "How full is the heap?",
    words=(
        "-O", _MEMORY, "-A", "HeapMemoryUsage", "-K", "used", "--of", "max", "--unit", "B", "-w", "95%",
        "--label", "heap",
    ),
)  # fmt: skip
LEADING_HEAP = HEAP._replace(
    about="How full is the heap? CRITICAL if the JVM does not answer.", options=_CRITICAL, leads=True
)
COLLECTING = Service(
    "Garbage collection",
    "jmx",
    "Milliseconds of each second that collectors take",
    words=(
        "-O", COLLECTORS, "-A", "CollectionTime", "--unit", "ms", *_RATE, "-w", "100", "-c", "300",
        "--label", "collecting",
    ),
)  # fmt: skip
RING = Service(
    "Cassandra",
    "jmx",
    "Is it in the ring, and does it see the others? CRITICAL if it does not answer.",
    _CRITICAL,
    (
        "-O", STORAGE, "-A", "OperationMode", "--match", "^NORMAL$",
        "-A", "UnreachableNodes", "-w", "0", "--label", "unreachable_nodes",
    ),
    leads=True,
)  # fmt: skip
THROWN_AWAY = Service(
    "Dropped messages",
    "jmx",
    "Messages that waited too long and were thrown away, per second",
    words=("-O", DROPPED, "-A", "Count", *_RATE, "-w", "0", "-c", "100", "--label", "dropped"),
)
WAITING = Service(
    "Compactions",
    "jmx",
    "Compactions that wait: reads have to look into more and more files",
    words=("-O", COMPACTIONS, "-A", "Value", "--label", "pending", "-w", "100"),
)

DECLARED = Declared(
    labels=(
        Label(
            "{quantity}",
            "",
            "what was asked for, in the unit of --unit, or in % with --of; called as --label says, or by the "
            "bean, the attribute and its key",
        ),
    ),
    privileges=(),
    services=(RING, HEAP, LEADING_HEAP, COLLECTING, THROWN_AWAY, WAITING),
    panels=(Panel("What check_jmx is asked for", ("{quantity}",)),),
    healthy=Healthy(
        "jmx",
        (),
        "Memory HeapMemoryUsage used",
        arguments=("-O", _MEMORY, "-A", "HeapMemoryUsage", "-K", "used"),
    ),
)
