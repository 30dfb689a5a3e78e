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
    found = lag(850.0, 1000.0, STEADY, pace=3.3)  # a single transaction while we looked
    assert found.seconds == pytest.approx(150, abs=1)


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
