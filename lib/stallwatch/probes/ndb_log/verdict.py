"""Why an NDB kernel thread was stuck: who used the processor meanwhile?

The rule was verified with frozen, spinning and system-calling threads of a real 9.7.2 data node; its root is
Johan Andersson's "Cluster - spins/contentions and thread stuck in.." of 2010-09-02.
"""

from __future__ import annotations

from stallwatch.startup import NamedTuple

_USED = 0.05  # core; an idle ndbmtd as a whole stays below 0.013
_RATIO = 2.0  # one kind of time decides when it is twice the other
_ONE_CORE = 1.1  # what one thread can use at most, and an idle rest of the node
_DECIDABLE = 0.3  # seconds: four reports of the watchdog, three ticks of times(2)


class Verdict(NamedTuple):
    """Who held the thread up, the evidence, and the next step."""

    who: str
    evidence: str
    advice: str

    def __str__(self) -> str:
        return f"{self.who} ({self.evidence})"


_OS_BUSY = (
    "OS kernel busy",
    (
        "look at network, NIC driver, swapping, memory compaction; turn cpuspeed (frequency scaling) off; "
        "RealtimeScheduler=1, LockExecThreadToCPU"
    ),
)
_NDB_BUSY = (
    "NDB kernel busy",
    "look in ndbinfo.threadstat which thread it is, and what load it has (big scan, many triggers)",
)
_NOT_RUNNING = ("process not running", "look for swapping, VM steal, CPU quota, blocked I/O")
_CANNOT_TELL = ("cannot tell", "look at ndbinfo.threadstat")


def judge(user: float, system: float, span: float, *, own: bool, busy: bool = False) -> Verdict:
    """Say who was busy during ``span`` seconds in which ``user`` and ``system`` seconds of processor passed.

    ``own`` times are the thread's; others are the whole process's and include every other thread, so that
    they make a verdict only probable, and none when the process is ``busy`` or used more than one thread can.
    """
    if span < _DECIDABLE:
        evidence = f"{span * 1000:.0f} ms of evidence" if span else "one report"
        return Verdict("too short to tell", evidence, "watch whether it comes back")
    user, system = user / span, system / span
    flat = user < _USED and system < _USED
    if not own and not flat and (busy or user + system > _ONE_CORE):
        evidence = f"process busy: {_cores(user, system)}, and no times of the thread itself"
        return Verdict(_CANNOT_TELL[0], evidence, _CANNOT_TELL[1])
    if flat:
        who, advice = _NOT_RUNNING
        evidence = "user and system time flat"
    elif system >= _USED and system >= _RATIO * user:
        who, advice = _OS_BUSY
        evidence = f"system time {_core(system)} core, user {_core(user)}"
    elif user >= _USED and user >= _RATIO * system:
        who, advice = _NDB_BUSY
        evidence = f"user time {_core(user)} core, system {_core(system)}"
    else:
        return Verdict(_CANNOT_TELL[0], f"a mixture: {_cores(user, system)}", _CANNOT_TELL[1])
    return Verdict(who if own else f"probably {who}", evidence, advice)


def _core(value: float) -> str:
    return "0" if value < 0.005 else f"{value:.2f}"  # noqa: PLR2004 - what rounds to 0.00


def _cores(user: float, system: float) -> str:
    return f"user {_core(user)}, system {_core(system)} core"
