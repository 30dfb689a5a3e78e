# ruff: noqa: E501 - names are as long as servers write them
"""Which pools a JVM has, and what their numbers are: of beans as servers name them."""

import math

import pytest
from recorded_jvm import RecordedJvm
from stallwatch.probes.jmx.reader import Reader
from stallwatch.probes.jmx_thread_pools.collect import read
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.model import NUMBERS
from stallwatch.probes.jmx_thread_pools.queries import places
from stallwatch.sources.jmx import UnreadableError

METRICS = "org.apache.cassandra.metrics:type=ThreadPools,path={},scope={},name={}"


def found(beans, domains=None):
    jvm = RecordedJvm(beans, domains)
    return read(Reader(jvm, lambda _: None), places(jvm, lambda _: None), lambda _: None)


def pools(beans, domains=None):
    """The numbers that are known of each pool, by the pool's name."""
    return {
        pool.name: {name: of for name in NUMBERS if (of := getattr(pool, name)) is not None}
        for pool in found(beans, domains).pools
    }


def cassandra(pool, path="internal", **metrics):
    return {METRICS.format(path, pool, name): of for name, of in metrics.items()}


OLD = "org.apache.cassandra.{}:type={}"
JETTY = "org.eclipse.jetty.util.thread:type=queuedthreadpool,id={}"
OLD_JETTY = {"busyThreads": 5, "maxThreads": 8, "queueSize": 0, "lowOnThreads": False}
INFINISPAN = (
    'org.infinispan:type=CacheManager,component=org.infinispan.executors.{},name="DefaultCacheManager"'
)
NONE = {"activeCount": -1, "maximumPoolSize": -1, "queueSize": -1}
TOMCAT_DBCP = (
    'Catalina:type=DataSource,host=localhost,context=/shop,class=javax.sql.DataSource,name="jdbc/stock"{}'
)
TOMCAT_JDBC = 'tomcat.jdbc:name="jdbc/stock",context=/bills,{}type=ConnectionPool,host=localhost,class=X{}'


