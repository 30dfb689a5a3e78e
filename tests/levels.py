"""What a run of the tests says at its start and its end: what it runs, how long it takes, what it leaves out.

A plugin of pytest, as is balance.py, which hands the tests to workers.
"""

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from groups import GROUPS, expected, group_of, unit_of

TESTS = Path(__file__).parent
DURATIONS = TESTS / "durations.json"
LONG = 10.0  # seconds, from which on a test says why
START = 15.0  # seconds to collect the tests and to start the workers
PACE = "this computation"  # among the durations: what ``pace`` gave where they were measured


def pytest_addoption(parser):
    """Options of the whole run."""
    add = parser.getgroup("stallwatch").addoption
    add("--group", action="append", metavar="NAME", help="run the tests of this group (default: all groups)")
    add("--all-cells", action="store_true", help="also all troubles, long tests, benches and all examples")
    add("--write-durations", action="store_true", help=f"write what the tests take into {DURATIONS.name}")


# Whether this run has --all-cells: modules of tests read it when they are imported.
_every = False


def pytest_configure(config):
    """Count and time what this process runs, or, where there are workers, what they run."""
    global _every  # noqa: PLW0603 - an option of the run
    _every = config.getoption("all_cells")
    for name in config.getoption("group") or ():
        if name not in GROUPS:
            raise pytest.UsageError(f"GROUP={name!r}: no such group; groups: {', '.join(GROUPS)}")
    if not hasattr(config, "workerinput"):
        modules()
    config.pluginmanager.register(Run(config), "stallwatch-run")


def pytest_ignore_collect(collection_path, config):
    """Leave out the modules of groups that are not asked for."""
    chosen = config.getoption("group")
    if chosen and collection_path.name.startswith("test_") and TESTS in collection_path.parents:
        return group_of(str(collection_path.relative_to(TESTS))) not in chosen or None
    return None


def representative(some, every):
    """What a test tries, such as a number of examples: ``some``, but ``every`` with --all-cells.

    For tests that try the same thing again with other values: most of what the thousandth value finds, the
    hundredth has found.
    """
    return every if _every else some


def modules():
    """All modules of tests, with their groups. Raises UsageError where one is in no group."""
    paths = [str(path.relative_to(TESTS)) for path in sorted(TESTS.rglob("test_*.py"))]
    try:
        return {path: group_of(path) for path in paths}
    except LookupError as error:
        raise pytest.UsageError(error.args[0]) from None


def written_durations():
    """What is written there."""
    return json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}


def known_durations():
    """Seconds that tests take, by unit, of all modules that are still there."""
    known = written_durations().items()
    return {unit: seconds for unit, seconds in known if (TESTS / unit.partition("[")[0]).is_file()}


def pace():
    """Milliseconds of processor time for a computation of about 0.1 s, the fastest of three."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        sum(len(str(number)) for number in range(500_000))
        taken.append(time.process_time() - begun)
    return round(1000 * min(taken))


def scaled(durations, written):
    """Durations on this machine, if the pace of the measured one is known: tests of servers mostly wait."""
    factor = pace() / written[PACE] if PACE in written else 1.0
    return {
        unit: seconds * factor if group_of(unit) == "unit" else seconds for unit, seconds in durations.items()
    }


class Run:
    """One run.

    left_out    how many tests only --all-cells runs, by their folder
    seconds     what each test took with its fixtures, calls: without them
    reasons     why a test takes long, of each that says so
    """

    def __init__(self, config):
        self.config = config
        self.left_out = Counter()
        self.seconds = Counter()
        self.calls = {}
        self.reasons = {}

    def pytest_sessionstart(self):
        """Say which groups are run, and about how long: of named files or tests nobody knows that."""
        option, source = self.config.option, self.config.args_source
        part = source is source.ARGS or option.keyword or option.markexpr
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter and not part:
            reporter.write_line(self._header())

    def _header(self):
        chosen = self.config.getoption("group") or list(GROUPS)
        workers = self.config.getoption("numprocesses", None) or 1
        level = "every cell" if self.config.getoption("all_cells") else "the representative part"
        run = [module for module, group in modules().items() if group in chosen]
        times, took = known_durations(), ""
        if times and not self.config.getoption("all_cells"):
            seconds = START + expected(run, scaled(times, written_durations()), workers)
            took = f", about {seconds / 60:.1f} min on 2 idle processors"
            if guessed := len(set(run) - {unit.partition("[")[0] for unit in times}):
                took += f" ({guessed} of {len(run)} test modules not measured)"
        return f"groups: {', '.join(chosen)} ({level}); workers: {workers}{took}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        """Leave out what is not representative, unless all is asked for."""
        for item in items:
            if reason := item.get_closest_marker("slow"):
                self.reasons[item.nodeid] = reason.args[0]
        if config.getoption("all_cells"):
            return
        out = [item for item in items if item.get_closest_marker("only_in_all_cells")]
        self.left_out.update(item.nodeid.split("/")[1] for item in out)
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if not item.get_closest_marker("only_in_all_cells")]

    def pytest_runtest_logreport(self, report):
        """Add the time of a phase of a test; what a fixture takes that others share is not the test's own."""
        self.seconds[report.nodeid] += report.duration
        if report.when == "call":
            self.calls[report.nodeid] = report.duration

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        """Hand the process that started this worker what was left out; keep the times if asked to.

        Behind all that others say at the end: say what was not run.
        """
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left_out"] = dict(self.left_out)
            self.config.workeroutput["reasons"] = self.reasons
        elif self.config.getoption("write_durations") and session.exitstatus == 0:
            units = Counter()
            for nodeid, seconds in self.seconds.items():
                units[unit_of(nodeid)] += seconds
            measured = {unit: round(seconds, 1) for unit, seconds in units.items()}
            kept = known_durations() | measured | {PACE: pace()}
            DURATIONS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
        yield
        if reporter := self.config.pluginmanager.get_plugin("terminalreporter"):
            for line in self._not_run():
                reporter.write_line(line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Take over what a worker left out: all of them collect the same."""
        output = getattr(node, "workeroutput", {})
        self.left_out |= Counter(output.get("left_out", {}))
        self.reasons |= output.get("reasons", {})

    def pytest_terminal_summary(self, terminalreporter):
        """Say what takes long without a reason."""
        long = {nodeid: seconds for nodeid, seconds in self.calls.items() if seconds > LONG}
        if unnamed := sorted(long.keys() - self.reasons.keys(), key=long.get, reverse=True):
            why = "mark it slow with its reason, unless only a busy machine made it slow"
            terminalreporter.write_line(f"beyond {LONG:.0f} s without a reason ({why}):")
            for nodeid in unnamed:
                terminalreporter.write_line(f"{long[nodeid]:.0f} s {nodeid}")

    def _not_run(self):
        chosen = self.config.getoption("group") or GROUPS
        if others := [name for name in GROUPS if name not in chosen]:
            yield f"not run: the groups {', '.join(others)} (make test)"
        if self.left_out:
            counts = ", ".join(f"{count:,} of tests/{name}" for name, count in self.left_out.most_common())
            yield f"not run: {self.left_out.total():,} tests that only make test-all runs: {counts}"
