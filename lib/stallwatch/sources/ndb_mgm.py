"""The management server of an NDB Cluster, in its own protocol: what it knows of the data nodes.

A question and its answer are lines of text that end with an empty one (measured on ndb_mgmd 9.7.2)::

    get status            node status
                          nodes: 6
                          node.4.type: NDB
                          node.4.status: STARTING
                          node.4.startphase: 4
                          ...
"""

from __future__ import annotations

import re
from contextlib import closing

from stallwatch import withheld
from stallwatch.findings import ProbeError
from stallwatch.line import shorten
from stallwatch.sources import recording
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.deadline import Deadline

PORT = 1186
PATIENCE = 1.5  # seconds for all of it, looking up the host's name included

_QUESTION = b"get status\n\n"
_BEGINNING, _END = "node status\n", "\n\n"
_QUOTED = 60  # letters of an answer that is none
_LARGEST = 256 * 1024  # bytes; 255 nodes are 60 KiB
_LINE = r"(?a)node\.(\d{1,5})\.(type|status|startphase): ([A-Z_ ]{1,30}|\d{1,5})"


class NotRunningError(ProbeError):
    """The host of a management server refuses the connection: nothing listens on that port."""


class NodeStatus(NamedTuple):
    """A data node as the management server sees it."""

    status: str  # STARTED, STARTING, NOT_STARTED, NO_CONTACT, SHUTTING_DOWN, UNKNOWN, ...
    phase: int  # the start phase that it has completed last, 100 at the end; while it stops, how far that is


def place(host: str, port: int) -> str:
    """Write ``host:port``; an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def data_nodes(host: str, port: int, deadline: Deadline) -> dict[int, NodeStatus]:
    """Ask for the status of all configured data nodes, by id.

    Raises a ProbeError if that cannot be had: nobody is there, or it takes too long, or answers nonsense.
    """
    where = f"the management server {place(host, port)}"
    advice = "give its address with --management"
    try:
        of = ("ndb_mgm", place(host, port), 0)
        answer = recording.answer(of, ("get status",), _asked, host, port, deadline)
    except TimeoutError:
        within = say_duration(deadline.seconds)
        raise ProbeError(f"{where} has not answered within {within}", advice) from None
    except ConnectionRefusedError as error:
        raise NotRunningError(f"{where} cannot be asked: {error.strerror}", advice) from None
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise ProbeError(f"{where} cannot be asked: {why}", advice) from None
    if nodes := _understood(answer):
        return nodes
    raise ProbeError(f"{where} does not show the status of data nodes: {_quoted(answer)}", advice)


def _asked(host: str, port: int, deadline: Deadline) -> str:
    """Ask; raises TimeoutError, or another OSError."""
    from stallwatch.sources import tcp

    with closing(tcp.connected(host, port, deadline)) as peer:
        answer = b""
        tcp.send(peer, _QUESTION, deadline)
        while len(answer) < _LARGEST and not answer.endswith(_END.encode()):
            piece = tcp.receive(peer, 65536, deadline)
            if not piece:
                break
            answer += piece
    return answer.decode(errors="replace")


def _understood(answer: str) -> dict[int, NodeStatus]:
    if not answer.startswith(_BEGINNING) or not answer.endswith(_END):
        return {}
    told: dict[int, dict[str, str]] = {}
    for line in answer.splitlines():
        if found := re.fullmatch(_LINE, line):
            told.setdefault(int(found[1]), {})[found[2]] = found[3]
    return {node: _status(about) for node, about in told.items() if about.get("type") == "NDB"}


def _status(about: dict[str, str]) -> NodeStatus:
    phase = about.get("startphase", "")
    return NodeStatus(about.get("status", "UNKNOWN"), int(phase) if phase.isdigit() else 0)


def _quoted(answer: str) -> str:
    text = withheld.message(answer[: 4 * _QUOTED].strip())
    return f'it answers "{shorten(text, _QUOTED)}"' if text else "it hangs up without an answer"
