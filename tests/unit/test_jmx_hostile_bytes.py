# ruff: noqa: E501 - what Java writes is a long line
"""Whatever a server sends, the client ends with a value or an error of its own: with little work, in little memory."""

import json
import os
import resource
import subprocess
import sys
from struct import pack

import jmx_bytes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from java_stream import (
    END,
    MOST,
    NULL,
    OBJECT_ARRAY,
    WRITES,
    array,
    big_decimal,
    big_integer,
    copies,
    described,
    instance,
    long_text,
    map_in_map_of,
    map_of,
    maps,
    pairs,
    reference,
    short_text,
    table,
    utf,
)  # fmt: skip
from levels import representative
from stallwatch.sources import jmx
from stallwatch.sources.jmx.budget import MOST_READ, SLOT
from stallwatch.sources.jmx.rmi import FAILURES
from stallwatch.sources.jmx.serialization import MAGIC, Reader
from stallwatch.sources.jmx.values import members, plain
from stallwatch.sources.jmx.wire import LostError

OURS = (*FAILURES, jmx.JmxError, LostError)
MUTATIONS = int(os.environ.get("MUTATIONS") or representative(1000, every=3000))
MEGABYTES = 200
MOST_PARTS = MOST_READ // SLOT  # each part that is read costs so much at least
REFUSED = {"denied", "cassandra_denied", "not_bound", "rmi_port"}


# recorded conversations


@pytest.mark.parametrize("name", sorted(jmx_bytes.ASKED.keys() - REFUSED))
def test_an_undamaged_conversation_gives_values(name):
    assert jmx_bytes.replay(jmx_bytes.ASKED[name], jmx_bytes.load(name))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_an_undamaged_refusal_is_one(name):
    with pytest.raises(jmx.UnreachableError):
        jmx_bytes.replay(jmx_bytes.ASKED[name], jmx_bytes.load(name))


