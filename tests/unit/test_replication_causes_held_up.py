"""What holds appliers up: locks that nothing names, waits beyond a timeout, tables without a key."""

import pytest
from replication_signals import (
    APPLIER,
    APPLIES,
    MARIADB,
    MYSQL,
    applier,
    awaits,
    case,
    counted,
    lock,
    looks,
    process,
    receiver,
    transaction,
)
from replication_snapshots import HERE, NOW, busy, channel, commits, mariadb, snapshot, worker
from stallwatch.probes.mysql.locks.rows import RowLock
from stallwatch.probes.mysql.processes import Thread
from stallwatch.probes.replication_lag.causes import applying, explain, locked, threads_and_link
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.model import Before, Contact
from stallwatch.probes.replication_lag.model import Thread as Thread_
from stallwatch.probes.replication_lag.signals import Host, Look
from stallwatch.probes.replication_lag.signals.backups import Backup
from stallwatch.probes.replication_lag.signals.scans import Scan
from stallwatch.probes.replication_lag.trend import Trend
from stallwatch.sources.host import DiskLoad

# R5

FTWRL = applier("Waiting for backup lock", 60.0, command="Slave_SQL")
ALTERS = applier(
    "Waiting for table metadata lock", 60.0, command="Slave_SQL", info="ALTER TABLE t.a ADD b INT"
)
UPDATES = ALTERS._replace(info="UPDATE t.a SET v = 1")
HOLDS = process(204, user="root", host="localhost", seconds=61.0)
AT_WORK = process(301, command="Query", seconds=1.0, info="SELECT 1", state="Sending data")
LONG_IDLE = process(300, seconds=3000.0)


def suspected(*processes, transactions=(), **more):
    seen = looks(*processes, transactions=transactions)
    return locked.r5_server_locked(case(mariadb(), looks=seen, flavour=MARIADB, **more))


@pytest.mark.parametrize(
    ("seen", "transactions"),
    [
        ((FTWRL, HOLDS), ()),
        ((FTWRL, HOLDS, AT_WORK, LONG_IDLE), ()),
        ((UPDATES, HOLDS, AT_WORK, LONG_IDLE), ()),
        ((FTWRL, HOLDS, process(56, seconds=62.0)), [transaction(56, age=62.0, modified=1)]),
        ((ALTERS, HOLDS, LONG_IDLE), [transaction(204, age=61.0)]),
        ((ALTERS, HOLDS, process(56, seconds=3.0)), [transaction(204, age=61.0), transaction(56, age=50.0)]),
        ((ALTERS, HOLDS._replace(command="Query", info="SELECT * FROM t.a"), LONG_IDLE), ()),
        ((UPDATES, HOLDS._replace(command="Query", info="ALTER TABLE t.a ADD b INT"), LONG_IDLE), ()),
    ],
)
def test_r5_the_only_one_that_can_hold_the_lock_of_mariadb_is_likely(seen, transactions):
    found = suspected(*seen, transactions=transactions)
    assert "lock" in found.what
    assert ", probably of connection 204 root@localhost, " in found.what
    assert found.advice == "check it, then KILL 204 on the replica"


@pytest.mark.parametrize(
    ("seen", "transactions"),
    [
        ((FTWRL, LONG_IDLE, AT_WORK), ()),
        ((FTWRL, HOLDS, process(56, seconds=62.0)), ()),
        ((FTWRL, process(56, "Waiting for backup lock", command="Query", seconds=60.0)), ()),
        ((ALTERS, HOLDS, LONG_IDLE), [transaction(204, age=61.0), transaction(300, age=3000.0)]),
        ((UPDATES, HOLDS, applier("altering table", number=13)), ()),
        ((UPDATES, HOLDS, process(56, command="Query", seconds=61.0, info="ALTER TABLE t.a ADD c INT"),
          process(57, command="Query", seconds=61.0, info="ALTER TABLE t.a ADD d INT")), ()),
    ],
)  # fmt: skip
def test_r5_nobody_is_likely_where_several_can_hold_it(seen, transactions):
    found = suspected(*seen, transactions=transactions)
    assert found.what.startswith('the applier has been "Waiting for')
    assert "KILL" not in found.advice


