"""The calls of a JMX client as RMI sends them (JRMP, "Java RMI Wire Protocol"; JDK 8 to 27 take the same).

A method is named by the first 8 bytes of the SHA-1 of its name and descriptor, read little-endian.
"""

from __future__ import annotations

from struct import iter_unpack, pack

from stallwatch.sources.jmx.serialization import MAGIC
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HELLO = b"JRMI\x00\x02\x4b" + bytes(6)  # stream protocol; our own host and port, which nobody reads
REGISTRY = bytes(22)  # the registry's object id
ID_SIZE = len(REGISTRY)

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


def acknowledged(uid: bytes) -> bytes:
    """Say that a stub has arrived: without it the server keeps the object alive for 5 minutes."""
    return b"\x54" + uid


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
