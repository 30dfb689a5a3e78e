"""Connecting to a host in the time that is left."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread

from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.sockets import socket

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


NO_CONNECTION = (
    "check whether the host is up, the server hangs, or a firewall is in between"  # if nothing comes back
)


class UnknownHostError(OSError):
    """The name of the host cannot be looked up; the message is why."""

    advice = "check its name"


class SilentNameServerError(UnknownHostError):
    """No name server answers whether there is such a host."""

    advice = "look at this host's name servers (/etc/resolv.conf), or give the address"


class NoTimeError(TimeoutError):
    """There was no time left to try."""


def connected(host: str, port: int, left: Callable[[], float]) -> socket.socket:
    """Connect to the first address of ``host`` that answers; each gets its share of the time that is left.

    What it returns is the base of Python's own socket, which has no ``with`` and cannot be wrapped by ssl.

    Raises UnknownHostError, NoTimeError, or the OSError of the last address.
    """
    addresses = _looked_up(host, port, left)
    failure = OSError("it has no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        if not (time := left()):
            raise NoTimeError
        peer = socket.socket(family, kind, protocol)
        try:
            peer.settimeout(time / (len(addresses) - number))
            peer.connect(address)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            failure = error
            peer.close()
        else:
            return peer
    raise failure


def same_host(one: str, other: str, left: Callable[[], float]) -> bool:
    """Whether two names or addresses have an address in common; raises as ``connected`` does."""
    if one.lower() == other.lower():
        return True
    first, second = ({found[4][0] for found in _looked_up(host, 0, left)} for host in (one, other))
    return bool(first & second)


def _looked_up(host: str, port: int, left: Callable[[], float]) -> list[Any]:
    """Look up the addresses of a host; one that is an address needs no name server."""
    if not (time := left()):
        raise NoTimeError
    # As bytes: a host as text makes getaddrinfo import the IDNA codec, 5 ms (CPython 3.11).
    name: str | bytes = host.encode("ascii") if host.isascii() else host
    try:
        return socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):
        pass
    try:
        addresses: list[Any] = _in_time(lambda: socket.getaddrinfo(name, port, type=socket.SOCK_STREAM), time)
    except TimeoutError:
        raise SilentNameServerError("no name server has answered in time") from None
    except (socket.gaierror, UnicodeError) as error:
        raise UnknownHostError(getattr(error, "strerror", None) or "that is no host name") from None
    return addresses


def _in_time(work: Callable[[], Any], seconds: float) -> Any:
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

    try:
        start_new_thread(run, ())
    except RuntimeError:  # without one it might take longer than there is time
        raise OSError("no more threads can be started") from None
    if not done.acquire(timeout=seconds):
        raise TimeoutError
    if isinstance(came[0], Exception):
        raise came[0]
    return came[0]
