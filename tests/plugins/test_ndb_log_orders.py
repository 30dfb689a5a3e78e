"""Stops and restarts that somebody ordered are no failures, however long they take; what fails in them is."""

from ndb_log_service import HOUR, MINUTE


def is_up(cluster, ago=7 * HOUR):
    for node in (3, 4):
        cluster.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", ago)


def stops(cluster, ago, *, again=False):
    cluster.say("Node 3: Node 4 has failed. The Node state at failure was 0", ago + 0.2, "ALERT")
    cluster.say("Node 1: Node 4 Disconnected", ago + 0.1, "ALERT")
    cluster.say(f"Node 4: Node shutdown completed{', restarting' if again else ''}.", ago)


def test_a_stop_that_takes_longer_than_10_minutes(check, cluster):
    is_up(cluster)
    cluster.say("Node 4: Node shutdown initiated", 45 * MINUTE)
    stops(cluster, 5 * MINUTE)
    said = check("--log", cluster)
    assert (said.status, said.perfdata["shutdowns"]) == (0, "0")


def test_a_restart_that_takes_longer_than_10_minutes(check, cluster):
    is_up(cluster)
    cluster.say("Node 4: Node shutdown initiated", 55 * MINUTE)
    stops(cluster, 40 * MINUTE, again=True)
    cluster.say("Nodeid 4 allocated for NDB at 10.0.0.4", 39 * MINUTE)
    cluster.say("Node 1: Node 4 Connected", 39 * MINUTE)
    cluster.say("Node 4: Started (mysql-9.7.2 ndb-9.7.2)", 5 * MINUTE)
    assert check("--log", cluster).status == 0


def test_a_start_that_breaks_off_after_an_ordered_stop_is_a_failure(check, cluster):
    is_up(cluster)
    cluster.say("Node 4: Node shutdown initiated", 9 * MINUTE)
    stops(cluster, 8 * MINUTE, again=True)
    cluster.say("Nodeid 4 allocated for NDB at 10.0.0.4", 7 * MINUTE)
    cluster.say("Node 1: Node 4 Connected", 7 * MINUTE)
    cluster.say("Node 1: Node 4 Disconnected", 4 * MINUTE, "ALERT")
    said = check("--log", cluster)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 disconnected at HH:MM:SS, no shutdown in the log")


def test_an_end_after_a_stop_that_was_aborted_is_a_failure(check, cluster):
    is_up(cluster)
    cluster.say("Node 4: Node shutdown initiated", 50 * MINUTE)
    cluster.say("Node 4: Node shutdown aborted", 49 * MINUTE)
    cluster.say("Node 1: Node 4 Disconnected", 4 * MINUTE, "ALERT")
    assert check("--log", cluster).text.startswith("NDB_LOG CRITICAL - node 4 disconnected at HH:MM:SS")


def test_an_end_after_a_restart_by_order_is_a_failure(check, cluster):
    is_up(cluster)
    cluster.say("Node 4: Node shutdown initiated", 50 * MINUTE)
    stops(cluster, 49 * MINUTE, again=True)
    cluster.say("Node 4: Started (mysql-9.7.2 ndb-9.7.2)", 47 * MINUTE)
    cluster.say("Node 1: Node 4 Disconnected", 45 * MINUTE, "ALERT")
    assert check("--log", cluster).status == 2


def test_an_order_does_not_hold_for_ever(check, cluster):
    is_up(cluster, 9 * HOUR)
    cluster.say("Node 4: Node shutdown initiated", 7 * HOUR)
    cluster.say("Node 1: Node 4 Disconnected", 4 * MINUTE, "ALERT")
    assert check("--log", cluster).status == 2


def test_a_stop_by_signal_15_is_none_though_others_tell_before_that_the_node_left(check, log, cluster):
    is_up(cluster)
    log.say("Received signal 15. Performing stop.", 60)
    cluster.say("Node 1: Node 4 Disconnected", 57, "ALERT")
    log.say("Node shutdown completed. Initiated by signal 15.", 56)
    cluster.say("Node 4: Node shutdown completed. Initiated by signal 15.", 56)
    assert check("--log", log, "--log", cluster).status == 0
    assert check("--log", cluster).status == 0
    cluster.say("Node 4: Start initiated (mysql-9.7.2 ndb-9.7.2)", 50)
    cluster.say("Node 4: Started (mysql-9.7.2 ndb-9.7.2)", 40)
    cluster.say("Node 4: Node shutdown initiated", 30)
    assert check("--log", cluster).status == 0
