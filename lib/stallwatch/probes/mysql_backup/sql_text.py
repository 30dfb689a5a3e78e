"""What the text of a dump in SQL shows: is it SQL, is it whole, which tables does it make?"""

from __future__ import annotations

import re

from stallwatch.probes.mysql_backup import moments
from stallwatch.probes.mysql_backup.model import Table

DUMP = re.compile(r"\.sql(\.gz|\.zst|\.zstd)?$")
PACKED = re.compile(r"\.(gz|zst|zstd)$")
_BY_THEM = re.compile(rb"^-- (MySQL|MariaDB) dump ", re.MULTILINE)
# How a line of SQL begins. What a program reports (2>&1), a page of zeros and UTF-16 (PowerShell) do not.
_SQL = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:--|/\*|#|\(|\\-|(?:ALTER|ANALYZE|BEGIN|CALL|CHANGE|COMMIT|CREATE|DELETE|DELIMITER|DO|"
    rb"DROP|FLUSH|GRANT|INSERT|LOAD|LOCK|PURGE|RENAME|REPLACE|RESET|REVOKE|SELECT|SET|START|STOP|TRUNCATE|UNLOCK|UPDATE|"
    rb"USE|WITH)\b)",
    re.IGNORECASE,
)
COMPLETED = re.compile(rb"^-- Dump completed(?: on +(.+))?$", re.MULTILINE)
# Of a dump without comments, unless it is a --compact one.
_FIRST, _LAST = b"@OLD_SQL_NOTES=@@SQL_NOTES", b"SET SQL_NOTES=@OLD_SQL_NOTES */;"
_BEFORE_IT = (
    b"@OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT"  # the first line of one that breaks off early
)
# Of a --compact one, which has no such last line: before each table, with GTIDs, at MariaDB's beginning.
_COMPACT = (b"@saved_cs_client", b"@MYSQLDUMP_TEMP_LOG_BIN", b"/*M!999999\\-")
_OF_DATABASE = re.compile(rb"^-- Host: .*Database: (.+)$", re.MULTILINE)
_TABLE, _USE = b"\nCREATE TABLE ", b"\nUSE "
_NAME = re.compile(
    rb"\n(CREATE TABLE|USE) (?:IF NOT EXISTS )?"
    rb"(?:`((?:[^`]|``)+)`|\"((?:[^\"]|\"\")+)\"|([^\s`\"(;/]+)(?=[\s;(]))"
)
_LONGEST_NAME = 256  # bytes: 64 letters (MySQL manual, "Identifier Length Limits")
_OVERLAP = 300  # bytes: longer than any such line up to the end of its name
_MOST_TABLES = 250  # that one has, if it is none that is to fill our memory

_NO_LAST_LINE = 'does not end with "-- Dump completed"'
_IN_STATEMENT = "ends within a statement"
NO_SQL = "it does not begin with SQL"
NOTHING = "there is nothing in it"


def wrong_head(head: bytes) -> str:
    """Return what is wrong with a text by its first bytes: it is no SQL."""
    if not head:
        return NOTHING
    if _SQL.match(head):
        return ""
    if not head.strip(b"\0"):
        return "it begins with zeros"
    line = head.lstrip().partition(b"\n")[0][:80].decode("ascii", errors="replace").strip()
    return (
        f'it does not begin with SQL but with "{line}"' if line.isprintable() and line.isascii() else NO_SQL
    )


def cut_off(head: bytes, end: bytes) -> str | None:
    """Return by its beginning and its end how a text is cut off; "": it is whole; None: not known.

    A dump with --compact has no last line. It is cut off if it ends within a statement, and may be if not.
    """
    text = end.rstrip()
    if COMPLETED.search(end[-200:]) or text.endswith(_LAST):
        return ""
    if _has_last_line(head) or not head:
        return _NO_LAST_LINE
    line = text.rpartition(b"\n")[2]
    is_statement = line.endswith((b";", b"*/")) or line.startswith((b"--", b"#"))
    return None if is_statement or not is_by_them(head) else _IN_STATEMENT


def is_by_them(head: bytes) -> bool:
    """Whether the beginning of a text shows that mysqldump or mariadb-dump made it."""
    return _has_last_line(head) or any(sign in head for sign in _COMPACT)


def _has_last_line(head: bytes) -> bool:
    return bool(_BY_THEM.search(head)) or _FIRST in head or _BEFORE_IT in head


def fills_nothing(text: bytes) -> bool:
    """Whether a whole text neither makes anything nor fills a table, so that it is the backup of none."""
    return not re.search(rb"\b(?:CREATE|INSERT|REPLACE|LOAD)\b", text, re.IGNORECASE)


def completed(end: bytes) -> float | None:
    """Return when a dump was completed, by its last line."""
    found = COMPLETED.search(end[-200:])
    return moments.in_text(found[1].decode(errors="replace")) if found and found[1] else None


def database(head: bytes) -> str:
    """Report which database a dump is by its first lines; "": of several."""
    found = _OF_DATABASE.search(head[:2000])
    return found[1].decode(errors="replace").strip() if found else ""


class Tables:
    """The tables that a dump makes, gathered from its text piece by piece."""

    def __init__(self) -> None:
        self.found: list[Table] = []
        self._schema: str | None = None
        self._kept = b"\n"

    def feed(self, piece: bytes) -> None:
        """Take in the next piece of the text; within rows, which mysqldump escapes, no line begins."""
        if self._schema is None:
            self._schema = database(piece)
        text = self._kept + piece
        if _TABLE in text or _USE in text:
            end = max(0, len(text) - _OVERLAP)
            for found in _NAME.finditer(text):
                if found.start() < end:
                    self._take(*found.groups())
        self._kept = text[-_OVERLAP:]

    def end(self) -> list[Table]:
        """Return them all; there is no more."""
        for found in _NAME.finditer(self._kept):
            self._take(*found.groups())
        return self.found

    def end_of_few(self) -> list[Table] | None:
        """Return them all, unless they are so many that they are only there to fill our memory."""
        return found if len(found := self.end()) <= _MOST_TABLES else None

    def _take(self, word: bytes, quoted: bytes | None, ansi: bytes | None, bare: bytes | None) -> None:
        octets = quoted.replace(b"``", b"`") if quoted else ansi.replace(b'""', b'"') if ansi else bare or b""
        name = octets[:_LONGEST_NAME].decode(errors="replace")
        if word == b"USE":
            self._schema = name
        else:
            self.found.append(Table(self._schema or "", name))
