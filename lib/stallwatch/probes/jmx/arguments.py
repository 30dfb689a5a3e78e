"""The quantities that the command line asks for: what an option means depends on its place.

An option belongs to the -A before it; between an -O and its first -A, to all attributes of that object;
before the first -O and -A, to everything. So with a single -O and -A any order will do.
"""

from __future__ import annotations

import re

from stallwatch.findings import State
from stallwatch.frame.options.values import regex
from stallwatch.probes.jmx.model import PLACE, Quantity, Whole, pattern_words
from stallwatch.probes.jmx.scale import limit
from stallwatch.probes.jmx.values import steps
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.startup import TYPE_CHECKING
from stallwatch.thresholds import Range, must_be_in_order
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterable

    Said = dict[str, str]
    Levels = tuple[Said, Said, Said]  # of everything, of the object, of the attribute itself

_LEVELS = ("warning", "critical")
_ONCE = {"key": "-K", "change": "--rate or --delta", "match": "--match", "no_match": "--no-match"}
_NOT_TOGETHER = (
    ("match", "no_match"), ("match", "of"), ("match", "per"), ("match", "change"), ("match", "age"),
    ("no_match", "of"), ("no_match", "per"), ("no_match", "change"), ("no_match", "age"),
    ("of", "per"), ("age", "of"), ("age", "per"), ("age", "change"),
)  # fmt: skip
_OF_NUMBERS = ("warning", "critical", "unit")  # of no use where text is matched
_SLASH = r'((?:"(?:\\.|[^"\\])*"|\\.|[^/"\\])*)/(.+)'


def parsed(words: Iterable[tuple[str, str]]) -> list[Quantity]:
    """Understand the options, in the order of the command line; raises NotUnderstoodError."""
    return [_quantity(said) for said in _by_quantity(words)]


def _by_quantity(words: Iterable[tuple[str, str]]) -> list[Said]:
    """Return all options of each quantity, where the nearest to it counts most."""
    everything: Said = {}
    of_object: Said = {}  # the first -O may also come after its -A
    objects = [of_object]
    found: list[Levels] = []
    here = everything
    for word, value in words:
        if word == "object":
            if "object" in of_object:
                of_object = {}
                objects.append(of_object)
            here = of_object
        elif word == "attribute":
            here = {}
            found.append((everything, of_object, here))
        elif word in _ONCE and word in here:
            raise NotUnderstoodError(f"{_ONCE[word]} is there twice: repeat -A for another quantity")
        here[word] = value
    _must_be_whole(objects, found)
    _must_be_of_use(found)
    return [*map(_merged, found)]


def _merged(levels: Levels) -> Said:
    everything, of_object, own = levels
    return {**everything, **of_object, **own}


def _must_be_whole(objects: list[Said], found: list[Levels]) -> None:
    """Refuse an object without attributes, and attributes without an object."""
    if "object" not in objects[0]:
        raise NotUnderstoodError("what is to be read? Give -O OBJECT -A ATTRIBUTE; --list shows all")
    for one in objects:
        if not any(of_object is one for _, of_object, _ in found):
            name = one["object"]
            raise NotUnderstoodError(f"-O {name} has no -A: --list '{name}' shows what attributes there are")


def _must_be_of_use(found: list[Levels]) -> None:
    """Refuse what is about numbers where all that it belongs to is text, and the other way round."""
    for here in (level for levels in found for level in levels):
        matched = [_is_text(_merged(levels)) for levels in found if any(here is level for level in levels)]
        for word in here:
            if word in _OF_NUMBERS and all(matched):
                why = "--mismatch sets the state of a --match"
                raise NotUnderstoodError(f"--{word} is for numbers: {why}")
            if word == "mismatch" and not any(matched):
                raise NotUnderstoodError("--mismatch is for text: it needs the --match that it is about")


def _is_text(said: Said) -> bool:
    """Whether text is judged, not how many beans have a text."""
    return ("match" in said or "no_match" in said) and said.get("aggregate") != "count"


