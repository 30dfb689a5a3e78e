"""Runs of a plugin at servers that were captured, at a pace that a test sets."""

import runpy
from pathlib import Path

from clock import keep_time
from stallwatch.frame.options import mysql

PLUGINS = Path(__file__).parents[2] / "plugins"


class Runs:
    """Runs a plugin; what it remembers is kept in ``home``. Time goes by only if somebody sleeps."""

    def __init__(self, name, home, monkeypatch):
        self._plugin = runpy.run_path(str(PLUGINS / name))
        self._home = home
        self._now = 1_795_000_000.0
        self._server = None
        monkeypatch.setattr(mysql, "connect", lambda *_: self._server)
        keep_time(monkeypatch, lambda: self._now, self.sleep)

    def sleep(self, seconds):
        """Let time go by, at the server, too."""
        self._server.later(int(self._now + seconds) - int(self._now))
        self._now += seconds

    def __call__(self, server, *options, **more):
        """Run so many seconds after the last time, in which the server has counted; its status and text."""
        return self._run("run", server, *options, **more)

    def report(self, server, *options, **more):
        """The same, as a Report."""
        return self._run("report", server, *options, **more)

    def _run(self, how, server, *options, after=60, state=True, **counted):
        self._server = server
        self.sleep(after)
        server.later(0, **counted)
        home = ["--state-dir", str(self._home / "state")] if state else []
        return getattr(self._plugin["check"], how)(self._plugin["findings"], [*options, *home])


def numbers(text):
    """The perfdata of line 1 by label, without thresholds."""
    pairs = (item.split("=") for item in text.splitlines()[0].partition(" | ")[2].split())
    return {label: value.partition(";")[0] for label, value in pairs}
