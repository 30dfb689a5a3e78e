# ruff: noqa: E501 - what is said is written as it is said
"""What each option changes."""

import json
import os
import subprocess

import pytest
from ndb_log_service import DAY, HOUR, PLUGIN

# Thresholds


def test_the_longest_standstill_is_judged_by_w_and_c(check, log):
    log.stuck(2, 600, 4000)
    assert check("--log", log, "--whole").status == 1
    assert check("--log", log, "--whole", "-w", "5", "-c", "9").status == 0
    assert check("--log", log, "--whole", "-w", "500ms", "-c", "4000ms").status == 1
    assert check("--log", log, "--whole", "-c", "3").status == 2
    assert check("--log", log, "--whole", "-c", "@4:").status == 2


def test_half_the_way_to_the_kill_is_critical(check, log):
    log.stuck(2, 600, 8999)
    assert check("--log", log, "--whole").status == 1
    log.stuck(3, 600, 9000)
    said = check("--log", log, "--whole")
    assert said.status == 2
    assert "9 s were left before the watchdog ends the node" in said.output


def test_the_watchdog_interval_moves_the_kill_and_the_critical_default(check, log):
    log.stuck(2, 600, 3100)
    said = check("--log", log, "--whole", "--watchdog-interval", "2s")
    assert said.status == 2
    assert said.perfdata["stuck"] == "3.1s;1;3"
    assert "2.9 s were left before the watchdog ends the node" in said.output


def test_the_watchdog_interval_does_not_move_what_the_user_has_set(check, log):
    log.stuck(2, 600, 3100)
    said = check("--log", log, "--whole", "--watchdog-interval", "2s", "-c", "@5:")
    assert (said.status, said.perfdata["stuck"]) == (1, "3.1s;1;5")


def test_the_watchdog_interval_of_the_log_is_honoured(check, log):
    log.say("WatchDog timer is set to 60000 ms", 100)
    log.stuck(2, 600, 20000)
    said = check("--log", log, "--whole")
    assert (said.status, said.perfdata["stuck"]) == (1, "20s;1;90")
    assert "2 min 40 s were left before the watchdog ends the node" in said.output


def test_the_option_outranks_the_log(check, log):
    log.say("WatchDog timer is set to 60000 ms", 100)
    log.stuck(2, 600, 20000)
    said = check("--log", log, "--whole", "--watchdog-interval", "6s")
    assert (said.status, said.perfdata["stuck"]) == (2, "20s;1;9")
    assert "the watchdog ends a node after 18 s" in said.output


def test_a_watchdog_interval_of_zero_is_refused(check, log):
    log.say("Operations=0")
    said = check("--log", log, "--whole", "--watchdog-interval", "0")
    assert said.status == 3


def test_the_time_of_a_spin_is_1_25_ns_or_what_the_user_says(check, log):
    log.add("jbalock thr: 1 waiting for lock, contentions: 10000 spins: 1000000\n")
    log.add("jbalock thr: 1 waiting for lock, contentions: 10200 spins: 5905800\n")
    assert check("--log", log, "--whole").perfdata["spin"] == "0.000030661s;0.000005"
    said = check("--log", log, "--whole", "--spin-ns", "0.125")
    assert (said.status, said.perfdata["spin"]) == (0, "0.000003066s;0.000005")


def test_contention_is_never_critical(check, log):
    log.add("jbalock thr: 1 waiting for lock, contentions: 10000 spins: 0\n")
    log.add("jbalock thr: 1 waiting for lock, contentions: 10200 spins: 4294967295\n")
    assert check("--log", log, "--whole").status == 1


