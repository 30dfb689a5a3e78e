"""What a run of every cell came to: contrib/docs/reliability.md is made from it."""

import json
import platform
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import runs

FILE = Path(__file__).parent / "figures.json"


class Figures:
    """Counts what tests report.

    cells     how often a plugin was put in a trouble, by trouble
    skipped   how often that was not possible
    counted   what tests have counted themselves, as ``record_property("counted", ("lines", 5))``
    seconds   of all these tests
    """

    def __init__(self):
        self.cells, self.skipped, self.counted = Counter(), Counter(), Counter()
        self.seconds = 0.0

    def add(self, report):
        """Take in what pytest reports of a phase of a test."""
        said = dict(report.user_properties)
        trouble, counted = (
            said.get("trouble"),
            [more for name, more in report.user_properties if name == "counted"],
        )
        if trouble and report.skipped:
            self.skipped[trouble] += 1
        if report.when != "call" or not (trouble or counted):
            return
        self.seconds += report.duration
        if trouble and report.passed:
            self.cells[trouble] += 1
        for what, number in counted:
            self.counted[what] += number

    def write(self):
        """Keep them."""
        content = {
            "day": datetime.now(UTC).date().isoformat(),
            "python": platform.python_version(),
            "seconds": round(self.seconds),
            "latest": round(max(runs.lateness, default=0), 2),
            "cells": dict(self.cells),
            "skipped": dict(self.skipped),
            "counted": dict(self.counted),
        }
        FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
