# ruff: noqa: E501 - what is said is written as it is said
"""What a run knows of the runs before it: what is held, for how long, and what clears it."""

import re

import pytest
from ndb_log_service import DAY, HOUR, MINUTE

QUIET = "NDB_LOG OK - 1 new line of ndb_4_out.log, no thread stuck"
NOTHING_NEW = "NDB_LOG OK - 0 new lines of ndb_4_out.log, no thread stuck"
KILLED = "Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'."
DOWN = (
    "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 6050: ended by its watchdog - check swapping, VM"
    " steal, CPU quota, disk, then restart the node"
)
BACK = (
    "NDB_LOG WARNING - node 4 shut down at HH:MM:SS, started again at HH:MM:SS, error 6050: ended by its"
    " watchdog - check swapping, VM steal, CPU quota, disk"
)
MEMORY = (
    "NDB_LOG CRITICAL - node 3: Data memory 90 % used at HH:MM:SS, writes fail at 95 % - delete rows, or raise"
    " DataMemory (rolling restart)"
)


# A stuck thread


@pytest.mark.usefixtures("new_interpreter")
def test_a_stuck_thread_alerts_in_the_next_run_and_for_the_hold(check, watched):
    watched.stuck(2, 600, 1200, ago=1770)
    expected = (
        "NDB_LOG WARNING - node 4 thread 2 was stuck 1.2 s until HH:MM:SS, probably process"
        " not running (no CPU time) - check swapping, VM steal, CPU quota, disk"
    )
    assert check("--log", watched, "--hold", "30m").text == expected
    again = check("--log", watched, "--hold", "30m")
    assert (again.status, again.text) == (1, expected)
    assert again.perfdata["lines"] == "0"
    assert again.perfdata["stuck"] == "1.2s;1;9"
    gone = check("--log", watched, "--hold", "29m")
    assert (gone.status, gone.text) == (0, NOTHING_NEW)
    assert gone.perfdata["stuck"] == "0s;1;9"


def test_what_the_hold_has_let_go_does_not_come_back(check, watched):
    watched.stuck(2, 600, 1200, ago=10 * MINUTE)
    assert check("--log", watched, "--hold", "5m").status == 0
    assert check("--log", watched, "--hold", "1h").status == 0


def test_an_old_line_is_history_in_the_first_run(check, log):
    log.stuck(2, 600, 12000, ago=61 * MINUTE)
    said = check("--log", log)
    assert (said.status, said.text) == (0, "NDB_LOG OK - 4 new lines of ndb_4_out.log, no thread stuck")


def test_a_young_line_alerts_in_the_first_run(check, log):
    log.stuck(2, 600, 12000, ago=59 * MINUTE)
    assert check("--log", log).status == 1
    log.stuck(3, 600, 12000, ago=5)
    assert check("--log", log).status == 2


def test_lines_in_local_time_alert_by_their_own_time(check, log):
    log.say_legacy("Ndb kernel thread 2 is stuck in: Job Handling elapsed=1200", 61 * MINUTE, "WARNING")
    assert check("--log", log).status == 0
    log.say_legacy("Ndb kernel thread 2 is stuck in: Job Handling elapsed=1300", 50 * MINUTE, "WARNING")
    said = check("--log", log)
    assert said.status == 1
    assert said.text.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 1.3 s until HH:MM:SS,")


def test_local_time_is_that_of_the_machine(check, log):
    berlin = {"PATH": "/usr/bin:/bin", "TZ": "Europe/Berlin"}
    log.say_legacy("Ndb kernel thread 2 is stuck in: Job Handling elapsed=1200", -30 * MINUTE, "WARNING")
    assert check("--log", log, "--whole", env=berlin).status == 1


def test_lines_without_a_time_are_history_in_the_first_run(check, log):
    log.add("Ndb kernel thread 4 is stuck in: Job Handling elapsed=12000\n")
    log.add("Watchdog: User time: 82  System time: 667\n")
    said = check("--log", log)
    assert (said.status, said.text) == (0, "NDB_LOG OK - 2 new lines of ndb_4_out.log, no thread stuck")


