"""Connecting and logging in as PyMySQL does it, but no password is sent to a stranger.

A method that sends the password readable may do so over a local socket whose listener is trusted or was named
by the user, over TLS whose certificate was verified, and wherever the user allows it.

The full exchange of caching_sha2_password, which a server wants once after each of its starts, may also use
other TLS, or a public key without TLS. There the certificate, or the key, must be that of the first use.

Where it is not known who is at the other end, and that is on this host, the program there has to be of a user
whom a server may run as.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from stallwatch.accounts import user_name
from stallwatch.findings import ProbeError
from stallwatch.sources.mysql.flavour import flavour
from stallwatch.sources.mysql.sockets import (
    connected,
    connected_locally,
    is_silent,
    listener,
    network_trip,
    open_folder,
    stranger,
)
from stallwatch.sources.mysql.target import DISABLED, PREFERRED, VERIFY_CA, VERIFY_IDENTITY
from stallwatch.sources.tcp import is_here
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.hashing import hashlib
from stallwatch.startup.pymysql import CLIENT, MysqlPacket, OKPacketWrapper, connections

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.memory import Memory
    from stallwatch.sources.mysql.process_here import ProcessHere, Why
    from stallwatch.sources.mysql.sockets import BoundedSocket, Listener
    from stallwatch.sources.mysql.target import Target

    Known = Callable[..., AbstractContextManager[Memory]]  # of an account, and seconds to wait for others

PROTOCOL = 10
CONNECTING, GREETING, LOG_IN, IN = range(4)  # how far a connection has come
_CACHING, _SHA256, _NATIVE = b"caching_sha2_password", b"sha256_password", b"mysql_native_password"
_BROKEN_BY_NOW = b"mysql_old_password"
_SCRAMBLE = 20  # bytes that a method which hashes the password gets from the server (SCRAMBLE_LENGTH)
# What a server did not do at first use that now shows a certificate, or a public key.
_OTHERWISE = {
    "certificate": "uses TLS, which it did not use",
    "public key": "does not use TLS, which it used",
}
_WORTH_A_LOOK = 1.0  # seconds that are left
_PROVES_ITSELF = (11, 4)  # MariaDB
_NOT_SIGNED_BY_ANYBODY_KNOWN = (18, 19, 20, 21)  # X509_V_ERR_... of OpenSSL


class NoTlsError(Exception):
    """TLS is wanted, and the server has none."""


class InsecureError(Exception):
    """The server wants the password readable, and nobody knows who it is; the message is the method."""


class BrokenMethodError(Exception):
    """The server wants a hash that anybody can reverse; the message is the method."""


class StrangerError(Exception):
    """A socket that nobody has named is listened at by a process that is no server's."""

    def __init__(self, listener: Listener) -> None:
        super().__init__(str(listener))


class OtherUserError(Exception):
    """A program of a user who runs no server, which is the message, answers at an address of this host."""


class OpenFolderError(Exception):
    """A socket that nobody has named is in a folder, which is the message, where everybody may have one."""


class ChangedError(Exception):
    """The server shows itself in another way than at first use; the message is how."""

    def __init__(self, how: str, remembered: str, *, tls_forbidden: bool = False) -> None:
        super().__init__(how)
        self.remembered = remembered  # the file that has what it showed then
        self.tls_forbidden = tls_forbidden  # by the user


class NotRememberedError(Exception):
    """What the server shows cannot be compared with what it showed at first; the message is why."""


class NotProvenError(Exception):
    """The server has not proven that the certificate is its own."""


class NotProvableError(Exception):
    """The account's method, which is the message, has no proof that is known here."""


