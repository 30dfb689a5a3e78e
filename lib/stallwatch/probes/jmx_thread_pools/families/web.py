"""Thread pools of servers that take requests."""

from __future__ import annotations

from stallwatch.probes.jmx_thread_pools.families.form import Bean, Family, Meaning

_SERVES = Meaning(
    "*",
    "new requests wait for a thread",
    "take a thread dump (jstack PID)",
    "it shows what holds the threads: a slow database or service?",
    serves=True,
)

FAMILIES = (
    Family(
        "Tomcat",
        "Tomcat 10.1.34",
        queries=("*:type=*Pool,*", "*:type=GlobalRequestProcessor,*"),
        beans=(
            # -1 of a connector's own numbers: it uses a shared Executor, or virtual threads (10.1.34).
            Bean("type=ThreadPool,name={pool}", active="currentThreadsBusy", maximum="maxThreads"),
            Bean("type=GlobalRequestProcessor,name={pool}", completed="requestCount"),
        ),
        meanings=(_SERVES,),
        # Spring Boot's reference, "server.tomcat.mbeanregistry.enabled": false unless set
        shown="Spring Boot: server.tomcat.mbeanregistry.enabled=true",
        silent="a Tomcat connector with a shared Executor or virtual threads has no numbers: the Executor is "
        "the pool, or check connectionCount of the connector's ThreadPool with check_jmx",
    ),
    Family(
        "Tomcat executors",
        "Tomcat 10.1.34",
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
        meanings=(_SERVES,),
        shown="Spring Boot: server.tomcat.mbeanregistry.enabled=true",
    ),
    Family(
        "Jetty",
        "Jetty 12.0.16, with the pool of Dropwizard Metrics 4.2.39, too",
        # Type and domain are those of its class: org.eclipse.jetty.util.thread, or whose pool it is instead.
        queries=("*:type=*queuedthreadpool,*",),
        beans=(
            Bean(
                "type=*queuedthreadpool,id={pool},...",
                pool="queuedthreadpool-{pool}",  # its own name begins anew with every start: qtp1531448569
                # Without those leased to acceptors and selectors; Jetty 9.4.20 has only the second.
                active="utilizedThreads busyThreads",
                maximum="maxAvailableThreads maxThreads",
                pending="queueSize",
                low="lowOnThreads",  # a thread that is reserved is neither busy nor there for the queue
                spare="lowThreadsThreshold",
            ),
        ),
        meanings=(_SERVES,),
        shown="--add-modules=jmx; embedded: server.addBean(new MBeanContainer(...)) of jetty-jmx",
    ),
    Family(
        "WebLogic",  # ThreadPoolRuntimeMBean in Oracle's reference: its one pool sizes itself
        "by documentation of WebLogic 12.2.1, not tried",
        queries=("com.bea:Type=ThreadPoolRuntime,*",),
        beans=(
            Bean(
                "Type=ThreadPoolRuntime,Name={pool},...",
                size="ExecuteThreadTotalCount",
                pending="PendingUserRequestCount",
                completed="CompletedRequestCount",
            ),
        ),
        meanings=(
            Meaning(
                "*",
                "blocked or long requests",
                "take a thread dump (jstack PID)",
                "HoggingThreadCount shows how many threads one request has had for long",
            ),
        ),
        drains=True,
    ),
    Family(
        "Kafka",
        "Kafka 3.9.0, 4.2.2",
        queries=(
            "kafka.server:type=KafkaRequestHandlerPool,name=*AvgIdlePercent",
            "kafka.network:type=SocketServer,name=*AvgIdlePercent",
        ),
        beans=(
            # A fraction, despite its name. It comes to nearly 2 where one process is broker and
            # controller: both add to it (KAFKA-19606, before Kafka 4.2; 1.97 on 3.9.0, 0.97 on 4.2.2).
            Bean("type=KafkaRequestHandlerPool,name={pool}AvgIdlePercent", idle="OneMinuteRate"),
            Bean("type=SocketServer,name={pool}AvgIdlePercent", idle="Value"),
        ),
        meanings=(
            Meaning(
                "*RequestHandler",
                "requests probably queue up",
                "check top and iostat -x 1",  # its topics may be compressed anew (compression.type): 3.9
                "also which clients send so many requests; num.io.threads sets the number of threads",
            ),
            Meaning(
                "*NetworkProcessor",
                "requests and responses probably queue up",
                "check the number of connections and requests",
                "TLS costs these threads, too; num.network.threads sets their number",
            ),
        ),
        # What a controller of KRaft has, what a broker has (3.9), and what a Kafka has that adds nothing up.
        sums="RequestHandler",
        sums_with=(
            "kafka.controller:type=KafkaController,name=LastAppliedRecordOffset",
            "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
        ),
        sums_without="kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent",
        sums_why="before Kafka 4.2 a broker that is also a controller shows only the sum of both idle times; "
        "RequestQueueTimeMs of kafka.network:type=RequestMetrics shows which requests wait",
        one_of_two="NetworkProcessor",  # the controller's (3.9.0, 4.2.2)
        other_of_two="the broker's network threads are not watched, NetworkProcessor is the controller's: "
        "use check_jmx -O 'kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*' "
        "-A io-wait-ratio --unit share --aggregate min -w 30%:",
        absent="ControlPlaneNetworkProcessor",  # without a listener of its own (3.9 with ZooKeeper)
        fixed=True,
        settles=60,  # on an idle Kafka 3.9 the first begins with 0, the second is below 0.5 for 34 s
    ),
)
