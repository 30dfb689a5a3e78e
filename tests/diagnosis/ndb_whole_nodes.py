"""Faults of whole nodes: killed, alone, frozen."""

import contextlib
import time

from ndb_case import LOADS, LOG, NODES, PROCESS_3, PROCESS_4, fault

DOWN = ("node down", "killed")
BACK = ("starting", "restarted", "node down", "killed")


@fault(
    "data node killed", strengths=LOADS, nodes=(4,),
    told={LOG: DOWN, NODES: ("node down",), PROCESS_4: ("node down",)},
)  # fmt: skip
def data_node_killed(scene, every):
    """Node 4 and its angel are killed by signal 9, and nobody starts it."""
    scene.load(every)
    yield
    scene.cluster.kill(4)
    yield


@fault(
    "data node killed, its angel starts it", strengths=LOADS, nodes=(4,),
    told={LOG: ("killed",)}, fair=BACK,
)  # fmt: skip
def data_node_killed_once(scene, every):
    """Node 4 is killed by signal 9 as the kernel does when memory runs out; the angel starts it again."""
    scene.load(every)
    yield
    scene.cluster.kill_child(4)
    yield


@fault(
    "angel alone", strengths=LOADS, nodes=(4,),
    told={LOG: DOWN, NODES: ("node down",), PROCESS_4: ("angel alone",)}, fair=("node down",),
)  # fmt: skip
def angel_alone(scene, every):
    """The angel of node 4 hangs, and does not start the node proper, which was killed."""
    scene.load(every)
    yield
    scene.cluster.angel(4).suspend()
    scene.cluster.kill_child(4)
    yield
    scene.cluster.kill(4)


@fault(
    "whole cluster killed", nodes=(3, 4), lasts=36.0, evident=9.0,
    strengths={"at once": (0.0, False), "8 s apart": (8.0, False), "with the management node": (0.0, True)},
    told={LOG: ("cluster down",), NODES: ("cluster down",), PROCESS_3: ("node down",),
          PROCESS_4: ("node down",)},
    fair=(*DOWN, "cluster down", "management node down"),
)  # fmt: skip
def whole_cluster_killed(scene, strength):
    """Both data nodes and their angels are killed by signal 9, or all, as in a power failure."""
    apart, all_of_them = strength
    scene.load(0.05)
    yield
    if all_of_them:
        scene.cluster.kill_management()
    scene.cluster.kill(3)
    time.sleep(apart)
    scene.cluster.kill(4)
    yield


@fault(
    "data node frozen", strengths={"3 s": 3.0, "8 s": 8.0, "24 s": 24.0}, nodes=(4,), lasts=50.0,
    told={LOG: ("process stood still",)},
    fair=(*BACK, "process stood still", "missed heartbeats", "connections"),
)  # fmt: skip
def data_node_frozen(scene, seconds):
    """The process of node 4 is stopped (SIGSTOP) for a while."""
    scene.load(0.05)
    yield
    with contextlib.suppress(ProcessLookupError):
        scene.cluster.freeze_process(4, seconds)
    time.sleep(1)
    scene.note("evident")
    yield


@fault(
    "management node killed", strengths=LOADS, nodes=(1,),
    told={NODES: ("management node down",)}, fair=("arbitrator", "management node down"),
)  # fmt: skip
def management_node_killed(scene, every):
    """The management node is killed by signal 9; data nodes and SQL node work on."""
    scene.load(every)
    yield
    scene.cluster.kill_management()
    yield
