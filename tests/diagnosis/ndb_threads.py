"""Faults of one thread of a data node."""

import time

from ndb_case import LOG, fault

SECONDS = {"3 s": 3.0, "6 s": 6.0, "14 s": 14.0}
LATE = ("late thread", "missed heartbeats")
ENDED = (*LATE, "watchdog", "starting", "restarted", "node down")  # the watchdog ends the node after 18 s


def _trouble(scene, make):
    """Make it while the trial goes on; there is evidence once the log tells of it."""
    make()
    time.sleep(1)
    scene.note("evident")


@fault(
    "ldm thread held", strengths={"3 s": 3.0, "8 s": 8.0, "24 s": 24.0}, nodes=(4,), lasts=50.0,
    told={LOG: ("thread does not run", "watchdog")}, fair=ENDED,
)  # fmt: skip
def ldm_thread_held(scene, seconds):
    """An ldm thread of node 4 gets no processor for a while, or until the watchdog ends the node."""
    scene.load(0.05)
    yield
    _trouble(scene, lambda: scene.cluster.freeze(4, "ldm", seconds))
    yield


@fault(
    "receive thread held", strengths=SECONDS, nodes=(4,), lasts=36.0,
    told={LOG: ("thread does not run",)}, fair=LATE,
)  # fmt: skip
def receive_thread_held(scene, seconds):
    """The receive thread of node 4 gets no processor: heartbeats of others are not taken in."""
    scene.load(0.05)
    yield
    _trouble(scene, lambda: scene.cluster.freeze(4, "recv", seconds))
    yield


@fault(
    "ldm thread spins", strengths=SECONDS, nodes=(4,), lasts=36.0, heavy=True,
    told={LOG: ("NDB kernel busy",)}, fair=LATE,
)  # fmt: skip
def ldm_thread_spins(scene, seconds):
    """An ldm thread of node 4 computes in user space."""
    scene.load(0.05)
    yield
    _trouble(scene, lambda: scene.cluster.spin(4, "ldm", seconds))
    yield
