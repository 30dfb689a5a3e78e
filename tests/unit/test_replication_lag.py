"""Which figure the evidence supports; "measured" is what real servers said in that situation."""

from datetime import UTC, datetime

import pytest
from replication_snapshots import (
    NOW,
    UUID,
    before,
    busy,
    channel,
    commits,
    mariadb,
    snapshot,
    source,
    stopped,
    told_of,
    worker,
)
from stallwatch.probes.replication_lag.lag import judge
from stallwatch.probes.replication_lag.model import Heartbeat, Position, Stream, Thread

ELSEWHERE = Position("bin.000001", 4500)


def heartbeat(age, **more):
    return Heartbeat(age, 101, "percona.heartbeat", **more)


# E1: heartbeat tables


def test_a_heartbeat_outranks_all_else():
    late = commits(workers=(worker(applied_commit=NOW - 36),))
    lag = judge(snapshot(heartbeat=heartbeat(36.0), commits=late, before=before(seconds_behind=30.0)))
    assert (lag.seconds, lag.low, lag.high, lag.by) == (36.0, 35.0, 36.0, "heartbeat table")
    assert lag.remarks == ("Seconds_Behind 0 is wrong: relay log empty",)


def test_a_heartbeat_that_is_a_little_early_is_no_lag():
    assert judge(snapshot(mariadb(), heartbeat=heartbeat(-0.8))).seconds == 0


@pytest.mark.parametrize(
    "proof",
    [
        {"heartbeat": heartbeat(300.0, source_age=299.0)},
        {"heartbeat": heartbeat(300.0), "source": source(missing=0)},
        {"heartbeat": heartbeat(300.0), "commits": commits()},
    ],
)
def test_a_heartbeat_that_nobody_writes_is_no_lag(proof):
    lag = judge(snapshot(**proof))
    assert (lag.seconds or 0.0) == 0
    assert lag.by != "heartbeat table"
    assert "heartbeat writer stopped 5 min ago" in lag.remarks
    assert lag.writer_stopped == 300
    assert judge(snapshot(heartbeat=heartbeat(1.0))).writer_stopped is None


def test_a_heartbeat_that_is_young_on_the_source_is_lag_here():
    told = before(seconds_behind=280.0)
    lag = judge(snapshot(heartbeat=heartbeat(300.0, source_age=0.4), commits=commits(), before=told))
    assert lag.seconds == 300


def test_a_heartbeat_from_the_future_says_nothing():
    lag = judge(snapshot(mariadb(), heartbeat=heartbeat(-3600.0, remark="in the future")))
    assert lag.by == "Seconds_Behind"
    assert lag.remarks == ("in the future",)


# E2 to E6a: commit times


def test_work_in_hand_is_as_old_as_the_oldest_of_it():
    workers = (
        worker(applying="a", applying_commit=NOW - 48.0, applied_commit=NOW - 50),
        worker(number=2, applying="b", applying_commit=NOW - 12.0),
    )
    lag = judge(
        snapshot(channel(applier=busy(), seconds_behind=93.0), commits=commits(workers=workers), backlog=40)
    )
    assert (lag.seconds, lag.low, lag.high) == (48.0, 48.0, 48.0)
    assert (lag.by, lag.apply, lag.transport) == ("commit time", pytest.approx(47.9), pytest.approx(0.1))
    assert lag.remarks == ("Seconds_Behind 93 is wrong: it counts from the start of the statement",)


def test_what_the_coordinator_holds_and_what_is_being_received_is_in_hand_too():
    assert judge(snapshot(commits=commits(coordinator_commit=NOW - 7))).seconds == 7
    assert judge(snapshot(commits=commits(queueing_commit=NOW - 8))).seconds == 8


def test_what_is_being_received_is_not_the_oldest_where_others_wait_for_an_applier():
    """A replica that was throttled: its appliers were between two transactions, 1400 others waited."""
    receiving = commits(queueing_commit=NOW - 1.5, workers=(worker(applied_commit=NOW - 28),))
    lag = judge(snapshot(channel(applier=busy(), seconds_behind=32.0), commits=receiving, backlog=1444))
    assert (lag.seconds, lag.high) == (28, 28)
    current = commits(queueing_commit=NOW - 1.5, workers=(worker(applied_commit=NOW - 1.1),))
    assert judge(snapshot(commits=current, backlog=3)).seconds == 1.5


def test_a_stopped_applier_has_applied_nothing_younger_than_its_last_transaction():
    workers = (worker(applied_commit=NOW - 600),)
    lag = judge(snapshot(channel(applier=stopped()), commits=commits(workers=workers), backlog=12))
    assert (lag.seconds, lag.low, lag.high) == (600, pytest.approx(1.1), 600)


def test_a_stopped_applier_is_behind_no_longer_than_since_the_last_look():
    workers = (worker(applied_commit=NOW - 250_000),)  # the source had written nothing for days
    known = snapshot(
        channel(applier=stopped()), commits=commits(workers=workers), backlog=12, before=before(60, high=2.0)
    )
    assert judge(known).seconds == 62


def test_a_stopped_applier_that_has_all_is_not_behind():
    assert judge(snapshot(channel(applier=stopped(), seconds_behind=None), commits=commits())).seconds == 0


def test_a_single_waiting_transaction_is_the_last_that_came():
    workers = (worker(applied_commit=NOW - 3600),)
    lag = judge(snapshot(channel(applied=ELSEWHERE), commits=commits(workers=workers), backlog=1))
    assert lag.seconds == pytest.approx(1.1)


def test_a_backlog_that_was_applied_between_two_statements_is_none():
    assert judge(snapshot(channel(applier=busy()), commits=commits(), backlog=3)).seconds == 0


@pytest.mark.parametrize("said", [None, 0.0])  # MySQL 9.7.4 says 0 while it is connecting
def test_without_a_receiver_the_lag_is_the_time_since_contact(said):
    old = commits(queued_sent=NOW - 90, queued_commit=NOW - 90, queued_at=NOW - 90, last_heartbeat=NOW - 120)
    lag = judge(snapshot(channel(receiver=stopped("Connecting"), seconds_behind=said), commits=old))
    assert (lag.seconds, lag.low, lag.high) == (90, 0, 90)
    assert lag.transport == 90
    assert not lag.silent
    assert lag.remarks == (() if said is None else ("Seconds_Behind 0 is wrong: not connected",))


def test_a_heartbeat_of_the_link_shows_that_nothing_was_missing_then():
    idle = commits(queued_sent=NOW - 9000, queued_commit=NOW - 9000, queued_at=NOW - 9000)
    assert judge(snapshot(channel(receiver=stopped()), commits=idle)).seconds == 25


