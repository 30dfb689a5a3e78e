"""What the value of an attribute is as a number or as text, and the way into one that has parts."""

from __future__ import annotations

import math
import re

from stallwatch import withheld
from stallwatch.findings import ProbeError
from stallwatch.line import shorten
from stallwatch.probes.jmx.model import AbsentError
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, is_number, whole
from stallwatch.units import number as read_number
from stallwatch.words import listed_to_fit, plural

if TYPE_CHECKING:
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.sources.jmx.values import Value

_LONGEST_TEXT = 200  # bytes of a value in a sentence
_DATE = re.compile(r"[+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d")  # as java.util.Date is shown, whoever was asked
_LONGEST_PLACE = 9  # digits of a place in a list


def number(value: Value, subject: str) -> float:
    """Return a number: 0 or 1 for a boolean, the length of a list; text that is a number counts as one.

    What is none is an AbsentError (null, NaN) or a ProbeError with what to do.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        try:
            return read_number(value.strip())
        except NotUnderstoodError:
            is_date = _DATE.match(value) is not None
            advice = "judge a date with --age" if is_date else "judge text with --match REGEX"
            raise ProbeError(f"{subject} is {quoted(value)}", advice) from None
    if isinstance(value, list):
        return len(value)
    if isinstance(value, dict):
        raise _in_parts(value, subject)
    if value is None:
        raise AbsentError(f"{subject} is null")
    if not is_number(value):
        raise AbsentError(f"{subject} is {_java(value)}, which is not a number")
    return value


def text(value: Value, subject: str) -> str:
    """Return what is to be matched: text as it is, booleans as Java writes them, the items of a list."""
    if value is None:
        raise AbsentError(f"{subject} is null")
    if isinstance(value, bool):
        return _boolean(value)
    if isinstance(value, dict):
        raise _in_parts(value, subject)
    if isinstance(value, list):
        return ", ".join(text(item, subject) if item is not None else "null" for item in value)
    return str(value)


def said(value: Value) -> str:
    """Write what was no number and is judged as one; nothing for any other value."""
    if isinstance(value, list):
        return plural(len(value), "item")
    return _boolean(value) if isinstance(value, bool) else ""


def _boolean(value: bool) -> str:  # noqa: FBT001
    """Write it as Java does."""
    return "true" if value else "false"


def quoted(value: str) -> str:
    """Write text for a sentence, shortened."""
    return f'"{shorten(withheld.data(value), _LONGEST_TEXT)}"'


def _in_parts(value: dict[str, Value], subject: str) -> ProbeError:
    if not value:
        return ProbeError(f"{subject} is empty")
    advice = listed_to_fit("choose one with -K: ", list(value), "or")
    return ProbeError(f"{subject} has {plural(len(value), 'part')}", advice)


def _java(value: float) -> str:
    return "NaN" if isinstance(value, float) and math.isnan(value) else f"{'-' * (value < 0)}Infinity"


def steps(text: str) -> tuple[str, ...]:
    r"""Take a path apart: ``/`` is between two steps, ``\/`` is a slash in one."""
    apart = text.replace("\\/", "\0").split("/")  # no argument of a program has a NUL in it
    return tuple(step.replace("\0", "/") for step in apart) if text else ()


def follow(value: Value, path: tuple[str, ...], attribute: str, name: ObjectName) -> Value:
    """Return what is at the end of the path into an attribute of the bean ``name``.

    AbsentError shows which keys there are where one is missing.
    """
    for taken, step in enumerate(path):
        value = _step(value, step, called(attribute, path[:taken], name))
    return value


def called(attribute: str, path: tuple[str, ...], name: ObjectName) -> str:
    """Return what is at the end of a path."""
    return f"{'/'.join((attribute, *path))} of {name.familiar}"


def _step(value: Value, step: str, subject: str) -> Value:
    if isinstance(value, dict):
        if step in value:
            return value[step]
        raise _no_key(step, list(value), subject)
    if isinstance(value, list):
        number = whole(step, _LONGEST_PLACE)
        if number is not None and number < len(value):
            return value[number]
        places = f"its items are 0 to {len(value) - 1}" if value else "it is empty"
        raise AbsentError(f"{subject} is a list and has no item {step}", places)
    kind = "null" if value is None else "a single value"
    raise AbsentError(f"{subject} is {kind} and has no key {step}")


def _no_key(step: str, keys: list[str], subject: str) -> AbsentError:
    from stallwatch.probes.jmx.diagnosis import close, suggestion

    there = listed_to_fit("it has ", keys) if keys else "it is empty"
    near = close(step, keys)
    return AbsentError(f"{subject} has no key {step}", suggestion(near) if near else there)
