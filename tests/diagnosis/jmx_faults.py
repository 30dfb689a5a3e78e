"""Pools of connections and of threads in which somebody waits, deadlocks, and a heap that is too small."""

from case import CRITICAL_STATE, WARNING_STATE
from jmx_case import COLLECTING, POOLS, WAITERS, Told, fault

CRITICAL, WARNING = (CRITICAL_STATE,), (WARNING_STATE,)
NOT_HELD = ("no_new_connections",)
LENT_OUT = Told("connections_held", of="HikariCP/orders")
NO_NEW = Told("no_new_connections", of="HikariCP/orders")
HANGS = "threads_exhausted slow_requests"
REQUESTS = {"4 requests": 4, "8 requests": 8, "30 requests": 30}
WORKERS = {"2 waiters": 6, "6 waiters": 10, "26 waiters": 30}  # of a pool of 4


@fault("connections leak", strengths=WAITERS, told={POOLS: LENT_OUT}, states=CRITICAL, wrong=NOT_HELD)
def connections_leak(scene, waiters):
    """Connections are never given back, and other threads wait for one."""
    scene.application.tell("work", 2, 20, 200)
    yield
    scene.application.tell("leak", 4 + waiters)
    yield


@fault("database killed", strengths=WORKERS, told={POOLS: NO_NEW}, states=CRITICAL)
def database_killed(scene, workers):
    """The database of the pool is killed, so that no connection can be made."""
    scene.application.tell("work", workers, 20, 200)
    yield
    scene.kill_database()
    yield


@fault("database hangs", strengths=WORKERS, told={POOLS: LENT_OUT}, states=CRITICAL, wrong=NOT_HELD)
def database_hangs(scene, workers):
    """The database of the pool is stopped (SIGSTOP): all connections wait for its answer, others for them."""
    scene.application.tell("work", workers, 20, 200)
    yield
    scene.freeze_database()
    yield


@fault(
    "requests hang",
    strengths=REQUESTS,
    told={POOLS: Told(HANGS, of="Tomcat executors/shared")},
    lasts=45.0,
    states=WARNING,
    evident=2.0,
)
def requests_hang(scene, requests):
    """All 3 threads of a Tomcat's Executor work at requests that do not end, and others wait in its queue."""
    scene.start_tomcat()
    yield
    scene.tomcat.request(scene.tomcat.ports[1], requests, "/orders/")
    yield


@fault(
    "requests hang, no queue is shown",
    strengths=REQUESTS,
    told={POOLS: Told(HANGS, of="Tomcat/http-nio-*")},
    lasts=45.0,
    states=WARNING,
    evident=2.0,
)
def requests_hang_unseen(scene, requests):
    """The same on the threads of a Tomcat's connector, which does not tell of its queue."""
    scene.start_tomcat()
    yield
    scene.tomcat.request(scene.tomcat.ports[0], requests, "/orders/")
    yield


@fault(
    "deadlock",
    strengths={"2 threads": 2, "5 threads": 5, "20 threads": 20},
    told={POOLS: Told("thread_deadlock")},
    states=CRITICAL,
)
def deadlock(scene, threads):
    """Threads wait for each other in a circle; the pool goes on."""
    scene.application.tell("work", 2, 20, 200)
    yield
    scene.application.tell("deadlock", threads)
    yield


@fault(
    "heap too small",
    strengths={"195 MiB live": 195, "205 MiB live": 205, "215 MiB live": 215},
    told={COLLECTING: "CollectionTime"},
    evident=6.0,
    fair="CollectionTime",
    heavy=True,
)
def heap_too_small(scene, live):
    """Nearly all of a heap of 256 MiB is live, in small objects; 60 MiB of garbage are made each second."""
    scene.application.tell("work", 2, 20, 200)
    yield
    scene.application.tell("garbage", live, 60)
    yield
