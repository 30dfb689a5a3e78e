"""What garbage collectors count as time: pauses, and work beside the application that stops nobody."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.jmx.model import Quantity
    from stallwatch.sources.jmx.object_name import ObjectName

_PAUSES, _CONCURRENT = " Pauses", " Cycles"


def summed(quantity: Quantity, names: Sequence[ObjectName]) -> Sequence[ObjectName]:
    """Return the beans that a quantity is of: a sum of CollectionTime leaves concurrent work out.

    ZGC (JDK 17 and later) and Shenandoah count that in "... Cycles", and what stops the application in
    "... Pauses". Where all beans are of the same kind, all are meant.
    """
    if quantity.aggregate != "sum" or quantity.attribute != "CollectionTime":
        return names
    called = [name.properties.get("name", "") for name in names]
    if not any(one.endswith(_PAUSES) for one in called):
        return names
    return [name for name, one in zip(names, called, strict=True) if not one.endswith(_CONCURRENT)]