def test_a_quiet_source_is_no_lag():
    lag = judge(
        snapshot(commits=commits(queued_at=NOW - 3000, queued_sent=NOW - 3000, last_heartbeat=NOW - 29))
    )
    assert (lag.seconds, lag.high, lag.contact_age, lag.silent) == (0, 29, 29, False)


def test_no_source_is_quiet_for_longer_than_a_heartbeat_and_a_half():
    old = commits(queued_at=NOW - 47, queued_sent=NOW - 47, queued_commit=NOW - 47, last_heartbeat=NOW - 80)
    lag = judge(snapshot(commits=old))
    assert lag.silent
    assert (lag.seconds, lag.low, lag.high, lag.contact_age) == (47, 17, 47, 47)
    assert "Seconds_Behind 0 is wrong: relay log empty" in lag.remarks


def test_a_busy_source_sends_no_heartbeats():
    assert not judge(snapshot(commits=commits(last_heartbeat=NOW - 160))).silent


def test_a_link_that_never_had_a_heartbeat_is_heard_by_its_events_alone():
    """MySQL 9.7.4 had counted none after ten minutes with a commit every second."""
    busy_until = commits(queued_at=NOW - 50, queued_sent=NOW - 50, last_heartbeat=None, heartbeats=0)
    assert judge(snapshot(commits=busy_until)).silent
    just_connected = busy_until._replace(queued_at=None, queued_sent=None, queued_commit=None)
    assert not judge(snapshot(commits=just_connected)).silent


def test_a_source_that_was_told_to_send_no_heartbeats_may_be_quiet():
    old = commits(queued_at=NOW - 500, queued_sent=NOW - 500, last_heartbeat=None, heartbeat_period=0.0)
    lag = judge(snapshot(commits=old))
    assert not lag.silent
    assert lag.high == 500


@pytest.mark.parametrize(
    ("period", "why"),
    [(0.0, "no heartbeats (period 0)"), (3600.0, "a heartbeat only every 1 h")],
)
def test_without_heartbeats_a_dead_link_does_not_show(period, why):
    """MySQL 9.7.4, period 0, replica_net_timeout 3600: 0 s, while the truth was 105 s."""
    cut = commits(queued_at=NOW - 105, queued_sent=NOW - 105, queued_commit=NOW - 105, last_heartbeat=None)
    cut = cut._replace(heartbeats=0)
    then = before(10, contact=before().contact._replace(received=channel().received, heartbeats=0))
    known = snapshot(commits=cut._replace(heartbeat_period=period), net_timeout=3600.0, before=then)
    lag = judge(known)
    assert (lag.seconds, lag.high, lag.contact_age) == (0, 105, 105)
    assert lag.cannot_tell == (
        f"a dead link would not show, as the source sends {why}: give --heartbeat or --source"
    )
    busy_until_now = commits(heartbeat_period=period, last_heartbeat=None)
    assert judge(known._replace(commits=busy_until_now)).cannot_tell == ""
    usually = judge(known._replace(before=then._replace(transaction_gap=10.0)))
    assert usually.cannot_tell == ""


@pytest.mark.parametrize("heartbeats", [0, None])
def test_nothing_is_known_of_a_source_without_heartbeats_where_no_process_is_seen(heartbeats):
    few = snapshot(mariadb(heartbeat_period=0.0, heartbeats=heartbeats), sees_processes=False)
    lag = judge(few)
    assert (lag.seconds, lag.high, lag.contact_age) == (0, None, None)
    assert lag.cannot_tell == (
        "a dead link would not show, as the source sends no heartbeats (period 0): "
        "give --heartbeat or --source"
    )


def test_half_a_transaction_is_contact():
    receiving = commits(queued_at=NOW - 300, queued_sent=NOW - 300, last_heartbeat=NOW - 400)
    receiving = receiving._replace(queueing_commit=NOW - 200)
    assert not judge(snapshot(commits=receiving, before=before())).silent
    unchanged = before(60, contact=before().contact._replace(received=channel().received, heartbeats=4))
    assert judge(snapshot(commits=receiving, before=unchanged)).silent


def test_between_two_transactions_of_a_late_stream_the_lag_is_its_delay():
    late = commits(queued_sent=NOW - 29.3, queued_commit=NOW - 29.3, queued_at=NOW - 0.2)
    lag = judge(snapshot(commits=late, before=before(seconds_behind=28.0)))
    assert (lag.seconds, lag.transport, lag.apply) == (pytest.approx(29.1), pytest.approx(29.1), 0)
    assert lag.high == pytest.approx(29.3)


def test_a_stream_that_was_late_once_is_not_so_for_ever():
    late = commits(queued_sent=NOW - 49, queued_commit=NOW - 49, queued_at=NOW - 20)
    assert judge(snapshot(commits=late)).seconds == 0


def test_the_way_to_the_direct_source_counts_and_is_told_apart():
    late = commits(queued_commit=NOW - 40, queued_sent=NOW - 1.1, queued_at=NOW - 1)
    lag = judge(snapshot(commits=late))
    assert (lag.seconds, lag.upstream, lag.transport) == (
        pytest.approx(39),
        pytest.approx(38.9),
        pytest.approx(0.1),
    )


@pytest.mark.parametrize("schema", [None, commits(queued_commit=None, queued_sent=None, workers=(worker(),))])
def test_without_commit_times_seconds_behind_must_do(schema):
    """MySQL 5.7, an account that may not read them, or a source that is MySQL 5.7."""
    lag = judge(snapshot(channel(seconds_behind=38.0, applier=busy()), commits=schema, backlog=5))
    assert (lag.seconds, lag.high, lag.by) == (38, 39, "Seconds_Behind")


@pytest.mark.parametrize(
    "mixed",
    [
        commits(workers=(worker(applying="a"),)),
        commits(queued_commit=None, workers=(worker(applied_commit=NOW - 4000),)),
        commits(queued_commit=None, workers=(worker(applying="a", applied_commit=NOW - 4000),)),
    ],
)
def test_commit_times_of_some_transactions_do_not_speak_for_the_others(mixed):
    """A source that was MySQL 5.7 until now, or has one above it: those transactions have no commit time."""
    lag = judge(snapshot(channel(applier=busy(), seconds_behind=3000.0), commits=mixed, backlog=5000))
    assert (lag.seconds, lag.by, lag.remarks) == (3000, "Seconds_Behind", ())