def test_r5_a_dump_that_goes_on_while_it_holds_the_lock_of_mariadb_is_likely():
    dumps = AT_WORK._replace(info="SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`")
    found = suspected(FTWRL, dumps, LONG_IDLE, backups=(Backup("mariadb-dump", 9, (301,)),))
    assert ", probably of connection 301 app@web1 (mariadb-dump pid 9), runs SELECT FROM t" in found.what
    assert found.advice == "let that backup end, or KILL 301 on the replica"


def test_r5_on_mysql_nobody_is_likely():
    """Its process list does not tell for how long an applier has waited."""
    waits = FTWRL._replace(command="Query")
    assert "probably" not in locked.r5_server_locked(case(looks=looks(waits, HOLDS))).what


@pytest.mark.parametrize("state", ["Waiting for table level lock", "User lock", "Waiting for disk space"])
def test_r5_any_other_wait_is_told_in_the_server_s_words_alone(state):
    waits = case(mariadb(), looks=looks(applier(state, 40.0), HOLDS), flavour=MARIADB)
    found = locked.r5_server_locked(waits)
    assert found.what == f'the applier has been "{state}" for 40 s'
    assert "KILL" not in found.advice
    single = {"slave_parallel_threads": "0"}
    busy = waits.signals._replace(settings=single, host=Host(disk="sda", load=DiskLoad(1.0, 0.001)))
    assert applying.r16_single_threaded(waits._replace(signals=busy, trend=Trend(0.9, 60.0, 9))) is None


@pytest.mark.parametrize("family", ["slave", "replica"])
def test_r5_who_waits_for_its_own_replicas_says_so(family):
    waits = applier(f"Waiting for semi-sync ACK from {family}", 40.0)
    found = locked.r5_server_locked(case(mariadb(), looks=looks(waits), flavour=MARIADB))
    assert found.what == "applier waits for a semi-sync ACK for 40 s"
    assert found.advice.startswith("check this server's own replicas")


@pytest.mark.parametrize(
    "state",
    [
        "Waiting for prior transaction to commit",
        "Waiting for an event from Coordinator",
        "waiting for handler commit",
        "Waiting until MASTER_DELAY seconds after master executed event",
        "Waiting for work from SQL thread",
        "Waiting for room in worker thread event queue",
        "Waiting for the next event in relay log",
        "User sleep",
        "Update_rows_log_event::find_row()",
    ],
)
def test_r5_who_waits_for_work_or_for_its_turn_is_held_up_by_nobody(state):
    assert locked.r5_server_locked(case(looks=looks(applier(state, 40.0), HOLDS))) is None


SELECTS = process(55, "User sleep", command="Query", info="SELECT SLEEP(99) FROM t.a", seconds=99.0)
READ_LOCK = process(
    60, "Waiting for table flush", command="Query", info="FLUSH TABLES WITH READ LOCK", seconds=68.0
)


@pytest.mark.parametrize(
    ("state", "flavour", "locks"),
    [
        ("Waiting for global read lock", MYSQL, (lock("SHARED", 60), awaits("INTENTION_EXCLUSIVE"))),
        ("Waiting for backup lock", MARIADB, (lock("FTWRL1", 60, "BACKUP"),)),
        ("Waiting for backup lock", MARIADB, ()),
    ],
)
def test_r5_blames_the_statement_that_a_read_lock_waits_for(state, flavour, locks):
    seen = looks(applier(state, 60.0), SELECTS, READ_LOCK, AT_WORK)
    found = locked.r5_server_locked(case(looks=seen, flavour=flavour, locks=locks))
    assert found.what == ("FLUSH TABLES of 60, probably behind connection 55 app@web1, runs SELECT FROM t.a")
    assert found.advice == "check it, then KILL 55 on the replica"


@pytest.mark.parametrize(
    "flush",
    [
        process(60, info="", seconds=68.0),  # it has the lock, and waits no more
        READ_LOCK._replace(seconds=120.0),  # the statement is younger
    ],
)
def test_r5_a_read_lock_that_waits_for_no_statement_is_to_blame_itself(flush):
    seen = looks(applier("Waiting for global read lock", 60.0), SELECTS, flush)
    found = locked.r5_server_locked(case(looks=seen, locks=(lock("SHARED", 60),)))
    assert found.what.startswith("global read lock of connection 60 app@web1")


