"""Why a node ended, where the lines before its end know more than the line of its end."""

import re

import pytest

ENDED = "Forced node shutdown completed."
ARBITRATION = f"{ENDED} Caused by error 2305: 'Node lost connection to other nodes'."
NO_PATH = f"{ENDED} Occurred during startphase 0. Caused by error 2805: 'Illegal file system path'."


@pytest.mark.parametrize(
    ("before", "end", "expected"),
    [
        (
            ["Data node configured to have encryption but password not provided"],
            f"{ENDED} Occurred during startphase 0.",
            ["the file system is encrypted, no password was given", "--filesystem-password-from-stdin"],
        ),
        (
            ["Cannot change directory to '/srv/lab/4', error: 2"],
            NO_PATH,
            ["error 2805: DataDir /srv/lab/4 is missing", "create it, or correct DataDir"],
        ),
        (
            ["Cannot change directory to '/srv/lab/4', error: 13"],
            NO_PATH,
            ["error 2805: permission denied on DataDir /srv/lab/4", "give it to the user that runs the node"],
        ),
        (
            ["Cannot change directory to '/srv/lab/4', error: 20"],
            NO_PATH,
            ["cannot enter DataDir /srv/lab/4 (errno 20)"],
        ),
        ([], f"{ENDED} Initiated by signal 11. Caused by error 6000: 'x'.", ["signal 11"]),
        (
            ["Something odd in page 7", "DBLQH (Line: 4040) 0x00000000", "Error handler shutting down"],
            ENDED,
            ['no reason found, the line before is "Something odd in page 7"'],
        ),
        ([], ENDED, ["no reason found"]),
    ],
)
def test_the_lines_before_an_end_explain_it(check, log, before, end, expected):
    for text in before:
        log.say(text, ago=61)
    log.say(end, ago=60, level="ALERT")
    said = check("--log", log)
    assert said.status == 2
    for text in expected:
        assert text in said.text
    assert "does not say why" not in said.output


@pytest.mark.parametrize(
    ("before", "ago", "end"),
    [
        ("Cannot change directory to '/srv/lab/4', error: 2", 61, ARBITRATION),
        ("Cannot change directory to '/srv/lab/4', error: 2", 600, NO_PATH),
    ],
)
def test_what_does_not_lead_to_this_end_does_not_explain_it(check, log, before, ago, end):
    """Another error, or too long ago."""
    log.say(before, ago=ago)
    log.say(end, ago=60, level="ALERT")
    said = check("--log", log)
    assert "DataDir" not in said.text


def test_an_angel_that_gives_up_names_the_failures_once(check, log):
    log.say("Angel detected too many startup failures(3), not restarting again", ago=60, level="ALERT")
    said = check("--log", log)
    assert "gave up after 3 failures" in said.output
    assert "3 times" not in said.output


ASSERTION = (
    "Forced node shutdown completed. Occurred during startphase 5. Caused by error 2301: 'Assertion(x)'."
)
FULL = (
    "Filesystem problem: The file system is full. Check /data/ndb_4_fs/D11/DBLQH/S0.FragLog. (error: 2810, "
    "os error: 28, signal FSWRITEREF)"
)


@pytest.mark.parametrize("says_so", [True, False])
def test_starts_that_fail_after_the_disk_was_full_are_of_that(check, log, says_so):
    """9.7.2: the node ends with error 2810, and each start that its angel tries with 2301, an assertion."""
    if says_so:
        log.say(FULL, 100, "WARNING")
    log.say(
        "Forced node shutdown completed. Caused by error 2810: 'The file system is full(x)'.", 99, "ALERT"
    )
    log.say(ASSERTION, 90, "ALERT")
    log.say(ASSERTION, 80, "ALERT")
    said = check("--log", log)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 failed to start (phase 5) at HH:MM:SS, probably its disk is full"
    )
    assert " - free space for " in said.text
    assert "bug report" not in said.text
    assert any("error 2301: Assertion" in line for line in said.details)


def test_an_assertion_long_after_a_full_disk_or_after_a_good_start_is_a_bug(check, log):
    log.say(FULL, 3000, "WARNING")
    log.say(ASSERTION, 80, "ALERT")
    assert re.search("error 2301(: Assertion)? - read its error log", check("--log", log).text)
    log.say(FULL, 70, "WARNING")
    log.say("Started (mysql-9.7.2 ndb-9.7.2)", 60)
    log.say(ASSERTION, 50, "ALERT")
    assert re.search("error 2301(: Assertion)? - read its error log", check("--log", log).text)


def test_a_node_that_is_up_again_is_not_to_be_restarted_with_initial(check, log):
    log.say("Forced node shutdown completed, restarting. Caused by error 2310: 'x'.", 500, "ALERT")
    log.starts(400)
    assert check("--log", log).text.endswith("error 2310: its redo log cannot be read - check the disk")