@pytest.mark.parametrize(
    ("beans", "expected"),
    [
        pytest.param(
            cassandra("FlushWriter", ActiveTasks={"Value": 1}, PendingTasks={"Value": 2}, CompletedTasks={"Value": 300},
                      CurrentlyBlockedTasks={"Count": 4}, TotalBlockedTasks={"Count": 50}, MaxPoolSize={"Value": 6},
                      MaxTasksQueued={"Value": 7}),
            {"FlushWriter": {"active": 1, "pending": 2, "completed": 300, "blocked": 4, "total_blocked": 50, "maximum": 6}},
            id="Cassandra keeps each number in a bean of its own"),
        pytest.param(
            cassandra("ReadStage", "request", CurrentlyBlockedTasks={"Value": 4}, TotalBlockedTasks={"Value": 5}),
            {"ReadStage": {"blocked": 4, "total_blocked": 5}},
            id="counters that are gauges in 2.1 are read all the same"),
        pytest.param(
            {OLD.format("internal", "FlushWriter"): {"ActiveCount": 1, "PendingTasks": 2, "CompletedTasks": 3,
                                                     "CurrentlyBlockedTasks": 4, "TotalBlockedTasks": 5},
             OLD.format("request", "ReadStage"): {"ActiveCount": 6}},
            {"FlushWriter": {"active": 1, "pending": 2, "completed": 3, "blocked": 4, "total_blocked": 5},
             "ReadStage": {"active": 6}},
            id="the names of before 1.2"),
        pytest.param(
            {OLD.format("request", "ReadStage"): {"ActiveCount": 6}, **cassandra("GossipStage", ActiveTasks={"Value": 7})},
            {"GossipStage": {"active": 7}},
            id="which count where there are no others"),
        pytest.param(
            {'Catalina:type=ThreadPool,name="http-nio-8080"': {"currentThreadsBusy": 7, "maxThreads": 200},
             'Catalina:type=ThreadPool,name="http-nio-8080",subType=SocketProperties': {"soTimeout": 5},
             'Tomcat:type=ThreadPool,name="http-nio-8081"': {"currentThreadsBusy": 8, "maxThreads": 100}},
            {"http-nio-8080": {"active": 7, "maximum": 200}, "http-nio-8081": {"active": 8, "maximum": 100}},
            id="Tomcat's connectors are called what the quotes hold"),
        pytest.param(
            {'Catalina:type=ThreadPool,name="ajp-nio-8009"': {"currentThreadsBusy": 3, "maxThreads": -1},
             "Catalina:type=Executor,name=shared": {"activeCount": 3, "maxThreads": 25, "queueSize": 4, "completedTaskCount": 5}},
            {"ajp-nio-8009": {"active": 3}, "shared": {"active": 3, "maximum": 25, "pending": 4, "completed": 5}},
            id="minus one is no number"),
        pytest.param(
            {JETTY.format(0): OLD_JETTY,
             JETTY.format("1,context=web"): {**OLD_JETTY, "utilizedThreads": 4, "maxAvailableThreads": 6, "lowOnThreads": True}},
            {"queuedthreadpool-0": {"active": 5, "maximum": 8, "pending": 0, "low": 0},
             "queuedthreadpool-1 web": {"active": 4, "maximum": 6, "pending": 0, "low": 1}},
            id="Jetty's pools are called by their number"),
        pytest.param(
            {"io.dropwizard.metrics.jetty12:type=instrumentedqueuedthreadpool,id=0":
             {"utilizedThreads": 4, "maxAvailableThreads": 4, "queueSize": 5, "lowOnThreads": True}},
            {"queuedthreadpool-0": {"active": 4, "maximum": 4, "pending": 5, "low": 1}},
            id="a pool of Jetty's that metrics measure has a name of its own class"),
        pytest.param(
            {INFINISPAN.format("blocking"): NONE,  # which JBoss Threads shows
             INFINISPAN.format("non-blocking"): {"activeCount": 2, "maximumPoolSize": 2, "queueSize": 3},
             INFINISPAN.format("timeout"): NONE},
            {"non-blocking": {"active": 2, "maximum": 2, "pending": 3}},
            id="Infinispan's pools are those that show numbers"),
        *(pytest.param(
            {f"com.zaxxer.hikari:{form.format('Pool')}": {"ActiveConnections": 10, "ThreadsAwaitingConnection": 3},
             f"com.zaxxer.hikari:{form.format('PoolConfig')}": {"MaximumPoolSize": 10, "IdleTimeout": 600000}},
            {"orders": {"active": 10, "maximum": 10, "blocked": 3}},
            id=f"HikariCP keeps the limit in another bean: {form}")
          for form in ("type={} (orders)", "type={},name=orders")),
        pytest.param(
            {TOMCAT_DBCP.format(""): {"numActive": 1, "maxTotal": 8},
             TOMCAT_DBCP.format(",connectionpool=connections"): {"NumActive": 2, "MaxTotal": 8, "NumWaiters": 3},
             TOMCAT_DBCP.format(",connectionpool=connections,connection=1"): {},
             TOMCAT_JDBC.format("", ""): {"NumActive": 4, "MaxActive": 9, "WaitCount": 5},
             TOMCAT_JDBC.format("", ",connections=Y"): {}},
            {"jdbc/stock /shop": {"active": 2, "maximum": 8, "blocked": 3},
             "jdbc/stock /bills": {"active": 4, "maximum": 9, "blocked": 5}},
            id="a pool of Tomcat's is one pool however many beans show it"),
        pytest.param(
            {TOMCAT_DBCP.format("").replace("Catalina", "Tomcat").replace("/shop", "/bills"): {"numActive": 1},
             TOMCAT_JDBC.format("engine=Tomcat,", ""): {"WaitCount": 5}},
            {"jdbc/stock /bills": {"active": 1, "blocked": 5}},
            id="as is what tomcat-jdbc shows once more in a domain of its own"),
        pytest.param(
            {TOMCAT_DBCP.format("").replace("localhost", host): {"numActive": 1} for host in ("one", "two")},
            {"jdbc/stock /shop one": {"active": 1}, "jdbc/stock /shop two": {"active": 1}},
            id="pools of one name in two virtual hosts are two"),
        pytest.param(
            {'app1:type=ThreadPool,name="http"': {"currentThreadsBusy": 200, "maxThreads": 200},
             'app2:type=ThreadPool,name="http"': {"currentThreadsBusy": 0, "maxThreads": 10},
             "shop:type=BasicDataSource,name=ds,connectionpool=connections": {"NumActive": 8, "NumWaiters": 5},
             "stock:type=BasicDataSource,name=ds,connectionpool=connections": {"NumActive": 0, "NumWaiters": 0}},
            {"http app1": {"active": 200, "maximum": 200}, "http app2": {"active": 0, "maximum": 10},
             "ds shop": {"active": 8, "blocked": 5}, "ds stock": {"active": 0, "blocked": 0}},
            id="pools of one name in two domains are two"),
        pytest.param(
            {"org.apache.commons.pool2:type=GenericObjectPool,name=pool": {"NumActive": 1, "MaxTotal": 8, "NumWaiters": 0},
             "org.apache.commons.pool2:type=GenericKeyedObjectPool,name=pool": {"NumActive": 2, "MaxTotal": -1}},
            {"pool": {"active": 1, "maximum": 8, "blocked": 0}, "pool Keyed": {"active": 2}},
            id="pools that are called the same are parted by what differs alone"),
        pytest.param(
            {'org.xnio:type=Xnio,provider="nio",worker="XNIO-1"': {"WorkerPoolSize": 4, "MaxWorkerPoolSize": 16, "WorkerQueueSize": 0},
             'org.xnio:type=Xnio,provider="nio"': {"Version": "3.8"},
             'jboss.threads:name="XNIO-1",type=thread-pool': {"PoolSize": 4, "MaximumPoolSize": 16, "QueueSize": 0},
             'jboss.threads:name="orders",type=thread-pool': {"PoolSize": 2, "MaximumPoolSize": 2, "QueueSize": 7}},
            {"XNIO-1": {"size": 4, "maximum": 16, "pending": 0},
             "orders": {"active": 2, "size": 2, "maximum": 2, "pending": 7}},
            id="a worker of Undertow that JBoss Threads shows once more is one pool"),
        pytest.param(
            {'org.apache.camel:context=camel-1,type=threadpools,name="Threads(0x1990a65e)"': {"ActiveCount": 1}},
            {"Threads camel-1": {"active": 1}},
            id="what Camel calls by a number of the moment is called without"),
        pytest.param(
            {f'org.apache.camel:context=camel-1,type=threadpools,name="Threads({of})"': {"ActiveCount": 1} for of in ("0x19", "0x25")},
            {"Threads camel-1 0x19": {"active": 1}, "Threads camel-1 0x25": {"active": 1}},
            id="unless only that parts two"),
        pytest.param(
            {"kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent": {"OneMinuteRate": 0.7, "Count": 1},
             "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent": {"Value": 0.9},
             "kafka.network:type=SocketServer,name=MemoryPoolUsed": {"Value": 0}},
            {"RequestHandler": {"idle": 0.7}, "NetworkProcessor": {"idle": 0.9}},
            id="Kafka shows how idle its threads are"),
        pytest.param(
            {"any:type=ThreadPoolX,name=a": {"currentThreadsBusy": 1},
             "any:type=ThreadPool,name=a,more=b": {"currentThreadsBusy": 1},
             "com.zaxxer.hikari:type=Pool (a": {"ActiveConnections": 1},
             "java.lang:type=MemoryPool,name=Metaspace": {"currentThreadsBusy": 1},
             "any:type=ThreadPool,name=odd": {"Size": 3}},
            {},
            id="names that only look like those of pools are none, nor is a bean without any of the attributes"),
    ],
)  # fmt: skip
def test_which_pools_there_are(beans, expected):
    assert pools(beans) == expected


