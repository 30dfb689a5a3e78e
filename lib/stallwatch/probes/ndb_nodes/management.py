"""What the management server says of data nodes; it is asked where one is missing, and may be unreachable."""

from __future__ import annotations

import re

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndbinfo.words import are, listed, named
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.sources.ndb_mgm import NodeStatus

    Place = tuple[str, int]

_LARGEST = 65535
_HOST, _PORT = "Ndb_config_from_host", "Ndb_config_from_port"
_THIS_HOST = r"localhost|(::ffff:)?127\..*|::1|0\.0\.0\.0|::|ip6-localhost"
_NO_CONTACT = "NO_CONTACT"
_SPOKEN = {_NO_CONTACT: "not connected"}
_UP = ("STARTED", "SINGLE USER MODE")


class Management(NamedTuple):
    """What it said: the status of data nodes by id, or an aside why that is not known."""

    where: str = ""
    nodes: Mapping[int, NodeStatus] = {}
    aside: Fault | None = None

    def of(self, node: int) -> str:
        """Tell its status of a data node, such as STARTING; empty: it is not known."""
        return self.nodes[node].status if node in self.nodes else ""

    def sees(self, node: int) -> bool:
        """Whether a node is up for it."""
        return self.of(node) in _UP

    def says(self, about: Iterable[int] | None = None) -> str:
        """Say what it sees of these nodes, or of all; empty if that is not known."""
        by_status: dict[str, list[int]] = {}
        for node in sorted(self.nodes if about is None else set(about) & set(self.nodes)):
            by_status.setdefault(_said(self.nodes[node]), []).append(node)
        each = [f"{named(nodes)} {are(nodes)} {said}" for said, nodes in by_status.items()]
        return f"the management server {self.where} says that {listed(each)}" if each else ""


NOT_ASKED = Management()


def ask(ndbinfo: Ndbinfo, given: Place | None, sql_host: str | None, cluster: Cluster) -> Management:
    """Ask the management server at ``given``, or else the one that the SQL node has asked.

    ``sql_host`` is where that runs; None: here. What does not fit ``cluster`` is not believed: behind a
    tunnel there may be another cluster's management server.
    """
    from stallwatch.sources import ndb_mgm

    try:
        host, port = given or _place(ndbinfo, sql_host or "127.0.0.1")
        ndbinfo.deadline.doing = f"asking the management server {ndb_mgm.place(host, port)}"
        patience = min(ndb_mgm.PATIENCE, ndbinfo.deadline.left() / 4)
        answer = Management(ndb_mgm.place(host, port), ndb_mgm.data_nodes(host, port, patience))
        _check(answer, cluster)
    except ProbeError as error:
        return Management(aside=Fault(State.OK, error.what))
    finally:
        ndbinfo.deadline.doing = ""
    return answer


def _check(answer: Management, cluster: Cluster) -> None:
    """Raise a ProbeError unless it is this cluster's, and has contact to those that we know to be up."""
    ids, known = set(answer.nodes), set(cluster.expected)
    if known and (not known <= ids or len(ids) != cluster.configured):
        raise ProbeError(
            f"the management server {answer.where} is not believed: it has {_counted(ids)}, {cluster.where} "
            f"{_counted(known, cluster.configured)}: give the address of this cluster's with --management"
        )
    if lost := [node for node in cluster.started if answer.of(node) == _NO_CONTACT]:
        raise ProbeError(
            f"the management server {answer.where} is not believed: it has no contact to {named(lost)}, "
            f"which {'answer' if len(lost) > 1 else 'answers'} {cluster.where}"
        )


def _counted(ids: set[int], configured: int = 0) -> str:
    return f"{max(configured, len(ids))} data nodes, {named(sorted(ids))}"


def _place(ndbinfo: Ndbinfo, sql_host: str) -> Place:
    from stallwatch.sources.ndb_mgm import PORT

    rows = ndbinfo.rows("SHOW GLOBAL STATUS LIKE 'Ndb_config_from_%'")
    told = {str(row["Variable_name"]): str(row["Value"]) for row in rows}
    host, port = told.get(_HOST, ""), told.get(_PORT, "")
    if not host:  # it has reached none since it was started (9.7.2)
        raise ProbeError(f"{ndbinfo.where} does not tell its management server: give it with --management")
    if re.fullmatch(_THIS_HOST, host):  # as the SQL node sees it
        host = sql_host
    return host, int(port) if re.fullmatch(r"[1-9]\d{0,4}", port) and int(port) <= _LARGEST else PORT


def _said(about: NodeStatus) -> str:
    words = _SPOKEN.get(about.status, about.status.lower().replace("_", " "))
    return f"{words} (phase {about.phase})" if about.status == "STARTING" else words
