"""A JMX client over HTTP: Jolokia's agent in the JVM is asked in JSON.

Its protocols are 7.2 and 8.0, those of the agents 1.7.2 and 2.1.1.

It has the methods of ``client.Client``. What the agents do otherwise than RMI does:

- NaN and infinite numbers are null, also within lists and maps;
- an object of a class that they do not know is what its toString() gives;
- a value that they cannot write as JSON (2.1.1: a text with an escape character, a null as the key of a map)
  spoils the answer to all that was asked with it: that is asked again in parts;
- an agent in a JVM of its own answers one request at a time unless told otherwise ("executor"), so that a
  getter that hangs is the end of all answers. One with several threads loses one to each.
"""

from __future__ import annotations

import json
import re
import time

from stallwatch import withheld
from stallwatch.line import shorten
from stallwatch.sources.jmx.budget import DICT, ENTRY, LIST, TEXT, Kept
from stallwatch.sources.jmx.errors import (
    JmxError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreachableError,
    UnreadableError,
)
from stallwatch.sources.jmx.info import Attribute, Bean, size, type_name
from stallwatch.sources.jmx.jolokia.http import Agent, TooLongError, forbidden, not_json
from stallwatch.sources.jmx.jolokia.values import SpoiledError, must_be_all, parsed, plain
from stallwatch.sources.jmx.object_name import ObjectName, understood
from stallwatch.sources.jmx.wire import SilentError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Self

    from stallwatch.frame.deadline import Deadline
    from stallwatch.sources.jmx.target import Target
    from stallwatch.sources.jmx.values import Values

    Wanted = Iterable[tuple[str, Sequence[str]]]

_THREADING = "java.lang:type=Threading"
_TOGETHER = 32 * 1024  # bytes of questions in one body; proxies may take no more than 1 MiB
_PARTS = 10  # into which questions are parted if one of them spoils or delays the answer
_PATIENCE = 3.0  # seconds for an answer while other questions wait
_PROOF = 0.5  # seconds to see whether the agent answers at all
_MOST_OF = 0.8  # of the time that is left, for a question that has no other beside it
_LONGEST = 4000  # bytes of what an exception says
_SETTINGS = {"includeStackTrace": "false", "includeRequest": False, "canonicalNaming": False}
_DATE = re.compile(r"[+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)")
_DENIED = 403
_SECURITY = "SecurityException"
_NO_BEAN, _NO_ATTRIBUTE, _WRITE_ONLY = "InstanceNotFoundException", "AttributeNotFoundException", "Write-only"
_SLOW = "check whether a getter hangs, or the JVM is in a long garbage collection, or swapping"


class _Question(NamedTuple):
    """What is asked, and of what in words: ``name`` a bean, a pattern, or the agent; ``attribute`` or ""."""

    request: dict[str, Any]
    name: str
    attribute: str = ""


