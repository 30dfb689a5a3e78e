"""Processes that get no more than a share of one processor: a limit of their own control group."""

import contextlib

import places  # noqa: F401 - it says where the rest is
from control_group import UNIFIED, Kind, limited

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
