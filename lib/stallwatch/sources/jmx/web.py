"""Whether HTTP is spoken at a port where something else was expected: known only from an answer."""

from __future__ import annotations

import re

from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.sources.jmx.target import Tls, place
from stallwatch.sources.jmx.wire import LostError, SilentError, Wire
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.deadline import Deadline

# Chosen seconds for an answer; the first handshake of a JVM takes long.
_PATIENCE = {"http": 0.5, "https": 3.0}
_REQUEST = b"GET / HTTP/1.0\r\n\r\n"
# How an answer begins that is proof. Where TLS is required, nginx, Tomcat and Apache answer 400 in clear, or
# redirect to https.
_PROOF = {"http": rb"HTTP/1\.[01] (?!400|30)\d{3}", "https": rb"HTTP/1\.[01] \d{3}"}
_SIZE = len(b"HTTP/1.1 200")


def spoken(host: str, port: int, deadline: Deadline, *schemes: str) -> str | None:
    """Return the first of the schemes, http and https, in which there is an answer; None: there is no proof.

    Nothing secret is sent, and any certificate will do.
    """
    return next((scheme for scheme in schemes if _speaks(scheme, host, port, deadline)), None)


def _speaks(scheme: str, host: str, port: int, deadline: Deadline) -> bool:
    wire = None
    try:
        wire = Wire(host, port, deadline.part(min(_PATIENCE[scheme], deadline.left() / 2)))
        if scheme == "https":
            from stallwatch.sources.jmx.tls import context

            wire.encrypt(context(Tls(insecure=True)))
        wire.send(_REQUEST)
        return re.fullmatch(_PROOF[scheme], wire.take(_SIZE)) is not None
    except (LostError, SilentError, UnreachableError):
        return False
    finally:
        if wire:
            wire.close()


def use(scheme: str, host: str, port: int, path: str) -> str:
    """Advise to ask there over HTTP."""
    return f"use -U {scheme}://{place(host, port)}{path.rstrip('/')}"
