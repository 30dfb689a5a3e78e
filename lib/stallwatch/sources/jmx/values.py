"""From inert records to plain Python values: boxes, collections, open types, dates.

Each class that is understood is a row of ``_READERS``: a function that reads the fields of its record.
"""

from __future__ import annotations

from math import inf

from stallwatch.sources.jmx.budget import DICT, ENTRY, LIST, MOST_VALUE, NUMBER, SLOT, TEXT
from stallwatch.sources.jmx.errors import UnreadableError
from stallwatch.sources.jmx.serialization import PRIMITIVES, Array, Named, Record
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import in_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from stallwatch.sources.jmx.errors import JmxError

    Convert = Callable[["Converter", Record], "Value"]
    Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]
    Values = dict[str, Value | JmxError]  # by attribute; an error for one that cannot be had

_DEEPEST = 100
_LARGEST_SCALE, _LONGEST_INTEGER = 400, 1024  # decimal places; bytes


def plain(thing: Any, keep: Callable[[int], None] = lambda _: None) -> Value:
    """Make a value of what the stream held; raises UnreadableError if it is too large or makes no sense.

    ``keep`` gets how many bytes of memory the value takes.
    """
    return Converter().made(thing, keep, f"its {_kind(thing)}")


def field(thing: Any, name: str) -> Any:
    """Give a field of a record, None if it is no record or has no such field."""
    return thing.fields.get(name) if isinstance(thing, Record) else None


def members(thing: Any) -> list[Any]:
    """Give what is in the record of a list or a set, none of it made plain."""
    for name in ("java.util.ArrayList", "java.util.HashSet"):
        if isinstance(thing, Record) and name in thing.data:
            return _objects(thing, name)
    raise UnreadableError(f"{_kind(thing)} came where a list or a set was to come")


