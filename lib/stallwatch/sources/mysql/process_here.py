"""The process of a server that runs on our host, and what keeps it from answering."""

from __future__ import annotations

import time

from stallwatch.sources import control_groups, processes
from stallwatch.sources.processes import STOPPED, STUCK, TRACED
from stallwatch.startup import NamedTuple

PROGRAMS = frozenset({"mysqld", "mariadbd"})
_MOSTLY = 50.0  # per cent of the periods of a control group
SHORTEST = 0.3  # seconds: some periods of a control group, which are of 0.1 s
_LOOKS, _PAUSE = 4, 0.05  # further ones, and seconds between them
_SILENT = "mysqld does not respond"


class Why(NamedTuple):
    """What keeps it from answering, in a sentence, and what to do."""

    what: str
    advice: str


class ProcessHere:
    """A server's process; from its making on it is seen whether a control group rations it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._begun = time.monotonic()
        self._before = control_groups.rationed(pid)

    def exhausted(self) -> float:
        """Return in how many periods since then its control group had no processor time left, in per cent."""
        if time.monotonic() - self._begun < SHORTEST:
            return 0.0
        return control_groups.exhausted(self._before, control_groups.rationed(self.pid))

    def why(self) -> Why | None:
        """Return what keeps it from answering; None: that does not show."""
        task, pid = processes.task(self.pid), self.pid
        if control_groups.is_frozen(pid):
            what = f"{_SILENT}: the control group of process {pid} is frozen"
            return Why(what, "docker unpause or systemctl thaw")
        if task and task.state in {STOPPED, TRACED}:
            advice = f"find who stopped it, then kill -CONT {pid}"
            return Why(f"{_SILENT}: process {pid} is stopped, state {task.state}", advice)
        if (share := self.exhausted()) >= _MOSTLY:
            return Why(said(share), RAISE)
        if task and task.state == STUCK and self._stays_stuck():
            what = f"{_SILENT}: process {pid} probably waits for a disk, state {STUCK}"
            return Why(what, "look into dmesg and at the disk of its data")
        return None

    def _stays_stuck(self) -> bool:
        """Whether it waits for a disk at several looks in a row: each process does so for a moment."""
        for _ in range(_LOOKS):
            time.sleep(_PAUSE)
            task = processes.task(self.pid)
            if task is None or task.state != STUCK:
                return False
        return True


RAISE = "raise the CPU limit"  # of its container or unit


def said(share: float) -> str:
    """Report that a control group rations it."""
    return f"mysqld is throttled: its CPU limit is used up in {share:.0f} % of the periods"


def found(pid: int, port: int | None) -> ProcessHere | None:
    """Find a server by who listens at its socket, or as the only one here that may listen on its TCP port."""
    if port is not None:
        may_be = [one for one in processes.running(PROGRAMS) if _may_listen(one.pid, port)]
        may_be = [one for one in may_be if not processes.stranger(one.pid)]
        if len(may_be) > 1:  # whose socket it is only root and their user may see
            may_be = [one for one in may_be if one.option("--port", "-P") == str(port)]
        pid = may_be[0].pid if len(may_be) == 1 else 0
    return ProcessHere(pid) if pid and processes.program_of(pid) in PROGRAMS else None


def _may_listen(pid: int, port: int) -> bool:
    about = processes.status(pid)
    return about is not None and any(one.user == about.user for one in processes.listening(pid, port))
