"""Data nodes that end while they are looked at.

Rows of a data node that does not answer are simply not there. While one is killed, rows of others may be
missing, too, for a moment and without an error (9.7.2): what was asked before and after does not go together.
"""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.ndbinfo.asking import ClusterDownError
from stallwatch.probes.ndbinfo.cluster import answering
from stallwatch.probes.ndbinfo.words import have, named
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import TypeVar

    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster

    Found = TypeVar("Found")


class NodeEndedError(Exception):
    """A data node has ended since the look began; the message names it, for a person."""


def settled(look: Callable[[], Found]) -> Found:
    """Look, and anew if that raises NodeEndedError, as if somebody had run the check again.

    Raises a ProbeError if a node ends during the second look, too.
    """
    try:
        return look()
    except NodeEndedError:
        pass
    try:
        return look()
    except NodeEndedError as error:
        raise ProbeError(f"{error}, and one more just before", "run the check again") from None


def without_row(ndbinfo: Ndbinfo, cluster: Cluster, told: Container[int], table: str) -> list[ProbeError]:
    """Say so of started nodes that a table does not tell of; raises NodeEndedError if one has ended since."""
    problems: list[ProbeError] = [*cluster.without_row(told, table)]
    if problems:
        try:
            rule_out_end(ndbinfo, cluster)
        except ClusterDownError:
            raise
        except ProbeError as error:
            problems.append(error)
    return problems


def rule_out_end(ndbinfo: Ndbinfo, cluster: Cluster) -> None:
    """Raise NodeEndedError if a node of ``cluster`` was started and is not any more.

    Raises a ProbeError if that cannot be asked.
    """
    started = {node.id for node in answering(ndbinfo) if node.is_started}
    if ended := sorted(set(cluster.started) - started):
        raise NodeEndedError(f"{named(ended)} {have(ended)} ended while {cluster.where} was asked")
