"""Questions to sources, and their answers, as lines of JSON: a recorder writes them, a player answers.

``recording.use`` passes what is asked through one of them. A line::

    {"source": "mysql", "where": "db1:3306", "log_in": 1, "asked": ["SELECT 1"],
     "at": 1795000000.0, "took": 0.0003, "answer": [["1"], [[1]]]}

``at`` is Unix time, ``took`` is in seconds. A question that failed has ``error`` instead of ``answer``: the
exception and its causes, each with its class, arguments and attributes. No line has a password that
``withheld`` knows.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import namedtuple

from stallwatch import withheld
from stallwatch.sources.recording import LOG_IN
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.sources.recording import Source

_ERROR, _FIELDS = "__error__", "__fields__"
_CALLS = r"(?i)-p|--?[\w-]*(?:passw|pwd|secret)[\w-]*"  # an option that the password follows
_CAUSES = 5  # of an exception that are recorded


class NotRecordedError(OSError):
    """The recording has no answer, or none any more: to a probe as if nobody were there."""


class Recorder:
    """Asks, and writes each question with its answer, or its error, by ``write``: a line each.

    What is asked on the way to an answer is no question of its own: a player is not asked it.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._asking = False

    def answer(self, of: Source, asked: tuple[Any, ...], ask: Callable[..., Any], *to: Any) -> Any:
        """Ask, and write both."""
        if self._asking:
            return ask(*to)
        at, begun, self._asking = time.time(), time.monotonic(), True
        try:
            found = ask(*to)
        except BaseException as error:
            self._note(of, asked, at, begun, error=error)
            raise
        finally:
            self._asking = False
        self._note(of, asked, at, begun, answer=found)
        return found

    def _note(self, of: Source, asked: tuple[Any, ...], at: float, begun: float, **outcome: Any) -> None:
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
    return [withheld.message(one) if isinstance(one, str) else _shown(one) for one in asked]


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
    if isinstance(value, BaseException):
        return {_ERROR: [*_causes(value)]}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if not isinstance(value, (list, tuple)):
        return value
    called = [isinstance(one, str) and re.fullmatch(_CALLS, one) for one in ("", *value[:-1])]
    shown = ["***" if is_called else _shown(one) for one, is_called in zip(value, called, strict=False)]
    return {_FIELDS: [_name(value), [*value._fields], shown]} if hasattr(value, "_fields") else shown


def _causes(error: BaseException | None) -> Iterator[list[Any]]:
    for _ in range(_CAUSES):
        if error is not None:
            attributes = {of: _shown(one) for of, one in vars(error).items()}
            yield [_name(error), _shown(error.__reduce__()[1]), attributes]  # an OSError's file name, too
            error = error.__cause__ or error.__context__


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _class(name: str, base: type) -> Any:
    """Find a class by its name among what is loaded; None: it is not there, or of another base."""
    module, _, kind = name.rpartition(".")
    found = getattr(sys.modules.get(module), kind, None)
    return found if isinstance(found, type) and issubclass(found, base) else None


def _as_it_was(value: dict[str, Any]) -> Any:
    """Make named tuples and exceptions anew, without their class where that is not loaded or has changed."""
    if _FIELDS in value:
        name, fields, told = value[_FIELDS]
        kind = _class(name, tuple)
        as_now = getattr(kind, "_fields", None) == (*fields,)
        values = [tuple(one) if isinstance(one, list) else one for one in told]
        return (kind if as_now else namedtuple("Answer", fields))(*values)  # noqa: PYI024
    error: BaseException | None = None
    for name, arguments, attributes in reversed(value.get(_ERROR, [])):
        kind = _class(name, BaseException) or Exception
        cause, error = error, kind.__new__(kind, *arguments)
        vars(error).update(attributes)
        error.__cause__ = cause
    return error or value
