"""--acknowledge clears by hand, and says what."""

import pytest
from ndb_log_service import HOUR

KILLED = "Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'."
NOTHING = "NDB_LOG OK - acknowledged: nothing was held"


@pytest.mark.usefixtures("new_interpreter")
def test_it_says_what_it_clears(check, watched):
    watched.say(KILLED, 2 * HOUR, "ALERT")
    watched.say("Filesystem problem: slow. Check it.", 60, "WARNING")
    said = check("--log", watched, "--acknowledge")
    assert (said.status, said.text) == (
        0,
        "NDB_LOG OK - acknowledged: node 4 shut down at HH:MM:SS; node 4: file system problem at HH:MM:SS",
    )
    after = check("--log", watched)
    assert (after.status, after.text) == (0, "NDB_LOG OK - 0 new lines of ndb_4_out.log, no thread stuck")


def test_it_says_what_it_clears_though_nothing_is_new(check, watched):
    watched.say("Filesystem problem: slow. Check it.", 60, "WARNING")
    assert check("--log", watched).status == 1
    said = check("--log", watched, "--acknowledge")
    assert said.text == "NDB_LOG OK - acknowledged: node 4: file system problem at HH:MM:SS"


def test_a_new_problem_alerts_again(check, watched):
    watched.say("Filesystem problem: slow. Check it.", 60, "WARNING")
    check("--log", watched, "--acknowledge")
    watched.say("Filesystem problem: slow. Check it.", 10, "WARNING")
    assert check("--log", watched).status == 1


def test_it_clears_each_kind(check, watched):
    watched.say("LQH 1 : Redo log part 2 : Redo buffer full", 60)
    watched.say("LQH 1 : Redo log part 1 problem started : Low space.  (x)", 60)
    watched.say("LQH 1 : Redo log part 2 : Lag - time to complete : 6s", 60)
    watched.say("thr: 3 Overslept 6000 ms, expected ~10ms, user time: 1 us, sys_time: 1 us", 60)
    watched.say("GCP Monitor: GCP_COMMIT lag 40 sec (no max lag), [SignalCounter: x]", 60)
    watched.stuck(2, 600, 12000, ago=60)
    watched.add("jbalock thr: 1 waiting for lock, contentions: 10000 spins: 1000000\n")
    watched.add("jbalock thr: 1 waiting for lock, contentions: 10200 spins: 5905800\n")
    assert check("--log", watched).status == 2
    check("--log", watched, "--acknowledge")
    said = check("--log", watched, "-v")
    assert said.status == 0
    assert said.perfdata["stuck_episodes"] == "0"


def test_nothing_to_clear(check, watched):
    said = check("--log", watched, "--acknowledge")
    assert (said.status, said.text) == (0, NOTHING)


def test_what_is_harmless_is_nothing_to_clear(check, watched):
    watched.stuck(2, 100, 400, ago=60)
    watched.say("Node 3 missed heartbeat 1", 60, "WARNING")
    said = check("--log", watched, "--acknowledge")
    assert said.text == NOTHING


def test_a_log_that_is_missing_is_not_acknowledged_away(check, log):
    said = check("--log", log, "--acknowledge")
    assert said.status == 3
    assert f"{log} does not exist" in said.text


def test_a_node_that_is_gone_for_good_is_forgotten(check, log, peer, tmp_path):
    log.say("Operations=0")
    peer.say("Operations=0")
    assert check("--log", tmp_path / "ndb_*_out.log").status == 0
    peer.path.unlink()
    assert check("--log", tmp_path / "ndb_*_out.log").status == 3
    check("--log", tmp_path / "ndb_*_out.log", "--acknowledge")
    assert check("--log", tmp_path / "ndb_*_out.log").status == 0


def test_the_baseline_of_contention_is_kept(check, watched):
    watched.add("jbalock thr: 1 waiting for lock, contentions: 10000 spins: 1000000\n")
    check("--log", watched, "--acknowledge")
    watched.add("jbalock thr: 1 waiting for lock, contentions: 10200 spins: 5905800\n")
    assert check("--log", watched).status == 1


def test_the_roles_of_threads_are_kept(check, log):
    log.starts(60)
    check("--log", log, "--acknowledge")
    log.stuck(2, 600, 1200)
    assert "node 4 thread 2 (ldm) was stuck 1.2 s" in check("--log", log).text


def test_an_ordered_stop_that_was_announced_before_is_still_in_order(check, peer):
    peer.say("Operations=0", 60)
    assert check("--log", peer).status == 0
    peer.say("shutdown handover takeover", 13)
    check("--log", peer, "--acknowledge")
    peer.say("NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 12)
    assert check("--log", peer).status == 0


def test_a_standstill_that_goes_on_alerts_again(check, watched):
    watched.stuck(2, 400, 1600, ago=3)
    check("--log", watched, "--acknowledge")
    watched.say("Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=4600", 0, "WARNING")
    assert check("--log", watched).perfdata["stuck"] == "4.6s;1;9"


def test_nothing_is_acknowledged_without_a_state(check, watched):
    watched.say("Filesystem problem: slow. Check it.", 60, "WARNING")
    said = check("--log", watched, "--acknowledge", "--no-state")
    assert (said.status, said.text) == (
        3,
        (
            "NDB_LOG UNKNOWN - --acknowledge needs the state that --no-state leaves alone:"
            " see check_ndb_log --help"
        ),
    )


def test_nothing_is_acknowledged_in_a_log_that_someone_sent(check, watched):
    said = check("--log", watched, "--acknowledge", "--whole")
    assert said.status == 3


def test_nothing_is_acknowledged_when_it_cannot_be_remembered(check, log, stranger, tmp_path):
    log.say("Filesystem problem: slow. Check it.", 60, "WARNING")
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o500)
    said = check("--log", log, "--acknowledge", **stranger)
    assert said.status == 3
    assert "nothing is remembered between runs" in said.output


def test_which_nodes_are_no_data_nodes_is_not_forgotten(check, watched_cluster):
    """It is no incident: a management node that is declared dead later is still no data node."""
    watched_cluster.say("Node 3: Started arbitrator node 1 [ticket=1]", 60)
    check("--log", watched_cluster, "--acknowledge")
    watched_cluster.say("Node 3: Node 1 declared dead due to missed heartbeat", 20, "ALERT")
    said = check("--log", watched_cluster)
    assert said.status == 1
    assert said.text.startswith("NDB_LOG WARNING - link between nodes 1 and 3 is lost since HH:MM:SS")
