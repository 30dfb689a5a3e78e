# ruff: noqa: E501 - what is said is written as it is said
"""A cluster that is dead is never OK, whatever its last words were; one that is stopped in order always is."""

import runpy
from datetime import datetime
from pathlib import Path

import pytest
from levels import representative
from ndb_log_service import HOUR, PLUGIN

RECORDED = Path(__file__).parents[1] / "recorded" / "ndb_log"
CHECK = runpy.run_path(str(PLUGIN))


def lost(cluster, node, ago, by=1):
    """Append what a management node says when its connection to a data node breaks."""
    cluster.say(f"Node {by} transporter to node {node} (id 1) disconnected ", ago)
    cluster.say(f"Node {by}: Node {node} Disconnected", ago, "ALERT")


@pytest.fixture
def two(check, cluster):
    """The cluster log of two data nodes that have started."""
    for node in (3, 4):
        cluster.say(f"Nodeid {node} allocated for NDB at 127.0.0.1", 2 * HOUR)
        cluster.say(f"Node {node}: Start initiated (mysql-9.7.2 ndb-9.7.2)", 2 * HOUR)
        cluster.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", 2 * HOUR)
    assert check("--log", cluster).status == 0
    return cluster


# Without a word


def test_two_nodes_that_were_killed_with_their_angels(check, two):
    lost(two, 3, ago=50)
    lost(two, 4, ago=48)
    said = check("--log", two)
    assert said.status == 2
    assert said.text == (
        "NDB_LOG CRITICAL - all data nodes (3 and 4) are down since HH:MM:SS, no shutdown in the log - check their"
        " machines and logs, then start them"
    )
    assert "  node 3 disconnected at HH:MM:SS, no shutdown in the log" in said.details
    again = check("--log", two, "--hold", "1s")
    assert again.status == 2  # they are still down


def test_one_node_that_was_killed_with_its_angel_stays_down(check, two):
    lost(two, 4, ago=50)
    two.say("Node 3: Node 4 Disconnected", 50, "ALERT")
    two.say("Node 3: NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 50)
    said = check("--log", two, "--hold", "1s")
    assert said.status == 2
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 4 failed at HH:MM:SS, another node lost its connection"
    )


def test_the_system_restart_afterwards(check, two):
    lost(two, 3, ago=50)
    lost(two, 4, ago=48)
    assert check("--log", two).status == 2
    for node in (3, 4):
        two.say(f"Nodeid {node} allocated for NDB at 127.0.0.1", 40)
        two.say(f"Node 1: Node {node} Connected", 39)
        two.say(f"Node {node}: Start phase 0 completed (system restart)", 38)
    starting = check("--log", two)
    assert starting.status == 2
    assert starting.text == (
        "NDB_LOG CRITICAL - all data nodes (3 and 4) are down or starting since HH:MM:SS, no shutdown in the log - check"
        " their machines and logs"
    )
    assert "node 3 disconnected at HH:MM:SS, starting again since HH:MM:SS" in starting.details[0]
    for node in (3, 4):
        two.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", 20)
    said = check("--log", two)
    assert said.status == 1
    assert "disconnected at HH:MM:SS, started again at HH:MM:SS" in said.text
    assert said.perfdata["shutdowns"] == "2"


def test_a_second_end_soon_after_the_first(check, log, two):
    """The node's own log knows of the first end only."""
    log.starts(2 * HOUR)
    log.starts(60)
    lost(two, 4, ago=20)
    said = check("--log", log, "--log", two)
    assert said.status == 2
    assert "node 4 disconnected at HH:MM:SS, no shutdown in the log" in said.text


def test_a_start_without_an_end_before_it(check, log):
    """The power failed."""
    log.starts(2 * HOUR)
    assert check("--log", log).status == 0
    log.starts(60)
    said = check("--log", log)
    assert said.status == 1
    assert said.text == (
        "NDB_LOG WARNING - node 4 ended before HH:MM:SS, started again at HH:MM:SS, no shutdown in the log"
        " - check uptime and dmesg of its machine"
    )


def test_a_start_without_an_end_before_it_in_a_cluster_log(check, two):
    two.say("Node 4: Start initiated (mysql-9.7.2 ndb-9.7.2)", 60)
    said = check("--log", two)
    assert said.status == 2
    assert "node 4 ended before HH:MM:SS, starting again since HH:MM:SS, no shutdown" in said.text


