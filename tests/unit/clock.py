"""Time that goes by only if a test says so, or somebody sleeps: the pace of the machine changes nothing."""

import time


def keep_time(monkeypatch, now, sleep=lambda _: None):
    """Let the time be what ``now()`` says, for everybody; ``sleep`` is told of each pause."""
    monkeypatch.setattr(time, "time", now)
    monkeypatch.setattr(time, "monotonic", now)
    monkeypatch.setattr(time, "clock_gettime", lambda _: now())
    monkeypatch.setattr(time, "sleep", sleep)


class Clock:
    """The time of a test."""

    def __init__(self, now=1_795_000_000.0):
        self.now = now

    def later(self, seconds):
        self.now += seconds

    def keep(self, monkeypatch):
        """Let everybody's time be this one."""
        keep_time(monkeypatch, lambda: self.now, self.later)
