"""The data nodes of a cluster: what each one is, in which node group, and what the management server sees."""

from __future__ import annotations

from enum import Enum

from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import are, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stallwatch.findings import Fault
    from stallwatch.probes.ndb_nodes.here import Process
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.sources.ndb_mgm import NodeStatus as SeenStatus

SINGLE_USER = "SINGLEUSER"
NO_CONTACT = "NO_CONTACT"  # of the management server to a node
UP = ("STARTED", "SINGLE USER MODE")  # for the management server
WINDOW, _OFTEN = 3600.0, 3  # so many restarts within so many seconds are no accident


class Status(Enum):
    """What a node is."""

    UP = "up"
    STARTING = "starting"
    STOPPING = "stopping"
    STOPPED = "stopped"  # in order, and not started yet
    MISSING = "missing"


class NodeStatus(NamedTuple):
    """What one node is, and how far."""

    status: Status
    phase: int | None = None  # the start phase that it has completed last
    doing: str = ""  # how far its restart is, in the words of ndbinfo.restart_info
    seconds: float = 0.0  # since a look has seen it up no more
    remark: str = ""  # of a missing one: why it does not count as starting or stopping any longer
    is_seen: bool = False  # of one that starts: somebody has contact to it
    is_lost: bool = False  # of a missing one: the management server has no contact to it, either
    is_unclear: bool = False  # it was up at the last look, and is for the management server: it may have
    # restarted since, have just ended, or be out of reach; the next look shows which


class Management(NamedTuple):
    """What the management server shows: the status of data nodes by id, or an aside why it is not known."""

    where: str = ""
    nodes: Mapping[int, SeenStatus] = {}
    aside: Fault | None = None
    is_down: bool = False  # its host refuses the connection; it is at ``where``

    def of(self, node: int) -> str:
        """Return its status of a data node, such as STARTING; empty: it is not known."""
        return self.nodes[node].status if node in self.nodes else ""

    def says(self, about: Iterable[int]) -> str:
        """Return what it sees of these nodes; empty if that is not known."""
        by_status: dict[str, list[int]] = {}
        for node in sorted(set(about) & set(self.nodes)):
            by_status.setdefault(_in_words(self.nodes[node]), []).append(node)
        each = [f"{named(nodes)} {are(nodes)} {status}" for status, nodes in by_status.items()]
        return f"the management server {self.where} reports that {listed(each)}" if each else ""


def _in_words(seen: SeenStatus) -> str:
    words = "not connected" if seen.status == NO_CONTACT else seen.status.lower().replace("_", " ")
    return f"{words} (phase {seen.phase})" if seen.status == "STARTING" else words


NOT_ASKED = Management()


class Group(NamedTuple):
    """A node group: its data nodes as far as they are known, and how many there are.

    They hold the same part of all data, so one of them has to be up.
    """

    name: str  # its number; "of node 4" where that is not known
    members: tuple[int, ...]
    up: tuple[int, ...]
    size: int

    @property
    def is_lost(self) -> bool:
        """Whether nobody has its part of the data."""
        return not self.up

    @property
    def is_alone(self) -> bool:
        """Whether one node has its part of the data that had others: the next failure stops the cluster."""
        return len(self.up) == 1 < self.size


class Groups(NamedTuple):
    """The node groups of a cluster."""

    all: tuple[Group, ...] = ()
    unplaced: tuple[int, ...] = ()  # expected nodes, whose group is not known
    unseen: tuple[int, ...] = ()  # expected nodes that no look has seen up

    def of(self, node: int) -> Group | None:
        """Return the group of a node; None: it has none, or that is not known."""
        return next((group for group in self.all if node in group.members), None)


class Presence(NamedTuple):
    """The data nodes of a cluster as they are now."""

    cluster: Cluster
    statuses: Mapping[int, NodeStatus]
    groups: Groups
    management: Management
    stopped: frozenset[int]  # nodes that are not up since they were shut down in order
    here: tuple[Process, ...] = ()  # of missing nodes, on this host

    def those(self, status: Status) -> list[int]:
        """Return the nodes that are this."""
        return sorted(node for node, one in self.statuses.items() if one.status is status)

    @property
    def up(self) -> list[int]:
        """Return the nodes that are up."""
        return self.those(Status.UP)

    @property
    def total(self) -> int:
        """How many data nodes are configured."""
        return self.cluster.configured

    def process(self, node: int) -> Process | None:
        """Return the process of a node that is missing or stopped, which runs on this host for certain."""
        is_away = node in self.statuses and self.statuses[node].status in (Status.MISSING, Status.STOPPED)
        return next((one for one in self.here if is_away and one.node == node and one.is_certain), None)

    def is_apart(self, node: int) -> bool:
        """Whether a node is up for the management server, and only out of reach of the SQL node."""
        return self.statuses[node].status is Status.MISSING and self.management.of(node) in UP


class Start(NamedTuple):
    """The last start of a node, and those before it that were seen; times are those of ``Clocks.time``."""

    uptime: float  # seconds, when it was seen last
    at: float  # when that was
    restarts: tuple[float, ...] = ()  # when, within the last hour; not those that somebody ordered
    in_order: bool = False  # whether it was seen to be shut down in order before the last of them

    @property
    def is_unstable(self) -> bool:
        """Whether the node does not stay up."""
        return len(self.restarts) >= _OFTEN
