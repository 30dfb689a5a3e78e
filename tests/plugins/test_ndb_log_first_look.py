# ruff: noqa: E501 - a line of a log is as long as it is
"""The first look drops no line that a pattern understands: each, old spelling and new, in 10,000 quiet lines."""

import re
import runpy

import pytest
from ndb_log_service import PLUGIN
from stallwatch.probes.ndb_log.collect import WORDS
from stallwatch.probes.ndb_log.lines import parse
from stallwatch.probes.ndb_log.rules import RULES

CHECK = runpy.run_path(str(PLUGIN))
QUIET = "2026-11-20T23:00:00.{:06}Z [ndbd] INFO     -- Local checkpoint {} started. Keep GCI = {} oldest restorable\n"
WAITS = "Initial start, waiting for 5 to connect,  nodes [ all: 4 and 5 connected: 4 no-wait:  ] - Repeated 60 times"
MANY_QUIET = "".join(QUIET.format(number, number, number) for number in range(10_000))
NEW = "2026-11-20T23:06:41.711002Z [ndbd] WARNING  -- "
ZONE = "2026-11-21T00:06:41.711002+01:00 [ndbd] INFO     -- "
LEGACY = "2013-03-19 10:04:44 [ndbd] INFO     -- "
CLUSTER = "2026-11-20T23:06:41.711002Z [MgmtSrvr] ALERT    -- "
OLD_CLUSTER = "2006-05-11 04:06:14 [MgmSrvr] INFO -- "
OLDEST = "09:19:30 2005-07-24 [NDB] INFO -- "
DASHED = "2013-03-19 10:04:44 [ndbd] INFO     \u2013 "
BARE = ""
TRANSPORTER = "Node 3: Transporter to node 4 reported error 0x{}"
EVENTS = (
    "Node 51: Event buffer status (0x8bfc0033): max=50MB used=46MB(91% of max) alloc=50MB "
    "latest_consumed_epoch=2/1 latest_buffered_epoch=4/3 report_reason={}"
)
DIED = "NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing"


