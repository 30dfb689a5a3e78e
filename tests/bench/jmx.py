"""What does check_jmx cost beside jmxquery and jmxterm, which run Java?

Whole processes, arguments and verdict included, in turn in one run. The servers are those of the tests.
"""

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from measured import Starter
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import java_software  # noqa: E402 - it is there
from cassandra import Cassandra  # noqa: E402
from jvm import VARIANTS, Jvm  # noqa: E402

ROUNDS, LISTINGS = 15, 3
ROUND_TRIP = 0.05  # seconds
BEAN, ATTRIBUTE, KEY = "java.lang:type=Memory", "HeapMemoryUsage", "used"
JUDGED = ("-O", BEAN, "-A", ATTRIBUTE, "-K", KEY, "--unit", "B", "-w", "100G")
PACKAGE = """
import sys
from jmxquery import JMXConnection, JMXQuery
print(len(JMXConnection(sys.argv[1]).query([JMXQuery(*sys.argv[2:])], timeout=120)))
"""


def check(server, *arguments, **options):
    """Our plugin."""
    told = {"-H": server.host, "-P": server.port, **options}
    plugin = [sys.executable, ROOT / "plugins" / "check_jmx", "--no-state", "-t", "2m", *arguments]
    return plugin + [word for option, value in told.items() for word in (option, value)]


def package(server, *query):
    """The PyPI package jmxquery, used as it says."""
    return [sys.executable, "-c", PACKAGE, server.url, *query]


def jar(server, query):
    """The jar that it runs."""
    path = os.path.join(os.path.dirname(find_spec("jmxquery").origin), "JMXQuery-0.1.8.jar")
    return ["java", "-jar", path, "-url", server.url, "-json", "-q", query]


def term(server):
    """A jmxterm, which reads what to do from its input."""
    jars = os.path.join(java_software.jars("org.cyclopsgroup", "jmxterm", "1.0.4"), "*")
    place = f"{server.host}:{server.port}"
    return ["java", "-cp", jars, "org.cyclopsgroup.jmxterm.boot.CliMain", "-l", place, "-n", "-v", "silent"]


class Bench:
    """Compares commands and prints a table."""

    def __init__(self, starter, folder):
        self.starter = starter
        self.folder = folder

    def script(self, *lines):
        """A file for jmxterm to read."""
        path = os.path.join(self.folder, "script")
        with open(path, "w") as file:
            file.writelines(f"{line}\n" for line in lines)
        return path

    def compare(self, title, rounds, given="/dev/null", **commands):
        """Run each in turn, so many times; jmxterm is given a file. The others are set against the first."""
        found = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                read = given if name == "jmxterm" else "/dev/null"
                found[name].append(self.starter.cost(command, given=read))
        print(f"\n{title}, medians of {rounds}")
        first, *_ = found.values()
        for name, costs in found.items():
            _, *medians = map(statistics.median, zip(*costs, strict=True))
            line = "  {:10} {:7.3f} s processor {:7.3f} s {:6.1f} MiB".format(name, *medians)
            if costs is not first:
                line += "   {:5.1f} {:5.1f} {:5.1f} times as much".format(*ratios(first, costs))
            print(line + "".join({f"   exit status {one.status}" for one in costs if one.status}))


def ratios(first, second):
    """How many times as much the second costs: processor, time, memory; medians of pairs."""
    pairs = list(zip(first, second, strict=True))
    return [statistics.median(b[kind] / a[kind] for a, b in pairs) for kind in (1, 2, 3)]


@contextlib.contextmanager
def delaying_link(*ports):
    """The ports of links to these ports, with half of a round trip in each direction."""
    command = [sys.executable, Path(__file__).with_name("delaying_link.py"), ROUND_TRIP / 2, *ports]
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield list(map(int, process.stdout.readline().split()))
        process.stdin.close()


def rmi_port(server):
    """The port that a server's registry leads to."""
    told = []
    with jmx.connect(jmx.Target(server.host, server.port), Deadline(30), told.append):
        return int(re.search(r"RMI at \S+:(\d+)", told[0])[1])


def one_attribute(bench, jvm, tls):
    """The everyday check."""
    bench.compare(
        "one attribute", ROUNDS, bench.script(f"get -b {BEAN} {ATTRIBUTE}"),
        check_jmx=check(jvm, *JUDGED),
        jmxquery=package(jvm, BEAN, ATTRIBUTE, KEY),
        jar=jar(jvm, f"{BEAN}/{ATTRIBUTE}/{KEY}"),
        jmxterm=term(jvm),
    )  # fmt: skip
    store = os.path.splitext(tls.ca_file)[0]
    trust = f"-Djavax.net.ssl.trustStore={store}.p12 -Djavax.net.ssl.trustStorePassword=changeit"
    bench.compare(
        "one attribute over TLS", ROUNDS,
        check_jmx=check(tls, *JUDGED, **{"--ca-file": tls.ca_file}),
        jmxquery=["env", f"JAVA_TOOL_OPTIONS={trust}", *package(tls, BEAN, ATTRIBUTE, KEY)],
    )  # fmt: skip


def listings(bench, cassandra):
    """Everything that Cassandra shows; jmxterm is told the beans, for its `beans` gives no more."""
    with jmx.connect(jmx.Target(cassandra.host, cassandra.port), Deadline(60)) as server:
        names = server.names()
    described = bench.script("beans", *(f"info -b {name}" for name in names))
    bench.compare(
        f"all {len(names)} beans of Cassandra", LISTINGS, described,
        types=check(cassandra, "--list"),
        jmxterm=term(cassandra),
        values=check(cassandra, "--list", "--values"),
        jmxquery=package(cassandra, "*:*"),
        jar=jar(cassandra, "*:*"),
    )  # fmt: skip


def far_away(bench, jvm, cassandra):
    """The same over a link with a long round trip."""
    for server, what, arguments in (
        (jvm, "one attribute", JUDGED),
        (cassandra, "all beans of Cassandra", ["--list"]),
        (cassandra, "all beans and values of Cassandra", ["--list", "--values"]),
    ):
        with delaying_link(server.port, rmi_port(server)) as (port, rmi):
            command = check(server, *arguments, **{"-P": port, "--rmi-port": rmi})
            bench.compare(f"{what}, {ROUND_TRIP * 1000:.0f} ms away", LISTINGS, check_jmx=command)


def main():
    """Print all tables."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Starter() as starter,
        Jvm(os.path.join(folder, "jvm")) as jvm,
        Jvm(os.path.join(folder, "tls"), **VARIANTS["tls"]) as tls,
        Cassandra(os.path.join(folder, "cassandra")) as cassandra,
    ):
        bench = Bench(starter, folder)
        one_attribute(bench, jvm, tls)
        listings(bench, cassandra)
        far_away(bench, jvm, cassandra)


if __name__ == "__main__":
    main()
