"""What is asked of an agent, many questions in one body, and the answers in their order."""

from __future__ import annotations

import json
import time

from stallwatch.sources.jmx.errors import UnreachableError, UnreadableError
from stallwatch.sources.jmx.jolokia.http import Agent, TooLongError, not_json
from stallwatch.sources.jmx.jolokia.values import SpoiledError, parsed
from stallwatch.sources.jmx.wire import SilentError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.frame.deadline import Deadline
    from stallwatch.sources.jmx.target import Target

    Wanted = Iterable[tuple[str, Sequence[str]]]

_TOGETHER = 32 * 1024  # bytes of questions in one body; proxies may take no more than 1 MiB
_PARTS = 10  # into which questions are parted if one of them spoils or delays the answer
_PATIENCE = 3.0  # seconds for an answer while other questions wait
_PROOF = 0.5  # seconds to see whether the agent answers at all
_MOST_OF = 0.8  # of the time that is left, for a question that has no other beside it
SETTINGS = {"includeStackTrace": "false", "includeRequest": False, "canonicalNaming": False}
_SLOW = "check whether a getter hangs, or the JVM is in a long garbage collection, or swapping"


class Question(NamedTuple):
    """What is asked, and of what in words: ``name`` a bean, a pattern, or the agent; ``attribute`` or ""."""

    request: dict[str, Any]
    name: str
    attribute: str = ""


class RefusedError(Exception):
    """The agent's error for one question: the class of the exception, and what it says."""

    def __init__(self, status: object, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind, self.text = status, kind, text


class Asking:
    """Asks one agent."""

    def __init__(self, target: Target, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self.where = target.where
        self._deadline = deadline
        self._trace = trace
        self._agent = Agent(target)

    def close(self) -> None:
        """Hang up."""
        self._agent.close()

    def ask(self, questions: Sequence[Question], *, part: bool = False) -> list[Any]:
        """Ask questions in one body: answers in their order, RefusedError and UnreadableError among them.

        One that spoils the answer costs itself. One that hangs costs itself and, of many, those with which it
        is asked a second time, but no third one: each time it may keep a thread of the agent for ever.
        """
        if not questions:
            return []
        begun = time.monotonic()
        alone = len(questions) == 1 and not part
        try:
            answers = self._answers(questions, alone=alone)
        except SilentError:
            if alone or not self._answers_at_all():
                raise self._silent(questions, time.monotonic() - begun) from None
            if part or len(questions) == 1:
                waited = say_duration(time.monotonic() - begun)
                return [UnreadableError(f"no answer within {waited}") for _ in questions]
        except (SpoiledError, TooLongError) as error:
            if len(questions) == 1:
                long = isinstance(error, TooLongError)
                return [
                    UnreadableError("its JSON is too long" if long else f"as JSON it is not valid: {error}")
                ]
        else:
            spent = say_duration(time.monotonic() - begun)
            self._trace(f"asked {self.where} {len(questions)} questions over HTTP, in {spent}")
            return answers
        few = -(-len(questions) // _PARTS)
        parts = [questions[start : start + few] for start in range(0, len(questions), few)]
        return [one for several in parts for one in self.ask(several, part=True)]

    def _answers(self, questions: Sequence[Question], *, alone: bool) -> list[Any]:
        """Send questions and take the answers apart; raises SilentError, SpoiledError, TooLongError."""
        left = self._deadline.left()
        wait = max(left - _PROOF, _MOST_OF * left) if alone else min(left / 2, _PATIENCE)
        body = json.dumps([one.request for one in questions]).encode()
        octets = self._agent.post(body, self._deadline.part(wait))
        if octets[:1] not in (b"[", b"{"):
            raise not_json(self.where, octets)
        told = parsed(octets)
        if isinstance(told, dict):
            if "status" not in told:
                raise not_json(self.where, octets)
            if len(questions) > 1:
                raise SpoiledError("the agent failed")
            told = [told]
        if len(told) != len(questions) or not all(isinstance(one, dict) for one in told):
            raise not_json(self.where, octets)
        return [_answer(one) for one in told]

    def _answers_at_all(self) -> bool:
        """Whether the agent answers something simple."""
        try:
            self._agent.post(b'[{"type":"version"}]', self._deadline.part(_PROOF))
        except (SilentError, TooLongError, UnreachableError):
            return False
        return True

    def _silent(self, questions: Sequence[Question], waited: float) -> UnreachableError:
        first = " of ".join(filter(None, (questions[0].attribute, questions[0].name)))
        more = f" and {len(questions) - 1} more" if len(questions) > 1 else ""
        whole = self._deadline.seconds
        within = say_duration(whole if waited > whole / 2 else round(waited, 1))
        return UnreachableError(
            f"{self.where} has not answered within {within}: asked for {first}{more}", _SLOW
        )


def reading(name: str, attribute: str, path: str = "") -> Question:
    """Ask for an attribute, or with ``path`` for a part of it."""
    inner = {"path": path} if path else {}
    request = {"type": "read", "mbean": name, "attribute": attribute, **inner, "config": SETTINGS}
    return Question(request, name, attribute)


def listing(name: str) -> dict[str, Any]:
    """Ask for the attributes of a bean."""
    domain, _, properties = name.partition(":")
    return {"type": "list", "path": path_of(domain, properties, "attr"), "config": SETTINGS}


def path_of(*steps: str) -> str:
    """Write a path into what is listed: ``!`` stands before what would end a step."""
    return "/".join(step.replace("!", "!!").replace("/", "!/") for step in steps)


def batches(wanted: Wanted) -> Iterator[list[tuple[str, Sequence[str]]]]:
    """Part beans with attributes so that the questions for them fit into one body."""
    several: list[tuple[str, Sequence[str]]] = []
    filled = 0
    for name, attributes in wanted:
        several.append((name, attributes))
        filled += sum(len(json.dumps(reading(name, one).request)) for one in attributes)
        if filled > _TOGETHER:
            yield several
            several, filled = [], 0
    if several:
        yield several


def _answer(told: dict[str, Any]) -> Any:
    """Give the value of an answer, or RefusedError."""
    if told.get("status") == 200:  # noqa: PLR2004 - as that of HTTP
        return told.get("value")
    kind = str(told.get("error_type") or "an error")
    text = str(told.get("error") or "").removeprefix(kind).removeprefix(" : ")
    return RefusedError(told.get("status"), kind, text)