def told(tmp_path, *lines, log="ndb_4_out.log"):
    """All that -v says of these lines, with 10,000 quiet ones before each and after the last."""
    path = tmp_path / log
    path.write_text(MANY_QUIET + "".join(f"{line}\n{MANY_QUIET}" for line in lines))
    _, text = CHECK["check"].run(CHECK["findings"], ["--whole", "-v", "--log", str(path)])
    return text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # Watchdog
        (NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=2907", "thread 2 was stuck 2.9 s"),
        (NEW + "Ndb kernel thread 2 is stuck in: Unknown place 77 elapsed=1100", "was stuck 1.1 s"),
        (LEGACY + "Ndb kernel thread 2 is stuck in: Job Handling elapsed=2907", "thread 2 was stuck 2.9 s"),
        (DASHED + "Ndb kernel thread 2 is stuck in: Job Handling elapsed=2907", "thread 2 was stuck 2.9 s"),
        (BARE + "Ndb kernel thread 4 is stuck in: Job Handling elapsed=400 Watchdog: User time: 82  System time: 667", "stuck 400 ms"),
        (BARE + "Ndb kernel is stuck in: Job Handling", 'node 4 kernel thread was stuck in "Job Handling"'),
        (NEW + "Ndb kernel thread 1 is stuck in: JobHandling in block: 245, gsn: 316 elapsed=1000", "was stuck 1 s"),
        (NEW + "Watchdog: Warning overslept 1605 ms, expected 100 ms.", "stood still 1.6 s"),
        (NEW + "thr: 2 Overslept 2526 ms, expected ~10ms, user time: 929476 us, sys_time: 11863 us", "thread 2 overslept 2.5 s"),
        (LEGACY + "thr: 1: Overslept 23577 ms, expected ~10ms", "thread 1 overslept 23.6 s"),
        (NEW + "timerHandlingLab, expected 10ms sleep, not scheduled for: 1500 (ms), exec_time 12 us, sys_time 13 us", "overslept 1.5 s"),
        (LEGACY + "timerHandlingLab, expected 10ms sleep, not scheduled for: 1500 (ms)", "overslept 1.5 s"),
        # Redo
        (ZONE + "LQH 1 : Redo log part 2 : Redo buffer full", "redo buffer of part 2 is full"),
        (NEW + "LQH 1 : Redo log part 2 : Lag - time to complete : 6s", "redo log part 2 lagged 6 s"),
        (NEW + "LQH 1 : Redo log part 2 : Lag - time to complete : 6s lag count : 1 => 2 => retVal: 0", "redo log part 2 lagged 6 s"),
        (NEW + "LQH 1 : Redo log part 2 : Lag - sum_outstanding: 12kb avg_written: 2kb avg_elapsed: 3ms time to complete: 6s lag count : 1 => 2 retVal: 0", "redo log part 2 lagged 6 s"),
        (NEW + "LQH 1 : Redo log part 1 problem started : Low space.  (Low space)", "redo log part 1: low space"),
        (NEW + "LQH 1 : Redo log part 1 problem started : Generation rate exceeds write rate.  (x)", "error 1234"),
        (NEW + "LQH 1 : Redo log part 1 problem started : Next file not open on time.  (x)", "error 1220"),
        # Checkpoints
        (NEW + "GCP Monitor: GCP_COMMIT lag 10 sec (no max lag), [SignalCounter: m_count=1]", "node 4: GCP_COMMIT lag 10 s"),
        (CLUSTER + "Node 3: GCP Monitor: GCP_COMMIT lag 10 sec (max lag: 20 sec)", "node 3: GCP_COMMIT lag 10 s"),
        (NEW + "GCP Monitor: GCP_SAVE lag 60 sec (max lag: 120s)", "node 4: GCP_SAVE lag 60 s"),
        (NEW + "Detected GCP stop(3)...sending kill to [SignalCounter: m_count=1 0000000000000010]", "global checkpoints stopped"),
        (NEW + "LCP Frag watchdog : No progress for 60 s, MaxWaitTime 180 s, lcp state 5  Completion Status 1 2, table 3, frag 4", "local checkpoint does not progress"),
        (BARE + "LCP Frag watchdog : Checkpoint of table 55 fragment 9 too slow (no progress for > 60 s).", "local checkpoint does not progress"),
        (NEW + "LCP Frag watchdog : No progress for 21 s, MaxWaitTime 0 s, lcp state LCP_WAIT_END_LCP", "local checkpoint waits for other nodes"),
        (NEW + "Waited too long with LCP not progressing.", "local checkpoint stood still too long"),
        # Heartbeats and arbitration
        (NEW + "Node 3 missed heartbeat 2", "node 3 missed heartbeat 2"),
        (CLUSTER + "Node 3: Node 4 missed heartbeat 3", "node 3: node 4 missed heartbeat 3"),
        (OLD_CLUSTER + "Node 3: Node 4 missed heartbeat 3", "node 4 missed heartbeat 3"),
        (OLDEST + "Node 3: Node 4 missed heartbeat 3", "node 4 missed heartbeat 3"),
        (CLUSTER + "Node 1 missed heartbeat 2 from node 4.", "missed heartbeat 2 of node 4"),
        (CLUSTER + "Node 1 disconnecting node 4 due to missed heartbeat", "node 4"),
        (NEW + "Node 3 late heartbeat 300ms - Repeated 3 times", "node 3 was late with its heartbeat 3 times"),
        (CLUSTER + "Node 3: Node 4 declared dead due to missed heartbeat", "node 4 declared dead"),
        (NEW + "We(4) have been declared dead by 3 (via 3) reason: Heartbeat failure(4)", "node 4 declared dead"),
        (CLUSTER + "Node 3: Network partitioning - no arbitrator available", "network partitioning"),
        (CLUSTER + "Node 3: Network partitioning - no arbitrator configured", "no arbitrator configured"),
        (CLUSTER + "Node 3: Arbitration lost - negative reply from node 1", "arbitration lost"),
        (CLUSTER + "Node 3: Arbitration check lost - less than 1/2 nodes left", "arbitration lost"),
        (CLUSTER + "Node 3: Arbitration check lost - missing node group", "missing node group"),
        (NEW + "Could not find an arbitrator, cluster is not partition-safe", "no arbitrator found"),
        (CLUSTER + "Node 3: Lost arbitrator node 1 - process failure [state=6]", "arbitrator node 1 lost"),
        (CLUSTER + "Node 3: Lost arbitrator node 1 - process exit [state=6]", "process exit"),
        # Ends
        (CLUSTER + "Node 4: Forced node shutdown completed, restarting. Occured during startphase 5. Caused by error 2303: 'x'.", "node 4 failed to start (phase 5)"),
        (NEW + "Forced node shutdown completed. Occurred during startphase 0. Initiated by signal 9.", "node 4 shut down"),
        (LEGACY + "Node 4: Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'.", "error 6050"),
        (NEW + "Forced node shutdown completed, restarting, no start, initial. Caused by error 2810: 'x'.", "error 2810"),
        (NEW + "Child process terminated by signal 6", "signal 6"),
        (NEW + "Angel detected too many startup failures(3), not restarting again", "node 4"),
        (NEW + "Failed to allocate nodeid, error: 'Id 4 already allocated'", "node 4 could not start"),
        (NEW + "Couldn't start as daemon, error: 'lock failed'", "node 4 could not start"),
        (NEW + DIED, "node 4 failed"),
        (CLUSTER + "Node 3: " + DIED, "node 4 failed"),
        # Memory, backups, subscribers, file system
        (CLUSTER + "Node 3: Data usage increased to 80%(2621 32K pages of total 3276)", "Data memory 80 % used"),
        (CLUSTER + "Node 3: Index usage is 99%(2621 8K pages of total 3276)", "Index memory 99 % used"),
        (CLUSTER + "Node 3: Data usage increased to 100%(3276 32K pages of total 3276)", "Data memory 100 % used"),
        (CLUSTER + "Node 3: Backup 7 started from 1 has been aborted. Error: 1326", "backup 7 aborted"),
        (CLUSTER + "Node 3: Backup request from 1 failed to start. Error: 1350", "backup failed to start"),
        (NEW + "Disconnecting lagging nodes '50 51', epoch 1/2", "disconnected SQL nodes 50 and 51 for lag"),
        (NEW + "Disconnecting lagging nodes '50 and 51', epoch 1/2", "disconnected SQL nodes 50 and 51 for lag"),
        (NEW + f"SUMA Disconnecting lagging nodes '{1 << 52:064x}', epoch 77", "disconnected SQL node 52 for lag"),
        (NEW + "Disconnecting node 50 because it has exceeded MaxBufferedEpochs (100 >= 100), epoch 1/2", "disconnected SQL node 50 for lag"),
        (NEW + "SUMA Out of event buffer: Disabling buffering. x", "binary logs get a gap if a node fails now"),
        (NEW + "Out of event buffer: nodefailure will cause event failures", "binary logs get a gap if a node fails now"),
        (NEW + "Out of event buffer. Node failure will cause event failures. Consider x.", "binary logs get a gap if a node fails now"),
        (NEW + "Nodefailure while out of event buffer: informing subscribers of possibly missing event data", "a node failed with a full event buffer"),
        (CLUSTER + EVENTS.format("PARTIALLY_DISCARDING"), "node 51: event buffer full, epochs discarded"),
        (CLUSTER + EVENTS.format("COMPLETELY_DISCARDING"), "node 51: event buffer full, epochs discarded"),
        (CLUSTER + EVENTS.format("LOW_FREE_EVENTBUFFER"), "node 51: event buffer 91 % used"),
        # Messages between nodes
        (CLUSTER + TRANSPORTER.format("16: The send buffer was full, but sleeping for a while solved"), "node 3: send buffer to node 4 was full for a moment"),
        (CLUSTER + TRANSPORTER.format("8014: Send buffer was full,and trying to force send fails"), "node 3: message to node 4 lost"),
        (CLUSTER + TRANSPORTER.format("8003: Error found in message (invalid message length)"), "node 3: damaged message from node 4"),
        (CLUSTER + TRANSPORTER.format("3: Error found in message (invalid message length)"), "node 3: damaged message from node 4"),
        (CLUSTER + TRANSPORTER.format("5: Error found while creating socket(can't create socket)"), "node 3: connection to node 4 failed"),
        (NEW + "The long message buffer is out of free elements. This may cause the data node to crash.", "long message buffer full"),
        (NEW + "thr_no:2 - sleeploop 10!! (Worker thread blocked (>= 10ms) by slow consumer threads) - Repeated 3 times", "thread 2 waited 3 times in 10 min for a full job buffer"),
        (BARE + "out of job buffer", "job buffer full"),
        (NEW + "Failure handling of api 52 has not completed in 120 seconds.  Limit 600 - state = 2", "its failure is handled for 120 s - wait, at 600 s"),
        (NEW + "Failure handling of api 52 has not completed in 120 seconds.  Limit 0 - state = 2", "120 s, no limit"),
        (NEW + "Failure handling of node 3 has not completed in 60 seconds - state = 2", "node 3 cannot start again"),
        (NEW + "Current Global checkpoint id (4200000000) is approaching the maximum value (4294967295), projected to occur in 90 days.Backup, and Restore x", "global checkpoint ids run out in 90 days"),
        (NEW + "GCI (4200000000) is approaching the maximum value (4294967295).", "4200000000 of 4294967295"),
        (NEW + "President 3 proposed disconnected node 1 as arbitrator [ticket 0c2d]", "arbitrator node 1 is not connected"),
        (NEW + "Arbitration failure - negative reply [state=4]", "arbitration failed"),
        (NEW + "UNDO log level reached 95 percent", "CRITICAL - node 4: undo log 95 % used"),
        (NEW + "UNDO log level reached 85 percent", "WARNING - node 4: undo log 85 % used"),
        (NEW + "Watchdog: Time ticked backwards 5000 ms.", "clock went back by 5000 ms"),
        (NEW + "Failed to memlock pages, error: 12 (Cannot allocate memory)", "memory is not locked, it may be swapped"),
        (NEW + "Initial start, waiting for 5 to connect,  nodes [ all: 4 and 5 connected: 4 no-wait:  ] - Repeated 60 times", "its start waits for node 5"),
        (NEW + "Waiting 30 sec for nodes 5 and 6 to connect, nodes [ all: 4, 5 and 6 connected: 4 no-wait:  ] - Repeated 60 times", "its start waits for nodes 5 and 6"),
        (NEW + "Waiting for non partitioned start, nodes [ all: 4 and 5 connected: 4 missing: 5 no-wait:  ] - Repeated 60 times", "its start waits for node 5"),
        (NEW + "Start potentially partitioned with nodes 4  [ missing: 5 no-wait:  ]", "started without node 5"),
        (NEW + "Start with nodes 4 [ missing: 5 no-wait:  ]", "started without node 5"),
        (NEW + "Filesystem problem: The file system is full. Check /data/ndb_4_fs/D8. (error: 2810, os error: 28, signal FSWRITEREF)", "The file system is full /data/ndb_4_fs/D8 - look"),
        (NEW + "Filesystem problem: No space. Check the disk. (error: 2810, os error: 28, signal 1)", "file system problem"),
    ],
)  # fmt: skip
def test_a_line_that_says_something_is_heard(tmp_path, line, expected):
    assert expected in told(tmp_path, line)


