"""Whom to ask over MySQL's protocol, and as whom."""

from __future__ import annotations

from stallwatch.startup import NamedTuple

PORT = 3306

# As the mysql client names them; each wants all that those before it want.
MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY = MODES


class Tls(NamedTuple):
    """What TLS is to be like: one of ``MODES``, and files in PEM form. Over a local socket there is none."""

    mode: str = PREFERRED
    ca: str | None = None  # None: the authorities that the system trusts
    capath: str | None = None
    cert: str | None = None  # our own
    key: str | None = None


class Target(NamedTuple):
    """A server: at ``host:port``, or at the local ``socket`` if there is one."""

    host: str = "localhost"
    port: int = PORT
    socket: str | None = None
    user: str | None = None  # None: that of the operating system
    password: str | None = None
    tls: Tls = Tls()
    found: bool = False  # the socket was found here: the user has not named it
    cleartext: bool = False  # the password may be sent readable, whatever the connection
    server_key: bytes | None = None  # the server's public key (PEM), which the user names

    def __repr__(self) -> str:
        return f"Target({self.where})"  # never with the password

    @property
    def where(self) -> str:
        """The address as a person writes it."""
        return self.socket or (
            f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        )
