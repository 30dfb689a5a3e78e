"""What check_jmx declares: labels, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service

STORAGE = "org.apache.cassandra.db:type=StorageService"
DROPPED = "org.apache.cassandra.metrics:type=DroppedMessage,scope=*,name=Dropped"
COMPACTIONS = "org.apache.cassandra.metrics:type=Compaction,name=PendingTasks"
COLLECTORS = "java.lang:type=GarbageCollector,name=*"

REPLICAS = "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"
CONTROLLER = "kafka.controller:type=KafkaController,name="

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
# The first ZGC: what it calls used after a collection is more (204 MiB where 100 MiB were live, JDK 11).
UNLIMITED_HEAP = HEAP._replace(
    about="How full is the heap? No limit: this ZGC fills the heap, and does not show what is live.",
    words=tuple(word for word in HEAP.words if word not in ("-w", "95%")),
)
# By a bean that the collector has: the pools of the heap of collectors that fill it between collections.
# Of 256 MiB, ZGC used up to 98 % while 59 % were live (JDK 17); after a collection it was 70 %. Where 78 %
# were live, it was 88 % and more, and ZGC collected without a break (JDK 17, 21, 25).
LIVE_POOLS = {"ZGC Cycles": "ZHeap", "ZGC Major Cycles": "ZGC*", "Shenandoah Cycles": "Shenandoah*"}


def live_heap(pools: str) -> Service:
    """Return the service for the heap of such a collector."""
    return HEAP._replace(
        about="How full is the heap after a collection? This collector fills it in between.",
        words=(
            "-O", f"java.lang:type=MemoryPool,name={pools}", "-A", "CollectionUsage", "-K", "used",
            "--of", f"{_MEMORY}/HeapMemoryUsage/max", "--aggregate", "sum", "--unit", "B", "-w", "85%",
            "--label", "heap",
        ),
    )  # fmt: skip


def leading(heap: Service) -> Service:
    """Return the service for the heap where no other one reports that the JVM does not answer."""
    return heap._replace(
        about=f"{heap.about} CRITICAL if the JVM does not answer.", options=_CRITICAL, leads=True
    )


LEADING_HEAP = leading(HEAP)
COLLECTING = Service(
    "Garbage collection",
    "jmx",
    "Milliseconds of each second that collections stop the application",
    words=(
        "-O", COLLECTORS, "-A", "CollectionTime", "--unit", "ms", *_RATE, "-w", "100", "-c", "300",
        "--label", "collecting",
    ),
)  # fmt: skip
# Collectors that work while the application runs count that in "... Cycles", what stops it in "... Pauses".
PAUSES = "Pauses"
PAUSING = COLLECTING._replace(
    words=tuple(f"{COLLECTORS}{PAUSES}" if word == COLLECTORS else word for word in COLLECTING.words)
)
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

# Kafka's own numbers, of one broker or controller: https://kafka.apache.org/documentation/#monitoring
UNDER_REPLICATED = Service(
    "Under-replicated partitions",
    "jmx",
    "Partitions led here of which replicas are missing or behind; while a broker restarts, too",
    words=("-O", REPLICAS, "-A", "Value", "--label", "under_replicated", "-w", "0"),
)
# Of several controllers one is active, and only that one knows of offline partitions: 0 is no fault of one.
WITHOUT_LEADER = Service(
    "Partitions without leader",
    "jmx",
    "Partitions that no client can use, as the active controller sees them; active: 1 of all controllers",
    words=(
        "-O", f"{CONTROLLER}OfflinePartitionsCount", "-A", "Value", "--label", "offline", "-c", "0",
        "-O", f"{CONTROLLER}ActiveControllerCount", "-A", "Value", "--label", "active_controllers",
    ),
)  # fmt: skip

DECLARED = Declared(
    labels=(
        Label(
            "{quantity}",
            "",
            "what was asked for, in the unit of --unit, or in % with --of; named by --label, or by the "
            "bean, the attribute and its key",
        ),
    ),
    privileges=(),
    services=(RING, HEAP, LEADING_HEAP, COLLECTING, THROWN_AWAY, WAITING, UNDER_REPLICATED, WITHOUT_LEADER),
    panels=(Panel("What check_jmx is asked for", ("{quantity}",)),),
    healthy=Healthy(
        "jmx",
        (),
        "Memory HeapMemoryUsage used",
        arguments=("-O", _MEMORY, "-A", "HeapMemoryUsage", "-K", "used"),
    ),
)