ALTER = process(
    30, "Waiting for table metadata lock", command="Query", info="ALTER TABLE t.a ADD b INT", seconds=70.0
)
QUEUED = applier("Waiting for table metadata lock", 60.0)
READER = process(204, user="root", host="localhost", seconds=180.0)
QUEUE = (
    lock("SHARED_READ", 204, "TABLE", "t.a"),
    lock("SHARED_UPGRADABLE", 30, "TABLE", "t.a"),
    awaits("EXCLUSIVE", 30, "TABLE", "t.a"),
    awaits("SHARED_WRITE", scope="TABLE", table="t.a"),
)


def test_r5_blames_the_reader_before_the_definition_that_the_applier_queues_behind():
    """As metadata_locks of MySQL 9.7.2 shows it: nothing that is granted keeps the applier waiting."""
    found = locked.r5_server_locked(case(looks=looks(QUEUED, READER, ALTER), locks=QUEUE))
    assert found.what == "ALTER TABLE t.a of 30, behind connection 204 root@localhost, idle for 3 min"
    assert found.advice == "KILL 204 on the replica, or let it COMMIT or UNLOCK TABLES"
    assert found.more == ("connection 30 has run ALTER TABLE t.a for 1 min 10 s",)
    unknown = locked.r5_server_locked(case(looks=looks(QUEUED, ALTER), locks=QUEUE[1:]))
    assert unknown.what == "ALTER TABLE t.a of connection 30 app@web1, which waits itself"
    assert unknown.advice == "KILL 30 on the replica, or let it end"


def test_r5_an_applier_at_the_head_of_the_queue_is_not_killed():
    works_on = applier(number=13, seconds=999.0)
    held = (QUEUE[0]._replace(process=13), *QUEUE[1:])
    own = commits(workers=(worker(thread=61),))
    known = snapshot(case().snapshot.channel, commits=own)
    threads = (Thread(61, APPLIER, None),)
    seen = looks(QUEUED, ALTER, works_on)
    found = locked.r5_server_locked(case(known=known, looks=seen, threads=threads, locks=held))
    assert found.advice == "KILL 30 on the replica, or wait for 13"


def test_r6_blames_who_keeps_the_holder_of_the_row_waiting():
    """A client has the row, and waits itself for a table that another one has locked."""
    waits, has = transaction(waiting=40.0, age=41.0), transaction(30, age=600.0)
    opens = ALTER._replace(info="UPDATE t.b SET v = 1")
    held = (lock("SHARED_NO_READ_WRITE", 204, "TABLE", "t.b"), awaits("SHARED_WRITE", 30, "TABLE", "t.b"))
    seen = looks(applier(), READER, opens, transactions=[waits, has])
    found = locked.r6_row_locked(case(looks=seen, row_locks=(RowLock(waits.id, has.id),), locks=held))
    assert found.what == (
        "row lock held by UPDATE t.b of 30, behind connection 204 root@localhost, idle for 3 min"
    )
    assert found.advice == "KILL 204 on the replica, or let it COMMIT or UNLOCK TABLES"


@pytest.mark.parametrize("heads", [1, 2])
def test_r6_where_the_status_shows_no_pairs_the_only_head_is_likely(heads):
    """MariaDB with hundreds that wait for rows, where INNODB_TRX is not asked."""
    waits = transaction(waiting=40.0, age=41.0)
    holders = [transaction(number, age=600.0, locked=1) for number in (204, 205)[:heads]]
    seen = [Look((receiver(), applier(), READER), (waits, *holders), {waits.row: ("t.a", "PRIMARY")})] * 3
    found = locked.r6_row_locked(case(mariadb(), looks=seen, flavour=MARIADB))
    if heads == 1:
        assert found.what.startswith("row lock, probably of connection 204 root@localhost, idle for 3 min")
        assert found.advice == "check it, then KILL 204 on the replica"
    else:
        assert found.what == "row lock for 40 s"


