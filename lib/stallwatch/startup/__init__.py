"""What makes a plugin start sooner: the reasons, with figures, are in contrib/docs/startup.md.

Here is what nearly every module needs: TYPE_CHECKING and NamedTuple without the module typing. The other
modules are what Python and its packages offer under the same names, without what a check does not use.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # what namedtuple makes of a field

__all__ = ["TYPE_CHECKING", "NamedTuple"]

TYPE_CHECKING = False  # type checkers take it for true
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple, Self
else:

    class _Kind(type):
        """Makes fields of what a class annotates, in that order; those with a value have it as default."""

        def __new__(cls, name: str, bases: tuple[type, ...], said: dict[str, Any]) -> type:
            if fields := tuple(said.get("__annotations__", ())):
                said["_field_defaults"] = {field: said[field] for field in fields if field in said}
                said.update((field, _tuplegetter(place, field)) for place, field in enumerate(fields))
                said.update(_fields=fields, __match_args__=fields, __slots__=())
                said["_defaults"] = tuple(said["_field_defaults"].values())  # of the last fields
            return super().__new__(cls, name, bases, said)

    class NamedTuple(tuple, metaclass=_Kind):
        """The base of tuples whose parts have names: all that is asked of ``typing.NamedTuple`` here."""

        __slots__ = ()

        def __new__(cls, /, *values: Any, **named: Any) -> Self:
            """Make one of its parts, by their places or names."""
            if left := len(cls._fields) - len(values):
                plainly = not named and 0 < left <= len(cls._defaults)
                values += cls._defaults[-left:] if plainly else cls._others(values, named)
            elif named:
                cls._others(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _others(cls, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
            """Give the values of the fields behind those that were given by their places."""
            left = cls._fields[len(values) :]
            known = {**cls._field_defaults, **named}
            if len(values) > len(cls._fields) or not named.keys() <= {*left} <= known.keys():
                given = " and ".join([str(len(values)), *named])  # no value: it may be secret
                raise TypeError(f"{cls.__name__}({', '.join(cls._fields)}) is given {given}")
            return tuple([known[field] for field in left])

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            return cls(*values)

        def _replace(self, /, **named: Any) -> Self:
            values = tuple(map(named.pop, self._fields, self))
            return type(self)(*values, **named)  # which refuses the names that are left

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            parts = (f"{field}={value!r}" for field, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(parts)})"
