"""The attributes of MBeans: read once a class, where the class shows that this is enough."""

from __future__ import annotations

from stallwatch.sources.jmx import rmi
from stallwatch.sources.jmx.budget import LIST, TEXT, WIDE
from stallwatch.sources.jmx.serialization import Array, ProtocolError, Record
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.pipeline import Pipeline
    from stallwatch.sources.jmx.session import Session

_PRIMITIVES = ("byte", "char", "double", "float", "int", "long", "short", "boolean")
_PRIMITIVE_NAMES = dict(zip("BCDFIJSZ", _PRIMITIVES, strict=True))


class Bean(NamedTuple):
    """A registered MBean: its object name and the class that implements it."""

    name: str
    class_name: str


class Attribute(NamedTuple):
    """What MBeanInfo has of an attribute; ``type`` as it is written in Java. None: not known."""

    name: str
    type: str
    readable: bool
    writable: bool | None
    description: str = ""


class Describing:
    """The attributes of one bean, on their way."""

    def __init__(self, session: Session, pipeline: Pipeline, bean: Bean, same: SameClass) -> None:
        self.result: list[Attribute] | JmxError | None = same.attributes
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
        call = rmi.get_mbean_info(self._session.connection, self._name)
        self._pipeline.ask(call, ("the attributes", self._name), self._answered)

    def _answered(self, answer: Any) -> None:
        try:
            if isinstance(answer, Exception):
                raise answer
            self.result = attributes_of(answer)
            self._session.kept.add(sum(map(size, self.result)))
            self._same.learn(self.result, immutable=_is_of_class(answer))
        except rmi.FAILURES as failure:
            self.result = self._session.explained(failure, self._name, "")
            self._same.first_failed()


class SameClass:
    """What is known of the beans of one class: those after the first wait for its answer."""

    def __init__(self) -> None:
        self.attributes: list[Attribute] | None = None  # once they are known to be those of all its beans
        self.asked = False
        self.varies = False
        self.waiting: list[Describing] = []

    def learn(self, attributes: list[Attribute], *, immutable: bool) -> None:
        """Take what the first bean has; the others have the same if the class shows that."""
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
        """Let another bean be the first: this one may have gone since its name was read."""
        if self.waiting:
            self.waiting.pop(0).ask()
        elif not self.varies:
            self.asked = False


def attributes_of(info: Any) -> list[Attribute]:
    """Read the attributes from an MBeanInfo, as the server orders them."""
    found = _fields(info).get("attributes")
    return [_attribute(_fields(one)) for one in found.items] if isinstance(found, Array) else []


def size(attribute: Attribute) -> int:
    """Return how much memory is kept of it, in bytes."""
    letters = len(attribute.name) + len(attribute.type) + len(attribute.description)
    return LIST + 3 * TEXT + WIDE * letters


def _attribute(fields: dict[str, Any]) -> Attribute:
    return Attribute(
        name=str(fields.get("name")),
        type=type_name(str(fields.get("attributeType"))),
        readable=bool(fields.get("isRead")),
        writable=bool(fields.get("isWrite")),
        description=str(fields.get("description") or ""),
    )


def _fields(thing: Any) -> dict[str, Any]:
    if not isinstance(thing, Record):
        raise ProtocolError("no MBeanInfo")
    return thing.fields


def _is_of_class(info: Any) -> bool:
    """Whether all beans of this one's class have the same info, as standard MBeans have.

    Their interface is named after their class; a StandardMBean may show any interface of an object's class.
    MBeanInfo.writeObject adds the names and the values of its descriptor as two arrays (JDK 6 to 25).
    """
    match info.data.get("javax.management.MBeanInfo"):
        case [bytes(), Array() as names, Array() as values]:
            told = dict(zip(names.items, values.items, strict=False))
            interface = f"{_fields(info).get('className')}MBean"
            return told.get("immutableInfo") == "true" and told.get("interfaceClassName") == interface
    return False


def type_name(code: str) -> str:
    """Write ``[J`` as ``long[]``, ``[Ljava.lang.String;`` as ``java.lang.String[]``."""
    element = code.lstrip("[")
    depth = len(code) - len(element)
    if depth:
        element = _PRIMITIVE_NAMES.get(element) or element.removeprefix("L").removesuffix(";")
    return element + "[]" * depth
