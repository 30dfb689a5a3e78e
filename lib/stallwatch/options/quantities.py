"""The options that say which attributes of which MBeans are asked for: what each means depends on its place.

An option belongs to the -A before it; between an -O and its first -A, to all attributes of that object;
before the first -O and -A, to everything. So with a single -O and -A any order will do.
"""

from __future__ import annotations

import re
from argparse import Action

from stallwatch.options.regex import regex
from stallwatch.probes.jmx_attributes.naming import PLACE, common_words
from stallwatch.probes.jmx_attributes.path import steps
from stallwatch.probes.jmx_attributes.quantity import Quantity, Whole
from stallwatch.probes.jmx_attributes.scale import UNITS, limit
from stallwatch.reading import State
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.units import NotUnderstoodError, Range

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from stallwatch.check import Check

    Said = dict[str, str]
    Levels = tuple[Said, Said, Said]  # of everything, of the object, of the attribute itself

_ONCE = {"key": "-K", "change": "--rate or --delta", "match": "--match"}
_NOT_TOGETHER = (
    ("match", "aggregate"), ("match", "of"), ("match", "change"), ("of", "change"),
)  # fmt: skip
_OF_NUMBERS = ("warning", "critical", "unit")  # of no use where text is matched
_SLASH = r'((?:"(?:\\.|[^"\\])*"|\\.|[^/"\\])*)/(.+)'


class Word(Action):
    """An option that is kept in the order of the command line, in ``namespace.said``."""

    def __call__(self, _: ArgumentParser, namespace: Namespace, values: object, *__: object) -> None:
        """Keep it."""
        namespace.said = (*namespace.said, (self.dest, self.const or values))


def add(check: Check) -> None:
    """Add the options; ``asked`` understands them."""
    check.parser.set_defaults(said=())
    check.option("-O", "--object", action=Word, help="object name of an MBean, or with * and ? of several")
    about = (
        "attribute of the -O before it; both may be repeated, and the options below belong to the -A before "
        "them, to all of an object if they follow its -O, to everything if they come first"
    )
    check.option("-A", "--attribute", action=Word, help=about)
    about = (
        "way to a number in it: a key, an item's number, several with / between them (\\/ for a slash); "
        "without it, the items of a list are counted"
    )
    check.option("-K", "--key", action=Word, metavar="PATH", help=about)
    about = "what the server counts it in (default: nothing); share: 0 to 1, told and judged in per cent"
    check.option("--unit", action=Word, choices=[unit for unit in UNITS if unit], help=about)
    about = "tell it in per cent of this: a key beside that of -K, ATTRIBUTE[/KEY], or OBJECT/ATTRIBUTE[/KEY]"
    check.option("--of", action=Word, metavar="WHOLE", help=about)
    about = "what it grew by per second since the last run of this very command; runs within 1s count as one"
    check.option("--rate", action=Word, nargs=0, dest="change", const="rate", help=about)
    about = "what it changed by since the last run of this very command, whoever ran it; as with --rate"
    check.option("--delta", action=Word, nargs=0, dest="change", const="delta", help=about)
    check.option("--match", action=Word, metavar="REGEX", help="text: wrong where this is not found in it")
    about = "state where the text does not match (default: critical)"
    check.option("--mismatch", action=Word, choices=["warning", "critical"], help=about)
    about = "one number of all beans of a pattern; those without the attribute do not count"
    check.option("--aggregate", action=Word, choices=["sum", "max", "min", "avg", "count"], help=about)
    about = "its name; may hold key properties of the MBean, as {scope} (default: made of those)"
    check.option("--label", action=Word, metavar="NAME", help=about)
    about = (
        "state where it is missing, null, NaN, or has no limit to be a share of; where --aggregate count has "
        "none to count, unless a range alerts on 0 (default: unknown)"
    )
    check.option("--missing", action=Word, choices=["ok", "warning", "critical", "unknown"], help=about)
    about = "range for the attribute; bare numbers are counted in --unit, those of a share need a %"
    check.limit("-w", "--warning", action=Word, metavar="RANGE", help=f"warning {about}")
    check.limit("-c", "--critical", action=Word, metavar="RANGE", help=f"critical {about}")


