"""What plugins say about recorded MySQL servers, word by word, run by run."""

import runpy
import time
from pathlib import Path

import recorded_mysql
from stallwatch.sources import mysql, ndb_mgm

PLUGINS = Path(__file__).parents[2] / "plugins"


def said(path, home, monkeypatch):
    """The whole output of all runs of a recording, and their exit statuses; ``home`` is an empty folder."""
    monkeypatch.setenv("HOME", str(home))  # whoever runs this may have a ~/.my.cnf
    runs = recorded_mysql.load(path)
    texts = [_said(run, home, monkeypatch) for run in runs]
    for number, (run, before) in enumerate(zip(runs[1:], runs, strict=False), start=1):
        texts[number] = f"\n{run.began - before.began:.0f} s later\n{texts[number]}"
    return "".join(texts)


def _said(run, home, monkeypatch):
    monkeypatch.setattr(mysql, "connect", run.connect)
    monkeypatch.setattr(ndb_mgm, "data_nodes", run.data_nodes)
    clocks = {"time": run.clock, "monotonic": run.clock, "clock_gettime": lambda _: run.clock()}
    for name, stand_in in {**clocks, "sleep": run.clock.sleep}.items():
        monkeypatch.setattr(time, name, stand_in)
    plugin = runpy.run_path(str(PLUGINS / run.plugin))
    status, text = plugin["check"].run(plugin["findings"], [*run.options, "--state-dir", str(home)])
    for surprise in run.surprises:
        raise surprise
    assert "internal error" not in text
    return f"{text}\nexit status {status}\n"