def test_an_error_handler_whose_last_word_is_the_only_trace(check, log):
    log.say("Operations=0", 90)
    log.say("Error handler shutting down system", 60)
    log.say("Error handler shutdown completed - exiting", 60)
    said = check("--log", log)
    assert said.status == 2
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, its error handler ended it")
    log.say("Forced node shutdown completed. Caused by error 2341: 'x'.", 59, "ALERT")
    more = check("--log", log)
    assert "error 2341: Internal program error" in more.text
    assert more.perfdata["shutdowns"] == "1"


def test_a_shutdown_whose_text_is_cut_off(check, log):
    log.say("Forced node shutdown completed. Caused by error 7200: 'LCP fragment scan watchdog detected", 60)
    assert (
        "node 4 shut down at HH:MM:SS, error 7200: its local checkpoint stood still"
        in check("--log", log).text
    )


def test_a_signal_that_an_error_handler_names(check, log):
    log.say("Received signal 11. Running error handler.", 60)
    log.say("Forced node shutdown completed. Caused by error 6000: 'Error OS signal received'.", 60, "ALERT")
    assert "shut down at HH:MM:SS, signal 11 (segmentation fault) - read" in check("--log", log).text


def test_a_node_that_lost_its_peer_and_had_no_arbitrator(check, peer):
    peer.say("Node 4 Disconnected", 60, "ALERT")
    peer.say("Network partitioning - no arbitrator available", 60, "ALERT")
    peer.say("Forced node shutdown completed. Caused by error 2305: 'x'.", 60, "ALERT")
    assert "node 3 shut down at HH:MM:SS, it lost node 4 and had no arbitrator - check node 4" in (
        check("--log", peer).text
    )


# Connections that came back


def test_a_management_node_that_cut_a_node_off(check, two):
    two.say("Node 1 missed heartbeat 3 from node 4.", 54, "WARNING")
    two.say("Node 1 disconnecting node 4 due to missed heartbeat", 54, "ERROR")
    lost(two, 4, ago=54)
    assert check("--log", two).status == 2
    two.say("Node 1: Node 4 Connected", 50)
    said = check("--log", two)
    assert said.status == 1
    assert said.text == (
        "NDB_LOG WARNING - management node 1 lost node 4 for at least 4 s until HH:MM:SS, missed heartbeats - check the"
        " network, and the logs of these nodes"
    )
    assert said.perfdata["shutdowns"] == "0"


def test_a_stuck_thread_is_why_a_management_node_cut_the_node_off(check, log, two):
    log.stuck(0, 600, 7900, ago=49)
    lost(two, 4, ago=54)
    two.say("Node 1: Node 4 Connected", 50)
    said = check("--log", log, "--log", two)
    assert "node 4 thread 0 was stuck 7.9 s" in said.text
    assert "more problem" not in said.text
    assert "  management node 1 lost node 4 for 4 s until HH:MM:SS, no node restarted" in said.details


# In order


def test_api_nodes_come_and_go(check, two):
    for node in (51, 52):
        two.say(f"Node 3: Node {node} Disconnected", 60, "ALERT")
        two.say(f"Node 3: Communication to Node {node} closed", 60)
    assert check("--log", two).status == 0


def test_another_management_node_that_is_restarted(check, two):
    lost(two, 2, ago=60)
    assert check("--log", two).status == 0


def test_a_node_that_was_stopped_while_the_management_node_was_away(check, two):
    two.say("MySQL Cluster Management Server mysql-9.7.2 ndb-9.7.2 started", 90)
    two.say("Node 4: Start initiated (mysql-9.7.2 ndb-9.7.2)", 60)
    assert check("--log", two).status == 0


@pytest.mark.parametrize(
    "log",
    [
        "E0_start_and_100s_quiet.ndb_1_cluster",
        "E0_start_and_100s_quiet.ndb_4_out",
        "E11_mgm_restart.ndb_1_cluster",
        "E11_mgm_restart.ndb_3_out",
        "E11_mgm_restart.ndb_4_out",
        "E17_mgm_stop.ndb_1_cluster",
        "E17_mgm_stop.ndb_3_out",
        "E17_mgm_stop.ndb_4_out",
        "E22_backup_completed.ndb_1_cluster",
    ],
)
def test_what_is_in_order_is_never_a_problem_wherever_the_log_ends(tmp_path, log):
    """Starts, ordered restarts and stops, backups, each seen after any of its lines."""
    lines = (RECORDED / f"{log}.log").read_text().splitlines(keepends=True)
    path = tmp_path / f"{log.rpartition('.')[2]}.log"
    for count in range(1, len(lines) + 1, representative(10, 3)):
        path.write_text("".join(lines[:count]))
        status, text = CHECK["check"].run(CHECK["findings"], ["--whole", "--log", str(path)])
        if "UNKNOWN" not in text:
            assert (status, text.splitlines()[0]) == (0, text.splitlines()[0])


