"""What a case of NDB Cluster is: as any other, but that each check has causes of its own to name.

Nodes that are down at its end are started by the lane, for the next one.

    @fault("data node killed", strengths=LOADS, told={NODES: ("node down",)}, nodes=(4,), evident=1.0)
    def data_node_killed(scene, every):
        '''Node 4 and its angel are killed.'''
        scene.load(every)
        yield
        scene.cluster.kill(4)
        yield
"""

from functools import partial
from typing import NamedTuple

import case
from case import ALARMS

LOG, NODES, REDO, MEMORY, TRANSACTIONS = (
    "check_ndb_log", "check_ndb_nodes", "check_ndb_redo_buffer", "check_ndb_memory", "check_ndb_transactions",
)  # fmt: skip
PROCESS_3, PROCESS_4 = "check_mysqld_process 3", "check_mysqld_process 4"
CHECKS = (LOG, NODES, REDO, MEMORY, TRANSACTIONS, PROCESS_3, PROCESS_4)
LOADS = {"idle": None, "20 writes/s": 0.05, "200 writes/s": 0.005}  # seconds between writes


class Expected(NamedTuple):
    """What is true of a case, and what may be said.

    told     by check: names of ndb_causes.py that are right as the first cause. Other checks need not alarm
    fair     names that are no error as the first cause of any check, though not the whole truth
    nodes    the nodes that have the fault; none: none is judged
    states   the right states of those that are to tell it
    evident  seconds after the injection at which evidence exists
    allowed  states that are no false alarm while a healthy thing goes on, by check
    wrong    regular expressions of what is wrong and certain once there is evidence
    """

    told: dict = {}  # noqa: RUF012 - never changed
    fair: tuple = ()
    nodes: tuple = ()
    states: tuple = ALARMS
    evident: float = 1.0
    allowed: dict = {}  # noqa: RUF012 - never changed
    wrong: tuple = ()


_OURS = {"part": "ndb", "expects": Expected, "servers": ("ndb",), "warm": 10.0, "lasts": 32.0, "after": 0.0}


def fault(name, **told):
    """Add a fault: ``told`` are fields of Expected and of Case."""
    own = {"fresh": True} if "settings" in told else {}
    return partial(case.fault, **_OURS | own | told)(name)


def healthy(name, **told):
    """Add a healthy thing that looks like a fault."""
    return partial(case.healthy, **_OURS | told)(name)
