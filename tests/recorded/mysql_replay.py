"""What plugins say about recorded MySQL servers, word by word, run by run."""

import os
import runpy
import time
from pathlib import Path

import newest_recording
import pytest
import recorded_mysql
from stallwatch.deadline import Account, Deadline
from stallwatch.sources import recording

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"


class LacksError(pytest.fail.Exception):
    """The newest recording of a product lacks what is asked today: one sentence, no traceback."""

    def __init__(self, sentence):
        super().__init__(sentence, pytrace=False)


def said(path, home, monkeypatch, note=None):
    """The whole output of all runs of a recording, and their exit statuses; ``home`` is an empty folder.

    What the recording lacks of what is asked today is recorded as the property "lacks" of the test, for
    older_recordings.py; raises LacksError where that is more than an older recording may lack.
    """
    monkeypatch.setenv("HOME", str(home))  # whoever runs this may have a ~/.my.cnf
    runs = recorded_mysql.load(path)
    try:
        texts = [_said(run, home, monkeypatch) for run in runs]
    finally:
        _note_lacks(path, runs, note or (lambda *_: None))
    _fail_if_newest(path, runs)
    for number, (run, before) in enumerate(zip(runs[1:], runs, strict=False), start=1):
        texts[number] = f"\n{run.began - before.began:.0f} s later\n{texts[number]}"
    return "".join(texts)


def _said(run, home, monkeypatch):
    clocks = {"time": run.clock, "monotonic": run.clock, "clock_gettime": lambda _: run.clock()}
    monkeypatch.setattr(Deadline, "clock", lambda _: run.clock())
    monkeypatch.setattr(Account, "lost", lambda _: 0.0)  # all of the time was the servers'
    for name, stand_in in {**clocks, "sleep": run.clock.sleep}.items():
        monkeypatch.setattr(time, name, stand_in)
    plugin = runpy.run_path(str(PLUGINS / run.plugin))
    with recording.use(run):
        status, text = plugin["check"].run(plugin["findings"], [*run.options, "--state-dir", str(home)])
    for surprise in run.surprises:
        raise surprise
    assert "internal error" not in text, text
    return f"{text}\nexit status {status}\n"


def _lacks(runs):
    """The flavour of a server, tables, what their answer lacks, and the Lack."""
    for flavour, lack in (one for run in runs for one in run.lacks):
        yield flavour, lack.asked.tables, ", ".join([*lack.columns, *lack.names]), lack


def _note_lacks(path, runs, note):
    for _, tables, what, _ in _lacks(runs):
        note("lacks", [os.path.relpath(path, ROOT), tables, what])


def _fail_if_newest(path, runs):
    found = [
        f"{flavour.name} that asks {tables} and lacks {what}"
        for flavour, tables, what, lack in _lacks(runs)
        if newest_recording.newest(path.parent, flavour.name, lack) == path.stem
    ]
    if found:
        what = ", the newest of ".join(dict.fromkeys(found))
        how = newest_recording.how_to_record(path.stem)
        raise LacksError(f"{path.name} is the newest recording of {what}: record it anew by {how}")