# Links that are lost while both nodes run: lines of 9.7.2 whose link between nodes 1 and 4 swallowed everything


def loses_the_management_node(log, peer, ago):
    log.say("Node 1 missed heartbeat 4", ago, "WARNING")
    log.say("Node 1 declared dead due to missed heartbeat", ago, "ALERT")
    log.say("Lost arbitrator node 1 - process failure [state=6]", ago)
    log.say("Node 1 Disconnected", ago, "ALERT")
    peer.say("Cleanup of node 1 connection state triggered by request from node 4", ago)
    peer.say("Node 1 Disconnected", ago, "ALERT")


def loses_data_nodes(cluster, ago):
    for node in (3, 4):
        cluster.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", ago + 60)
    cluster.say("Node 1 missed heartbeat 3 from node 4.", ago + 1, "WARNING")
    cluster.say("Node 1 disconnecting node 4 due to missed heartbeat", ago + 1, "ERROR")
    cluster.say("Node 1: Node 4 Disconnected", ago + 1, "ALERT")
    cluster.say("Node 1: Node 3 Disconnected", ago, "ALERT")


def test_a_link_to_the_management_node_that_is_lost_is_no_end_of_either(check, log, peer, cluster):
    loses_the_management_node(log, peer, 20)
    loses_data_nodes(cluster, 20)
    said = check("--log", log, "--log", peer, "--log", cluster)
    assert said.status == 2  # of the missed heartbeats
    assert said.text == (
        "NDB_LOG CRITICAL - link between nodes 1 and 4 is lost since HH:MM:SS, both missed heartbeats - check the "
        "network between their hosts, then both logs (+1 more problem)"  # no arbitrator
    )
    assert "  node 3 has closed the connection to node 1 on request" in said.details
    assert said.perfdata["shutdowns"] == "0"
    for name in (log, peer):
        name.say("Node 1 Connected", 10)
    for node in (3, 4):
        cluster.say(f"Node 1: Node {node} Connected", 10)
    assert check("--log", log, "--log", peer, "--log", cluster).text.startswith(
        "NDB_LOG WARNING - link between nodes 1 and 4 was lost for at least 11 s until HH:MM:SS, both missed heartbeats - "
    )


def test_an_arbitrator_that_all_data_nodes_have_lost_is_to_be_looked_at_itself(check, log, peer):
    for name in (log, peer):
        name.say("Prepare arbitrator node 1 [ticket=15657f45013b6381]", 60)
        name.say("Node 1 declared dead due to missed heartbeat", 20, "ALERT")
    assert check("--log", log, "--log", peer).text.startswith(
        "NDB_LOG WARNING - link of nodes 3 and 4 to node 1 is lost since HH:MM:SS, missed heartbeats - check the "
        "process of node 1"
    )


def test_a_data_node_that_is_declared_dead_has_ended(check, log):
    log.say("Node 3: API mysql-9.7.2 ndb-9.7.2", 60)  # data nodes say that of each other, too
    log.say("Node 3 declared dead due to missed heartbeat", 20, "ALERT")
    log.say("findNeighbours from: 5693 old (left: 3 right: 3) new (65535 65535)", 20)
    assert check("--log", log).text.startswith("NDB_LOG CRITICAL - node 3 declared dead at HH:MM:SS")


def test_a_node_declared_dead_whose_end_no_data_node_handles_is_a_lost_link(check, log):
    """Nothing in the log of a data node says more of an SQL node."""
    log.say("Node 51 declared dead due to missed heartbeat", 90, "ALERT")
    log.say("Communication to Node 51 closed", 90)
    log.say("Communication to Node 51 opened", 86)
    said = check("--log", log)
    assert said.status == 1
    assert said.text.startswith("NDB_LOG WARNING - link between nodes 4 and 51 is lost since HH:MM:SS")


