"""Asking for the attributes of many beans: once a class, where the class says that this is enough."""

from __future__ import annotations

from stallwatch.sources.jmx import calls
from stallwatch.sources.jmx.errors import JmxError, UnreachableError
from stallwatch.sources.jmx.info import attributes_of, is_of_class, size_of
from stallwatch.sources.jmx.rmi import FAILURES
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.sources.jmx.info import Attribute, Bean
    from stallwatch.sources.jmx.pipeline import Pipeline
    from stallwatch.sources.jmx.session import Session

    Attributes = list[Attribute]


class Describing:
    """The attributes of one bean, on their way."""

    def __init__(self, session: Session, pipeline: Pipeline, bean: Bean, same: SameClass) -> None:
        self.result: Attributes | JmxError | None = same.attributes
        self._session = session
        self._pipeline = pipeline
        self._name = bean.name
        self._same = same
        if same.asked and not same.varies:
            same.waiting.append(self)  # in vain if the result is known already
        else:
            self.ask()

    @property
    def ready(self) -> bool:
        """Whether it has come."""
        return self.result is not None

    def ask(self) -> None:
        """Ask the server."""
        self._same.asked = True
        call = calls.get_mbean_info(self._session.connection, self._name)
        self._pipeline.ask(call, ("the attributes", self._name), self._answered)

    def _answered(self, answer: Any) -> None:
        try:
            if isinstance(answer, Exception):
                raise answer
            self.result = attributes_of(answer)
            self._session.kept.add(sum(map(size_of, self.result)))
            self._same.learn(self.result, immutable=is_of_class(answer))
        except FAILURES as failure:
            self.result = self._session.explained(failure, self._name, "")
            if isinstance(self.result, UnreachableError):
                raise self.result from None
            self._session.kept.error(self.result.what)
            self._same.first_failed()


class SameClass:
    """What is known of the beans of one class: those after the first wait for its answer."""

    def __init__(self) -> None:
        self.attributes: Attributes | None = None  # once they are known to be those of all its beans
        self.asked = False
        self.varies = False
        self.waiting: list[Describing] = []

    def learn(self, attributes: Attributes, *, immutable: bool) -> None:
        """Take what the first bean has; the others have the same if the class says so."""
        if immutable:
            self.attributes = attributes
        self.varies = not immutable
        waiting, self.waiting = self.waiting, []
        for other in waiting:
            if immutable:
                other.result = attributes
            else:
                other.ask()

    def first_failed(self) -> None:
        """Let another bean be the first: this one may have gone since its name was told."""
        if self.waiting:
            self.waiting.pop(0).ask()
        elif not self.varies:
            self.asked = False
