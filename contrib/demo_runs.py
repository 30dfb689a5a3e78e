"""What the demo runs: a title and a command for each run, in groups."""

from __future__ import annotations

WHOLE = "check_ndb_log --whole --log"
NDB_LOG = (
    ("A start and a quiet time", f"{WHOLE} E0_start_and_100s_quiet.ndb_3_out.log"),
    ("A thread that did not run: frozen for 3 s", f"{WHOLE} E2_freeze_one_ldm_3s_idle.ndb_4_out.log"),
    ("A thread that computed", f"{WHOLE} E13b_ldm_spins_in_user_space_4s.ndb_4_out.log"),
    ("A thread that kept the OS kernel busy", f"{WHOLE} E14_ldm_loops_in_system_calls_4s.ndb_4_out.log"),
    (
        "Two threads stuck at once",
        f"{WHOLE} E27_one_ldm_spins_one_in_system_calls_1.3s.ndb_4_out.log",
    ),
    ("Stuck for a moment, shown with -v", f"{WHOLE} E11_mgm_restart.ndb_3_out.log -v"),
    (
        "The four lines of the article of 2010, shown with -v",
        f"{WHOLE} 01_blog2010_stuck_job_handling_out.log -v",
    ),
    (
        "Stuck until the watchdog ended the node: error 6050",
        f"{WHOLE} E7_watchdog_terminate_angel_restart.ndb_4_out.log",
    ),
    ("A node that cannot start", f"{WHOLE} E23_node_fails_to_start.ndb_4_out.log"),
    ("Contention for a lock in NDB 7.1", f"{WHOLE} 03_blog2010_contention_bad_out.log"),
    ("A redo buffer that the disk cannot drain", f"{WHOLE} R3_redo_throttled_abort.ndb_4_out.log"),
    ("A process that stood still as a whole", f"{WHOLE} E5_sigstop_process_3s.ndb_4_out.log"),
)
HEAP = "-O java.lang:type=Memory -A HeapMemoryUsage -K used --of max --unit B -w 80% -c 90%"
FLUSH_WRITER = "-O org.apache.cassandra.internal:type=FlushWriter -A CurrentlyBlockedTask"
JVM = (
    ("The heap of a JVM, of its maximum", f"check_jmx -P {{port}} {HEAP}"),
    ("An attribute misspelled", "check_jmx -P {port} -O java.lang:type=Threading -A ThreadsCount"),
    ("What there is to ask for", "check_jmx -P {port} --list java.lang:type=Threading --values"),
    ("The article's command of 2012, on beans like those of 2012", f"check_jmx -P {{port}} {FLUSH_WRITER}"),
    ("The same with the attribute's full name", f"check_jmx -P {{port}} {FLUSH_WRITER}s -w 0 -c 10"),
    (
        "Its thread pools, and two threads that wait for each other",
        "check_jmx_thread_pools -P {port} --deadlocks",
    ),
    ("A port where nothing listens", f"check_jmx -P 1 {HEAP}"),
)
CASSANDRA = (
    ("All thread pools of Cassandra 5", "check_jmx_thread_pools -P {port} -v"),
    ("The article's attribute, which Cassandra 5 has elsewhere", f"check_jmx -P {{port}} {FLUSH_WRITER}s"),
)
AFTER_LOAD = (("The same pools after 5000 traced writes at once", "check_jmx_thread_pools -P {port}"),)

LAG = "check_replication_lag -S {socket} -u mon"
HEALTHY = (
    ("A replica that keeps up", LAG),
    ("The same, with what its source says", LAG + " --source 127.0.0.1:{source}"),
)
ROW_LOCK = (("Somebody has left a transaction open on the replica", LAG + " -w 5"),)
BROKEN = (("The applier stopped with an error", LAG),)
PAGE_BUFFER = "check_ndb_page_buffer -S {socket} -u mon"
REDO_BUFFER = "check_ndb_redo_buffer -S {socket} -u mon"
NDB_HEALTHY = (
    ("The data nodes of a cluster that was just started", "check_ndb_nodes -S {socket} -u mon"),
    ("Their memory", "check_ndb_memory -S {socket} -u mon"),
    ("Their transactions", "check_ndb_transactions -S {socket} -u mon"),
    ("Redo buffers with next to nothing to do", REDO_BUFFER),
    ("The first look at the page buffers", PAGE_BUFFER),
)
NDB_READS = (
    ("Random reads of a table on disk, DiskPageBufferMemory=4M", f"{PAGE_BUFFER} --cold 0 --sample 3s"),
    (
        "The same if one look is enough to be sure, with all numbers",
        f"{PAGE_BUFFER} --cold 0 --sample 3s --confirm 1 -v",
    ),
)
NDB_WRITES = (("Large rows are written, RedoBuffer=1M", f"{REDO_BUFFER} --log {{log}}"),)
NDB_SLOW_DISK = (("The same with a disk that writes 2 MB/s", REDO_BUFFER),)
NDB_NODE_DOWN = (
    ("A data node has been stopped", "check_ndb_nodes -S {socket} -u mon"),
    ("What that means to the others", PAGE_BUFFER),
)
NDB_RECORDED = ("healthy", "page-buffer-too-small", "redo-buffer-too-small", "disk-too-slow", "node-down")
NO_REPLICA = (("A server that is no replica", LAG),)
STATUS = "check_mysql_status -S {socket} -u mon --sample 2s"
REDO_LOG = "check_innodb_redo_log -S {socket} -u mon --sample 2s"
QUERY = 'check_mysql_query -S {socket} -u mon --query "SELECT COUNT(*) FROM status_load.big WHERE a = 0"'
BACKUP = "check_mysql_backup -d {folder}/backup -S {socket} -u mon --ignore-table 'status_load[.].*|lab[.].*'"
SERVER = (
    ("What a server counts, and what of it is at its limit", STATUS),
    ("Its redo log", REDO_LOG),
    ("Its buffer pool", "check_innodb_buffer_pool -S {socket} -u mon --sample 2s"),
    ("Does it answer?", QUERY),
    ("Its process", "check_mysqld_process --pid-file {pid_file} --sample 2s"),
    ("The host that it runs on", "check_host --sample 2s --data-dir {folder}"),
)
SERVER_SCANS = (
    (
        "Clients that read a table without an index, and open more tables than the cache has room for",
        f"{STATUS} --set handlers --set tables --warning Handler_read_rnd_next=100000",
    ),
    ("What that means to a query that has 10 ms", f"{QUERY} -w 10ms -c 1s"),
)
SERVER_WRITES = (("Writers that wait for the redo log", REDO_LOG),)
BACKED_UP = (
    ("A backup, one file for each table", BACKUP),
    ("All of it read, to its end", f"{BACKUP} --verify full"),
)
BACKUP_DAMAGED = (("The same with a file that is not whole", f"{BACKUP} --verify full"),)

LOCKS = "check_mysql_stalls -S {socket} -u mon -w 2 -c 5"
LOCKS_IDLE = (("A transaction was left open, and three clients wait for its row", LOCKS),)
LOCKS_DDL = (("An ALTER TABLE waits for a reader, and all others wait behind it", LOCKS),)
LOCKS_DEADLOCK = (
    ("Two transactions have changed two rows in different order", f"{LOCKS} --deadlocks-warning 0"),
)