def test_a_transaction_without_commit_time_that_is_being_received_is_contact():
    receiving = commits(
        queued_commit=None, queued_sent=None, queued_at=NOW - 600, last_heartbeat=NOW - 610, workers=()
    )
    moved = judge(snapshot(commits=receiving, before=before()))
    assert not moved.silent  # on the way to 600 s, with the position 60 s ago elsewhere
    assert not judge(snapshot(commits=receiving._replace(queueing=f"{UUID}:101"))).silent
    same = before().contact._replace(received=channel().received, heartbeats=4)
    assert judge(snapshot(commits=receiving, before=before(contact=same))).silent


# E7: Seconds_Behind with repairs


def streamed(*in_hand, is_full=True, **more):
    late = more.get("before") is not None and more["before"].came_late
    return judge(snapshot(mariadb(), idle=0.0, stream=Stream(is_full, in_hand, late), **more))


def test_a_stream_that_pauses_is_not_late_and_nothing_is_said_of_it():
    for lag in (judge(snapshot(mariadb(), idle=0.0)), streamed(is_full=False)):
        assert (lag.seconds, lag.transport, lag.cannot_tell) == (0, None, "")


def test_transactions_in_hand_show_how_late_a_full_stream_is():
    lag = streamed(29.0, 30.0, 30.0, before=before(10, of=mariadb()))
    assert (lag.seconds, lag.high, lag.by, lag.transport) == (30, 31, "Seconds_Behind", 30)
    assert lag.cannot_tell == ""
    assert streamed(1.0, before=before(10, of=mariadb())).transport is None


def test_a_single_one_in_hand_may_be_a_long_statement():
    known = before(10, of=mariadb(), lag=0.0, high=None)
    assert streamed(40.0, before=known).seconds == 10
    assert streamed(40.0, before=known._replace(high=25.0)).seconds == 35
    assert streamed(40.0).seconds == 40


def test_a_stream_that_was_late_still_is_where_none_was_seen_in_hand():
    late = before(10, of=mariadb(), lag=20.0, high=21.0, came_late=True)
    lag = streamed(before=late)
    assert (lag.seconds, lag.low, lag.high, lag.by, lag.transport) == (30, 0, 30, "last known", 30)
    assert streamed(is_full=False, before=late).seconds == 0


def test_a_full_stream_of_which_none_was_seen_in_hand_is_told():
    lag = streamed(before=before(10, of=mariadb(), lag=0.0, high=None))
    assert (lag.seconds, lag.high) == (0, 10)
    expected = "transactions come without a pause, up to 10 s late: give --heartbeat or --source"
    assert lag.cannot_tell == expected
    first = streamed()
    assert (first.seconds, first.high) == (None, None)
    assert "late by an unknown time" in first.cannot_tell


def test_an_idle_applier_without_a_heartbeat_since_tells_of_a_dead_link():
    """The last run was 60 s ago, and the link of a busy source was cut 50 s ago."""
    lag = judge(snapshot(mariadb(), idle=50.0, before=before(of=mariadb())))
    assert lag.silent
    assert (lag.seconds, lag.low, lag.contact_age) == (50, 20, 50)


def test_a_heartbeat_that_was_counted_after_the_last_event_is_contact():
    lag = judge(snapshot(mariadb(heartbeats=19), idle=50.0, before=before(of=mariadb())))
    assert not lag.silent
    assert lag.seconds == 0


def test_heartbeats_that_are_counted_anew_are_contact_as_any_others():
    """CHANGE MASTER of MariaDB sets the counter to 0; 80 s later two heartbeats have come, one each 30 s."""
    then = before(100, of=mariadb(heartbeats=9))
    lag = judge(snapshot(mariadb(heartbeats=2, heartbeat_period=30.0), idle=80.0, before=then))
    assert not lag.silent
    assert lag.seconds == 0.0


def test_a_source_that_writes_nothing_is_heard_by_its_heartbeats():
    then = before(of=mariadb(), contact=before(of=mariadb()).contact._replace(received=mariadb().received))
    lag = judge(snapshot(mariadb(heartbeats=20), idle=7000.0, before=then))
    assert not lag.silent
    assert (lag.heard_within, lag.contact_age) == (30, None)  # at most, and nothing tells it better


def test_nothing_new_since_the_last_run_is_silence_even_without_process():
    then = before(of=mariadb(), contact=before(of=mariadb()).contact._replace(received=mariadb().received))
    lag = judge(snapshot(mariadb(), sees_processes=False, before=then))
    assert lag.silent
    assert (lag.seconds, lag.contact_age) == (60, 60)


def test_frequent_runs_add_up_the_silence():
    same = before(of=mariadb()).contact._replace(received=mariadb().received)
    known = snapshot(mariadb(), sees_processes=False)
    assert not judge(known._replace(before=before(10, contact=same, unchanged_for=30))).silent
    assert judge(known._replace(before=before(10, contact=same, unchanged_for=40))).silent


def test_frequent_runs_remember_the_last_heartbeat():
    same = before(of=mariadb()).contact._replace(received=mariadb().received)
    known = snapshot(mariadb(), idle=7000.0)
    forgotten = judge(known._replace(before=before(10, contact=same, unchanged_for=10)))
    assert forgotten.contact_age is None
    lag = judge(known._replace(before=before(10, contact=same, unchanged_for=10, heard_within=12.0)))
    assert (lag.contact_age, lag.heard_within) == (22, 22)
    assert "dead link" not in lag.cannot_tell


def test_where_no_heartbeat_ever_came_an_idle_applier_tells_at_once():
    lag = judge(snapshot(mariadb(heartbeats=0), idle=50.0))
    assert lag.silent
    assert lag.contact_age == 50


def test_a_receiver_that_has_just_connected_is_not_silent():
    late = mariadb(receiver=stopped("Connecting"))
    then = before(of=late, connected=False, contact=before(of=late).contact._replace(received=late.received))
    lag = judge(snapshot(mariadb(), idle=7000.0, before=then))
    assert not lag.silent
    assert lag.contact_age is None
    old = commits(queued_at=NOW - 7000, queued_sent=NOW - 7000, last_heartbeat=NOW - 7000)
    assert not judge(snapshot(commits=old, before=before(connected=False))).silent


def test_a_heartbeat_bounds_what_a_receiver_that_is_lost_has_missed():
    """The source had written nothing for 270 s when the link was cut, 119 s ago."""
    lost = mariadb(receiver=stopped("Connecting"), seconds_behind=None)
    then = before(60, contact=before(of=lost).contact._replace(received=lost.received), lag=59.0)
    lag = judge(snapshot(lost, idle=270.0, before=then._replace(heard_within=61.0)))
    assert (lag.seconds, lag.low, lag.high, lag.by) == (121, 0, 121, "last contact")
    assert not lag.at_least


