"""The values of attributes, all that are known beforehand asked for at once."""

from __future__ import annotations

from stallwatch.sources.jmx.errors import JmxError, NoSuchAttributeError
from stallwatch.sources.jmx.object_name import understood
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.sources.jmx.values import Value

# Beans of a pattern from which on it pays to ask for their attributes first, which are those of few classes:
# an attribute that is not there is answered with 1 kB of stack trace (Cassandra 5: 5 s of CPU for all beans).
_MANY = 100


class Reader:
    """Reads from a server, each thing once."""

    def __init__(self, server: Server, trace: Callable[[str], None]) -> None:
        self.server = server
        self._trace = trace
        self._names: dict[str, list[ObjectName]] = {}
        self._attributes: dict[str, frozenset[str]] = {}  # of beans for which it was asked
        self._known: dict[tuple[str, str], Value | JmxError] = {}

    def names(self, asked: ObjectName) -> list[ObjectName]:
        """Return the name itself, or those that match a pattern."""
        if not asked.is_pattern:
            return [asked]
        pattern = str(asked)
        if pattern not in self._names:
            names = self._names[pattern] = list(understood(self.server.names(pattern)))
            self._trace(f"{pattern} matches {plural(len(names), 'MBean')}")
            if len(names) > _MANY:
                self._describe(pattern)
        return self._names[pattern]

    def _describe(self, pattern: str) -> None:
        beans = self.server.beans(pattern)
        sets: dict[frozenset[str], frozenset[str]] = {}  # thousands of beans have one of a few
        for bean, attributes in zip(beans, self.server.describe(beans), strict=True):
            if isinstance(attributes, list):
                names = frozenset(one.name for one in attributes)
                self._attributes[bean.name] = sets.setdefault(names, names)

    def read_ahead(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Ask for these pairs of a bean and an attribute without waiting for each."""
        attributes: dict[str, list[str]] = {}
        for bean, attribute in dict.fromkeys(wanted):
            if attribute in self._attributes.get(bean, (attribute,)):
                attributes.setdefault(bean, []).append(attribute)
            else:
                self._known[bean, attribute] = NoSuchAttributeError(f"{bean} has no attribute {attribute}")
        asked = list(attributes.items())
        for (bean, names), found in zip(asked, self.server.read(asked), strict=True):
            self._trace(f"asked {bean} for {', '.join(names)}")
            for name in names:
                self._known[bean, name] = found if isinstance(found, JmxError) else found[name]

    def value(self, bean: str, attribute: str) -> Value:
        """Return a value, or raise the JmxError that shows why there is none."""
        if (bean, attribute) not in self._known:
            self.read_ahead([(bean, attribute)])
        found = self._known[bean, attribute]
        if isinstance(found, JmxError):
            raise found
        return found
