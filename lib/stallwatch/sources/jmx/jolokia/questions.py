"""Questions to Jolokia's agent, many in one body, and its answers."""

from __future__ import annotations

import json
import re
import time

from stallwatch import withheld
from stallwatch.line import Forms, shorten
from stallwatch.sources.jmx.errors import UnreachableError, UnreadableError
from stallwatch.sources.jmx.jolokia.http import Agent, TooLongError, not_json, waited
from stallwatch.sources.jmx.jolokia.values import SpoiledError, parsed
from stallwatch.sources.jmx.wire import SilentError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.target import Target

    Wanted = Iterable[tuple[str, Sequence[str]]]  # beans, and attributes of each

_TOGETHER = 32 * 1024  # bytes of questions in one body; proxies may take no more than 1 MiB
_PARTS = 10  # into which questions are parted if one of them spoils or delays the answer
_PATIENCE = 3.0  # seconds for an answer until it is seen whether the agent answers anything
_PROOF = 0.5  # seconds for that
_MOST_OF = 0.8  # of the time that is left, for the last wait
_LONGEST = 4000  # bytes of an exception's message
SETTINGS = {"includeStackTrace": "false", "includeRequest": False, "canonicalNaming": False}
_OK, _DENIED = 200, 403  # as those of HTTP
_SECURITY = "SecurityException"
_SLOW = Forms(
    "check whether a getter hangs, or the JVM is in a long garbage collection, or swapping",
    "check whether a getter hangs",
)
POLICY_OF_BEAN = "take it out of <deny>, or add it to <allow>, in jolokia-access.xml"
# What all checks may ask; exec is for findDeadlockedThreads, which check_jmx_thread_pools can do without.
POLICY = Forms(
    "allow version, list, search and read in the agent's jolokia-access.xml", "allow it in jolokia-access.xml"
)
POLICY_OF_EXEC = "allow exec in the agent's jolokia-access.xml, for findDeadlockedThreads of Threading alone"


class Question(NamedTuple):
    """What is asked, and of what in words: ``name`` a bean, a pattern, or the agent; ``attribute`` or ""."""

    request: dict[str, Any]
    name: str
    attribute: str = ""