def test_an_age_of_which_only_bounds_are_known_is_not_told():
    """Events came since the last run, at no moment that anything tells."""
    busy_source = mariadb(applier=busy())
    lag = judge(snapshot(busy_source, before=before(40, of=busy_source)))
    assert (lag.contact_age, lag.heard_within) == (None, 40)


def test_of_a_receiver_that_never_was_connected_nothing_is_known():
    never = mariadb(receiver=stopped("Connecting"), source_id=0, seconds_behind=None, heartbeats=0)
    lag = judge(snapshot(never, idle=300.0))
    assert (lag.seconds, lag.high) == (None, None)


def test_where_neither_history_nor_processes_tell_it_says_so():
    lag = judge(snapshot(mariadb(), sees_processes=False))
    assert (lag.seconds, lag.high, lag.contact_age) == (0, None, None)
    assert lag.cannot_tell == (
        "a dead link would not show: give --heartbeat or --source, grant PROCESS, the next run knows more"
    )
    moved = judge(snapshot(mariadb(), sees_processes=False, before=before(of=mariadb())))
    assert "a dead link" in moved.cannot_tell


def test_the_first_run_cannot_tell_heartbeats_that_were_counted_from_those_that_were_not():
    lag = judge(snapshot(mariadb(), idle=50.0))
    assert not lag.silent
    assert lag.contact_age is None
    assert lag.cannot_tell.startswith("a dead link would not show")


def test_without_a_receiver_mariadb_is_behind_for_as_long_as_its_applier_is_idle():
    gone = mariadb(receiver=stopped("Connecting"), seconds_behind=None)
    lag = judge(snapshot(gone, idle=93.0, before=before(120, of=mariadb())))
    assert (lag.seconds, lag.by) == (93, "last contact")
    same = before(of=mariadb()).contact._replace(received=gone.received)
    blind = judge(snapshot(gone, sees_processes=False, before=before(120, contact=same, lag=5.0)))
    assert (blind.seconds, blind.by) == (125, "last known")


def test_what_waits_for_a_stopped_applier_grows_older_with_every_look():
    halted = mariadb(applier=stopped(), seconds_behind=None, applied=ELSEWHERE)
    last = before(60, of=mariadb(), transaction_gap=25.0)
    assert judge(snapshot(halted, backlog=1, before=last)).seconds == 25
    again = last._replace(lag=25.0, high=60.0, applied=ELSEWHERE)
    assert judge(snapshot(halted, backlog=1, before=again)).seconds == 85
    assert judge(snapshot(halted, backlog=1, before=again._replace(lag=85.0, high=120.0))).seconds == 145


def test_a_stopped_applier_is_as_late_as_it_was_and_the_time_since():
    halted = mariadb(applier=stopped(), seconds_behind=None, applied=ELSEWHERE)
    known = snapshot(halted, backlog=7, before=before(of=mariadb(), lag=10.0))
    lag = judge(known)
    assert (lag.seconds, lag.low, lag.by) == (70, 0, "last known")
    by_backlog = judge(known._replace(before=known.before._replace(transaction_gap=1.0)))
    assert by_backlog.seconds == 7


def test_a_stopped_applier_that_left_nothing_is_not_behind():
    done = mariadb(applier=stopped(), seconds_behind=None)
    lag = judge(snapshot(done, before=before(of=mariadb(), lag=0.0)))
    assert (lag.seconds, lag.high, lag.by) == (0, None, "nothing waits")
    same = before(of=mariadb(), contact=before(of=mariadb()).contact._replace(received=done.received))
    assert judge(snapshot(done, before=same)).seconds == 60


def test_what_nothing_tells_is_not_known():
    halted = mariadb(applier=stopped(), seconds_behind=None, applied=ELSEWHERE)
    lag = judge(snapshot(halted, backlog=7))
    assert (lag.seconds, lag.high, lag.by) == (None, None, "")


def test_newer_mariadb_shows_a_late_stream():
    told = mariadb(newest_received="2026-11-18 10:16:04")
    late = datetime(2026, 11, 18, 10, 16, 40, tzinfo=UTC).timestamp()
    stream = Stream(is_full=True, in_hand=(35.0, 36.0))
    lag = judge(snapshot(told, now=late, idle=0.5, stream=stream))
    assert (lag.seconds, lag.by, lag.high, lag.cannot_tell) == (36, "Seconds_Behind", 37, "")
    behind = before(10, of=told, lag=30.0, seconds_behind=30.0)
    lag = judge(snapshot(told, now=late, idle=0.5, before=behind))
    assert (lag.seconds, lag.by, lag.high) == (35.5, "newest event received", 36)
    assert judge(snapshot(told, now=late, idle=36.0, before=before(of=told))).seconds == 0


def test_a_late_stream_is_as_late_as_its_newest_event_is_later_than_at_the_last_look():
    told = mariadb(newest_received=told_of(19))
    late = before(10, of=told, lag=14.0, delay=14.0, came_late=True)
    seen = snapshot(told, idle=0.0, stream=Stream(is_full=True, came_late=True), before=late)
    assert judge(seen).seconds == 19
    assert judge(seen._replace(before=late._replace(delay=None))).seconds == 24


@pytest.mark.parametrize("ahead", [30.0, 60.0])
def test_clocks_that_differ_are_no_late_stream_of_newer_mariadb(ahead):
    """Measured on 11.8.9: the newest event seems to be as old as the clocks differ, at each look."""
    told = mariadb(newest_received=told_of(ahead))
    lag = judge(snapshot(told, idle=0.5))
    assert (lag.seconds, lag.high, lag.doubtful) == (0, ahead, True)
    lag = judge(snapshot(told, idle=0.5, before=before(10, of=told, delay=ahead)))
    assert (lag.seconds, lag.doubtful) == (0, True)
    just_set = before(3, of=told, delay=0.2)
    lag = judge(snapshot(told, idle=0.5, before=just_set))
    assert (lag.seconds, lag.transport) == (0, 0)


def test_a_clock_of_the_source_that_is_set_while_connected_is_no_late_stream():
    """Seconds_Behind of what is in hand allows for the clocks as they were when the receiver logged in."""
    told = mariadb(newest_received=told_of(60))
    seen = snapshot(told, idle=0.5, stream=Stream(is_full=True, in_hand=(60.0, 60.0)))
    lag = judge(seen._replace(before=before(10, of=told, delay=0.2, high=1.0)))
    assert (lag.seconds, lag.high, lag.doubtful) == (0, 12, True)
    lag = judge(seen._replace(before=before(10, of=told, delay=59.5, high=12.0)))
    assert (lag.seconds, lag.high, lag.doubtful) == (0, 13, True)
    assert judge(seen._replace(before=before(10, of=told, delay=51.0, high=51.0))).seconds == 60


