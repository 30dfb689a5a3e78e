"""Sockets all of whose waits end in time, however slowly their peer speaks."""

from __future__ import annotations

import io
import os
import sys
import time
from stat import S_IWOTH
from struct import Struct

from stallwatch.accounts import is_trusted, user_name
from stallwatch.sources import tcp
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.startup.sockets import socket

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.deadline import Deadline

_CREDENTIALS = Struct("3i")  # of who listens at a socket: process, user and group (struct ucred, unix(7))
_ROUND_TRIP = 68  # where tcpi_rtt begins, in microseconds (struct tcp_info of linux/tcp.h)
_AT_ONCE = 0.2  # seconds; a server greets within 1 ms, on a busy host within 50


class Listener(NamedTuple):
    """The process that listens at a local socket, and the number of the user that it began to listen as."""

    pid: int
    uid: int

    def __str__(self) -> str:
        try:
            with open(f"/proc/{self.pid}/comm", errors="replace") as file:
                process = f"process {self.pid} ({file.read().strip()})"
        except OSError:  # it is in another container, or has ended
            process = f"process {self.pid}" if self.pid else "a process that cannot be seen from here"
        return f"{process} of the user {user_name(self.uid)}"


class Readable:
    """What has a ``recv_into`` and is to be read as PyMySQL does it."""

    recv_into: Callable[..., int]

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Give a file to read from it; to close that closes nothing else."""
        return io.BufferedReader(_Incoming(self))


class _Incoming(io.RawIOBase):
    """What comes in at a socket, as a file."""

    def __init__(self, peer: Readable) -> None:
        self._peer = peer

    def readable(self) -> bool:
        """Report that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait until something is there, and take it; 0: there will be nothing more."""
        return self._peer.recv_into(buffer)


class BoundedSocket(socket.socket, Readable):
    """A socket all of whose waits together end with ``deadline``.

    PyMySQL's own time-outs are for each piece that arrives: a byte a second would be read for ever.
    """

    def __init__(self, deadline: Deadline, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.deadline = deadline

    def recv_into(self, *arguments: Any) -> int:
        """Receive, in the time that is left."""
        receive = super().recv_into
        return tcp.in_time(self, lambda: receive(*arguments), self.deadline)

    def sendall(self, octets: Any, _flags: int = 0) -> None:
        """Send, in the time that is left."""
        tcp.send(self, octets, self.deadline)


def connected(host: str, port: int, deadline: Deadline) -> BoundedSocket:
    """Connect to ``host``; raises what ``tcp.connected`` does."""
    peer = tcp.connected(host, port, deadline)
    return BoundedSocket(deadline, peer.family, peer.type, peer.proto, peer.detach())


def connected_locally(path: str, deadline: Deadline) -> BoundedSocket:
    """Connect to the socket in the file system; OSError, TimeoutError where nobody takes the connection."""
    peer = BoundedSocket(deadline, socket.AF_UNIX, socket.SOCK_STREAM)

    def step(tick: float) -> None:
        peer.settimeout(0)
        try:
            peer.connect(path)
        except BlockingIOError:  # as many wait as the server lets (unix(7), EAGAIN)
            time.sleep(tick)
            raise TimeoutError from None

    try:
        deadline.wait(step, for_answer=False)
    except BaseException:
        peer.close()
        raise
    return peer


def open_folder(path: str) -> str:
    """Return the folder that a socket is really in, if everybody may write to it; "" if not."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        return folder * bool(os.stat(folder).st_mode & S_IWOTH)
    except OSError:
        return ""


def listener(peer: BoundedSocket) -> Listener:
    """Give who listens at the local socket of this connection, process 0: it is not to be seen from here."""
    octets = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(octets)
    return Listener(pid, uid)


def is_silent(peer: BoundedSocket) -> bool:
    """Whether the other end sends nothing at once; what it sends is still to be read."""
    try:
        tcp.in_time(peer, lambda: peer.recv(1, socket.MSG_PEEK), peer.deadline.part(_AT_ONCE))
    except TimeoutError:
        return True
    except OSError:  # who reads it will see
        return False
    return False


def stranger(peer: BoundedSocket, path: str) -> Listener | None:
    """Return who listens at the socket ``path`` if that is nobody to be trusted, None if it is.

    Trusted are root, the user mysql, the owner of the folder and the user that we run as.
    """
    found = listener(peer)
    if is_trusted(found.uid) or found.uid == os.stat(os.path.dirname(os.path.realpath(path))).st_uid:
        return None
    return found


def network_trip(peer: Any) -> float:
    """Return the round trip of the network as the kernel measures it, in seconds; 0: not known."""
    try:
        octets = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ROUND_TRIP + 4)
        return int.from_bytes(octets[_ROUND_TRIP:], sys.byteorder) / 1e6
    except (OSError, AttributeError):  # it is no TCP, or closed
        return 0.0