def test_lines_without_a_time_alert_in_a_later_run(check, log):
    log.add("Ndb kernel thread 4 is stuck in: Job Handling elapsed=100\n")
    assert check("--log", log).status == 0
    log.add("Ndb kernel thread 4 is stuck in: Job Handling elapsed=12000\n")
    said = check("--log", log)
    assert said.status == 2
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 thread 4 was stuck 12 s, too short to judge (one report) - watch"
        " whether it comes back"
    )


def test_a_line_without_a_time_is_as_old_as_the_line_before_it_in_the_first_run(check, log):
    log.say("Operations=0", 2 * HOUR)
    log.say("Local checkpoint 51 started", 50)
    log.add("Ndb kernel thread 4 is stuck in: Job Handling elapsed=12000\n")
    assert check("--log", log).status == 2


def test_a_kernel_without_thread_numbers_alerts_without_a_length(check, watched):
    watched.add("Ndb kernel is stuck in: Job Handling\n")
    said = check("--log", watched)
    assert said.text == (
        'NDB_LOG WARNING - node 4 kernel thread was stuck in "Job Handling", this version does not log how'
        " long - check swapping, load and steal time"
    )


def test_an_episode_split_over_three_runs_is_one(check, watched):
    watched.stuck(2, 400, 500, 600, ago=2.4, user=1)
    assert check("--log", watched).perfdata["stuck_episodes"] == "1"
    watched.add("")
    watched.say("Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=1800", 1.2, "WARNING")
    watched.say("Watchdog: User time: 83  System time: 615", 1.2)
    assert check("--log", watched).perfdata["stuck"] == "1.8s;1;9"
    watched.say("Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=3000", 0, "WARNING")
    watched.say("Watchdog: User time: 84  System time: 630", 0)
    said = check("--log", watched)
    assert said.perfdata["stuck_episodes"] == "1"
    assert said.text == (
        "NDB_LOG WARNING - node 4 thread 2 was stuck 3 s until HH:MM:SS, probably OS kernel busy"
        " (system 0.12 core, user 0.02) - check network, swapping"
    )


def test_the_times_of_a_report_may_come_in_the_next_run(check, watched):
    watched.stuck(2, 400, 500, 600, ago=0.8)
    watched.say("Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=1400", 0, "WARNING")
    assert check("--log", watched).perfdata["stuck"] == "1.4s;1;9"
    watched.say("Watchdog: User time: 80  System time: 680", 0)
    assert "probably OS kernel busy (system 0.80 core, user 0)" in check("--log", watched).text


def test_a_second_standstill_of_the_same_thread_is_another_episode(check, watched):
    watched.stuck(2, 600, 1200, ago=300)
    assert check("--log", watched).perfdata["stuck_episodes"] == "1"
    watched.stuck(2, 700, 1300, ago=10)
    assert check("--log", watched).perfdata["stuck_episodes"] == "2"


def test_the_thread_s_own_times_may_come_in_the_next_run(check, watched):
    watched.stuck(2, 400, 2500, ago=0.2)
    assert "probably process not running" in check("--log", watched).text
    watched.say(
        "thr: 2 Overslept 2526 ms, expected ~10ms, user time: 929476 us, sys_time: 11863 us", 0, "WARNING"
    )
    assert "NDB kernel busy (user 0.37 core, system 0)" in check("--log", watched).text


def test_five_short_standstills_within_ten_minutes(check, watched):
    watched.stuck(2, 100, 200, ago=500)
    watched.stuck(2, 100, 200, ago=400)
    assert check("--log", watched).status == 0
    watched.stuck(2, 100, 200, ago=300)
    watched.stuck(3, 100, 200, ago=200)
    assert check("--log", watched).status == 0
    watched.stuck(2, 100, 200, ago=100)
    said = check("--log", watched)
    assert said.text == (
        "NDB_LOG WARNING - node 4 had 5 stuck episodes, 5 of them within 10 min, threads stall again and again"
        " - check swapping, VM steal and CPU quota"
    )


