"""A JMX client over HTTP: Jolokia's agent in the JVM is asked in JSON.

Its protocols are 7.2 and 8.0, those of the agents 1.7.2 and 2.1.1.

It has the methods of ``jmx.client.Client``. What the agents do otherwise than RMI does:

- NaN and infinite numbers are null, also within lists and maps;
- an object of a class that they do not know is the result of its toString();
- a value that they cannot write as JSON (2.1.1: a text with an escape character, a null as the key of a map)
  spoils the answer to all that was asked with it: that is asked again in parts;
- an agent in a JVM of its own answers one request at a time by default ("executor"), so that a
  getter that hangs is the end of all answers. One with several threads loses one to each.
"""

from __future__ import annotations

import json
import re

from stallwatch import withheld
from stallwatch.sources.jmx.budget import DICT, ENTRY, LIST, TEXT, Kept
from stallwatch.sources.jmx.errors import (
    ForbiddenError,
    JmxError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreadableError,
)
from stallwatch.sources.jmx.info import Attribute, Bean, size, type_name
from stallwatch.sources.jmx.jolokia.http import forbidden, not_json
from stallwatch.sources.jmx.jolokia.questions import (
    POLICY,
    POLICY_OF_BEAN,
    POLICY_OF_EXEC,
    SETTINGS,
    Asking,
    Question,
    RefusedError,
    batches,
    listing,
    path,
    reading,
)
from stallwatch.sources.jmx.jolokia.values import must_be_all, plain
from stallwatch.sources.jmx.object_name import ObjectName, understood
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Self

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.jolokia.questions import Wanted
    from stallwatch.sources.jmx.target import Target
    from stallwatch.sources.jmx.values import Values

_THREADING = "java.lang:type=Threading"
_DATE = re.compile(r"[+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)")
_NO_BEAN, _NO_ATTRIBUTE, _WRITE_ONLY = "InstanceNotFoundException", "AttributeNotFoundException", "Write-only"


class Client:
    """Asks one agent. There is no log-in that lasts: every request has the password."""

    def __init__(self, target: Target, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self.where = target.where
        self._deadline = deadline
        self._trace = trace
        self._asking = Asking(target, deadline, trace)
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
        self._asking.close()

    def _greet(self) -> None:
        """See that it is Jolokia, which may keep its version to itself, and what it does not send."""
        (told,) = self._asking.ask([Question({"type": "version"}, "its version")])
        if isinstance(told, UnreadableError):
            raise not_json(self.where, told.what.encode())
        if isinstance(told, RefusedError):
            if told.is_policy and not told.command:
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
        if not isinstance(found, list) or not all(isinstance(one, str) and ":" in one for one in found):
            raise UnreadableError(f"the MBeans {pattern} cannot be read: no list of names came")
        self._must_be_all(found, f"the MBeans {pattern}")
        names = sorted(found)
        for name in names:
            self._kept.name(name)
        return names

    def beans(self, pattern: str = "*:*") -> list[Bean]:
        """Give the object names that match and their classes, sorted by name."""
        wanted = ObjectName.parse(pattern)
        request: dict[str, Any] = {"type": "list", "config": {"maxDepth": 3}}
        if one_domain := not ObjectName(wanted.domain, {}).is_pattern:
            request = {"type": "list", "path": path(wanted.domain), "config": {"maxDepth": 2}}
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
        """Keep nothing of what is read within except the bytes that the function gets."""
        return self._kept.passing()

    def read(self, wanted: Wanted) -> Iterator[Values | JmxError]:
        """Give the values of attributes, as ``jmx.client.Client.read`` does."""
        for several in batches(wanted):
            yield from self._values(several)

    def describe(self, found: Iterable[Bean]) -> Iterator[list[Attribute] | JmxError]:
        """Give the attributes of beans, in the order asked, sorted by name."""
        for several in batches((bean.name, ("",)) for bean in found):
            questions = [listing(name) for name, _ in several]
            for (name, _), told in zip(several, self._asking.ask(questions), strict=True):
                if isinstance(told, RefusedError | UnreadableError):
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
        told = dict(zip(asked, self._asking.ask([reading(*one) for one in asked]), strict=True))
        dates = [one for one in asked if isinstance(told[one], str) and _DATE.fullmatch(told[one])]
        if dates:  # the agent leaves out what is less than a second; only of a date it has the time
            times = self._asking.ask([reading(*one, path="time") for one in dates])
            told |= {one: _moment(at) for one, at in zip(dates, times, strict=True) if type(at) is int}
        for name, attributes in several:
            self._kept.add(LIST + DICT + ENTRY * len(attributes))
            values: Values = {one: self._value(told[name, one], name, one) for one in attributes}
            gone = [one for one in values.values() if isinstance(one, NoSuchBeanError)]
            yield gone[0] if gone else values

    def _value(self, told: Any, name: str, attribute: str) -> Any:
        try:
            if isinstance(told, RefusedError | UnreadableError):
                raise told
            return plain(told, self._most, self._kept.add)
        except (RefusedError, UnreadableError) as failure:
            return self._explained(failure, name, attribute)

    def _must_be_all(self, told: list[Any] | dict[str, Any], name: str) -> None:
        try:
            must_be_all(told, self._most)
        except UnreadableError as error:
            raise self._explained(error, name, "") from None

    def _one(self, request: dict[str, Any], name: str, attribute: str = "") -> Any:
        """Ask one question; a failure is that of an attribute, if there is one."""
        request["config"] = SETTINGS | request.get("config", {})
        (told,) = self._asking.ask([Question(request, name, attribute)])
        if isinstance(told, RefusedError | UnreadableError):
            raise self._explained(told, name, attribute)
        return told

    def _explained(self, failure: RefusedError | UnreadableError, name: str, attribute: str) -> JmxError:
        """Return why an attribute, or what else was asked of a bean, cannot be had."""
        subject = f"{attribute} of {name}" if attribute else name
        if isinstance(failure, UnreadableError):
            error: JmxError = UnreadableError(f"{subject} cannot be read: {failure.what}")
        else:
            error = self._refused(failure, subject, name, attribute)
        self._kept.error(error.what)
        return error

    def _refused(self, failure: RefusedError, subject: str, name: str, attribute: str) -> JmxError:
        if command := failure.command:
            what = f"the policy of Jolokia at {self.where} does not allow the command {command}"
            return UnreadableError(what, POLICY_OF_EXEC if command == "exec" else POLICY)
        kind = failure.kind.rpartition(".")[2]
        if kind == _NO_BEAN or failure.text.startswith("No MBean "):
            return NoSuchBeanError(f"there is no MBean {name} at {self.where}")
        if kind == _NO_ATTRIBUTE and not failure.text.startswith(_WRITE_ONLY):
            return NoSuchAttributeError(f"{name} has no attribute {attribute}")
        if failure.is_policy:
            return ForbiddenError(f"Jolokia's policy forbids {subject}", POLICY_OF_BEAN)
        return UnreadableError(f"{subject} cannot be read: {failure}")


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
