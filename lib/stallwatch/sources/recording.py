"""What sources are asked, what they answer, and when: recorded, or answered from a recording.

``mysql``, ``jmx``, ``ndb_mgm`` and ``kernel`` pass their questions through ``answer``. Within
``use(Recorder(write))`` each question is written as a line of JSON, without the passwords that ``withheld``
knows. Within ``use(Player(lines))`` the recording answers, and nobody is asked. One run at a time uses them,
as it does ``withheld``. A line::

    {"source": "mysql", "where": "db1:3306", "log_in": 1, "asked": ["SELECT 1"],
     "at": 1795000000.0, "took": 0.0003, "answer": [["1"], [[1]]]}

``at`` is Unix time, ``took`` is in seconds. A question that failed has ``error`` instead of ``answer``: the
exception and its causes, each with its class, arguments and attributes.
"""

from __future__ import annotations

import re
import sys
import time
from collections import namedtuple
from contextlib import contextmanager
from functools import cache
from itertools import count

from stallwatch import withheld
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    # The name of the source, the place that it asks, and the number of its log-in there; 0: it has none.
    Source = tuple[str, str, int]

LOG_IN = ("log in",)  # the question that begins the log-in of this number
_ERROR, _FIELDS = "__error__", "__fields__"
_CAUSES = 5  # of an exception that are recorded
_LOG_INS = count(1)
_used: list[Recorder | Player] = []


def answer(of: Source, asked: tuple[Any, ...], ask: Callable[..., Any], *to: Any) -> Any:
    """Return ``ask(*to)``, the answer to what was ``asked``, as JSON may hold it; see ``use``."""
    return _used[-1].answer(of, asked, ask, *to) if _used else ask(*to)


def log_in(source: str, where: str) -> Source:
    """Return what stands for a new log-in."""
    return source, where, next(_LOG_INS)


def is_used() -> bool:
    """Whether answers are recorded, or are from a recording."""
    return bool(_used)


@contextmanager
def use(tape: Recorder | Player) -> Iterator[None]:
    """Pass all questions through a recorder or a player."""
    _used.append(tape)
    try:
        yield
    finally:
        _used.pop()


class NotRecordedError(OSError):
    """The recording has no answer, or none any more: to a probe as if nobody were there."""


class Recorder:
    """Asks, and writes each question with its answer, or its error, by ``write``: a line each."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def answer(self, of: Source, asked: tuple[Any, ...], ask: Callable[..., Any], *to: Any) -> Any:
        """Ask, and write both."""
        at, begun = time.time(), time.monotonic()
        try:
            found = ask(*to)
        except BaseException as error:
            self._note(of, asked, at, begun, error=error)
            raise
        self._note(of, asked, at, begun, answer=found)
        return found

    def _note(self, of: Source, asked: tuple[Any, ...], at: float, begun: float, **outcome: Any) -> None:
        import json

        source, where, number = of
        entry = {
            "source": source, "where": withheld.struck(where), "log_in": number, "asked": _question(asked),
            "at": round(at, 6), "took": round(time.monotonic() - begun, 6),
            **{name: _shown(one) for name, one in outcome.items()},
        }  # fmt: skip
        self._write(f"{json.dumps(entry, default=str)}\n")


class Player:
    """Answers from the lines of a recording, each once; ``then`` gets each of them before that."""

    def __init__(self, lines: Iterable[str], then: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        import json

        self._then = then
        self._left: dict[tuple[Any, ...], list[str]] = {}
        self._log_ins: dict[int, int] = {}  # the numbers of now, and those of the recording
        for line in lines:
            entry = json.loads(line)
            log_in = entry["log_in"] if entry["asked"] != [*LOG_IN] else None
            key = entry["source"], entry["where"], log_in, _text(entry["asked"])
            self._left.setdefault(key, []).append(line)

    def answer(self, of: Source, asked: tuple[Any, ...], *_: Any) -> Any:
        """Answer from the recording."""
        entry = self.find(of, asked)
        self._then(entry)
        if "error" in entry:
            raise entry["error"]
        return entry["answer"]

    def find(self, of: Source, asked: tuple[Any, ...]) -> dict[str, Any]:
        """Return the next entry of this question, or raise NotRecordedError."""
        import json

        source, where, number = of
        log_in = self._log_ins.get(number, number) if asked != LOG_IN else None
        left = self._left.get((source, where, log_in, _text(asked)))
        if not left:
            raise NotRecordedError(f"{source} {where} was not asked this, or less often: {_text(asked)}")
        entry: dict[str, Any] = json.loads(left.pop(0), object_hook=_as_it_was)
        if asked == LOG_IN:
            self._log_ins[number] = entry["log_in"]
        return entry


def _question(asked: Iterable[Any]) -> list[Any]:
    return [withheld.message(one) if isinstance(one, str) else one for one in asked]


def _text(asked: Iterable[Any]) -> str:
    """Write a question, to find it again; the values of a SET may be what is left of the time."""
    text = " ".join(map(str, _question(asked)))
    return re.sub(r"[\d.]+", "0", text) if text.startswith("SET ") else text


def _shown(value: Any) -> Any:
    """Return a value as JSON has it, without passwords."""
    if isinstance(value, str):
        return withheld.data(value)
    if isinstance(value, dict):
        return {_shown(name): _shown(one) for name, one in value.items()}
    if hasattr(value, "_fields"):
        return {_FIELDS: {name: _shown(one) for name, one in zip(value._fields, value, strict=True)}}
    if isinstance(value, (list, tuple)):
        return [_shown(one) for one in value]
    if isinstance(value, BaseException):
        causes: list[Any] = []
        error: BaseException | None = value
        while error is not None and len(causes) < _CAUSES:
            name = f"{type(error).__module__}.{type(error).__qualname__}"
            attributes = {of: _shown(one) for of, one in vars(error).items()}
            causes.append([name, _shown(error.__reduce__()[1]), attributes])  # an OSError's file name, too
            error = error.__cause__ or error.__context__
        return {_ERROR: causes}
    return value


@cache
def _tuple(*names: str) -> Any:
    return namedtuple("Answer", names)  # noqa: PYI024 - its fields are those of the recording


def _as_it_was(value: dict[str, Any]) -> Any:
    """Make named tuples and exceptions anew: these of classes that are loaded, else of Exception."""
    if _FIELDS in value:
        return _tuple(*value[_FIELDS])(**value[_FIELDS])
    error: BaseException | None = None
    for name, arguments, attributes in reversed(value.get(_ERROR, [])):
        module, _, kind = name.rpartition(".")
        known = getattr(sys.modules.get(module), kind, None)
        kind = known if isinstance(known, type) and issubclass(known, BaseException) else Exception
        cause, error = error, kind.__new__(kind, *arguments)
        vars(error).update(attributes)
        error.__cause__ = cause
    return error or value
