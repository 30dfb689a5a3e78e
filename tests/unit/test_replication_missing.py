"""What is missing on a replica, by what its source said at earlier looks."""

import pytest
from replication_snapshots import before, busy, commits, mariadb, snapshot, source, stopped
from stallwatch.probes.replication_lag.lag import judge
from stallwatch.probes.replication_lag.model import Contact

QUIET = ((900.0, 100.0), (600.0, 100.0), (300.0, 100.0))  # (seconds ago, sequence)
STEADY = ((900.0, 100.0), (600.0, 400.0), (300.0, 700.0))


def lag(here, written, looks, of=None, **changes):
    missing = int(written - here)
    there = source(missing=missing, not_received=missing, sequence=written, replica_sequence=here)
    there = there._replace(**{key: changes.pop(key) for key in ("pace", "missing") if key in changes})
    then = before(300.0, source_history=looks)
    return judge(snapshot(of or mariadb(), **{"source": there, "idle": 0.0, "before": then} | changes))


@pytest.mark.parametrize("here", [100.0, 400.0])
def test_a_burst_after_a_quiet_time_is_not_as_old_as_the_last_look(here):
    found = lag(here, 1100.0, QUIET)
    assert (found.seconds, found.low, found.high) == (0, 0, 300)


def test_a_burst_that_goes_on_is_as_old_as_its_pace_says():
    assert lag(100.0, 1100.0, QUIET, pace=200.0).seconds == 5


def test_a_burst_that_is_still_missing_at_the_next_look_is_lag():
    found = lag(100.0, 1110.0, (*QUIET, (60.0, 1100.0)))
    assert (found.low, found.high) == (60, 300)
    assert 60 <= found.seconds <= 300


def test_what_a_steady_source_has_written_is_spread_over_the_time():
    found = lag(850.0, 1000.0, STEADY)
    assert found.seconds == pytest.approx(150, abs=1)


def test_a_source_that_was_down_between_two_looks_wrote_when_it_was_up_again():
    """A receiver gave up: the source was down from 168 s to 84 s ago, and has written 2 a second since."""
    looks = ((288.0, 100.0), (228.0, 220.0), (168.0, 340.0), (82.0, 344.0), (22.0, 464.0))
    found = lag(340.0, 508.0, looks, mariadb(receiver=stopped()))
    assert (found.seconds, found.low, found.high) == (84, 82, 168)
    assert found.is_rough  # and so told as "about 84 s behind (between 82 s and 168 s)"


def test_a_source_that_was_quiet_and_now_writes_fast_began_late():
    """Its replica's applier stopped 11 s ago, and the last look was 60 s ago: an even spread says 60."""
    found = lag(100.0, 210.0, ((60.0, 100.0),), mariadb(applier=stopped()), pace=10.0, before=None)
    assert found.by != "source's history"
    then = before(60.0, source_history=((120.0, 100.0), (60.0, 100.0)))
    found = lag(100.0, 210.0, (), mariadb(applier=stopped()), pace=10.0, before=then)
    assert (found.seconds, found.low, found.high) == (11, 0, 60)
    assert found.is_rough


def test_two_looks_that_are_near_each_other_bound_it_well_enough():
    looks = tuple((float(ago), 1000.0 - 2 * ago) for ago in range(200, 0, -10))
    found = lag(900.0, 1000.0, looks)
    assert found.seconds == pytest.approx(50, abs=1)
    assert not found.is_rough


@pytest.mark.parametrize("of", [mariadb(receiver=stopped()), mariadb(receiver=stopped("Connecting"))])
def test_a_link_that_is_cut_brings_no_burst(of):
    assert lag(100.0, 102.0, QUIET, of).seconds == pytest.approx(200, abs=1)


def test_a_silent_link_brings_no_burst():
    of = mariadb()
    same = Contact(of.received, of.received_gtids, of.heartbeats)
    then = before(300.0, source_history=QUIET, contact=same)
    assert lag(100.0, 102.0, QUIET, before=then).seconds == pytest.approx(200, abs=1)


def test_an_event_in_hand_tells_how_old_a_burst_is():
    of = mariadb(seconds_behind=7.0, applier=busy())
    assert lag(100.0, 1100.0, QUIET, of, backlog=1000).seconds == 8


def test_commit_times_tell_how_old_a_burst_is_at_most():
    assert lag(100.0, 1100.0, QUIET, commits=commits()).high == pytest.approx(1.1)


def test_bytes_have_a_pace_as_well():
    found = lag(100.0, 1_000_100.0, QUIET, missing=None, pace=500_000.0)
    assert (found.seconds, found.by) == (2, "source's history")


def test_where_all_that_came_is_applied_the_rest_is_on_its_way():
    found = lag(850.0, 1000.0, STEADY, missing=None)
    assert found.transport == found.seconds
    assert lag(850.0, 1000.0, STEADY, missing=None, backlog=3).transport is None


def test_a_source_of_another_count_proves_nothing():
    found = judge(snapshot(mariadb(seconds_behind=17.0, applier=busy()), source=source(missing=None)))
    assert (found.seconds, found.by) == (17, "Seconds_Behind")
