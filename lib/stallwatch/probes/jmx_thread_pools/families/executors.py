"""Thread pools to which frameworks hand tasks."""

from __future__ import annotations

from stallwatch.causes import Kind
from stallwatch.line import Forms
from stallwatch.probes.jmx_thread_pools.families.form import DUMP, SERVES, Bean, Family, Meaning

_BLOCKED = (
    Meaning(
        "*",
        Kind.BLOCKED_TASKS,
        "blocked or long tasks",
        DUMP,
        "it shows what the tasks wait for; a queue that moves alerts only with --pending-warning",
    ),
)

FAMILIES = (
    Family(
        "Undertow",
        "Undertow 2.3.21 with XNIO 3.8.16",
        queries=("org.xnio:type=Xnio,*",),
        beans=(
            Bean(
                "type=Xnio,provider=*,worker={pool}",
                active="BusyWorkerThreadCount",  # -1 unless jboss.threads.eqe.statistics.active-count=true
                size="WorkerPoolSize",
                maximum="MaxWorkerPoolSize",
                core="CoreWorkerPoolSize",
                pending="WorkerQueueSize",
            ),
        ),
        meanings=(SERVES,),
    ),
    Family(
        "JBoss Threads",
        "JBoss Threads 3.7.0",
        queries=("jboss.threads:type=thread-pool,*",),
        beans=(
            Bean(
                "type=thread-pool,name={pool}",
                active="ActiveCount",
                size="PoolSize",
                maximum="MaximumPoolSize",
                core="CorePoolSize",
                pending="QueueSize",
                completed="CompletedTaskCount",  # -1 unless jboss.threads.eqe.statistics=true
            ),
        ),
        meanings=_BLOCKED,
        shown="-Djboss.threads.eqe.statistics=true (to see whether a queue stands still)",
        again="Undertow",
        drains=True,
    ),
    Family(
        "Camel",
        "Camel 4.8.3",
        queries=("org.apache.camel:type=threadpools,*",),
        beans=(
            Bean(
                "type=threadpools,name={pool},context=*",
                active="ActiveCount",
                maximum="MaximumPoolSize",
                core="CorePoolSize",  # threads beyond these are made when the queue is full
                pending="TaskQueueSize",
                completed="CompletedTaskCount",
            ),
        ),
        meanings=_BLOCKED,
        shown="camel-management on the class path",
        drains=True,
    ),
    Family(
        "Hazelcast",
        "Hazelcast 5.5.0",
        queries=(
            "com.hazelcast:type=HazelcastInstance.ManagedExecutorService,*",
            "com.hazelcast:type=IExecutorService,*",
        ),
        beans=(
            Bean(
                "type=HazelcastInstance.ManagedExecutorService,name={pool},instance=*",
                active="poolSize",  # of threads that are at work
                maximum="maximumPoolSize",
                pending="queueSize",
                completed="completedTaskCount",
            ),
            Bean(
                "type=IExecutorService,name={pool},instance=*",
                pending="localPendingTaskCount",
                completed="localCompletedTaskCount",
            ),
        ),
        meanings=_BLOCKED,
        shown="hazelcast.jmx=true",
        drains=True,
    ),
    Family(
        "Infinispan",  # its pool for what may block is one of JBoss Threads: threadpool-1
        "Infinispan 15.0.11",
        queries=("org.infinispan:type=CacheManager,component=org.infinispan.executors.*,*",),
        beans=(
            Bean(
                "type=CacheManager,component=org.infinispan.executors.{pool},name=*",
                active="activeCount",  # -1, as all others, of pools that are none of java.util.concurrent
                maximum="maximumPoolSize",
                pending="queueSize",
            ),
        ),
        meanings=(
            Meaning(
                "non-blocking",
                Kind.THREADS_EXHAUSTED,
                Forms("operations wait for threads that should not block", "operations wait"),
                DUMP,
                "it shows a listener or store that blocks; or the processors are at their limit",
                serves=True,
            ),
            *_BLOCKED,
        ),
        shown='<jmx enabled="true"/> in the cache container; JBoss Threads shows its pool for what may block',
    ),
    Family(
        "Virtual threads",
        "JDK 25 (from 24 on)",
        queries=("jdk.management:type=VirtualThreadScheduler",),
        beans=(
            Bean(
                "type={pool}",
                pool="virtual threads",
                active="MountedVirtualThreadCount",
                maximum="Parallelism",
                pending="QueuedVirtualThreadCount",
            ),
        ),
        meanings=(
            Meaning(
                "*",
                Kind.THREADS_EXHAUSTED,
                "all carriers are at work or pinned",
                "compare with the load of the processors",
                "jcmd PID Thread.dump_to_file shows pinned threads",
            ),
        ),
        busy=("carrier busy", "carriers busy"),
        fixed=True,
        everywhere=True,
    ),
)