def test_a_connector_and_an_executor_of_one_name_are_two():
    beans = {
        "Catalina:type=ThreadPool,name=web": {"currentThreadsBusy": 2, "maxThreads": 2},
        "Catalina:type=Executor,name=web": {"activeCount": 0, "maxThreads": 25, "queueSize": 0},
    }
    assert [(pool.name, pool.busy) for pool in found(beans).pools] == [("web", 100), ("web", 0)]


# Kafka


@pytest.mark.parametrize(
    ("name", "attribute", "idle"),
    [
        ("kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", "OneMinuteRate", 2.6),
        ("kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", "OneMinuteRate", 37),
        ("kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent", "Value", 1.6),
    ],
)
def test_what_is_no_share_of_the_time_is_not_taken_for_one(name, attribute, idle):
    """Per cent, for example, would be "idle 100 %"."""
    told = found({name: {attribute: idle}})
    (why,) = told.unread
    assert why.what == f"{attribute} of {name} is {idle:g}, which is no share of the time (0 to 1)"
    assert told.pools == []


@pytest.mark.parametrize("idle", [math.nan, None])  # which Jolokia sends for it
def test_threads_that_are_not_there_have_no_idle_time(idle):
    name = "kafka.network:type=SocketServer,name={}NetworkProcessorAvgIdlePercent"
    told = found({name.format(""): {"Value": 0.9}, name.format("ControlPlane"): {"Value": idle}})
    assert [(pool.name, pool.idle) for pool in told.pools] == [("NetworkProcessor", 0.9)]
    assert told.unread == []


