# ruff: noqa: E501 - what is said is written as it is said
"""Situations of public bug reports that no rule was made for: which cause comes first, and what is no problem.

Each line is (seconds ago, level, text). Numbers in the comments are those of bugs.mysql.com.
"""

import pytest

A, W, I = "ALERT", "WARNING", "INFO"  # noqa: E741 - levels
SPLIT = "Forced node shutdown completed. Caused by error 2305: 'Node lost connection to other nodes(Arbitration error). Temporary error, restart node'."
ANOTHER = "Forced node shutdown completed. Occurred during startphase 1. Caused by error 2308: 'Another node failed during system restart(Restart error). Temporary error, restart node'."
KILLED_IN_START = "Forced node shutdown completed. Occured during startphase 5. Caused by error 2303: 'System error, node killed during node restart by other node(x). Temporary error, restart node'."
SIGNAL_11 = "Forced node shutdown completed. Initiated by signal 11. Caused by error 6000: 'Error OS signal received(x). Temporary error, restart node'."
STARTED = [(600, I, f"Node {node}: Started (mysql-8.0.35 ndb-8.0.35)") for node in (3, 4, 5, 6)]

CLUSTER = {
    # 116424: a node that fails in a system restart takes the others with it
    "CRITICAL - all data nodes (3, 4 and 5) are down since HH:MM:SS, node 4 failed to start: error 2339": [
        *((60, I, f"Node {node}: Start phase 0 completed (system restart)") for node in (3, 4, 5)),
        (50, A, "Node 1: Node 4 Disconnected"),
        (50, A, "Node 4: Forced node shutdown completed. Occurred during startphase 1. Caused by error 2339: 'Send signal error(x). Temporary error, restart node'."),
        (50, A, "Node 1: Node 3 Disconnected"),
        (50, A, f"Node 3: {ANOTHER}"),
        (49, A, "Node 1: Node 5 Disconnected"),
        (49, A, f"Node 5: {ANOTHER}"),
    ],
    # 60382: both end by the same signal
    "CRITICAL - all data nodes (4 and 5) are down since HH:MM:SS, signal 11 (segmentation fault)": [
        (90, I, "Node 4: Local checkpoint 1201 started. Keep GCI = 15 oldest restorable GCI = 15"),
        (50, A, "Node 1: Node 4 Disconnected"),
        (50, A, "Node 1: Node 5 Disconnected"),
        (50, A, f"Node 4: {SIGNAL_11}"),
        (49, A, f"Node 5: {SIGNAL_11}"),
    ],
    # 19706: another node of several misses the heartbeats
    "CRITICAL - node 18 shut down at HH:MM:SS, error 2315: declared dead - check for a paused VM": [
        *((40 - value, W, f"Node 17: Node 18 missed heartbeat {value}") for value in (2, 3, 4)),
        (35, A, "Node 17: Node 18 declared dead due to missed heartbeat"),
        (35, I, "Node 17: Communication to Node 18 closed"),
        (35, A, "Node 17: Arbitration check won - node group majority"),
        (35, A, "Node 14: Node 18 Disconnected"),
        (34, A, "Node 18: Forced node shutdown completed. Caused by error 2315: 'Node declared dead. See error log for details(Arbitration error). Temporary error, restart node'."),
    ],
    # 14028: before 5.1 minutes were counted
    "WARNING - node 4: node 3 cannot start again at HH:MM:SS, its failure is handled for 2 min": [
        (120, W, "Node 4: Failure handling of node 3 has not completed in 1 min. - state = 3"),
        (60, W, "Node 4: Failure handling of node 3 has not completed in 2 min. - state = 3"),
    ],
    # One split of four nodes is one problem
    "CRITICAL - nodes 4 and 6 shut down at HH:MM:SS, they lost node 3 and the arbitration": [
        *STARTED,
        (40, W, "Node 3: Node 6 missed heartbeat 3"),
        (40, W, "Node 5: Node 4 missed heartbeat 3"),
        (35, A, "Node 3: Node 6 declared dead due to missed heartbeat"),
        (35, A, "Node 3: Network partitioning - arbitration required"),
        (35, A, "Node 3: Arbitration won - positive reply from node 1"),
        (30, A, "Node 5: Node 4 declared dead due to missed heartbeat"),
        (30, A, "Node 1: Node 4 Disconnected"),
        (30, A, "Node 1: Node 6 Disconnected"),
        (29, A, f"Node 4: {SPLIT}"),
        (24, A, f"Node 6: {SPLIT}"),
    ],
    # The receive thread of node 4 stands still, and its own log is not read
    "WARNING - node 4 missed 2 heartbeats of nodes 1, 51 and 52 at HH:MM:SS, of several at once - check the log of node 4": [
        *STARTED[:2],
        *((90, W, f"Node 4: Node {peer} missed heartbeat 2") for peer in (51, 1, 52)),
    ],
    # The end of a node is the cause of what was said of it before
    "CRITICAL - node 3 shut down at HH:MM:SS, error 7400": [
        *STARTED[:2],
        (30, W, "Node 3: Failure handling of api 52 has not completed in 600 seconds.  Limit 600 - state = 2"),
        (30, A, "Node 3: Forced node shutdown completed. Caused by error 7400: 'API node failure handling timeout(x). Temporary error, restart node'."),
    ],
    "CRITICAL - node 4 failed to start (phase 4) at HH:MM:SS, error 2310 - check the disk": [
        STARTED[0],
        (70, I, "Nodeid 4 allocated for NDB at 10.0.0.4"),
        (20, A, "Node 4: Forced node shutdown completed. Occured during startphase 4. Caused by error 2310: 'Error while reading the REDO log(x). Ndbd file system error, restart node initial'."),
    ],
    # Nothing is wrong: an SQL node comes and goes, the management node restarts, all is stopped in order
    "OK - 5 new lines": [
        (60, A, "Node 3: Node 52 Disconnected"),
        (60, I, "Node 3: Communication to Node 52 closed"),
        (55, I, "Node 3: Communication to Node 52 opened"),
        (55, I, "Nodeid 52 allocated for API at 10.0.0.5"),
        (54, I, "Node 3: Node 52 Connected"),
    ],
    "OK - 8 new lines": [
        *STARTED[:2],
        (50, I, "Shutting down server..."),
        (40, I, "MySQL Cluster Management Server mysql-8.0.35 ndb-8.0.35 started"),
        (39, I, "Node 3: Node 1 Connected"),
        (39, I, "Node 1: Node 3 Connected"),
        (38, I, "Node 1: Node 4 Connected"),
        (37, I, "Node 3: Started arbitrator node 1 [ticket=1f3d000d6a2c1b02]"),
    ],
    "OK - 9 new lines": [
        *STARTED[:2],
        (50, I, "Node 3: Cluster shutdown initiated"),
        (50, I, "Node 4: Cluster shutdown initiated"),
        (48, I, "Node 3: Node shutdown completed."),
        (48, A, "Node 1: Node 3 Disconnected"),
        (48, I, "Node 4: Node shutdown completed."),
        (48, A, "Node 1: Node 4 Disconnected"),
        (47, I, "Shutting down server..."),
    ],
}  # fmt: skip

