"""One trial: an engine that is asked to run a command so many times a second, and what all that costs."""

import contextlib
import math
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from capacity_engines import ENGINES, INTERVAL, services

INTERVALS = 5  # that are counted
WINDOWS = 2  # of so many intervals, at most: in a later one each service has found its place
ENOUGH, TOO_MANY, HOPELESS = 0.97, 1.03, 0.85  # of what is due
PUNCTUAL = 1.0  # seconds
MOST = 0.95  # of the results
TIMEOUT = 10  # seconds until all checks that an engine has begun have ended after it


class Trial(NamedTuple):
    """An engine that was asked to run a command so many times a second."""

    asked: float  # checks a second that were due
    done: float  # the same
    after: float  # seconds from when a check was due to its result
    late: float  # the same, that 95 of 100 do not exceed
    slow: float  # seconds of a check itself, that 99 of 100 do not exceed
    failed: float  # share of services that had a result that was not OK
    busy: float  # share of all processors' time
    engine: float  # ms of processor time per check
    check: float  # the same, of the plugin
    server: float  # the same, of what it asks

    @property
    def settled(self):
        """Whether no more was done than was due: else checks are moved, or made up for."""
        return self.done <= TOO_MANY * self.asked

    @property
    def sustained(self):
        """Whether all that was due was done, in time, and found nothing wrong."""
        return self.settled and self.done >= ENOUGH * self.asked and self.late < PUNCTUAL and self.failed == 0

    def kept(self):
        """What is kept of it."""
        return {name: round(value, 3) for name, value in self._asdict().items()}


class Clock(NamedTuple):
    """Checks that were run, and seconds of processor time, since some time ago."""

    done: int
    engine: float
    check: float
    server: float
    busy: float  # of the machine
    all: float  # the same, idle or not
    time: float


def seconds(process):
    """Processor time of a process, and of its children that have ended."""
    times = process.cpu_times()
    return times.user + times.system, times.children_user + times.children_system


def percentile(numbers, share):
    """The number that this share of them does not exceed; of none, infinity."""
    ordered = sorted(numbers)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.inf


class Trials:
    """Tries commands with engines, in a folder, with the servers that they ask."""

    def __init__(self, folder, servers):
        self.folder, self.servers = Path(folder), servers
        self.number = 0

    def run(self, kind, command, rate, at_once, *, patient=False):
        """Let an engine run it at that rate, until each service has its place, and count then.

        An engine that is far behind is stopped at once, unless we are patient.
        """
        self.number += 1
        place = self.folder / f"{kind}-{self.number}"
        with ENGINES[kind](place, command, rate, at_once) as engine:
            time.sleep(engine.settling * INTERVAL)
            for _ in range(WINDOWS):
                trial = self._window(engine, services(rate) / INTERVAL, 0 if patient else HOPELESS)
                if trial.settled:
                    break
            begun = engine.process.family
        psutil.wait_procs(begun, TIMEOUT)  # checks that it does not wait for, and that still write
        return trial

    def _window(self, engine, due, hopeless):
        """Count for some intervals, as long as that share of what is due is done."""
        before = self._read(engine)
        for number in range(1, INTERVALS + 1):
            time.sleep(max(0, before.time + number * INTERVAL - time.monotonic()))
            after = self._read(engine)
            spent = Clock(*(b - a for a, b in zip(before, after, strict=True)))
            if number > 1 and spent.done < hopeless * due * spent.time:
                break
        results = engine.last()
        each = 1000 / max(spent.done, 1)
        return Trial(
            asked=due,
            done=spent.done / spent.time,
            after=percentile([one.after for one in results], 0.5),
            late=percentile([one.after for one in results], MOST),
            slow=percentile([one.took for one in results], 0.99),
            failed=sum(one.failed for one in results) / max(len(results), 1),
            busy=spent.busy / spent.all,
            engine=spent.engine * each,
            check=spent.check * each,
            server=spent.server * each,
        )

    def _read(self, engine):
        """Read the clock: of an engine and what it has started, of the servers, and of the machine."""
        done, now = engine.done(), time.monotonic()
        of_engine = of_checks = 0.0
        for process in engine.process.family:
            with contextlib.suppress(psutil.NoSuchProcess):
                own, ended = seconds(process)
                is_engine = process.name() == engine.program_name
                of_engine += own if is_engine else 0
                of_checks += ended if is_engine else own + ended
        of_servers = sum(seconds(process)[0] for server in self.servers for process in server.process.family)
        machine = psutil.cpu_times()
        total = sum(machine) - machine.guest - machine.guest_nice  # which user and nice have
        busy = total - machine.idle - machine.iowait
        return Clock(done, of_engine, of_checks, of_servers, busy, total, now)
