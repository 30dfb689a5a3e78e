"""What was wrong and is still to be reported, from run to run."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol, TypeVar

    class Record(Protocol):
        """A NamedTuple of what JSON can keep."""

        def _asdict(self) -> dict[str, Any]: ...

    One = TypeVar("One", bound=Record)


def remembered(memory: dict[str, Any], key: str, record: Callable[..., One]) -> list[One]:
    """Give the problems that ``memory[key]`` keeps, in its order; none if it has none.

    They are kept as ``remember`` writes them: ``[{"lock": "x", "when": 1234.5}]`` has a dictionary for each,
    with the fields of ``record``, seconds in them since the epoch. Raises what Python raises on what is
    damaged or of another version: TypeError mostly. Whoever asks forgets the whole memory then, and says so,
    for a problem that was lost without a word would be an OK by accident.
    """
    return [record(**kept) for kept in memory.get(key, [])]


def remember(memory: dict[str, Any], key: str, problems: Iterable[Record]) -> None:
    """Keep ``problems`` as ``memory[key]`` for the next run, in their order."""
    memory[key] = [problem._asdict() for problem in problems]
