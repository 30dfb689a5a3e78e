"""Rows of an answer: of any number and length, each value as it was sent, or none at all."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mysql_bytes import LET_IN, packet, replay, result, text
from stallwatch.sources import mysql
from stallwatch.sources.mysql.rows import values

LONGEST = {b"": 250, b"\xfc": 2**16 - 1, b"\xfd": 2**24 - 1}  # values, by what stands before their length


def sent(value):
    """A value as a server sends it, with no more octets for its length than it takes."""
    if value is None:
        return b"\xfb"
    mark = next((mark for mark, longest in LONGEST.items() if len(value) <= longest), b"\xfe")
    octets = {b"": 1, b"\xfc": 2, b"\xfd": 3, b"\xfe": 8}[mark]
    return mark + struct.pack("<Q", len(value))[:octets] + value


def read(octets, columns):
    """The row that is between two others."""
    return values(b"\1a" + octets + b"\1b", 2, 2 + len(octets), [bytes] * columns)


@given(st.lists(st.none() | st.binary(max_size=300), min_size=1, max_size=9))
def test_values_are_what_was_sent(row):
    assert read(b"".join(map(sent, row)), len(row)) == row


@pytest.mark.parametrize("length", [0, 250, 251, 65_535, 65_536, 2**24])
def test_a_value_of_any_length(length):
    assert read(sent(b"x" * length) + sent(None), 2) == [b"x" * length, None]


def test_each_is_read_as_its_column_says():
    assert values(b"\x027x\xfb\x0212", 0, 7, [bytes, int, int]) == [b"7x", None, 12]


@pytest.mark.parametrize(
    "octets",
    [b"", b"\1a", b"\1a\1b\1c", b"\1a\2b", b"\1a\xff", b"\1a\xfc\1", b"\1a\xfe" + b"\xff" * 8, b"\1a\0\0"],
    ids=repr,
)
def test_what_is_no_row_of_two_values(octets):
    with pytest.raises((IndexError, KeyError, ValueError)):
        read(octets, 2)
    with pytest.raises(mysql.UnreachableError, match="breaks MySQL's protocol"):
        replay([*LET_IN, answer([text(b"a") * 2, octets])])


def answer(rows):
    """An answer of two columns, with rows of any octets."""
    empty = result(b"a", b"b")
    end = empty[-5:]
    number = empty[-6]
    packets = [packet((number + at) % 256, row) for at, row in enumerate([*rows, end])]
    return empty[: -len(end) - 4] + b"".join(packets)


@pytest.mark.parametrize("length", [1, 90, 4_000, 9_000])
def test_many_rows_however_they_lie_in_the_buffer(length):
    rows = [(b"%d" % number, b"x" * (number % length)) for number in range(700)]
    got = replay([*LET_IN, result(b"a", b"b", rows=rows)])
    assert got == [{"a": a.decode(), "b": b.decode()} for a, b in rows]


def test_a_packet_that_has_the_number_of_another():
    rows = [packet(number, text(b"a") * 2) for number in (5, 6, 8)]
    with pytest.raises(mysql.UnreachableError, match="breaks MySQL's protocol"):
        replay([*LET_IN, result(b"a", b"b")[:-9], *rows])
