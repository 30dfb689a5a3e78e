"""What runs of every cell came to: contrib/docs/reliability.md is made from it."""

import json
import platform
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).parent / "figures.json"
FOLDERS = ("hostile", "faults", "fuzz")
lateness = []  # seconds after its timeout in which each plugin of this module has ended, negative: before


@dataclass
class Figures:
    """What the tests of one module came to.

    tests     that passed
    cells     how often a plugin was put in a trouble and held, by trouble
    skipped   how often that was not possible here
    counted   what tests have counted themselves, as ``record_property("counted", ("lines", 5))``
    seconds   of all its tests
    latest    seconds after its timeout in which the last plugin has ended
    """

    day: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())
    python: str = platform.python_version()
    seconds: float = 0.0
    latest: float | None = None
    tests: int = 0
    failed: int = 0
    cells: Counter = field(default_factory=Counter)
    skipped: Counter = field(default_factory=Counter)
    counted: Counter = field(default_factory=Counter)

    def add(self, report):
        """Take in what pytest reports of a phase of a test."""
        self.seconds = round(self.seconds + report.duration, 1)
        self.failed += report.failed
        trouble = dict(report.user_properties).get("trouble")
        if trouble and report.skipped:
            self.skipped[trouble] += 1
        if report.when != "call":
            return
        self.tests += report.passed
        if trouble and report.passed:
            self.cells[trouble] += 1
        for name, value in report.user_properties:
            if name == "counted":
                self.counted[value[0]] += value[1]
        if lateness:
            self.latest = round(max(lateness), 2)


class Modules(dict):
    """The figures of each module in FOLDERS."""

    def add(self, report):
        """Take in what pytest reports; the lateness of runs is that of one module."""
        path = Path(report.nodeid.partition("::")[0])
        if path.parent.name not in FOLDERS:
            return
        module = path.stem
        if module not in self:
            lateness.clear()
        self.setdefault(module, Figures()).add(report)

    def write(self):
        """Keep those of the modules that did not fail, beside what is known of others."""
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        for module, figures in self.items():
            if figures.tests and not figures.failed:
                known[module] = vars(figures)  # asdict() of 3.11 counts the pairs of a Counter
        FILE.write_text(json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False) + "\n")
