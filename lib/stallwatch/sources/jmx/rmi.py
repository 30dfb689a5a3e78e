"""Java's remote method invocation: references to remote objects, and the answers to calls."""

from __future__ import annotations

from struct import unpack

from stallwatch.sources.jmx.budget import LimitError
from stallwatch.sources.jmx.calls import HELLO, ID_SIZE, acknowledged
from stallwatch.sources.jmx.serialization import (
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
    from typing import Any

    from stallwatch.frame.deadline import Deadline
    from stallwatch.sources.jmx.wire import Wire

_ACCEPTED, _RETURN, _NORMAL, _EXCEPTIONAL = 0x4E, 0x51, 1, 2
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
    return Reference(host, port, octets.take(ID_SIZE), tls=factory is not None)


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
        self._greeting = HELLO
        self._greeted = False

    def within(self, deadline: Deadline) -> None:
        """Let all waits from now on end with this deadline."""
        self._wire.deadline = deadline

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
            self.usable = not found.name.startswith("java.rmi.")  # after those the server hangs up
            raise RemoteError(found)
        self.usable = True
        if stub:
            self._wire.send(acknowledged(header[1 : 1 + _UID_SIZE]))
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