class LogIn(connections.Connection):  # type: ignore[misc]
    """A connection to ``target``, whose waits end with ``deadline``.

    ``known`` has what servers showed at first use, see ``Run.known_server``. With ``prove`` a certificate
    is not verified by its authorities, but by the server's proof that it knows the account's password.
    """

    def __init__(self, target: Target, deadline: Deadline, known: Known, *, prove: bool = False) -> None:
        self.user_name = target.user or user_name(os.geteuid())  # as the mysql client does
        self.stage = CONNECTING
        super().__init__(
            host=target.host,
            port=target.port,
            user=self.user_name.encode(errors="surrogateescape"),
            password=(target.password or "").encode(errors="surrogateescape"),
            charset="utf8mb4",
            use_unicode=False,
            conv={},  # rows are read by ``Connection.ask``
            autocommit=None,
            program_name="stallwatch",
            ssl_disabled=True,  # until the server has said that it can
            server_public_key=target.server_key,
            defer_connect=True,
        )
        self.server_status = 0  # what the server shows, once it is connected; of a recorded one 0
        self.greeted_at = deadline.clock()
        self.own_address = False
        self.pid = 0  # of who listens at a local socket; 0: not known
        self.here: ProcessHere | None = None  # the server's process, once it is late
        self._watched = False
        self._target = target
        self.deadline = deadline
        self._known = known
        self._proves = prove
        self._verifies = target.tls.mode in (VERIFY_CA, VERIFY_IDENTITY) and not prove
        self._auth_plugin_name = ""
        self._method = self._scramble = b""
        self._last: MysqlPacket | None = None

    @property
    def shakes_hands(self) -> bool:
        """Whether TLS was begun and is not there yet."""
        return bool(self.ssl) and not self._secure

    @property
    def _trusted(self) -> bool:
        """Whether it is known who is at the other end, and nobody can listen."""
        return bool(self._target.socket) or (bool(self.ssl) and self._verifies)

    def open_up(self) -> None:
        """Connect and log in; raises whatever went wrong, see ``no_log_in``."""
        path = self._target.socket
        try:
            if path:
                peer = self._connected_locally(path)
                self._secure = True
            else:
                peer = connected(self._target.host, self._target.port, self.deadline)
            self.stage = GREETING
            self._sock: Any = peer  # to be closed, whatever comes next
            self._peer = peer
            self.own_address = is_here(peer)
            self.pid = listener(peer).pid if path else 0
            if self.own_address and self.deadline.left() > _WORTH_A_LOOK and is_silent(peer):
                self.watch()
            self.connect(peer)
            self.stage = IN
        except BaseException:
            self._force_close()
            raise

    def watch(self) -> None:
        """See from now on what keeps a server on this host from answering."""
        if self.own_address and not self._watched:
            self._watched = True
            from stallwatch.sources.mysql import process_here

            where = None if self._target.socket else self._target.port
            self.here = process_here.found(self.pid, where)

    def network_trip(self) -> float:
        """Return the round trip of the network as the kernel measures it, in seconds; 0: not known."""
        return network_trip(self._sock)

    def why_late(self) -> Why | None:
        """Return what keeps the server from answering; None: it is not here, or that does not show."""
        if self.pid:  # at a TCP port it takes too long now to find it
            self.watch()
        return self.here.why() if self.here else None

    def _connected_locally(self, path: str) -> BoundedSocket:
        if self._target.found and (folder := open_folder(path)):
            raise OpenFolderError(folder)
        peer = connected_locally(path, self.deadline)
        if self._target.found and (listener := stranger(peer, path)):
            peer.close()
            raise StrangerError(listener)
        return peer

    def _get_server_information(self) -> None:
        super()._get_server_information()
        if self.protocol_version != PROTOCOL:
            raise ValueError(self.protocol_version)
        self.greeted_at = self.deadline.clock()
        self.stage = LOG_IN

    def _request_authentication(self) -> None:
        """Log in, in TLS as ``target`` wants it and the server can.

        PyMySQL 1.0.2 goes on without TLS where a server has none, whatever was asked for.
        """
        mode = DISABLED if self._target.socket else self._target.tls.mode
        can = self.server_capabilities & CLIENT.SSL
        if mode not in (DISABLED, PREFERRED) and not can:
            raise NoTlsError
        if mode != DISABLED and can:
            from stallwatch.sources.mysql.tls import Context

            self.ctx = Context(self._target.tls, verify=self._verifies)
            self.client_flag |= CLIENT.SSL
            self.ssl = True
        may_read = self._trusted or self._target.cleartext
        if self._proves or (self._auth_plugin_name == _SHA256.decode() and not may_read):
            self._auth_plugin_name = _NATIVE.decode()  # or else PyMySQL sends the password at once in TLS
        self._method, self._scramble = self._auth_plugin_name.encode(), self.salt
        super()._request_authentication()
        if self.ssl and not self._verifies:
            self._look_at_proof()
        if not (self._trusted or self._proves):
            self._remember()

    def _process_auth(self, plugin_name: bytes, auth_packet: MysqlPacket, *others: Any) -> Any:
        """Log in as the account wants it."""
        if plugin_name == _BROKEN_BY_NOW:
            raise BrokenMethodError(plugin_name.decode())
        if self._proves and plugin_name != _NATIVE:
            raise NotProvableError(plugin_name.decode(errors="replace"))
        self._method = plugin_name
        self._scramble = auth_packet.get_all_data()[auth_packet._position :]  # noqa: SLF001
        return super()._process_auth(plugin_name, auth_packet, *others)

    def write_packet(self, payload: bytes) -> None:
        """Send a packet; one with the password readable only to whom it may be sent.

        All methods of PyMySQL, and all versions of it, come by here. PyMySQL sends it to whoever asks for it.
        """
        if self.stage == LOG_IN and self.password and payload.rstrip(b"\0") == self.password.rstrip(b"\0"):
            self._must_be_readable_there()
        super().write_packet(payload)

    def _must_be_readable_there(self) -> None:
        if self._trusted:
            return
        if self._proves:  # it has not done so yet
            raise NotProvableError(self._method.decode(errors="replace"))
        if self._method == _CACHING and self.ssl:
            self._must_be_the_first("certificate", self._sock.certificate)
        elif self._target.cleartext:
            self._must_be_server()
        else:
            raise InsecureError(self._method.decode(errors="replace"))

    def _must_be_server(self) -> None:
        """See that no other user's program gets it, who listens while the server is down: OtherUserError."""
        from stallwatch.sources import listeners

        if other := listeners.stranger(self._peer):
            raise OtherUserError(other)

    @property
    def server_public_key(self) -> bytes | None:
        """The key that the password is encrypted with where there is no TLS, in PEM form."""
        return self._server_key

    @server_public_key.setter
    def server_public_key(self, key: bytes | None) -> None:
        if key and self.stage == LOG_IN:  # the server has sent it
            if self._target.server_key:
                raise ChangedError("shows another public key than --server-public-key-path", "")
            self._must_be_the_first("public key", key)
        self._server_key = key

    def _must_be_the_first(self, what: str, octets: bytes) -> None:
        """See that the server shows what it showed at first use; raises ChangedError, NotRememberedError.

        A certificate is kept before the password is sent: whoever comes next is compared with who got it. A
        key is kept when the server has let us in, or else one that nobody could use would stay.
        """
        self._must_be_server()
        try:
            with self._known(self._account, wait=self.deadline.left()) as known:
                if known.problem:
                    raise NotRememberedError(known.problem)
                shown = hashlib.sha256(octets).hexdigest()
                if known and known.get(what) != shown:
                    how = f"shows another {what} than" if what in known else _OTHERWISE[what]
                    forbidden = what not in known and self._target.tls.mode == DISABLED
                    if forbidden:
                        how = "may not use TLS (--ssl-mode DISABLED), which it used"
                    raise ChangedError(f"{how} at its first use", known.path, tls_forbidden=forbidden)
                if what == "certificate":
                    known[what] = shown
        except ProbeError as error:  # another run had hold of it until our time was up
            raise NotRememberedError(error.what) from None
        if known.problem:  # it could not be written
            raise NotRememberedError(known.problem)

    def _remember(self) -> None:
        """Keep what was shown at the first log-in, so that no stranger's is the first; wait for nobody."""
        if self.ssl:
            what, octets = "certificate", self._sock.certificate
        elif self._server_key and not self._target.server_key:
            what, octets = "public key", self._server_key
        else:
            return
        with suppress(ProbeError), self._known(self._account, wait=0) as known:
            if not known and not known.problem:
                known[what] = hashlib.sha256(octets).hexdigest()

    @property
    def _account(self) -> dict[str, str]:
        return {"target": self._target.where, "user": self.user_name}

    def can_prove_itself(self, failure: BaseException | None) -> bool:
        """Whether the certificate that was refused is one that this server can prove to be its own.

        MariaDB 11.4 and later make themselves one that nobody else has signed. Its client accepts that for an
        account with a password that its method hashes, where no authority is named.
        """
        tls, told = self._target.tls, getattr(self, "server_version", "")
        kind = flavour(told, "")
        return (
            getattr(failure, "verify_code", 0) in _NOT_SIGNED_BY_ANYBODY_KNOWN
            and not (tls.ca or tls.capath)
            and bool(self.password)
            and kind.mariadb and kind.version >= _PROVES_ITSELF
        )  # fmt: skip

    def _look_at_proof(self) -> None:
        """See that who knows the account's password has this certificate; raises NotProvenError.

        MariaDB sends, where an OK has its message, a byte 1 and, as 64 digits, the SHA-256 of three things:
        what it knows of the password, what it sent to be hashed with it, and the SHA-256 of its certificate
        (MariaDB 11.4.5). What it knows of the password is known here for mysql_native_password.
        """
        octets = OKPacketWrapper(self._last).message if self._last else b""
        proof = re.search(rb"\x01([0-9A-Fa-f]{64})\Z", octets)
        if proof and self.password and self._method == _NATIVE:
            hashed = hashlib.sha1(hashlib.sha1(self.password).digest()).digest()
            certificate = hashlib.sha256(self._sock.certificate).digest()
            expected = hashlib.sha256(hashed + self._scramble[:_SCRAMBLE] + certificate).hexdigest()
            if proof[1].lower() != expected.encode():
                raise NotProvenError
        elif self._proves:
            raise NotProvenError

    def _read_packet(self, packet_type: type[MysqlPacket] = MysqlPacket) -> Any:
        packet = super()._read_packet(packet_type)
        if self.stage == LOG_IN:
            self._last = packet
        return packet