# Nodes that end


def test_a_shutdown_stays_until_a_start_and_then_for_the_hold(check, watched):
    watched.say(KILLED, 3 * HOUR, "ALERT")
    down = check("--log", watched)
    assert (down.status, down.text) == (2, DOWN)
    assert down.perfdata["shutdowns"] == "0"
    watched.say("Operations=0")
    still = check("--log", watched)
    assert (still.status, still.text) == (2, DOWN)
    watched.starts(60)
    assert check("--log", watched, "--hold", "4h").text == BACK
    assert check("--log", watched, "--hold", "2h").status == 0


def test_a_node_that_was_down_for_longer_than_the_hold_is_well_when_it_has_started(check, watched):
    watched.say(KILLED, 3 * HOUR, "ALERT")
    assert check("--log", watched).status == 2
    watched.starts(10)
    assert check("--log", watched).status == 0


def test_a_node_that_ended_and_came_back_between_two_runs(check, watched):
    watched.say(KILLED, 20 * MINUTE, "ALERT")
    watched.starts(10 * MINUTE)
    said = check("--log", watched)
    assert (said.status, said.text) == (1, BACK)
    assert said.perfdata["shutdowns"] == "1"
    assert (check("--log", watched).status, check("--log", watched, "--hold", "15m").status) == (1, 0)


def test_a_node_that_is_starting_is_still_critical(check, watched):
    watched.say(KILLED, 20 * MINUTE, "ALERT")
    watched.say("Angel pid: 17488 started child: 8002", 10 * MINUTE)
    said = check("--log", watched)
    assert said.status == 2
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, starting again since HH:MM:SS, error 6050"
    )


def test_a_node_whose_start_never_ends_does_not_become_well_by_itself(check, watched):
    watched.say(KILLED, 5 * HOUR, "ALERT")
    watched.say("Angel pid: 17488 started child: 8002", 4 * HOUR)
    assert check("--log", watched).status == 2
    assert check("--log", watched).status == 2


def test_an_angel_that_gave_up_stays(check, watched):
    watched.say(
        "Forced node shutdown completed. Occurred during startphase 5. Caused by error 2352: 'Invalid LCP(Ndbd"
        " file system inconsistency error, please report a bug). Ndbd file system error, restart node initial'.",
        3 * HOUR,
        "ALERT",
    )  # fmt: skip
    watched.say("Angel detected too many startup failures(3), not restarting again", 3 * HOUR, "ALERT")
    watched.say("Angel shutting down", 3 * HOUR)
    said = check("--log", watched)
    assert said.status == 2
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 failed to start (phase 5) at HH:MM:SS, error 2352: Invalid LCP - "
    )
    assert check("--log", watched).text == said.text
    watched.starts(10)
    assert check("--log", watched, "--hold", "4h").status == 1


def test_an_angel_that_restarts_its_child(check, watched):
    watched.say("Child process terminated by signal 9", 60, "ALERT")
    watched.say("Child has terminated (pid 8002). Angel restarting child process", 60)
    said = check("--log", watched)
    assert said.status == 2
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, signal 9 (killed) - look in dmesg"
    )


def test_a_node_id_that_is_taken(check, watched):
    watched.say(
        "Failed to allocate nodeid, error: 'Error: Could not alloc node id 4: Id 4 already allocated'"
    )
    said = check("--log", watched)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 could not start at HH:MM:SS, Id 4 already"
        " allocated - check whether it runs already, and the management server"
    )


def test_ordered_stop_and_restart_in_the_out_log(check, watched):
    watched.say("Node shutdown initiated", 30)
    watched.say("Suma: initiate handover for shutdown with nodes 0000000000000008 GCI: 157", 20)
    watched.say("Watchdog shutdown completed - exiting", 11)
    watched.say("Node shutdown completed, restarting, no start.", 10)
    watched.say("Angel pid: 17488 started child: 8002", 9)
    assert check("--log", watched).status == 0
    watched.starts(5)
    said = check("--log", watched)
    assert said.status == 0
    assert said.perfdata["shutdowns"] == "0"


