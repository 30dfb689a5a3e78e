"""What check_jmx_thread_pools declares: labels, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service, Times

THREAD_POOLS = Service(
    "{kind} thread pools",
    "jmx_thread_pools",
    "Who is blocked? There are pools: {pools}. Blocked tasks are reported once.",
    attempts=1,
)

DECLARED = Declared(
    labels=(  # those of each pool with --pool, if they are few
        Label("pools", "", "pools that were found"),
        Label("threads"),
        Label("active", "", "threads and connections in use, of all pools"),
        Label("pending", "", "tasks in the queues of all pools"),
        Label("blocked", "", "tasks blocked now, and threads that wait for a connection, of all pools"),
        Label("blocked_new", "", "tasks blocked since the last run, of all pools"),
        Label("busy", "%", "part of its threads or connections that the busiest pool uses"),
        Label("idle", "%", "time that the busiest of Kafka's pools had nothing to do (at least: see States)"),
        Label("deadlocked", "", "threads that wait for each other for ever, with --deadlocks"),
        Label("{pool}.active", "", "threads or connections that the pool uses"),
        Label("{pool}.pending", "", "tasks in its queue"),
        Label("{pool}.blocked", "", "tasks that it blocks now, or threads that wait for a connection"),
        Label("{pool}.blocked_new", "", "tasks that it has blocked since the last run"),
        Label("{pool}.busy", "%", "part of its threads or connections that it uses"),
        Label("{pool}.idle", "%", "time that its threads had nothing to do (at least: see States); of Kafka"),
        Label("{pool}.completed_per_s", "", "tasks completed per second"),
    ),
    privileges=(),
    services=(THREAD_POOLS,),
    panels=(
        Panel("Thread pools", ("active", "pending", "blocked", "blocked_new")),
        Panel("The busiest pool, the least idle one", ("busy", "idle")),
        Panel("Threads", ("threads", "deadlocked")),
        Panel("Tasks in the queue of each pool (--pool)", ("{pool}.pending",)),
        Panel("Tasks blocked of each pool (--pool)", ("{pool}.blocked", "{pool}.blocked_new")),
        Panel("Tasks completed by each pool (--pool)", ("{pool}.completed_per_s",)),
    ),
    healthy=Healthy("jmx", ("--threads-warning", "100000"), "no pool of a known kind, "),
    times=Times(attempts=1),  # blocked tasks are reported once
)
