"""SQL statements as tokens: only as much of SQL as the plugins' own statements have."""

import re
from typing import NamedTuple

_STRING = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\""""
_TOKEN = re.compile(
    rf"""
    (?P<skipped> \s+ | /\*(?!!).*?\*/ )               # comments and hints do not change an answer
    | {_STRING} | `[^`]*`
    | %s
    | [@\w$]+ (?: \. (?: [\w$]+ | \* ) )*              # also @@global.name, schema.table, 1.5
    | <=> | <= | >= | <> | != | >> | << | \|\| | && | :=
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_ARGUMENT = rf"""(?:{_STRING}|[^\s'"]+)"""
_LITERAL = re.compile(rf"{_STRING}|(?<!\S)\d\S*")
QUOTES = ("'", '"')


class Token(NamedTuple):
    """A token, and where it begins and ends in the statement."""

    text: str
    begin: int
    end: int

    @property
    def word(self):
        """The token in lower case, for keywords."""
        return self.text.casefold()

    @property
    def same(self):
        """The text by which tokens are compared: only strings differ by case."""
        return self.text if self.text.startswith(QUOTES) else self.text.strip("`").casefold()


def tokens(text):
    """The tokens of a recorded statement, with the arguments that are written behind it in their places."""
    found = [Token(one[0], *one.span()) for one in _TOKEN.finditer(text) if one["skipped"] is None]
    places = [number for number, token in enumerate(found) if token.text == "%s"]
    tail = re.search(rf"(?:\s{_ARGUMENT}){{{len(places)}}}$", text) if places else None
    if not tail or tail.start() < found[places[-1]].end:
        return found
    arguments = re.findall(_ARGUMENT, tail[0])
    for number, argument in zip(places, arguments, strict=True):
        found[number] = found[number]._replace(text=argument)
    return [token for token in found if token.begin < tail.start()]


def compared(some):
    """Tokens as one text, the same for statements that differ in case, blanks and comments only."""
    return " ".join(token.same for token in some)


def without_values(text):
    """A compared text with ? for every value and for every list of values."""
    text = re.sub(r"\?(?: , \?)+", "?", _LITERAL.sub("?", text))
    return re.sub(r"(\( [^()]* \))(?: or \1)+", r"\1", text)


def at_top(some):
    """Each token with whether it stands outside of all parentheses."""
    depth = 0
    for token in some:
        depth -= token.text == ")"
        yield token, depth == 0 and token.text not in {"(", ")"}
        depth += token.text == "("


def parted(some, text):
    """The lists of tokens between tokens with that text, such as commas, outside of all parentheses."""
    parts = [[]]
    for token, top in at_top(some):
        if top and token.text == text:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def closing(some, opening):
    """The number of the token that closes the parenthesis that is opened by the token of this number."""
    depth = 0
    for number in range(opening, len(some)):
        depth += (some[number].text == "(") - (some[number].text == ")")
        if not depth:
            return number
    return len(some)
