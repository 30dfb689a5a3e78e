"""What a case of locks is: as any other, but that the truth is who is at the head of all waiting.

@fault("idle head", strengths=WAITERS, kind="row_lock", evidence=IDLE)
def idle_head(scene, waiters):
    '''A transaction was left open, and others wait for its row.'''
    yield
    head = scene.idle()
    scene.crowd(waiters, UPDATE)
    scene.blocks(head)
    yield
"""

from functools import partial
from typing import NamedTuple

import case

CHECK = "check_mysql_stalls"
WARNING, CRITICAL = 5.0, 20.0  # seconds that a head blocks others: the thresholds of every run
GIVES_UP = 15  # innodb_lock_wait_timeout: a wait ends before the head is CRITICAL, as with the defaults
IDLE, WORKS = ("idle_client", "turn_may_be_new"), ("working_client", "turn_may_be_new")  # rules
KILLS = ("idle_client", "working_client", "not_proven")  # rules whose next step is a KILL
WAITERS = {"1 waiter": 1, "5 waiters": 5, "25 waiters": 25}


class Expected(NamedTuple):
    """What is true of a case, and what may be said.

    kind     of the right cause, as the JSON has it
    evidence the rules one of which has decided; none: any
    limits   seconds after which the fault is WARNING and CRITICAL; None: it never is
    allowed  alarms that are not false while a healthy thing goes on
    wrong    rules whose next step does harm or does not help
    """

    kind: str = ""
    evidence: tuple = ()
    limits: tuple = (WARNING, CRITICAL)
    allowed: tuple = ()
    wrong: tuple = ()


_OURS = {"part": "locks", "expects": Expected, "every": 5.0, "warm": 14.0, "lasts": 34.0, "after": 9.0}


def fault(name, **told):
    """Add a fault: ``told`` are fields of Expected and of Case."""
    return partial(case.fault, **_OURS | {"strengths": WAITERS} | told)(name)


def healthy(name, **told):
    """Add a healthy thing that looks like a fault."""
    return partial(case.healthy, **_OURS | {"after": 0.0} | told)(name)
