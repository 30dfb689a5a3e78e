# ruff: noqa: E501 - what is said is written as it is said
"""Global checkpoints that stopped: the node that they waited for, and whom the master ended (error 2303)."""

import pytest

STOP = "Detected GCP stop(3)...sending kill to [SignalCounter: m_count=1 0000000000000000000000000000000000000010]"
ENDED = "Forced node shutdown completed. Caused by error 2303: 'System error, node killed during node restart by other node(Internal error, programming error or missing error message, please report a bug). Temporary error, restart node'."


def test_the_node_that_global_checkpoints_waited_for_is_first(check, cluster):
    cluster.say(
        "Node 3: GCP Monitor: GCP_COMMIT lag 20 sec (max lag: 30s), [SignalCounter: m_count=1 0000000000000010]",
        80,
        "WARNING",
    )
    cluster.say(f"Node 3: {STOP}", 70, "WARNING")
    cluster.say(f"Node 4: {ENDED}", 69, "ALERT")
    cluster.say("Node 1: Node 4 Disconnected", 69, "ALERT")
    cluster.say("Node 3: Node 5 missed heartbeat 3", 30, "WARNING")
    said = check("--log", cluster)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 2303: GCP stop, all nodes waited for it"
        " - check its disk, and its log for stuck threads (+1 more problem)"
    )
    assert "  node 3: GCP_COMMIT lag 20 s at HH:MM:SS, commits waited for node 4" in said.details


def test_the_node_itself_says_that_it_was_a_gcp_stop(check, log):
    log.say("Node 3 killed this node because GCP stop was detected", 30)
    log.say("NDBCNTR (Line: 322) 0x00000002", 30)
    log.say("Error handler shutting down system", 30)
    log.say(ENDED, 30, "ALERT")
    assert (
        "error 2303: GCP stop, all nodes waited for it - check its disk" in check("--log", log).text
    )


def test_the_log_of_the_master_says_why_the_other_node_failed(check, peer):
    peer.say(STOP, 40)
    peer.say("NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 39)
    said = check("--log", peer)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 failed at HH:MM:SS, GCP stop, all nodes waited for it"
    )


def test_a_stuck_thread_of_that_node_is_the_cause(check, log, cluster):
    log.stuck(2, 6000, 12000, 16000, ago=71)
    log.say("Node 3 killed this node because GCP stop was detected", 70)
    log.say(ENDED, 69, "ALERT")
    cluster.say(f"Node 3: {STOP}", 70, "WARNING")
    said = check("--log", log, "--log", cluster)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, thread 2 was stuck 16 s - ")
    assert "  error 2303: GCP stop, all nodes waited for it" in said.details


def test_a_disk_that_lagged_before_it_is_the_cause(check, log):
    for ago in (170, 110, 75):
        log.say("LQH 1 : Redo log part 0 : Lag - time to complete : 25s", ago)
    log.say("Node 3 killed this node because GCP stop was detected", 70)
    log.say(ENDED, 69, "ALERT")
    said = check("--log", log)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 2303: GCP stop, the disk is too slow"
        " - use faster or separate disks for redo and LCP"
    )
    assert any("redo log part 0 lagged 25 s" in line for line in said.details)


def test_a_lag_that_was_no_gcp_stop_ends_nobody(check, cluster):
    """The node ended in its start: a GCP stop of an hour ago has nothing to do with that."""
    cluster.say(f"Node 3: {STOP}", 3000, "WARNING")
    cluster.say(
        f"Node 4: {ENDED.replace('completed.', 'completed. Occurred during startphase 5.')}", 60, "ALERT"
    )
    assert check("--log", cluster).text.startswith(
        "NDB_LOG CRITICAL - node 4 failed to start (phase 5) at HH:MM:SS, error 2303: another node ended it"
    )


@pytest.mark.parametrize(("words", "why", "advice"), [
    ("Killed by node 11 as copyfrag failed, error: 744", "node 11 could not copy data to it (error 744)", "run perror --ndb 744"),
    ("Node 11 killed this node because it replied StartFragRef error code: 1204.", "node 11 ended it, it replied StartFragRef (error 1204)", "run perror --ndb 1204"),
])  # fmt: skip
def test_a_start_that_another_node_ended_says_why(check, log, words, why, advice):
    log.say(words, 30)
    log.say(ENDED.replace("completed.", "completed. Occurred during startphase 5."), 30, "ALERT")
    said = check("--log", log)
    assert f"error 2303: {why}" in "\n".join((said.text, *said.details))
    assert advice in said.text


def test_the_nodes_that_it_waits_for_are_named_before_they_end(check, cluster):
    cluster.say(f"Node 3: {STOP}", 20, "WARNING")
    assert check("--log", cluster).text == (
        "NDB_LOG CRITICAL - node 3: global checkpoints stopped at HH:MM:SS, they waited for node 4"
        " - check the disk and the log of node 4 for stuck threads"
    )
