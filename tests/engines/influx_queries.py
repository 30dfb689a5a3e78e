"""What the queries of the dashboard for InfluxDB find among lines that Icinga has written."""

import re
from typing import NamedTuple


class Point(NamedTuple):
    """A number that Icinga has written; ``rest`` is what is behind it on the line."""

    measurement: str
    tags: dict[str, str]
    value: float
    rest: str

    @classmethod
    def of(cls, line):
        """Read a line of InfluxDB's protocol; None: it has no value."""
        name, tags, fields = re.match(r"([\w-]+),((?:\\.|[^ \\])+) (.*)", line).groups()
        value = re.search(r"(?:^|,)value=([^ ,]+)(.*)", fields)
        told = dict(tag.split("=") for tag in re.split(r"(?<!\\),", tags))
        return value and cls(name, told, float(value[1]), value[2])


def found(query, lines):
    """Give the Points that a query asks for, of all hosts."""
    measurement = re.search("FROM /(.+?)/", query)[1]
    wanted = re.search(r'"metric" =~ /(.+?)/ ', query)[1]
    besides = re.search(r'"metric" !~ /(.+?)/ ', query)
    for point in filter(None, map(Point.of, lines)):
        metric = point.tags.get("metric", "")
        asked = re.search(measurement, point.measurement) and re.search(wanted, metric)
        if asked and not (besides and re.search(besides[1], metric)):
            yield point
