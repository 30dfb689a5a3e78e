"""What the management server says of data nodes; it is asked where one is missing, and may be unreachable."""

from __future__ import annotations

import re
from typing import NamedTuple

from stallwatch.probes.ndbinfo.words import listed, named
from stallwatch.reading import Fault, ProbeError, State
from stallwatch.sources import ndb_mgm

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.sources.ndb_mgm import NodeStatus

    Place = tuple[str, int]

_LARGEST = 65535
_HOST, _PORT = "Ndb_config_from_host", "Ndb_config_from_port"
_THIS_HOST = ("localhost", "::1", "0.0.0.0", "::")  # noqa: S104 - nothing is bound to it
_SPOKEN = {"NO_CONTACT": "not connected"}


class Management(NamedTuple):
    """What it said: the status of data nodes by id, or an aside why that is not known."""

    where: str = ""
    nodes: Mapping[int, NodeStatus] = {}
    aside: Fault | None = None

    def of(self, node: int) -> str:
        """Tell its status of a data node, such as STARTING; empty: it is not known."""
        return self.nodes[node].status if node in self.nodes else ""

    def says(self, about: Iterable[int] | None = None) -> str:
        """Say what it sees of these nodes, or of all; empty if that is not known."""
        by_status: dict[str, list[int]] = {}
        for node in sorted(self.nodes if about is None else set(about) & set(self.nodes)):
            by_status.setdefault(_said(self.nodes[node]), []).append(node)
        each = [
            f"{named(nodes)} {'are' if len(nodes) > 1 else 'is'} {said}" for said, nodes in by_status.items()
        ]
        return f"the management server {self.where} says that {listed(each)}" if each else ""


NOT_ASKED = Management()


def ask(ndbinfo: Ndbinfo, given: Place | None, sql_host: str) -> Management:
    """Ask the management server at ``given``, or else the one that the SQL node on ``sql_host`` has asked."""
    try:
        host, port = given or _place(ndbinfo, sql_host)
        ndbinfo.deadline.doing = f"asking the management server {host}:{port}"
        patience = min(ndb_mgm.PATIENCE, ndbinfo.deadline.left() / 2)
        return Management(f"{host}:{port}", ndb_mgm.data_nodes(host, port, patience))
    except ProbeError as error:
        return Management(aside=Fault(State.OK, error.what))
    finally:
        ndbinfo.deadline.doing = ""


def _place(ndbinfo: Ndbinfo, sql_host: str) -> Place:
    rows = ndbinfo.rows("SHOW GLOBAL STATUS LIKE 'Ndb_config_from_%'")
    told = {str(row["Variable_name"]): str(row["Value"]) for row in rows}
    host, port = told.get(_HOST, ""), told.get(_PORT, "")
    if not host:  # it has reached none since it was started (9.7.2)
        raise ProbeError(f"{ndbinfo.where} does not tell its management server: give it with --management")
    if host in _THIS_HOST or host.startswith("127."):  # as the SQL node sees it
        host = sql_host
    return host, int(port) if re.fullmatch(r"[1-9]\d{0,4}", port) and int(port) <= _LARGEST else ndb_mgm.PORT


def _said(about: NodeStatus) -> str:
    words = _SPOKEN.get(about.status, about.status.lower().replace("_", " "))
    return f"{words} (phase {about.phase})" if about.status == "STARTING" else words