def test_an_sql_node_that_all_data_nodes_miss_is_named(check, cluster):
    cluster.say("Node 3: Local checkpoint 51 started.", 100)
    cluster.say("Node 4: Buffering maximum epochs 100", 100)
    for node in (3, 4):
        cluster.say(f"Node {node}: Node 51 declared dead due to missed heartbeat", 40, "ALERT")
    said = check("--log", cluster)
    assert said.text.startswith("NDB_LOG WARNING - link of nodes 3 and 4 to node 51 is lost since HH:MM:SS")
    assert said.text.endswith(" - check the process of node 51, its network")


def test_a_management_node_that_hears_nobody_does_not_know_that_all_are_down(check, cluster):
    loses_data_nodes(cluster, 20)
    assert check("--log", cluster).text.startswith(
        "NDB_LOG CRITICAL - no contact to any data node (3 and 4) since HH:MM:SS, missed heartbeats - check the "
        "network of the management node"
    )


def test_a_log_that_was_rotated_names_its_data_nodes_with_checkpoints_only(check, cluster):
    for node in (3, 4):
        cluster.say(f"Node {node}: LDM(2): Completed LCP, #frags = 4 #records = 1, #bytes = 32", 500)
    cluster.say("Node 3: Node 51 Connected", 400)
    lost(cluster, 3, ago=50)
    lost(cluster, 4, ago=48)
    assert "all data nodes (3 and 4) are down since" in check("--log", cluster).text


def test_the_missed_heartbeats_of_all_nodes_are_no_problem_of_their_own(check, two):
    for node in (3, 4):
        two.say(f"Node 1 missed heartbeat 3 from node {node}.", 50, "WARNING")
        two.say(f"Node 1 disconnecting node {node} due to missed heartbeat", 50, "ERROR")
        lost(two, node, ago=50)
    said = check("--log", two)
    assert "no contact to any data node (3 and 4) since" in said.text
    assert "more problem" not in said.text
    assert any("missed heartbeat 3" in line for line in said.details)


def test_error_logs_do_not_say_that_a_node_is_still_down(check, two, tmp_path):
    names = []
    for node in (3, 4):
        path = tmp_path / f"ndb_{node}_error.log"
        path.write_text(error_record(node, two.now - 300))
        names += ["--log", path]
    said = check("--log", two, *names)
    assert (said.status, "all data nodes" in said.text) == (1, False)
    assert said.text.startswith(
        "NDB_LOG WARNING - node 3 ended at HH:MM:SS, error 2341: Internal program error"
    )


def error_record(node, when):
    at = datetime.fromtimestamp(when).strftime("%A %d %B %Y - %H:%M:%S")  # noqa: DTZ006 - local, as NDB writes it
    return (
        "Current byte-offset of file-pointer is: 568\n\n\n"
        f"Time: {at}\nStatus: Temporary error, restart node\nMessage: Internal program error (failed ndbrequire)\n"
        f"Error: 2341\nError data: x\nError object: y\nProgram: ndbmtd\nTrace file name: ndb_{node}_trace.log.1\n"
        "***EOM***\n"
    )


# A management node that loses its connections


def test_connections_that_broke_at_different_times_are_two_problems(check, two):
    for node, ago in ((3, 3000), (4, 600)):
        lost(two, node, ago)
        two.say(f"Node 1: Node {node} Connected", ago - 2)
    said = check("--log", two)
    assert said.text.startswith("NDB_LOG WARNING - management node 1 lost node 3 for 2 s until HH:MM:SS")
    assert said.details[0].startswith("[WARNING] management node 1 lost node 4 for 2 s until HH:MM:SS")


def test_connections_of_two_management_nodes_are_two_problems(check, cluster, tmp_path):
    other = type(cluster)(tmp_path / "ndb_2_cluster.log")
    for log in (cluster, other):
        for node in (3, 4):
            log.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", 2 * HOUR)
    for log, by, node in ((cluster, 1, 3), (other, 2, 4)):
        lost(log, node, ago=600, by=by)
        log.say(f"Node {by}: Node {node} Connected", 598)
    said = check("--log", cluster, "--log", other)
    assert "management node 1 lost node 3 for 2 s" in said.text
    assert "management node 2 lost node 4 for 2 s" in said.details[0]


# A clock that is set back


def test_a_node_that_started_by_its_clock_before_it_ended(check, two):
    two.say("Node 3: Forced node shutdown completed. Initiated by signal 11.", 300, "ALERT")
    two.say("Node 3: Start initiated (mysql-9.7.2 ndb-9.7.2)", 900)
    two.say("Node 3: Started (mysql-9.7.2 ndb-9.7.2)", 880)
    for _ in range(2):
        said = check("--log", two)
        assert said.status == 1
        assert "node 3 shut down at HH:MM:SS, started again at HH:MM:SS, signal 11" in said.text


