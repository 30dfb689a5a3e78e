"""The logs of the servers of a test that fails are kept below build/ and named in the failure.

Of a test that failed and was run once more (CI does that), the end shows why it failed.

A plugin of pytest.
"""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from server_process import LOGS

BUILD = Path(__file__).parents[1] / "build" / "logs"
_began = {}  # Unix time of each test's set-up


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Note when it began."""
    _began[item.nodeid] = time.time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Copy what servers of this process have written since the test began."""
    report = yield
    if report.failed and (kept := keep(item.nodeid, _began.get(item.nodeid, 0.0))):
        report.sections.append(("logs of the servers", "\n".join(map(str, kept))))
    return report


def pytest_terminal_summary(terminalreporter):
    """Show what failed first, whatever came of it then."""
    reports = terminalreporter.stats.get("rerun", [])
    if reports:
        terminalreporter.section("failed, and were run once more")
    for report in reports:
        terminalreporter.line(f"{report.nodeid}\n{report.longreprtext}")


def keep(name, since):
    """Copy the logs that have changed since a Unix time into a folder of that name: gives the copies."""
    changed = [log for log in LOGS if os.path.exists(log) and os.path.getmtime(log) >= since]
    folder = BUILD / re.sub(r"[^\w.-]+", "-", name)[-150:]
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier run
    kept = []
    for number, log in enumerate(changed):
        folder.mkdir(parents=True, exist_ok=True)
        kept.append(folder / f"{number}-{Path(log).parent.name}-{Path(log).name}")
        shutil.copyfile(log, kept[-1])
    return kept
