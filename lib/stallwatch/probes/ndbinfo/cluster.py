"""The data nodes of a cluster: who is expected, who answers, who ends meanwhile; what each has counted.

Rows of a data node that does not answer are simply not there. While one is killed, rows of others may be
missing, too, for a moment and without an error (9.7.2): what was asked before and after does not go together.
"""

from __future__ import annotations

from stallwatch import words
from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import own, recall
from stallwatch.history.delta import Look, since_last_look
from stallwatch.probes.ndbinfo.queries import ClusterDownError, whole
from stallwatch.sources.mysql import MissingTableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import are, have

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

    Found = TypeVar("Found")

STARTED = "STARTED"
LABELLED = 4  # nodes that have perfdata of their own: the line is to stay within 1023 bytes
_REMEMBERED, _COUNTERS = "data_nodes", "counters"  # names in memory


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
    unnamed: int = 0  # more that are missing, whose ids are not known

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
        """Report started nodes that a table does not show: that is no sign of health."""
        silent = [node for node in self.started if node not in told]
        if silent:
            answer = "answer" if len(silent) > 1 else "answers"
            yield ProbeError(f"{named(silent)} {answer}, but {have(silent)} no row in ndbinfo.{table}")

    def asides(self) -> Iterator[Fault]:
        """Return whom a verdict is not about: rows of a node that does not answer are simply not there."""
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
            yield Fault(State.OK, f"{named(nodes)} {are(nodes)} {_spoken(status)}")


def look_at_started(ndbinfo: Ndbinfo, memory: dict[str, Any]) -> Cluster:
    """Do as ``look``, for what started nodes show alone; raises a ProbeError, too, if there is none."""
    cluster = look(ndbinfo, memory)
    if not cluster.started:
        raise ProbeError(", ".join(aside.what for aside in cluster.asides()))
    return cluster


def look(ndbinfo: Ndbinfo, memory: dict[str, Any]) -> Cluster:
    """Find out who is there; ``memory`` keeps the ids of data nodes for versions that do not show them.

    Raises ClusterDownError, or another ProbeError with the reason why nobody can be judged.
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
    return recall(memory, _REMEMBERED, set[int]) or set()


def _node(row: Row) -> Node:
    return Node(
        id=whole(row, "node_id"),
        uptime=whole(row, "uptime"),
        status=str(row["status"]),
        start_phase=whole(row, "start_phase"),
        config_generation=whole(row, "config_generation") if "config_generation" in row else None,
    )


def named(nodes: Sequence[int]) -> str:
    """Name data nodes in a sentence: ``node 3``, ``nodes 3 and 4``, ``nodes 3, 4, 5, 6 and 2 more``."""
    return words.named("node", [str(node) for node in nodes])


def _spoken(status: str) -> str:
    return status.lower().replace("_", " ")


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
    """Report started nodes that a table does not show; raises NodeEndedError if one has ended since."""
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


class Intervals:
    """The counters of all data nodes between two looks; ``now`` is seconds since the epoch.

    They begin at 0 whenever a node starts. Each is known by its own uptime, in whole seconds;
    ``history.delta`` describes what is done with it.
    """

    def __init__(self, memory: dict[str, Any], cluster: Cluster, now: float) -> None:
        before = own(memory, _COUNTERS)
        self._nodes = cluster.nodes
        self._now = now
        self._looks: dict[str, Any] = {
            node: before[node] for node in map(str, cluster.expected) if node in before
        }
        memory[_COUNTERS] = self._looks

    def since(self, node: int, counts: Mapping[str, float]) -> Interval:
        """Give what a node counted since the last look, and remember ``counts``; or raise NoIntervalError."""
        return since_last_look(
            own(self._looks, str(node)), Look(self._nodes[node].uptime, self._now, {**counts})
        )
