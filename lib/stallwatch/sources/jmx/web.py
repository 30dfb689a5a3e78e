"""Whether HTTP is spoken at a port where something else was expected: known only from an answer."""

from __future__ import annotations

from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.sources.jmx.target import Tls, place
from stallwatch.sources.jmx.wire import LostError, SilentError, Wire
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.frame.deadline import Deadline

# Seconds for an answer; the first handshake of a JVM takes long.
_PROOF = {"http": 0.5, "https": 3.0}
_REQUEST = b"GET / HTTP/1.0\r\n\r\n"
_ANSWER = b"HTTP/"


def speaks(scheme: str, host: str, port: int, deadline: Deadline) -> bool:
    """Whether the port answers http or https; nothing secret is sent, and any certificate will do."""
    wire = None
    try:
        wire = Wire(host, port, deadline.part(_PROOF[scheme]))
        if scheme == "https":
            from stallwatch.sources.jmx.tls import context

            wire.encrypt(context(Tls(insecure=True)))
        wire.send(_REQUEST)
        return wire.take(len(_ANSWER)) == _ANSWER
    except (LostError, SilentError, UnreachableError):
        return False
    finally:
        if wire:
            wire.close()


def use(scheme: str, host: str, port: int, path: str) -> str:
    """Advise to ask there over HTTP."""
    return f"use -U {scheme}://{place(host, port)}{path.rstrip('/')}"