class RefusedError(Exception):
    """The agent's error for one question: the class of the exception, and its message."""

    def __init__(self, status: object, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind, self.text = status, kind, text

    @property
    def command(self) -> str:
        """Return the command that the agent's policy does not allow (words of 1.7.2 and 2.1.1), or ""."""
        found = re.match(r"Command type (\w+) (?:is )?not allowed", self.text)
        return found[1].lower() if found and self.is_policy else ""

    @property
    def is_policy(self) -> bool:
        """Whether the agent's policy forbids the question, whoever asks."""
        return self.status == _DENIED and self.kind.rpartition(".")[2] != _SECURITY

    def __str__(self) -> str:
        """Return what it is as over RMI: the innermost exception that is known, without its package."""
        kind, text = self.kind, self.text
        if kind.startswith("javax.management.Runtime") and text:  # it wraps another one, whose name is next
            kind, _, text = text.partition(": ")
        kind = kind.rpartition(".")[2]
        said = withheld.message(f"{self.kind}: {self.text}")  # before anything is cut off
        if said != withheld.WITHHELD:
            without = kind == "Exception" and text
            said = withheld.message(text if without else f"{kind}: {text}" if text else kind)
        said = shorten(said, _LONGEST)
        if self.status != _DENIED:
            return said
        return f"this user may not, {said}"


class Asking:
    """An agent that is asked. There is no log-in that lasts: every body has the password."""

    def __init__(self, target: Target, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self.where = target.where
        self._target = target
        self._deadline = deadline
        self._trace = trace
        self._agent = Agent(target, deadline)

    def close(self) -> None:
        """Hang up."""
        self._agent.close()

    def ask(self, questions: Sequence[Question], *, part: bool = False) -> list[Any]:
        """Ask questions in one body: answers in their order, RefusedError and UnreadableError among them.

        One that spoils the answer costs itself. One that hangs costs itself and, of many, those with which it
        is asked a second time, but no third one: each time it may keep a thread of the agent for ever. Of an
        agent that answers nothing else meanwhile, the answer is waited for: it may have a single thread.
        """
        if not questions:
            return []
        begun = time.monotonic()
        try:
            answers = self._answers(questions, alone=len(questions) == 1 and not part)
        except SilentError:
            if part or len(questions) == 1:
                within = say_duration(time.monotonic() - begun)
                return [UnreadableError(f"no answer within {within}") for _ in questions]
        except (SpoiledError, TooLongError) as error:
            if len(questions) == 1:
                long = isinstance(error, TooLongError)
                return [
                    UnreadableError("its JSON is too long" if long else f"as JSON it is not valid: {error}")
                ]
        else:
            spent = say_duration(time.monotonic() - begun)
            self._trace(f"asked {self.where} {plural(len(questions), 'question')} over HTTP, in {spent}")
            return answers
        few = -(-len(questions) // _PARTS)
        parts = [questions[start : start + few] for start in range(0, len(questions), few)]
        return [one for several in parts for one in self.ask(several, part=True)]

    def _answers(self, questions: Sequence[Question], *, alone: bool) -> list[Any]:
        """Ask and take the answers apart; raises SpoiledError, TooLongError, and SilentError as ``_post``."""
        octets = self._post(questions, alone=alone)
        if octets[:1] not in (b"[", b"{"):
            raise self._foreign(octets)
        told = parsed(octets)
        if isinstance(told, dict):
            if "status" not in told:
                raise self._foreign(octets)
            if len(questions) > 1:
                raise SpoiledError("the agent failed")
            told = [told]
        if len(told) != len(questions) or not all(isinstance(one, dict) for one in told):
            raise self._foreign(octets)
        self._agent.is_jolokia = True
        return [_answer(one) for one in told]

    def _foreign(self, octets: bytes) -> UnreachableError:
        return not_json(self.where, octets, before=self._agent.is_jolokia)

    def _post(self, questions: Sequence[Question], *, alone: bool) -> bytes:
        """Send questions; raises SilentError if the agent answers another one meanwhile, but not these.

        If it answers none, that is an UnreachableError in the end.
        """
        begun, left = time.monotonic(), self._deadline.left()
        end = self._deadline.part(max(left - _PROOF, _MOST_OF * left))
        body = json.dumps([one.request for one in questions]).encode()
        try:
            return self._agent.post(body, end, None if alone else min(left / 2, _PATIENCE))
        except SilentError:
            if not alone and self._answers_at_all():
                self._agent.close()
                raise
        try:
            return self._agent.answer(end)
        except SilentError:
            raise self._silent(questions, time.monotonic() - begun) from None

    def _answers_at_all(self) -> bool:
        """Whether the agent answers something simple over another connection."""
        other = Agent(self._target, self._deadline)
        try:
            other.post(b'[{"type":"version"}]', self._deadline.part(_PROOF))
        except (SilentError, TooLongError, UnreachableError):
            return False
        finally:
            other.close()
        return True

    def _silent(self, questions: Sequence[Question], seconds: float) -> UnreachableError:
        asked = listed([" of ".join(filter(None, (one.attribute, one.name))) for one in questions], 1)
        within = waited(seconds, self._deadline)
        return UnreachableError(
            f"{self.where} has not answered within {within}: asked for {asked}", _SLOW
        )


def reading(name: str, attribute: str, path: str = "") -> Question:
    """Ask for an attribute of a bean, or for the part of its value at ``path``."""
    inner = {"path": path} if path else {}
    request = {"type": "read", "mbean": name, "attribute": attribute, **inner, "config": SETTINGS}
    return Question(request, name, attribute)


def listing(name: str) -> Question:
    """Ask for the description of the attributes of a bean."""
    domain, _, properties = name.partition(":")
    steps = path(domain, properties, "attr")
    return Question({"type": "list", "path": steps, "config": SETTINGS}, name)


def path(*steps: str) -> str:
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
    if told.get("status") == _OK:
        return told.get("value")
    kind = str(told.get("error_type") or "an error")
    text = str(told.get("error") or "").removeprefix(kind).removeprefix(" : ")
    return RefusedError(told.get("status"), kind, text)
