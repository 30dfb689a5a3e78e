"""What a server tells of its MBeans: their classes and their attributes."""

from __future__ import annotations

from stallwatch.sources.jmx.budget import LIST, TEXT, WIDE
from stallwatch.sources.jmx.serialization import Array, ProtocolError, Record
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

_PRIMITIVES = ("byte", "char", "double", "float", "int", "long", "short", "boolean")
_PRIMITIVE_NAMES = dict(zip("BCDFIJSZ", _PRIMITIVES, strict=True))


class Bean(NamedTuple):
    """A registered MBean: its object name and the class that implements it."""

    name: str
    class_name: str


class Attribute(NamedTuple):
    """What MBeanInfo tells of an attribute; ``type`` as it is written in Java. None: it was not told."""

    name: str
    type: str
    readable: bool
    writable: bool | None
    description: str = ""


def attributes_of(info: Any) -> list[Attribute]:
    """Read the attributes from an MBeanInfo, as the server orders them."""
    found = _fields(info).get("attributes")
    return [_attribute(_fields(one)) for one in found.items] if isinstance(found, Array) else []


def size_of(attribute: Attribute) -> int:
    """Tell how much memory is kept of it, in bytes."""
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


def is_of_class(info: Any) -> bool:
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
