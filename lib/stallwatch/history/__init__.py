"""What lasts between the runs of a check, each concept once.

``delta`` is what counters counted between two looks, ``streak`` how many looks in a row something was bad;
here are for how long something has been so, and how memory is written and read: ``remember``, ``recall``.

Each works on a part of the memory of the check: the dictionary that the frame reads from the state file, and
writes back as JSON. What somebody else wrote, or damaged, is never trusted, and begins anew.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from types import UnionType

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    One = TypeVar("One")

SLACK = 5.0  # seconds by which our clock and another may differ in what has passed


def own(memory: dict[str, Any], name: str) -> dict[str, Any]:
    """Give the dictionary in ``memory`` of this name, a new one if there is none, or it is damaged."""
    kept = memory.get(name)
    memory[name] = mine = kept if isinstance(kept, dict) else {}
    return mine


def has_restarted(uptime: float, last: float, passed: float) -> bool:
    """Whether something is up for less than it was at the last look, or than has ``passed`` since.

    A slow answer, or our clock being set, makes a few seconds more or less of what has passed.
    """
    return uptime < last or (uptime < passed + 1 and uptime < last + passed - SLACK)


class Since:
    """Since when things have been so, by name: since the first look in a row that found it.

    ``kept`` is a dictionary of the memory for nothing else, as ``{"bond0": 1234.5}``. ``now`` and what is
    kept are seconds on one clock, which goes on between the runs: the uptime of a host, or that of a server,
    or ``probes.shared.steady_now``. What is kept and no number, or later than ``now``, is damage and
    forgotten: it begins at this look. Nothing is forgotten for not being asked for.
    """

    def __init__(self, kept: dict[str, Any], now: float) -> None:
        for what in [what for what, begun in kept.items() if not (is_number(begun) and begun <= now)]:
            del kept[what]
        self._kept, self._now = kept, now

    def seconds(self, what: str, *, holds: bool = True) -> float:
        """Return for how many seconds it has been so; 0 at the first look, and if it ``holds`` no more."""
        if not holds:
            self._kept.pop(what, None)
            return 0.0
        return float(self._now - self._kept.setdefault(what, self._now))


def remember(memory: dict[str, Any], name: str, value: Any) -> None:
    """Keep as ``memory[name]`` what ``recall`` reads in the next run."""
    memory[name] = _plain(value)


def recall(memory: dict[str, Any], name: str, shape: type[One]) -> One | None:
    """Return what ``memory[name]`` keeps in this shape; None: there is none, or it is damaged.

    A shape is ``float`` (a finite number), ``int``, ``str``, ``bool``, a NamedTuple of shapes, or, of shapes,
    ``list[…]``, ``set[…]``, ``dict[str, …]``, ``dict[int, …]``, ``tuple[…, ...]``, ``tuple[…, …]``,
    ``… | None``. Damaged members of a list, set or dictionary are left out; any other damage is one of all.
    """
    try:
        return _read(memory.get(name), shape, _undamaged)  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        return None


def remembered(memory: dict[str, Any], key: str, record: Callable[..., One]) -> list[One]:
    """Give the problems that ``memory[key]`` keeps, in its order; none if it has none.

    They are kept as ``remember`` writes a list of NamedTuples. Raises what Python raises on what is damaged
    or of another version: TypeError mostly. The caller then forgets the whole memory and reports that: a
    problem that is lost silently would be OK by accident.
    """
    return [record(**kept) for kept in memory.get(key, [])]


def _plain(value: Any) -> Any:
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    several = hasattr(value, "__iter__") and not isinstance(value, str)
    return [*map(_plain, value)] if several else value


def _read(kept: Any, shape: Any, each: Callable[..., Iterable[Any]] = map) -> Any:
    """Read what ``_plain`` wrote; raises TypeError and ValueError if it has another shape."""
    if isinstance(shape, UnionType):
        return None if kept is None else _read(kept, shape.__args__[0])
    whole: Any = getattr(shape, "__origin__", shape)
    parts: tuple[Any, ...] = getattr(shape, "__args__", ())
    if isinstance(kept, dict) and whole is dict:
        return dict(each(lambda one: (parts[0](one[0]), _read(one[1], parts[1])), kept.items()))
    if isinstance(kept, dict) and hasattr(shape, "_fields"):
        fields = _fields(shape)
        return shape(**{name: _read(one, fields.get(name)) for name, one in kept.items()})
    if isinstance(kept, list) and whole is tuple and parts[-1] is not ...:
        return tuple([_read(one, part) for one, part in zip(kept, parts, strict=True)])
    if isinstance(kept, list) and whole in (list, set, tuple):
        return whole(each(lambda one: _read(one, parts[0]), kept))
    if is_number(kept) if whole is float else type(kept) is whole and (whole is not int or is_number(kept)):
        return kept
    raise TypeError(shape)


def _undamaged(read: Callable[[Any], Any], kept: Iterable[Any]) -> Iterator[Any]:
    for one in kept:
        with suppress(TypeError, ValueError):
            yield read(one)


@cache
def _fields(record: type) -> dict[str, Any]:
    """Give the shapes of the fields of a NamedTuple, by name."""
    names = vars(sys.modules[record.__module__])
    return {field: eval(shape, names) for field, shape in record.__annotations__.items()}  # noqa: S307 - ours
