"""Reading answers of any length to their end, in time and with little memory."""

import struct
import tracemalloc

import pytest
from mysql_bytes import LET_IN, OK, error, packet, result, served, text, turns
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql
from stallwatch.sources.mysql import connection
from stallwatch.sources.mysql.connection import Skimmed

MORE = 8  # SERVER_MORE_RESULTS_EXISTS


def skim(*said, seconds=60, within=None):
    """What is kept of an answer."""
    with served(turns([*LET_IN, *said])) as port:
        return skim_at(port, seconds, within)


def skim_at(port, seconds, within=None):
    target = mysql.Target("127.0.0.1", port, user="mon", password="geheim")
    with mysql.connect(target, Deadline(seconds), known=None) as server:
        return server.skim("SELECT a FROM b", within)


def answered(rows, *, more=False):
    """An answer with one column; ``more``: another answer follows."""
    octets = result(b"a", rows=rows)
    return octets[:-2] + struct.pack("<H", MORE) if more else octets


def test_rows_are_counted_and_the_first_value_is_kept():
    assert skim(answered([(b"4\xc3\xa4\xff",), (b"2",), (None,)])) == Skimmed(3, "4ä�")


def test_rows_of_any_size_are_counted_without_a_packet_for_each(monkeypatch):
    made = []
    packets = connection.MysqlPacket.__init__

    def counted(*words):
        made.append(1)
        packets(*words)

    monkeypatch.setattr(connection.MysqlPacket, "__init__", counted)
    small = [(b"x" * (number % 90),) for number in range(19_000)]
    large = [(b"y" * 9_000,), (b"\xfe" * 250,), (None,), (b"z" * 70_000,), (b"",)]
    assert skim(answered([(b"first",), *small, *large, *small, *large])) == Skimmed(38_011, "first")
    assert len(made) < 3_000


def test_null_and_nothing_are_told_apart():
    assert skim(answered([(None,), (b"2",)])) == Skimmed(2, None)
    assert skim(answered([])) == Skimmed(0, None)
    assert skim(packet(1, OK)) == Skimmed(None, None)


def test_of_several_answers_the_first_counts_and_all_are_read():
    two = answered([(b"1",), (b"2",)], more=True)
    number = two[-6]  # of the packet that ends it
    other = result(b"a", rows=[(b"9",)] * 3)
    shifted, at = b"", 0
    while at < len(other):
        (length,) = struct.unpack("<I", other[at : at + 3] + b"\0")
        number = (number + 1) % 256
        shifted += other[at : at + 3] + bytes([number]) + other[at + 4 : at + 4 + length]
        at += 4 + length
    assert skim(two + shifted) == Skimmed(2, "1")


def test_an_error_in_the_middle_is_told():
    begun = answered([(b"1",)] * 3)
    cut, number = begun[:-9], begun[-6]
    late = packet(number, error(1969, b"Query execution was interrupted (max_statement_time exceeded)"))
    with pytest.raises(mysql.NoAnswerError, match="max_statement_time exceeded"):
        skim(cut + late)


def test_a_server_that_hangs_up_in_the_middle():
    with pytest.raises(mysql.UnreachableError, match="closed the connection: asked SELECT a FROM b"):
        skim(answered([(b"1",)] * 3)[:-12])


def test_a_row_that_is_too_large_is_refused():
    with pytest.raises(mysql.UnreachableError, match="too much to be read"):
        skim(answered([(b"1",)])[:-9] + b"\xff\xff\xff\x05" + b"\xfd" + bytes(1000))


def test_many_rows_take_no_memory_and_endless_ones_end_in_time():
    head = answered([])[:-9]
    number = head.count(b"def") + 3

    def pour(connection):
        for octets in LET_IN:
            connection.sendall(octets)
            connection.recv(65536)
        connection.sendall(head)
        rows = b"".join(packet((number + row) % 256, text(b"x" * 1000)) for row in range(256))
        while True:
            connection.sendall(rows)

    tracemalloc.start()
    try:
        with served(pour) as port:
            with pytest.raises(mysql.NoAnswerError, match="has not answered within"):
                skim_at(port, 60, within=1)
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
