# ruff: noqa: E501 - what is said is written as it is said
"""What belongs together in logs is one problem: its cause first, its symptoms below."""

import pytest
from stallwatch.findings import Reading
from stallwatch.probes.ndb_log.events import Event, Kind
from stallwatch.probes.ndb_log.incidents import Incident, incidents

GCP = "GCP Monitor: GCP_COMMIT lag {} sec (no max lag), [SignalCounter: x]"


def stands_still(log, seconds, ago, threads=(0, 1, 2)):
    """Append what a node says that was stopped as a whole, with these threads."""
    ms = int(seconds * 1000)
    for thread in threads:
        log.say(f"thr: {thread} Overslept {ms} ms, expected ~10ms", ago, "WARNING")
    log.say(f"Watchdog: Warning overslept {ms + 90} ms, expected 100 ms.", ago, "WARNING")


def lists_threads(log, count):
    for thread in range(count):
        log.say(f"thr: {thread} tid: {17500 + thread} (ldm) PGMAN(1) DBLQH(1)", 7000)


# One incident, its cause first


def test_a_process_that_stood_still_is_the_cause_of_what_others_say(check, log, peer, cluster):
    stands_still(log, 24, ago=20)
    for value, ago in ((1, 35), (2, 30), (3, 25)):
        peer.say(f"Node 4 missed heartbeat {value}", ago, "WARNING")
        cluster.say(f"Node 3: Node 4 missed heartbeat {value}", ago, "WARNING")
    peer.say(GCP.format(20), 22, "WARNING")
    said = check("--log", log, "--log", peer, "--log", cluster)
    assert said.status == 2
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 stood still 24.1 s until HH:MM:SS, 3 threads and the watchdog overslept - check"
        " for a paused VM, SIGSTOP, CPU quota, swapping"
    )
    assert said.details == [
        "  next step: check for a paused VM, SIGSTOP, CPU quota, swapping, VM steal",
        "  node 3: node 4 missed heartbeat 3 at HH:MM:SS, after 4 a node is declared dead",
        "  node 3: GCP_COMMIT lag 20 s at HH:MM:SS, commits waited for a node",
    ]
    assert said.perfdata["missed_heartbeats"] == "3;2;3"
    assert said.perfdata["gcp_commit_lag"] == "20s;10;30"


def test_a_node_with_a_stuck_receive_thread_accuses_nobody(check, log):
    """Node 4 did not hear the management node, because its own thread was stuck."""
    log.stuck(4, 600, 3900, ago=20, place="Polling for Receive")
    log.say("Node 1 missed heartbeat 1", 22, "WARNING")
    log.say("Node 1 missed heartbeat 2", 20.5, "WARNING")
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG WARNING - node 4 thread 4 was stuck 3.9 s until HH:MM:SS, probably")
    assert "  node 4: node 1 missed heartbeat 2 at HH:MM:SS, after 4 a node is declared dead" in said.details


def test_a_management_node_that_was_running_is_not_accused(check, cluster):
    """Node 4's own receive thread was stuck; the cluster log has only what both say of each other."""
    cluster.say("Node 1 missed heartbeat 1 from node 4.", 22, "WARNING")
    cluster.say("Node 4: Node 1 missed heartbeat 2", 20, "WARNING")
    assert check("--log", cluster).text == (
        "NDB_LOG WARNING - nodes 4 and 1 missed 2 heartbeats of each other at HH:MM:SS, after 4 a node is declared dead"
        " - check the log of node 4, then the network"
    )


def test_two_data_nodes_that_missed_each_other_are_told_alike(check, cluster):
    cluster.say("Node 3: Node 4 missed heartbeat 2", 22, "WARNING")
    cluster.say("Node 4: Node 3 missed heartbeat 2", 20, "WARNING")
    said = check("--log", cluster)
    assert "missed 2 heartbeats of each other" in said.text
    assert said.text.endswith(" - check the network between them, then both logs")


def test_a_node_that_died_of_the_death_of_another_is_a_symptom(check, log, peer):
    log.say("Forced node shutdown completed. Initiated by signal 9.", 61, "ALERT")
    peer.say("Node 4 Disconnected", 60.5, "ALERT")
    peer.say("Network partitioning - no arbitrator available", 60.2, "ALERT")
    peer.say("Forced node shutdown completed. Caused by error 2305: 'x'.", 60, "ALERT")
    said = check("--log", log, "--log", peer)
    assert (said.status, said.details[0]) == (
        2,
        "  node 3 shut down at HH:MM:SS, it lost node 4 and had no arbitrator",
    )
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, signal 9 (killed) - look in dmesg"
    )
    log.starts(30)
    again = check("--log", log, "--log", peer)
    assert again.status == 2  # node 3 is still down


def test_a_missed_heartbeat_that_nobody_explains_stays_first(check, log):
    log.stuck(2, 600, 1200, ago=600)
    log.say("Node 3 missed heartbeat 3", 20, "WARNING")
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4: node 3 missed heartbeat 3 at HH:MM:SS")
    assert said.text.endswith("(+1 more problem)")