def test_a_stop_by_the_init_system(check, watched):
    watched.say("Received signal 15. Running shutdown handler.", 12)
    watched.say("Node shutdown initiated", 11)
    watched.say("Node shutdown completed. Initiated by signal 15.", 10)
    assert check("--log", watched).status == 0


def test_ordered_stop_in_the_cluster_log(check, watched_cluster):
    watched_cluster.say("Node 4: Node shutdown initiated", 30)
    watched_cluster.say("Node 3: Communication to Node 4 closed", 12)
    watched_cluster.say("Node 3: Node 4 Disconnected", 12, "ALERT")
    watched_cluster.say(
        "Node 3: NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 12
    )
    watched_cluster.say("Node 3: Arbitration check won - node group majority", 12, "ALERT")
    watched_cluster.say("Node 3: President restarts arbitration thread [state=6]", 12)
    watched_cluster.say("Node 4: Node shutdown completed.", 10)
    said = check("--log", watched_cluster)
    assert (said.status, said.perfdata["shutdowns"]) == (0, "0")


def test_ordered_stop_in_the_out_log_of_the_peer(check, peer):
    peer.say("Operations=0", 60)
    assert check("--log", peer).status == 0
    peer.say("shutdown handover takeover", 13)
    assert check("--log", peer).status == 0
    peer.say("NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 12)
    peer.say("Arbitration check won - node group majority", 12)
    assert check("--log", peer).status == 0


def test_an_ordered_stop_of_the_whole_cluster(check, watched, peer, watched_cluster):
    logs = ["--log", watched, "--log", peer, "--log", watched_cluster]
    peer.say("Operations=0", 60)
    assert check(*logs).status == 0
    watched.say("Node shutdown initiated", 30)
    peer.say("Node shutdown initiated", 30)
    watched_cluster.say("Node 4: Node shutdown initiated", 30)
    watched_cluster.say("Node 3: Node shutdown initiated", 30)
    watched_cluster.say("Node 4: Node shutdown completed.", 20)
    watched_cluster.say("Node 3: Node 4 Disconnected", 20, "ALERT")
    watched_cluster.say("Node 3: Node shutdown completed.", 20)
    peer.say("NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 20)
    watched.say("Node shutdown completed.", 20)
    peer.say("Node shutdown completed.", 20)
    assert check(*logs).status == 0


def test_an_api_node_that_disconnects(check, watched_cluster):
    watched_cluster.say("Node 3: Node 50 Disconnected", 12, "ALERT")
    watched_cluster.say("Node 3: Communication to Node 50 closed", 12)
    watched_cluster.say("Node 3: Node 50 Connected", 10)
    watched_cluster.say("Node 3: Node 50: API mysql-9.7.2 ndb-9.7.2", 10)
    assert check("--log", watched_cluster).status == 0


def test_an_api_node_that_disconnects_in_the_out_log_of_8_0(check, watched):
    watched.say_legacy("Node 51 disconnected in recv with errnum: 104 in state: 0", 12)
    watched.say_legacy("findNeighbours from: 4996 old (left: 5 right: 5) new (65535 65535)", 12)
    assert check("--log", watched).status == 0


def test_an_api_node_that_was_declared_dead_is_no_node_that_is_down(check, watched_cluster):
    """QMGR declares API nodes dead as it does data nodes; they never say that they have started."""
    watched_cluster.say("Node 3: Node 50 missed heartbeat 4", 12, "WARNING")
    watched_cluster.say("Node 3: Node 50 declared dead due to missed heartbeat", 12, "ALERT")
    watched_cluster.say("Node 3: Node 50 Disconnected", 12, "ALERT")
    assert check("--log", watched_cluster).status == 2
    watched_cluster.say("Node 3: Node 50 Connected", 10)
    watched_cluster.say("Node 3: Node 50: API mysql-9.7.2 ndb-9.7.2", 10)
    assert "declared dead" not in check("--log", watched_cluster, "--hold", "1s", "-v").output


# What a later line clears


def test_memory_stays_until_it_is_said_to_be_less(check, watched_cluster):
    watched_cluster.say("Node 3: Data usage increased to 90%(2950 32K pages of total 3276)", 5 * HOUR)
    full = check("--log", watched_cluster)
    assert (full.status, full.text) == (2, MEMORY)
    watched_cluster.say("Node 3: Local checkpoint 52 started.", 10)
    assert check("--log", watched_cluster).text == MEMORY
    watched_cluster.say("Node 3: Data usage decreased to 79%(2588 32K pages of total 3276)", 5)
    assert check("--log", watched_cluster).status == 0


def test_memory_of_80_percent_warns(check, watched_cluster):
    watched_cluster.say("Node 3: Index usage increased to 80%(2950 8K pages of total 3276)", 5 * HOUR)
    said = check("--log", watched_cluster)
    assert said.text == (
        "NDB_LOG WARNING - node 3: Index memory 80 % used at HH:MM:SS, writes fail at 95 % - delete rows,"
        " or raise DataMemory (rolling restart)"
    )


def test_less_memory_on_one_node_does_not_clear_another(check, watched_cluster):
    watched_cluster.say("Node 3: Data usage increased to 90%(2950 32K pages of total 3276)", 60)
    watched_cluster.say("Node 4: Data usage increased to 90%(2950 32K pages of total 3276)", 60)
    watched_cluster.say("Node 4: Data usage decreased to 79%(2588 32K pages of total 3276)", 5)
    assert check("--log", watched_cluster).text == MEMORY


def test_memory_is_cleared_by_the_node_s_restart(check, watched_cluster):
    watched_cluster.say("Node 3: Data usage increased to 90%(2950 32K pages of total 3276)", 60)
    assert check("--log", watched_cluster).status == 2
    watched_cluster.say("Node 3: Node shutdown initiated", 30)
    watched_cluster.say("Node 3: Node shutdown completed, restarting.", 20)
    watched_cluster.say("Node 3: Start initiated (mysql-9.7.2 ndb-9.7.2)", 15)
    watched_cluster.say("Node 3: Started (mysql-9.7.2 ndb-9.7.2)", 10)
    assert check("--log", watched_cluster).status == 0


def test_a_full_redo_buffer_split_over_two_runs_is_one_episode(check, watched):
    watched.say("LQH 1 : Redo log part 2 : Redo buffer full", 300)
    full = check("--log", watched)
    assert full.status == 2
    assert full.text.startswith(
        "NDB_LOG CRITICAL - node 4 redo buffer of part 2 is full since HH:MM:SS, the disk is too slow - use"
    )
    watched.say("LQH 1 : Redo log part 2 : Redo buffer not full", 200)
    said = check("--log", watched)
    episode = re.fullmatch(
        r"NDB_LOG WARNING - node 4 redo buffer was full once from HH:MM:SS until HH:MM:SS, the disk is too slow"
        r" - use faster or separate disks for redo and LCP",
        said.text,
    )
    assert episode
    seconds, limits = said.perfdata["redo_full"].split("s;")
    assert 100 <= float(seconds) < 105  # what passes between the lines that are said counts, too
    assert limits == "0;0.2"


def test_short_full_redo_buffers_are_a_buffer_too_small(check, watched):
    watched.say("LQH 1 : Redo log part 2 : Redo buffer full", 10)
    watched.say("LQH 1 : Redo log part 2 : Redo buffer not full", 9.95)
    said = check("--log", watched)
    assert said.status == 1
    assert "RedoBuffer is too small for the bursts - increase RedoBuffer" in said.text


def test_full_redo_buffers_within_a_second_of_legacy_time_are_no_less_full(check, watched):
    at = "2026-11-20 23:06:41 [ndbd] INFO     -- LQH 1 : Redo log part 2 : Redo buffer"
    watched.add(f"{at} full\n{at} not full\n" * 20)
    said = check("--log", watched, "--hold", "3650d")
    assert said.status == 1
    assert "redo buffer was full 20 times" in said.text
    assert "RedoBuffer is too small for the bursts" in said.text


def test_a_redo_log_without_space_stays_until_it_is_cleared(check, watched):
    problem = "LQH 1 : Redo log part 1 problem {} : Low space.  (Space left in tail)"
    watched.say(problem.format("started"), 3 * HOUR)
    low = (
        "NDB_LOG CRITICAL - node 4 redo log part 1: low space since HH:MM:SS, writes fail with error 410 - "
        "raise NoOfFragmentLogFiles"
    )
    assert check("--log", watched).text == low
    assert check("--log", watched).text == low
    watched.say(problem.format("cleared"), 5)
    assert check("--log", watched).status == 0


def test_contention_is_measured_from_the_report_of_the_run_before(check, watched):
    watched.add("jbalock thr: 1 waiting for lock, contentions: 10000 spins: 1000000\n")
    assert check("--log", watched).status == 0
    watched.add("jbalock thr: 1 waiting for lock, contentions: 10200 spins: 5905800\n")
    said = check("--log", watched)
    assert said.text == (
        'NDB_LOG WARNING - node 4 lock "jbalock thr: 1" spins 30.7 us for each contention, 25 000 spins each -'
        " check whether the cluster is busy"
    )
    assert said.perfdata["spin"] == "0.000030661s;0.000005"


def test_contention_over_the_wrap_of_its_counters(check, watched):
    watched.add("jbalock thr: 1 waiting for lock, contentions: 4294967196 spins: 4294960000\n")
    assert check("--log", watched).status == 0
    watched.add("jbalock thr: 1 waiting for lock, contentions: 100 spins: 4898504\n")
    assert "spins 30.7 us for each contention" in check("--log", watched).text


def test_contention_after_a_restart_begins_anew(check, watched):
    watched.add("jbalock thr: 1 waiting for lock, contentions: 200 spins: 1000000\n")
    assert check("--log", watched).status == 0
    watched.starts()
    watched.add("jbalock thr: 1 waiting for lock, contentions: 400 spins: 900000000\n")
    assert check("--log", watched).status == 0


def test_contention_after_a_restart_that_the_log_does_not_tell(check, watched):
    watched.add("jbalock thr: 1 waiting for lock, contentions: 200000 spins: 1000000\n")
    assert check("--log", watched).status == 0
    watched.add("jbalock thr: 1 waiting for lock, contentions: 1 spins: 17\n")
    watched.add("jbalock thr: 1 waiting for lock, contentions: 20 spins: 500\n")
    assert check("--log", watched).status == 0


def test_an_arbitrator_that_is_replaced(check, watched_cluster):
    watched_cluster.say("Node 3: Lost arbitrator node 1 - process failure [state=6]", 30)
    said = check("--log", watched_cluster)
    assert said.text == (
        "NDB_LOG WARNING - node 3: arbitrator node 1 lost at HH:MM:SS, process failure, no line since - check"
        " whether the data nodes run, then ndb_mgmd"
    )
    watched_cluster.say("Node 3: Communication to Node 1 opened", 25)
    assert check("--log", watched_cluster).text == (  # it goes on
        "NDB_LOG WARNING - node 3: arbitrator node 1 lost at HH:MM:SS, process failure - check the management"
        " and SQL nodes that may arbitrate"
    )
    watched_cluster.say("Node 3: Could not find an arbitrator, cluster is not partition-safe", 20, "WARNING")
    assert "no arbitrator found at HH:MM:SS" in check("--log", watched_cluster).text
    watched_cluster.say("Node 3: Started arbitrator node 2 [ticket=5b4f0001b4e7d7c5]", 10)
    assert check("--log", watched_cluster).status == 0


def test_a_backup_that_failed_and_one_that_completed(check, watched_cluster):
    watched_cluster.say("Node 3: Backup 7 started from 1 has been aborted. Error: 1326", 30, "ALERT")
    said = check("--log", watched_cluster)
    assert said.text == (
        "NDB_LOG WARNING - node 3: backup 7 aborted at HH:MM:SS, error 1326 - run perror --ndb 1326, then start"
        " the backup again"
    )
    watched_cluster.say("Node 3: Backup 8 started from node 1 completed. StartGCP: 1 StopGCP: 2", 10)
    assert check("--log", watched_cluster).status == 0


def test_a_backup_that_did_not_begin(check, watched_cluster):
    watched_cluster.say("Node 3: Backup request from 1 failed to start. Error: 1350", 30, "ALERT")
    assert "backup failed to start at HH:MM:SS, error 1350" in check("--log", watched_cluster).text


# Counting


def test_repetitions_count(check, watched):
    watched.say("Node 4 late heartbeat 250ms", 60, "WARNING")
    assert check("--log", watched).status == 0
    watched.say("Node 4 late heartbeat 250ms - Repeated 2 times", 50, "WARNING")
    said = check("--log", watched)
    assert said.text == (
        "NDB_LOG WARNING - node 4: node 4 was late with its heartbeat 3 times in 10 min at HH:MM:SS, last by"
        " 250 ms - check the log of node 4, then the network"
    )


def test_late_heartbeats_over_more_than_ten_minutes(check, watched):
    watched.say("Node 3 late heartbeat 250ms", 25 * MINUTE, "WARNING")
    watched.say("Node 3 late heartbeat 250ms", 12 * MINUTE, "WARNING")
    watched.say("Node 3 late heartbeat 250ms", MINUTE, "WARNING")
    assert check("--log", watched).status == 0


def test_late_heartbeats_stay_for_the_hold(check, watched):
    watched.say("Node 3 late heartbeat 250ms", 52 * MINUTE, "WARNING")
    watched.say("Node 3 late heartbeat 250ms", 51 * MINUTE, "WARNING")
    watched.say("Node 3 late heartbeat 250ms", 50 * MINUTE, "WARNING")
    assert check("--log", watched).status == 1
    watched.say("Node 3 late heartbeat 250ms", 10, "WARNING")
    assert check("--log", watched).status == 1


def test_missed_heartbeats(check, watched):
    watched.say("Node 3 missed heartbeat 2", 60, "WARNING")
    assert check("--log", watched).text == (
        "NDB_LOG WARNING - node 4: node 3 missed heartbeat 2 at HH:MM:SS, after 4 a node is declared dead - check the"
        " log of node 3, then the network"
    )
    watched.say("Node 3 missed heartbeat 3", 45, "WARNING")
    assert check("--log", watched).status == 2
    assert check("--log", watched).perfdata["missed_heartbeats"] == "3;2;3"


# The roles of threads


def test_the_roles_of_threads_are_known_from_an_earlier_run(check, log):
    log.starts(2 * HOUR)
    assert check("--log", log).status == 0
    log.stuck(2, 600, 1200)
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG WARNING - node 4 thread 2 (ldm) was stuck 1.2 s")


def test_a_restart_clears_the_roles_of_threads(check, log):
    log.starts(2 * HOUR)
    assert check("--log", log).status == 0
    log.say("Node shutdown initiated", 90)
    log.say("Node shutdown completed, restarting.", 61)
    log.say("Angel pid: 17488 started child: 9002", 60)
    log.say("NDB Cluster -- DB node 4", 60)
    log.say("Start phase 101 completed", 50)
    log.stuck(2, 600, 1200)
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 1.2 s")


def test_a_second_restart_clears_the_roles_of_threads_though_the_first_start_failed(check, log):
    log.say("Angel pid: 17488 started child: 8001", 80)
    log.say("thr: 2 tid: 17552 (ldm) PGMAN(1)", 80)
    log.say("Child has terminated (pid 8001). Angel restarting child process", 70)
    log.say("Angel pid: 17488 started child: 8002", 60)
    log.say("Node started", 50)
    log.stuck(2, 600, 1200)
    assert "node 4 thread 2 was stuck 1.2 s" in check("--log", log).text


def test_a_start_that_an_older_version_does_not_end_with_a_word_hides_nothing_for_ever(check, log):
    """Up to 7.5 a node's own log does not say "Start phase 101 completed"."""
    log.say_legacy("Angel pid: 17488 started child: 8001", 30 * DAY)
    log.say_legacy("Start initiated (mysql-5.6.11 ndb-7.3.2)", 30 * DAY)
    assert check("--log", log).status == 0
    log.stuck(2, 100, 400, 500, 900)
    assert check("--log", log).perfdata["stuck"] == "0.9s;1;9"


def test_short_standstills_during_a_start_mean_nothing(check, log):
    log.say("Angel pid: 17488 started child: 8001", 30)
    log.say("NDB Cluster -- DB node 4", 30)
    log.stuck(2, 100, 400, 900, ago=20)
    log.stuck(1, 100, 5900, place="Allocating memory", ago=10)
    said = check("--log", log)
    assert (said.status, said.perfdata["stuck_episodes"]) == (0, "0")


def test_the_watchdog_interval_is_known_from_an_earlier_run(check, log):
    log.say("WatchDog timer is set to 2000 ms", 2 * HOUR)
    assert check("--log", log).status == 0
    log.stuck(2, 600, 3100)
    said = check("--log", log)
    assert said.status == 2
    assert "2.9 s were left before the watchdog ends the node" in said.output
    assert said.perfdata["stuck"] == "3.1s;1;3"


def test_a_cluster_that_is_shut_down_by_order_is_no_problem(check, watched_cluster):
    watched_cluster.say("Node 4: Cluster shutdown initiated", 60)
    watched_cluster.say("Node 4: Node shutdown completed, restarting.", 30)
    assert check("--log", watched_cluster).status == 0


def test_a_redo_buffer_that_was_full_when_the_node_was_stopped_is_full_no_more(check, watched):
    watched.say("LQH 1 : Redo log part 2 : Redo buffer full", 30)
    watched.say("Node shutdown initiated", 29)
    watched.say("Node shutdown completed.", 28)
    assert check("--log", watched).perfdata["redo_full"] == "0.001s;0;0.2"


def test_two_threads_that_overslept_alone_are_not_the_whole_process(check, watched):
    for thread in (2, 3):
        watched.say(f"thr: {thread} Overslept 2000 ms, expected ~10ms", 60, "WARNING")
    assert check("--log", watched).text == (
        "NDB_LOG WARNING - node 4 threads 2 and 3 overslept 2 s until HH:MM:SS, the watchdog was on time - check"
        " ndbinfo.threadstat"
    )


def test_each_crash_of_a_node_counts(check, watched):
    for ago in (120, 80, 40):
        watched.say(KILLED, ago, "ALERT")
        watched.say("Started (mysql-9.7.2 ndb-9.7.2)", ago - 10)
    assert check("--log", watched).perfdata["shutdowns"] == "3"


def test_an_old_log_of_nothing_but_undated_lines_gets_its_verdict(check, log):
    lines = (f"lock {n % 9} waiting for lock, contentions: {200 * n} spins: {n}\n" for n in range(60_000))
    log.add("".join(lines))
    assert check("--log", log, "--timeout", "60s").status == 0  # this machine may be busy


def test_a_memory_of_another_format_begins_anew_and_says_so(check, watched):
    (state,) = check.states()
    state.write_text(state.read_text().replace('"format": 1', '"format": 0'))
    said = check("--log", watched)
    assert said.text == (
        "NDB_LOG UNKNOWN - the memory of earlier runs of ndb_4_out.log is lost and this run counts as the first: KeyError in it"
    )
    assert check("--log", watched).status == 0
