"""The data nodes of a cluster: who is expected, who answers."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.probes.ndbinfo.words import named
from stallwatch.sources.mysql import MissingTableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from typing import Any

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row

STARTED = "STARTED"
_REMEMBERED = "data_nodes"


class Node(NamedTuple):
    """A data node that answers."""

    id: int
    uptime: int  # seconds
    status: str  # STARTED, STARTING, SHUTTING_DOWN, ... (view ndbinfo.nodes)
    start_phase: int
    config_generation: int | None  # counts changes of the configuration; not before 7.1.10

    @property
    def is_started(self) -> bool:
        """Whether it takes part in all that the cluster does."""
        return self.status == STARTED


class Cluster(NamedTuple):
    """The data nodes of one cluster."""

    where: str  # the SQL node that was asked
    nodes: dict[int, Node]  # those that answer
    expected: tuple[int, ...]  # those that are configured, as far as their ids are known
    unnamed: int = 0  # more that are missing, whose ids nobody has told

    @property
    def configured(self) -> int:
        """How many there are to be."""
        return len(self.expected) + self.unnamed

    @property
    def started(self) -> tuple[int, ...]:
        """Those that have rows in every table."""
        return tuple(sorted(node.id for node in self.nodes.values() if node.is_started))

    @property
    def not_started(self) -> tuple[int, ...]:
        """Those that answer and do not take part yet, or not any more."""
        return tuple(sorted(node.id for node in self.nodes.values() if not node.is_started))

    @property
    def missing(self) -> tuple[int, ...]:
        """Those that do not answer: down, or starting and not far enough yet."""
        return tuple(sorted(set(self.expected) - set(self.nodes)))

    def without_row(self, told: Container[int], table: str) -> Iterator[ProbeError]:
        """Say so of started nodes that a table does not tell of: that is no sign of health."""
        silent = [node for node in self.started if node not in told]
        if silent:
            do, have = ("answer", "have") if len(silent) > 1 else ("answers", "has")
            yield ProbeError(f"{named(silent)} {do}, but {have} no row in ndbinfo.{table}")

    def asides(self) -> Iterator[Fault]:
        """Say whom a verdict is not about: rows of a node that does not answer are simply not there."""
        missing = len(self.missing) + self.unnamed
        if self.unnamed:
            yield Fault(
                State.OK, f"{missing} of {self.configured} data nodes do not answer: judged without them"
            )
        elif missing:
            do, it = ("do not", "them") if missing > 1 else ("does not", "it")
            yield Fault(State.OK, f"{named(self.missing)} {do} answer: judged without {it}")
        for status in dict.fromkeys(self.nodes[node].status for node in self.not_started):
            nodes = [node for node in self.not_started if self.nodes[node].status == status]
            yield Fault(State.OK, f"{named(nodes)} {'are' if len(nodes) > 1 else 'is'} {_spoken(status)}")


def look_at_started(ndbinfo: Ndbinfo, memory: dict[str, Any]) -> Cluster:
    """Do as ``look``, for what started nodes tell alone; raises a ProbeError, too, if there is none."""
    cluster = look(ndbinfo, memory)
    if not cluster.started:
        raise ProbeError("; ".join(aside.what for aside in cluster.asides()))
    return cluster


def look(ndbinfo: Ndbinfo, memory: dict[str, Any]) -> Cluster:
    """Find out who is there; ``memory`` keeps the ids of data nodes for versions that do not tell them.

    Raises ClusterDownError, or another ProbeError that says why nobody can be judged.
    """
    configured = ndbinfo.configured()
    nodes = {node.id: node for node in answering(ndbinfo)}
    known = _configured(ndbinfo)
    if not known:
        known = remembered(memory) | set(nodes)
        if len(known) > configured:  # one was taken out of the configuration since
            known = set(nodes)
    expected = sorted(known | set(nodes))
    memory[_REMEMBERED] = expected
    return Cluster(ndbinfo.where, nodes, tuple(expected), max(0, configured - len(expected)))


def answering(ndbinfo: Ndbinfo) -> list[Node]:
    """Ask which data nodes answer; raises a ProbeError, if none does, too."""
    return [_node(row) for row in ndbinfo.some("SELECT * FROM ndbinfo.nodes")]


def _configured(ndbinfo: Ndbinfo) -> set[int]:
    """Give the ids of all configured data nodes; none where that cannot be asked, before 7.5.7."""
    try:
        rows = ndbinfo.rows("SELECT DISTINCT node_id FROM ndbinfo.config_nodes WHERE node_type = 'NDB'")
    except MissingTableError:
        return set()
    return {whole(row, "node_id") for row in rows}


def remembered(memory: dict[str, Any]) -> set[int]:
    """Give the ids of the data nodes that were expected at the last look."""
    kept = memory.get(_REMEMBERED)
    return {node for node in kept if isinstance(node, int)} if isinstance(kept, list) else set()


def _node(row: Row) -> Node:
    return Node(
        id=whole(row, "node_id"),
        uptime=whole(row, "uptime"),
        status=str(row["status"]),
        start_phase=whole(row, "start_phase"),
        config_generation=whole(row, "config_generation") if "config_generation" in row else None,
    )


def _spoken(status: str) -> str:
    return status.lower().replace("_", " ")
