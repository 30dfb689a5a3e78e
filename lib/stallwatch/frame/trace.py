"""A traceback for -vvv: our own lines as they are, messages of exceptions as they may be shown."""

from __future__ import annotations

import traceback

from stallwatch import withheld
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FRAMES = 20  # the innermost


def traced(error: BaseException) -> list[str]:
    """Write it as Python does, the exception that came first first."""
    return [line for one in reversed([*_chain(error)]) for line in _one(one)]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _one(error: BaseException) -> Iterator[str]:
    yield "Traceback (most recent call last):"
    for frame in traceback.format_tb(error.__traceback__, -_FRAMES):
        yield from frame.splitlines()
    said = withheld.data(_text(error))
    yield f"{type(error).__name__}{': ' * bool(said)}{' '.join(said.split())}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever a library has made of it
        return ""