def test_newer_mariadb_says_what_it_cannot_see():
    lag = judge(snapshot(mariadb(newest_received=told_of(55)), sees_processes=False))
    assert (lag.seconds, lag.high, lag.by) == (0, 55, "newest event received")
    assert lag.cannot_tell.startswith("a dead link would not show")


def test_a_statement_that_took_long_does_not_come_late():
    """Its event is of the moment when it began, 300 s before it was committed and applied at once."""
    done = mariadb(newest_received=told_of(303))
    assert judge(snapshot(done, idle=3.0, before=before(10, of=done))).seconds == 0
    behind = before(10, of=done, lag=280.0, seconds_behind=280.0)
    assert judge(snapshot(done, idle=3.0, before=behind)).seconds == 290


# parallel workers: the applier's state is that of what hands out their work


@pytest.mark.parametrize(
    ("of", "more"),
    [
        ({}, {"idle": 3600.0, "backlog": 1}),
        ({"newest_received": told_of(1)}, {"idle": 1.0, "backlog": 3900}),
        ({"newest_received": told_of(3600)}, {"idle": 3600.0, "backlog": 1}),
        ({"newest_received": told_of(1)}, {"idle": 1.0, "backlog": None}),
        ({"receiver": stopped("Connecting")}, {"idle": 20.0, "backlog": 1}),
        ({}, {"idle": 3600.0, "backlog": 1, "source": source(missing=1, not_received=0, sequence=None)}),
    ],
)
def test_a_worker_that_hangs_behind_an_applier_with_nothing_to_do_is_lag(of, more):
    """MariaDB 10.11.19, slave_parallel_threads=4, one row lock: "has read all relay log" all the time."""
    lag = judge(snapshot(mariadb(seconds_behind=3600.0, **of), **more))
    assert (lag.seconds, lag.high, lag.by) == (3600, 3601, "Seconds_Behind")
    assert (lag.cannot_tell, lag.remarks) == ("", ())
    assert not lag.at_least  # else there was no trend, and no warning before a breach


def test_a_receiver_that_is_lost_takes_nothing_off_the_lag():
    lost = mariadb(seconds_behind=None, receiver=stopped("Connecting"))
    lag = judge(snapshot(lost, idle=20.0, backlog=4900, before=before(of=lost, lag=3540.0)))
    assert (lag.seconds, lag.by) == (3600, "last known")
    assert judge(snapshot(lost, idle=20.0, backlog=4900, before=before(15, of=lost))).seconds == 15


# E9: what cannot be


def test_lag_grows_no_faster_than_time():
    long_update = mariadb(seconds_behind=33.0, applier=busy(), applied=ELSEWHERE)
    then = before(10, of=mariadb())
    lag = judge(snapshot(long_update, before=then))
    assert (lag.seconds, lag.high) == (10, 34)
    assert lag.remarks == ("Seconds_Behind is 33, but no lag grows so fast",)
    still = then._replace(lag=10.0, seconds_behind=33.0, applied=ELSEWHERE)
    assert judge(snapshot(long_update._replace(seconds_behind=43.0), before=still)).seconds == 20


def test_once_the_applier_has_gone_on_seconds_behind_is_believed():
    restored = mariadb(seconds_behind=7200.0, applier=busy(), applied=ELSEWHERE)
    then = before(of=mariadb(), lag=60.0, seconds_behind=7140.0)
    assert judge(snapshot(restored, before=then)).seconds == 7200


def test_a_spike_of_months_is_not_believed():
    spike = channel(seconds_behind=10_368_000.0, applier=busy())
    assert judge(snapshot(spike, before=before())).seconds == 60


def test_a_single_zero_amidst_work_is_not_believed():
    zero = channel(seconds_behind=0.0, applier=busy())
    then = before(10, lag=28.0, seconds_behind=28.0)
    assert judge(snapshot(zero, before=then)).seconds == 38
    assert judge(snapshot(zero, before=then._replace(seconds_behind=0.0))).seconds == 0


def test_zero_is_believed_where_what_waited_at_the_last_look_is_applied():
    drained = mariadb(
        received_gtids="0-101-155", applied_gtids="0-101-154", seconds_behind=0.0, applier=busy()
    )
    then = before(10, of=mariadb(), lag=11.0, seconds_behind=11.0)
    assert judge(snapshot(drained, backlog=1, before=then)).seconds == 0
    assert judge(snapshot(drained, backlog=200, before=then)).seconds == 21


def test_zero_with_a_backlog_is_what_the_backlog_stands_for():
    zero = channel(seconds_behind=0.0, applier=busy())
    lag = judge(snapshot(zero, backlog=284, before=before(transaction_gap=0.1)))
    assert (lag.seconds, lag.by) == (pytest.approx(28.4), "backlog")
    assert lag.seconds <= before().seconds_ago
    assert judge(snapshot(zero, backlog=3, before=before(transaction_gap=0.1))).seconds == 0


@pytest.mark.parametrize("of", [mariadb, channel])
def test_a_burst_after_quiet_minutes_is_no_lag_of_hours(of):
    """400 transactions in a second, 60 s after the last one: not 400 times 60 s."""
    zero = of(seconds_behind=0.0, applier=busy())
    lag = judge(snapshot(zero, backlog=400, before=before(of=zero, transaction_gap=60.0, high=1.0)))
    assert (lag.seconds, lag.high, lag.by) == (0, 61, "Seconds_Behind")


def test_what_came_since_the_last_look_may_be_a_burst():
    """One transaction in 5 minutes, and that is on its way to the tables just now."""
    one = mariadb(received_gtids="0-101-101", applier=busy())
    then = before(300, of=mariadb(), transaction_gap=300.0, high=1.0)
    assert judge(snapshot(one, backlog=1, before=then)).seconds == 0
    many = mariadb(received_gtids="0-101-1601", applied_gtids="0-101-101", applier=busy())
    lag = judge(snapshot(many, backlog=1500, before=then._replace(transaction_gap=0.1)))
    assert (lag.seconds, lag.high) == (0, 301)


def test_zero_with_a_backlog_is_not_believed_at_the_first_look():
    zero = snapshot(mariadb(seconds_behind=0.0, applier=busy()), backlog=5000)
    lag = judge(zero)
    assert (lag.seconds, lag.high, lag.is_behind) == (0, None, True)
    assert lag.cannot_tell == "5000 transactions not applied, the next run knows for how long"
    few = judge(zero._replace(backlog=3))
    assert (few.high, few.cannot_tell) == (1, "")


