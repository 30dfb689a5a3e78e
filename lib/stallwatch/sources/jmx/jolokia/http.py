"""Sending bodies to a JVM's agent over HTTP, and what its answers mean where they are none of the agent's.

Redirects are not followed, proxies are not used: only the host that was named gets the password.
"""

from __future__ import annotations

import json
import re
import time
from binascii import b2a_base64
from contextlib import contextmanager
from http.client import (
    BadStatusLine,
    HTTPConnection,
    HTTPException,
    IncompleteRead,
    responses,
)
from socket import IPPROTO_TCP, TCP_QUICKACK, socket

from stallwatch import withheld
from stallwatch.line import shorten
from stallwatch.sources import tcp
from stallwatch.sources.encrypted import EncryptedSocket
from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.sources.jmx.wire import LostError, SilentError, connected, must_be_server
from stallwatch.sources.tcp import is_here
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator
    from http.client import HTTPResponse
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.target import Target

MOST = 8 << 20  # bytes of an answer; names and classes of the 11 718 beans of a Cassandra 5 fit
_TLS_ALERT = b"\x15\x03"  # what a TLS server answers to plain text
_LONGEST, _BEGINNING = 200, 60  # bytes of what others send: of an error, of what is none
# Of an answer that is no JSON: bytes in which the password is looked for, letters that are used.
_SEEN, _LOOKED_AT = 1 << 16, 1 << 12
_OK, _BAD, _DENIED, _FORBIDDEN, _NOT_FOUND = 200, 400, 401, 403, 404
_REDIRECTS = (301, 302, 303, 307, 308)
_NO_POST = (405, 501)  # of a server that only sends pages
# Kinds of log-in in a header as 'Digest realm="a, b", Basic realm="c"' (RFC 9110, 11.6.1).
_QUOTED, _KIND = r'"(?:\\.|[^"\\])*"', r"(?:^|,)\s*([^\s,=]+)(?=\s+[^\s=]|\s*(?:,|$))"
_PORT = "check the port: Jolokia's is usually 8778, never the JMX port"
_BETWEEN = "check whether the JVM restarts, and for a proxy in between"  # where Jolokia has answered before
_BEHIND = "let the proxy there ask it over https (nginx: proxy_pass https://...)"
_NO_TLS = "use http:// (no --tls) if the agent has no TLS, or check the port"
_SILENT = "check whether the JVM is stopped, in a long garbage collection, or swapping; or the port"
_HANDSHAKE = 1.0  # seconds for a TLS handshake, before it is tried whether the port speaks HTTP without TLS
_PATH = "use Jolokia's own URL with -U, such as http://HOST:PORT/actuator/jolokia"


class TooLongError(Exception):
    """The answer has more than MOST bytes."""


class _EndsInTime(socket):
    """A socket whose waits end with a deadline, however slowly its peer speaks."""

    deadline: Deadline
    _ahead = b""  # was received already

    def begins(self, seconds: float) -> bool:
        """Wait so long at most for the peer to begin; nothing that it sends is lost."""
        try:
            self._ahead = tcp.receive(self, 1, self.deadline.part(seconds))
        except TimeoutError:
            return False
        return True

    def recv_into(self, *arguments: Any) -> int:
        """Receive, in the time that is left."""
        if self._ahead:
            buffer, self._ahead, ahead = arguments[0], b"", self._ahead
            buffer[: len(ahead)] = ahead
            return len(ahead)
        receive = super().recv_into
        _acknowledge_at_once(self)
        return tcp.in_time(self, lambda: receive(*arguments), self.deadline)

    def sendall(self, octets: Any, _flags: int = 0) -> None:
        """Send, in the time that is left."""
        tcp.send(self, octets, self.deadline)


class _EndsInTimeInTls(_EndsInTime, EncryptedSocket):
    """The same in TLS."""


def _acknowledge_at_once(peer: socket) -> None:
    """Let the agent not wait for us.

    Java's own HTTP server (JDK 17) sends an answer in pieces, the second when we have acknowledged the first:
    Linux takes 40 ms for that by default, each time.
    """
    peer.setsockopt(IPPROTO_TCP, TCP_QUICKACK, 1)


