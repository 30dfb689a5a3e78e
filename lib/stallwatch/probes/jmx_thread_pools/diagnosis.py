"""What it means that a pool is blocked or full, and which of its numbers tells of the worst trouble."""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.jmx_thread_pools.model import LASTING
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.findings import Reading
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_thread_pools.model import Observation, Pool


class Meaning(NamedTuple):
    """What a block in pools of these names means, and the next step."""

    family: str
    pools: str  # names of pools, blanks between
    why: str
    advice: str
    serves: bool = False  # requests of clients, which wait as soon as the pool is full


_FLUSH = "look at iostat -x 1 and nodetool compactionstats"
_DISKS = "look at iostat -x 1, nodetool compactionstats and the pauses in gc.log"


def _cassandra(pools: str, why: str, advice: str, *, serves: bool = False) -> Meaning:
    return Meaning("Cassandra*", pools, why, advice, serves)


# The first row that fits counts. "*" stands for anything, once in a name.
MEANINGS = (
    # What each pool does: "nodetool tpstats" in DataStax's documentation of Cassandra 2.1 and of DSE 6.8.
    _cassandra(
        # "a value greater than 0 indicates either I/O contention or degrading disk performance": DataStax,
        # "Pending task metrics for writes"
        "FlushWriter MemtableFlushWriter PerDiskMemtableFlushWriter_*",
        "the disks cannot take the flushes, writes will wait",
        f"{_FLUSH}; raise memtable_flush_writers only if the disks are idle",
    ),
    _cassandra(
        "MemtablePostFlush MemtablePostFlusher MemtableReclaimMemory",
        "what follows a flush waits: for slow flushes, the commit log or old reads",
        _FLUSH,
    ),
    _cassandra(
        "Native-Transport-Requests",
        # native_transport_max_threads in cassandra.yaml
        "clients send more requests at once than native_transport_max_threads can serve",
        "look at nodetool proxyhistograms: slow requests, or too many of them?",
        serves=True,
    ),
    _cassandra(
        "MutationStage CounterMutationStage ViewMutationStage ReplicateOnWriteStage",
        # "a high number of pending write requests indicates a problem handling them": nodetool tpstats, 2.0
        "writes come faster than this node can apply them, it will drop some",
        _DISKS,
        serves=True,
    ),
    _cassandra(
        "ReadStage ReadRepairStage",
        "reads come faster than this node can answer them, it will drop some",
        f"{_DISKS}; nodetool tablehistograms shows reads of many SSTables or tombstones",
        serves=True,
    ),
    _cassandra(
        "RequestResponseStage InternalResponseStage",
        "answers of other nodes are not handled in time",
        "look at the load and at the pauses in gc.log",
    ),
    _cassandra(
        "CompactionExecutor",
        "compaction cannot keep up with the writes",
        "look at nodetool compactionstats, compaction_throughput and iostat -x 1",
    ),
    _cassandra(
        "ValidationExecutor AntiEntropyStage AntiEntropySessions Repair*",
        "repair waits",
        "look at nodetool compactionstats for validations, and how many repairs run at once",
    ),
    _cassandra(
        "GossipStage MigrationStage PendingRangeCalculator",
        "this node falls behind in what it knows of the cluster",
        "look at nodetool describecluster, gossipinfo and the pauses in gc.log",
    ),
    _cassandra(
        "HintsDispatcher HintedHandoff",
        "hints cannot be delivered",
        "look at nodetool status for nodes that are down or slow",
    ),
    _cassandra(
        "TracingStage",
        "more requests are traced than can be written down",
        "nodetool settraceprobability 0, or look for a client that traces every request",
    ),
    _cassandra(
        "*",
        "its threads cannot keep up",
        "look at nodetool tpstats, the load and the pauses in gc.log",
    ),
    *(
        Meaning(
            family,
            "*",
            "new requests wait for a thread",
            "take a thread dump (jstack PID) to see what holds them up: a slow database or service?",
            serves=True,
        )
        for family in ("Tomcat*", "Jetty")
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


class Trouble(NamedTuple):
    """The worst of a pool that is in trouble."""

    one: Observation
    worst: Reading


def waits(pool: Pool) -> bool:
    """Whether somebody waits because the pool is full, or has nothing to give."""
    served = meaning(pool).serves and pool.pending != 0  # not all that serve say how many requests wait
    return pool.starved or (pool.full and bool(pool.blocked or served))


def troubles(observed: Iterable[Observation], run: Run) -> list[Trouble]:
    """Give what is wrong with each pool, the one first in which most wait."""
    ranked = sorted(observed, key=lambda one: one.pool.rank)
    return [Trouble(one, worst) for one in ranked if (worst := _worst(one, run))]


def _worst(one: Observation, run: Run) -> Reading | None:
    lasting = _lasting(one)
    if run.alerts(LASTING["idle"], one.idle_before):
        lasting = "idle"

    def gravity(reading: Reading) -> int:
        return run.is_problem(reading) + run.is_problem(reading, State.CRITICAL)

    readings = [
        reading._replace(judged_as=LASTING[lasting]) if reading.name == lasting else reading
        for reading in one.readings
    ]
    worst = max(readings, key=gravity, default=None)
    return worst if worst and gravity(worst) else None


def _lasting(one: Observation) -> str:
    """Tell which number says that somebody waits for a full pool, and still did at the second look."""
    if one.second is None or not (waits(one.pool) and waits(one.second)):
        return ""
    if one.pool.blocked and one.second.blocked:
        return "blocked"
    return "pending" if one.pool.busy is None else "busy"