def test_nonsense_is_not_taken_off_the_lag():
    lag = judge(snapshot(channel(seconds_behind=-5.0, applier=busy())))
    assert (lag.seconds, lag.delayed) == (0, 0)


def test_a_lag_that_is_not_known_is_not_one_that_is_there():
    lag = judge(snapshot(mariadb(seconds_behind=None, applier=busy())))
    assert (lag.seconds, lag.is_behind) == (None, False)
    halted = mariadb(applier=stopped(), seconds_behind=None, applied=ELSEWHERE)
    assert judge(snapshot(halted, backlog=7)).is_behind


# a figure near 0 beside a large Seconds_Behind needs proof


def test_without_proof_the_larger_figure_counts():
    """The last transaction that was applied has a commit time, what the coordinator holds has none."""
    unproven = commits(workers=(worker(applied_commit=NOW - 4000),))
    lag = judge(snapshot(channel(applier=busy(), seconds_behind=3000.0), commits=unproven))
    assert (lag.seconds, lag.low, lag.high, lag.by) == (3000, 0, 3001, "Seconds_Behind")


def test_commit_times_of_all_that_came_are_proof():
    long_update = channel(applier=busy(), seconds_behind=93.0)
    lag = judge(snapshot(long_update, commits=commits()))
    assert (lag.seconds, lag.by) == (0, "commit time")
    assert lag.remarks == ("Seconds_Behind 93 is wrong: it counts from the start of the statement",)


def test_a_heartbeat_is_proof():
    long_update = mariadb(applier=busy(), seconds_behind=93.0)
    assert judge(snapshot(long_update, heartbeat=heartbeat(0.4))).seconds == 0.4


def test_what_proves_nothing_does_not_say_that_seconds_behind_is_wrong():
    lag = judge(snapshot(mariadb(seconds_behind=38.0, applier=WAITS, delay=30.0, remaining_delay=5.0)))
    assert lag.remarks == ("Seconds_Behind is 38",)


# --source


def test_a_source_that_has_no_more_is_proof_unless_an_event_is_in_hand():
    lag = judge(snapshot(mariadb(seconds_behind=1.0, applier=busy()), source=source()))
    assert (lag.seconds, lag.high, lag.by) == (0, 0, "asked the source")
    lag = judge(snapshot(mariadb(seconds_behind=41.0, applier=busy()), source=source()))
    assert (lag.seconds, lag.by) == (41, "Seconds_Behind")


def test_missing_transactions_are_as_old_as_the_source_was_there():
    there = source(missing=40, not_received=40, sequence=200.0, replica_sequence=160.0)
    looks = ((120.0, 80.0), (60.0, 140.0))
    lag = judge(snapshot(mariadb(), idle=0.0, source=there, before=before(source_history=looks)))
    assert (lag.seconds, lag.low, lag.high) == (pytest.approx(40, abs=1), 0, 60)
    assert (lag.by, lag.transport, lag.apply) == ("source's history", lag.seconds, 0)
    assert lag.remarks == ("Seconds_Behind 0 is wrong: relay log empty",)
    assert lag.cannot_tell == ""


def test_a_burst_that_goes_on_is_younger_than_the_last_look():
    there = source(missing=541, not_received=541, sequence=899.0, replica_sequence=358.0, pace=90.0)
    then = before(source_history=((60.0, 299.0),))
    assert judge(snapshot(mariadb(), source=there, before=then)).seconds == pytest.approx(6, abs=0.1)
    over = judge(snapshot(mariadb(), source=there._replace(pace=0.0), before=then))
    assert (over.seconds, over.low, over.high) == (0, 0, 60)  # it may have been all at once, and just now


def test_history_is_no_older_than_the_last_arrival():
    there = source(missing=541, not_received=541, sequence=899.0, replica_sequence=358.0)
    then = before(source_history=((60.0, 299.0),))
    assert judge(snapshot(commits=commits(), source=there, before=then)).high == pytest.approx(1.1)


def test_what_is_older_than_all_looks_is_at_least_that_old():
    there = source(missing=190, not_received=190, sequence=200.0, replica_sequence=10.0)
    lag = judge(snapshot(mariadb(), source=there, before=before(source_history=((120.0, 80.0),))))
    assert (lag.seconds, lag.low, lag.high) == (120, 120, None)
    assert lag.at_least


def test_without_history_no_seconds_are_invented():
    there = source(missing=745, not_received=745, sequence=1134.0, replica_sequence=389.0)
    lag = judge(snapshot(mariadb(), idle=0.0, source=there))
    assert lag.seconds is None
    assert lag.remarks == ("745 transactions missing, the next run knows for how long",)


def test_on_mysql_what_is_missing_was_committed_after_the_last_contact():
    there = source(missing=20, not_received=20, sequence=120.0, replica_sequence=100.0)
    quiet = commits(queued_at=NOW - 20, queued_sent=NOW - 20, queued_commit=NOW - 20)
    assert judge(snapshot(commits=quiet, source=there)).seconds == 20


def test_a_source_that_still_answers_us_knows_better_than_a_broken_link():
    there = source(missing=1, not_received=1, sequence=101.0, replica_sequence=100.0)
    cut = commits(queued_at=NOW - 7000, queued_sent=NOW - 7000, queued_commit=NOW - 7000, last_heartbeat=None)
    known = snapshot(channel(receiver=stopped()), commits=cut, source=there)
    assert judge(known).seconds == 7000
    assert judge(known._replace(before=before(source_history=((60.0, 100.0),)))).seconds == 30


def test_nothing_in_hand_is_older_than_seconds_behind():
    there = source(missing=9, not_received=0, sequence=109.0, replica_sequence=100.0)
    known = snapshot(mariadb(seconds_behind=12.0, applier=busy()), source=there, backlog=9)
    lag = judge(known._replace(before=before(source_history=((60.0, 99.0),))))
    assert (lag.seconds, lag.high) == (13, 13)


# E8: clocks that differ

PERHAPS = "the clocks probably differ, as nothing else shows a lag: compare them with --source"


def test_commit_times_are_corrected_by_the_difference_of_the_clocks():
    workers = (worker(applying="a", applying_commit=NOW - 128.0),)
    lag = judge(snapshot(commits=commits(workers=workers), source=source(missing=9, clock_ahead=-120.0)))
    assert (lag.seconds, lag.clock_offset) == (8, 120)


def test_what_arrives_before_it_was_committed_shows_the_clocks():
    early = commits(queued_sent=NOW + 59, queued_commit=NOW + 59, workers=(worker(applied_commit=NOW + 59),))
    lag = judge(snapshot(commits=early))
    assert lag.seconds == 0
    assert lag.high == pytest.approx(1)
    assert (lag.clock_offset, lag.remarks) == (-60, ())