@pytest.mark.parametrize(("idle", "said"), [(math.nan, "nan"), (None, "null")])
def test_only_the_control_plane_may_have_no_threads(idle, said):
    name = "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent"
    (why,) = found({name: {"Value": idle}}).unread
    assert why.what == f"Value of {name} is {said}, which is not a number"


# What is asked


def test_a_plain_jvm_is_asked_for_no_names():
    jvm = RecordedJvm(
        {}, ["JMImplementation", "java.lang", "java.nio", "java.util.logging", "com.sun.management"]
    )
    assert places(jvm, lambda _: None) == []
    assert jvm.asked == []


def test_a_server_where_questions_are_dear_is_asked_all_of_them_at_once():
    jvm = RecordedJvm(cassandra("A", ActiveTasks={"Value": 0}))
    asked = []
    jvm.names_ahead = asked.extend
    places(jvm, lambda _: None)
    assert len(dict(asked)) == len(asked)
    assert dict(asked)["org.apache.cassandra.metrics:type=ThreadPools,*"] == ["Value", "Count"]
    assert {"currentThreadsBusy", "NumWaiters"} < set(dict(asked)["*:type=*Pool,*"])


def test_cassandra_is_asked_for_no_other_pools():
    jvm = RecordedJvm(
        cassandra("ReadStage", ActiveTasks={"Value": 0}), ["java.lang", "org.apache.cassandra.metrics"]
    )
    places(jvm, lambda _: None)
    assert jvm.asked == ["org.apache.cassandra.metrics:type=ThreadPools,*"]


def test_an_unknown_domain_is_searched_once_for_each_pattern():
    jvm = RecordedJvm({}, ["java.lang", "Catalina"])
    places(jvm, lambda _: None)
    assert jvm.asked == [
        "*:type=*Pool,*",
        "*:type=GlobalRequestProcessor,*",
        "*:type=Executor,*",
        "*:type=*queuedthreadpool,*",
        "*:type=*DataSource,*",
    ]


def test_only_numbers_that_are_judged_or_shown_are_read():
    jvm = RecordedJvm(cassandra("A", ActiveTasks={"Value": 0}, OldestTaskQueueTime={"Value": 0}))
    read(Reader(jvm, lambda _: None), places(jvm, lambda _: None), lambda _: None)
    assert jvm.read_of == [METRICS.format("internal", "A", "ActiveTasks")]


def test_every_number_of_the_declarations_is_one_of_a_pool():
    assert {
        name for family in FAMILIES for bean in family.beans for name in NUMBERS if getattr(bean, name)
    } == set(NUMBERS)


# What goes wrong


def test_what_is_gone_when_it_is_read_is_left_out():
    jvm = RecordedJvm(
        {**cassandra("A", ActiveTasks={"Value": 1}), **cassandra("B", ActiveTasks={"Value": 2})}
    )
    existing = places(jvm, lambda _: None)
    del jvm.told[METRICS.format("internal", "A", "ActiveTasks")]
    told = read(Reader(jvm, lambda _: None), existing, lambda _: None)
    assert ([pool.name for pool in told.pools], told.unread) == (["B"], [])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "null"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        pytest.param(10**400, "inf", id="BigInteger"),
        ("many", "many"),
        ([1], "list"),
    ],
)
def test_what_is_no_number_is_said(value, said):
    told = found(cassandra("A", ActiveTasks={"Value": 1}, PendingTasks={"Value": value}))
    assert [pool.pending for pool in told.pools] == [None]
    (why,) = told.unread
    assert (
        why.what
        == f"Value of {METRICS.format('internal', 'A', 'PendingTasks')} is {said}, which is not a number"
    )


def test_what_cannot_be_read_is_said():
    why = UnreadableError("Value of X cannot be read: it threw")
    told = found(cassandra("A", ActiveTasks={"Value": why}, PendingTasks={"Value": 1}))
    assert told.unread == [why]
    assert [(pool.active, pool.pending) for pool in told.pools] == [(None, 1)]


def test_a_bean_of_a_pool_that_tells_nothing_is_said():
    told = found(cassandra("A", ActiveTasks={"Value": 1}, CurrentlyBlockedTasks={"Blocked": 2}))
    assert [(pool.active, pool.blocked) for pool in told.pools] == [(1, None)]
    (why,) = told.unread
    assert why.what == f"{METRICS.format('internal', 'A', 'CurrentlyBlockedTasks')} has no attribute Value"


def test_a_bean_that_tells_some_numbers_need_not_tell_all():
    beans = {"com.zaxxer.hikari:type=Pool (a)": {"ActiveConnections": 1}}
    assert found(beans).unread == []
