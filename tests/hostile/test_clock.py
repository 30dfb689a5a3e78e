"""Plugins whose clock was set between two runs, or is set within one: no false alarm, and no wrong rate.

libfaketime is no way to that: with 0.9.10 ``time.sleep`` of Python 3.11 fails (clock_nanosleep, EINVAL).
"""

import json
import os
import time

import pytest
from cells import cells
from healthy import SAID
from subjects import OK
from surroundings import ORDINARY, Surroundings, run_in

TIMEOUT = 30  # seconds: this machine may be busy
WITHIN = ("-t", f"{TIMEOUT}s")
DAY, YEAR = 86400, 365 * 86400
SHIFTS = {"back a day": -DAY, "forward a day": DAY, "forward a year": YEAR}
_CLOCK = """import itertools, time
true, shifts = time.time, itertools.chain([0] * {looks}, itertools.repeat({shift}))
time.time = lambda: true() + next(shifts)
"""


@pytest.fixture
def clock(home):
    """Gives surroundings in which the clock is off by so many seconds, after so many looks at it."""

    def clock(shift, looks=0):
        (home / "sitecustomize.py").write_text(_CLOCK.format(shift=shift, looks=looks))
        return Surroundings(variables={"PYTHONPATH": str(home)})

    return clock


def is_well(subject, place, home, surroundings):
    """Assert that it finds all well."""
    outcome = run_in(subject, place, home, surroundings, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in outcome.line, outcome


def is_no_age(trouble, subject):
    """Whether nothing is as old as our clock says: a backup is, and then may be still to come."""
    return trouble > 0 or subject.plugin != "mysql_backup"


@cells({f"clock set {name}": seconds for name, seconds in SHIFTS.items()}, is_no_age, one=True)
def test_the_clock_is_set_between_two_runs(home, healthy, subject, trouble, clock):
    calm, place = healthy(subject)
    is_well(calm, place, home, ORDINARY)
    is_well(calm, place, home, clock(trouble))
    is_well(calm, place, home, ORDINARY)


@cells({f"memory moved {name}": seconds for name, seconds in SHIFTS.items()}, one=True)
def test_what_is_remembered_is_of_another_time(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    is_well(calm, place, home, ORDINARY)
    for file in (home / "state").glob("*.json"):
        kept = json.loads(file.read_bytes())
        file.write_text(json.dumps(kept | {"values": moved(kept["values"], trouble)}))
        os.chmod(file, 0o600)
    is_well(calm, place, home, ORDINARY)


def moved(value, seconds):
    """Add seconds to all that is a time of these years."""
    if isinstance(value, dict):
        return {name: moved(of, seconds) for name, of in value.items()}
    if isinstance(value, list):
        return [moved(of, seconds) for of in value]
    if isinstance(value, int | float) and abs(value - time.time()) < 10 * YEAR:
        return value + seconds
    return value


@cells({f"clock set {name} within a run": seconds for name, seconds in SHIFTS.items()}, is_no_age, one=True)
def test_the_clock_is_set_within_a_run(home, healthy, subject, trouble, clock):
    calm, place = healthy(subject)
    is_well(calm, place, home, clock(trouble, looks=1))
    is_well(calm, place, home, ORDINARY)
