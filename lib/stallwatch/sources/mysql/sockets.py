"""Sockets all of whose waits end in time, however slowly their peer speaks."""

from __future__ import annotations

import socket

from stallwatch.sources import tcp

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Socket = socket.socket
else:
    _Socket = object


class Bounded(_Socket):
    """For a subclass of socket: what ``left`` tells, in seconds, is all that its waits may take together.

    PyMySQL's own time-outs are for each piece that arrives: a byte a second would be read for ever.
    """

    left: Callable[[], float]

    def recv_into(self, *arguments: Any) -> int:
        """Receive, in the time that is left."""
        self.end_in_time()
        return super().recv_into(*arguments)

    def sendall(self, *arguments: Any) -> None:
        """Send, in the time that is left."""
        self.end_in_time()
        super().sendall(*arguments)

    def end_in_time(self) -> None:
        """Let the next wait end in time; NoTimeError if there is none."""
        if not (left := self.left()):
            raise tcp.NoTimeError
        self.settimeout(left)


class PlainSocket(Bounded, socket.socket):
    """A socket that does not encrypt."""

    def __init__(self, left: Callable[[], float], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.left = left


def connected(host: str, port: int, left: Callable[[], float]) -> PlainSocket:
    """Connect to ``host``; raises what ``tcp.connected`` does."""
    peer = tcp.connected(host, port, left)
    return PlainSocket(left, peer.family, peer.type, peer.proto, peer.detach())


def connected_locally(path: str, left: Callable[[], float]) -> PlainSocket:
    """Connect to the socket in the file system; OSError."""
    peer = PlainSocket(left, socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        peer.end_in_time()
        peer.connect(path)
    except OSError:
        peer.close()
        raise
    return peer


def is_own_address(peer: socket.socket) -> bool:
    """Whether the other end has the address of this end: it is on this host, or something here relays it."""
    if peer.family == socket.AF_UNIX:
        return True
    theirs = str(peer.getpeername()[0])
    return theirs == peer.getsockname()[0] or theirs.startswith("127.") or theirs == "::1"
