"""What is the processor time of a check that finds nothing wrong spent on?

Whole processes give what the interpreter costs, and the whole. In between the check runs with a clock around
each import, which takes the time of those within it off, and with marks where the plugin begins, connects and
ends: that tells imports from work. The clock costs time itself, so these parts are scaled to what the
interpreter leaves of the whole.

All are run by an environment without setuptools, as what is installed is.
"""

import ast
import collections
import itertools
import re
import statistics
import subprocess
import sys
from pathlib import Path

from copies import tree
from measured import HEAP, Bench, Ours, rounds_of
from medians import times
from pairs import MONITOR, PASSWORD, version

# isort: split
import software
from jvm import Jvm
from replication_pair import Pair

ROUNDS = 25
SITE = "site: the folders of packages, and os, which it imports"
STANDARD, LIBRARIES = "import the standard library", "import PyMySQL, nagiosplugin"
OWN, REST = ("options", "sources", "probes"), "import the rest of stallwatch"
WORK = {
    "compiled": "compile its script",
    "socket.connect": "define and read options",
    "end": "connect, query, judge, report",
}
DEAREST = 3  # packages that are named
LEAVE = "import posix; posix._exit(0)"  # as plugins leave: the interpreter does not tidy up
FILES = {"newfstatat", "fstat", "stat", "statx", "openat", "read", "lseek", "close", "ioctl", "getdents64"}
# Runs a plugin with this folder of packages, which nobody else knows under -S.
RUN = """
import sys
sys.path.append(sys.argv[1])
del sys.argv[:2]
with open(sys.argv[0]) as file:
    exec(compile(file.read(), sys.argv[0], "exec"))
"""
# Runs a plugin and tells the processor time of each import, and at each mark: of all, and of imports so far;
# last, the part of all that the kernel took. CPython 3.11 looks _find_and_load up anew for each import, and
# its compile() makes all kinds of nodes known the first time, which no script needs. JMX has a second link:
# the first counts.
CLOCKED = """
import _frozen_importlib, os, sys, time
clock, path = time.process_time, sys.argv[1]
modules, there, within, marks = {}, set(), [0.0], []
def load(name, importer, find=_frozen_importlib._find_and_load):
    begun = clock()
    within.append(0.0)
    try:
        found = find(name, importer)
        there.add(name)
        return found
    finally:
        whole = clock() - begun
        modules[name] = modules.get(name, 0.0) + whole - within.pop()
        within[-1] += whole
def mark(stage):
    marks.append((stage, clock(), within[0]))
def heard(event, _):
    if event == "socket.connect" and event != marks[-1][0]:
        mark(event)
def left(status, leave=os._exit):
    mark("end")
    import resource
    used = resource.getrusage(resource.RUSAGE_SELF)
    loaded = {name: (seconds, name in there) for name, seconds in modules.items()}
    with open(path, "a") as told:
        print((loaded, marks, used.ru_stime / (used.ru_utime + used.ru_stime)), file=told)
    leave(status)
_frozen_importlib._find_and_load, os._exit = load, left
del sys.argv[:2]
compile("", "", "exec")
mark("begin")
with open(sys.argv[0]) as file:
    script = compile(file.read(), sys.argv[0], "exec")
mark("compiled")
sys.addaudithook(heard)
exec(script)
"""


def stages(modules, marks):
    """Milliseconds of each kind of import, and of the work until each mark, of what a clocked run told."""
    spent = dict.fromkeys((STANDARD, LIBRARIES, *map(_of, OWN), REST, *WORK.values()), 0.0)
    for name, (seconds, _) in modules.items():
        spent[_kind(name)] += 1000 * seconds
    for (_, begun, before), (stage, ended, after) in itertools.pairwise(marks):
        spent[WORK[stage]] += 1000 * (ended - begun - (after - before))
    return spent


def _of(package):
    return f"import stallwatch.{package}"


def _kind(module):
    package, _, rest = module.partition(".")
    if package == "stallwatch":
        part = rest.partition(".")[0]
        return _of(part) if part in OWN else REST
    return STANDARD if package in sys.stdlib_module_names else LIBRARIES


def shares(start, site, whole, clocked):
    """Milliseconds by what they are spent on, whose sum is the whole.

    ``start``    an interpreter without site
    ``site``     one with site
    ``clocked``  the stages of the run with the clock
    """
    scale = (whole - site) / sum(clocked.values())
    first = {"start an interpreter": start, SITE: site - start}
    return {**first, **{name: scale * milliseconds for name, milliseconds in clocked.items()}}


