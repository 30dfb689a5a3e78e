"""Java's remote method invocation: references to remote objects, the calls of a JMX client, and the answers.

JRMP as in "Java RMI Wire Protocol"; JDK 8 to 27 take the same. A method is named by the first 8 bytes of the
SHA-1 of its name and descriptor, read little-endian.
"""

from __future__ import annotations

from struct import iter_unpack, pack, unpack

from stallwatch.sources.jmx.budget import LimitError
from stallwatch.sources.jmx.serialization import (
    MAGIC,
    AbortedError,
    ProtocolError,
    Reader,
    Record,
    UndecodableError,
    decoded,
)
from stallwatch.sources.jmx.target import PORTS
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.wire import Wire

_HELLO = b"JRMI\x00\x02\x4b" + bytes(6)  # stream protocol; our own host and port, which nobody reads
REGISTRY = bytes(22)  # the registry's object id
_ID_SIZE = len(REGISTRY)

_NULL = b"\x70"
_UNANNOTATED = b"\x70\x78\x70"  # no codebase, end of the annotation, no superclass
_SHORTEST_LONG_TEXT = 65536
_REGISTRY_HASH = 4905912898345647071  # of the registry's interface: it is called in the way of JDK 1.1
_NEW_CLIENT = -1089742558549201240
_GET_ATTRIBUTE = -1089783104982388203
_GET_ATTRIBUTES = 6285293806596348999
_QUERY_NAMES = 9152567528369059802
_QUERY_MBEANS = 2915881009400597976
_GET_MBEAN_INFO = -7404813916326233354
_GET_DOMAINS = -6662314179953625551
_INVOKE = 1434350937885235744
_CLOSE = -4742752445160157748

_ACCEPTED, _RETURN, _NORMAL, _EXCEPTIONAL = 0x4E, 0x51, 1, 2
_ACKNOWLEDGED = b"\x54"
_UID_SIZE = 14
_TLS_FACTORY = "javax.rmi.ssl.SslRMIClientSocketFactory"
_REMOTE_OBJECT = "java.rmi.server.RemoteObject"


class NoJrmpError(Exception):
    """What answered is no RMI server; ``first`` is the first byte that it said."""

    def __init__(self, first: int) -> None:
        super().__init__(first)
        self.first = first


class RemoteError(Exception):
    """The call ended in an exception; ``record`` is what was sent of it."""

    def __init__(self, record: Record) -> None:
        super().__init__(record.name)
        self.record = record


# What the answer to one call may come to, the server being alive.
FAILURES = (RemoteError, AbortedError, UndecodableError, LimitError, ProtocolError)


class Reference(NamedTuple):
    """Where a remote object is: the server's own idea of its host, its port, its id, and whether in TLS."""

    host: str
    port: int
    object_id: bytes
    tls: bool


def reference(stub: Any) -> Reference:
    """Read the reference in a stub, which is a static one or (JDK 8u504) a dynamic proxy."""
    if isinstance(stub, Record) and isinstance(stub.fields.get("h"), Record):
        stub = stub.fields["h"]
    if not isinstance(stub, Record) or _REMOTE_OBJECT not in stub.data:
        raise ProtocolError("no stub where one was to come")
    parts = stub.data[_REMOTE_OBJECT]
    octets = _Octets(b"".join(part for part in parts if isinstance(part, bytes)))
    kind = octets.utf()
    if kind not in ("UnicastRef", "UnicastRef2"):
        raise ProtocolError(f"a reference of the unknown kind {kind}")
    with_factory = kind == "UnicastRef2" and octets.take(1) == b"\x01"
    host = octets.utf()
    (port,) = unpack(">i", octets.take(4))
    factory = next((part for part in parts if isinstance(part, Record)), None) if with_factory else None
    if factory and factory.name != _TLS_FACTORY:
        raise ProtocolError(f"it wants connections made by {factory.name}, which only a Java client has")
    if port not in PORTS:
        raise ProtocolError(f"a reference to the port {port}")
    return Reference(host, port, octets.take(_ID_SIZE), tls=factory is not None)


