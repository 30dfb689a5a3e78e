"""Which server keeps the numbers of its pools in which MBeans: a table.

Every name and attribute was seen on the server itself, except where another source is named: Cassandra
1.0.12, 1.1.12, 1.2.19, 2.1.22 and 5.0.4, Tomcat 10.1, Jetty 12, HikariCP 6.2, commons-dbcp2 2.13,
tomcat-jdbc 10.1, Kafka 3.9.
"""

from __future__ import annotations

from stallwatch.startup import NamedTuple


class Bean(NamedTuple):
    """MBeans of one form, and the pool's numbers that are attributes of them.

    Several names for an attribute: the first that the bean has.
    """

    properties: str  # of an object name; {pool} stands for the pool's name, * for anything, ... for more
    pool: str = "{pool}"  # what the pool is called
    active: str = ""  # threads or connections in use
    maximum: str = ""  # of those
    pending: str = ""  # tasks that wait in the queue
    blocked: str = ""  # who cannot even get into the queue, or waits for a connection
    total_blocked: str = ""  # since the pool was made
    completed: str = ""  # since the pool was made
    idle: str = ""  # share of the time in which its threads had nothing to do, 0 to 1
    low: str = ""  # whether it has no thread left, if the server says so itself
    spare: str = ""  # how many threads are so few that it says so
    without: str = ""  # beans that have this property, too, are parts of a pool


class Family(NamedTuple):
    """Pools of one kind of server."""

    name: str
    queries: tuple[str, ...]  # object name patterns
    beans: tuple[Bean, ...]
    unless: str = ""  # another family, whose pools these would be once more
    busy: tuple[str, str] = ("thread busy", "threads busy")
    waiting: tuple[str, str] = ("task blocked", "tasks blocked")  # one, several
    blocks_when_full: bool = False  # that something is blocked says that the pool is full
    lends: bool = False  # connections, which may fail to be made: who waits may find none in use
    settles: float = 0  # seconds after the start of the JVM until averages are of what they say


def _cassandra(metric: str, **numbers: str) -> Bean:
    return Bean(f"type=ThreadPools,path=*,scope={{pool}},name={metric}", **numbers)


_IN_USE = ("connection in use", "connections in use")
_WAITING = ("thread waits for a connection", "threads wait for a connection")

FAMILIES = (
    Family(
        "Cassandra",
        queries=("org.apache.cassandra.metrics:type=ThreadPools,*",),
        beans=(
            _cassandra("ActiveTasks", active="Value"),
            _cassandra("MaxPoolSize", maximum="Value"),  # since 2.1
            _cassandra("PendingTasks", pending="Value"),
            _cassandra("CompletedTasks", completed="Value"),
            # In 2.1 those of request stages are gauges (SEPMetrics), all others are counters.
            _cassandra("CurrentlyBlockedTasks", blocked="Count Value"),
            _cassandra("TotalBlockedTasks", total_blocked="Count Value"),
        ),
        # "waiting to be accepted by the executor (because all threads are busy and the backing queue is
        # full)": Cassandra's ThreadPoolMetrics
        blocks_when_full=True,
    ),
    Family(
        "Cassandra before 1.2",
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
        unless="Cassandra",
        blocks_when_full=True,
    ),
    Family(
        "Tomcat",
        queries=("*:type=*Pool,*",),
        beans=(
            # -1 of a connector's own numbers: it uses a shared Executor.
            Bean("type=ThreadPool,name={pool}", active="currentThreadsBusy", maximum="maxThreads"),
        ),
    ),
    Family(
        "Tomcat executors",
        queries=("*:type=Executor,*",),
        beans=(
            Bean(
                "type=Executor,name={pool}",
                active="activeCount",
                maximum="maxThreads",
                pending="queueSize",
                completed="completedTaskCount",
            ),
        ),
    ),
    Family(
        "Jetty",
        queries=("org.eclipse.jetty.util.thread:type=queuedthreadpool,*",),
        beans=(
            Bean(
                "type=queuedthreadpool,id={pool},...",
                pool="queuedthreadpool-{pool}",  # its own name begins anew with every start: qtp1531448569
                # Without those leased to acceptors and selectors; Jetty 9.4.20 has only the second.
                active="utilizedThreads busyThreads",
                maximum="maxAvailableThreads maxThreads",
                pending="queueSize",
                low="lowOnThreads",  # a thread that is reserved is neither busy nor there for the queue
                spare="lowThreadsThreshold",
            ),
        ),
    ),
    Family(
        "HikariCP",
        queries=("com.zaxxer.hikari:*",),
        beans=(
            Bean("type=Pool ({pool})", active="ActiveConnections", blocked="ThreadsAwaitingConnection"),
            Bean("type=PoolConfig ({pool})", maximum="MaximumPoolSize"),
            # with -Dhikaricp.jmx.register2.0=true (HikariCP's PoolBase)
            Bean("type=Pool,name={pool}", active="ActiveConnections", blocked="ThreadsAwaitingConnection"),
            Bean("type=PoolConfig,name={pool}", maximum="MaximumPoolSize"),
        ),
        busy=_IN_USE,
        waiting=_WAITING,
        lends=True,
    ),
    Family(
        "JDBC pools",  # commons-dbcp, tomcat-jdbc
        queries=("*:type=*Pool,*", "*:type=*DataSource,*"),
        beans=(
            # What Tomcat shows of a pool in JNDI: dbcp (maxActive in dbcp 1), tomcat-jdbc with waitCount.
            Bean(
                "type=DataSource,name={pool},...",
                active="numActive",
                maximum="maxTotal maxActive",
                blocked="waitCount",
                without="connectionpool",
            ),
            Bean(
                "type=*DataSource,name={pool},connectionpool=connections,...",
                active="NumActive",
                maximum="MaxTotal",
                blocked="NumWaiters",
                without="connection",
            ),
            Bean(
                "type=ConnectionPool,name={pool},...",
                active="NumActive",
                maximum="MaxActive",
                blocked="WaitCount",
                without="connections",
            ),
        ),
        busy=_IN_USE,
        waiting=_WAITING,
        lends=True,
    ),
    Family(
        "Commons Pool",  # of whatever its users keep there: connections to Redis, FTP or LDAP servers
        queries=("*:type=*Pool,*",),
        beans=(
            Bean(
                "type=Generic*ObjectPool,name={pool}",
                active="NumActive",
                maximum="MaxTotal",
                blocked="NumWaiters",
            ),
        ),
        busy=("object in use", "objects in use"),
        waiting=("thread waits for an object", "threads wait for an object"),
        lends=True,
    ),
    Family(
        "Kafka",
        queries=(
            "kafka.server:type=KafkaRequestHandlerPool,name=*AvgIdlePercent",
            "kafka.network:type=SocketServer,name=*AvgIdlePercent",
        ),
        beans=(
            # A fraction, whatever the name says. It comes to nearly 2 where one process is broker and
            # controller: both add to it (KAFKA-19606, before Kafka 4.2).
            Bean("type=KafkaRequestHandlerPool,name={pool}AvgIdlePercent", idle="OneMinuteRate"),
            Bean("type=SocketServer,name={pool}AvgIdlePercent", idle="Value"),
        ),
        settles=60,  # on an idle Kafka 3.9 the first begins with 0, the second is below 0.5 for 34 s
    ),
)
