"""Which recordings of MySQL servers lack what plugins ask today: the end of a run of the tests shows it.

A plugin of pytest. A test notes what a recording lacks: ``note("lacks", [RECORDING, TABLES, COLUMNS])``.
"""

import os
import textwrap

TITLE = "recordings that lack what plugins ask today"
WRAPPER = textwrap.TextWrapper(110, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def pytest_terminal_summary(terminalreporter):
    """Show it, if there is any."""
    reporter = terminalreporter
    reports = [report for several in reporter.stats.values() for report in several]
    recordings = {}
    for name, value in (one for report in reports for one in getattr(report, "user_properties", ())):
        if name == "lacks":
            recording, *what = value
            recordings.setdefault(tuple(what), set()).add(recording)
    if recordings:
        reporter.section(TITLE)
    for what, found in sorted(recordings.items()):
        reporter.line(": ".join(what))
        for line in _by_folder(found):
            reporter.line(WRAPPER.fill(line))


def _by_folder(recordings):
    names = {}
    for recording in sorted(recordings):
        folder, file = os.path.split(recording)
        names.setdefault(folder, []).append(file.removesuffix(".json"))
    return [f"{len(files)} in {folder}: {', '.join(files)}" for folder, files in names.items()]
