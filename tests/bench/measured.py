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
others have fewer in proportion. Figures of fewer rounds than usual are for a quick look, and kept apart.
"""

import compileall
import contextlib
import datetime as dt
import json
import os
import platform
import random
import re
import sys
import tempfile
from pathlib import Path

from interrupted import ending_tidily
from medians import rows, times, written
from starter import Starter

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).resolve().parent / "results"
QUICK = ROOT / "build" / "bench"  # the same, of fewer rounds than usual
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("live", "unit", "engines", "install")]
sys.path.append(str(ROOT / "contrib"))
HEAP = (  # one attribute of any JVM, for check_jmx
    "-O", "java.lang:type=Memory", "-A", "HeapMemoryUsage", "-K", "used", "--unit", "B", "-w", "100G",
)  # fmt: skip
ROUNDS = 25
MOST_CHARACTERS = 150  # of what a command says that does not do its work
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
            begun.enter_context(ending_tidily())
            self.folder = begun.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
            own = {"HOME": self.folder, "STATE_DIRECTORY": os.path.join(self.folder, "state")}
            self.starter = begun.enter_context(Starter(**own, **self.environment))
            self.begun = dt.datetime.now(dt.UTC)
            self.load = os.getloadavg()[0]
            self._end = begun.pop_all()
        return self

    def __exit__(self, kind, *_):
        with self._end:
            if kind is None:
                self._keep()

    def _keep(self):
        if not self.tables and not self.said:  # the figures of last time stay
            sys.exit(f"{self.name}: nothing could be measured: {'; '.join(self.left_out)}")
        place().mkdir(parents=True, exist_ok=True)
        kept = json.dumps(self.results(), indent=1, ensure_ascii=False)
        (place() / f"{self.name}.json").write_text(f"{kept}\n")

    def path(self, *parts):
        """A path below its folder."""
        return os.path.join(self.folder, *parts)

    def compare(self, title, commands, rounds=ROUNDS, between=lambda: None, expected=None, says=""):
        """Run these by their names, each once a round, after a run that does not count. Gives their costs.

        ``expected``  exit statuses by name, where they are not 0
        ``says``      a regular expression: what each has to say, some end with 0 whatever happens

        Raises NotExpectedError if one of ours does otherwise. What others do is told in their rows.
        """
        expected = dict.fromkeys(commands, (0,)) | (expected or {})

        def run(name, command):
            return self._cost(name, command, expected[name], says)

        for name, command in commands.items():
            run(name, command)
        costs = {name: [] for name in commands}
        for number in range(rounds_of(rounds)):
            between()
            for name in random.Random(number).sample(list(commands), len(commands)):
                costs[name].append(run(name, commands[name]))
        between()
        loaded = {
            name: self._modules(name, command, run)
            for name, command in commands.items()
            if in_this_tree(command)
        }
        table = {"title": title, "rounds": rounds_of(rounds), "rows": rows(costs, loaded)}
        self.tables.append(table)
        print(written(table), flush=True)
        return costs

    def hold(self, what, costs, mine, theirs, limit):
        """A limit of how many times as much as another a command costs, if that did its work each time."""
        failed = next((one.failed for one in costs.get(theirs, ()) if one.failed), "")
        if theirs not in costs:
            self.budget_left_out(what, limit, f"there is no {theirs}")
        elif failed:
            self.budget_left_out(what, limit, f"{theirs} ended with {failed}")
        else:
            self.budget(what, times(costs[mine], costs[theirs]), limit)

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
            "software": self.software,
            "left_out": self.left_out,
            "tables": self.tables,
            "budgets": self.budgets,
            "said": self.said,
        }

    def _cost(self, name, command, expected, says):
        """Run a command. If it does not do what is expected, that is an error, or told the first time."""
        cost = self.starter.cost(command, output=self.path("answer"))
        answer = Path(self.path("answer")).read_text(errors="replace")
        if cost.status in expected and re.search(says, answer):
            return cost
        failed = f"exit status {cost.status}: {' '.join(answer.split())[:MOST_CHARACTERS]}"
        if isinstance(command, Ours):
            raise NotExpectedError(f"{name}, {failed}")
        if name not in self._told:
            self._told.add(name)
            print(f"  {name}, {failed}", flush=True)
        return cost._replace(failed=failed)

    def _modules(self, name, command, run):
        """How many modules one of our plugins has loaded when it ends."""
        told, python, isolated, *plugin = self.path("modules"), *command
        Path(told).unlink(missing_ok=True)
        run(name, Ours([python, isolated, "-c", _COUNTER, told, *plugin]))
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


def place():
    """Where results are kept: what few rounds tell is for a quick look."""
    return RESULTS if rounds_of(ROUNDS) >= ROUNDS else QUICK


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