def counted(modules):
    """How many modules of each kind were loaded."""
    return collections.Counter(_kind(name) for name, (_, loaded) in modules.items() if loaded)


def dearest(runs):
    """The packages of the standard library that cost most, without what they import of others."""
    spent = collections.Counter()
    for modules, *_ in runs:
        for name, (seconds, _) in modules.items():
            if _kind(name) == STANDARD:
                spent[name.partition(".")[0]] += seconds
    return [name for name, _ in spent.most_common(DEAREST)]


class Subject:
    """A check in a copy, in the ways that it is run here."""

    def __init__(self, bench, copy, plugin, *words):
        self.bench = bench
        self.name = plugin
        self.python = [copy.python, "-I"]
        self.words = [copy.plugins / plugin, *words]
        [self.packages] = copy.python.parents[1].glob("lib/python3*/site-packages")
        self.told = Path(bench.path(f"{plugin}.told"))

    def commands(self):
        """By what the page calls them."""
        run = ["-c", RUN, self.packages, *self.words]
        clocked = ["-c", CLOCKED, self.told, *self.words]
        return {
            "an interpreter that leaves at once, -S": [*self.python, "-S", "-c", LEAVE],
            "an interpreter that leaves at once": [*self.python, "-c", LEAVE],
            self.name: Ours([*self.python, *self.words]),
            f"{self.name}, by a line that finds its packages": Ours([*self.python, *run]),
            f"{self.name}, by the same line, -S": Ours([*self.python, "-S", *run]),
            f"{self.name}, with the clock": Ours([*self.python, *clocked]),
        }

    def spend(self):
        """Measure, and add the table."""
        costs = list(self.bench.compare(f"{self.name}, whole processes", self.commands(), ROUNDS).values())
        spent = [[1000 * one.processor for one in each] for each in costs]
        start, site, whole, *_ = map(statistics.median, spent)
        saved = statistics.median(one - other for one, other in zip(*spent[3:5], strict=True))
        _, *runs = map(ast.literal_eval, self.told.read_text().splitlines())  # the first does not count
        each = [stages(modules, marks) for modules, marks, _ in runs]
        clocked = {name: statistics.median(run[name] for run in each) for name in each[0]}
        modules = counted(runs[-1][0])
        rows = [
            {"name": name, "processor_ms": round(part, 1), "modules": modules.get(name)}
            for name, part in {**shares(start, site, whole, clocked), "the whole": whole}.items()
        ]
        table = {
            "title": self.name,
            "rounds": rounds_of(ROUNDS),
            "rows": rows,
            "without_site": round(saved, 1),  # ms
            "clock": round(times(costs[-1], costs[2]), 2),  # times as much as the whole without it
            "kernel": round(statistics.mean(kernel for *_, kernel in runs), 2),  # its part of the whole
            "dearest": dearest(runs),
            "calls": self.calls(),
        }
        self.bench.tables.append(table)
        print("\n".join(f"  {row['name']:45} {row['processor_ms']:6.1f} ms" for row in rows), flush=True)

    def calls(self):
        """System calls of a run, and those of them that look for files and read them: modules, mostly."""
        try:
            strace = software.program("strace", "strace")
        except software.Missing as missing:
            return self.bench.leave_out(missing)
        noted = Path(self.bench.path("calls"))
        traced = subprocess.run(
            [*map(str, [strace, "-f", "-o", noted, *self.python, *self.words])],
            env=self.bench.starter.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if traced.returncode:  # it may not trace, as in a container
            return self.bench.leave_out(f"system calls: {' '.join(traced.stderr.split())}")
        names = re.findall(r"^\d+ +(\w+)\(", noted.read_text(), re.MULTILINE)
        return {"all": len(names), "files": sum(name in FILES for name in names)}


def main():
    """One of MySQL and one of JMX."""
    with Bench("spent", STALLWATCH_MYSQL_PASSWORD=PASSWORD) as bench:
        copy = tree(Path(bench.path("environment")))
        with Pair(bench.path("pair"), "mariadb") as pair:
            bench.software["MariaDB"] = version(pair.replica)
            login = ("-S", pair.replica.socket, "-u", MONITOR)
            Subject(bench, copy, "check_replication_lag", *login).spend()
        with Jvm(bench.path("jvm")) as jvm:
            Subject(bench, copy, "check_jmx", "-H", jvm.host, "-P", jvm.port, "--no-state", *HEAP).spend()


if __name__ == "__main__":
    main()
