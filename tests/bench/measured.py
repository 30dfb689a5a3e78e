"""Commands measured side by side as whole processes, kept in results/NAME.json for the page on performance.

    from measured import Bench, ours  # then tests/live and the like can be imported, too
    # isort: split
    with Bench("jmx") as bench:
        costs = bench.compare("one attribute", {"check_jmx": ours("check_jmx", ...), "jmxquery": [...]})
        bench.hold("one attribute, of jmxquery", costs, "check_jmx", "jmxquery", 1 / 6)

What a command costs: processor time with all that it starts, time, and the memory of its largest process.
All run in each round, so that what else the machine does meanwhile comes to all of them, and in another order
each time, so that none always runs after the same one; what is told are medians, and ratios are medians of
the ratios of each round. ROUNDS in the environment says how many rounds there are of the cheapest commands;
others have fewer in proportion.

A process begins with the peak memory of the one that starts it. So commands are started by a small one.
"""

import compileall
import contextlib
import datetime as dt
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).resolve().parent / "results"
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("live", "unit", "engines", "install")]
sys.path.append(str(ROOT / "contrib"))
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # as Debian has it
ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8"}
HEAP = (  # one attribute of any JVM, for check_jmx
    "-O", "java.lang:type=Memory", "-A", "HeapMemoryUsage", "-K", "used", "--unit", "B", "-w", "100G",
)  # fmt: skip
ROUNDS = 25
LONGEST = 150  # characters of what a command says that does not say OK
_STARTER = """
import os, sys, time
for line in sys.stdin:
    command = eval(line)
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, command.pop(0), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
               (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    begun = time.monotonic()
    _, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=nowhere), 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, time.monotonic() - begun,
          usage.ru_maxrss / 1024, flush=True)
"""
# Runs a plugin and tells how many modules it has loaded; plugins leave by os._exit.
_COUNTER = """
import os, sys
def told(status, leave=os._exit, path=sys.argv[1]):
    sys.stdout.flush()
    with open(path, "w") as file:
        file.write(str(len(sys.modules)))
    leave(status)
os._exit = told
del sys.argv[:2]
with open(sys.argv[0]) as file:
    exec(compile(file.read(), sys.argv[0], "exec"))
"""


class NotExpectedError(Exception):
    """One of our plugins, or what it is compared with, did not do what was to be measured."""


class Ours(list):
    """A command that is one of our plugins: if it does not end as expected, nothing was measured."""


class Cost(NamedTuple):
    """Exit status; seconds of processor time; seconds; MiB; whether it ended as expected."""

    status: int
    processor: float
    time: float
    memory: float
    expected: bool = True


class Starter:
    """Runs commands one after the other, with little more than these variables in their environment."""

    def __init__(self, **environment):
        self.environment = ENVIRONMENT | environment

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def cost(self, command, output="/dev/null"):
        """Run a command with this file as standard output."""
        print(repr([str(output), *map(str, command)]), file=self.process.stdin, flush=True)
        status, *numbers = self.process.stdout.readline().split()
        return Cost(int(status), *map(float, numbers))