class Agent:
    """Where bodies are sent, over one connection as long as the agent keeps it open."""

    def __init__(self, target: Target, deadline: Deadline) -> None:
        self.where = target.where
        self._target = target
        self._deadline = deadline  # of the run; each body has its own
        self.is_jolokia = False  # as its answers have shown
        self._spoke_tls = False
        self._connection: HTTPConnection | None = None
        self._peer: _EndsInTime | None = None  # of the connection
        self._tls: ssl.SSLContext | None = None
        self._headers = {"Content-Type": "application/json", "User-Agent": "stallwatch"}
        if target.password is not None:
            login = f"{target.user}:{target.password}".encode(errors="surrogateescape")
            self._headers["Authorization"] = f"Basic {b2a_base64(login, newline=False).decode()}"

    def close(self) -> None:
        """Hang up."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def post(self, body: bytes, deadline: Deadline, patience: float | None = None) -> bytes:
        """Send a body and return what comes back; all bodies are reads, so that one may be sent twice.

        If no answer has begun within ``patience`` seconds, SilentError is raised, and ``answer`` may wait for
        it. Raises also TooLongError and UnreachableError.
        """
        kept = self._connection is not None
        try:
            return self._posted(body, deadline, patience)
        except LostError:
            if not kept:
                raise self._hung_up() from None
        try:  # an agent may close a connection at any time that is not used
            return self._posted(body, deadline, patience)
        except LostError:
            raise self._hung_up() from None

    def answer(self, deadline: Deadline) -> bytes:
        """Wait for the answer to what was posted; raises as ``post``, SilentError where it was given up."""
        if not self._peer or not self._connection:
            raise SilentError
        self._peer.deadline = deadline
        try:
            return self._received(self._connection)
        except LostError:
            raise self._hung_up() from None

    def _hung_up(self) -> UnreachableError:
        what = f"{self.where} closed the connection without a whole answer"
        if self.is_jolokia:
            return UnreachableError(what, _BETWEEN)
        return self._other_scheme() or UnreachableError(what, _PORT)

    def _other_scheme(self) -> UnreachableError | None:
        """Return that https is spoken where http was asked for, or the other way round, if that is proved."""
        from stallwatch.sources.jmx import web

        target = self._target
        scheme = "http" if target.tls.wanted else "https"
        if self._spoke_tls or not web.spoken(target.host, target.port, self._deadline, scheme):
            return None
        return self._as_other()

    def _as_other(self) -> UnreachableError:
        from stallwatch.sources.jmx import web

        target = self._target
        if self._spoke_tls:
            return UnreachableError(f"what is behind {self.where} requires TLS", _BEHIND)
        scheme, what = ("http", "HTTP without TLS") if target.tls.wanted else ("https", "TLS")
        advice = web.use(scheme, target.host, target.port, target.name)
        return UnreachableError(f"{self.where} speaks {what}", advice)

    def _posted(self, body: bytes, deadline: Deadline, patience: float | None) -> bytes:
        with self._closed_if_it_fails():
            connection, peer = self._open(deadline)
            connection.request("POST", self._target.name, body, self._headers)
            begins = patience is None or peer.begins(patience)
        if not begins:
            raise SilentError
        return self._received(connection)

    def _received(self, connection: HTTPConnection) -> bytes:
        with self._closed_if_it_fails():
            response = connection.getresponse()
            octets = response.read(MOST + 1)
            complete = len(octets) > MOST or not response.length
        if not complete or len(octets) > MOST or response.will_close:
            self.close()
        if response.status != _OK:
            self.close()
            raise self._refused(response, octets)
        if len(octets) > MOST:
            raise TooLongError
        if not (complete and octets):
            raise LostError
        return octets

    @contextmanager
    def _closed_if_it_fails(self) -> Iterator[None]:
        """Close the connection after any failure, and raise what it means."""
        try:
            yield
        except BaseException as error:
            self.close()
            if isinstance(error, OSError | HTTPException | ValueError):
                raise self._explained(error) from None
            raise

    def _open(self, deadline: Deadline) -> tuple[HTTPConnection, _EndsInTime]:
        if self._connection is None or self._peer is None:
            deadline.doing = f"connecting to {self.where}"
            self._peer = self._connected(deadline)
            self._connection = HTTPConnection(self._target.host, self._target.port)
            self._connection.auto_open = 0  # it would connect in its own way
            self._connection.sock = self._peer
        self._peer.deadline = deadline
        deadline.doing = f"waiting for {self.where}, asked over HTTP"
        return self._connection, self._peer

    def _connected(self, deadline: Deadline) -> _EndsInTime:
        if self._target.tls.wanted:
            return self._encrypted(deadline)
        peer = self._plain(deadline)
        try:
            self._may_be_read(peer)
        except BaseException:
            peer.close()
            raise
        return peer

    def _plain(self, deadline: Deadline) -> _EndsInTime:
        plain = connected(self._target.host, self._target.port, deadline, "Jolokia")
        return _EndsInTime(fileno=plain.detach())

    def _encrypted(self, deadline: Deadline) -> _EndsInTime:
        """Begin TLS. Java's own server without TLS stays silent: it reads on, as of a request.

        It may have one thread, which is free again only when that connection is closed.
        """
        begun = time.monotonic()
        peer = self._in_tls(deadline.part(_HANDSHAKE))
        if not peer and (other := self._other_scheme()):
            raise other
        peer = peer or self._in_tls(deadline)
        if not peer:
            within = waited(time.monotonic() - begun, self._deadline)
            what = f"{self.where} has not answered within {within}: TLS handshake"
            raise UnreachableError(what, _SILENT)
        self._spoke_tls = True
        return peer

    def _in_tls(self, deadline: Deadline) -> _EndsInTimeInTls | None:
        """Connect in TLS; None: the handshake did not end in time."""
        peer: socket | None = None
        try:
            plain = peer = self._plain(deadline)
            host = self._target.host
            peer = self._context().wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
            _acknowledge_at_once(peer)
            tcp.in_time(peer, peer.do_handshake, deadline)
        except BaseException as error:
            if peer:
                peer.close()
            if isinstance(error, TimeoutError | SilentError):
                return None
            raise
        assert isinstance(peer, _EndsInTimeInTls)  # noqa: S101 - the context makes no other
        return peer

    def _may_be_read(self, peer: socket) -> None:
        """See that the password, if there is one, neither leaves this host nor goes to another user."""
        if self._target.password is None or self._target.cleartext:
            return
        if is_here(peer):
            must_be_server(peer, self.where)
            return
        raise UnreachableError(
            f"{self.where} is asked without TLS: the password was not sent",
            "use https (--tls), or allow it with --allow-cleartext",
        )

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            from stallwatch.sources.jmx.tls import context

            self._tls = context(self._target.tls)
            self._tls.sslsocket_class = _EndsInTimeInTls
        return self._tls

    def _explained(self, error: Exception) -> Exception:
        """Return what went wrong on the way: SilentError, LostError, or UnreachableError."""
        if isinstance(error, TimeoutError):
            return SilentError()
        if isinstance(error, OSError):
            return self._of_tls(error) if type(error).__module__ == "ssl" else LostError()
        if isinstance(error, IncompleteRead):
            return LostError()
        said = str(error)
        if isinstance(error, BadStatusLine) and _TLS_ALERT in said.encode("latin-1", "replace"):
            return self._as_other()
        if self.is_jolokia or not isinstance(error, HTTPException):  # a negative length is a ValueError
            return UnreachableError(f"{self.where} sent HTTP that cannot be read", _BETWEEN)
        return UnreachableError(f"{self.where} does not speak HTTP: {_said(said)}", _PORT)

    def _of_tls(self, error: OSError) -> Exception:
        from stallwatch.sources.jmx import tls

        if isinstance(error, tls.HUNG_UP):
            return LostError()
        if not tls.is_none(error):  # an alert of the peer, or its certificate
            return tls.explained(error, self.where)
        if self._spoke_tls:
            return UnreachableError(f"{self.where} sent TLS that cannot be read", _BETWEEN)
        return self._other_scheme() or tls.explained(error, self.where, _NO_TLS)

    def _refused(self, response: HTTPResponse, octets: bytes) -> UnreachableError:
        """Return what an answer means that has another status than 200."""
        where, status = self.where, response.status
        phrase = responses.get(status, "")
        said = _text(octets) or _said(response.reason)
        status_named = f"HTTP {status} {phrase}".rstrip()
        named = status_named + (f": {said}" if said not in ("", phrase) else "")
        if status in _REDIRECTS:
            there = _without_login(response.headers.get("Location", "nowhere"))
            what = f"{where} redirects {self._target.name} to {_said(there)}: nothing was sent there"
            return UnreachableError(what, "if that is right, use that URL with -U")
        if status == _DENIED:
            return self._denied(status_named, response.headers.get_all("WWW-Authenticate", []))
        if status == _FORBIDDEN:
            return forbidden(where, named)
        if status == _BAD and not self._target.tls.wanted and (other := self._other_scheme()):
            return other  # nginx, Tomcat and Apache answer so where TLS is required
        if status in (_NOT_FOUND, *_NO_POST):
            lacks = f"has no {self._target.name}: {named}"
            other_answer = f"does not answer as Jolokia does, but {named}"
            return UnreachableError(f"{where} {lacks if status == _NOT_FOUND else other_answer}", _PATH)
        return UnreachableError(f"{where} answered {named}", "check its log, and for a proxy in between")

    def _denied(self, status: str, ways: list[str]) -> UnreachableError:
        where, user = self.where, self._target.user
        kinds = [kind for way in ways for kind in re.findall(_KIND, re.sub(_QUOTED, "", way))]
        if kinds and "basic" not in map(str.lower, kinds):
            kind = _said(" or ".join(kinds))
            advice = "allow Basic authentication there, the only one that is supported"
            return UnreachableError(f"{where} requires a log-in by {kind} ({status})", advice)
        if user is None:
            what = f"{where} requires a user and a password ({status})"
            return UnreachableError(what, "use -u and --password-file")
        advice = "check the user and the password of its agent"
        return UnreachableError(f"{where} denied access to the user {user} ({status})", advice)


def waited(seconds: float, deadline: Deadline) -> str:
    """Write how long nothing came: the whole time of the run, if it was most of that."""
    return say_duration(deadline.seconds if seconds > deadline.seconds / 2 else round(seconds, 1))


def forbidden(where: str, why: str) -> UnreachableError:
    """Report that nothing may be asked."""
    advice = "check the agent's policy (jolokia-access.xml), and for a proxy in between"
    return UnreachableError(f"{where} refuses access: {why}", advice)


def not_json(where: str, octets: bytes, *, before: bool = False) -> UnreachableError:
    """Report that what came back is not from Jolokia; ``before``: an earlier answer was."""
    what = f"{where} does not answer as Jolokia does: {shorten(_text(octets), _BEGINNING) or 'no text'}"
    return UnreachableError(what, _BETWEEN if before else _PATH)


def _text(octets: bytes) -> str:
    """Return what of an answer is for a person: Jolokia's error, the title of a page, or how it begins."""
    try:
        told = json.loads(octets)
        error = told.get("error") if isinstance(told, dict) else None
        if isinstance(error, str):
            return _said(error)
    except (ValueError, RecursionError):
        pass
    text = octets[:_SEEN].decode(errors="replace")
    if withheld.message(text) == withheld.WITHHELD:  # also where it would be cut in the midst of a password
        return withheld.WITHHELD
    text = text[:_LOOKED_AT]
    if re.search("[\0-\x08\x0e-\x1f]", text[:_LONGEST]):  # compressed, or in UTF-16
        return ""
    title = re.search(r"(?is)<title[^>]*>(.*?)</title>", text)
    if title or re.search(r"(?i)</[a-z]|<!doctype", text):  # "3 <b and c> 2" is no page
        from html import unescape

        without = re.sub(r"(?is)<(script|style)\b.*?</\1>|</?[a-z!][^<>]*>", " ", text)
        text = unescape(title[1] if title and title[1].strip() else without)
    return _said(text)


def _said(text: str) -> str:
    return shorten(withheld.message(" ".join(text.split())), _LONGEST)


def _without_login(url: str) -> str:
    """Take user and password from a URL, and what stands behind ``?``; where that is in doubt, all of it."""
    plain = re.fullmatch(r"(?i)((?:[a-z][a-z0-9+.-]*:)?//)[^/@?#]*@([^@]*)", url)
    without = plain[1] + plain[2] if plain else url
    return "another place" if "@" in without else re.split("[?#]", without)[0]
