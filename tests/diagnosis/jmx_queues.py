"""Tasks that queue up for a pool of two threads: those that stand still, and those that move."""

from case import WARNING_STATE
from jmx_case import POOLS, Told, fault, healthy

STILL = 15.0  # seconds from which on a queue counts as one that stands still
FOREVER, SOON = 3_600_000, 200  # milliseconds of a task


@fault(
    "queue stands still",
    strengths={"1 task waits": 2, "20 tasks wait": 21, "500 tasks wait": 501},
    told={POOLS: Told("blocked_tasks", of="*/bills")},
    states=(WARNING_STATE,),
    evident=STILL,
    lasts=42.0,
)
def queue_stands_still(scene, tasks):
    """Both threads of a pool have tasks that wait for ever; that of a client and others queue up."""
    scene.application.tell("tasks", 1, SOON)
    yield
    scene.application.tell("tasks", tasks, FOREVER)
    yield


@healthy("queue that moves", strengths={"20 tasks": 20, "500 tasks": 500}, lasts=33.0)
def queue_that_moves(scene, tasks):
    """A batch hands so many short tasks to a pool of two threads: they queue up, and are done in turn."""
    yield
    scene.application.tell("tasks", tasks, SOON)
    yield


@healthy("long tasks", strengths={"10 s": 10_000, "25 s": 25_000}, lasts=58.0)
def long_tasks(scene, milliseconds):
    """A pool gets a batch of six tasks that take long: four of them wait, and the queue moves slowly."""
    yield
    scene.application.tell("tasks", 6, milliseconds)
    yield
