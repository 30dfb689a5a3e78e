"""When a disk is at its limit."""

import pytest
from stallwatch.probes.host.diagnosis import Spell, is_plateau, plateaus
from stallwatch.probes.host.model import DiskLoad


def spell(wait, requests=1000.0, octets=8e6, busy=98.0):
    return Spell(60.0, busy, wait, requests, octets)


def load(wait, requests=1000.0, busy=98.0, name="sda"):
    return DiskLoad(name, busy, wait, wait * requests, 0.0, requests, 0.0, requests * 8192, 0.0)


def test_a_flat_rate_with_rising_await():
    assert is_plateau([spell(0.002), spell(0.004), spell(0.008)])


@pytest.mark.parametrize(
    "spells",
    [
        [spell(0.002), spell(0.004)],
        [spell(0.008), spell(0.008), spell(0.008)],
        [spell(0.002), spell(0.0021), spell(0.0022)],
        [spell(0.008), spell(0.004), spell(0.009)],
        [spell(0.002, busy=60), spell(0.004), spell(0.008)],
        [spell(0.002, 500, 4e6), spell(0.004, 800, 6e6), spell(0.008, 1000, 8e6)],
        [spell(0.0, 0.0, 0.0), spell(0.0, 0.0, 0.0), spell(0.0, 0.0, 0.0)],
        [spell(20e-6), spell(24e-6), spell(31e-6)],
    ],
    ids=[
        "too few",
        "steady",
        "hardly longer",
        "up and down",
        "not busy",
        "still does more",
        "idle",
        "fast",
    ],
)
def test_what_is_no_plateau(spells):
    assert not is_plateau(spells)


def test_either_requests_or_bytes_may_be_the_limit():
    assert is_plateau([spell(0.002, 1000), spell(0.004, 2000), spell(0.008, 3000)])
    assert is_plateau([spell(0.002, octets=1e6), spell(0.004, octets=2e6), spell(0.008, octets=3e6)])


def test_it_takes_three_looks():
    memory = {}
    found = [plateaus(memory, [load(wait)], 60.0, again=False) for wait in (0.002, 0.004, 0.008, 0.016)]
    assert [bool(one) for one in found] == [False, False, True, True]
    assert found[3][0].seconds == 180
    assert [each.wait for each in found[3][0].spells] == [0.004, 0.008, 0.016]


def test_an_interval_in_which_it_was_not_busy_begins_anew():
    memory = {}
    for wait, busy in ((0.002, 98), (0.004, 98), (0.006, 20), (0.008, 98)):
        found = plateaus(memory, [load(wait, busy=busy)], 60.0, again=False)
    assert found == []


def test_a_look_that_is_the_last_one_again_takes_its_place():
    memory = {}
    plateaus(memory, [load(0.002)], 60.0, again=False)
    plateaus(memory, [load(0.004)], 60.0, again=False)
    for wait in (0.005, 0.006, 0.008):
        assert plateaus(memory, [load(wait)], 65.0, again=True) == []
    assert plateaus(memory, [load(0.008)], 60.0, again=False)


def test_each_disk_by_itself():
    memory = {}
    for wait in (0.002, 0.004, 0.008):
        found = plateaus(memory, [load(wait), load(0.002, name="sdb")], 60.0, again=False)
    assert [one.disk for one in found] == ["sda"]
    assert set(memory["intervals"]) == {"sda", "sdb"}


def test_a_sample_keeps_nothing_to_compare_with():
    assert plateaus({}, [load(0.008)], 5.0, again=False) == []
