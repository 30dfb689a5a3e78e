"""Plugins whose clock was set between two runs, or is set within one: no false alarm, and no wrong rate.

libfaketime is no way to that: with 0.9.10 ``time.sleep`` of Python 3.11 fails (clock_nanosleep, EINVAL).
"""

import json
import time

from cells import cells
from healthy import SAID, sane
from subjects import OK
from surroundings import ORDINARY, TIMEOUT, WITHIN, Surroundings, run_in

DAY, YEAR = 86400, 365 * 86400
SHIFTS = {"back a day": -DAY, "forward a day": DAY, "forward a year": YEAR}
_CLOCK = """import sys, time
true, looks = time.time, 0

def clock():
    global looks
    ours = sys._getframe(1).f_globals.get("__name__", "").startswith(("stallwatch", "__main__"))
    looks += ours
    if ours and looks > {looks}:
        open({mark!r}, "w").close()
    return true() + (looks > {looks}) * {shift}

time.time = clock
"""


class Clock:
    """Surroundings in which the clock is off by so many seconds, after so many looks of a plugin at it."""

    def __init__(self, home, shift, looks=0):
        self._mark = home / "the clock was off"
        (home / "sitecustomize.py").write_text(_CLOCK.format(shift=shift, looks=looks, mark=str(self._mark)))
        self.surroundings = Surroundings(variables={"PYTHONPATH": str(home)})

    def was_off(self):
        """Whether a plugin was told a wrong time."""
        return self._mark.exists()


def is_well(subject, place, home, surroundings):
    """Assert that it finds all well."""
    outcome = run_in(subject, place, home, surroundings, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in outcome.line, outcome
    sane(outcome)


# They ask how long something has been so, or a JVM's own clock; bonding keeps a time only of what is wrong.
WITHOUT_CLOCK = ("mysql_query", "ndb_transactions", "jmx", "jmx_thread_pools")
LOOK_TWICE = ("mysql_status", "innodb_buffer_pool", "innodb_redo_log", "ndb_redo_buffer", "ndb_log")


def looks(trouble, subject):
    """Whether it looks at the clock, and nothing is as old as that says: a backup may be still to come."""
    return subject.plugin not in WITHOUT_CLOCK and (trouble > 0 or subject.plugin != "mysql_backup")


def keeps_times(_trouble, subject):
    return subject.plugin not in (*WITHOUT_CLOCK, "bonding")


def looks_twice(_trouble, subject):
    return subject.plugin in LOOK_TWICE


@cells({f"clock set {name}": seconds for name, seconds in SHIFTS.items()}, looks, one=True)
def test_the_clock_is_set_between_two_runs(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    is_well(calm, place, home, ORDINARY)
    clock = Clock(home, trouble)
    is_well(calm, place, home, clock.surroundings)
    assert clock.was_off()
    is_well(calm, place, home, ORDINARY)


@cells({f"memory moved {name}": seconds for name, seconds in SHIFTS.items()}, keeps_times, one=True)
def test_what_is_remembered_is_of_another_time(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    is_well(calm, place, home, ORDINARY)
    (file,) = (home / "state").glob(f"{subject.plugin}-*.json")  # not what servers showed at first use
    kept = json.loads(file.read_bytes())
    other = moved(kept["values"], trouble)
    assert other != kept["values"]
    file.write_text(json.dumps(kept | {"values": other}))
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


@cells({f"clock set {name} within a run": seconds for name, seconds in SHIFTS.items()}, looks_twice, one=True)
def test_the_clock_is_set_within_a_run(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    clock = Clock(home, trouble, looks=1)
    is_well(calm, place, home, clock.surroundings)
    assert clock.was_off()
    is_well(calm, place, home, ORDINARY)