def test_a_lag_that_never_changes_is_probably_the_clocks():
    skewed = snapshot(mariadb(), heartbeat=heartbeat(119.7), before=before(of=mariadb()))
    offsets = (119.1, 120.4, 119.3, 120.2, 119.5)
    for known in ((), offsets[1:], offsets):
        lag = judge(skewed._replace(before=skewed.before._replace(offsets=known)))
        assert (lag.seconds, lag.high, lag.offset) == (pytest.approx(0, abs=0.3), 119.7, 119.7)
        assert (lag.doubtful, lag.clock_offset) == (True, None)
        assert lag.remarks == (PERHAPS,)


def test_a_lag_that_changes_is_not_the_clocks():
    thin = snapshot(mariadb(), heartbeat=heartbeat(36.0), before=before(of=mariadb(), offsets=(34.0,)))
    lag = judge(thin)
    assert (lag.seconds, lag.doubtful) == (36, False)
    assert judge(thin._replace(before=before(of=mariadb(), delay=34.0, delay_age=0.0))).seconds == 36


def test_a_channel_that_lags_tells_nothing_of_clocks():
    assert judge(snapshot(channel(applier=busy(), seconds_behind=3.0), commits=commits())).offset is None
    assert judge(snapshot(mariadb(applier=busy()), heartbeat=heartbeat(119.7))).offset is None
    assert judge(snapshot(mariadb(), heartbeat=heartbeat(119.7), backlog=2)).offset is None
    silent = judge(snapshot(mariadb(heartbeats=0), heartbeat=heartbeat(119.7), idle=50.0))
    assert silent.silent
    assert silent.offset is None


OLD = commits(queued_sent=NOW - 340, queued_commit=NOW - 340, queued_at=NOW - 300)


def test_one_late_transaction_of_a_source_that_is_idle_since_is_one_sign_of_clocks():
    """MySQL 9.7.4: its receiver had been stopped for 40 s; every later lag of 40 s was taken for clocks."""
    assert judge(snapshot(commits=OLD, before=before(60))).offset is None
    assert judge(snapshot(commits=OLD, before=before(301))).offset == 40


def in_hand(age, **more):
    workers = (worker(applying="a", applying_commit=NOW - age, applied_commit=NOW - age - 1),)
    return commits(workers=workers, **more)


def test_what_arrives_sooner_than_the_clocks_would_allow_shows_that_they_do_not_differ():
    locked = channel(applier=busy(), seconds_behind=31.0)
    known = snapshot(locked, commits=in_hand(31.0), backlog=1, before=before(offsets=(40.0,) * 5))
    lag = judge(known)
    assert (lag.seconds, lag.by, lag.remarks) == (31, "commit time", ())
    assert lag.offset == 0
    fresh = judge(snapshot(commits=commits(), before=before(offsets=(40.0,) * 5)))
    assert fresh.offset == pytest.approx(0.1)


def test_seconds_behind_allows_for_clocks_so_it_shows_that_they_do_not_differ():
    slow = in_hand(35.0, queued_sent=NOW - 35, queued_commit=NOW - 35, queued_at=NOW - 1)
    late = channel(applier=busy(), seconds_behind=35.0)
    lag = judge(snapshot(late, commits=slow, before=before(offsets=(34.0,) * 5)))
    assert (lag.seconds, lag.offset) == (35, 0)


def test_clocks_that_are_guessed_do_not_outweigh_seconds_behind():
    late = channel(applier=busy(), seconds_behind=300.0)
    skewed = in_hand(120.0, queued_sent=NOW - 120.1, queued_commit=NOW - 120.1, queued_at=NOW - 0.1)
    lag = judge(snapshot(late, commits=skewed, before=before(offsets=(120.0,) * 5)))
    assert (lag.seconds, lag.by) == (300, "Seconds_Behind")


def skewed_by(seconds, said=0.0, **changes):
    """The replica's clock is ahead by so much: its last transaction has just come, and is in hand."""
    sent = NOW - seconds - 0.1
    commits = in_hand(seconds + said, queued_sent=sent, queued_commit=sent, queued_at=NOW - 0.1)
    busy_one = channel(applier=busy(), seconds_behind=said, applied=ELSEWHERE)
    return snapshot(busy_one, commits=commits, backlog=1, **changes)


def test_one_look_tells_nothing_of_clocks_for_sure():
    lag = judge(skewed_by(120.0))
    assert (lag.seconds, lag.high, lag.doubtful) == (0, pytest.approx(120), True)
    assert lag.remarks == (PERHAPS,)


def test_seconds_behind_of_what_is_in_hand_proves_that_clocks_differ():
    """MySQL 9.7.2, a replica 120 s ahead: 0 or 1 at each of 527 such looks."""
    lag = judge(skewed_by(120.0, looked_again=(0.0, 0.0)))
    assert (lag.seconds, lag.clock_offset, lag.doubtful) == (0, 120, False)
    assert lag.remarks == ()


def test_clocks_are_told_from_a_lag_of_the_applier():
    lag = judge(skewed_by(120.0, said=30.0, looked_again=(30.0, 30.0)))
    assert (lag.seconds, lag.clock_offset) == (30, 120)


@pytest.mark.parametrize("said", [(29.0,), (0.0, 28.0, 0.0)])
def test_seconds_behind_of_what_is_in_hand_proves_a_lag(said):
    """MySQL 9.7.2, links that are thin or slow: as late as the commit time says at each such look."""
    late = commits(queued_sent=NOW - 29.3, queued_commit=NOW - 29.3, queued_at=NOW - 0.2)
    lag = judge(snapshot(commits=late, looked_again=said))
    assert (lag.seconds, lag.doubtful) == (pytest.approx(29.1), False)
    assert lag.remarks == ("Seconds_Behind 0 is wrong: relay log empty",)


def test_a_late_stream_is_in_doubt_only_as_long_as_seconds_behind_never_told_of_it():
    late = commits(queued_sent=NOW - 29.3, queued_commit=NOW - 29.3, queued_at=NOW - 0.2)
    assert judge(snapshot(commits=late, looked_again=())).doubtful
    told = judge(snapshot(commits=late, before=before(lag=28.0, seconds_behind=28.0)))
    assert not told.doubtful
    compared = judge(snapshot(commits=late, source=source(missing=9, clock_ahead=0.0)))
    assert not compared.doubtful


def test_of_a_delay_that_changes_further_looks_have_the_last_word():
    late = commits(queued_sent=NOW - 29.3, queued_commit=NOW - 29.3, queued_at=NOW - 0.2)
    known = snapshot(commits=late, before=before(offsets=(0.1, 0.1)))
    assert judge(known).doubtful
    assert not judge(known._replace(looked_again=())).doubtful