def asked(check: Check, options: Namespace) -> list[Quantity]:
    """Understand what was said; what makes no sense ends the run as bad usage."""
    try:
        apart = _by_quantity(options.said)
        return [_quantity(said) for said in apart]
    except NotUnderstoodError as error:
        check.parser.error(str(error))


def changes(check: Check, options: Namespace, quantities: list[Quantity]) -> bool:
    """Whether any is about two runs, which --no-state makes impossible."""
    about = [one.change for one in quantities if one.change]
    if about and options.no_state:
        check.parser.error(f"--{about[0]} needs the state that --no-state leaves alone")
    return bool(about)


def _by_quantity(words: Iterable[tuple[str, str]]) -> list[Said]:
    """Give all that was said of each quantity, what stands nearest to it counting most."""
    everything: Said = {}
    of_object: Said = {}  # the first -O may also stand behind its -A
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
        matched = ["match" in _merged(levels) for levels in found if any(here is level for level in levels)]
        for word in here:
            if word in _OF_NUMBERS and all(matched):
                why = "the state of a --match is said by --mismatch"
                raise NotUnderstoodError(f"--{word} is for numbers: {why}")
            if word == "mismatch" and not any(matched):
                raise NotUnderstoodError("--mismatch is for text: it needs the --match that it is about")


def _quantity(said: Said) -> Quantity:
    name = ObjectName.parse(said["object"])
    path = steps(said.get("key", ""))
    unit, aggregate, change = (said.get(word, "") for word in ("unit", "aggregate", "change"))
    _must_go_together(said, name)
    quantity = Quantity(
        asked=name,
        attribute=said["attribute"],
        path=path,
        unit=unit,
        of=_whole(said["of"]) if "of" in said else None,
        change=change,
        match=_match(said["match"]) if "match" in said else None,
        aggregate=aggregate,
        label=said.get("label", ""),
        missing=State[said.get("missing", "unknown").upper()],
    )
    _must_be_fillable(quantity)
    return quantity._replace(limits=_limits(quantity, said))


def _limits(quantity: Quantity, said: Said) -> dict[str, Range]:
    if quantity.match:
        return {said.get("mismatch", "critical"): Range("1:")}  # found or not found
    counted_in = quantity.unit if quantity.base == quantity.counted_in else quantity.base
    limits: dict[str, Range] = {}
    for level in ("warning", "critical"):
        if level in said:
            try:
                limits[level] = limit(said[level], counted_in)
            except NotUnderstoodError as error:
                way = "" if quantity.base else " (per cent need --of, sizes and times --unit)"
                raise NotUnderstoodError(f"argument -{level[0]}/--{level}: {error}{way}") from None
    return limits


def _must_go_together(said: Said, name: ObjectName) -> None:
    """Refuse what together means nothing."""
    for one, other in _NOT_TOGETHER:
        if one in said and other in said:
            raise NotUnderstoodError(f"--{_flag(said, one)} and --{_flag(said, other)} do not go together")
    if said.get("aggregate") == "count" and ("of" in said or "change" in said):
        raise NotUnderstoodError("--aggregate count has no share and no rate")
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
    return said[word] if word == "change" else word


def _match(text: str) -> re.Pattern[str]:
    try:
        return regex(text)
    except NotUnderstoodError as error:
        raise NotUnderstoodError(f"--match {error}") from None


def _whole(text: str) -> Whole:
    """Read what --of says; a slash in an object's name is to be quoted or escaped."""
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
    fixed = [word for word in common_words(name) if not PLACE.search(word)]
    return Whole(" ".join([*fixed, *path]), path, template)