def test_thresholds_of_the_other_quantities(check, log):
    log.say("thr: 3 Overslept 6000 ms, expected ~10ms, user time: 1 us, sys_time: 1 us", 600)
    log.say("LQH 1 : Redo log part 2 : Lag - time to complete : 6s", 500)
    log.say("GCP Monitor: GCP_COMMIT lag 40 sec (no max lag), [SignalCounter: x]", 400)
    log.say("GCP Monitor: GCP_SAVE lag 60 sec (no max lag), [SignalCounter: x]", 300)
    log.say("Node 3 missed heartbeat 3", 200)
    log.say("LQH 1 : Redo log part 2 : Redo buffer full", 101)
    log.say("LQH 1 : Redo log part 2 : Redo buffer not full", 100)
    assert check("--log", log, "--whole").text.endswith(" (+5 more problems)")
    said = check(
        "--log", log, "--whole",
        "--overslept-warning", "10", "--overslept-critical", "20",
        "--redo-lag-warning", "10", "--redo-lag-critical", "20",
        "--gcp-commit-lag-warning", "50", "--gcp-commit-lag-critical", "60",
        "--gcp-save-lag-warning", "70", "--gcp-save-lag-critical", "80",
        "--missed-heartbeats-warning", "4", "--missed-heartbeats-critical", "5",
        "--redo-full-warning", "2", "--redo-full-critical", "3",
    )  # fmt: skip
    assert (said.status, said.details) == (0, [])


def test_a_threshold_that_makes_no_sense(check, log):
    said = check("--log", log, "-w", "1x")
    assert said.status == 3
    assert said.text == (
        'NDB_LOG UNKNOWN - argument -w/--warning: range "1x": "1x" is not a time in seconds such as 90, 500ms,'
        " 5m, 2h or 1d: see check_ndb_log --help"
    )


# Backups


def test_a_backup_that_is_young_enough(check, cluster):
    cluster.say("Node 3: Backup 8 started from node 1 completed. StartGCP: 1 StopGCP: 2", 25 * HOUR)
    said = check("--log", cluster, "--backup-age", "26h")
    assert said.status == 0
    assert said.perfdata["backup_age"].startswith("90000")


def test_a_backup_that_is_too_old(check, cluster):
    cluster.say("Node 3: Backup 8 started from node 1 completed. StartGCP: 1 StopGCP: 2", 27 * HOUR)
    said = check("--log", cluster, "--backup-age", "26h")
    assert said.status == 1
    assert said.text == (
        "NDB_LOG WARNING - last backup 8 completed 1 d 3 h ago at HH:MM:SS, more than 1 d 2 h - start a backup:"
        " ndb_mgm -e 'start backup'"
    )


def test_the_age_of_a_backup_is_asked_in_a_later_run(check, cluster):
    cluster.say("Node 3: Backup 8 started from node 1 completed. StartGCP: 1 StopGCP: 2", 27 * HOUR)
    assert check("--log", cluster).status == 0
    assert check("--log", cluster, "--backup-age", "26h").status == 1
    assert check("--log", cluster, "--backup-age", "28h").status == 0


def test_an_age_without_a_unit_is_in_seconds(check, cluster):
    cluster.say("Node 3: Backup 8 started from node 1 completed. StartGCP: 1 StopGCP: 2", 100)
    assert check("--log", cluster, "--backup-age", "90").status == 1


def test_no_backup_in_a_log_that_is_long_enough(check, cluster):
    cluster.say("Node 3: Local checkpoint 51 started.", 3 * DAY)
    cluster.say("Node 3: Local checkpoint 52 started.", 2 * DAY)
    cluster.say("Node 3: Local checkpoint 53 started.", 10)
    said = check("--log", cluster, "--backup-age", "26h")
    assert said.status == 1
    assert said.text == (
        "NDB_LOG WARNING - no backup completed in the 3 d that the cluster log covers, more than 1 d 2 h -"
        " start a backup: ndb_mgm -e 'start backup'"
    )


def test_no_backup_in_a_log_that_is_too_short_to_tell(check, cluster):
    cluster.say("Node 3: Local checkpoint 52 started.", 2 * HOUR)
    cluster.say("Node 3: Local checkpoint 53 started.", 10)
    said = check("--log", cluster, "--backup-age", "26h")
    assert said.status == 3
    assert said.text == (
        "NDB_LOG UNKNOWN - no backup completed in the 2 h that the cluster log covers - start a backup:"
        " ndb_mgm -e 'start backup'"
    )
    assert "backup_age" not in said.perfdata


def test_the_age_of_backups_is_not_in_an_out_log(check, log):
    log.say("Operations=0")
    said = check("--log", log, "--backup-age", "26h")
    assert said.text == (
        "NDB_LOG UNKNOWN - the age of backups is in cluster logs only - name one with --log, ndb_1_cluster.log"
    )