def test_a_node_whose_connection_is_back_is_not_still_lost(check, log, peer, cluster):
    loses_data_nodes(cluster, 20)
    cluster.say("Node 1: Node 3 Connected", 15)
    for own in (log, peer):
        own.say("Local checkpoint 52 started.", 10)
        own.say("Node 51 Connected", 10)
    said = check("--log", log, "--log", peer, "--log", cluster)
    assert "management node 1 has lost node 4 since HH:MM:SS, its log goes on" in " ".join(
        (said.text, *said.details)
    )


def test_an_sql_node_that_is_declared_dead_is_no_data_node_that_is_down(check, log, two):
    two.say("Node 3: Node 51 declared dead due to missed heartbeat", 20, "ALERT")
    two.say("Node 3: Node 51 Disconnected", 20, "ALERT")
    two.say("Node 4: Node 51 Disconnected", 20, "ALERT")
    said = check("--log", two)
    assert said.status == 1
    assert said.text == (
        "NDB_LOG WARNING - link between nodes 3 and 51 is lost since HH:MM:SS, missed heartbeats - check the network "
        "between their hosts, then both logs"
    )
    assert said.perfdata["shutdowns"] == "0"
    log.say("Node 51 declared dead due to missed heartbeat", 20, "ALERT")
    assert check("--log", two, "--log", log).status == 1
    two.say("Node 3: Node 51 Connected", 10)
    log.say("Node 51 Connected", 10)
    assert "link of nodes 3 and 4 to node 51 was lost for 10 s" in check("--log", two, "--log", log).text


def test_a_data_node_that_a_cluster_log_has_not_heard_of_has_ended(check, two):
    two.say("Node 3: Node 5 declared dead due to missed heartbeat", 20, "ALERT")
    two.say("Node 3: NR Status: node=5,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 20)
    said = check("--log", two)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 5 declared dead at HH:MM:SS, missed heartbeats - check"
    )


# Who stood still, and then declared another node dead


def stands_still(log, seconds, ago):
    for thread in (0, 1, 2):
        log.say(f"thr: {thread} Overslept {seconds}000 ms, expected ~10ms", ago, "WARNING")
    log.say(f"Watchdog: Warning overslept {seconds}000 ms, expected 100 ms.", ago, "WARNING")


def is_declared_dead(log):
    log.say("We(4) have been declared dead by 3 (via 3) reason: Heartbeat failure(4)", 20)
    log.say(
        "Forced node shutdown completed. Caused by error 2315: 'Node declared dead. See error log'.",
        19,
        "ALERT",
    )


def test_a_node_that_stood_still_and_declared_another_one_dead_is_the_cause(check, log, peer):
    stands_still(peer, 30, 21)
    peer.say("Node 4 declared dead due to missed heartbeat", 20, "ALERT")
    is_declared_dead(log)
    said = check("--log", log, "--log", peer)
    assert said.text == (
        "NDB_LOG CRITICAL - node 3 stood still 30 s until HH:MM:SS, then node 4 shut down"
        " - check for a paused VM, SIGSTOP, CPU quota, swapping, VM steal"
    )
    assert "  node 4 shut down at HH:MM:SS, node 3 declared it dead" in said.details


def test_a_node_that_stood_still_itself_and_was_declared_dead_is_the_cause(check, log, peer):
    stands_still(log, 30, 21)
    peer.say("Node 4 declared dead due to missed heartbeat", 20, "ALERT")
    is_declared_dead(log)
    said = check("--log", log, "--log", peer)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, stood still 30 s - ")


def test_a_node_that_stood_still_for_a_moment_did_not_end_the_other_one(check, log, peer):
    stands_still(peer, 2, 21)
    is_declared_dead(log)
    said = check("--log", log, "--log", peer)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, node 3 declared it dead - ")
    assert said.text.endswith("(+1 more problem)")


def test_a_node_without_arbitrator_that_lost_one_which_stood_still_is_not_said_to_have_stood_still(
    check, log, peer
):
    stands_still(peer, 30, 21)
    log.say("Node 3 Disconnected", 20.5, "ALERT")
    log.say("Network partitioning - no arbitrator available", 20.2, "ALERT")
    log.say("Forced node shutdown completed. Caused by error 2305: 'x'.", 20, "ALERT")
    said = check("--log", log, "--log", peer)
    assert said.text.startswith(
        "NDB_LOG CRITICAL - node 3 stood still 30 s until HH:MM:SS, then node 4 shut down - "
    )


