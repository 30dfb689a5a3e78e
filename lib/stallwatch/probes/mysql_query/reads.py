"""Whether a statement only reads, as far as its text tells.

The server's read-only transaction stops what a function called in it does to tables. It does not stop SELECT
... INTO OUTFILE, HANDLER, or a CALL that has something to return first (MySQL 9.7.2, MariaDB 10.11.14); nor
what a function does to settings, replication or locks. Of those, the server's own are refused here by name; a
stored function with SET GLOBAL in it is not seen.
"""

from __future__ import annotations

import re
from itertools import pairwise

_EXPLAIN = ("EXPLAIN", "DESCRIBE", "DESC")
READS = ("SELECT", "SHOW", "TABLE", "VALUES")

# Of MySQL 9.7: functions that begin to configure replication anew, or to copy the redo log.
_CHANGING = ("ASYNCHRONOUS_CONNECTION_FAILOVER_", "GROUP_REPLICATION_", "INNODB_REDO_LOG_ARCHIVE_")
_LOCKS = ("FOR UPDATE", "FOR SHARE", "LOCK IN SHARE MODE")
_STANDS_FOR = {"text": "'", "name": "`", "number": "0"}

# What a backslash before a quote means depends on sql_mode (ANSI_QUOTES, NO_BACKSLASH_ESCAPES).
_ESCAPED = re.compile(r"\\['\"]")
# "1.5INTO" and "1e5INTO" are a number and a word, for MySQL 9.7 and MariaDB 10.11 as well. There a "\N" is
# NULL, even before "INTO"; "[" and "$" quote in some modes and versions: none of these has a place here.
_WORD = r"""
    (?P<blank>   [ \t\n\v\f\r]+ | \#[^\n]* | --(?=[\x00-\x20\x7f]|\Z)[^\n]* | /\*(?!M?!)(?s:.*?)\*/ )
  | (?P<text>    '(?:[^']|'')*+' | "(?:[^"]|"")*+" )
  | (?P<name>    `(?:[^`]|``)*+` )
  | (?P<number>  (?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)? | [0-9]+(?:[eE][+-]?[0-9]+)? )
  | (?P<word>    [^\x00-@\[-^`{-\x7f] [^\x00-#%-/:-@\[-^`{-\x7f]* )
  | (?P<sign>    (?!/\*)[-+*/%^&|~!<>=(),.;:?@{}] )
"""
# Of words with a blank behind each, and what is in parentheses folded. Compiled only where it is needed: each
# of these patterns costs milliseconds, as one with ranges up to \U0010ffff would.
_CTE = r"[^ ()]+ (?:\(\) )?AS \(\) (?:CYCLE (?:\S+ )+?RESTRICT )?"
_BEFORE_THE_VERB = (
    rf"WITH (?:RECURSIVE )?{_CTE}(?:, {_CTE})*"
    r"|(?:EXPLAIN|DESCRIBE|DESC) (?:(?:ANALYZE|EXTENDED|PARTITIONS|FORMAT = \S+) )*"
)


def refusal(sql: str) -> str:
    """Say why a statement is not taken for a read; "" if it is one."""
    if _ESCAPED.search(sql):
        return "it has a backslash before a quote, which not every sql_mode reads alike: write a quote twice"
    words = _taken_apart(sql)
    return _unreadable(sql) if words is None else _refusal(words)


def _taken_apart(sql: str) -> list[str] | None:
    """Take it apart: words in capitals, and one sign for each text, name and number; None: it cannot be.

    The name of a function that changes something stays, quoted or not.
    """
    pattern = re.compile(_WORD, re.VERBOSE | re.ASCII)
    words, at = [], 0
    while at < len(sql):
        word = pattern.match(sql, at)
        if not word:
            return None
        at, kind = word.end(), word.lastgroup or ""
        if kind != "blank":
            told = word[0].upper()
            named = told.strip('`"')
            words.append(named if named.startswith(_CHANGING) else _STANDS_FOR.get(kind) or told)
    return words


def _unreadable(sql: str) -> str:
    if re.search(r"/\*M?!", sql):
        return "it has an executable comment, /*! */: write out what the server is to see"
    return "it has a quote or a comment that does not end, or something odd outside of quotes"


def _refusal(words: list[str]) -> str:
    while words[-1:] == [";"]:
        words = words[:-1]
    if not words:
        return "there is no statement in it"
    if ";" in words:
        return "it is more than one statement"
    verb = _verb(words)
    if verb not in READS:
        explained = f"{words[0]} " * (words[0] in _EXPLAIN)
        return f"{explained}{verb} is not known as a read"
    if "INTO" in words:
        return "it writes INTO something"
    calls = (word for word, then in pairwise(words) if then == "(")
    if changing := next((word for word in calls if word.startswith(_CHANGING)), ""):
        return f"{changing.lower()}() changes the server"
    told = f" {' '.join(words)} "
    return next((f"it locks rows {how}" for how in _LOCKS if f" {how} " in told), "")


def _verb(words: list[str]) -> str:
    """Tell what it does, after the tables that it names WITH, and whether it is only to be explained."""
    begins = next((at for at, word in enumerate(words) if word != "("), 0)
    told = " ".join(_folded(words[begins:])) + " "
    at = 0
    while told.startswith(("WITH ", "EXPLAIN ", "DESC"), at):
        if not (match := re.compile(_BEFORE_THE_VERB).match(told, at)):
            break
        at = match.end()
    verb = told[at:].partition(" ")[0]
    return "SELECT" if verb == "()" else verb or "nothing"  # no other statement stands in parentheses


def _folded(words: list[str]) -> list[str]:
    """Put ``()`` in place of all that is between parentheses, and of these."""
    folded, depth = [], 0
    for word in words:
        depth -= word == ")"
        if depth == 0 and word != "(":
            folded.append("()" if word == ")" else word)
        depth += word == "("
    return folded
