"""What an SQL statement asks: of which tables, which rows, which columns."""

import re
from functools import lru_cache
from typing import NamedTuple

import sql_columns
from sql_tokens import QUOTES, at_top, closing, compared, parted, tokens, without_values

_CLAUSES = {"select": ("from", "where", "group", "having", "order", "limit"), "show": ("where",)}
_NAME = re.compile(r"(?:.*[._])?name")
_PLAIN = re.compile(r"[\w$]+(?:\.[\w$]+)*")


class Statement(NamedTuple):
    """What a statement asks.

    text      the statement
    parts     what must be the same for the same rows: clauses by their first word
    columns   expressions, as they are compared, by the names of the columns in the answer
    written   the same as they are written
    whole     whether all columns there are were asked for: SHOW, SELECT *
    names     names in ``WHERE name IN ('...', ...)``, by their lower case: fewer names, fewer rows
    names_of  the expression that is compared with these names; "": the statement has no such list
    inner     the same for each SELECT in FROM
    tables    tables that are asked, or the whole command
    """

    text: str
    parts: dict
    columns: dict
    written: dict
    whole: bool
    names: dict
    names_of: str
    inner: tuple
    tables: str

    def without_values(self):
        """The same for other values: other arguments, numbers and texts."""
        return self._replace(parts={word: without_values(part) for word, part in self.parts.items()})

    def of_columns(self, columns):
        """The same with the columns that the answer has, where all there are were asked for."""
        return self._replace(columns={name: name.casefold() for name in columns}) if self.whole else self

    def column(self, expression):
        """The name of the column with the values of that expression; None: there is none."""
        if self.whole and _PLAIN.fullmatch(expression) and _PLAIN.fullmatch(self.parts.get("from", "")):
            expression = expression.rpartition(".")[2]
        return next((name for name, own in self.columns.items() if own == expression), None)


@lru_cache(maxsize=4096)
def parsed(text):
    """What a statement asks, as ``recorded_mysql.statement`` writes statements."""
    return _parsed(text, tokens(text))


def _parsed(text, words):
    clauses = _clauses(words)
    first = next(iter(clauses))
    parts = {word: compared(clause) for word, clause in clauses.items()}
    columns, written, whole, names, names_of, inner = {}, {}, True, {}, "", ()
    tables = "SELECT without a table" if first == "select" else _command(first, clauses[first])
    if first == "select":
        found, parts["select"] = sql_columns.of(text, clauses["select"], grouped="group" in clauses)
        columns = {one.name: one.compared for one in found}
        written = {one.name: one.written for one in found}
        whole = not found
        for word in {"group", "having", "order"} & clauses.keys():
            parts[word] = " ".join(columns.get(_counted(token, found), token.same) for token in clauses[word])
    if "from" in clauses:
        parts["from"], inner, tables = _source(text, clauses["from"])
    if "where" in clauses and not parts.get("select") and not {"group", "limit"} & clauses.keys():
        names, names_of, parts["where"] = _names(clauses["where"])
    return Statement(text, parts, columns, written, whole, names, names_of, inner, tables)


def _counted(token, found):
    """The name of the column that ORDER BY 2 and GROUP BY 2 mean; another word is itself."""
    number = int(token.text) if token.text.isdecimal() else 0
    return found[number - 1].name if 0 < number <= len(found) else token.text


def _clauses(words):
    """Lists of tokens by the first word of each clause; one list: it is compared as a whole."""
    first = words[0].word if words else ""
    opaque = {"statement": words}
    if first not in _CLAUSES:
        return opaque
    clauses, word = {first: []}, first
    for token, top in at_top(words[1:]):
        if top and token.word in {"select", "union", "with", "into"}:
            return opaque
        if top and token.word in _CLAUSES[first]:
            word = token.word
            if word in clauses:
                return opaque
            clauses[word] = []
        else:
            clauses[word].append(token)
    return clauses


def _command(first, words):
    return " ".join([first.upper() * (first == "show"), *(word.text for word in words)]).strip()


def _source(text, words):
    """FROM as it is compared, its SELECTs without columns; what these ask; and all tables."""
    written, inner, tables, number = [], (), [], 0
    tops = [top for _, top in at_top(words)]
    while number < len(words):
        end, word = closing(words, number), words[number]
        if word.text == "(" and words[number + 1 : number + 2] and words[number + 1].word == "select":
            one = _parsed(text, words[number + 1 : end])
            parts = [f"{first} {part}" for first, part in one.parts.items()]
            written += ["(", *parts, *sorted(one.names), ")"]
            inner = (*inner, *one.inner, one)
            tables.append(one.tables)
            number = end
        else:
            written.append(word.same)
            if tops[number] and (not number or words[number - 1].word in {"join", ","}):
                tables.append(word.text)
        number += 1
    return " ".join(written), inner, ", ".join(dict.fromkeys(tables))


def _names(words):
    """The list of names in a WHERE that is nothing but conditions that all hold; and WHERE without it."""
    tops = list(at_top(words))
    if any(top and token.word in {"or", "not", "xor", "||", "case"} for token, top in tops):
        return {}, "", compared(words)
    for number in range(len(words) - 3):
        column, is_in, opening = words[number : number + 3]
        if not (tops[number][1] and is_in.word == "in" and opening.text == "("):
            continue
        end = closing(words, number + 2)
        items = parted(words[number + 3 : end], ",")
        if _NAME.fullmatch(column.same) and all(
            len(item) == 1 and item[0].text.startswith(QUOTES) for item in items
        ):
            names = {item[0].text[1:-1].casefold(): item[0].text[1:-1] for item in items}
            written = f"{compared(words[: number + 2])} names {compared(words[end + 1 :])}"
            return names, column.same, written
    return {}, "", compared(words)
