"""Which processes of missing data nodes live, where the SQL node, and so maybe a data node, is on this host.

A data node of another cluster may have the same number here: it is told apart by the port of its management
server. This is evidence below the line, and changes no verdict.
"""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from stallwatch.sources.processes import Running

_NODE, _MANAGEMENT = ("--ndb-nodeid",), ("--ndb-connectstring", "--connect-string", "-c")
_USUAL = "1186"


def alive(nodes: Collection[int], management: str) -> tuple[str, ...]:
    """Say which processes of these data nodes run on this host, those started with --ndb-nodeid.

    ``management`` is ``host:port`` of their management server; empty: it is not known, and so nothing is.
    """
    try:
        return tuple(_said(nodes, management.rpartition(":")[2])) if management else ()
    except OSError:  # no /proc, or not for us to read
        return ()


def _is_of(process: Running, port: str) -> bool:
    """Whether its command line names a management server with this port."""
    told = process.option(*_MANAGEMENT)
    return told is not None and port in (re.findall(r":(\d{1,5})\b", told) or [_USUAL])


def _said(nodes: Collection[int], port: str) -> Iterator[str]:
    from stallwatch.sources import data_nodes, processes

    running = [one for one in processes.running(data_nodes.PROGRAMS) if _is_of(one, port)]
    watched = {one.parent for one in running}
    for one in sorted(running, key=lambda one: one.pid):
        number = one.option(*_NODE) or ""
        task = processes.task(one.pid)
        if number not in map(str, nodes) or one.pid in watched or task is None:
            continue
        if data_nodes.is_angel(task):
            yield f"on this host the angel of node {number} runs, {one.name} {one.pid}, without its node"
        else:
            stopped = " (stopped)" if task.state == processes.STOPPED else ""
            yield f"on this host node {number} runs, {one.name} {one.pid}{stopped}"
