"""A connection to one port of the server, in clear or in TLS, on which every wait ends in time."""

from __future__ import annotations

from contextlib import suppress

from stallwatch.sources import tcp
from stallwatch.sources.jmx.errors import NoConnectionError, UnreachableError
from stallwatch.sources.jmx.target import place
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from _socket import socket

    from stallwatch.deadline import Deadline

_CHUNK = 65536


class LostError(Exception):
    """The peer has closed or reset the connection; a new one may do."""


class SilentError(Exception):
    """The time is up and the peer has not answered."""


class Wire:
    """A TCP connection to ``host:port``, whose waits end with ``deadline``."""

    def __init__(self, host: str, port: int, deadline: Deadline) -> None:
        self.where = place(host, port)
        self._host = host
        self.deadline = deadline
        self._buffer = b""
        self._at = 0
        deadline.doing = f"connecting to {self.where}"
        self._socket: socket = connected(host, port, deadline)
        deadline.doing = f"waiting for {self.where}"

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Go on in TLS; the certificate is to be for the host that was asked for."""
        from socket import socket

        plain = self._socket = socket(fileno=self._socket.detach())  # ssl takes no other
        try:
            encrypted = self._socket = context.wrap_socket(
                plain, server_hostname=self._host, do_handshake_on_connect=False
            )
            tcp.in_time(encrypted, encrypted.do_handshake, self.deadline)
        except ConnectionError as error:
            from stallwatch.sources.jmx.tls import explained

            raise explained(error, self.where) from None
        except OSError as error:
            raise self._failed(error) from None

    def send(self, octets: bytes) -> None:
        """Send all of it."""
        try:
            tcp.send(self._socket, octets, self.deadline)
        except OSError as error:
            raise self._failed(error) from None

    def take(self, count: int) -> bytes:
        """Receive exactly ``count`` bytes; the caller has looked whether it wants that many."""
        end = self._at + count
        if end > len(self._buffer):
            self._fill(count)
            end = count
        octets = self._buffer[self._at : end]
        self._at = end
        return octets

    def heard(self, seconds: float) -> bool:
        """Whether something comes within these seconds; raises LostError if the peer hangs up instead."""
        whole, self.deadline = self.deadline, self.deadline.part(seconds)
        try:
            self._buffer = self._buffer[self._at :] + self._received()
        except SilentError:
            return False
        finally:
            self.deadline = whole
        self._at = 0
        return True

    def must_be_server(self) -> None:
        """See that no other user's program on this host gets a readable password; raises UnreachableError."""
        try:
            must_be_server(self._socket, self.where)
        except OSError as error:
            raise self._failed(error) from None

    def end(self) -> None:
        """Send the end of what is sent; the peer can still answer."""
        from _socket import SHUT_WR, socket

        with suppress(OSError):  # the peer has hung up
            socket.shutdown(self._socket, SHUT_WR)  # that of ssl would read on without TLS

    def _fill(self, count: int) -> None:
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < count:
            parts.append(self._received())
            have += len(parts[-1])
        self._buffer = b"".join(parts)
        self._at = 0

    def _received(self) -> bytes:
        try:
            octets = tcp.receive(self._socket, _CHUNK, self.deadline)
        except OSError as error:
            raise self._failed(error) from None
        if not octets:
            raise LostError
        return octets

    def _failed(self, error: OSError) -> Exception:
        if isinstance(error, TimeoutError):
            return SilentError()
        if type(error).__module__ == "ssl":
            from stallwatch.sources.jmx.tls import explained

            return explained(error, self.where)
        return LostError()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def connected(host: str, port: int, deadline: Deadline, what: str = "JMX") -> socket:
    """Connect; raises UnreachableError, NoConnectionError where nobody takes it.

    ``what`` is to be there, in words.
    """
    try:
        return tcp.connected(host, port, deadline)
    except tcp.UnknownHostError as error:
        raise UnreachableError(f"the host {host} cannot be looked up: {error}", error.advice) from None
    except OSError as error:
        raise _no_connection(place(host, port), error, what) from None


def must_be_server(peer: socket, where: str) -> None:
    """See that no other user's program on this host gets a readable password; OSError, UnreachableError."""
    from stallwatch.sources import listeners

    if other := listeners.stranger(peer):
        raise UnreachableError(
            f"{other} listens at {where}: the password was not sent",
            "end that program, or, if it is your JVM, use TLS, or allow it with --allow-cleartext",
        )


def _no_connection(where: str, failure: OSError, what: str) -> NoConnectionError:
    if isinstance(failure, TimeoutError):
        return NoConnectionError(where, "does not answer: no connection", tcp.NO_CONNECTION)
    if isinstance(failure, ConnectionRefusedError):
        advice = f"check that the JVM runs, with {what} open on this address and port"
        return NoConnectionError(where, "refused the connection", advice)
    return NoConnectionError(where, f"cannot be reached: {failure.strerror or failure}")