def test_r6_of_several_that_hold_the_row_the_oldest_is_to_blame():
    waits = transaction(waiting=40.0, age=41.0)
    holders = [transaction(204 + number, age=age) for number, age in enumerate((60.0, 90.0, 70.0))]
    pairs = tuple(RowLock(waits.id, one.id) for one in holders)
    seen = looks(applier(), transactions=[*holders, waits])
    assert "connection 205" in locked.r6_row_locked(case(looks=seen, row_locks=pairs)).what


# R1 and R6

TIMED_OUT = "Could not execute Update_rows event on table t.a; Lock wait timeout exceeded; try restarting"
HOLDER = transaction(55, age=400.0, locked=1, modified=1)


def gave_up(*transactions, errno=1205, **more):
    """An applier that stopped with an error 60 s ago."""
    stopped = Thread_("No", "", errno, TIMED_OUT)
    failed = commits(workers=(worker(errno=errno, error=TIMED_OUT, error_at=NOW - 60),))
    known = snapshot(channel(applier=stopped), commits=failed)
    seen = looks(process(), process(56), transactions=transactions)
    return threads_and_link.r1_applier_failed(case(known=known, looks=seen, **more))


def test_r1_names_who_still_has_the_row_lock_that_was_not_had():
    found = gave_up(HOLDER)
    assert found.what == (
        "applier stopped with error 1205, row lock probably of connection 55 app@web1, idle for 10 min 40 s"
    )
    assert found.advice == "check it, then KILL 55, then START REPLICA SQL_THREAD"
    assert "error 1205 1 min ago: Update_rows on t.a, Lock wait timeout exceeded" in found.more[0]


def test_r1_of_two_the_one_that_uses_the_table_has_the_row_lock():
    other = transaction(56, age=400.0, locked=1)
    uses = (lock("SHARED_WRITE", 55, "TABLE", "t.a"), lock("SHARED_WRITE", 56, "TABLE", "t.b"))
    assert "connection 55" in gave_up(HOLDER, other, locks=uses).what


@pytest.mark.parametrize(
    ("transactions", "more"),
    [
        ((), {}),
        ((HOLDER, transaction(56, age=400.0, locked=1)), {}),
        ((HOLDER._replace(age=100.0),), {}),  # began after the last wait
        ((HOLDER._replace(locked=0, modified=0),), {}),
        ((HOLDER,), {"errno": 1213}),
    ],
)
def test_r1_names_nobody_where_it_is_not_known_who_has_it(transactions, more):
    assert "probably" not in gave_up(*transactions, **more).what


# R6


BLOCKED = transaction(waiting=40.0, age=41.0)
BLOCKER = transaction(55, age=640.0)
CHECK = "check it, then KILL 55 on the replica"
LONG = Lag(seconds=640.0, high=640.0)


def retried(of, times=1):
    """A case whose applier began its transaction anew after a lock wait timeout, on either product."""
    if of.signals.flavour is MARIADB:
        before = Before(10.0, 50.0, Contact(HERE, "", None), 0.0, applied=HERE, retries=4)
        known = of.snapshot._replace(channel=mariadb(applier=busy(), retries=4 + times), before=before)
    else:
        workers = (worker(applying="x:5", applying_since=NOW - 100.0, retries=times),)
        known = of.snapshot._replace(commits=commits(workers=workers))
    return of._replace(snapshot=known)


@pytest.mark.parametrize("flavour", [MYSQL, MARIADB])
def test_r6_a_wait_goes_on_after_its_timeout(flavour):
    """Until 29 s after one timeout of 50 s it had been 81 s (measured)."""
    pair = (RowLock(BLOCKED.id, BLOCKER.id),)
    for waiting, said in ((0.0, "50 s"), (29.0, "1 min 19 s")):
        again = BLOCKED._replace(waiting=waiting, age=waiting)
        seen = looks(applier(), process(), transactions=[again, BLOCKER])
        known = case(looks=seen, row_locks=pair, flavour=flavour, lag=LONG)
        found = locked.r6_row_locked(retried(known))
        assert found.what == "row lock of connection 55 app@web1, idle for 10 min 40 s"
        assert found.more == (f"probably waiting for that row lock for {said}",)
        if not waiting:
            assert locked.r6_row_locked(known) is None
    short = case(
        looks=seen, row_locks=pair, flavour=flavour, lag=LONG, settings={"innodb_lock_wait_timeout": "10"}
    )
    assert locked.r6_row_locked(retried(short, times=4)).more[0].endswith("row lock for 1 min 9 s")


