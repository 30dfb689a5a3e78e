"""Stalls of one node that come again and again are one problem, and all of them are counted."""

import re

import pytest
from ndb_log_service import HOUR

STALL = "thr: {} Overslept {} ms, expected ~10ms"


def stands_still(log, seconds, ago):
    for thread in (0, 1, 2):
        log.say(STALL.format(thread, int(seconds * 1000)), ago, "WARNING")
    log.say(f"Watchdog: Warning overslept {int(seconds * 1000)} ms, expected 100 ms.", ago, "WARNING")


def test_stalls_every_80_seconds_are_one_line(check, log):
    for ago in range(3500, 50, -80):
        stands_still(log, 6.1 if ago == 1500 + 80 else 2, ago)
    stands_still(log, 6.1, 45)
    said = check("--log", log)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 stood still up to 6.1 s, 45 times since HH:MM:SS, the last at HH:MM:SS"
        " - check for a paused VM, SIGSTOP, CPU quota, swapping, VM steal"
    )
    assert len(said.text) <= 160
    assert len(said.details) == 1
    assert said.details[0].startswith("  node 4 stood still 6.1 s until HH:MM:SS, 3 threads and the watchdog")


@pytest.mark.parametrize(("last", "status"), [(100, 2), (400, 1)])
def test_what_comes_every_80_seconds_goes_on_between_them(check, log, last, status):
    for ago in range(last + 800, last - 1, -80):
        stands_still(log, 6.1, ago)
    assert check("--log", log).status == status


def test_two_stalls_do_not_go_on(check, log):
    stands_still(log, 6.1, 300)
    stands_still(log, 6.1, 100)
    said = check("--log", log)
    assert said.status == 1
    assert "2 times since HH:MM:SS" in said.text


def test_stalls_that_are_far_apart_are_two_problems(check, log):
    stands_still(log, 6.1, 2000)
    stands_still(log, 6.1, 100)
    said = check("--log", log)
    assert "node 4 stood still 6.1 s until" in said.text
    assert said.text.endswith("(+1 more problem)")


def test_stalls_of_two_nodes_are_two_problems(check, log, peer):
    for ago in (500, 300, 100):
        stands_still(log, 6.1, ago)
        stands_still(peer, 6.1, ago - 10)
    said = check("--log", log, "--log", peer)
    assert said.text.endswith("(+1 more problem)")
    assert sum("3 times since" in line for line in (said.text, *said.details)) == 2


def test_a_node_that_ended_of_one_of_many_stalls_is_told_first(check, log):
    for ago in range(900, 100, -100):
        stands_still(log, 2, ago)
    log.stuck(2, 6000, 12000, 18000, ago=61)
    log.say("Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'.", 60, "ALERT")
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, thread 2 was stuck 18 s")
    assert any("node 4 stood still up to 2 s, 8 times since" in line for line in said.details)


def test_a_node_that_ended_of_the_last_of_such_stalls_is_told_first(check, log):
    for ago in range(900, 100, -100):
        stands_still(log, 2, ago)
    stands_still(log, 25, 62)
    log.say("Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'.", 60, "ALERT")
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, stood still 25 s")


@pytest.mark.parametrize("runs", [1, 3])
def test_all_stalls_are_counted_and_not_only_those_that_are_kept(check, log, runs):
    """100 are kept; the worst is in the middle, so that others are not."""
    log.say("Operations=0", HOUR)
    moments = [3300 - 10 * number for number in range(300)]
    for run in range(runs):
        for ago in moments[run * 300 // runs : (run + 1) * 300 // runs]:
            stands_still(log, 7 if ago == 1810 else 2, ago)
        said = check("--log", log)
    assert re.search(r"stood still (?:up to )?7 s.*, 300 times ", said.text)


def test_all_stuck_threads_are_counted(check, log):
    for number in range(300):
        log.stuck(2, 600, 1500, ago=3300 - 10 * number)
    assert ", 300 stalls " in check("--log", log).text
