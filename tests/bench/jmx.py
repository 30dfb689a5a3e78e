"""What do the checks of JMX cost beside jmxquery, jmxterm and nodetool, which run Java?

The servers are those of the tests.
"""

import contextlib
import os
import re
import statistics
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
import software

ROUNDS, FEW = 15, 3
ROUND_TRIP = 0.05  # seconds
JMXTERM = "1.0.4"
OF_JMXQUERY, OF_JMXTERM = 1 / 6, 1 / 10  # of their processor time, for one attribute
OF_LISTING, MEMORY, FAR = 1 / 2, 60, 20  # of theirs; MB; seconds: for all of Cassandra's
LISTED, VALUES = "--list on Cassandra, of jmxterm", "--list --values on Cassandra, of jmxquery's jar"
PEAK, AWAY = "--list on Cassandra, peak of memory", f"--list on Cassandra, {ROUND_TRIP * 1000:.0f} ms away"
PYPI = "jmxquery, the PyPI package"
JAR = "jmxquery, its jar alone"
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


def term(bench, name, server, script):
    """A jmxterm that does what a file says, by its name, if it can be had."""
    try:
        jars = os.path.join(java_software.jars("org.cyclopsgroup", "jmxterm", JMXTERM), "*")
    except software.Missing as missing:
        bench.leave_out(missing)
        return {}
    place = f"{server.host}:{server.port}"
    main = "org.cyclopsgroup.jmxterm.boot.CliMain"
    return {name: ["java", "-cp", jars, main, "-l", place, "-n", "-v", "silent", "-i", script]}


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


def rmi_port(server):
    """The port that a server's registry leads to."""
    told = []
    with jmx.connect(jmx.Target(server.host, server.port), Deadline(30), told.append):
        return int(re.search(r"RMI at \S+:(\d+)", told[0])[1])


def one_attribute(bench, server):
    """The everyday check."""
    costs = bench.compare(
        "one attribute",
        {
            "check_jmx": check(server, *HEAP),
            PYPI: package(server, BEAN, ATTRIBUTE, KEY),
            JAR: jar(server, f"{BEAN}/{ATTRIBUTE}/{KEY}"),
            **term(bench, "jmxterm", server, script(bench, "get", f"get -b {BEAN} {ATTRIBUTE}")),
        },
        ROUNDS,
        says=BYTES,
    )
    bench.hold("one JMX attribute, of jmxquery", costs, "check_jmx", PYPI, OF_JMXQUERY)
    bench.hold("one JMX attribute, of jmxterm", costs, "check_jmx", "jmxterm", OF_JMXTERM)


def over_tls(bench, secured):
    """The same of a JVM that asks for TLS."""
    store = os.path.splitext(secured.ca_file)[0]
    trust = f"-Djavax.net.ssl.trustStore={store}.p12 -Djavax.net.ssl.trustStorePassword=changeit"
    query = package(secured, BEAN, ATTRIBUTE, KEY)
    bench.compare(
        "one attribute over TLS",
        {
            "check_jmx": check(secured, *HEAP, **{"--ca-file": secured.ca_file}),
            PYPI: ["env", f"JAVA_TOOL_OPTIONS={trust}", *query],
        },
        FEW,
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
        {mine: check(server, "--list"), **term(bench, theirs, server, described)},
        FEW,
        says=ATTRIBUTE,  # which `beans` alone does not
    )
    bench.hold(LISTED, costs, mine, theirs, OF_LISTING)
    bench.budget(PEAK, max(one.memory for one in costs[mine]) * 2**20 / 1e6, MEMORY, "MB")
    costs = bench.compare(
        f"all {len(names)} MBeans of Cassandra and their values",
        {f"{mine} --values": check(server, "--list", "--values"), JAR: jar(server, "*:*")},
        FEW,
        says=ATTRIBUTE,
    )
    bench.hold(VALUES, costs, f"{mine} --values", JAR, OF_LISTING)


def far_away(bench, what, server, *words):
    """A check over a link with a long round trip. Gives its costs."""
    with delaying_link(server.port, rmi_port(server)) as (port, rmi):
        command = check(server, *words, **{"-P": port, "--rmi-port": rmi})
        title = f"{what}, {ROUND_TRIP * 1000:.0f} ms away"
        return bench.compare(title, {"check_jmx": command}, FEW)["check_jmx"]


def of_cassandra(bench):
    """Its thread pools, and all that it shows."""
    try:
        with cassandra.Cassandra(bench.path("cassandra")) as server:
            bench.software["Cassandra"] = cassandra.VERSION
            pools(bench, server)
            listings(bench, server)
            costs = far_away(bench, "all MBeans of Cassandra", server, "--list")
            bench.budget(AWAY, statistics.median(one.time for one in costs), FAR, "s")
    except software.Missing as missing:
        bench.leave_out(missing)
        for what, limit, unit in (
            (LISTED, OF_LISTING, "times"),
            (PEAK, MEMORY, "MB"),
            (VALUES, OF_LISTING, "times"),
            (AWAY, FAR, "s"),
        ):
            bench.budget_left_out(what, limit, missing, unit)


def main():
    """Measure all."""
    with Bench("jmx") as bench:
        with jvm.Jvm(bench.path("jvm")) as plain:
            bench.software |= {"jmxterm": JMXTERM, "jmxquery": version("jmxquery"), "Java": java_version()}
            one_attribute(bench, plain)
            far_away(bench, "one attribute", plain, *HEAP)
        try:
            with jvm.Jvm(bench.path("tls"), **jvm.VARIANTS["tls"]) as secured:
                over_tls(bench, secured)
        except software.Missing as missing:
            bench.leave_out(missing)
        of_cassandra(bench)


def java_version():
    """Of the java in PATH, which jmxquery and jmxterm run."""
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    return re.search(r'"(.+?)"', said)[1]


if __name__ == "__main__":
    main()