@pytest.mark.parametrize("flavour", [MYSQL, MARIADB])
def test_r6_a_retry_is_no_row_lock_where_no_transaction_is_seen(flavour):
    """An account without PROCESS, a retry for a deadlock, and one long transaction."""
    blind = retried(case(looks=looks(applier()), flavour=flavour, lag=Lag(seconds=20.0, high=20.0)))
    assert locked.r6_row_locked(blind) is None
    assert not blind.waits


@pytest.mark.parametrize("flavour", [MYSQL, MARIADB])
def test_r6_no_wait_is_longer_than_the_lag(flavour):
    seen = looks(applier(), process(), transactions=[BLOCKED._replace(waiting=6.0, age=6.0), BLOCKER])
    pair = (RowLock(BLOCKED.id, BLOCKER.id),)
    known = case(looks=seen, row_locks=pair, flavour=flavour, lag=Lag(seconds=20.0, high=20.0))
    found = locked.r6_row_locked(retried(known, times=3))
    assert found.more == ("probably waiting for that row lock for 20 s",)


def test_r6_no_wait_is_longer_than_the_transaction_is_applied():
    seen = looks(applier(), process(), transactions=[BLOCKED._replace(waiting=6.0, age=6.0), BLOCKER])
    known = retried(case(looks=seen, row_locks=(RowLock(BLOCKED.id, BLOCKER.id),), lag=LONG), times=3)
    assert locked.r6_row_locked(known).more == ("probably waiting for that row lock for 1 min 40 s",)


def test_r6_a_wait_for_a_moment_is_not_to_blame():
    """An UPDATE of ten minutes that stands where the last look saw it."""
    seen = looks(applier(), process(), transactions=[BLOCKED._replace(waiting=0.5, age=600.0), BLOCKER])
    pair = (RowLock(BLOCKED.id, BLOCKER.id),)
    for times in (0, 1):  # a retry for a deadlock
        stands = retried(case(looks=seen, row_locks=pair, flavour=MARIADB, lag=LONG), times=times)
        assert [one.rule for one in explain(stands)] == ["R10"]


def test_r6_a_wait_that_has_just_begun_is_likely_where_the_applier_stands():
    """The timeout came between the status, which does not count it yet, and the looks."""
    again = BLOCKED._replace(waiting=2.0, age=2.0)
    seen = looks(applier(), process(), transactions=[again, BLOCKER])
    pair = (RowLock(again.id, BLOCKER.id),)
    stands = retried(case(looks=seen, row_locks=pair, flavour=MARIADB), times=0)
    found = locked.r6_row_locked(stands)
    assert found.what == "probably a row lock of connection 55 app@web1, idle for 10 min 40 s"
    assert found.advice == CHECK
    moves = mariadb(applier=busy(), applied=HERE._replace(offset=1), retries=4)
    assert locked.r6_row_locked(stands._replace(snapshot=stands.snapshot._replace(channel=moves))) is None
    began = looks(applier(), process(), transactions=[BLOCKED._replace(waiting=50.0), BLOCKER], times=1)
    both = stands._replace(signals=stands.signals._replace(looks=[*began, *seen[1:]]))
    assert locked.r6_row_locked(both).what.startswith("row lock of connection 55")


@pytest.mark.parametrize("flavour", [MYSQL, MARIADB])
def test_r6_between_two_tries_the_only_old_transaction_is_likely(flavour):
    holder = BLOCKER._replace(locked=1)
    young, reads = transaction(57, age=3.0, locked=5), transaction(58, age=900.0)
    seen = looks(applier(), process(), process(57), process(58), transactions=[holder, young, reads])
    paused = case(looks=seen, flavour=flavour, lag=LONG)
    found = locked.r6_row_locked(retried(paused))
    assert found.what == "row lock, probably of connection 55 app@web1, idle for 10 min 40 s"
    assert found.more == ("probably waiting for that row lock for 50 s",)
    assert found.advice == CHECK
    assert locked.r6_row_locked(paused) is None
    several = case(
        looks=looks(applier(), transactions=[holder, holder._replace(process=59)]), flavour=flavour, lag=LONG
    )
    assert locked.r6_row_locked(retried(several)).what == "probably a row lock for 50 s"


