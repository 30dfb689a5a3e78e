"""Thread pools of Apache Cassandra."""

from __future__ import annotations

from stallwatch.causes import Certainty, Kind
from stallwatch.line import Forms
from stallwatch.probes.jmx_thread_pools.families.form import Bean, Family, Meaning

_DISKS = "check iostat -x 1"
_PAUSES = "also nodetool compactionstats, and the pauses in gc.log"

# What each pool does: "nodetool tpstats" in DataStax's documentation of Cassandra 2.1 and of DSE 6.8.
_MEANINGS = (
    # "a value greater than 0 indicates either I/O contention or degrading disk performance": DataStax,
    # "Pending task metrics for writes"
    Meaning("FlushWriter MemtableFlushWriter PerDiskMemtableFlushWriter_*",
            Kind.SLOW_DISK, "the disks are too slow for the flushes", _DISKS,
            "writes will wait; also nodetool compactionstats; "
            "raise memtable_flush_writers only if the disks are idle", certainty=Certainty.LIKELY),
    Meaning("MemtablePostFlush MemtablePostFlusher MemtableReclaimMemory",
            Kind.FLUSHES_BEHIND, "work after a flush waits", _DISKS,
            "for slow flushes, the commit log or old reads; also nodetool compactionstats"),
    # native_transport_max_threads in cassandra.yaml
    Meaning("Native-Transport-Requests",
            Kind.THREADS_EXHAUSTED, "many or slow requests", "run nodetool proxyhistograms",
            "requests are slow, or too many for native_transport_max_threads", serves=True),
    # "a high number of pending write requests indicates a problem handling them": nodetool tpstats, 2.0
    Meaning("MutationStage CounterMutationStage ViewMutationStage ReplicateOnWriteStage",
            Kind.WRITES_TOO_FAST, "writes arrive faster than they are applied", _DISKS,
            f"the node drops writes that wait too long; {_PAUSES}", serves=True),
    Meaning("ReadStage ReadRepairStage",
            Kind.READS_TOO_FAST, "reads arrive faster than they are answered", _DISKS,
            f"the node drops reads that wait too long; {_PAUSES}; "
            "nodetool tablehistograms shows reads of many SSTables or tombstones", serves=True),
    Meaning("RequestResponseStage InternalResponseStage",
            Kind.THREADS_EXHAUSTED, "responses of other nodes wait",
            Forms("check the load and the pauses in gc.log", "check load and gc.log")),
    Meaning("CompactionExecutor",
            Kind.SLOW_COMPACTION, "compaction is slower than the writes", "check nodetool compactionstats",
            "also compaction_throughput and iostat -x 1"),
    Meaning("ValidationExecutor AntiEntropyStage AntiEntropySessions Repair*",
            Kind.SLOW_REPAIR, "repair waits",
            Forms("check nodetool compactionstats for validations", "check nodetool compactionstats"),
            "how many repairs run at once?"),
    Meaning("GossipStage MigrationStage PendingRangeCalculator",
            Kind.CLUSTER_VIEW_LATE, "this node's view of the cluster is late",
            "check nodetool describecluster", "also nodetool gossipinfo and the pauses in gc.log"),
    Meaning("HintsDispatcher HintedHandoff",
            Kind.HINTS_UNDELIVERED, "hints cannot be delivered",
            Forms("check nodetool status for nodes that are down or slow", "check nodetool status")),
    Meaning("TracingStage",
            Kind.REQUESTS_TRACED, "too many requests are traced", "run nodetool settraceprobability 0",
            "or a client traces every request"),
    Meaning("*",
            Kind.THREADS_EXHAUSTED, "its threads cannot keep up",
            Forms("check nodetool tpstats and the load", "check nodetool tpstats"),
            "also the pauses in gc.log"),
)  # fmt: skip


def _metric(metric: str, **numbers: str) -> Bean:
    return Bean(f"type=ThreadPools,path=*,scope={{pool}},name={metric}", **numbers)


FAMILIES = (
    Family(
        "Cassandra",
        "Cassandra 1.2.19, 2.1.22, 3.11.19, 4.1.9, 5.0.4",
        queries=("org.apache.cassandra.metrics:type=ThreadPools,*",),
        beans=(
            _metric("ActiveTasks", active="Value"),
            _metric("MaxPoolSize", maximum="Value"),  # since 2.1
            _metric("PendingTasks", pending="Value"),
            _metric("CompletedTasks", completed="Value"),
            # In 2.1 those of request stages are gauges (SEPMetrics), all others are counters.
            _metric("CurrentlyBlockedTasks", blocked="Count Value"),
            _metric("TotalBlockedTasks", total_blocked="Count Value"),
        ),
        meanings=_MEANINGS,
        # "waiting to be accepted by the executor (because all threads are busy and the backing queue is
        # full)": Cassandra's ThreadPoolMetrics
        blocks_when_full=True,
        fixed=True,
    ),
    Family(
        "Cassandra before 1.2",
        "Cassandra 1.0.12, 1.1.12",
        queries=("org.apache.cassandra.internal:type=*", "org.apache.cassandra.request:type=*"),
        beans=(
            Bean(
                "type={pool}",
                active="ActiveCount",
                maximum="MaximumThreads",  # since 1.2, where the newer names are, too
                pending="PendingTasks",
                blocked="CurrentlyBlockedTasks",
                total_blocked="TotalBlockedTasks",
                completed="CompletedTasks",
            ),
        ),
        meanings=_MEANINGS,
        unless="Cassandra",
        blocks_when_full=True,
        fixed=True,
    ),
)
