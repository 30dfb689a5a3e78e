"""Which processes of missing data nodes live, where the SQL node, and so maybe a data node, is on this host.

A data node of another cluster may have the same number here: it differs by the port of its management
server. What is found goes below the line; it decides the next step if that server has the same name, too.
"""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from stallwatch.sources.processes import Running

_NODE, _MANAGEMENT = ("--ndb-nodeid",), ("--ndb-connectstring", "--connect-string", "-c")
_USUAL = "1186"


class Process(NamedTuple):
    """A process of a missing data node on this host: the node proper, or its angel without it."""

    node: int
    program: str
    pid: int
    is_angel: bool = False
    is_stopped: bool = False
    is_certain: bool = False  # it is of this cluster for certain

    @property
    def runs(self) -> bool:
        """Whether it is the node proper of this cluster, and nobody has stopped it."""
        return self.is_certain and not self.is_angel and not self.is_stopped

    def __str__(self) -> str:
        what = f"{self.program} {self.pid}"
        if self.is_angel:
            return f"on this host the angel of node {self.node} runs, {what}, without its node"
        return f"on this host node {self.node} runs, {what}{' (stopped)' if self.is_stopped else ''}"


def alive(nodes: Collection[int], management: str) -> tuple[Process, ...]:
    """Return the processes of these data nodes that run on this host, those started with --ndb-nodeid.

    ``management`` is ``host:port`` of their management server; empty: it is not known, and so nothing is.
    """
    try:
        return tuple(_alive(nodes, *management.rpartition(":")[::2])) if management else ()
    except OSError:  # no /proc, or not for us to read
        return ()


def _is_of(process: Running, port: str) -> bool:
    """Whether its command line names a management server with this port, and its user may run a node."""
    from stallwatch.sources import processes

    told = process.option(*_MANAGEMENT)
    is_of = told is not None and port in (re.findall(r":(\d{1,5})\b", told) or [_USUAL])
    return is_of and not processes.stranger(process.pid)


def _alive(nodes: Collection[int], host: str, port: str) -> Iterator[Process]:
    from stallwatch.sources import data_nodes, processes

    running = [one for one in processes.running(data_nodes.PROGRAMS) if _is_of(one, port)]
    watched = {one.parent for one in running}
    for one in sorted(running, key=lambda one: one.pid):
        number = one.option(*_NODE) or ""
        task = processes.task(one.pid)
        if number not in map(str, nodes) or one.pid in watched or task is None:
            continue
        told = re.split(r"[,;=:]", one.option(*_MANAGEMENT) or "")
        stopped = task.state == processes.STOPPED
        yield Process(int(number), one.name, one.pid, data_nodes.is_angel(task), stopped, host in told)
