"""What a case of JVMs is: as any other, but that each check has a cause of its own, or words, to say.

@fault("connections leak", strengths=WAITERS, told={POOLS: Told("connections_held", of="HikariCP/orders")})
def connections_leak(scene, waiters):
    '''Connections of a pool of four are never given back, and others wait for one.'''
    yield
    scene.application.tell("leak", 4 + waiters)
    yield
"""

from functools import partial
from typing import NamedTuple

import case
from case import ALARMS

POOLS, COLLECTING = "check_jmx_thread_pools", "check_jmx collecting"
CHECKS = (POOLS, COLLECTING)
WAITERS = {"1 waiter": 1, "5 waiters": 5, "25 waiters": 25}


class Told(NamedTuple):
    """The right first cause of a check that has it in its JSON: its kinds, and a pattern of whose it is."""

    kinds: str  # blanks between
    of: str = "*"


class Expected(NamedTuple):
    """What is true of a case, and what may be said.

    told     by check: the right first cause, or of one without causes a regular expression of its words.
             Other checks need not alarm
    fair     a regular expression of the words of what is no error of any check, though not the whole truth
    states   the right states of those that are to tell it
    evident  seconds after the injection at which evidence exists
    wrong    kinds that are wrong, however certain, once there is evidence
    """

    told: dict = {}  # noqa: RUF012 - never changed
    fair: str = ""
    states: tuple = ALARMS
    evident: float = 1.0
    wrong: tuple = ()


_OURS = {"part": "jmx", "expects": Expected, "servers": ("jmx",), "every": 4.0, "warm": 9.0, "lasts": 21.0,
         "after": 0.0}  # fmt: skip


def fault(name, **told):
    """Add a fault: ``told`` are fields of Expected and of Case."""
    return partial(case.fault, **_OURS | told)(name)


def healthy(name, **told):
    """Add a healthy thing that looks like a fault."""
    return partial(case.healthy, **_OURS | told)(name)
