"""TLS as the operator wants it."""

from __future__ import annotations

from stallwatch.sources import tcp
from stallwatch.sources.given_file import having_data, unusable
from stallwatch.sources.mysql.errors import UnreachableError
from stallwatch.sources.mysql.sockets import Readable
from stallwatch.sources.mysql.target import VERIFY_IDENTITY
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.tls import ssl

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.sources.mysql.sockets import BoundedSocket
    from stallwatch.sources.mysql.target import Tls


class TlsSocket(Readable):
    """Encrypts what goes through ``peer``, which ends its waits in time."""

    def __init__(self, peer: BoundedSocket, context: Any, host: str) -> None:
        self._peer = peer
        self._tls = context._wrap_socket(peer, server_side=False, server_hostname=host)  # noqa: SLF001
        self.settimeout, self.close, self.send = peer.settimeout, peer.close, self._tls.write
        self._wait(self._tls.do_handshake)

    def _wait(self, step: Callable[[], Any]) -> Any:
        return tcp.in_time(self._peer, step, self.deadline)

    @property
    def deadline(self) -> Deadline:
        """When waits end."""
        return self._peer.deadline

    @deadline.setter
    def deadline(self, deadline: Deadline) -> None:
        self._peer.deadline = deadline

    @property
    def certificate(self) -> bytes:
        """The certificate that the other end showed, in DER form."""
        octets: bytes = self._tls.getpeercert(True)  # noqa: FBT003 - it takes no names
        return octets

    def getsockopt(self, *of: int) -> Any:
        """Give what the system knows of the connection below."""
        return self._peer.getsockopt(*of)

    def recv_into(self, buffer: Any) -> int:
        """Receive; 0: the other end has closed it, in the way of TLS or not."""
        try:
            received: int = self._wait(lambda: self._tls.read(len(buffer), buffer))
        except ssl.SSLEOFError:
            return 0
        return received

    def sendall(self, octets: bytes) -> None:
        """Send all of it."""
        tcp.send(self, octets, self.deadline)


class Context:
    """What a connection is encrypted with, as PyMySQL asks it to."""

    def __init__(self, tls: Tls, *, verify: bool) -> None:
        """Make it; a file that cannot be used is an UnreachableError.

        Where no certificate is looked at, none is loaded: the bundle of the system's authorities takes 25 ms.
        """
        self._made = made = ssl._SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # noqa: SLF001 - what ssl.SSLContext is made of
        made.check_hostname = verify and tls.mode == VERIFY_IDENTITY
        if verify:
            _trust(made, tls)
        else:
            made.verify_mode = ssl.CERT_NONE
        if tls.cert:
            try:
                with having_data(tls.cert, tls.key):
                    made.load_cert_chain(tls.cert, tls.key, _no_password)
            except OSError as error:
                names = " or ".join(name for name in (tls.cert, tls.key) if name)
                raise unusable(UnreachableError, "--ssl-cert", names, error) from None

    def wrap_socket(self, peer: BoundedSocket, server_hostname: str) -> TlsSocket:
        """Shake hands; raises an SSLError, or whatever else went wrong."""
        # The codec of other names takes 1 ms to import, and leaves these as they are (CPython 3.11).
        ascii_only = server_hostname.isascii()
        host = server_hostname if ascii_only else server_hostname.encode("idna").decode()
        return TlsSocket(peer, self._made, host)


def _trust(made: ssl._SSLContext, tls: Tls) -> None:
    if not (tls.ca or tls.capath):
        made.set_default_verify_paths()
        return
    try:
        with having_data(tls.ca):
            made.load_verify_locations(tls.ca, tls.capath)
    except OSError as error:
        raise unusable(UnreachableError, "--ssl-ca", tls.ca or tls.capath or "", error) from None


def _no_password() -> str:
    """Never ask at a terminal for the password of a key: nobody is there."""
    return ""