class _RefusedError(Exception):
    """The agent's error for one question: the class of the exception, and what it says."""

    def __init__(self, status: object, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind, self.text = status, kind, text


class Client:
    """Asks one agent. There is no log-in that lasts: every request has the password."""

    def __init__(self, target: Target, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self.where = target.where
        self._deadline = deadline
        self._trace = trace
        self._agent = Agent(target)
        self._kept = Kept(target.where)
        self._lists: dict[tuple[Attribute, ...], list[Attribute]] = {}
        self._most = 0  # items that it sends of a list or a map; 0: all
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._agent.close()

    def _greet(self) -> None:
        """See that it is Jolokia, which may keep its version to itself, and what it does not send."""
        (told,) = self._ask([_Question({"type": "version"}, "its version")])
        if isinstance(told, UnreadableError):
            raise not_json(self.where, told.what.encode())
        if isinstance(told, _RefusedError):
            if told.status == _DENIED and not told.text.startswith("Command type"):
                raise forbidden(self.where, withheld.message(told.text))
            self._trace(f"{self.where} does not show its version: {withheld.message(told.text)}")
            return
        about = _map(told)
        if "protocol" not in about:
            raise not_json(self.where, json.dumps(told).encode())
        most = str(_map(about.get("config")).get("maxCollectionSize", ""))
        self._most = int(most) if re.fullmatch("[0-9]{1,9}", most) else 0
        version = withheld.data(f"{about.get('agent')}, protocol {about['protocol']}")
        self._trace(f"{self.where} is Jolokia {version}")

    def domains(self) -> list[str]:
        """Give the domains of all beans, sorted."""
        found = _map(self._one({"type": "list", "config": {"maxDepth": 1}}, "its domains"))
        self._must_be_all(found, "its domains")
        return sorted(found)

    def names_ahead(self, wanted: Wanted) -> None:
        """Take notice of patterns, and of the attributes their beans will be asked for: of no use here."""

    def names(self, pattern: str = "*:*") -> list[str]:
        """Give the object names that match, sorted."""
        found = self._one({"type": "search", "mbean": pattern}, f"the MBeans {pattern}")
        if not isinstance(found, list):
            raise UnreadableError(f"the MBeans {pattern} cannot be read: no list of names came")
        self._must_be_all(found, f"the MBeans {pattern}")
        names = sorted(map(str, found))
        for name in names:
            self._kept.name(name)
        return names

    def beans(self, pattern: str = "*:*") -> list[Bean]:
        """Give the object names that match and their classes, sorted by name."""
        wanted = ObjectName.parse(pattern)
        request: dict[str, Any] = {"type": "list", "config": {"maxDepth": 3}}
        if one_domain := not ObjectName(wanted.domain, {}).is_pattern:
            request = {"type": "list", "path": _path(wanted.domain), "config": {"maxDepth": 2}}
        try:
            found = _map(self._one(request, f"the MBeans {pattern}"))
        except NoSuchBeanError:  # there is no such domain
            return []
        domains = {wanted.domain: found} if one_domain else found
        for some in (found, *domains.values()):
            self._must_be_all(_map(some), f"the MBeans {pattern}")
        told = {
            f"{domain}:{properties}": _map(about).get("class")
            for domain, beans in domains.items()
            for properties, about in _map(beans).items()
        }
        chosen = [name for name, one in zip(told, understood(told), strict=True) if wanted.matches(one)]
        self._kept.add(sum(LIST + 2 * TEXT + len(name) + len(str(told[name])) for name in chosen))
        return sorted(Bean(name, str(told[name] or "")) for name in chosen)

    def passing(self) -> AbstractContextManager[Callable[[int], None]]:
        """Keep nothing of what is read within but for the bytes that the function is told."""
        return self._kept.passing()

    def read(self, wanted: Wanted) -> Iterator[Values | JmxError]:
        """Give the values of attributes, as ``client.Client.read`` does."""
        for several in _batches(wanted):
            yield from self._values(several)

    def describe(self, found: Iterable[Bean]) -> Iterator[list[Attribute] | JmxError]:
        """Give the attributes of beans, in the order asked, sorted by name."""
        for several in _batches((bean.name, ("",)) for bean in found):
            questions = [_Question(_listing(name), name) for name, _ in several]
            for (name, _), told in zip(several, self._ask(questions), strict=True):
                if isinstance(told, Exception):
                    yield self._explained(told, name, "")
                    continue
                attributes = [_attribute(one, _map(about)) for one, about in sorted(_map(told).items())]
                yield self._shared(attributes)

    def _shared(self, attributes: list[Attribute]) -> list[Attribute]:
        """Give the same list for the same attributes: thousands of beans have those of a few classes."""
        known = self._lists.setdefault(tuple(attributes), attributes)
        if known is attributes:
            self._kept.add(sum(map(size, attributes)))
        return known

    def deadlocked_threads(self) -> list[int]:
        """Give the ids of the threads that wait for each other for ever; invokes findDeadlockedThreads.

        The agent's policy may forbid that: UnreadableError.
        """
        operation = "findDeadlockedThreads"
        request = {"type": "exec", "mbean": _THREADING, "operation": operation}
        found = self._one(request, _THREADING, operation)
        if found is None:
            return []
        if not isinstance(found, list) or any(type(one) is not int for one in found):
            raise UnreadableError(f"{operation} of {_THREADING} cannot be read: no list of numbers came")
        return found

    def _values(self, several: list[tuple[str, Sequence[str]]]) -> Iterator[Values | JmxError]:
        asked = list(dict.fromkeys((name, one) for name, attributes in several for one in attributes))
        told = dict(zip(asked, self._ask([_reading(*one) for one in asked]), strict=True))
        dates = [one for one in asked if isinstance(told[one], str) and _DATE.fullmatch(told[one])]
        if dates:  # the agent leaves out what is less than a second; only of a date it has the time
            times = self._ask([_reading(*one, path="time") for one in dates])
            told |= {one: _moment(at) for one, at in zip(dates, times, strict=True) if type(at) is int}
        for name, attributes in several:
            self._kept.add(LIST + DICT + ENTRY * len(attributes))
            values: Values = {one: self._value(told[name, one], name, one) for one in attributes}
            gone = [one for one in values.values() if isinstance(one, NoSuchBeanError)]
            yield gone[0] if gone else values

    def _value(self, told: Any, name: str, attribute: str) -> Any:
        try:
            if isinstance(told, Exception):
                raise told
            return plain(told, self._most, self._kept.add)
        except (_RefusedError, UnreadableError) as failure:
            return self._explained(failure, name, attribute)

    def _must_be_all(self, told: list[Any] | dict[str, Any], name: str) -> None:
        try:
            must_be_all(told, self._most)
        except UnreadableError as error:
            raise self._explained(error, name, "") from None

    def _one(self, request: dict[str, Any], name: str, attribute: str = "") -> Any:
        """Ask one question; a failure is that of an attribute, if there is one."""
        request["config"] = _SETTINGS | request.get("config", {})
        (told,) = self._ask([_Question(request, name, attribute)])
        if isinstance(told, Exception):
            raise self._explained(told, name, attribute)
        return told

    def _ask(self, questions: Sequence[_Question], *, part: bool = False) -> list[Any]:
        """Ask questions in one body: answers in their order, _RefusedError and UnreadableError among them.

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
        return [one for several in parts for one in self._ask(several, part=True)]

    def _answers(self, questions: Sequence[_Question], *, alone: bool) -> list[Any]:
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

    def _silent(self, questions: Sequence[_Question], waited: float) -> UnreachableError:
        first = " of ".join(filter(None, (questions[0].attribute, questions[0].name)))
        more = f" and {len(questions) - 1} more" if len(questions) > 1 else ""
        whole = self._deadline.seconds
        within = say_duration(whole if waited > whole / 2 else round(waited, 1))
        return UnreachableError(
            f"{self.where} has not answered within {within}: asked for {first}{more}", _SLOW
        )

    def _explained(self, failure: Exception, name: str, attribute: str) -> JmxError:
        """Return why an attribute, or what else was asked of a bean, cannot be had."""
        subject = f"{attribute} of {name}" if attribute else name
        error: JmxError = UnreadableError(f"{subject} cannot be read: {_reason(failure)}")
        if isinstance(failure, _RefusedError):
            kind = failure.kind.rpartition(".")[2]
            if failure.status == _DENIED and kind != _SECURITY:
                error.advice = "allow it in the agent's jolokia-access.xml"
            if kind == _NO_BEAN or failure.text.startswith("No MBean "):
                error = NoSuchBeanError(f"there is no MBean {name} at {self.where}")
            elif kind == _NO_ATTRIBUTE and not failure.text.startswith(_WRITE_ONLY):
                error = NoSuchAttributeError(f"{name} has no attribute {attribute}")
        self._kept.error(error.what)
        return error


def _reading(name: str, attribute: str, path: str = "") -> _Question:
    inner = {"path": path} if path else {}
    request = {"type": "read", "mbean": name, "attribute": attribute, **inner, "config": _SETTINGS}
    return _Question(request, name, attribute)


def _listing(name: str) -> dict[str, Any]:
    domain, _, properties = name.partition(":")
    return {"type": "list", "path": _path(domain, properties, "attr"), "config": _SETTINGS}


def _path(*steps: str) -> str:
    """Write a path into what is listed: ``!`` stands before what would end a step."""
    return "/".join(step.replace("!", "!!").replace("/", "!/") for step in steps)


def _batches(wanted: Wanted) -> Iterator[list[tuple[str, Sequence[str]]]]:
    """Part beans with attributes so that the questions for them fit into one body."""
    several: list[tuple[str, Sequence[str]]] = []
    filled = 0
    for name, attributes in wanted:
        several.append((name, attributes))
        filled += sum(len(json.dumps(_reading(name, one).request)) for one in attributes)
        if filled > _TOGETHER:
            yield several
            several, filled = [], 0
    if several:
        yield several


def _answer(told: dict[str, Any]) -> Any:
    """Give the value of an answer, or _RefusedError."""
    if told.get("status") == 200:  # noqa: PLR2004 - as that of HTTP
        return told.get("value")
    kind = str(told.get("error_type") or "an error")
    text = str(told.get("error") or "").removeprefix(kind).removeprefix(" : ")
    return _RefusedError(told.get("status"), kind, text)


def _reason(failure: Exception) -> str:
    """Return what an exception is as over RMI: the innermost that is known, without its package."""
    if not isinstance(failure, _RefusedError):
        return str(getattr(failure, "what", failure))
    kind, text = failure.kind, failure.text
    if kind.startswith("javax.management.Runtime") and text:  # it wraps another one, whose name comes next
        kind, _, text = text.partition(": ")
    kind = kind.rpartition(".")[2]
    said = withheld.message(f"{failure.kind}: {failure.text}")  # before anything is cut off
    if said != withheld.WITHHELD:
        said = withheld.message(f"{kind}: {text}" if text else kind)
    said = shorten(said, _LONGEST)
    if failure.status != _DENIED:
        return said
    return f"this user may not, {said}" if kind == _SECURITY else f"the agent's policy forbids it, {said}"


def _attribute(name: str, about: dict[str, Any]) -> Attribute:
    description = str(about.get("desc") or "")
    writable = about.get("rw") in (True, "true")
    return Attribute(name, type_name(str(about.get("type"))), True, writable, description)  # noqa: FBT003


def _moment(milliseconds: int) -> str:
    from stallwatch.sources.jmx.moments import iso

    return iso(milliseconds // 1000, milliseconds % 1000 * 1_000_000)


def _map(told: Any) -> dict[str, Any]:
    """Give a part of an answer that is a map; an empty one for what is none."""
    return told if isinstance(told, dict) else {}
