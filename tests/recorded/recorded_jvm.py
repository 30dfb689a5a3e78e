"""A JVM as it was recorded, or made up: it answers as the JMX clients do, or what they ask: recording.use."""

import json

from stallwatch.sources.jmx import NoSuchAttributeError, NoSuchBeanError, ObjectName
from stallwatch.sources.jmx.info import Attribute, Bean


class RecordedJvm:
    """``beans`` are attributes and their values by object name; an exception as a value is the answer."""

    where = "db1:7199"

    def __init__(self, beans, domains=None):
        self.told = beans
        self.seen = domains or sorted({name.partition(":")[0] for name in beans})
        self.asked = []  # the patterns of names
        self.read_of = []  # the beans that were read

    @classmethod
    def load(cls, path):
        """Read a recording."""
        return cls(**json.loads(path.read_text()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def answer(self, of, asked, ask=None, *to):
        """Answer what is asked through ``recording``; nothing of the host is recorded."""
        if of[0] == "host":
            return ask(*to)
        what, *about = asked
        match what:
            case "log in":
                return self.where
            case "read":
                return next(iter(self.read([(about[0], about[1:])])))
            case "describe":
                return next(iter(self.describe([Bean(*about, "")])))
        return getattr(self, what)(*about)

    def domains(self):
        """As the client's."""
        return self.seen

    def names_ahead(self, wanted):
        """As the Python client: of no use."""

    def names(self, pattern):
        """As the client's."""
        self.asked.append(pattern)
        wanted = ObjectName.parse(pattern)
        return sorted(name for name in self.told if wanted.matches(ObjectName.parse(name)))

    def beans(self, pattern):
        """As the client's; a recording has no classes."""
        return [Bean(name, "") for name in self.names(pattern)]

    def describe(self, found):
        """As the client's."""
        for bean in found:
            yield [Attribute(name, "", readable=True, writable=False) for name in self.told[bean.name]]

    def read(self, wanted):
        """As the client's."""
        for name, attributes in wanted:
            self.read_of.append(name)
            if name not in self.told:
                yield NoSuchBeanError(f"there is no MBean {name} at {self.where}")
                continue
            of = self.told[name]
            yield {at: of.get(at, NoSuchAttributeError(f"{name} has no attribute {at}")) for at in attributes}
