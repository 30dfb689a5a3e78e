"""A JMX client in Python: it asks a JVM for its MBeans over RMI, without a JVM of its own."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from stallwatch.sources.jmx import rmi
from stallwatch.sources.jmx.budget import DICT, ENTRY, LIST
from stallwatch.sources.jmx.errors import JmxError, NoSuchBeanError, UnreadableError
from stallwatch.sources.jmx.pipeline import Pipeline, in_order
from stallwatch.sources.jmx.session import Session
from stallwatch.sources.jmx.values import field, members, plain
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Self

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.info import Attribute, Bean
    from stallwatch.sources.jmx.target import Target
    from stallwatch.sources.jmx.values import Values

    Wanted = Iterable[tuple[str, Sequence[str]]]

_THREADING = "java.lang:type=Threading"


class Client:
    """A log-in at one JVM. Close it, or use it in a ``with`` statement: the server keeps a thread for it."""

    def __init__(self, target: Target, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self.where = target.where
        self._session = Session(target, deadline, trace)
        self._pipeline = Pipeline(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Log out."""
        self._session.close()

    def domains(self) -> list[str]:
        """Give the domains of all beans, sorted."""
        found = plain(self._one(rmi.get_domains(self._session.connection), "its domains"))
        return sorted(map(str, found)) if isinstance(found, list) else []

    def names_ahead(self, wanted: Wanted) -> None:
        """Take notice of the patterns, and of the attributes their beans will be asked for: of no use here.

        Through jmxquery, where every question starts a JVM, all of them become one question.
        """

    def names(self, pattern: str = "*:*") -> list[str]:
        """Give the object names that match, sorted."""
        found = self._one(rmi.query_names(self._session.connection, pattern), f"the MBeans {pattern}")
        names = sorted(str(plain(name)) for name in members(found))
        for name in names:
            self._session.kept.name(name)
        return names

    def beans(self, pattern: str = "*:*") -> list[Bean]:
        """Give the object names that match and their classes, sorted by name."""
        from stallwatch.sources.jmx.info import Bean

        found = self._one(rmi.query_mbeans(self._session.connection, pattern), f"the MBeans {pattern}")
        keep = self._session.kept.add
        keep(LIST * len(members(found)))
        return sorted(
            Bean(str(plain(field(one, "name"), keep)), str(field(one, "className"))) for one in members(found)
        )

    def passing(self) -> AbstractContextManager[Callable[[int], None]]:
        """Keep nothing of what is read within except the bytes that the function gets."""
        return self._session.kept.passing()

    def read(self, wanted: Wanted) -> Iterator[Values | JmxError]:
        """Give the values of attributes, pair for pair of bean and attributes, in the order asked.

        Each is a dict of all attributes asked for, where an error stands for a value that cannot be had,
        or the error that there is no such bean.
        """
        asked = (_Reading(self._session, self._pipeline, name, attributes) for name, attributes in wanted)
        return (reading.result for reading in in_order(self._pipeline, asked))

    def describe(self, found: Iterable[Bean]) -> Iterator[list[Attribute] | JmxError]:
        """Give the attributes of beans, in the order asked; asks once a class where that is enough."""
        from stallwatch.sources.jmx.info import Describing, SameClass

        classes: defaultdict[str, SameClass] = defaultdict(SameClass)
        asked = (Describing(self._session, self._pipeline, bean, classes[bean.class_name]) for bean in found)
        return (describing.result for describing in in_order(self._pipeline, asked))

    def deadlocked_threads(self) -> list[int]:
        """Give the ids of the threads that wait for each other for ever; invokes findDeadlockedThreads.

        A read-only role may not: UnreadableError.
        """
        call = rmi.find_deadlocked_threads(self._session.connection)
        found = plain(self._one(call, _THREADING, "findDeadlockedThreads"))
        return [number for number in found if isinstance(number, int)] if isinstance(found, list) else []

    def _one(self, call: bytes, name: str, what: str = "") -> Any:
        """Make one call about what has this name; a failure is that of an attribute, if ``what`` is one."""
        answers: list[Any] = []
        self._pipeline.ask(call, (what, name) if what else (name,), answers.append)
        while not answers:
            self._pipeline.step()
        if isinstance(answers[0], Exception):
            raise self._session.explained(answers[0], name, what)
        return answers[0]


class _Reading:
    """Some attributes of one bean, on their way."""

    def __init__(self, session: Session, pipeline: Pipeline, name: str, attributes: Sequence[str]) -> None:
        self._session = session
        self._pipeline = pipeline
        self._name = name
        self._attributes = attributes
        self._values: Values = {}
        session.kept.add(LIST + DICT + ENTRY * len(attributes))
        self._error: JmxError | None = None
        if len(attributes) == 1:
            self._ask_each(attributes)
        elif attributes:
            call = rmi.get_attributes(session.connection, name, attributes)
            pipeline.ask(call, (name,), self._several, several=True)

    @property
    def ready(self) -> bool:
        """Whether all has come."""
        return self._error is not None or len(self._values) == len(set(self._attributes))

    @property
    def result(self) -> Values | JmxError:
        """What has come."""
        return self._error or {attribute: self._values[attribute] for attribute in self._attributes}

    def _several(self, answer: Any) -> None:
        """Take an AttributeList. What is not in it, or all if one spoiled it, is asked for one by one."""
        if isinstance(answer, Exception):
            if isinstance(error := self._session.explained(answer, self._name, ""), NoSuchBeanError):
                self._error = error
                return
        else:
            for one in members(answer):
                if (name := field(one, "name")) in self._attributes:
                    self._take(name, field(one, "value"))
        self._ask_each([attribute for attribute in self._attributes if attribute not in self._values])

    def _ask_each(self, attributes: Sequence[str]) -> None:
        for attribute in attributes:
            call = rmi.get_attribute(self._session.connection, self._name, attribute)
            about = (attribute, self._name)
            self._pipeline.ask(call, about, partial(self._take, attribute))

    def _take(self, attribute: str, answer: Any) -> None:
        try:
            if isinstance(answer, Exception):
                raise answer
            self._values[attribute] = plain(answer, self._session.kept.add)
        except (*rmi.FAILURES, UnreadableError) as failure:
            why = self._session.explained(failure, self._name, attribute)
            if isinstance(why, NoSuchBeanError):
                self._error = why
            else:
                self._values[attribute] = why
