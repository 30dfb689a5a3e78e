"""Statements and their answers, as PyMySQL reads them, bounded in time and size."""

from __future__ import annotations

import math
import struct
from contextlib import suppress
from sys import getsizeof

from stallwatch.sources.mysql.literals import literal
from stallwatch.sources.mysql.log_in import LogIn
from stallwatch.sources.mysql.rows import column, text, values
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.startup.pymysql import FIELD_TYPE, SERVER_STATUS, MysqlPacket, connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.sources.mysql.log_in import Known
    from stallwatch.sources.mysql.rows import Value
    from stallwatch.sources.mysql.target import Target

_LARGEST = 8 << 20  # bytes of one answer, and of a row of which next to nothing is kept
_LONGEST = 2 << 20  # bytes of a packet: SHOW ENGINE INNODB STATUS has up to 1 MB
_MOST_COLUMNS = 4096  # of a table or a SELECT (MySQL's and MariaDB's limit)
_MOST_DESCRIBED = 12 << 20  # bytes of memory for the columns of an answer
_OF_VALUE, _OF_ROW, _OF_COLUMN = 8, 64, 400  # bytes of memory besides those of the thing itself
_WIDE = 4  # times the bytes of a column's description: its name as text
_QUIT = b"\1\0\0\0\1"  # a packet of one byte, COM_QUIT
_HEAD = struct.Struct("<IB")  # of a packet: length (3 bytes), number, and the first byte of what it carries
_END, _ERROR, _LONGEST_END = 0xFE, 0xFF, 9  # a row that begins with 0xFE is longer than an end

_LONGEST_NUMBER = 255  # digits: INT(255) ZEROFILL


def _whole(octets: bytes) -> int:
    """Read a whole number; ValueError: it is none of SQL's."""
    if len(octets) > _LONGEST_NUMBER or not -(1 << 63) <= (number := int(octets)) < 1 << 64:
        raise ValueError(octets)
    return number


def _finite(octets: bytes) -> float:
    """Read a number; ValueError: it is none of SQL's, which has neither NaN nor infinity."""
    number = float(octets)
    if not math.isfinite(number):
        raise ValueError(octets)
    return number


_READ: dict[int, Callable[[bytes], Value]] = {
    **dict.fromkeys(
        (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG, FIELD_TYPE.INT24,
         FIELD_TYPE.YEAR), _whole,
    ),
    **dict.fromkeys(
        (FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE, FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), _finite,
    ),
}  # fmt: skip


class _Answer(connections.MySQLResult):  # type: ignore[misc] # PyMySQL has no types
    """An answer whose columns are read many at a time: as packets, they took 0.6 ms of a check's 2.8."""

    def _get_descriptions(self) -> None:
        self.fields = self.connection.columns(self.field_count)


class Skimmed(NamedTuple):
    """What is kept of an answer: how many rows it had, and the first value of the first of them as text.

    ``rows`` is None where there cannot be any; ``first`` is None also where it is NULL.
    """

    rows: int | None
    first: str | None


class TooMuchError(Exception):
    """The answer is larger than anything that was asked for."""


