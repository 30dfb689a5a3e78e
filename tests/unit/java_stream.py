"""Java's serialization streams, written by hand: what no server would send.

Classes, objects, arrays and texts have handles, from 0 in the order in which they begin.
"""

from struct import pack

NULL, END = b"\x70", b"\x78"
MOST = 2**31 - 1
WRITES = 3  # the flags of a class with writeObject
OBJECT_ARRAY = "[Ljava.lang.Object;"


def utf(text):
    octets = text.encode()
    return pack(">H", len(octets)) + octets


def short_text(text):
    return b"\x74" + utf(text)


def long_text(octets):
    return b"\x7c" + pack(">q", len(octets)) + octets


def reference(handle):
    """The class, object or text that came as number ``handle``."""
    return b"\x71" + pack(">i", 0x7E0000 + handle)


def described(name, *fields, flags=2, parent=NULL):
    """A class that is new. A field is a letter and a name; its type, which is a text, has a handle, too."""
    told = b"".join(
        field[:1].encode()
        + utf(field[1:])
        + (b"\x74" + utf("Ljava/lang/Object;") if field[0] in "L[" else b"")
        for field in fields
    )
    return b"\x72" + utf(name) + bytes(8) + pack(">BH", flags, len(fields)) + told + END + parent


def instance(cls, *parts):
    return b"\x73" + cls + b"".join(parts)


def array(cls, count, *items):
    return b"\x75" + cls + pack(">i", count) + b"".join(items)


def number(name, *values, fields):
    return instance(described(name, *fields), *values)


def pairs(depth):
    """Arrays in arrays, each of which holds the next one twice."""
    first = array(described(OBJECT_ARRAY), 2)  # handles 0 and 1
    return (
        first
        + array(reference(0), 2) * (depth - 1)
        + NULL * 2
        + b"".join(map(reference, range(depth, 1, -1)))
    )


def map_of(*things, cls=None):
    return instance(cls or described("java.util.HashMap", flags=WRITES), b"\x77\x08" + bytes(8), *things, END)


def maps(depth):
    """Maps in maps, each of which has the next one as a key and as its value."""
    head = b"\x77\x08" + bytes(8)
    first = instance(described("java.util.HashMap", flags=WRITES), head)  # handles 0 and 1
    inner = instance(reference(0), head) * (depth - 1)
    return first + inner + END + b"".join(reference(level) + END for level in range(depth, 1, -1))


def map_in_map_of(text, depth):
    """A map in which a map is the key, and so on."""
    head = b"\x77\x08" + bytes(8)
    first = instance(described("java.util.HashMap", flags=WRITES), head)
    return first + instance(reference(0), head) * (depth - 1) + short_text(text) + (NULL + END) * depth


def copies(count):
    return number("java.util.Collections$CopiesList", pack(">i", count), NULL, fields=("In", "Lelement"))


def big_integer(octets):
    magnitude = array(described("[B"), len(octets), octets)
    return number("java.math.BigInteger", pack(">i", 1), magnitude, fields=("Isignum", "[magnitude"))


def big_decimal(scale, octets=b"\x01"):
    return number(
        "java.math.BigDecimal", pack(">i", scale), big_integer(octets), fields=("Iscale", "LintVal")
    )


def table(columns, row):
    """A table with one row; it is indexed by so many columns, all of the same name."""
    names = array(
        described("[Ljava.lang.String;"), columns, short_text("a"), *[reference(15)] * (columns - 1)
    )
    kind = number("javax.management.openmbean.TabularType", names, fields=("[indexNames",))
    return number(
        "javax.management.openmbean.TabularDataSupport", map_of(NULL, row), kind,
        fields=("LdataMap", "LtabularType"),
    )  # fmt: skip
