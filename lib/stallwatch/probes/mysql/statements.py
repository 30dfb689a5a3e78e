"""What a statement does, by its text: the verb and the table, without the values in it.

Values in a statement are private.
"""

from __future__ import annotations

import re
from functools import cache

# Compiled when they are used: all of them take 2 ms (CPython 3.11), and most servers show no statement.
_NOISE = (  # comments and texts, also those cut off; names in backticks stay
    r"(?s)(`[^`]*`)|/\*.*?(?:\*/|\Z)|(?:--\s|#)[^\n]*|'(?:[^'\\]|\\.?)*(?:'|\Z)"
    r"|\"(?:[^\"\\]|\\.?)*(?:\"|\Z)"
)
_PART = r"(?:`[^`]+`|[\w$]+)"
_TABLE = rf"(?P<table>{_PART}(?:\s*\.\s*{_PART})?)"
_HOW = r"(?:(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|QUICK|IGNORE|ONLINE|OFFLINE)\s+)*"
_FORMS = tuple(
    (rf"(?is)\s*{form}{_TABLE}", said)
    for form, said in (
        (rf"(UPDATE)\s+{_HOW}", "{} {}"),
        (rf"(INSERT|REPLACE)\s+{_HOW}(?:INTO\s+)?", "{} INTO {}"),
        (rf"(DELETE)\s+{_HOW}FROM\s+", "{} FROM {}"),
        (r"(SELECT)\b.*?\bFROM\s+", "{} FROM {}"),
        (r"(LOAD)\s+(?:DATA|XML)\b.*?\bINTO\s+TABLE\s+", "{} DATA INTO {}"),
        (
            (
                r"(ALTER|CREATE|DROP|TRUNCATE|OPTIMIZE|ANALYZE|RENAME|REPAIR|CHECK)\s+(?:\w+\s+){0,3}?TABLES?\s+"
                r"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?"
            ),
            "{} TABLE {}",
        ),
        (r"(CREATE|DROP)\s+(?:\w+\s+){0,3}?INDEX\s+\S+\s+ON\s+", "{} INDEX ON {}"),
        (r"(TRUNCATE)\s+", "{} TABLE {}"),
    )
)
_VERB = (
    r"(?i)\s*(BACKUP\s+STAGE|FLUSH\s+TABLES?|LOCK\s+TABLES?|LOCK\s+INSTANCE|SHOW\s+ENGINE|XA|UPDATE|INSERT|REPLACE"
    r"|DELETE|SELECT|WITH|LOAD|ALTER|CREATE|DROP|TRUNCATE|OPTIMIZE|ANALYZE|RENAME|REPAIR|CHECK|COMMIT|ROLLBACK"
    r"|CALL|DO|SET|SHOW|FLUSH|LOCK|KILL)\b"
)
_DEFINES = r"(?i)\s*(ALTER|CREATE|DROP|OPTIMIZE|RENAME|TRUNCATE|ANALYZE)\b"
_CHANGES_ONE = (
    rf"(?i)\s*(?:UPDATE\s+{_HOW}{_TABLE}(?:\s+(?:AS\s+)?(?!SET\b)\w+)?\s+SET\b"
    rf"|DELETE\s+{_HOW}FROM\s+{_TABLE.replace('table', 'emptied')}\s*(?:\Z|;|\b(?:WHERE|ORDER|LIMIT)\b))"
)
_SHOWN = 100  # letters of a statement in the process list
_READ = 1000


def said(statement: str) -> str:
    """Write the verb and the first table: ``UPDATE shop.orders``; "": there is no statement."""
    plain = _plain(statement)
    if not plain.strip():
        return ""
    for form, words in _FORMS:
        match = re.match(form, plain)
        if match and not _is_cut(match, plain, statement):
            return words.format(match[1].upper(), _name(match["table"]))
    verb = re.match(_VERB, plain)
    return " ".join(verb[1].upper().split()) if verb else "a statement"


def without_values(statement: str) -> str:
    """Show a statement without values and comments: ``UPDATE shop.orders SET state = ? WHERE id = ?``.

    It is cut at a backslash: whether that escapes a quotation mark depends on the mode of its session.
    """
    cut = statement.partition("\\")[0]
    plain = re.sub(_NOISE, lambda found: found[1] or ("?" if found[0][0] in "'\"" else " "), cut)
    plain = re.sub(r"\b\d[\w.]*", "?", plain)
    plain = re.sub(r"\?(?:\s*,\s*\?)+", "?, …", " ".join(plain.split()))
    return f"{plain} …" if cut != statement else plain


def changed_table(statement: str, database: str = "") -> str:
    """Name the only table that an UPDATE or DELETE changes, with its database; "": unknown."""
    plain = _plain(statement)
    match = re.match(_CHANGES_ONE, plain)
    if not match or _is_cut(match, plain, statement):
        return ""
    return qualified(_name(match["table"] or match["emptied"]), database)


def defined_table(statement: str, database: str = "") -> str:
    """Name the table of an ALTER TABLE and its like, with its database; "": unknown."""
    return first_table(statement, database) if defines(statement) else ""


@cache  # a thousand sessions that wait for each other run few statements, and each is compared with all
def first_table(statement: str, database: str = "") -> str:
    """Name the first table of a statement, with its database; "": unknown."""
    plain = _plain(statement)
    match = next(filter(None, (re.match(form, plain) for form, _ in _FORMS)), None)
    return (
        qualified(_name(match["table"]), database) if match and not _is_cut(match, plain, statement) else ""
    )


@cache
def defines(statement: str) -> bool:
    """Whether it is an ALTER TABLE or its like, which commits by itself."""
    return bool(statement) and bool(re.match(_DEFINES, _plain(statement)))


def reads(statement: str) -> bool:
    """Whether it is a SELECT; one that locks what it reads is, too."""
    return bool(re.match(r"(?i)\s*(SELECT|WITH)\b", _plain(statement)))


def flushes(statement: str) -> bool:
    """Whether it is a FLUSH TABLES, which waits for all statements that have those tables open."""
    return bool(re.match(r"(?i)\s*FLUSH\s+(?:\w+\s+)?TABLES?\b", _plain(statement)))


def qualified(table: str, database: str) -> str:
    """Write the table's database before it."""
    return f"{database}.{table}" if database and table and "." not in table else table


def _plain(statement: str) -> str:
    return re.sub(_NOISE, lambda found: found[1] or " ", statement[:_READ])


def _is_cut(match: re.Match[str], plain: str, statement: str) -> bool:
    """Whether the name may go on where the process list does not."""
    return len(statement) >= _SHOWN and match.end() == len(plain)


def _name(table: str) -> str:
    return ".".join(part.strip().strip("`") for part in re.split(r"\.(?=(?:[^`]*`[^`]*`)*[^`]*$)", table))
