"""What it means that a pool is blocked or full, and what to look at: a table.

The first row that fits counts. ``*`` stands for anything, once in a name.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.jmx_thread_pools.pool import Pool


class Meaning(NamedTuple):
    """What a block in pools of these names means, and the next step."""

    family: str
    pools: str  # names of pools, blanks between
    why: str
    advice: str
    serves: bool = False  # requests of clients, which wait as soon as the pool is full


_FLUSH = "look at iostat -x 1 and nodetool compactionstats"
_DISKS = "look at iostat -x 1, nodetool compactionstats and the pauses in gc.log"

MEANINGS = (
    # What each pool does: "nodetool tpstats" in DataStax's documentation of Cassandra 2.1 and of DSE 6.8.
    Meaning(
        "Cassandra*",
        # "a value greater than 0 indicates either I/O contention or degrading disk performance": DataStax,
        # "Pending task metrics for writes"
        "FlushWriter MemtableFlushWriter PerDiskMemtableFlushWriter_*",
        "the disks cannot take the flushes, writes will wait",
        f"{_FLUSH}; raise memtable_flush_writers only if the disks are idle",
    ),
    Meaning(
        "Cassandra*",
        "MemtablePostFlush MemtablePostFlusher MemtableReclaimMemory",
        "what follows a flush waits: for slow flushes, the commit log or old reads",
        _FLUSH,
    ),
    Meaning(
        "Cassandra*",
        "Native-Transport-Requests",
        # native_transport_max_threads in cassandra.yaml
        "clients send more requests at once than native_transport_max_threads can serve",
        "look at nodetool proxyhistograms: slow requests, or too many of them?",
        serves=True,
    ),
    Meaning(
        "Cassandra*",
        "MutationStage CounterMutationStage ViewMutationStage ReplicateOnWriteStage",
        # "a high number of pending write requests indicates a problem handling them": nodetool tpstats, 2.0
        "writes come faster than this node can apply them, it will drop some",
        _DISKS,
        serves=True,
    ),
    Meaning(
        "Cassandra*",
        "ReadStage ReadRepairStage",
        "reads come faster than this node can answer them, it will drop some",
        f"{_DISKS}; nodetool tablehistograms shows reads of many SSTables or tombstones",
        serves=True,
    ),
    Meaning(
        "Cassandra*",
        "RequestResponseStage InternalResponseStage",
        "answers of other nodes are not handled in time",
        "look at the load and at the pauses in gc.log",
    ),
    Meaning(
        "Cassandra*",
        "CompactionExecutor",
        "compaction cannot keep up with the writes",
        "look at nodetool compactionstats, compaction_throughput and iostat -x 1",
    ),
    Meaning(
        "Cassandra*",
        "ValidationExecutor AntiEntropyStage AntiEntropySessions Repair*",
        "repair waits",
        "look at nodetool compactionstats for validations, and how many repairs run at once",
    ),
    Meaning(
        "Cassandra*",
        "GossipStage MigrationStage PendingRangeCalculator",
        "this node falls behind in what it knows of the cluster",
        "look at nodetool describecluster, gossipinfo and the pauses in gc.log",
    ),
    Meaning(
        "Cassandra*",
        "HintsDispatcher HintedHandoff",
        "hints cannot be delivered",
        "look at nodetool status for nodes that are down or slow",
    ),
    Meaning(
        "Cassandra*",
        "TracingStage",
        "more requests are traced than can be written down",
        "nodetool settraceprobability 0, or look for a client that traces every request",
    ),
    Meaning(
        "Cassandra*",
        "*",
        "its threads cannot keep up",
        "look at nodetool tpstats, the load and the pauses in gc.log",
    ),
    Meaning(
        "Tomcat*",
        "*",
        "new requests wait for a thread",
        "take a thread dump (jstack PID) to see what holds them up: a slow database or service?",
        serves=True,
    ),
    Meaning(
        "Jetty",
        "*",
        "new requests wait for a thread",
        "take a thread dump (jstack PID) to see what holds them up: a slow database or service?",
        serves=True,
    ),
    Meaning(
        "HikariCP",
        "*",
        # After connectionTimeout a waiting thread gets an SQLTransientConnectionException.
        "statements are slow, or connections are not given back",
        "look at what runs in the database; leakDetectionThreshold logs who keeps one",
    ),
    Meaning(
        "JDBC pools",
        "*",
        "statements are slow, or connections are not given back",
        "look at what runs in the database; logAbandoned logs who keeps one",
    ),
    Meaning(
        "Commons Pool",
        "*",
        "all are in use for long, or are not given back",
        "take a thread dump (jstack PID) to see who uses them and who waits",
    ),
    Meaning(
        "Kafka",
        "*RequestHandler",
        "its threads (num.io.threads) are at work nearly all the time, requests queue up",
        "look at iostat -x 1, and at which clients send so many requests",
    ),
    Meaning(
        "Kafka",
        "*NetworkProcessor",
        "its threads (num.network.threads) are at work nearly all the time",
        "look at the number of connections and requests, TLS included",
    ),
)


# Nobody waits for a pool that may grow, unless it cannot.
_NO_NEW = Meaning(
    "*",
    "*",
    "the pool may have more: new ones cannot be made, or come slowly",
    "does the database or service answer, and let the application in? Its log tells why not",
)


def meaning(pool: Pool) -> Meaning:
    """Give what a block in this pool means."""
    if pool.family.lends and pool.blocked and pool.busy is not None and not pool.full:
        return _NO_NEW
    for row in MEANINGS:
        if _fits(row.family, pool.family.name) and any(_fits(name, pool.name) for name in row.pools.split()):
            return row
    return Meaning(pool.family.name, "*", "", "")


def _fits(form: str, name: str) -> bool:
    head, sign, tail = form.partition("*")
    rest = name.removeprefix(head)
    return name.startswith(head) and rest.endswith(tail) and bool(sign or not rest)