def test_a_short_standstill_does_not_explain_a_long_one(check, log):
    stands_still(log, 1.5, ago=28)
    log.stuck(2, 600, 9500, ago=20)
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 thread 2 was stuck 9.5 s")
    assert said.text.endswith("(+1 more problem)")


def test_redo_buffers_that_were_full_for_an_hour_are_not_from_one_standstill(check, log):
    log.say("LQH 1 : Redo log part 2 : Redo buffer full", 3000)
    stands_still(log, 1.5, ago=28)
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 redo buffer of part 2 is full since HH:MM:SS")
    assert any("node 4 stood still 1.6 s" in line for line in said.details)


def test_a_node_that_its_watchdog_ended_was_stuck(check, log, peer):
    log.stuck(2, 600, 18022, ago=80)
    log.say("Forced node shutdown completed. Caused by error 6050: 'x'.", 72, "ALERT")
    peer.say(GCP.format(20), 76, "WARNING")
    peer.say("NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 75)
    said = check("--log", log, "--log", peer)
    assert said.status == 2
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, thread 2 was stuck 18 s - check swapping, VM steal, CPU"
        " quota, disk"
    )
    assert "  error 6050: ended by its watchdog" in said.details
    log.starts(40)
    again = check("--log", log, "--log", peer)
    assert again.status == 1
    assert (
        "node 4 shut down at HH:MM:SS, started again at HH:MM:SS, thread 2 (ldm) was stuck 18 s" in again.text
    )


def test_a_node_that_was_killed_did_not_end_of_a_short_standstill(check, log):
    log.stuck(2, 600, 1200, ago=40)
    log.say("Forced node shutdown completed. Initiated by signal 9.", 20, "ALERT")
    said = check("--log", log)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, signal 9 (killed) - look in dmesg"
    )
    assert said.text.endswith("(+1 more problem)")


# How often, and whether it is over


def test_six_oversleeps_in_ten_seconds_are_one_line(check, log):
    for ago in (40, 37.9, 35.8, 33.7, 31.6, 29.5):
        stands_still(log, 1.7, ago)
    said = check("--log", log)
    assert said.details == ["  next step: check for a paused VM, SIGSTOP, CPU quota, swapping, VM steal"]
    assert "node 4 stood still 1.8 s until HH:MM:SS, 6 times in 12.3 s, 3 threads and" in said.text


@pytest.mark.parametrize(("ago", "status"), [(30, 2), (90, 1)])
def test_what_is_over_alerts_less(check, log, ago, status):
    stands_still(log, 12, ago)
    said = check("--log", log)
    assert said.status == status
    assert "node 4 stood still 12.1 s until HH:MM:SS" in said.text


def test_five_threads_late_in_one_instant_are_one_instant(check, log):
    for thread in range(5):
        log.stuck(thread, 100, ago=100)
    said = check("--log", log)
    assert (said.status, said.perfdata["stuck_episodes"]) == (0, "5")


def test_all_threads_overslept_only_if_all_did(check, log):
    lists_threads(log, 3)
    stands_still(log, 3, ago=30)
    assert "all threads overslept" in check("--log", log).text


def test_one_thread_that_overslept_is_not_the_whole_process(check, log):
    """The watchdog was a little late, too."""
    lists_threads(log, 3)
    log.say("thr: 2 Overslept 2500 ms, expected ~10ms", 30, "WARNING")
    log.say("Watchdog: Warning overslept 212 ms, expected 100 ms.", 30, "WARNING")
    said = check("--log", log)
    assert said.text == (
        "NDB_LOG WARNING - node 4 thread 2 (ldm) overslept 2.5 s until HH:MM:SS, the watchdog only 212 ms - check"
        " ndbinfo.threadstat"
    )


# Redo buffers


def test_one_long_episode_is_not_outvoted_by_short_ones(check, log):
    for ago in (70, 69, 68, 67, 66):
        log.say("LQH 1 : Redo log part 2 : Redo buffer full", ago)
        log.say("LQH 1 : Redo log part 2 : Redo buffer not full", ago - 0.01)
    assert "RedoBuffer is too small for the bursts" in check("--log", log).text
    log.say("LQH 1 : Redo log part 2 : Redo buffer full", 60)
    said = check("--log", log)
    assert said.status == 2
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 redo buffer of part 2 is full since HH:MM:SS, the disk is too slow - use faster"
        " or separate disks for redo and LCP"
    )


def test_an_episode_without_an_end_in_a_whole_log(check, log):
    log.say("LQH 1 : Redo log part 2 : Redo buffer full", 60)
    said = check("--log", log, "--whole")
    assert said.status == 1
    assert said.text == (
        "NDB_LOG WARNING - node 4 redo buffer of part 2 is full since HH:MM:SS, its end is not in the log - check"
        " whether it goes on"
    )


# Which of two stalls ended a node


