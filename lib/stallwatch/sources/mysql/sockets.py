"""Sockets all of whose waits end in time, however slowly their peer speaks."""

from __future__ import annotations

import socket

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
        """Let the next wait end in time; TimeoutError if there is none."""
        if not (left := self.left()):
            raise TimeoutError("timed out")
        self.settimeout(left)


class PlainSocket(Bounded, socket.socket):
    """A socket that does not encrypt."""

    def __init__(self, left: Callable[[], float], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.left = left


class UnknownHostError(OSError):
    """The name of a host has no address."""


def connected(host: str, port: int, left: Callable[[], float]) -> PlainSocket:
    """Connect to the first address of ``host`` that answers; each gets its share of the time. OSError."""
    try:
        # As bytes: a host as text makes getaddrinfo import the IDNA codec, 5 ms (CPython 3.11).
        name: str | bytes = host.encode("ascii") if host.isascii() else host
        addresses = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnknownHostError(getattr(error, "strerror", None) or "that is no host name") from None
    failure = OSError("it has no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        peer = PlainSocket(left, family, kind, protocol)
        try:
            peer.end_in_time()
            peer.settimeout(left() / (len(addresses) - number) or None)
            peer.connect(address)
        except OSError as error:
            failure = error
            peer.close()
        else:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return peer
    raise failure


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