@pytest.mark.parametrize(
    ("bad", "good", "gone"),
    [
        ("Lost arbitrator node 1 - process exit [state=6]", "Started arbitrator node 2 [ticket=5b4f]", "lost"),
        ("Data usage increased to 90%(2950 32K pages of total 3276)", "Data usage decreased to 79%(1 32K pages of total 2)", "% used"),
        ("Data usage increased to 90%(2950 32K pages of total 3276)", "Data usage is 5%(1 32K pages of total 2)", "% used"),
        ("Data usage increased to 90%(2950 32K pages of total 3276)", "Start phase 0 completed (system restart)", "% used"),
        ("Index usage increased to 90%(2950 8K pages of total 3276)", "Start initiated (version 5.0.10)", "% used"),
        ("Backup 7 started from 1 has been aborted. Error: 1326", "Backup 8 started from node 1 completed. StartGCP: 1", "aborted"),
        ("Backup 7 started from 1 has been aborted. Error: 1326", "Backup 8 started from 1 completed. StartGCP: 1", "aborted"),
        ("LQH 1 : Redo log part 1 problem started : Low space.  (x)", "LQH 1 : Redo log part 1 problem cleared : Low space.  (x)", "not cleared"),
        ("Node shutdown initiated", DIED, "node 4 failed"),
        (WAITS, "Start with all nodes 4 and 5", "start waits"),
        (WAITS, "Initial start with nodes 4 and 5 [ missing:  no-wait:  ]", "start waits"),
        (WAITS, "Start potentially partitioned with nodes 4  [ missing: 5 no-wait:  ]", "start waits"),
        (WAITS, "Start phase 1 completed (system restart)", "start waits"),
        (WAITS, "Started (mysql-9.7.2 ndb-9.7.2)", "start waits"),
        (WAITS, "Node shutdown completed.", "start waits"),
        ("Start with nodes 4 [ missing: 5 no-wait:  ]", "NR Status: node=5,OLD=x,NEW=Restart completed", "without node 5"),
        ("Node 3 missed heartbeat 3", "Node 3 Connected", "missed heartbeat 3"),
        ("Failure handling of node 3 has not completed in 60 seconds - state = 2", "All nodes completed failure of Node 3", "cannot start"),
        ("Failure handling of api 52 has not completed in 60 seconds.  Limit 0 - state = 2", "Node 52 Connected", "cannot connect"),
        ("President 3 proposed disconnected node 1 as arbitrator [ticket 0c2d]", "Node 1 Connected", "arbitrator node 1"),
        ("SUMA Out of event buffer: Disabling buffering. x", "Event buffering resumed. Epochs > 1/0 will be buffered completely.", "event buffer"),
        (EVENTS.format("LOW_FREE_EVENTBUFFER")[9:], EVENTS.format("ENOUGH_FREE_EVENTBUFFER")[9:], "% used"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", [CLUSTER + "Node 4: ", OLD_CLUSTER + "Node 4: "])
def test_a_line_that_makes_well_is_heard(tmp_path, prefix, bad, good, gone):
    assert gone not in told(tmp_path, prefix + bad, prefix + good, log="ndb_1_cluster.log")


@pytest.mark.parametrize(
    ("node", "sign", "expected"),
    [
        ("", "Angel pid: 17488 started child: 8002", "starting again"),
        ("", "Start initiated (mysql-9.7.2 ndb-9.7.2)", "starting again"),
        ("Node 4: ", "Start initiated (version 5.0.10)", "starting again"),
        ("", "Start phase 101 completed", "started again"),
        ("", "Started (mysql-9.7.2 ndb-9.7.2)", "started again"),
        ("Node 4: ", "Started (version 5.0.10)", "started again"),
        ("", "Node started", "started again"),
        ("Node 3: ", "NR Status: node=4,OLD=Node failure handling complete,NEW=Allocated node id", "starting again"),
        ("Node 3: ", "NR Status: node=4,OLD=Wait handover of subscriptions,NEW=Restart completed", "started again"),
        ("", "Node 4 has completed its restart", "started again"),
    ],
)  # fmt: skip
def test_a_sign_of_a_start_is_heard(tmp_path, node, sign, expected):
    down = NEW + "Forced node shutdown completed. Caused by error 6050: 'x'."
    assert expected in told(tmp_path, down, NEW + node + sign)


@pytest.mark.parametrize(
    "harmless",
    [
        TRANSPORTER.format("0: No error"),
        TRANSPORTER.format("800b: The remote node has disconnected"),
        EVENTS.format("BUFFERED_EPOCHS_OVER_THRESHOLD"),
        EVENTS.format("ENOUGH_FREE_EVENTBUFFER"),
        "Node 3: thr_no:2 - sleeploop 10!! (Worker thread blocked (>= 10ms) by slow consumer threads)",
    ],
)
def test_a_line_that_is_no_problem_is_none(tmp_path, harmless):
    assert "NDB_LOG OK" in told(tmp_path, CLUSTER + harmless, log="ndb_1_cluster.log")


def test_the_role_of_a_thread_is_heard(tmp_path):
    role = NEW + "thr: 2 tid: 17552 (ldm) PGMAN(1) DBACC(1)"
    stuck = NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=2907"
    assert "node 4 thread 2 (ldm) was stuck 2.9 s" in told(tmp_path, role, stuck)


def test_the_number_of_a_node_is_heard(tmp_path):
    start = NEW + "NDB Cluster -- DB node 7"
    stuck = NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=2907"
    assert "node 7 thread 2 was stuck 2.9 s" in told(tmp_path, start, stuck, log="out.log")


def test_the_interval_of_the_watchdog_is_heard(tmp_path):
    interval = NEW + "WatchDog timer is set to 60000 ms"
    stuck = NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=2907"
    assert "2 min 57 s were left before the watchdog ends the node" in told(tmp_path, interval, stuck)


def test_the_times_of_the_process_are_heard(tmp_path):
    lines = (
        NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=1000",
        NEW + "Watchdog: User time: 100  System time: 100",
        NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=2000",
        NEW + "Watchdog: User time: 101  System time: 150",
    )
    assert "probably OS kernel busy (system 0.50 core, user 0.01)" in told(tmp_path, *lines)


def test_the_load_beside_a_standstill_is_heard(tmp_path):
    load = NEW + "Operations=4711"
    stuck = NEW + "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=2907"
    path = tmp_path / "ndb_4_out.log"
    path.write_text(f"{load}\n{stuck}\n")
    _, text = CHECK["check"].run(CHECK["findings"], ["--whole", "-v", "--log", str(path)])
    assert "cluster busy (Operations=4711)" in text


@pytest.mark.parametrize(
    "lock",
    [
        "jbalock thr: 1", "jbblock(3)", "receive lock thread id 0", "send lock node 4", "send lock trp 4",
        "send_buffer lock trp 4", "sendbufferpool", "jobbufferpool", "Global_sendbufferpool[0]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", [BARE, LEGACY])
def test_contention_is_heard(tmp_path, prefix, lock):
    first = f"{prefix}{lock} waiting for lock, contentions: 10000 spins: 1000000"
    second = f"{prefix}{lock} waiting for lock, contentions: 10200 spins: 5905800"
    assert f'lock "{lock}" spins 30.7 us for each contention' in told(tmp_path, first, second)


def test_the_words_of_the_first_look_are_without_digits():
    assert [word for word in WORDS if any(digit in word for digit in b"0123456789")] == []


def test_each_rule_finds_its_own_word_in_its_samples():
    samples = [
        line
        for mark in test_a_line_that_says_something_is_heard.pytestmark
        + test_a_line_that_makes_well_is_heard.pytestmark
        + test_a_sign_of_a_start_is_heard.pytestmark
        for case in mark.args[1]
        for line in case
    ]
    texts = [parse(line.encode()).text for line in samples]
    unheard = [rule.pattern for rule in RULES if not any(_matches(rule, text) for text in texts)]
    assert unheard == []


def _matches(rule, text):
    return re.match(rule.pattern, text) and rule.word in re.sub(r"\d", "", text).encode()
