"""Whether a statement only reads, and ends in time, as far as its text shows.

The server's read-only transaction stops what a function called in it does to tables. It does not stop SELECT
... INTO OUTFILE, HANDLER, or a CALL that has something to return first (MySQL 9.7.2, MariaDB 10.11.14); nor
what a function does to settings, replication, keys or locks. So a function is to be one that is known to read
only, or a stored function that is named with its schema: one with SET GLOBAL in it is not seen.

Optimizer hints that steer the plan leave the server's time limit alone. SET_VAR(max_execution_time=0) does
not, nor does MAX_EXECUTION_TIME with a long time; RESOURCE_GROUP assigns a statement another share of the
processors. A hint that is not known may be one of a later version (MariaDB has hints from 12.0 on). MySQL
9.7.2 takes a comment for a hint only right behind the verb; SET_VAR is for one variable.
"""

from __future__ import annotations

import re
from itertools import pairwise

from stallwatch.line import shorten
from stallwatch.startup import NamedTuple

_EXPLAIN = ("EXPLAIN", "DESCRIBE", "DESC")
_READS = ("SELECT", "SHOW", "TABLE", "VALUES")

_LOCKS = ("FOR UPDATE", "FOR SHARE", "LOCK IN SHARE MODE")
_STANDS_FOR = {"text": "'", "name": "`", "number": "0"}
_QUOTED = ("'", "`")

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
# Hints that steer the plan, each also with NO_ before it.
_STEERING = """
BKA BNL DERIVED_CONDITION_PUSHDOWN GROUP_INDEX HASH_JOIN ICP INDEX INDEX_MERGE JOIN_FIXED_ORDER JOIN_INDEX
JOIN_ORDER JOIN_PREFIX JOIN_SUFFIX MERGE MRR ORDER_INDEX QB_NAME RANGE_OPTIMIZATION ROWID_FILTER SEMIJOIN
SKIP_SCAN SPLIT_MATERIALIZED SUBQUERY
"""
_TIME = "MAX_EXECUTION_TIME"
_IN_QUOTES = r"'[^']*'|\"[^\"]*\"|`[^`]*`"


class _Parts(NamedTuple):
    """A statement taken apart: ``words`` in capitals, with one sign for each text, name and number.

    ``names`` is what each word is as the name of a function, in capitals, without quotes; ``hints`` are the
    comments behind a verb that begin like hints.
    """

    words: list[str]
    names: list[str]
    hints: list[str]


def refusal(sql: str, longest: float = 0.0) -> str:
    """Return why a statement is not taken for a read that may take ``longest`` seconds; "" if it is one."""
    if _ESCAPED.search(sql):
        return "it has a backslash before a quote, which not every sql_mode reads alike: write a quote twice"
    parts = _taken_apart(sql)
    if parts is None:
        return _unreadable(sql)
    of_hints = (_of_hint(one, longest) for one in parts.hints)
    return _refusal(parts.words) or next(filter(None, of_hints), "") or _of_functions(parts)


def _taken_apart(sql: str) -> _Parts | None:
    """Take it apart; None: it cannot be."""
    pattern = re.compile(_WORD, re.VERBOSE | re.ASCII)
    parts, at = _Parts([], [], []), 0
    while at < len(sql):
        word = pattern.match(sql, at)
        if not word:
            return None
        at, kind = word.end(), word.lastgroup or ""
        if kind != "blank":
            text = word[0].upper()
            parts.words.append(_STANDS_FOR.get(kind) or text)
            parts.names.append(text.strip('`"') if kind in ("word", "name") or text[0] == '"' else "")
        elif word[0].startswith("/*+") and parts.words[-1:] == ["SELECT"]:
            parts.hints.append(word[0][3:-2])
    return parts


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
    if verb not in _READS:
        explained = f"{words[0]} " * (words[0] in _EXPLAIN)
        return f"{explained}{verb} is not known as a read"
    if "INTO" in words:
        return "it writes INTO something"
    text = f" {' '.join(words)} "
    return next((f"it locks rows {how}" for how in _LOCKS if f" {how} " in text), "")


def _of_hint(hints: str, longest: float) -> str:
    """Return why what stands in ``/*+ */`` is refused; "" if it is not."""
    if not re.fullmatch(rf"(?:[^'\"`]|{_IN_QUOTES})*", hints):
        return "its hint has a quote that does not end"
    bare = re.sub(_IN_QUOTES, "''", hints).upper()
    for hint in re.finditer(r"(\w+)\s*\(([^()]*)", bare):
        name, value = hint[1], hint[2].strip()
        if name == _TIME and re.fullmatch(r"[0-9]{1,9}", value) and int(value) <= longest * 1000:
            continue
        if name == "SET_VAR" and value.startswith("OPTIMIZER_"):
            continue
        if name.removeprefix("NO_") not in _STEERING.split():
            return f"its hint {name} may lift the server's time limit"
    return ""


def _of_functions(parts: _Parts) -> str:
    """Refuse what may be the call of a function that is not known to only read."""
    if "(" not in parts.words:
        return ""
    from stallwatch.probes.mysql_query.functions import is_built_in, objection, only_reads

    for at, (word, then) in enumerate(pairwise(parts.words)):
        name = parts.names[at]
        if then != "(" or not name or only_reads(name, quoted=word in _QUOTED):
            continue
        schema = parts.names[at - 2] if at > 1 and parts.words[at - 1] == "." else ""
        is_stored = schema and not is_built_in(schema)
        if not is_stored and not _names_columns(parts.words, at):
            return f"{shorten(name.lower(), 60)}() {objection(name)}"
    return ""


def _names_columns(words: list[str], at: int) -> bool:
    """Whether a name before parentheses is one of a table that is made here, or of a type.

    So it is in "(SELECT 1) AS a (i)", in "WITH a (i) AS (SELECT 1), b (i) AS (SELECT 2)", and in a CAST.
    """
    before = words[at - 1] if at else ""
    if before in (")", "AS", "WITH", "RECURSIVE"):
        return True
    end = at + 2
    while words[end : end + 1] and (words[end] in ("`", "'", ",") or words[end][0].isidentifier()):
        end += 1
    return before == "," and words[end : end + 3] == [")", "AS", "("]


def _verb(words: list[str]) -> str:
    """Return what it does, after the tables that it names WITH, and whether it is only to be explained."""
    begins = next((at for at, word in enumerate(words) if word != "("), 0)
    text = " ".join(_folded(words[begins:])) + " "
    at = 0
    while text.startswith(("WITH ", "EXPLAIN ", "DESC"), at):
        if not (match := re.compile(_BEFORE_THE_VERB).match(text, at)):
            break
        at = match.end()
    verb = text[at:].partition(" ")[0]
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
