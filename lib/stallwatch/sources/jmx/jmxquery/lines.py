r"""What the jar of jmxquery is asked, and the lines that it answers (all that JMXQuery-0.1.8.jar prints).

A query is ``OBJECTNAME[/ATTRIBUTE]``, queries are parted by semicolons, and nothing can be escaped in them.
The answer looks like JSON and is not: values are printed as they are, with quotes, backslashes and line
breaks, so that JSON would read a tab in ``C:\temp``. It is cut into its parts instead. Only a text of the
server that has a whole such line in it cannot be told from one.
"""

from __future__ import annotations

import re

from stallwatch.sources.jmx.errors import UnreadableError
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import NotUnderstoodError, integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from stallwatch.sources.jmx.values import Value

_NULL = "Null"  # the kind of what is null, could not be read, or not be sent
_FIRST, _NEXT, _LAST, _NONE = '[\n{"mBeanName" : "', '}, \n{"mBeanName" : "', "}]\n", "[\n]\n"
_MISREAD = re.compile(r'[/;="\\,:]')  # in a value or a domain
_PLAIN = re.compile(r"[\w.$-]+")  # an attribute's name that is read as it is


def query(name: ObjectName, attribute: str = "") -> str:
    """Ask for an attribute, or all. What would be misread is asked for with wildcards.

    So there may be more answers than wanted; that of the wanted bean is among them, if there is one.
    """
    clear = {key: value for key, value in name.properties.items() if not _MISREAD.search(key)}
    properties = [f"{key}={_MISREAD.sub('?', value)}" for key, value in clear.items()]
    if name.open_ended or len(clear) < len(name.properties):
        properties.append("*")
    bean = f"{_MISREAD.sub('?', name.domain)}:{','.join(properties)}"
    return f"{bean}/{attribute}" if attribute else bean


def queries(name: ObjectName, attributes: Sequence[str]) -> dict[str, str]:
    """Give the query for each attribute: all in one where one of them would be misread."""
    plain = all(map(_PLAIN.fullmatch, attributes))
    return {attribute: query(name, attribute if plain else "") for attribute in attributes}


class Line(NamedTuple):
    """One attribute's value, or one key of its composite value. ``kind`` is the value's class, shortened."""

    bean: str
    attribute: str
    key: str | None
    kind: str
    text: str | None  # as printed; None: there is no value, or it is not shown

    def value(self) -> Value:
        """Read the value. ValueError: what was printed does not show it."""
        try:
            return _READERS[self.kind](self.text or "")
        except KeyError:
            raise ValueError(self.kind) from None


def lines(output: str) -> Iterator[Line]:
    """Cut the output of a run into its parts; raises ValueError if it is none."""
    if output == _NONE:
        return
    if not (output.startswith(_FIRST) and output.endswith(_LAST)):
        raise ValueError("the output of something else")
    for part in output[len(_FIRST) : -len(_LAST)].split(_NEXT):
        yield _line(part)


def _line(part: str) -> Line:
    # A quote in the bean's name has a backslash before it, so that what ends it cannot be in it.
    bean, _, rest = part.partition('", "attribute" : "')
    place, _, rest = rest.partition('", "attributeType" : "')
    attribute, keyed, key = place.partition('", "attributeKey" : "')
    kind, _, rest = rest.partition('"')
    before, printed, text = rest.partition(', "value" : ')
    if before or not kind:
        raise ValueError("a line of something else")
    return Line(bean.replace('\\"', '"'), attribute, key if keyed else None, kind, text if printed else None)


def _quoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    raise ValueError("a text without its quotes")


_BOOLEANS = {"true": True, "false": False}
_READERS: dict[str, Callable[[str], Value]] = {
    "Integer": integer,
    "Long": integer,
    "Double": float,
    "Boolean": lambda text: _BOOLEANS[text],
    **dict.fromkeys(
        ("Byte", "Short", "BigInteger", "AtomicInteger", "AtomicLong", "LongAdder"),
        lambda text: integer(_quoted(text)),
    ),
    **dict.fromkeys(("Float", "BigDecimal", "DoubleAdder"), lambda text: float(_quoted(text))),
    "AtomicBoolean": lambda text: _BOOLEANS[_quoted(text)],
    **dict.fromkeys(
        ("String", "StringBuilder", "StringBuffer", "Character", "ObjectName", "UUID", "File"), _quoted
    ),
}


class Told:
    """What several runs have shown of beans, by their canonical names."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # as the server writes them
        self.lines: dict[str, dict[str, list[Line]]] = {}  # by attribute
        self.spoiled: dict[str, str] = {}  # queries that let a run fail, and how

    def take(self, told: Iterable[Line]) -> None:
        """Add the answers of a run; raises ValueError if they are none."""
        canonical: dict[str, str] = {}
        for line in told:
            name = canonical.get(line.bean) or canonical.setdefault(line.bean, _canonical(line.bean))
            self.names[name] = line.bean
            known = self.lines.setdefault(name, {}).setdefault(line.attribute, [])
            if line not in known:  # two queries with wildcards may both have asked for it
                known.append(line)

    def add(self, other: Told) -> None:
        """Add what another run has shown."""
        self.names |= other.names
        for name, attributes in other.lines.items():
            self.lines.setdefault(name, {}).update(attributes)
        self.spoiled |= other.spoiled


def kind(given: Sequence[Line]) -> str:
    """Return the class of an attribute's value, shortened, from its lines."""
    if given[0].key is not None:
        return "CompositeData"
    return "unknown" if given[0].kind == _NULL else given[0].kind


def value(subject: str, given: Sequence[Line]) -> Value | UnreadableError:
    """Put together the value of an attribute from its lines: one, or one for each key."""
    keys = {line.key for line in given}
    if len(keys) < len(given) or (None in keys and len(given) > 1):
        return UnreadableError(f"{subject} cannot be read: jmxquery printed it twice, and not the same")
    if None not in keys:
        return {str(line.key): _member(line) for line in given}
    if given[0].kind == _NULL:
        what = "is null, or could not be read, sent or understood: jmxquery does not show which"
    else:
        what = f"cannot be read: jmxquery does not show what is in a value of the class {given[0].kind}"
    try:
        return given[0].value()
    except ValueError:
        return UnreadableError(f"{subject} {what}", "use --via rmi, if the server can be reached so")


def _member(line: Line) -> Value:
    try:
        return line.value()
    except ValueError:
        return f"<{line.kind}, not shown by jmxquery>"


def _canonical(name: str) -> str:
    try:
        return ObjectName.parse(name).canonical
    except NotUnderstoodError:
        return name