class Converter:
    """Makes the value of an answer, as large as its budget allows.

    An object that is referred to many times becomes a tree: 40 nested pairs would be 2^40 values. A text is
    counted in full each time: whoever writes the value writes it so.
    """

    nested: tuple[type, ...] = (Record, Array)  # of what has parts

    def __init__(self) -> None:
        self._spent = 0  # bytes
        self._above: list[Any] = []  # what the value at hand is part of

    def made(self, thing: Any, keep: Callable[[int], None], what: str) -> Value:
        """Make a value; raises UnreadableError. ``keep`` gets how many bytes of memory the value takes."""
        try:
            value = self.value(thing)
        except (TypeError, AttributeError, ValueError, KeyError, IndexError, ArithmeticError) as error:
            # A record whose fields are not what its class has: only a broken server sends such.
            raise UnreadableError(f"{what} makes no sense ({type(error).__name__})") from None
        keep(self._spent)
        return value

    def value(self, thing: Any) -> Value:
        """Make a value of this part of the answer."""
        self.spend(SLOT + NUMBER)
        if not isinstance(thing, self.nested):
            return self.simple(thing)
        if any(thing is above for above in self._above):
            return "<cycle>"
        if len(self._above) >= _DEEPEST:
            raise UnreadableError(f"it is nested deeper than {_DEEPEST}")
        self._above.append(thing)
        found = self.parts(thing)
        self._above.pop()
        return found

    def text(self, text: str) -> str:
        """Give a text that gets into the value; one text can be in it many times."""
        self.spend(TEXT + len(text))
        return text

    def list(self, things: Iterable[Any]) -> list[Value]:
        """Make a list of these."""
        self.spend(LIST)
        return [self.value(thing) for thing in things]

    def spend(self, size: int) -> None:
        """Use so many bytes of the budget."""
        self._spent += size
        if self._spent > MOST_VALUE:
            raise UnreadableError(f"it needs more than {MOST_VALUE >> 20} MiB of memory")

    def simple(self, thing: Any) -> Value:
        """Make a value of what has no parts."""
        if thing is None:
            return None
        if not isinstance(thing, str | Named):
            raise TypeError
        return self.text(thing.name if isinstance(thing, Named) else thing)

    def parts(self, thing: Any) -> Value:
        """Make a value of what is ``nested``."""
        return self._array(thing) if isinstance(thing, Array) else self._record(thing)

    def _array(self, array: Array) -> Value:
        form = PRIMITIVES.get(array.code)
        if form is None:
            return self.list(array.items)
        self.spend(LIST + (SLOT + NUMBER) * (len(array.octets) // form.size))
        numbers = [number for (number,) in form.iter_unpack(array.octets)]
        return "".join(map(chr, numbers)) if array.code == "C" else numbers

    def _record(self, record: Record) -> Value:
        for name in record.ancestry:
            if read := _READERS.get(name):
                return read(self, record)
        self.spend(LIST + DICT + ENTRY * len(record.fields))
        return {self.text(name): self.field(record, name) for name in record.fields}

    def field(self, record: Record, name: str) -> Value:
        """Read a field; a primitive is a value already."""
        found = record.fields[name]
        return found if isinstance(found, bool | int | float) else self.value(found)

    def map(self, pairs: Iterable[tuple[Any, Any]]) -> dict[str, Value]:
        """Make a dictionary of these."""
        self.spend(LIST + DICT)
        return {self.key(key): self.value(value) for key, value in pairs}

    def key(self, thing: Any) -> str:
        """Make text of what a map or a table is indexed by."""
        self.spend(ENTRY)
        found = self.value(thing)
        return found if isinstance(found, str) else self.text(written(found))


def written(value: Value) -> str:
    """Write a value as Java's toString does: what a map or a table is indexed by."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _kind(thing: Any) -> str:
    return thing.name if isinstance(thing, Record | Array) else type(thing).__name__


def _objects(record: Record, name: str) -> list[Any]:
    """Give what ``writeObject`` of that class added, without the blocks."""
    return [item for item in record.data.get(name, ()) if not isinstance(item, bytes)]


def _blocks(record: Record, name: str) -> bytes:
    return b"".join(item for item in record.data.get(name, ()) if isinstance(item, bytes))


def _pairs(items: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def _added(name: str, start: int = 0, end: int | None = None) -> Convert:
    """Read a collection whose ``writeObject`` adds its items, and other objects before and behind them."""
    return lambda converter, record: converter.list(_objects(record, name)[start:end])


def _mapped(name: str, end: int | None = None) -> Convert:
    """Read a map whose ``writeObject`` adds keys and values in turn, and other objects behind them."""
    return lambda converter, record: converter.map(_pairs(_objects(record, name)[:end]))


def _held(name: str) -> Convert:
    """Read an object that is nothing but what one of its fields holds."""
    return lambda converter, record: converter.field(record, name)


def _immutable(converter: Converter, record: Record) -> Value:
    """java.util.CollSer, what List.of(), Set.of() and Map.of() are sent as: tag 1, 2 or 3."""
    items = _objects(record, "java.util.CollSer")
    is_map = record.fields["tag"] & 0xFF == 3  # noqa: PLR2004
    return converter.map(_pairs(items)) if is_map else converter.list(items)


def _integer(record: Any) -> int:
    octets = record.fields["magnitude"].octets
    if len(octets) > _LONGEST_INTEGER:
        raise UnreadableError(f"it is an integer of {len(octets)} bytes")
    return int(record.fields["signum"] * int.from_bytes(octets))


def _decimal(_: Converter, record: Record) -> float | int:
    whole, scale = _integer(record.fields["intVal"]), record.fields["scale"]
    if abs(scale) > _LARGEST_SCALE:
        raise UnreadableError(f"it is a decimal number with {scale} places")
    try:
        return float(whole * 10**-scale if scale <= 0 else whole / 10**scale)
    except OverflowError:
        return inf if whole > 0 else -inf


def _date(_: Converter, record: Record) -> str:
    from stallwatch.sources.jmx.moments import iso

    millis = int.from_bytes(_blocks(record, "java.util.Date")[:8], signed=True)
    return iso(millis // 1000, record.fields.get("nanos", millis % 1000 * 1_000_000))  # java.sql.Timestamp's


def _built(converter: Converter, record: Record) -> Value:
    """java.lang.StringBuilder: the length of its text, and what there is room for."""
    (room,) = _objects(record, "java.lang.StringBuilder")
    length = int.from_bytes(_blocks(record, "java.lang.StringBuilder")[:4])
    return str(converter.value(room))[:length]


def _buffered(converter: Converter, record: Record) -> Value:
    """java.lang.StringBuffer: the same as fields."""
    return str(converter.field(record, "value"))[: record.fields["count"]]


def _object_name(_: Converter, record: Record) -> str:
    name = record.data["javax.management.ObjectName"][0]
    if not isinstance(name, str):
        raise TypeError
    return name


def _table(converter: Converter, record: Record) -> Value:
    """javax.management.openmbean.TabularDataSupport: rows under the values of their index."""
    index = converter.value(record.fields["tabularType"].fields["indexNames"])
    rows = converter.list(_objects(record.fields["dataMap"], "java.util.HashMap")[1::2])
    # What an MXBean has for a Map has these two columns (javax.management.MXBean, "Mappings for maps").
    is_map = index == ["key"] and all(isinstance(row, dict) and set(row) == {"key", "value"} for row in rows)
    found: dict[str, Value] = {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(index, list):
            raise TypeError
        converter.key(None)
        indexed = ",".join(converter.text(written(row[str(name)])) for name in index)
        found[indexed] = row["value"] if is_map else row
    return found


def _vector(converter: Converter, record: Record) -> Value:
    return converter.list(record.fields["elementData"].items[: record.fields["elementCount"]])


def _keys_of(name: str) -> Convert:
    """Read a set that is the keys of a map in one of its fields."""

    def read(converter: Converter, record: Record) -> Value:
        inner = converter.field(record, name)
        return list(inner) if isinstance(inner, dict) else inner

    return read


def uuid(most: int, least: int) -> str:
    """Write the two halves of a UUID, as Java's long numbers."""
    whole = f"{most % 2**64:016x}{least % 2**64:016x}"
    return "-".join((whole[:8], whole[8:12], whole[12:16], whole[16:20], whole[20:]))


_CONCURRENT, _ATOMIC = "java.util.concurrent.", "java.util.concurrent.atomic."
_WRAPPED = "java.util.Collections$"
_READERS: dict[str, Convert] = {
    **{f"java.lang.{box}": _held("value") for box in (
        "Boolean", "Byte", "Character", "Double", "Float", "Integer", "Long", "Short")},
    **{_ATOMIC + name: _held("value") for name in (
        "AtomicInteger", "AtomicLong", "AtomicReference", "LongAdder$SerializationProxy",
        "DoubleAdder$SerializationProxy", "LongAccumulator$SerializationProxy",
        "DoubleAccumulator$SerializationProxy")},
    _ATOMIC + "AtomicBoolean": lambda _, record: bool(record.fields["value"]),
    "java.math.BigInteger": lambda _, record: in_range(_integer(record)),
    "java.math.BigDecimal": _decimal,
    "java.time.Ser": _held("value"),
    "java.lang.StringBuilder": _built,
    "java.lang.StringBuffer": _buffered,
    "java.util.Date": _date,
    "java.util.UUID": lambda _, record: uuid(record.fields["mostSigBits"], record.fields["leastSigBits"]),
    "java.io.File": _held("path"),
    "javax.management.ObjectName": _object_name,
    "javax.management.openmbean.CompositeDataSupport": _held("contents"),
    "javax.management.openmbean.TabularDataSupport": _table,
    **{name: _added(name) for name in (
        "java.util.ArrayList", "java.util.LinkedList", "java.util.ArrayDeque", "java.util.HashSet",
        "java.util.PriorityQueue", _CONCURRENT + "CopyOnWriteArrayList")},
    "java.util.TreeSet": _added("java.util.TreeSet", start=1),  # its comparator comes first
    **{name: _added(name, end=-1) for name in (  # a null comes last
        _CONCURRENT + "ConcurrentLinkedQueue", _CONCURRENT + "ConcurrentLinkedDeque",
        _CONCURRENT + "LinkedBlockingQueue")},
    "java.util.Vector": _vector,
    "java.util.Arrays$ArrayList": _held("a"),
    "java.util.CollSer": _immutable,
    "java.util.EnumSet$SerializationProxy": _held("elements"),
    _CONCURRENT + "CopyOnWriteArraySet": _held("al"),
    _CONCURRENT + "ConcurrentSkipListSet": _keys_of("m"),
    _CONCURRENT + "ConcurrentHashMap$KeySetView": _keys_of("map"),
    **{name: _mapped(name) for name in (
        "java.util.HashMap", "java.util.TreeMap", "java.util.Hashtable", "java.util.EnumMap",
        "java.util.IdentityHashMap")},
    _CONCURRENT + "ConcurrentHashMap": _mapped(_CONCURRENT + "ConcurrentHashMap", end=-2),  # null, null
    _CONCURRENT + "ConcurrentSkipListMap": _mapped(_CONCURRENT + "ConcurrentSkipListMap", end=-1),  # null
    **{f"{_WRAPPED}{how}{what}": _held(inner) for how in ("Unmodifiable", "Synchronized", "Checked")
        for what, inner in (("Collection", "c"), ("Map", "m"))},
    _WRAPPED + "SetFromMap": _keys_of("m"),
    _WRAPPED + "EmptyList": lambda *_: [],
    _WRAPPED + "EmptySet": lambda *_: [],
    _WRAPPED + "EmptyMap": lambda *_: {},
    _WRAPPED + "SingletonList": lambda converter, record: [converter.field(record, "element")],
    _WRAPPED + "SingletonSet": lambda converter, record: [converter.field(record, "element")],
    _WRAPPED + "SingletonMap": lambda converter, record: converter.map(
        [(record.fields["k"], record.fields["v"])]),
}  # fmt: skip