OWN = {
    # 116429: the arbitrator is lost, then the others, and the arbitrator decides against it
    "CRITICAL - node 4 shut down at HH:MM:SS, arbitrator node 1 chose the other side": [
        (97, I, "Node 1 disconnected in state: 0"),
        (97, I, "Lost arbitrator node 1 - process failure [state=6]"),
        (67, I, "Node 2 disconnected in state: 0"),
        (67, A, "Arbitration check won - node group majority"),
        (67, I, "NR Status: node=2,OLD=Initial state,NEW=Node failed, fail handling ongoing"),
        (30, I, "Node 3 disconnected in state: 0"),
        (30, A, "Network partitioning - arbitration required"),
        (30, A, "Arbitration lost - negative reply from node 1"),
        (29, A, f"Node 4: {SPLIT}"),
    ],
    # 98526: an assertion at the end of a start
    "CRITICAL - node 4 failed to start (phase 5) at HH:MM:SS, error 2341": [
        (900, I, "NDB Cluster -- DB node 4"),
        (31, I, "DBLQH (Line: 7222) 0x00000002 Check m_dealloc_ref_count == 1 failed"),
        (30, I, "Error handler shutdown completed - exiting"),
        (29, A, "Node 4: Forced node shutdown completed. Occured during startphase 5. Caused by error 2341: 'Internal program error (failed ndbrequire)(x). Temporary error, restart node'."),
    ],
    # 91100: a node that is copied to it ends it
    "CRITICAL - node 4 failed to start (phase 5) at HH:MM:SS, error 2303: node 11 could not copy data... - run perror --ndb 744, and check the log of node 11": [
        (900, I, "NDB Cluster -- DB node 4"),
        (30, I, "Killed by node 11 as copyfrag failed, error: 744"),
        (29, A, f"Node 4: {KILLED_IN_START}"),
    ],
    # As 7.2 tells of a local checkpoint that stood still
    "CRITICAL - node 4 shut down at HH:MM:SS, error 7200: its local checkpoint stood still - check its disk with iostat -kx 1": [
        (50, I, "LCP Frag watchdog : Checkpoint of table 55 fragment 9 too slow (no progress for > 40 s)."),
        (30, I, "Please report this as a bug. Shutting down node due to lack of LCP fragment scan progress"),
        (29, A, "Node 4: Forced node shutdown completed. Caused by error 7200: 'LCP fragment scan watchdog detected a problem.  Please report a bug.(x). Temporary error, restart node'."),
    ],
    # The disk hangs, and its angel cannot write why the node ended
    "CRITICAL - node 4 shut down at HH:MM:SS, its local checkpoint stood still - check its disk with iostat -kx 1": [
        (50, W, "LCP Frag watchdog : No progress for 19 s, MaxWaitTime 20 s, lcp state LCP_TAB_COMPLETED"),
        (49, W, "Waited too long with LCP not progressing."),
        (31, I, "Error handler shutting down system"),
        (30, I, "Error handler shutdown completed - exiting"),
    ],
    "CRITICAL - node 4 shut down at HH:MM:SS, it lost node 3 and had no arbitrator": [
        (30, I, "Transporter 2 to node 3 disconnected in recv with errnum: 110 in state: 0"),
        (30, A, "Network partitioning - no arbitrator configured"),
        (29, A, f"Node 4: {SPLIT}"),
    ],
    "CRITICAL - node 4 failed to start (phase 0) at HH:MM:SS, error 2350: invalid configuration": [
        (31, I, "Angel pid: 100 started child: 101"),
        (30, I, "Invalid configuration fetched"),
        (29, A, "Node 4: Forced node shutdown completed. Occurred during startphase 0. Caused by error 2350: 'Invalid configuration received from Management Server(x). Permanent error, external action needed'."),
    ],
    # A machine that was asleep: the clock jumps, and everybody is late
    "WARNING - node 4 stood still 2 h until HH:MM:SS, 2 threads and the watchdog overslept": [
        (90, W, "Time moved forward with 7200000 ms"),
        (90, W, "Watchdog: Warning overslept 7199900 ms, expected 100 ms."),
        *((90, W, f"thr: {thread} Overslept 7199800 ms, expected ~10ms, user time: 0 us, sys_time: 0 us") for thread in (0, 1)),
    ],
    # Nothing is wrong: memory is taken in a start, an API node is refused once
    "OK - 7 new lines": [
        (99, I, "NDB Cluster -- DB node 4"),
        (90, W, "Ndb kernel thread 1 is stuck in: Allocating memory elapsed=6001"),
        (90, I, "Watchdog: User time: 12  System time: 580"),
        (84, W, "Ndb kernel thread 1 is stuck in: Allocating memory elapsed=12003"),
        (84, I, "Watchdog: User time: 12  System time: 1180"),
        (80, I, "timerHandlingLab, expected 10ms sleep, not scheduled for: 170 (ms)"),
        (30, I, "Started (mysql-8.0.35 ndb-8.0.35)"),
    ],
    "OK - 4 new lines": [
        (90, I, "Alloc node id for node 60 failed, err: 1701"),
        (89, I, "Node 60 Connected"),
        (80, I, "Node 60 disconnected in recv with errnum: 104 in state: 0"),
        (79, I, "Communication to Node 60 closed"),
    ],
}  # fmt: skip


