"""Faults of the network between nodes: links that swallow everything."""

import time

from ndb_case import LOG, fault

# That no management node is connected to the data nodes is true while the link is cut. The angel of a node
# that lost the arbitration is alone for a moment, and starts it again.
WHAT_FOLLOWS = (
    "missed heartbeats", "node down", "angel alone", "starting", "restarted", "arbitrator", "network",
    "management node down",
)  # fmt: skip


@fault(
    "link to the management node cut", strengths={"12 s": 12.0, "25 s": 25.0, "40 s": 40.0}, nodes=(1, 4),
    lasts=55.0, told={LOG: ("network", "missed heartbeats", "node down")}, fair=WHAT_FOLLOWS,
    wrong=("started again",),
)  # fmt: skip
def link_to_management_cut(scene, seconds):
    """The link between the management node and node 4 swallows everything; both run."""
    scene.load(0.05)
    yield
    with scene.cut(1, 4):
        time.sleep(seconds)
        scene.note("evident")
    yield


@fault(
    "data nodes partitioned", strengths={"12 s": 12.0, "25 s": 25.0, "45 s": 45.0}, nodes=(3, 4), lasts=59.0,
    told={LOG: ("network",)}, fair=WHAT_FOLLOWS,
)  # fmt: skip
def data_nodes_partitioned(scene, seconds):
    """The link between the data nodes swallows everything; both reach the arbitrator."""
    scene.load(0.05)
    yield
    with scene.cut(3, 4):
        time.sleep(seconds)
        scene.note("evident")
    yield