def test_damaged_conversations_end_in_time_with_a_value_or_an_error_of_ours():
    command = [sys.executable, jmx_bytes.__file__, str(MUTATIONS)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert told["failures"] == []
    assert told["peak_MiB"] < MEGABYTES
    assert told["came_to"].keys() >= {"values", "UnreachableError", "UnreadableError"}
    assert sum(told["came_to"].values()) == MUTATIONS


@given(st.binary(max_size=200))
def test_any_bytes_for_a_value(octets):
    end_of(octets)


# bombs, made by hand


class Octets:
    """Where the reader takes its bytes from: these, and then a part again and again for ever."""

    def __init__(self, octets, again=b""):
        self.octets = octets
        self.again = again
        self.at = self.parts = 0

    def take(self, count):
        self.parts += 1
        assert self.parts <= MOST_PARTS
        missing = self.at + count - len(self.octets)
        if missing > 0:
            if not self.again:
                raise LostError
            self.octets = self.octets[self.at :] + self.again * ((missing + 65536) // len(self.again) + 1)
            self.at = 0
        self.at += count
        return self.octets[self.at - count : self.at]


def end_of(octets, again=b""):
    """What reading, converting and writing these bytes comes to: a value, or the name of our error."""
    try:
        value = plain(Reader(Octets(MAGIC + octets, again)).content())
    except OURS as error:
        return type(error).__name__
    json.dumps(value, default=str)
    return value


@pytest.fixture
def within_bounds():
    """No more than 200 MB beside what the tests have already, else MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEGABYTES * 1024 * 1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


MEGABYTE = 1024 * 1024
ELEPHANT = b"\xed\xa0\xbd\xed\xb0\x98"  # U+1F418 in two halves
TEXT = long_text(b"x" * 4 * MEGABYTE)
EMPTY = described("x.Empty")
FIELDS = [f"B{number:x}" for number in range(20_000)]
LINEAGE = b"".join(described("x.C", parent=b"") for _ in range(100)) + NULL  # handles 0 to 99, 0 the lowest

BOMBS = {
    "2^31-1 objects": array(described(OBJECT_ARRAY), MOST),
    "-1 objects": array(described(OBJECT_ARRAY), -1),
    "-2^31 objects": array(described(OBJECT_ARRAY), -(2**31)),
    **{f"2^31-1 of {code}": array(described(f"[{code}"), MOST) for code in "BCDFIJSZ"},
    "a text of 2^62 bytes": b"\x7c" + pack(">q", 2**62),
    "a text of -1 bytes": b"\x7c" + pack(">q", -1),
    "a block of 2^32-1 bytes": b"\x7a" + b"\xff" * 4,
    "a proxy for 2^31-1 interfaces": b"\x73\x7d" + pack(">i", MOST),
    "pairs of pairs": pairs(40),
    "pairs of pairs, too deep": pairs(110),
    "maps of maps": maps(40),
    "a copy of nothing, 2^31-1 times": copies(MOST),
    "a copy of nothing, -1 times": copies(-1),
    "one text 100 000 times": array(described(OBJECT_ARRAY), 100_000, TEXT, reference(2) * 99_999),
    "a key of one text 1000 times": map_of(
        array(described(OBJECT_ARRAY), 1000, TEXT, reference(4) * 999), NULL
    ),
    "keys of keys, each of which takes more backslashes": map_in_map_of("'\"", 60),
    "a field with a name of 60 kB, in 100 000 objects": array(
        described(OBJECT_ARRAY),
        100_000,
        instance(described("x.C", "B" + "x" * 60_000), b"\0"),
        (instance(reference(2)) + b"\0") * 99_999,
    ),
    "a constant with a name of 60 kB, 100 000 times": array(
        described(OBJECT_ARRAY),
        100_000,
        b"\x7e" + described("x.E") + short_text("x" * 60_000),
        reference(3) * 99_999,
    ),
    "an integer of 4 MB": big_integer(b"\x7f" * 4 * MEGABYTE),
    "an integer of 1000 bytes, 4000 times": array(
        described(OBJECT_ARRAY), 4000, big_integer(b"\x7f" * 1000), *[reference(3)] * 3999
    ),
    "a decimal of 2^31-1 places": big_decimal(MOST),
    "a decimal of -2^31 places": big_decimal(-(2**31)),
    "a decimal of 4 MB": big_decimal(400, b"\x7f" * 4 * MEGABYTE),
    "a table with 100 000 columns": table(
        100_000, map_of(short_text("a"), TEXT, cls=described("java.util.TreeMap", flags=WRITES))
    ),
    "a thing that holds itself": array(described(OBJECT_ARRAY), 1, reference(1)),
    "a map that is its own key": map_of(reference(1), reference(1)),
    "a class that is its own superclass": instance(described("x.C", parent=reference(0))),
    "an object that is its own class": instance(reference(1)),
    "a constant that is its own name": b"\x7e" + described("x.E") + reference(1),
    "zones within zones": instance(described("java.time.Ser", flags=4))
    + (b"\x06" + pack(">ibb", 2024, 1, 1) + b"\xff" + b"\x00") * 20_000,
    "texts beyond U+FFFF, 12 MB": long_text(ELEPHANT * 2 * MEGABYTE),
    "a text of 15 MB with one letter beyond ASCII": long_text(
        b"x" * 15 * MEGABYTE + b"\xed\xa0\xbd\xed\xb0\x98"
    ),
    "700 objects of 20 000 fields": array(
        described(OBJECT_ARRAY),
        700,
        instance(described("x.C", *FIELDS), bytes(20_000)),
        (instance(reference(2)) + bytes(20_000)) * 699,
    ),
    "580 000 empty objects": array(
        described(OBJECT_ARRAY), 580_000, instance(EMPTY), instance(reference(2)) * 579_999
    ),
    "290 000 objects that add nothing": array(
        described(OBJECT_ARRAY),
        290_000,
        instance(described("x.C", flags=WRITES), END),
        (instance(reference(2)) + END) * 289_999,
    ),
    "200 000 classes with 100 superclasses": array(
        described(OBJECT_ARRAY),
        200_000,
        b"\x76" + LINEAGE,
        (b"\x76" + described("", parent=reference(2))) * 199_999,
    ),
}


@pytest.mark.usefixtures("within_bounds")
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb(bomb):
    end_of(BOMBS[bomb])


# What classes of Java write in ways of their own, as JDK 17 wrote it


@pytest.mark.parametrize(
    ("octets", "value"),
    [
        ("737200176a6176612e6c616e672e537472696e674275696c6465723cd5fb145a4c6acb0300007870770400000005757200025b43b02666b0e25d84ac020000787000000015006200750069006c0074000000000000000000000000000000000000000000000000000000000000000078", "built"),
        ("737200166a6176612e6c616e672e537472696e674275666665722f0707d9eac8ead3030003490005636f756e745a00067368617265645b000576616c75657400025b4378700000000800757200025b43b02666b0e25d84ac02000078700000001800620075006600660065007200650064000000000000000000000000000000000000000000000000000000000000000078", "buffered"),
        ("737200126a6176612e73716c2e54696d657374616d702618d5c80153bf650200014900056e616e6f737872000e6a6176612e7574696c2e44617465686a81014b597419030000787077080000018bcfe5680078075bcd15", "2023-11-14T22:13:20.123456789Z"),
    ],
)  # fmt: skip
def test_texts_that_are_being_built_and_the_time_of_a_database(octets, value):
    assert end_of(bytes.fromhex(octets)) == value


# What is large and healthy


def test_the_names_and_classes_of_all_beans_of_a_cassandra_fit():
    """They are 11 718 in Cassandra 5, and their names have 96 letters."""
    name = (
        b"org.apache.cassandra.metrics:type=ColumnFamily,keyspace=system_traces,scope=sessions,name=Bean%05d"
    )
    cls = described("javax.management.ObjectName", flags=WRITES)  # handle 7
    of_instance = described("javax.management.ObjectInstance", "LclassName", "Lname")  # handle 2
    named = instance(cls, short_text((name % 0).decode()), END)
    first = instance(of_instance, short_text("x.Bean"), named)
    others = (
        instance(reference(2), reference(6), instance(reference(7), short_text((name % at).decode()), END))
        for at in range(1, 11_718)
    )
    found = instance(described("java.util.HashSet", flags=WRITES), b"\x77\x00", first, *others, END)
    reader = Reader(Octets(MAGIC + found))
    assert len(members(reader.content())) == 11_718
    assert reader.spent < MOST_READ


# What may come again and again, for ever.
ENDLESS = {
    "nulls": (map_of()[:-1], NULL),
    "empty blocks": (map_of()[:-1], b"\x77\x00"),
    "blocks": (map_of()[:-1], b"\x7a\x00\x10\x00\x00" + bytes(0x100000)),
    "texts": (map_of()[:-1], b"\x74\x00\x00"),
    "resets": (b"", b"\x79"),
    "resets of nothing": (map_of()[:-1], b"\x79\x70"),
    "exceptions": (b"", b"\x7b"),
    "arrays": (array(described(OBJECT_ARRAY), 1), array(reference(0), 1)),
    "objects within objects": (instance(described("x.C", "Lx")), instance(reference(0))),
    "objects added to objects": (instance(described("x.C", flags=WRITES)), instance(reference(0))),
    "classes": (b"\x76", described("x.C", parent=b"")),
    "classes in annotations of classes": (b"", b"\x76" + described("x.C")[:-2]),
    "fields of fields": (b"\x73", b"\x72" + utf("x.C") + bytes(8) + b"\x02\xff\xff" + b"L" + utf("x")),
    "constants": (b"\x7e" + described("x.E"), b"\x7e" + reference(0)),
    "interfaces": (b"\x73\x7d" + pack(">i", 1_000_000), b"\x00\x00"),
    "zeros": (b"", b"\0"),
    **{f"{tag:02x}": (b"", bytes([tag])) for tag in range(0x70, 0x80)},
}


@pytest.mark.usefixtures("within_bounds")
@pytest.mark.parametrize("part", ENDLESS)
def test_a_stream_without_end(part):
    end_of(*ENDLESS[part])


@pytest.mark.usefixtures("within_bounds")
def test_a_server_that_greets_without_end():
    endless = b"N" + b"\xff" * 70_000
    with pytest.raises(jmx.UnreachableError):
        jmx_bytes.replay(jmx_bytes.ASKED["attribute"], [endless] * 10)