# How long a link was lost


def test_a_link_is_lost_since_the_last_heartbeat(check, cluster):
    for value, ago in ((1, 20.5), (2, 19), (3, 17.5), (4, 16)):
        cluster.say(f"Node 4: Node 1 missed heartbeat {value}", ago, "WARNING")
    cluster.say("Node 4: Node 1 declared dead due to missed heartbeat", 16, "ALERT")
    cluster.say("Node 4: Lost arbitrator node 1 - process failure [state=6]", 16)
    cluster.say("Node 3: Local checkpoint 51 started.", 15)
    cluster.say("Node 4: Node 1 Connected", 15)
    assert "link between nodes 1 and 4 was lost for 7 s until" in check("--log", cluster).text


# Two halves


@pytest.fixture
def split(two):
    """The cluster log of two data nodes that lost each other; node 3 has won the arbitration."""

    def split(*, missing_each_other=True):
        for number in (1, 2, 3, 4):
            ago = 120 - 5 * number
            two.say(f"Node 3: Node 4 missed heartbeat {number}", ago, "WARNING")
            if missing_each_other:
                two.say(f"Node 4: Node 3 missed heartbeat {number}", ago, "WARNING")
        two.say("Node 3: Node 4 declared dead due to missed heartbeat", 100, "ALERT")
        if missing_each_other:
            two.say("Node 4: Node 3 declared dead due to missed heartbeat", 100, "ALERT")
        lost(two, 4, ago=100)
        two.say("Node 3: Arbitration won - positive reply from node 1", 100, "ALERT")
        text = "Node lost connection to other nodes and can not form a unpartitioned cluster"
        two.say(f"Node 4: Forced node shutdown completed. Caused by error 2305: '{text}'.", 99, "ALERT")
        return two

    return split


def test_the_half_that_lost_the_arbitration_ended_and_the_other_did_not(check, split):
    cluster = split()
    said = check("--log", cluster)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, it lost node 3 and the arbitration"
        " - check the network between nodes 3 and 4, then restart the node"
    )
    assert "node 3 declared dead" not in said.details
    assert " shutdowns=1 " in said.output


def test_a_half_that_missed_nobody_may_have_stood_still(check, split):
    said = check("--log", split(missing_each_other=False))
    assert said.text.endswith(
        "and the arbitration - check for a paused VM, swapping, network trouble, then restart the node"
    )


def test_a_half_that_won_before_it_was_declared_dead_lives(check, split):
    cluster = split()
    cluster.say("Node 4: Node 3 declared dead due to missed heartbeat", 98, "ALERT")
    said = check("--log", cluster)
    assert "node 3 declared dead" not in said.output
    assert said.perfdata["shutdowns"] == "1"


def test_the_log_of_the_half_that_ended_does_not_know_of_the_other(check, log):
    log.say("Node 3 declared dead due to missed heartbeat", 100, "ALERT")
    log.say("Network partitioning - arbitration required", 100, "ALERT")  # so it is a data node
    text = "Node lost connection to other nodes and can not form a unpartitioned cluster"
    log.say(f"Forced node shutdown completed. Caused by error 2305: '{text}'.", 99, "ALERT")
    assert "node 3 declared dead" not in check("--log", log).output


def test_who_won_the_arbitration_is_not_down_by_the_log_of_the_one_that_has_not_ended_yet(check, log, split):
    cluster = split()
    log.say("Node 3 declared dead due to missed heartbeat", 100, "ALERT")
    assert "node 3 declared dead" not in check("--log", cluster, "--log", log).output


def test_the_program_of_an_sql_node_makes_no_data_node_of_it(check, two):
    two.say("Node 51: mysqld --server-id=51", 60)
    lost(two, 3, ago=50)
    lost(two, 4, ago=48)
    assert "all data nodes (3 and 4) are down" in check("--log", two).text


@pytest.mark.parametrize(("ago", "is_cause"), [(55, True), (150, False)])
def test_a_checkpoint_that_stood_still_is_why_others_lost_the_node(check, log, two, ago, is_cause):
    log.say("Waited too long with LCP not progressing.", ago, "WARNING")
    two.say("Node 3: NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing", 50)
    said = check("--log", two, "--log", log)
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 failed at HH:MM:SS, ")
    assert ("its local checkpoint stood still - check its disk" in said.text) == is_cause
