"""Connecting to a host, sending and receiving, in the time that is left."""

from __future__ import annotations

import errno
import os
import select
from _thread import allocate_lock, start_new_thread

from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.sockets import socket

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from stallwatch.deadline import Deadline

    Done = TypeVar("Done")

NO_CONNECTION = (
    "check whether the host is up, the server hangs, or a firewall is in between"  # if nothing comes back
)


class UnknownHostError(OSError):
    """The name of the host cannot be looked up; the message is why."""

    advice = "check its name"


class SilentNameServerError(UnknownHostError):
    """No name server answers whether there is such a host."""

    advice = "look at this host's name servers (/etc/resolv.conf), or give the address"


def connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first address of ``host`` that answers; each gets its share of the time that is left.

    What it returns is the base of Python's own socket, which has no ``with`` and cannot be wrapped by ssl.

    Raises UnknownHostError, or the OSError of the last address, as TimeoutError.
    """
    addresses = _looked_up(host, port, deadline)
    failure = OSError("it has no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        peer = socket.socket(family, kind, protocol)
        try:
            connect(peer, address, deadline.part(deadline.left() / (len(addresses) - number)))
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException as error:
            peer.close()
            if not isinstance(error, OSError):
                raise
            failure = error
        else:
            return peer
    raise failure


def connect(peer: socket.socket, address: Any, deadline: Deadline) -> None:
    """Connect a socket; raises an OSError."""
    peer.settimeout(0)
    underway = peer.connect_ex(address)
    if underway == errno.EINPROGRESS:
        poll = select.poll()
        poll.register(peer.fileno(), select.POLLOUT)
        deadline.wait(lambda tick: _ready(poll, tick), for_answer=False)
        underway = peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if underway:
        raise OSError(underway, os.strerror(underway))


def _ready(poll: select.poll, seconds: float) -> None:
    if not poll.poll(1000 * seconds):
        raise TimeoutError


def in_time(peer: Any, step: Callable[[], Done], deadline: Deadline, *, for_answer: bool = True) -> Done:
    """Do a step with a socket, in TLS or not, that may have to wait for the other end: ``deadline.wait``."""

    def within(tick: float) -> Done:
        peer.settimeout(tick)
        return step()

    return deadline.wait(within, for_answer=for_answer)


def receive(peer: Any, most: int, deadline: Deadline) -> bytes:
    """Receive up to so many bytes; b"": there will be no more. Raises an OSError."""
    octets: bytes = in_time(peer, lambda: peer.recv(most), deadline)
    return octets


def send(peer: Any, octets: bytes, deadline: Deadline) -> None:
    """Send all of it; raises an OSError."""
    rest = memoryview(octets)
    while rest:
        rest = rest[in_time(peer, lambda: peer.send(rest), deadline, for_answer=False) :]  # noqa: B023


def is_here(peer: Any) -> bool:
    """Whether the other end has an address of this host: it is here, or something here relays it."""
    if peer.family == socket.AF_UNIX:
        return True
    theirs, ours = (str(end[0]).removeprefix("::ffff:") for end in (peer.getpeername(), peer.getsockname()))
    return theirs in {ours, "::1"} or theirs.startswith("127.")


def same_host(one: str, other: str, deadline: Deadline) -> bool:
    """Whether two names or addresses have an address in common; raises as ``connected`` does."""
    if one.lower() == other.lower():
        return True
    first, second = ({found[4][0] for found in _looked_up(host, 0, deadline)} for host in (one, other))
    return bool(first & second)


def _looked_up(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Look up the addresses of a host; one that is an address needs no name server."""
    # As bytes: a host as text makes getaddrinfo import the IDNA codec, 5 ms (CPython 3.11).
    name: str | bytes = host.encode("ascii") if host.isascii() else host
    try:
        return socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):
        pass
    try:
        addresses: list[Any] = _in_a_thread(
            lambda: socket.getaddrinfo(name, port, type=socket.SOCK_STREAM), deadline
        )
    except TimeoutError:
        raise SilentNameServerError("no name server has answered in time") from None
    except (socket.gaierror, UnicodeError) as error:
        raise UnknownHostError(getattr(error, "strerror", None) or "that is no host name") from None
    return addresses


def _in_a_thread(work: Callable[[], Any], deadline: Deadline) -> Any:
    """Do it in a thread; raises TimeoutError.

    Nothing else ends a look-up in time where no name server answers (glibc 2.36: 10 s for each of them).
    """
    came: list[Any] = []
    done = allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            came.append(work())
        except Exception as error:  # noqa: BLE001 - who waits is to see it
            came.append(error)
        finally:
            done.release()

    def step(tick: float) -> None:
        if not done.acquire(timeout=tick):
            raise TimeoutError

    try:
        start_new_thread(run, ())
    except RuntimeError:  # without one it might take longer than there is time
        raise OSError("no more threads can be started") from None
    deadline.wait(step)
    if isinstance(came[0], Exception):
        raise came[0]
    return came[0]
