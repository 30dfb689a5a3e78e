"""Which processes of missing data nodes live, where the SQL node, and so maybe a data node, is on this host.

A data node of another cluster may have the same number here: this is evidence below the line, and changes no
verdict.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_PROGRAMS = ("ndbmtd", "ndbd")
_NODE = ("--ndb-nodeid",)


def alive(nodes: Collection[int]) -> tuple[str, ...]:
    """Say which processes of these data nodes run on this host, those started with --ndb-nodeid.

    An angel that is alone has one thread and no child (9.7.2).
    """
    try:
        return tuple(_said(nodes))
    except OSError:  # no /proc, or not for us to read
        return ()


def _said(nodes: Collection[int]) -> Iterator[str]:
    from stallwatch.sources import processes

    running = processes.running(_PROGRAMS)
    watched = {one.parent for one in running}
    for one in sorted(running, key=lambda one: one.pid):
        number = one.option(*_NODE) or ""
        task = processes.task(one.pid)
        if number not in map(str, nodes) or one.pid in watched or task is None:
            continue
        if task.threads == 1:
            yield f"on this host the angel of a node {number} runs, {one.name} {one.pid}, without its node"
        else:
            stopped = " (stopped)" if task.state == processes.STOPPED else ""
            yield f"on this host a node {number} runs, {one.name} {one.pid}{stopped}"
