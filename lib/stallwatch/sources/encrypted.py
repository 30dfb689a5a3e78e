"""A socket in TLS."""

from __future__ import annotations

import ssl

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class EncryptedSocket(ssl.SSLSocket):
    """One that fails in the handshake if its peer has hung up by then, and is closed."""

    def getpeername(self) -> Any:
        """Give the address of the peer; None where there is none any more.

        ssl takes a connection that was reset for one that is not there yet, and leaves its socket open
        (CPython 3.11).
        """
        try:
            return super().getpeername()
        except OSError:
            return None
