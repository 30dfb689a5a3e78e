"""Processes of NDB data nodes on this host: an angel starts the node proper, and starts it again."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.sources.processes import Task

PROGRAMS = ("ndbmtd", "ndbd")


def is_angel(task: Task | None) -> bool:
    """Whether a data node's process that has no child only watches: it has one thread (9.7.2)."""
    return task is not None and task.threads == 1