class Bench:
    """One part of what is measured. Its commands have a home and a state of their own, below ``folder``.

    ``software``  versions, by name
    ``said``      the states that checks told: of what, in which situation, by their names
    """

    def __init__(self, name, **environment):
        self.name = name
        self.environment = environment
        self.software, self.left_out = {}, []
        self.tables, self.budgets, self.said = [], [], {}
        self._told = set()

    def __enter__(self):
        compileall.compile_dir(ROOT / "lib", quiet=1)  # as it is installed
        with contextlib.ExitStack() as begun:
            self.folder = begun.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
            own = {"HOME": self.folder, "STATE_DIRECTORY": os.path.join(self.folder, "state")}
            self.starter = begun.enter_context(Starter(**own, **self.environment))
            self.begun = dt.datetime.now(dt.UTC)
            self.load = os.getloadavg()[0]
            self._end = begun.pop_all()
        return self

    def __exit__(self, kind, *_):
        self._end.close()
        if kind is not None:
            return
        if not self.tables and not self.said:  # the figures of last time stay
            sys.exit(f"{self.name}: nothing could be measured: {'; '.join(self.left_out)}")
        RESULTS.mkdir(exist_ok=True)
        kept = json.dumps(self.results(), indent=1, ensure_ascii=False)
        (RESULTS / f"{self.name}.json").write_text(f"{kept}\n")

    def path(self, *parts):
        """A path below its folder."""
        return os.path.join(self.folder, *parts)

    def compare(self, title, commands, rounds=ROUNDS, between=lambda: None, expected=None, says=""):
        """Run these by their names, each once a round, after a run that does not count. Gives their costs.

        ``expected``  exit statuses by name, where they are not 0
        ``says``      a regular expression: what each has to say, some end with 0 whatever happens

        Raises NotExpectedError if one of ours ends otherwise. What others do is told in their rows.
        """
        expected = dict.fromkeys(commands, (0,)) | (expected or {})
        for name, command in commands.items():
            self._cost(name, command, expected[name])
            if not re.search(says, self._answer()):
                raise NotExpectedError(f"{name} does not say {says}: {self._answer()[:LONGEST]}")
        costs = {name: [] for name in commands}
        for number in range(rounds_of(rounds)):
            between()
            for name in random.Random(number).sample(list(commands), len(commands)):
                costs[name].append(self._cost(name, commands[name], expected[name]))
        loaded = {name: self._modules(command) for name, command in commands.items() if in_this_tree(command)}
        table = {"title": title, "rounds": rounds_of(rounds), "rows": rows(costs, loaded)}
        self.tables.append(table)
        print(written(table), flush=True)
        return costs

    def hold(self, what, costs, mine, theirs, limit, kind="processor", because=""):
        """A limit of how many times as much as another a command costs, if the other did its work each time.

        ``because`` says why it cannot do it, where that is known.
        """
        failed = [one.status for one in costs.get(theirs, ()) if not one.expected]
        if theirs not in costs:
            self.budget_left_out(what, limit, f"there is no {theirs}")
        elif failed:
            why = f"{theirs} ended with exit status {failed[0]}"
            self.budget_left_out(what, limit, f"{why}: {because}" if because else why)
        else:
            self.budget(what, times(costs[mine], costs[theirs], kind), limit)

    def budget(self, what, found, limit, unit="times", times=None):
        """A limit of what was found; ``times`` is told beside it: how many times as much as another."""
        kept = found <= limit
        ratio = {} if times is None else {"times": round(times, 3)}
        self.budgets.append(
            {"what": what, "found": round(found, 3), "limit": limit, "unit": unit, "kept": kept, **ratio}
        )
        said = "kept" if kept else "NOT KEPT"
        print(f"  {what}: {found:.3f} {unit}, may be {limit:.3f}: {said}", flush=True)

    def budget_left_out(self, what, limit, why, unit="times"):
        """A limit that nothing can be held to here."""
        self.budgets.append(
            {"what": what, "found": None, "limit": limit, "unit": unit, "kept": False, "why": str(why)}
        )
        print(f"  {what}: may be {limit:.3f} {unit}, NOT JUDGED: {why}", flush=True)

    def leave_out(self, why):
        """Note what cannot be measured here."""
        self.left_out.append(str(why))
        print(f"left out: {why}", flush=True)

    def results(self):
        """All that is kept."""
        return {
            "day": f"{self.begun:%F}",
            "time": f"{self.begun:%R}",
            "machine": {**machine(), "load before": round(self.load, 1)},
            "rounds": rounds_of(ROUNDS),
            "software": self.software,
            "left_out": self.left_out,
            "tables": self.tables,
            "budgets": self.budgets,
            "said": self.said,
        }

    def _cost(self, name, command, expected):
        """Run a command. If it does not end as expected, that is an error, or told the first time."""
        cost = self.starter.cost(command, output=self.path("answer"))
        if cost.status in expected:
            return cost
        sentence = f"{name}, exit status {cost.status}: {self._answer()[:LONGEST]}"
        if isinstance(command, Ours):
            raise NotExpectedError(sentence)
        if name not in self._told:
            self._told.add(name)
            print(f"  {sentence}", flush=True)
        return cost._replace(expected=False)

    def _answer(self):
        """What the last command has said, in one line."""
        return " ".join(Path(self.path("answer")).read_text(errors="replace").split())

    def _modules(self, command):
        """How many modules one of our plugins has loaded when it ends."""
        told, python, isolated, *plugin = self.path("modules"), *command
        self.starter.cost([python, isolated, "-c", _COUNTER, told, *plugin])
        return int(Path(told).read_text())


def ours(name, *words):
    """One of our plugins as it is called when it is installed."""
    return Ours([sys.executable, "-I", ROOT / "plugins" / name, *words])


def in_this_tree(command):
    """Whether it is one of our plugins as ours() calls it."""
    return isinstance(command, Ours) and command[0] == sys.executable


def rounds_of(usual):
    """How many rounds there are to be where there usually are so many."""
    return max(1, round(usual * int(os.environ.get("ROUNDS") or ROUNDS) / ROUNDS))


def times(costs, others, kind="processor"):
    """How many times as much as the others these cost: the median of the pairs."""
    pairs = zip(costs, others, strict=True)
    return statistics.median(getattr(one, kind) / max(getattr(other, kind), 1e-6) for one, other in pairs)


def rows(costs, modules):
    """Medians of each, and how many times as much as the first it costs; a status not expected."""
    first, *_ = costs.values()
    return [
        {
            "name": name,
            "processor_ms": round(1000 * statistics.median(one.processor for one in each), 1),
            "wall_ms": round(1000 * statistics.median(one.time for one in each), 1),
            "memory_mib": round(statistics.median(one.memory for one in each), 1),
            "times": None if each is first else round(times(each, first), 2),
            "status": next((one.status for one in each if not one.expected), None),
            "modules": modules.get(name),
        }
        for name, each in costs.items()
    ]


def written(table):
    """A table for whoever waits for it."""
    lines = [f"\n{table['title']}, medians of {table['rounds']}"]
    for row in table["rows"]:
        more = "" if row["times"] is None else f"   {row['times']:5.2f} times the processor time"
        more += "" if row["status"] is None else f"   exit status {row['status']}"
        more += "" if row["modules"] is None else f"   {row['modules']} modules"
        lines.append(
            f"  {row['name']:40} {row['processor_ms']:8.1f} ms processor"
            f" {row['wall_ms']:8.1f} ms {row['memory_mib']:6.1f} MiB{more}"
        )
    return "\n".join(lines)


def machine():
    """What it is measured on."""
    with open("/proc/cpuinfo") as file:
        models = {line.partition(":")[2].strip() for line in file if line.startswith("model name")}
    return {
        "processor": ", ".join(sorted(models)) or platform.machine(),
        "processors": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "kernel": f"Linux {platform.release().partition('-')[0]}",
        "Python": platform.python_version(),
    }