# Output


def test_what_is_harmless_is_shown_with_v(check, log):
    log.add(
        "Ndb kernel thread 4 is stuck in: Job Handling elapsed=100 Watchdog: User time: 82  System time: 667\n"
    )
    log.add(
        "Ndb kernel thread 4 is stuck in: Job Handling elapsed=200 Watchdog: User time: 82  System time: 668\n"
    )
    log.add(
        "Ndb kernel thread 4 is stuck in: Job Handling elapsed=300 Watchdog: User time: 82  System time: 669\n"
    )
    log.add(
        "Ndb kernel thread 4 is stuck in: Job Handling elapsed=400 Watchdog: User time: 82  System time: 670\n"
    )
    quiet = check("--log", log, "--whole")
    assert (quiet.status, quiet.details) == (0, [])
    assert quiet.text == "NDB_LOG OK - 4 lines of ndb_4_out.log, longest stuck 400 ms"
    assert (
        "[OK] node 4 thread 4 was stuck 400 ms, probably OS kernel busy (system 0.10 core, user 0)"
    ) in check("--log", log, "--whole", "-v").details


def test_the_article_s_example_alerts_with_a_lower_threshold(check, log):
    log.add(
        "Ndb kernel thread 4 is stuck in: Job Handling elapsed=100 Watchdog: User time: 82  System time: 667\n"
    )
    log.add(
        "Ndb kernel thread 4 is stuck in: Job Handling elapsed=400 Watchdog: User time: 82  System time: 670\n"
    )
    assert check("--log", log, "--whole", "-w", "@300ms:").text == (
        "NDB_LOG WARNING - node 4 thread 4 was stuck 400 ms, probably OS kernel busy (system"
        " 0.10 core, user 0) - check network, swapping, memory compaction"
    )


def test_nothing_contradicts_an_alert_with_v(check, log):
    log.stuck(2, 600, 4000)
    assert "nothing wrong" not in check("--log", log, "--whole", "-v").output


@pytest.mark.usefixtures("new_interpreter")
def test_json(check, log):
    log.stuck(2, 600, 4000)
    said = check("--log", log, "--whole", "--output", "json")
    assert said.status == 1
    assert json.loads(said.output)["state"] == "WARNING"


@pytest.mark.usefixtures("new_interpreter")
def test_for_people(check, log):
    log.stuck(2, 600, 4000)
    said = check("--log", log, "--whole", "--output", "human")
    assert said.status == 1
    assert "|" not in said.output


@pytest.mark.usefixtures("new_interpreter")
def test_help_fits_80_columns(check):
    said = check("-h", state=False)
    assert said.status == 3
    assert max(len(line) for line in said.output.splitlines()) <= 80
    assert said.output.startswith("usage: check_ndb_log ")


@pytest.mark.usefixtures("new_interpreter")
def test_the_version(check):
    said = check("--version", state=False)
    assert said.status == 3
    assert said.output.startswith("check_ndb_log (stallwatch ")


def test_an_unknown_option(check):
    assert check("--lag", "x", state=False).text.startswith("NDB_LOG UNKNOWN - ")


def test_an_abbreviated_option_is_refused(check, log):
    log.say("Operations=0")
    assert check("--log", log, "--back", "1h").status == 3


def test_the_plugin_may_be_executed():
    assert os.access(PLUGIN, os.X_OK)


def test_a_plugin_without_its_library_says_so():
    process = subprocess.run(
        ["/usr/bin/env", "-i", "python3", "-S", "-I", str(PLUGIN)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 3
    assert process.stdout.startswith("NDB_LOG UNKNOWN - No module named ")
    assert process.stderr == ""


def test_a_run_that_may_read_nothing_is_refused(check, log):
    log.say("Operations=0")
    assert check("--log", log, "--max-bytes", "0").status == 3


def test_the_first_line_is_never_longer_than_nrpe_sends(check, log):
    log.stuck(2, 600, 12000, place="x" * 3000)
    said = check("--log", log, "--whole")
    first = said.output.split("\n")[0]
    assert len(first.encode()) <= 1023
    assert said.perfdata["stuck_episodes"] == "1"
    assert said.status == 2
