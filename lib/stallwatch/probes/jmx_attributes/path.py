"""The way into a value that has parts: keys of composite and tabular data and maps, places in lists."""

from __future__ import annotations

from stallwatch.probes.jmx_attributes.absent import AbsentError
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import whole

if TYPE_CHECKING:
    from stallwatch.sources.jmx.values import Value

_LONGEST = 9  # digits of a place in a list


def steps(text: str) -> tuple[str, ...]:
    r"""Take a path apart: ``/`` stands between two steps, ``\/`` for a slash in one."""
    apart = text.replace("\\/", "\0").split("/")  # no argument of a program has a NUL in it
    return tuple(step.replace("\0", "/") for step in apart) if text else ()


def follow(value: Value, path: tuple[str, ...], attribute: str, name: object) -> Value:
    """Give what is at the end of the path into an attribute of the bean ``name``.

    AbsentError says which keys there are where one is missing.
    """
    for taken, step in enumerate(path):
        value = _step(value, step, called(attribute, path[:taken], name))
    return value


def called(attribute: str, path: tuple[str, ...], name: object) -> str:
    """Say what is at the end of a path."""
    return f"{'/'.join((attribute, *path))} of {name}"


def _step(value: Value, step: str, subject: str) -> Value:
    if isinstance(value, dict):
        if step in value:
            return value[step]
        raise AbsentError(f"{subject} has no key {step}", _advice(step, list(value)))
    if isinstance(value, list):
        number = whole(step, _LONGEST)
        if number is not None and number < len(value):
            return value[number]
        places = f"its items are 0 to {len(value) - 1}" if value else "it is empty"
        raise AbsentError(f"{subject} is a list and has no item {step}", places)
    kind = "null" if value is None else "a single value"
    raise AbsentError(f"{subject} is {kind} and has no key {step}")


def _advice(step: str, keys: list[str]) -> str:
    from stallwatch.probes.jmx_attributes.near import close, enumerated

    if near := close(step, keys):
        return f"did you mean {enumerated(near, 'or')}?"
    return f"it has {enumerated(keys)}" if keys else "it is empty"