def test_the_long_stall_ended_the_node_and_not_the_short_one_before(check, log):
    stands_still(log, 1.2, ago=58)
    log.stuck(2, 6000, 12000, 18000, ago=30)
    log.say("Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'.", 29, "ALERT")
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, thread 2 was stuck 18 s - ")
    assert any(line.startswith("[WARNING] node 4 stood still 1.3 s") for line in said.details)


def test_stalls_that_go_on_after_a_restart_count_in_full(check, log):
    for ago in range(400, 0, -40):
        stands_still(log, 30 if ago == 240 else 8, ago)
        if ago == 240:
            log.say("Forced node shutdown completed, restarting. Caused by error 2315: 'x'.", 239, "ALERT")
            log.say("Angel pid: 3 started child: 4", 238)
            log.say("Start phase 101 completed", 210)
    said = check("--log", log)
    assert "node 4 shut down at HH:MM:SS, started again at HH:MM:SS, stood still 30.1 s" in said.text
    assert said.status == 2


def test_many_short_stalls_are_not_counted_with_one_long_one(check, log):
    for ago in range(500, 380, -20):
        log.stuck(2, 500, ago=ago)
    log.say("thr: 1 Overslept 1200 ms, expected ~10ms", 405, "WARNING")
    said = check("--log", log)
    assert " times in " not in said.text
    assert "had 6 stuck episodes" in said.details[0]


def test_a_full_memory_is_not_forgotten_for_many_missed_heartbeats(check, cluster):
    cluster.say("Node 2: Data usage is 97%(3 32K pages of total 3)", 3000, "WARNING")
    for observer in range(1, 20):
        for node in range(20, 33):
            cluster.say(f"Node {observer}: Node {node} missed heartbeat 2", 1500, "WARNING")
    assert check("--log", cluster).text.startswith("NDB_LOG CRITICAL - node 2: Data memory 97 % used")


def test_stalls_of_other_threads_are_not_said_of_the_one_on_the_line(check, log):
    for thread, ago in ((1, 60), (2, 40), (3, 20)):
        log.say(f"thr: {thread} Overslept {1200 + thread} ms, expected ~10ms", ago, "WARNING")
    assert (
        "node 4 thread 3 overslept 1.2 s until HH:MM:SS, 3 stalls in 41.2 s, the" in check("--log", log).text
    )


def test_a_lag_between_two_times_of_full_redo_buffers_is_none_of_them(check, log, cluster):
    for ago in (3000, 30):
        log.say("LQH 1 : Redo log part 0 : Redo buffer full", ago)
        log.say("LQH 1 : Redo log part 0 : Redo buffer not full", ago - 0.5)
    cluster.say("Node 3: GCP Monitor: GCP_SAVE lag 70 sec (no max lag)", 1500, "WARNING")
    said = check("--log", log, "--log", cluster)
    assert "redo buffer was full 2 times" in said.text
    assert any("] node 3: GCP_SAVE lag 70 s at" in line for line in said.details)


def test_a_lag_that_goes_on_is_not_hidden_by_a_worse_one_before(check, cluster):
    for value, ago in ((10, 400), (20, 390), (35, 375), (10, 40), (20, 30), (31, 19)):
        cluster.say(f"Node 3: {GCP.format(value)}", ago, "WARNING")
    said = check("--log", cluster)
    assert said.text.startswith("NDB_LOG CRITICAL - node 3: GCP_COMMIT lag 31 s at HH:MM:SS")
    assert said.details[0].startswith("[WARNING] node 3: GCP_COMMIT lag 35 s at HH:MM:SS")
    assert said.perfdata["gcp_commit_lag"] == "35s;10;30"


def test_thousands_of_incidents_are_not_all_compared_with_each_other(monkeypatch):
    stall = Reading("overslept", 6.0, "s", "node 1 stood still 6 s")
    events = [
        Event(Kind.STOOD_STILL, node, stall, when - 6.0, when, over=True, seconds=6.0)
        for node in range(48)
        for when in range(100, 3600, 80)
    ]
    compared = []
    fits = Incident.fits
    monkeypatch.setattr(Incident, "fits", lambda one, event: compared.append(1) or fits(one, event))
    assert len(incidents(events)) == 48
    assert len(compared) < len(events) ** 2 / 10


def test_many_threads_that_overslept_leave_room_for_the_advice(check, log):
    for thread in range(20):
        log.say(f"thr: {thread} tid: {thread} (ldm) PGMAN(1)", 7200)
    for ago in (40, 20):
        for thread in range(9):
            log.say(f"thr: {thread + 8} Overslept 1200 ms, expected ~10ms", ago, "WARNING")
    said = check("--log", log)
    assert "node 4 threads 8, 9 and 7 more overslept 1.2 s" in said.text
    assert said.text.endswith(" - check ndbinfo.threadstat")
    assert len(said.text) <= 160
    assert "  late: threads 8, 9, 10, 11, 12, 13, 14, 15, 16" in said.details
