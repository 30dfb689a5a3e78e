"""What runs of every cell came to: contrib/docs/reliability.md is made from it."""

import json
import platform
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).parent / "figures.json"
FOLDERS = ("hostile", "faults", "fuzz")
lateness = []  # seconds after its timeout in which each plugin of this test has ended, negative: before


class Figures:
    """What the tests of one module came to.

    held      how many passed
    failed    how many did not
    skipped   how many could not be run here, by the reason
    cells     which plugins held, by test and trouble
    counted   what tests have counted themselves, as ``note("counted", ("lines", 5))``
    measured  the highest of what tests have measured themselves, as ``note("measured", ("time, s", 0.3))``
    seconds   of all of them
    latest    seconds after its timeout in which the last plugin has ended; None: none was run
    """

    def __init__(self):
        self.day = datetime.now(UTC).date().isoformat()
        self.python = platform.python_version()
        self.held = self.failed = 0
        self.skipped, self.counted, self.cells, self.measured = Counter(), Counter(), {}, {}
        self.seconds, self.latest = 0.0, None

    def add(self, report):
        """Take in what pytest reports of a phase of a test."""
        self.seconds = round(self.seconds + report.duration, 1)
        self.failed += report.failed
        if report.skipped:
            self.skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1
        if report.when != "call" or not report.passed:
            return
        self.held += 1
        for name, value in report.user_properties:
            if name == "counted":
                self.counted[value[0]] += value[1]
            if name == "measured":
                what, number = value
                number = float(f"{number:.2g}")
                self.measured[what] = max(number, self.measured.get(what, number))
            if name == "late":
                self.latest = round(value if self.latest is None else max(self.latest, value), 2)
            if name == "cell":
                trouble, plugin = value
                test = report.nodeid.partition("::")[2].partition("[")[0]
                self.cells.setdefault(test, {}).setdefault(trouble, []).append(plugin)


class Modules(dict):
    """The figures of each module in FOLDERS."""

    def add(self, report):
        """Take in what pytest reports."""
        path = Path(report.nodeid.partition("::")[0])
        if path.parent.name in FOLDERS:
            self.setdefault(path.stem, Figures()).add(report)

    def write(self):
        """Keep them, beside what is known of modules that were not run now; not those of one that failed."""
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        for module, figures in self.items():
            known.pop(module, None)
            if not figures.failed:
                known[module] = vars(figures)
        FILE.write_text(json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False) + "\n")
