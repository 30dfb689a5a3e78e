"""Who held a stuck thread up: the rule, its evidence, and the next step.

Who used the processor meanwhile? Verified with frozen, spinning and system-calling threads of a real 9.7.2
data node; its root is Johan Andersson's "Cluster - spins/contentions and thread stuck in.." of 2010-09-02.
"""

from __future__ import annotations

from stallwatch.startup import NamedTuple

_USED = 0.05  # core; an idle ndbmtd as a whole stays below 0.013
_RATIO = 2.0  # one kind of time decides when it is twice the other
_ONE_CORE = 1.1  # what one thread can use at most, and an idle rest of the node
_DECIDABLE = 0.3  # seconds: four reports of the watchdog, three ticks of times(2)
# Who held a thread up, and the next step.
_ADVICE = {
    "OS kernel busy": "check network, swapping, memory compaction",
    "NDB kernel busy": "check its load in ndbinfo.threadstat",
    "process not running": "check swapping, VM steal, CPU quota, disk",
    "cause unclear": "check ndbinfo.threadstat",
    "too short to judge": "watch whether it comes back",
}
FURTHER = {
    "OS kernel busy": "turn frequency scaling off (cpuspeed), set RealtimeScheduler=1, LockExecThreadToCPU",
    "NDB kernel busy": "a big scan or many triggers can keep one thread busy",
}


class Cause(NamedTuple):
    """Who held the thread up, the evidence, and the next step."""

    who: str
    evidence: str
    advice: str

    def __str__(self) -> str:
        return f"{self.who} ({self.evidence})"


def judge(user: float, system: float, span: float, *, own: bool, busy: bool = False) -> Cause:
    """Return who was busy during ``span`` seconds in which ``user`` and ``system`` seconds of CPU passed.

    ``own`` times are the thread's; others are the whole process's and include every other thread, so that
    they make a cause only probable, and none when the process is ``busy`` or used more than one thread can.
    """
    if span < _DECIDABLE:
        return _cause("too short to judge", f"{span * 1000:.0f} ms of evidence" if span else "one report")
    user, system = user / span, system / span
    flat = user < _USED and system < _USED
    both = f"user {_core(user)}, system {_core(system)} core"
    if not own and not flat and (busy or user + system > _ONE_CORE):
        return _cause("cause unclear", f"process busy: {both}, and no times of the thread itself")
    if flat:
        who, evidence = "process not running", "no CPU time"
    elif system >= _USED and system >= _RATIO * user:
        who, evidence = "OS kernel busy", f"system {_core(system)} core, user {_core(user)}"
    elif user >= _USED and user >= _RATIO * system:
        who, evidence = "NDB kernel busy", f"user {_core(user)} core, system {_core(system)}"
    else:
        return _cause("cause unclear", f"a mixture: {both}")
    return _cause(who, evidence, probably=not own)


def _cause(who: str, evidence: str, *, probably: bool = False) -> Cause:
    return Cause(f"probably {who}" if probably else who, evidence, _ADVICE[who])


def _core(value: float) -> str:
    return "0" if value < 0.005 else f"{value:.2f}"  # noqa: PLR2004 - what rounds to 0.00
