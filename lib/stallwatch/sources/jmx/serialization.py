"""Reading Java's object serialization (protocol version 1, as RMI sends it) into inert records.

Nothing here becomes a class or runs code: a record has what was in the stream. The grammar is the
"Java Object Serialization Specification", chapter 6. RMI sends no length, so it is read as it comes.
"""

from __future__ import annotations

import gc
from struct import Struct

from stallwatch.sources.jmx.budget import (
    CLASS,
    DICT,
    ENTRY,
    FIELD,
    LIST,
    MOST_READ,
    NUMBER,
    RECORD,
    SLOT,
    TEXT,
    WIDE,
    LimitError,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Protocol

    class Octets(Protocol):
        """Where the bytes come from."""

        def take(self, count: int) -> bytes:
            """Give exactly ``count`` bytes, or raise."""


MAGIC = b"\xac\xed\x00\x05"
DEEPEST = 120
_MUCH = 4 << 20  # bytes of litter
_WIDEST = 6  # times the bytes of a text that is not ASCII: all that it is on the way to what it becomes
_MEANWHILE = 2  # times the bytes of a piece, besides: as they are received, and put together

_NULL, _REFERENCE, _CLASSDESC, _OBJECT, _STRING, _ARRAY, _CLASS = range(0x70, 0x77)
_BLOCK, _END, _RESET, _LONG_BLOCK, _EXCEPTION, _LONG_STRING, _PROXY, _ENUM = range(0x77, 0x7F)
_OF_JAVA = ("java.", "javax.")  # their writeObject writes the fields, or there are none
_FIRST_HANDLE = 0x7E0000
_WRITE_METHOD, _SERIALIZABLE, _EXTERNALIZABLE, _BLOCK_DATA = 1, 2, 4, 8

_U2, _U4, _I4, _I8 = Struct(">H"), Struct(">I"), Struct(">i"), Struct(">q")
PRIMITIVES = {
    "B": Struct(">b"), "C": Struct(">H"), "D": Struct(">d"), "F": Struct(">f"), "I": _I4, "J": _I8,
    "S": Struct(">h"), "Z": Struct(">?"),
}  # fmt: skip


class ProtocolError(Exception):
    """These bytes are no serialization stream, or not of the shape that they ought to be."""


class UndecodableError(Exception):
    """An object whose class alone knows where its bytes end; the class's name is the text."""


class OwnFormatError(UndecodableError):
    """An object that its class writes in a way of its own; the class's name is the text."""


class AbortedError(Exception):
    """The server could not write the object: ``args[0]`` is the record of the exception."""


class Descriptor:
    """What the stream has of a class: its name, its fields (type code and name), its superclass."""

    __slots__ = ("above", "fields", "flags", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.flags = 0
        self.fields: list[tuple[str, str]] = []
        self.above: tuple[Descriptor, ...] | None = None  # its superclasses, the topmost first; None: unread

    @property
    def lineage(self) -> tuple[Descriptor, ...]:
        """The topmost superclass and so on down to this one."""
        return (*(self.above or ()), self)


class Record:
    """An object: its class, its fields, and per class what ``writeObject`` added, blocks as bytes."""

    __slots__ = ("data", "descriptor", "fields")

    def __init__(self, descriptor: Descriptor) -> None:
        self.descriptor = descriptor
        self.fields: dict[str, Any] = {}
        self.data: dict[str, list[Any]] = {}

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.descriptor.name

    @property
    def ancestry(self) -> list[str]:
        """The names of its class and superclasses, the class first."""
        return [descriptor.name for descriptor in reversed(self.descriptor.lineage)]


class Array:
    """An array: ``items`` of objects, or the packed ``octets`` of primitives of type ``code``."""

    __slots__ = ("code", "items", "name", "octets")

    def __init__(self, name: str) -> None:
        self.name = name
        self.code = name[1:2]
        self.items: list[Any] = []
        self.octets = b""


class Named:
    """An enum constant, or a value that is a class: all that we need of them is their name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Reader:
    """Reads one stream, which starts at the next byte of ``octets``.

    All that it makes, and each byte that it reads, is taken from one budget; LimitError if that is spent.
    """

    litter = 0  # bytes that those before have made, which may refer to each other in circles

    def __init__(self, octets: Octets) -> None:
        if Reader.litter > _MUCH:
            gc.collect()
            Reader.litter = 0
        self._octets = octets
        self._handles: list[Any] = []
        self._room = MOST_READ
        self._depth = 0
        if self._take(4) != MAGIC:
            raise ProtocolError("no serialization stream")

    def _take(self, count: int) -> bytes:
        self._room -= count
        if self._room < _MEANWHILE * count:
            raise _too_much()
        return self._octets.take(count)

    @property
    def spent(self) -> int:
        """Bytes of memory that it has taken so far."""
        return MOST_READ - self._room

    def _spend(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise _too_much()

    def _byte(self) -> int:
        return self._take(1)[0]

    def _number(self, form: Struct) -> Any:
        return form.unpack(self._take(form.size))[0]

    def _text(self, length: int) -> str:
        self._spend(TEXT)
        octets = self._take(length)
        if not octets.isascii():
            self._spend(WIDE * length)
            if _WIDEST * length > self._room:  # while it is being decoded
                raise _too_much()
        return decoded(octets)

    def _utf(self) -> str:
        return self._text(self._number(_U2))

    def _count(self, each: int) -> int:
        """Read how many things follow, of at least ``each`` bytes: never more than there is room for."""
        count: int = self._number(_I4)
        if count < 0:
            raise ProtocolError("a negative number of things")
        if count * each > self._room:
            raise LimitError(f"an array of {count}, more than a check reads")
        return count

    def block(self) -> bytes:
        """Read block data that must come next."""
        found = self.content()
        if not isinstance(found, bytes):
            raise ProtocolError("an object where block data was to come")
        return found

    def content(self) -> Any:
        """Read what comes next: None, text, a record, an array, a constant, a class, or a block's bytes."""
        return self._content(self._byte())

    def _content(self, tag: int) -> Any:
        read, size = self._READERS.get(tag, (None, 0))
        if read is None:
            raise ProtocolError(f"0x{tag:02x} where an object was to come")
        self._spend(SLOT + size)
        self._depth += 1
        if self._depth > DEEPEST:
            raise LimitError(f"objects nested deeper than {DEEPEST}")
        found = read(self)
        self._depth -= 1
        return found

    def _null(self) -> None:
        return None

    def _new(self, thing: Any) -> Any:
        self._handles.append(thing)
        return thing

    def _referred(self) -> Any:
        index: int = self._number(_I4) - _FIRST_HANDLE
        if not 0 <= index < len(self._handles):
            raise ProtocolError("a reference to nothing")
        return self._handles[index]

    def _string(self) -> str:
        text: str = self._new(self._utf())
        return text

    def _long_string(self) -> str:
        length: int = self._number(_I8)
        if not 0 <= length * (1 + _MEANWHILE) <= self._room:
            raise LimitError(f"a text of {length} bytes, more than a check reads")
        text: str = self._new(self._text(length))
        return text

    def _descriptor(self) -> Descriptor | None:
        """Read a class descriptor with its superclasses."""
        chain: list[Descriptor] = []
        top: Descriptor | None = None
        while True:
            tag = self._byte()
            if tag == _REFERENCE:
                top = self._referred()
                if not isinstance(top, Descriptor) or top.above is None:
                    raise ProtocolError("a class that is none, or its own superclass")
                break
            if tag == _NULL:
                break
            if tag not in (_CLASSDESC, _PROXY):
                raise ProtocolError(f"0x{tag:02x} where a class was to come")
            chain.append(self._class_fields() if tag == _CLASSDESC else self._proxy_class())
            if len(chain) > DEEPEST:
                raise LimitError("a class with too many superclasses")
        for descriptor in reversed(chain):
            descriptor.above = top.lineage if top else ()
            self._spend(LIST + SLOT * len(descriptor.above))
            top = descriptor
        if top and len(top.lineage) > DEEPEST:
            raise LimitError("a class with too many superclasses")
        return top

    def _class_fields(self) -> Descriptor:
        descriptor: Descriptor
        self._spend(CLASS)
        name = self._utf()
        self._take(8)  # serialVersionUID: we never make an object of it
        descriptor = self._new(Descriptor(name))
        descriptor.flags, count = self._byte(), self._number(_U2)
        self._spend(FIELD * count)
        for _ in range(count):
            code, field = chr(self._byte()), self._utf()
            if code in "[L":
                self.content()  # the declared type
            elif code not in PRIMITIVES:
                raise ProtocolError(f"a field of type {code!r}")
            descriptor.fields.append((code, field))
        self._annotation()
        return descriptor

    def _proxy_class(self) -> Descriptor:
        self._spend(CLASS)
        descriptor: Descriptor = self._new(Descriptor("a proxy"))
        for _ in range(self._count(2)):
            self._utf()  # an interface
        descriptor.flags = _SERIALIZABLE
        self._annotation()
        return descriptor

    def _annotation(self) -> list[Any]:
        """Read what a class or ``writeObject`` added, up to its end."""
        self._spend(LIST)
        found: list[Any] = []
        while (tag := self._byte()) != _END:
            found.append(self._content(tag))
        return found

    def _object(self) -> Record:
        descriptor = self._descriptor()
        if descriptor is None:
            raise ProtocolError("an object without a class")
        record: Record = self._new(Record(descriptor))
        for part in descriptor.lineage:
            if part.flags & _SERIALIZABLE:
                self._fields(record, part)
            elif part.flags & _EXTERNALIZABLE:
                self._external(record, part)
        return record

    def _fields(self, record: Record, part: Descriptor) -> None:
        self._spend((DICT if part.fields else 0) + (ENTRY + NUMBER) * len(part.fields))
        own = part.flags & _WRITE_METHOD and not part.name.startswith(_OF_JAVA)
        for place, (code, field) in enumerate(part.fields):
            form = PRIMITIVES.get(code)
            if own and not place:
                found = self._first(part, form)
            else:
                found = self._number(form) if form else self.content()
            if own and isinstance(found, bytes):
                raise OwnFormatError(part.name)
            record.fields[field] = _AS_WRITTEN[code](found) if code in _AS_WRITTEN else found
        if part.flags & _WRITE_METHOD:
            self._spend(DICT + ENTRY)
            record.data[part.name] = self._annotation()

    def _first(self, part: Descriptor, form: Struct | None) -> Any:
        """Read the first field of a class with a ``writeObject``, which need not have written its fields.

        The stream does not show that. Then what it wrote begins, a block or the end, where the first field
        should be: a number that begins with such a byte is nearly as large as its type allows.
        """
        tag = self._byte()
        if tag in (_BLOCK, _LONG_BLOCK, _END):
            raise OwnFormatError(part.name)
        if form is None:
            return self._content(tag)
        return form.unpack(bytes((tag,)) + (self._take(form.size - 1) if form.size > 1 else b""))[0]

    def _external(self, record: Record, part: Descriptor) -> None:
        self._spend(DICT + ENTRY)
        if part.flags & _BLOCK_DATA:
            record.data[part.name] = self._annotation()
        elif part.name == "java.time.Ser":
            from stallwatch.sources.jmx.moments import read

            try:
                record.fields["value"] = read(self._take)
            except LookupError as error:
                raise UndecodableError(error.args[0]) from None
        else:
            raise UndecodableError(part.name)

    def _array(self) -> Array:
        descriptor = self._descriptor()
        if descriptor is None or not descriptor.name.startswith("["):
            raise ProtocolError("an array without a class")
        array: Array = self._new(Array(descriptor.name))
        form = PRIMITIVES.get(array.code)
        if form:
            array.octets = self._take(self._count(form.size) * form.size)
        else:
            array.items.extend(self.content() for _ in range(self._count(SLOT)))
        return array

    def _constant(self) -> Named:
        self._descriptor()
        constant: Named = self._new(Named(""))
        name = self.content()
        if not isinstance(name, str):
            raise ProtocolError("an enum constant without a name")
        constant.name = name
        return constant

    def _class(self) -> Named:
        descriptor = self._descriptor()
        value: Named = self._new(Named(descriptor.name if descriptor else "null"))
        return value

    def _exception(self) -> Any:
        """Raise what came instead of the rest of an object; handles start anew before it."""
        self._handles.clear()
        raise AbortedError(self.content())

    def _reset(self) -> Any:
        self._handles.clear()
        return self.content()

    def _block(self) -> bytes:
        return self._take(self._byte())

    def _long_block(self) -> bytes:
        return self._take(self._number(_U4))

    # What reads it, and the bytes of memory that it takes beside a place.
    _READERS: ClassVar[dict[int, tuple[Callable[[Reader], Any], int]]] = {
        _NULL: (_null, 0), _REFERENCE: (_referred, 0), _RESET: (_reset, 0), _EXCEPTION: (_exception, 0),
        _STRING: (_string, 0), _LONG_STRING: (_long_string, 0), _CLASS: (_class, TEXT),
        _ENUM: (_constant, TEXT), _BLOCK: (_block, TEXT), _LONG_BLOCK: (_long_block, TEXT),
        _OBJECT: (_object, RECORD), _ARRAY: (_array, RECORD + TEXT),
    }  # fmt: skip


def _too_much() -> LimitError:
    return LimitError(f"an answer that needs more than {MOST_READ >> 20} MiB of memory")


def single(number: float) -> float:
    """Give the shortest decimal number that is this one in single precision: 0.1, not 0.10000000149."""
    for digits in range(6, 9):
        short = float(f"{number:.{digits}g}")
        if short == number or PRIMITIVES["F"].pack(short) == PRIMITIVES["F"].pack(number):
            return short
    return number


_AS_WRITTEN: dict[str, Callable[[Any], Any]] = {"C": chr, "F": single}


def decoded(octets: bytes) -> str:
    """Read Java's modified UTF-8: NUL in two bytes, and characters beyond U+FFFF as two surrogates."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        pass
    try:
        halves = octets.replace(b"\xc0\x80", b"\0").decode(errors="surrogatepass")
    except UnicodeDecodeError:
        raise ProtocolError("a text that is no UTF-8") from None
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