class Connection(LogIn):
    """A log-in that answers statements, bounded in time and size; see ``LogIn``.

    ``keep`` gets the bytes of memory that the rows of answers take, and returns whether that is too much.
    """

    def __init__(
        self,
        target: Target,
        deadline: Deadline,
        known: Known,
        keep: Callable[[int], bool] = lambda _: True,
        *,
        prove: bool = False,
    ) -> None:
        self._result: Any
        self.first = b""  # what the server said first
        self._keep = keep
        self._octets = 0
        self._longest = _LONGEST
        super().__init__(target, deadline, known, prove=prove)

    def filled(self, sql: str, arguments: tuple[object, ...]) -> str:
        """Put the ``arguments`` into a statement where ``%s`` is; a ``%%`` in it is a per cent sign."""
        escapes = not self.server_status & SERVER_STATUS.SERVER_STATUS_NO_BACKSLASH_ESCAPES
        return sql % tuple(literal(one, escapes) for one in arguments)

    def ask(self, sql: str, within: float | None = None) -> tuple[list[str], list[list[Value]]]:
        """Give the names of the columns and the rows; raises whatever went wrong, see ``no_answer``."""
        self._begin(within)
        self.query(sql, unbuffered=True)
        if not self._result.unbuffered_active:
            return [], []
        fields = self._result.fields
        return [name for name, _ in fields], self._rows([_READ.get(kind, text) for _, kind in fields])

    def _rows(self, read: list[Callable[[bytes], Value]]) -> list[list[Value]]:
        """Read all rows; made into packets first they took three times as long (CPython 3.11)."""
        rows: list[list[Value]] = []
        # They are to become dictionaries.
        each = getsizeof(dict.fromkeys(range(len(read)))) + _OF_ROW + _OF_VALUE * len(read)
        try:
            for packet in self._packets():
                octets = packet.get_all_data()
                come = [values(octets, 0, len(octets), read)]
                here = self._rfile.peek()
                come += [values(here, begins, ends, read) for begins, ends in self._whole_rows(here)]
                rows += come
                if not self._keep(each * len(come) + sum(sum(map(getsizeof, row)) for row in come)):
                    raise TooMuchError  # noqa: TRY301
        except BaseException:
            rows.clear()  # the error that is reported remembers this one, and this one where it was raised
            raise
        return rows

    def columns(self, count: int) -> list[tuple[str, int]]:
        """Read name and type of so many columns, and the end of their descriptions."""
        found: list[tuple[str, int]] = []
        while len(found) < count <= _MOST_COLUMNS:
            octets = self._read_packet().get_all_data()
            here = self._rfile.peek()
            described = [(octets, 0, len(octets)), *((here, *place) for place in self._whole_rows(here))]
            found += [column(*place) for place in described]
            if _OF_COLUMN * len(found) + _WIDE * self._octets > _MOST_DESCRIBED:
                raise TooMuchError
        if count > _MOST_COLUMNS:
            raise TooMuchError
        if len(found) != count or not self._read_packet().is_eof_packet():
            raise ValueError(count)
        return found

    def _packets(self) -> Iterator[MysqlPacket]:
        """Give the packets of an answer that has rows, but for those that are taken meanwhile."""
        result = self._result
        result.unbuffered_active = False  # or else PyMySQL reads on when it throws that away
        while not result._check_packet_is_eof(packet := self._read_packet()):  # noqa: SLF001
            yield packet

    def skim(self, sql: str, within: float | None = None) -> Skimmed:
        """Ask a statement and read its answer to the end, however long it is, with one buffer in memory.

        Raises as ``ask``; TooMuchError if a single row is too large.
        """
        self._begin(within)
        self._longest = _LARGEST
        self.query(sql, unbuffered=True)
        skimmed = self._skimmed()
        while self._result.has_next:  # of a procedure, whose last answer has no rows
            self._read_query_result(unbuffered=True)
            self._skimmed()
        return skimmed

    def _skimmed(self) -> Skimmed:
        if not self._result.unbuffered_active:
            return Skimmed(None, None)
        rows, first = 0, None
        for packet in self._packets():
            first = packet.read_length_coded_string() if not rows else first
            rows += 1 + len(self._whole_rows(self._rfile.peek()))
            self._octets = 0
        return Skimmed(rows, None if first is None else text(first[:_LONGEST]))

    def _whole_rows(self, here: bytes) -> list[tuple[int, int]]:
        """Take the rows that are ``here`` whole, return where each begins and ends, and leave what is behind.

        Made into packets they took 2 us each, so 0.2 us (CPython 3.11).
        """
        found: list[tuple[int, int]] = []
        at, last, number = 0, len(here) - _HEAD.size, self._next_seq_id
        while at <= last:
            head, kind = _HEAD.unpack_from(here, at)
            length = head & 0xFFFFFF
            ends = at + _HEAD.size - 1 + length
            is_row = kind != _ERROR and (kind != _END or length >= _LONGEST_END) and length
            if ends > len(here) or not is_row or head >> 24 != number:
                break
            number = (number + 1) % 256
            found.append((at + _HEAD.size - 1, ends))
            at = ends
        self._read_bytes(at)
        self._next_seq_id: int = number
        return found

    def _read_query_result(self, unbuffered: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002 - PyMySQL's
        self._result = None  # what is left if this fails
        answer = _Answer(self)
        try:
            answer.init_unbuffered_query()
        except BaseException:
            answer.unbuffered_active = False  # or else PyMySQL 1.0.2 reads on when it throws that away
            raise
        self._result = answer
        if answer.server_status is not None:
            self.server_status = answer.server_status

    def _begin(self, within: float | None) -> None:
        if self._sock:
            self._sock.deadline = self.deadline if within is None else self.deadline.part(within)
        self._octets = 0
        self._longest = _LONGEST

    def close(self) -> None:
        """Log out, without waiting for anything: also when no time is left, or an answer is still to come.

        A server counts who hangs up without a word as an aborted client, and MariaDB logs it.
        """
        with suppress(Exception):
            self._sock.settimeout(0)
            self._sock.send(_QUIT)
        self._force_close()

    def set_character_set(self, charset: str, collation: str | None = None) -> None:
        """Leave that to the statement that sets up the session: PyMySQL 1.2 asks one of its own."""

    def _read_bytes(self, num_bytes: int) -> bytes:
        self._octets += num_bytes
        if self._octets > _LARGEST or num_bytes > self._longest:
            raise TooMuchError
        octets: bytes = super()._read_bytes(num_bytes)
        self.first = self.first or octets
        return octets
