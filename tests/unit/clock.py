"""Time that goes by only if a test says so, or somebody sleeps: the pace of the machine changes nothing."""

import signal
import time

from stallwatch.deadline import Account, Deadline


def keep_time(monkeypatch, now, sleep=lambda _: None):
    """Let the time be what ``now()`` says, for everybody; ``sleep`` is told of each pause.

    All of it is time that servers had.
    """
    monkeypatch.setattr(time, "time", now)
    monkeypatch.setattr(time, "monotonic", now)
    monkeypatch.setattr(time, "clock_gettime", lambda _: now())
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(Deadline, "clock", lambda _: now())
    monkeypatch.setattr(Account, "lost", lambda _: 0.0)


class Waiting:
    """What a server of a test has as its deadline: all of the time was its own."""

    def clock(self):
        return time.monotonic()

    def rest(self, seconds):
        time.sleep(max(0.0, seconds))

    def must_have_had_time(self):
        pass

    def short(self):
        return "this check had 1 s of 8 s left"


def soon(run):
    """Let the time of a run be up in a moment, however long it took to come here; it says "within 500 ms"."""
    run.deadline.extend(0.1 - run.deadline.until_end())
    run.deadline.seconds = run.deadline.account.seconds = 0.5
    signal.setitimer(signal.ITIMER_REAL, 0.1)


class Clock:
    """The time of a test."""

    def __init__(self, now=1_795_000_000.0):
        self.now = now

    def later(self, seconds):
        self.now += seconds

    def keep(self, monkeypatch):
        """Let everybody's time be this one."""
        keep_time(monkeypatch, lambda: self.now, self.later)