def test_why_others_declared_a_node_dead_is_told_without_a_password(check, log):
    log.say("We(4) have been declared dead by 3 (via 3) reason: password=geheim(4)", 60, "ALERT")
    assert "by node 3: password=***" in check("--log", log).text


def test_who_ended_first_is_why_all_are_down(check, cluster):
    """The others ended because no node of its group was left."""
    for node in (3, 4, 5, 6):
        cluster.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", 7000)
    cluster.say("Node 5: Forced node shutdown completed. Initiated by signal 9.", 100, "ALERT")
    cluster.say("Node 6: Forced node shutdown completed. Caused by error 2341: 'x'.", 80, "ALERT")
    for node in (3, 4):
        cluster.say(f"Node {node}: Forced node shutdown completed. Caused by error 2305: 'x'.", 79, "ALERT")
    said = check("--log", cluster)
    assert said.text == (
        "NDB_LOG CRITICAL - all data nodes (3, 4, 5 and 6) are down since HH:MM:SS, node 5 shut down:"
        " signal 9 (killed) - look in dmesg for the out-of-memory killer"
    )
    assert said.details[0].startswith("  node 5 shut down at HH:MM:SS, signal 9 (killed)")


def test_a_node_that_the_master_cut_off_is_sent_to_its_log(check, log):
    log.say("We(4) have been declared dead by 3 (via 3) reason: Forced isolation(9)", 60)
    log.say("Forced node shutdown completed. Caused by error 2315: 'Node declared dead'.", 59, "ALERT")
    assert check("--log", log).text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, node 3 cut it off"
        " - check the log of node 3 for a GCP stop"
    )


def test_a_buffer_that_was_full_before_an_end_is_no_other_problem(check, log):
    log.say("The long message buffer is out of free elements. x", 65, "WARNING")
    log.say("Forced node shutdown completed. Caused by error 2351: 'Signal lost'.", 58, "ALERT")
    said = check("--log", log)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 2351: long message buffer full"
        " - raise LongMessageBuffer, then restart the node"
    )
    assert any("long message buffer full at" in line for line in said.details)


def test_a_buffer_that_was_full_hours_before_an_end_is_another_problem(check, log):
    log.say("The long message buffer is out of free elements. x", 2000, "WARNING")
    log.say("Forced node shutdown completed. Caused by error 2341: 'x'.", 58, "ALERT")
    assert check("--log", log).text.endswith("(+1 more problem)")


def test_a_stuck_thread_is_why_a_job_buffer_was_full(check, log):
    log.stuck(3, 1000, 3000, 5900, ago=64)
    log.say("job buffer full", 63)
    log.say("Forced node shutdown completed. Caused by error 2334: 'Job buffer congestion'.", 61, "ALERT")
    said = check("--log", log)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, thread 3 was stuck 5.9 s - "
    )
    assert any("job buffer full at" in line for line in said.details)


# A local checkpoint that stands still (9.7.2, a disk that hangs)


def stands_still(log, ago):
    """Append what a node says of its local checkpoint before it ends itself."""
    for seconds in (19, 20):
        text = f"LCP Frag watchdog : No progress for {seconds} s, MaxWaitTime 20 s, lcp state LCP_SCANNED"
        log.say(f"{text}  Completion Status 131072 bytes remaining., table 13, frag 2", ago, "WARNING")
    log.say("Waited too long with LCP not progressing", ago, "ALERT")


def test_who_cuts_itself_off_because_of_its_checkpoint_is_not_declared_dead_by_others(check, log):
    stands_still(log, 50)
    log.say("We(4) have been declared dead by 4 (via 4) reason: Forced isolation(10)", 46)
    said = check("--log", log)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 cut itself off at HH:MM:SS, its local checkpoint stood still"
        " - check its disk with iostat -kx 1, then restart the node"
    )
    text = "Node declared dead. See error log for details(Arbitration error). Temporary error, restart node"
    log.say(f"Forced node shutdown completed. Caused by error 2315: '{text}'.", 22, "ALERT")
    said = check("--log", log)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 2315: its local checkpoint stood still - "
    )


def test_who_cuts_itself_off_long_after_its_checkpoint_stood_still_does_not_because_of_that(check, log):
    stands_still(log, 150)
    log.say("We(4) have been declared dead by 4 (via 4) reason: Forced isolation(10)", 46)
    said = check("--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 cut itself off at HH:MM:SS, its end takes long - ")


def test_a_node_whose_checkpoint_waits_for_others_is_not_to_blame(check, log):
    text = "LCP Frag watchdog : No progress for 21 s, MaxWaitTime 0 s, lcp state LCP_WAIT_END_LCP"
    log.say(text, 20, "WARNING")
    assert check("--log", log).text == (
        "NDB_LOG WARNING - node 4: local checkpoint waits for other nodes at HH:MM:SS, No progress for 21 s"
        " - check the disks of the other data nodes with iostat -kx 1"
    )