def _quantity(said: Said) -> Quantity:
    name = ObjectName.parse(said["object"])
    path = steps(said.get("key", ""))
    unit, aggregate, change = (said.get(word, "") for word in ("unit", "aggregate", "change"))
    _must_go_together(said, name)
    whole = said.get("of", said.get("per"))
    pattern = said.get("match", said.get("no_match"))
    quantity = Quantity(
        asked=name,
        attribute=said["attribute"],
        path=path,
        unit=unit,
        of=_whole(whole) if whole is not None else None,
        per="per" in said,
        age="age" in said,
        change=change,
        match=_match(pattern) if pattern is not None else None,
        negated="no_match" in said,
        aggregate=aggregate,
        label=said.get("label", ""),
        missing=State[said.get("missing", "unknown").upper()],
    )
    _must_be_fillable(quantity)
    return quantity._replace(limits=_limits(quantity, said))


def _limits(quantity: Quantity, said: Said) -> dict[str, Range]:
    if _is_text(said):
        return {said.get("mismatch", "critical"): Range("1:")}  # found or not found
    counted_in = quantity.unit if quantity.base == quantity.counted_in and not quantity.age else quantity.base
    limits: dict[str, Range] = {}
    for level in _LEVELS:
        if level in said:
            try:
                limits[level] = limit(said[level], counted_in)
            except NotUnderstoodError as error:
                is_suffix = not quantity.base and "is not a plain number" in str(error)
                way = " (per cent need --of, sizes and times --unit)" if is_suffix else ""
                raise NotUnderstoodError(f"argument -{level[0]}/--{level}: {error}{way}") from None
    if len(limits) == len(_LEVELS):
        must_be_in_order(**limits)
    return limits


def _must_go_together(said: Said, name: ObjectName) -> None:
    """Refuse what together means nothing."""
    for one, other in _NOT_TOGETHER:
        if one in said and other in said:
            raise NotUnderstoodError(f"--{_flag(said, one)} and --{_flag(said, other)} do not go together")
    aggregate = said.get("aggregate")
    if aggregate == "count" and (odd := [word for word in ("of", "per", "change", "age") if word in said]):
        raise NotUnderstoodError(f"--aggregate count and --{_flag(said, odd[0])} do not go together")
    if aggregate not in (None, "count") and ("match" in said or "no_match" in said):
        raise NotUnderstoodError(f"--aggregate {aggregate} is for numbers: texts can be counted (count)")
    if "age" in said and said.get("unit", "ms") not in ("s", "ms", "us", "ns"):
        raise NotUnderstoodError(f"--age and --unit {said['unit']} do not go together")
    template = PLACE.search(said.get("label", ""))
    if template and "aggregate" in said:
        raise NotUnderstoodError(f"--label {said['label']}: an --aggregate has no {template[0]}")
    if "label" in said and name.is_pattern and not template and "aggregate" not in said:
        example = (name.wild_properties or ["name"])[0]
        raise NotUnderstoodError(
            f"--label {said['label']} would be the same for all beans: put {{{example}}} into it"
        )


def _must_be_fillable(quantity: Quantity) -> None:
    """Refuse places for key properties that no bean of this name has."""
    name, whole = quantity.asked, quantity.of.template if quantity.of else ""
    if name.open_ended:
        return
    for option, template, more in (
        ("label", quantity.label, ("domain", "attribute", "key")),
        ("of", whole, ()),
    ):
        for place in PLACE.findall(template):
            if place not in (*name.properties, *more):
                raise NotUnderstoodError(f"--{option} {template}: {name} has no key property {place}")


def _flag(said: Said, word: str) -> str:
    return said[word] if word == "change" else word.replace("_", "-")


def _match(text: str) -> re.Pattern[str]:
    try:
        return regex(text)
    except NotUnderstoodError as error:
        raise NotUnderstoodError(f"--match {error}") from None


def _whole(text: str) -> Whole:
    """Read the value of --of; a slash in an object's name is to be quoted or escaped."""
    if not text:
        raise NotUnderstoodError("--of is empty: write what it is a share of, as --of max")
    if ":" not in text:
        return Whole(steps(text)[-1], steps(text))
    parts = re.fullmatch(_SLASH, text, re.DOTALL)
    if not parts:
        raise NotUnderstoodError(f'--of "{text}" names no attribute: write OBJECT/ATTRIBUTE')
    template = parts[1].replace("\\/", "/")
    name, path = ObjectName.parse(template), steps(parts[2])
    if name.is_pattern:
        raise NotUnderstoodError(f'--of "{text}" is to name one MBean: no * and ?')
    fixed = [word for word in pattern_words(name) if not PLACE.search(word)]
    return Whole(" ".join([*fixed, *path]), path, template)
