"""Thread pools of servers that take requests."""

from __future__ import annotations

from stallwatch.causes import Kind
from stallwatch.probes.jmx_thread_pools.families.form import DUMP, SERVES, Bean, Family, Meaning

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
        meanings=(SERVES,),
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
        meanings=(SERVES,),
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
        meanings=(SERVES,),
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
                Kind.BLOCKED_TASKS,
                "blocked or long requests",
                DUMP,
                "HoggingThreadCount shows how many threads one request has had for long",
            ),
        ),
        drains=True,
    ),
)
