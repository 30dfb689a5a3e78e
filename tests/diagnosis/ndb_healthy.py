"""Healthy things that look like a fault: nothing may alarm, or not more than that a node is away."""

import time

import places  # noqa: F401 - it says where the rest is
from case import WARNING_STATE
from ndb_case import NODES, PROCESS_3, PROCESS_4, healthy

# isort: split
import ndb_load
import thread_control

AWAY = {NODES: (WARNING_STATE,), PROCESS_3: (1, 2, 3), PROCESS_4: (1, 2, 3)}  # the process is not there


@healthy("quiet cluster", strengths={"20 writes/s": 0.05})
def quiet_cluster(scene, every):
    """Nothing happens but the usual writes."""
    scene.load(every)
    yield
    yield


@healthy("ordered restart", lasts=40.0, allowed=AWAY)
def ordered_restart(scene, _):
    """Somebody restarts node 4 by the management client."""
    scene.load(0.05)
    yield
    scene.cluster.restart(4)
    yield


@healthy("rolling restart", lasts=70.0, allowed=AWAY)
def rolling_restart(scene, _):
    """Node 3 is restarted, then node 4."""
    scene.load(0.05)
    yield
    for node in (3, 4):
        scene.cluster.restart(node)
        scene.sql_node.wait_for((3, 4))
        time.sleep(3)
    yield


@healthy("node start", lasts=45.0, allowed=AWAY)
def node_start(scene, _):
    """Node 4 is shut down in order, and started again after a while."""
    scene.load(0.05)
    yield
    scene.cluster.shut_down(4)
    time.sleep(12)
    scene.cluster.start_again(4)
    yield


@healthy("backup", lasts=40.0)
def backup(scene, _):
    """A backup is made."""
    scene.load(0.05)
    with ndb_load.filled_memory(scene.sql_node, 0.4):
        yield
        scene.cluster.mgm("start backup")
        yield


@healthy("busy cluster", strengths={"400 writes/s": 2, "1 600 writes/s": 8}, heavy=True)
def busy_cluster(scene, writers):
    """Much is written, and the disk can take it."""
    scene.load(0.005, writers)
    yield
    yield


@healthy("threads late in one instant", strengths={"100 ms": 0.1, "500 ms": 0.5})
def threads_late_in_one_instant(scene, seconds):
    """All threads of node 4 are late by a fraction of a second, once."""
    scene.load(0.05)
    yield
    thread_control.stop_process(scene.cluster.child(4).pid, seconds)
    yield


@healthy("restart of the SQL node", lasts=45.0, allowed={NODES: (1, 2, 3)})
def restart_of_the_sql_node(scene, _):
    """The SQL node restarts."""
    yield
    scene.sql_node.stop(30)
    time.sleep(2)
    scene.sql_node.start()
    scene.sql_node.wait_for((3, 4))
    yield


@healthy("transactions that come and go")
def short_transactions(scene, _):
    """Transactions wait for one another's locks, for a second at most."""

    def work():
        while time.monotonic() < ended:
            with ndb_load.lock_wait(scene.sql_node):
                time.sleep(0.5)

    ended = time.monotonic() + 50
    with scene.meanwhile(work):
        yield
        yield