def told(check, log, lines):
    for ago, level, text in lines:
        log.say(text, ago, level)
    said = check("--log", log)
    assert not any("more problem" in line for line in (said.text, *said.details))
    return said.text.removeprefix("NDB_LOG ")


@pytest.mark.parametrize(("expected", "lines"), CLUSTER.items(), ids=range(len(CLUSTER)))
def test_a_cluster_log(check, cluster, expected, lines):
    assert told(check, cluster, lines).startswith(expected)


@pytest.mark.parametrize(("expected", "lines"), OWN.items(), ids=range(len(OWN)))
def test_the_log_of_a_data_node(check, log, expected, lines):
    assert told(check, log, lines).startswith(expected)


def test_a_node_that_waits_for_the_checkpoint_of_another_one_is_a_symptom(check, log, peer):
    log.say("LCP Frag watchdog : No progress for 19 s, MaxWaitTime 20 s, lcp state LCP_TAB_COMPLETED", 30, W)
    peer.say("LCP Frag watchdog : No progress for 8 s, MaxWaitTime 0 s, lcp state LCP_WAIT_END_LCP", 29, W)
    said = check("--log", log, "--log", peer)
    assert said.text.startswith("NDB_LOG WARNING - node 4: local checkpoint does not progress at HH:MM:SS")
    assert "more problem" not in said.text
    assert any("node 3: local checkpoint waits for other nodes" in line for line in said.details)