@pytest.mark.parametrize("flavour", [MYSQL, MARIADB])
def test_r6_a_transaction_that_got_its_row_at_last_waits_no_more(flavour):
    works = looks(applier(), process(), transactions=[transaction(age=30.0, modified=9), BLOCKER])
    assert locked.r6_row_locked(retried(case(looks=works, flavour=flavour))) is None


def test_who_waits_for_a_row_is_no_long_transaction_nor_one_thread_that_is_slow():
    seen = looks(applier(), transactions=[BLOCKED._replace(waiting=2.0, age=90.0)])
    waits = case(looks=seen, settings={"replica_parallel_workers": "0"}, trend=Trend(0.9, 60.0, 9))
    waits = waits._replace(signals=waits.signals._replace(host=Host(disk="sda", load=DiskLoad(1.0, 0.001))))
    assert explain(waits) == []
    other = transaction(13, age=90.0, modified=5)
    both = looks(applier(), applier(number=13), transactions=[BLOCKED, other])
    assert applying.r10_one_transaction(case(looks=both)).what.startswith("one transaction has run")


# R9


SCANNED = counted(seconds=1.0, Handler_read_rnd_next=2e6, Handler_update=100.0, Handler_delete=0.0)


def scanning(reads, *tables, state=APPLIES, per_change=200.0, **keys):
    own = Scan(APPLIER, tables, reads, per_change)
    return case(looks=looks(applier(state), AT_WORK), scans=(own,), keyless=keys, counted=SCANNED)


def test_r9_on_mysql_by_what_the_applier_s_thread_reads():
    """900 000 rows a second, whoever else scans; nothing shows the statement (9.7.2)."""
    found = applying.r9_no_usable_key(scanning(9e5, "t", "k", t=True, k=False))
    assert found.what == "table t has no usable key (900 000 rows/s read in scans)"
    assert found.advice == "add a primary key"
    assert found.score == 80
    several = applying.r9_no_usable_key(scanning(9e5, "t", "k", t=True, k=True))
    assert several.what.startswith("tables t and k have no key (")
    likely = applying.r9_no_usable_key(scanning(9e5, "t", "k", k=False))
    assert likely.what.startswith("table t or k likely has no usable key (")


def test_r9_on_mysql_against():
    keyed = applying.r9_no_usable_key(scanning(0.0, "k", k=False))
    little = applying.r9_no_usable_key(scanning(5000.0, "t", t=True))
    elsewhere = applying.r9_no_usable_key(scanning(9e5, "t", t=True, state="waiting for handler commit"))
    small = applying.r9_no_usable_key(scanning(9e5, "t", per_change=10.0, t=True))  # 10 rows
    assert [keyed, little, elsewhere, small] == [None] * 4


def test_r10_names_the_table_where_mysql_shows_no_statement():
    large = looks(applier(), transactions=[transaction(age=60.0, modified=160_000)])
    own = Scan(APPLIER, ("t.keyed",), 0.0, 0.0)
    found = applying.r10_one_transaction(case(looks=large, scans=(own,), keyless={"t.keyed": False}))
    assert found.what == "one transaction has run for 1 min (160 000 rows so far, t.keyed)"


def test_r10_a_worker_that_has_no_transaction_pauses_and_is_not_at_work():
    """Between a lock timeout and the next try, where the status does not count that yet (9.7.2)."""
    at_work = worker(thread=61, applying="x:5", applying_since=NOW - 50.0)
    threads = (Thread(61, APPLIER, None),)
    paused = case(looks=looks(applier()), threads=threads)
    paused = paused._replace(snapshot=paused.snapshot._replace(commits=commits(workers=(at_work,))))
    assert applying.r10_one_transaction(paused) is None
    works = paused.signals._replace(looks=looks(applier(), transactions=[transaction(age=1.0)]))
    assert applying.r10_one_transaction(paused._replace(signals=works))