class _Octets:
    """Bytes at hand, to be taken in order."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def take(self, count: int) -> bytes:
        found, self._octets = self._octets[:count], self._octets[count:]
        if len(found) < count:
            raise ProtocolError("a reference that ends too soon")
        return found

    def utf(self) -> str:
        (length,) = unpack(">H", self.take(2))
        return decoded(self.take(length))


class Link:
    """A connection on which calls follow one another; answers come in the order of the calls."""

    def __init__(self, wire: Wire) -> None:
        self.usable = True  # not after an answer that was not read to its end, or that the server ends with
        self.due = 0  # answers that have not been read
        self._wire = wire
        self._greeting = _HELLO
        self._greeted = False
        self._ended = False

    def within(self, deadline: Deadline) -> None:
        """Let all waits from now on end with this deadline."""
        self._wire.deadline = deadline

    def heard(self, seconds: float) -> bool:
        """Whether something comes within these seconds; raises LostError if the peer hangs up instead."""
        return self._wire.heard(seconds)

    def must_be_server(self) -> None:
        """See that no other user's program on this host gets a readable password; raises UnreachableError."""
        self._wire.must_be_server()

    def end(self) -> None:
        """Send nothing more; what was asked is answered all the same, as far as the JVM is concerned."""
        self._ended = True
        self._wire.end()

    def send(self, *calls: bytes) -> None:
        """Send calls; the greeting goes before the first one, in the same segment."""
        self.due += len(calls)
        self._wire.send(self._greeting + b"".join(calls))
        self._greeting = b""

    def answer(self, *, stub: bool = False, void: bool = False) -> Any:
        """Read the answer to the earliest open call: an object, None of a ``void`` method.

        A stub is acknowledged. Raises one of FAILURES, LostError or SilentError.
        """
        self.usable = False
        self.due -= 1
        if not self._greeted:
            self._greet()
        tag = self._wire.take(1)[0]
        if tag != _RETURN:
            raise ProtocolError(f"0x{tag:02x} where an answer was to come")
        reader = Reader(self._wire)
        try:
            return self._answered(reader, stub=stub, void=void)
        finally:
            Reader.litter += reader.spent

    def _answered(self, reader: Reader, *, stub: bool, void: bool) -> Any:
        header = reader.block()
        if len(header) < 1 + _UID_SIZE or header[0] not in (_NORMAL, _EXCEPTIONAL):
            raise ProtocolError("an answer that is neither a value nor an exception")
        found = None if void and header[0] == _NORMAL else reader.content()
        if header[0] == _EXCEPTIONAL:
            if not isinstance(found, Record):
                raise ProtocolError("an exception that is none")
            # after those the server hangs up
            self.usable = not (self._ended or found.name.startswith("java.rmi."))
            raise RemoteError(found)
        self.usable = not self._ended
        if stub and not self._ended:
            # Without this the server keeps the object alive for 5 minutes.
            self._wire.send(_ACKNOWLEDGED + header[1 : 1 + _UID_SIZE])
        return found

    def _greet(self) -> None:
        first = self._wire.take(1)[0]
        if first != _ACCEPTED:
            raise NoJrmpError(first)
        (length,) = unpack(">H", self._wire.take(2))
        self._wire.take(length + 4)  # our own address, as the server sees it
        self._greeted = True

    def close(self) -> None:
        """Hang up."""
        self.usable = False
        self._wire.close()


def listing() -> bytes:
    """Ask the registry for the names that it has."""
    return _call(REGISTRY, _REGISTRY_HASH, operation=1)


def lookup(name: str) -> bytes:
    """Ask the registry for the stub that is bound to ``name``."""
    return _call(REGISTRY, _REGISTRY_HASH, _text(name), operation=2)


def new_client(server: bytes, user: str | None, password: str | None) -> bytes:
    """Log in."""
    return _call(server, _NEW_CLIENT, _NULL if user is None else _texts([user, password or ""]))


def get_attribute(connection: bytes, name: str, attribute: str) -> bytes:
    """Ask for one attribute, or why it cannot be had."""
    return _call(connection, _GET_ATTRIBUTE, _object_name(name), _text(attribute), _NULL)


def get_attributes(connection: bytes, name: str, attributes: Sequence[str]) -> bytes:
    """Ask for those attributes that can be had."""
    return _call(connection, _GET_ATTRIBUTES, _object_name(name), _texts(attributes), _NULL)


def query_names(connection: bytes, pattern: str) -> bytes:
    """Ask for the names that match."""
    return _call(connection, _QUERY_NAMES, _object_name(pattern), _NULL, _NULL)


def query_mbeans(connection: bytes, pattern: str) -> bytes:
    """Ask for the names that match, with the class of each."""
    return _call(connection, _QUERY_MBEANS, _object_name(pattern), _NULL, _NULL)


def get_mbean_info(connection: bytes, name: str) -> bytes:
    """Ask what attributes a bean has."""
    return _call(connection, _GET_MBEAN_INFO, _object_name(name), _NULL)


def get_domains(connection: bytes) -> bytes:
    """Ask for the domains."""
    return _call(connection, _GET_DOMAINS, _NULL)


def find_deadlocked_threads(connection: bytes) -> bytes:
    """Invoke the one operation that this suite ever invokes."""
    threading, operation = _object_name("java.lang:type=Threading"), _text("findDeadlockedThreads")
    return _call(connection, _INVOKE, threading, operation, _NULL, _NULL, _NULL)


def close(connection: bytes) -> bytes:
    """Log out: without it the server keeps a thread for 2 minutes."""
    return _call(connection, _CLOSE)


def _call(target: bytes, method: int, *arguments: bytes, operation: int = -1) -> bytes:
    header = b"\x50" + MAGIC + b"\x77\x22" + target + pack(">iq", operation, method)
    return header + b"".join(arguments)


def _encoded(text: str) -> bytes:
    """Write modified UTF-8: NUL in two bytes, characters beyond U+FFFF as two surrogates."""
    if text.isascii() and "\0" not in text:
        return text.encode()
    units = text.encode("utf-16-be", "surrogatepass")
    halves = "".join(chr(unit) for (unit,) in iter_unpack(">H", units))
    return halves.encode(errors="surrogatepass").replace(b"\0", b"\xc0\x80")


def _text(text: str) -> bytes:
    octets = _encoded(text)
    if len(octets) < _SHORTEST_LONG_TEXT:
        return b"\x74" + pack(">H", len(octets)) + octets
    return b"\x7c" + pack(">q", len(octets)) + octets


def _class(tag: bytes, name: str, uid: int, flags: int) -> bytes:
    """Write the descriptor of a class without fields of its own."""
    return tag + b"\x72" + pack(">H", len(name)) + name.encode() + pack(">qBH", uid, flags, 0) + _UNANNOTATED


_OBJECT_NAME = _class(b"\x73", "javax.management.ObjectName", 1081892073854801359, 3)
_STRING_ARRAY = _class(b"\x75", "[Ljava.lang.String;", -5921575005990323385, 2)


def _object_name(name: str) -> bytes:
    return _OBJECT_NAME + _text(name) + b"\x78"


def _texts(texts: Sequence[str]) -> bytes:
    return _STRING_ARRAY + pack(">i", len(texts)) + b"".join(map(_text, texts))
