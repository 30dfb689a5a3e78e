"""Record what a JVM says of its pools, for tests/recorded/jmx_thread_pools.

.venv/bin/python tests/live/jmx_pools_recording.py PORT > tests/recorded/jmx_thread_pools/SERVER-VERSION.json

PORT is that of a running JVM; tests/live/cassandra.py starts a Cassandra and prints its port.
"""

import json
import sys

from stallwatch.deadline import Deadline
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.sources import jmx

ALWAYS = ("java.lang:type=Runtime", "java.lang:type=Threading")


def recording(port):
    """All numbers of all beans that the plugin might ask for, each as the server gives it."""
    with jmx.connect(jmx.Target("127.0.0.1", port), Deadline(60)) as server:
        queries = {query for family in FAMILIES for query in family.queries}
        besides = sorted(name for family in FAMILIES for name in family.sums_with)
        beans = {
            bean.name: bean for query in (*ALWAYS, *sorted(queries), *besides) for bean in server.beans(query)
        }
        described = server.describe(list(beans.values()))
        wanted = [
            (name, [attribute.name for attribute in attributes])
            for name, attributes in zip(beans, described, strict=True)
            if not isinstance(attributes, jmx.JmxError)
        ]
        found = zip(wanted, list(server.read(wanted)), strict=True)
        numbers = {name: _numbers(values) for (name, _), values in found if isinstance(values, dict)}
        return {"domains": server.domains(), "beans": numbers}


def _numbers(values):
    return {name: value for name, value in values.items() if value is None or isinstance(value, int | float)}


def text(recorded):
    """A recording as JSON, a line for each bean."""
    beans = ",\n".join(f"  {json.dumps(name)}: {json.dumps(of)}" for name, of in recorded["beans"].items())
    return f'{{\n "domains": {json.dumps(recorded["domains"])},\n "beans": {{\n{beans}\n }}\n}}\n'


if __name__ == "__main__":
    sys.stdout.write(text(recording(int(sys.argv[1]))))