def leapt(seconds_ago, **changes):
    """All was well so many seconds ago; now the last transaction looks 60 s late."""
    last = commits(queued_sent=NOW - 61, queued_commit=NOW - 61, queued_at=NOW - 1)
    then = before(seconds_ago, delay=0.1, delay_age=1.0) if seconds_ago else None
    return snapshot(commits=last, before=then and then._replace(**changes))


def test_no_lag_grows_faster_than_time():
    lag = judge(leapt(10))
    assert (lag.seconds, lag.clock_offset) == (pytest.approx(0, abs=0.1), pytest.approx(59.9))
    assert judge(leapt(59)).clock_offset is None


def test_what_is_fetched_again_is_no_leap():
    """relay_log_recovery = ON: after a restart the receiver begins with what was not applied yet."""
    contact = before().contact._replace(received=Position("bin.000002", 4))
    assert judge(leapt(10, contact=contact)).clock_offset is None


def test_an_offset_is_kept_and_what_exceeds_it_is_lag():
    known = skewed_by(128.0, before=before(clocks=120.0))
    lag = judge(known)
    assert lag.clock_offset == 120
    assert lag.doubtful
    late = known._replace(looked_again=(8.0, 7.0))
    assert (judge(late).seconds, judge(late).clock_offset) == (8, 120)


def test_what_arrives_sooner_than_an_offset_allows_mends_it():
    assert judge(snapshot(commits=commits(), before=before(clocks=120.0))).clock_offset is None
    nearer = judge(skewed_by(90.0, before=before(clocks=120.0)))
    assert (nearer.clock_offset, nearer.seconds) == (90, 0)


def test_a_replica_whose_clock_was_set_is_not_late():
    assert judge(leapt(300, clock_set=60.0)).seconds == pytest.approx(0)
    assert judge(snapshot(mariadb(), before=before(of=mariadb(), clock_set=60.0))).clock_offset is None
    mended = before(clocks=120.0, clock_set=-120.0)
    assert judge(snapshot(commits=commits(), before=mended)).clock_offset is None


def test_seconds_behind_is_wrong_after_a_clock_was_set():
    lag = judge(skewed_by(60.0, before=before(clocks=60.0))._replace(channel=channel(seconds_behind=60.0)))
    assert lag.seconds == 0
    assert lag.remarks == ("Seconds_Behind 60 is wrong: clocks differ by 60 s",)


# E10: intended delays


def test_an_event_that_waits_for_its_time_is_no_lag():
    waits = channel(delay=3600.0, remaining_delay=1200.0, seconds_behind=2400.0, applied=ELSEWHERE)
    lag = judge(snapshot(waits, commits=commits(workers=(worker(applied_commit=NOW - 90_000),)), backlog=8))
    assert (lag.seconds, lag.by, lag.delayed) == (0, "intended delay", 2400)


def test_only_what_exceeds_the_delay_is_lag():
    workers = (worker(applying="a", applying_commit=NOW - 3700),)
    late = channel(delay=3600.0, seconds_behind=3700.0, applier=busy())
    lag = judge(snapshot(late, commits=commits(workers=workers)))
    assert (lag.seconds, lag.high, lag.delayed) == (100, 100, 3600)


WAITS = Thread("Yes", "Waiting until SOURCE_DELAY seconds after source executed event", 0, "")


def test_a_worker_that_hangs_is_not_hidden_by_the_event_that_waits_behind_it():
    waits = channel(applier=WAITS, delay=60.0, remaining_delay=30.0, seconds_behind=3600.0)
    lag = judge(snapshot(waits, commits=in_hand(3600.0), backlog=400))
    assert (lag.seconds, lag.by, lag.delayed) == (3540, "commit time", 60)
    young = judge(snapshot(waits, commits=in_hand(20.0), backlog=400))
    assert (young.seconds, young.by) == (0, "intended delay")


def test_mariadb_tells_of_a_worker_that_hangs_by_seconds_behind():
    """MariaDB 10.11.19, slave_parallel_threads=4, MASTER_DELAY=10 and a row lock for 37 s beyond that."""
    state = "Waiting until MASTER_DELAY seconds after master executed event"
    waits = mariadb(applier=Thread("Yes", state, 0, ""), delay=10.0, remaining_delay=0.0, seconds_behind=48.0)
    lag = judge(snapshot(waits, backlog=76))
    assert (lag.seconds, lag.high, lag.by, lag.delayed) == (38, 39, "Seconds_Behind", 10)
    on_time = judge(snapshot(waits._replace(seconds_behind=12.0), backlog=20))
    assert (on_time.seconds, on_time.by) == (0, "intended delay")


def test_no_delay_cannot_be_missed():
    early = commits(workers=(worker(applied_commit=NOW + 40),))
    assert not any("is not kept" in one for one in judge(snapshot(commits=early)).remarks)


def test_a_delay_that_is_not_kept_is_told():
    lag = judge(snapshot(channel(delay=3600.0), commits=commits()))
    assert lag.remarks == ("the configured delay of 1 h is not kept",)
    kept = commits(workers=(worker(applied_commit=NOW - 3601),))
    assert judge(snapshot(channel(delay=3600.0), commits=kept)).remarks == ()


# gathered from the whole


def test_an_unusual_quiet_is_told_before_it_is_silence():
    quiet = commits(queued_at=NOW - 15, queued_sent=NOW - 15)
    lag = judge(snapshot(commits=quiet, before=before(transaction_gap=0.1)))
    assert not lag.silent
    assert lag.remarks == ("nothing received for 15 s, unusual for this source",)
    assert judge(snapshot(commits=quiet, before=before(transaction_gap=1.0))).remarks == ()


def test_bytes_are_told_where_transactions_cannot_be_counted():
    there = source(
        missing=None, not_received=None, errant=None, sequence=9e9, replica_sequence=8e9, octets=5 << 20
    )
    lag = judge(snapshot(channel(seconds_behind=40.0, applier=busy(), received_gtids=""), source=there))
    assert lag.seconds == 40
    assert lag.remarks == ("5 MiB of binary log not applied",)


def test_the_parts_of_a_lag_add_up():
    late = commits(queued_commit=NOW - 40, queued_sent=NOW - 30, queued_at=NOW - 10)
    workers = (worker(applying=f"{UUID}:7", applying_commit=NOW - 45),)
    late = snapshot(channel(applier=busy(), seconds_behind=45.0), commits=late._replace(workers=workers))
    lag = judge(late)
    assert (lag.upstream, lag.transport, lag.apply) == (10, 20, 15)
    assert lag.seconds == 45
