"""What do the checks of JMX cost beside jmxquery, jmxterm and nodetool, which run Java?

The servers are those of the tests.
"""

import contextlib
import os
import re
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from measured import HEAP, Bench, ours
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx

# isort: split
import cassandra
import java_software
import jvm

ROUNDS, LISTINGS, SLOW = 15, 3, 1
ROUND_TRIP = 0.05  # seconds
JMXTERM = "1.0.4"
OF_JMXQUERY, OF_JMXTERM = 1 / 6, 1 / 10  # of their processor time, for one attribute
PYPI = "jmxquery, the PyPI package"
BEAN, ATTRIBUTE, KEY = "java.lang:type=Memory", "HeapMemoryUsage", "used"
BYTES = r"\b\d{6,}"  # a number of the heap: jmxquery ends with 0 without an answer, jmxterm whatever happens
PACKAGE = """
import sys
from jmxquery import JMXConnection, JMXQuery
print(*(found.value for found in JMXConnection(sys.argv[1]).query([JMXQuery(*sys.argv[2:])], timeout=120)))
"""


def check(server, *arguments, **options):
    """Our plugin."""
    told = {"-H": server.host, "-P": server.port, **options}
    words = [word for option, value in told.items() for word in (option, value)]
    return ours("check_jmx", "--no-state", "-t", "2m", *arguments, *words)


def package(server, *query):
    """The PyPI package jmxquery, used as it says."""
    return [sys.executable, "-c", PACKAGE, server.url, *query]


def jar(server, query):
    """The jar that it runs."""
    path = os.path.join(os.path.dirname(find_spec("jmxquery").origin), "JMXQuery-0.1.8.jar")
    return ["java", "-jar", path, "-url", server.url, "-json", "-q", query]


def term(server, script):
    """A jmxterm that does what a file says."""
    jars = os.path.join(java_software.jars("org.cyclopsgroup", "jmxterm", JMXTERM), "*")
    place = f"{server.host}:{server.port}"
    main = "org.cyclopsgroup.jmxterm.boot.CliMain"
    return ["java", "-cp", jars, main, "-l", place, "-n", "-v", "silent", "-i", script]


def nodetool(server):
    """Cassandra's own, called as its script does; the JRE of the tests' Cassandra has no JNDI for it."""
    logging = f"-Dlogback.configurationFile={server.path('logback.xml')}"
    options = ["-Xmx128m", "-XX:ParallelGCThreads=1", logging, *cassandra.OPENED]
    options += ["-cp", os.path.join(server.jars, "*")]
    where = ["-h", server.host, "-p", server.port]
    return ["java", *options, "org.apache.cassandra.tools.NodeTool", *where, "tpstats"]


def script(bench, name, *lines):
    """A file for jmxterm to read."""
    path = bench.path(name)
    with open(path, "w") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


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


def one_attribute(bench, server, secured):
    """The everyday check."""
    costs = bench.compare(
        "one attribute",
        {
            "check_jmx": check(server, *HEAP),
            PYPI: package(server, BEAN, ATTRIBUTE, KEY),
            "jmxquery, its jar alone": jar(server, f"{BEAN}/{ATTRIBUTE}/{KEY}"),
            "jmxterm": term(server, script(bench, "get", f"get -b {BEAN} {ATTRIBUTE}")),
        },
        ROUNDS,
        says=BYTES,
    )
    bench.hold("one JMX attribute, of jmxquery", costs, "check_jmx", PYPI, OF_JMXQUERY)
    bench.hold("one JMX attribute, of jmxterm", costs, "check_jmx", "jmxterm", OF_JMXTERM)
    store = os.path.splitext(secured.ca_file)[0]
    trust = f"-Djavax.net.ssl.trustStore={store}.p12 -Djavax.net.ssl.trustStorePassword=changeit"
    query = package(secured, BEAN, ATTRIBUTE, KEY)
    bench.compare(
        "one attribute over TLS",
        {
            "check_jmx": check(secured, *HEAP, **{"--ca-file": secured.ca_file}),
            PYPI: ["env", f"JAVA_TOOL_OPTIONS={trust}", *query],
        },
        LISTINGS,
        says=BYTES,
    )


def pools(bench, server):
    """Thread pools of Cassandra."""
    commands = {
        "check_jmx_thread_pools": ours("check_jmx_thread_pools", "-H", server.host, "-P", server.port),
        "nodetool tpstats": nodetool(server),
    }
    bench.compare("thread pools of Cassandra", commands, ROUNDS)


def listings(bench, server):
    """Everything that Cassandra shows; jmxterm is told the beans, for its `beans` gives no more."""
    with jmx.connect(jmx.Target(server.host, server.port), Deadline(60)) as session:
        names = session.names()
    described = script(bench, "all", "beans", *(f"info -b {name}" for name in names))
    mine, theirs = "check_jmx --list", "jmxterm, beans and info of each"
    costs = bench.compare(
        f"all {len(names)} MBeans of Cassandra",
        {mine: check(server, "--list"), theirs: term(server, described)},
        LISTINGS,
        says=BEAN,
    )
    bench.hold("--list on Cassandra, of jmxterm, wall time", costs, mine, theirs, 1, kind="time")
    bench.compare(
        f"all {len(names)} MBeans of Cassandra and their values",
        {
            "check_jmx --list --values": check(server, "--list", "--values"),
            "jmxquery, its jar alone": jar(server, "*:*"),
        },
        SLOW,
        says=BEAN,
    )


def far_away(bench, server, large):
    """The same over a link with a long round trip."""
    for target, what, arguments in (
        (server, "one attribute", HEAP),
        (large, "all MBeans of Cassandra", ["--list"]),
    ):
        with delaying_link(target.port, rmi_port(target)) as (port, rmi):
            command = check(target, *arguments, **{"-P": port, "--rmi-port": rmi})
            bench.compare(f"{what}, {ROUND_TRIP * 1000:.0f} ms away", {"check_jmx": command}, LISTINGS)


def main():
    """Measure all."""
    with (
        Bench("jmx") as bench,
        jvm.Jvm(bench.path("jvm")) as plain,
        jvm.Jvm(bench.path("tls"), **jvm.VARIANTS["tls"]) as secured,
        cassandra.Cassandra(bench.path("cassandra")) as large,
    ):
        bench.software |= {
            "Cassandra": cassandra.VERSION,
            "jmxterm": JMXTERM,
            "jmxquery": version("jmxquery"),
        }
        bench.software["Java"] = java_version()
        one_attribute(bench, plain, secured)
        pools(bench, large)
        listings(bench, large)
        far_away(bench, plain, large)


def java_version():
    """Of the java in PATH, which jmxquery and jmxterm run."""
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    return re.search(r'"(.+?)"', said)[1]


if __name__ == "__main__":
    main()
