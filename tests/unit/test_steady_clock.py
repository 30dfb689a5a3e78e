"""The time of day as it passes, whatever is done to our clock between two runs."""

import time

import pytest
from stallwatch.probes import shared
from stallwatch.sources import kernel

NOON = 1_795_000_000.0


class Host:
    """A host with a clock that can be set."""

    def __init__(self):
        self.clock = NOON
        self.up = 500.0
        self.boot = "0b3c9a1e"

    def later(self, seconds):
        """Let time go by."""
        self.clock += seconds
        self.up += seconds


@pytest.fixture
def host(monkeypatch):
    host = Host()
    monkeypatch.setattr(time, "time", lambda: host.clock)
    monkeypatch.setattr(time, "clock_gettime", lambda which: {time.CLOCK_BOOTTIME: host.up}[which])
    monkeypatch.setattr(kernel, "boot", lambda: host.boot)
    return host


def test_the_first_look_takes_the_clock_as_it_is(host):
    assert shared.steady_now({}) == NOON


@pytest.mark.parametrize("step", [0, 3600, -3600, -86400, 365 * 86400])
def test_what_passes_is_true_however_the_clock_is_set(host, step):
    memory = {}
    shared.steady_now(memory)
    host.later(60)
    host.clock += step
    assert shared.steady_now(memory) == NOON + 60


def test_after_a_boot_the_clock_is_all_there_is(host):
    memory = {}
    shared.steady_now(memory)
    host.later(600)
    host.up, host.boot = 5.0, "another"
    assert shared.steady_now(memory) == NOON + 600
    host.later(60)
    host.clock -= 3600
    assert shared.steady_now(memory) == NOON + 660


def test_nor_is_there_more_where_the_kernel_does_not_name_its_boot(host):
    host.boot, memory = None, {}
    shared.steady_now(memory)
    host.later(60)
    host.clock += 3600
    assert shared.steady_now(memory) == NOON + 3660


@pytest.mark.parametrize("kept", [None, 5, [], ["0b3c9a1e"], ["0b3c9a1e", "x"], ["0b3c9a1e", True], {}])
def test_damage_is_as_if_there_were_nothing(host, kept):
    memory = {shared.KEPT: kept}
    assert shared.steady_now(memory) == NOON
    host.later(60)
    host.clock -= 3600
    assert shared.steady_now(memory) == NOON + 60


def test_for_how_long_the_host_is_up_may_be_told_by_others(host):
    memory = {}
    shared.steady_now(memory, 20.0)
    host.clock += 3600
    assert shared.steady_now(memory, 80.0) == NOON + 60
