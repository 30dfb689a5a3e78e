"""Processes that get no more than a share of one processor: a limit of their own control group."""

import contextlib
import subprocess
import sys
import time

import psutil
from control_group import UNIFIED, Kind, limited
from software import Missing

PERIOD = 100_000  # microseconds
LEAST = 1_000  # microseconds that a group may have in a period
KINDS = (
    Kind(
        "/sys/fs/cgroup/cpu",
        (("cpu.cfs_period_us", "{0}", str(PERIOD)), ("cpu.cfs_quota_us", "{1}", "-1")),
    ),
    Kind(UNIFIED, (("cpu.max", "{1} {0}", "max"),)),
)


@contextlib.contextmanager
def throttled(processes, share):
    """Meanwhile the processes have that share of one processor together."""
    period = max(PERIOD, round(LEAST / share))
    with limited(processes, KINDS, period, round(period * share)):
        yield


def need(pid, seconds=5.0):
    """The share of one processor that a process takes while nobody limits it."""
    before = _used(pid)
    time.sleep(seconds)
    return (_used(pid) - before) / seconds


def _used(pid):
    """Seconds of processor time that a process has had."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


@contextlib.contextmanager
def others_burning(number):
    """Meanwhile so many processes that have nothing to do with any server want a processor each."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for one in burning:
            one.kill()
            one.wait()


def unavailable():
    """Why no process can be throttled here, or None."""
    try:
        with throttled((), 0.5):
            return None
    except (Missing, OSError) as error:
        return f"no control group can be limited: {error}"
