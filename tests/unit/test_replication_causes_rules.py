"""Each rule, for and against: what it says of a replica in that trouble, and that it is silent otherwise."""

from pathlib import Path

import pytest
from levels import representative
from replication_signals import (
    APPLIER,
    MARIADB,
    MYSQL,
    MYSQL_5_7,
    applier,
    awaits,
    case,
    counted,
    lock,
    looks,
    process,
    receiver,
    seconds_of,
    transaction,
)
from replication_snapshots import IDLE, NOW, before, channel, commits, mariadb, snapshot, source, worker
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.locks.rows import RowLock
from stallwatch.probes.mysql.processes import Last, Program, Thread
from stallwatch.probes.replication_lag import causes
from stallwatch.probes.replication_lag.causes import applying, explain, locked, storing, threads_and_link
from stallwatch.probes.replication_lag.causes.case import ON_THE_LINE, SLOW, Cause, rule
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.model import Heartbeat
from stallwatch.probes.replication_lag.model import Thread as ChannelThread
from stallwatch.probes.replication_lag.signals import Host, Signals, can_compare, differences
from stallwatch.probes.replication_lag.signals.backups import Backup
from stallwatch.probes.replication_lag.trend import Trend
from stallwatch.sources.host import DiskLoad


def down(errno=0, error="", running="No"):
    return ChannelThread(running, "", errno, error)


def test_a_function_with_the_decorator_is_a_rule(monkeypatch):
    @rule(SLOW)
    def r99_new(_):
        return Cause(99, "a new cause")

    monkeypatch.setattr(causes, "RULES", (*causes.RULES, r99_new))
    known = case(counted=redo_log(97e6, Innodb_lsn_current=10e6))
    assert [(cause.rule, cause.what) for cause in explain(known)] == [("R99", "a new cause")]


def test_no_two_rules_have_one_number():
    numbers = [one.number for one in causes.RULES]
    assert len(numbers) == len(set(numbers)) == 30


def test_all_modules_of_causes_are_looked_at():
    folder = Path(causes.__file__).parent
    having = {path.stem for path in folder.glob("*.py") if "\n@rule(" in path.read_text()}
    assert {one.find.__module__.rpartition(".")[2] for one in causes.RULES} == having


def test_each_rule_that_is_implied_is_there():
    implied = {name for one in causes.RULES for name in (*one.implies, *one.but_not)}
    assert implied - {SLOW} <= {one.name for one in causes.RULES}


def test_nothing_wrong_nothing_explained():
    assert explain(case()) == []
    assert explain(case(looks=[], counted=[], settings={}, flavour=None)) == []


# R1 and R2; R3 is in test_replication_causes_receiver.py


def test_r1_tells_the_error_and_what_to_do():
    error = "Could not execute Write_rows_v1 event on table t.a; Duplicate entry '1' for key 'PRIMARY'"
    error += ", Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY; the event's master log bin.000001"
    found = threads_and_link.r1_applier_failed(case(mariadb(applier=down(1062, error)), flavour=MARIADB))
    assert found.what == "the applier stopped with error 1062: Write_rows on t.a"
    assert found.advice == "compare this row with the source"
    assert found.more == ("error 1062: Write_rows on t.a, Duplicate entry '1' for key 'PRIMARY'",)


def test_r1_lets_the_worker_speak_that_failed():
    text = (
        "Worker 1 failed executing transaction 'b0c6f8d6-e537-11f1-b3bb-02fc00000001:25' at source log"
        " binlog.000001, end_log_pos 5501; Could not find record in 't', Error_code: 1032"
    )
    failed = commits(workers=(worker(), worker(errno=1032, error=text, error_at=NOW - 120)))
    known = snapshot(channel(applier=down(1032, "Coordinator stopped because ...")), commits=failed)
    found = threads_and_link.r1_applier_failed(case(known=known))
    assert found.what == "the applier stopped with error 1032 2 min ago: Could not find record in 't'"


def test_r1_cuts_long_words_short():
    long = "x" * representative(2_000_000, every=16_000_000)
    found = threads_and_link.r1_applier_failed(case(channel(applier=down(9999, long))))
    assert len(found.what) < 200
    assert found.advice


def test_r1_against():
    assert threads_and_link.r1_applier_failed(case()) is None
    assert threads_and_link.r1_applier_failed(case(channel(applier=down()))) is None


def test_r2_by_hand():
    (found,) = explain(case(channel(applier=down())))
    assert (found.rule, found.what) == ("R2", "the applier is stopped, without an error")
    assert found.advice == "find out who stopped it, then START REPLICA SQL_THREAD"


@pytest.mark.parametrize(
    ("flavour", "name", "expected"),
    [
        (MYSQL, "east", "START REPLICA SQL_THREAD FOR CHANNEL 'east'"),
        (MYSQL_5_7, "east", "START SLAVE SQL_THREAD FOR CHANNEL 'east'"),
        (MARIADB, "east", "START SLAVE 'east' SQL_THREAD"),
        (MARIADB, "", "START SLAVE SQL_THREAD"),
    ],
)
def test_r2_writes_the_statement_of_each_version(flavour, name, expected):
    found = threads_and_link.r2_applier_stopped(case(channel(name=name, applier=down()), flavour=flavour))
    assert found.advice.endswith(f", then {expected}")


STOPS = Backup("mariabackup", 26920, (165,), 7200.0, stops_applier=True)


@pytest.mark.parametrize(
    "running",
    [STOPS._replace(stops_applier=False), STOPS._replace(certain=False), STOPS._replace(seconds=5.0)],
)
def test_r2_a_backup_of_another_kind_or_server_or_time_has_not_stopped_it(running):
    stopped_for_long = case(channel(applier=down()), backups=(running,))._replace(stopped=600.0)
    assert (
        threads_and_link.r2_applier_stopped(stopped_for_long).what
        == "the applier is stopped, without an error"
    )


def test_r2_by_a_backup():
    (found,) = explain(case(channel(applier=down()), backups=(STOPS,)))
    assert (
        found.what == "the applier was stopped, likely by the backup that runs: mariabackup pid 26920 for 2 h"
    )
    assert found.score == 95


def test_r2_a_dump_does_not_stop_appliers():
    found = threads_and_link.r2_applier_stopped(
        case(channel(applier=down()), backups=(Backup("mysqldump", 5),))
    )
    assert found.what == "the applier is stopped, without an error"


def test_r2_against():
    assert threads_and_link.r2_applier_stopped(case()) is None
    assert threads_and_link.r2_applier_stopped(case(channel(applier=down(1062, "x")))) is None


# R4, R7, R8, R24


def silent(**changes):
    return Lag(seconds=52.0, high=52.0, contact_age=52.0, silent=True)._replace(**changes)


def test_r4_a_silent_link():
    (found,) = explain(case(channel(), silent()))
    assert (found.rule, found.what) == ("R4", ON_THE_LINE)


def test_r4_against():
    assert threads_and_link.r4_link_silent(case(lag=silent(silent=False))) is None
    assert threads_and_link.r4_link_silent(case(channel(receiver=down()), silent())) is None


def delayed(state="Waiting until SOURCE_DELAY seconds after source executed event", **changes):
    return channel(delay=3600.0, remaining_delay=20.0, applier=ChannelThread("Yes", state, 0, ""))._replace(
        **changes
    )


def test_r7_an_intended_delay():
    (found,) = explain(case(delayed(), Lag(seconds=0.5, delayed=3600.0)))
    assert (found.rule, found.what) == ("R7", ON_THE_LINE)
    assert threads_and_link.r7_delayed_on_purpose(case(delayed(remaining_delay=None), Lag(seconds=0.5)))


def test_r7_against():
    assert threads_and_link.r7_delayed_on_purpose(case(delayed(), Lag(seconds=900.0))) is None
    assert (
        threads_and_link.r7_delayed_on_purpose(
            case(delayed("Reading", remaining_delay=None), Lag(seconds=1.0))
        )
        is None
    )
    assert threads_and_link.r7_delayed_on_purpose(case(lag=Lag(seconds=1.0))) is None


def test_r8_most_of_the_lag_is_transport():
    """Recorded on 8.0.46 with a link of 60 kB/s: 33.6 of 34.8 s."""
    known = snapshot(before=before())
    (found,) = explain(case(known=known, lag=Lag(seconds=34.8, transport=33.6, apply=1.2)))
    assert found.what == "receiver does not keep up (transport 34 s)"


def test_r8_at_a_first_look_it_may_be_a_clock_that_was_set():
    """The source's, while the receiver was connected: Seconds_Behind and commit times say as much then."""
    (found,) = explain(case(lag=Lag(seconds=34.8, transport=33.6, apply=1.2)))
    assert found.what == "receiver probably does not keep up (transport 34 s)"
    assert "or the clock of the source was set while it was connected" in found.more[1]
    compared = snapshot(source=source(clock_ahead=0.0))
    (found,) = explain(case(known=compared, lag=Lag(seconds=34.8, transport=33.6, apply=1.2)))
    assert "probably" not in found.what


def test_r8_on_mariadb_by_the_source_s_gtids():
    """Recorded on 10.11.19: Seconds_Behind 0, 745 transactions not here."""
    known = snapshot(mariadb(), source=source(missing=745, not_received=745))
    found = threads_and_link.r8_receiver_bound(case(known=known, lag=Lag(seconds=36.0)))
    assert "(745 transactions of db1:3306 have not arrived, the relay log is empty)" in found.what


def test_r8_against():
    assert threads_and_link.r8_receiver_bound(case(lag=Lag(seconds=34.8, transport=10.0))) is None
    assert threads_and_link.r8_receiver_bound(case(lag=Lag(seconds=4.0, transport=3.9))) is None
    busy = snapshot(case().snapshot.channel, source=source(not_received=745))
    assert threads_and_link.r8_receiver_bound(case(known=busy)) is None
    cut_off = channel(receiver=down())
    assert threads_and_link.r8_receiver_bound(case(cut_off, Lag(seconds=34.8, transport=33.6))) is None


def heartbeat(age, source_age):
    return snapshot(heartbeat=Heartbeat(age, 101, "percona.heartbeat", source_age=source_age))


def test_r24_a_writer_that_is_dead():
    (found,) = explain(case(known=heartbeat(600.0, 600.0), lag=Lag(seconds=600.0)))
    assert found.what == "no process writes the heartbeats of server 101, 10 min old on the source, too"
    assert found.rule == "R24"


@pytest.mark.parametrize(
    "known", [heartbeat(600.0, 1.0), heartbeat(600.0, None), heartbeat(1.0, 1.0), snapshot()]
)
def test_r24_against(known):
    assert threads_and_link.r24_heartbeat_dead(case(known=known)) is None


# R5 and R6


HELD = lock("SHARED", 204)
AWAITED = awaits("INTENTION_EXCLUSIVE")
HOLDER = process(204, user="root", host="localhost", seconds=210.0)
WAITS = applier("Waiting for global read lock", 209.0)


def test_r5_names_who_holds_the_lock():
    (found,) = explain(
        case(looks=looks(WAITS, HOLDER), locks=(HELD, AWAITED), programs={204: Program("mysqldump", 32318)})
    )
    assert found.what == (
        "global read lock of connection 204 root@localhost (mysqldump pid 32318), idle for 3 min 30 s"
    )
    assert found.advice == "let that backup end, or KILL 204 on the replica"


def test_r5_without_a_holder_says_where_to_look():
    waits = applier("Waiting for backup lock", 12.0, command="Slave_SQL")
    found = locked.r5_server_locked(case(mariadb(), looks=looks(waits), flavour=MARIADB))
    assert found.what == 'the applier has been "Waiting for backup lock" for 12 s'
    assert found.advice == (
        "find FLUSH TABLES WITH READ LOCK or a backup in SHOW FULL PROCESSLIST or INNODB_TRX"
    )
    found = locked.r5_server_locked(case(looks=looks(WAITS, HOLDER)))
    assert found.what == 'the applier has been "Waiting for global read lock"'
    assert found.advice == "see performance_schema.metadata_locks for who holds it"
    found = locked.r5_server_locked(case(looks=looks(WAITS, HOLDER), flavour=MYSQL_5_7))
    assert "off by default" in found.more[0]


def test_r5_a_table_s_lock_and_the_backup_lock():
    waits = applier("Waiting for table metadata lock", 9.0)
    held = (
        lock("SHARED_READ_ONLY", 204, "TABLE", "t.a"),
        awaits("SHARED_WRITE", scope="TABLE", table="t.a"),
    )
    found = locked.r5_server_locked(case(looks=looks(waits, HOLDER), locks=held))
    assert "metadata lock on t.a of connection 204" in found.what
    held = (
        lock("SHARED", 204, "BACKUP LOCK", ""),
        awaits("INTENTION_EXCLUSIVE", scope="BACKUP LOCK", table=""),
    )
    waits = applier("Waiting for backup lock", 9.0)
    holds = (Backup("", None, (204,), 210.0),)
    (found,) = explain(case(looks=looks(waits, HOLDER), locks=held, backups=holds))
    assert "backup lock of connection 204" in found.what
    assert found.advice == "let that backup end, or KILL 204 on the replica"


def test_r5_nobody_is_told_to_kill_an_applier():
    other = lock("SHARED", 13)
    seen = looks(WAITS, HOLDER, applier(number=13, seconds=999.0))
    own = commits(workers=(worker(thread=61),))
    threads = (Thread(61, APPLIER, None),)
    known = snapshot(case().snapshot.channel, commits=own)
    both = case(known=known, looks=seen, threads=threads, locks=(HELD, other, AWAITED))
    assert "KILL 204" in locked.r5_server_locked(both).advice
    alone = case(known=known, looks=seen, threads=threads, locks=(other, AWAITED))
    assert "KILL" not in locked.r5_server_locked(alone).advice


def test_r5_needs_two_looks_of_three():
    once = [*looks(WAITS, times=1), *looks(applier(), times=2)]
    twice = [*looks(WAITS, times=2), *looks(applier(), times=1)]
    assert locked.r5_server_locked(case(looks=once)) is None
    assert locked.r5_server_locked(case(looks=twice))
    assert locked.r5_server_locked(case(looks=looks(WAITS, times=1)))


def test_r5_against():
    assert locked.r5_server_locked(case(locks=(HELD,))) is None
    assert locked.r5_server_locked(case(looks=looks(WAITS._replace(seconds=2.0)))) is None
    other = process(9, "Waiting for global read lock", seconds=99.0)
    assert locked.r5_server_locked(case(looks=looks(applier(), other))) is None


def test_r5_of_one_channel_is_not_the_other_s():
    own = commits(workers=(worker(thread=61),), coordinator_thread=60)
    known = snapshot(case().snapshot.channel, commits=own)
    threads = (Thread(60, 30, None), Thread(61, 31, None), Thread(71, APPLIER, None))
    seen = looks(WAITS, applier(number=31))
    assert locked.r5_server_locked(case(known=known, looks=seen, threads=threads)) is None
    assert locked.r5_server_locked(case(known=known, looks=seen))


BLOCKED = transaction(waiting=40.0, age=41.0)
BLOCKER = transaction(55, age=640.0)


def test_r6_names_who_holds_the_row():
    found = explain(
        case(
            looks=looks(applier(), process(), transactions=[BLOCKED, BLOCKER]),
            row_locks=(RowLock(BLOCKED.id, BLOCKER.id),),
        )
    )
    assert [cause.rule for cause in found] == ["R6"]
    assert found[0].what == ("row lock of connection 55 app@web1, idle for 10 min 40 s")
    assert found[0].advice == "KILL 55 on the replica, or let it commit"


def test_r6_blames_the_root_of_a_chain():
    between = transaction(56, age=100.0, waiting=90.0)
    seen = looks(applier(), process(), transactions=[BLOCKED, between, BLOCKER])
    chain = (
        RowLock(BLOCKED.id, between.id),
        RowLock(between.id, BLOCKER.id),
        RowLock(BLOCKER.id, BLOCKED.id),
    )
    assert "KILL 55" in locked.r6_row_locked(case(looks=seen, row_locks=chain)).advice


def test_r6_without_a_blocker_says_where_to_look():
    seen = looks(applier(), transactions=[BLOCKED])
    assert "sys.innodb_lock_waits" in locked.r6_row_locked(case(looks=seen)).advice
    assert "INNODB_LOCK_WAITS" in locked.r6_row_locked(case(looks=seen, flavour=MARIADB)).advice


def test_r6_nobody_is_told_to_kill_an_applier():
    other = transaction(13, age=90.0)
    seen = looks(applier(), applier(number=13), transactions=[BLOCKED, other])
    assert locked.r6_row_locked(case(looks=seen, row_locks=(RowLock(BLOCKED.id, other.id),))) is None


def test_r6_against():
    short = looks(applier(), transactions=[BLOCKED._replace(waiting=2.0)])
    assert locked.r6_row_locked(case(looks=short)) is None
    client = looks(applier(), process(), transactions=[BLOCKER._replace(waiting=99.0)])
    assert locked.r6_row_locked(case(looks=client)) is None
    once = [*looks(applier(), transactions=[BLOCKED], times=1), *looks(applier(), times=2)]
    assert locked.r6_row_locked(case(looks=once)) is None


def second(row, before):
    """A case as it was in this second of a recording."""
    of_channel = mariadb(applier=ChannelThread("Yes", row["st"], 0, ""))
    seen = [
        applier(one["state"], float(one["time"]), command=one["command"], info=one["info"] or "")
        for one in row.get("pl", [])
        if one["command"] != "Slave_IO"  # looks() has one
    ]
    counts = counted(None, row["t"] - before["t"], **{name: float(value) for name, value in row["d"].items()})
    return case(
        of_channel, Lag(seconds=float(row["SBM"])), looks=looks(*seen), counted=counts, flavour=MARIADB
    )


def test_r9_a_table_without_a_key_on_mariadb():
    """Recorded on 10.11.19: 25 s for what took the source 0.07 s."""
    seconds = seconds_of("ma1011_nopk_detail.txt")
    told = [second(*pair) for pair in zip(seconds[1:], seconds, strict=False)]
    found = [applying.r9_no_usable_key(keyless(one, {"t.nopk": True})) for one in told]
    assert found[0].what == "table t.nopk has no usable key (5 700 rows read for each change)"
    assert all(found[:25])
    assert found[-1] is None  # it has read all relay log
    assert found[0].advice == "add a primary key"
    likely = applying.r9_no_usable_key(told[0])
    assert likely.what.startswith("table t.nopk likely has no usable key (5 700 rows")
    assert likely.advice == "see the keys of t.nopk"
    assert not any(applying.r9_no_usable_key(keyless(one, {"t.nopk": False})) for one in told)


def keyless(of, tables):
    return of._replace(signals=of.signals._replace(keyless=tables))


def test_r9_mysql_hashes_the_rows():
    seconds = seconds_of("my97_nopk_detail.txt")
    for row, earlier in zip(seconds[1:], seconds, strict=False):
        at_work = [applier("Applying batch of row changes (update)")] * bool(row["stmt"])
        counts = counted(
            None, row["t"] - earlier["t"], **{name: float(value) for name, value in row["d"].items()}
        )
        assert applying.r9_no_usable_key(case(looks=looks(*at_work), counted=counts)) is None


def scan(read=2e6, changed=100.0):
    return counted(seconds=1.0, Handler_read_rnd_next=read, Handler_update=changed, Handler_delete=0.0)


def test_r9_does_not_blame_a_key_for_what_others_read():
    """A keyed UPDATE that waits for a row, beside a scan of a million rows (10.11.19)."""
    alone = looks(applier())
    assert applying.r9_no_usable_key(case(counted=scan(), looks=alone)).score < 70
    reads = process(command="Query", info="SELECT * FROM big", state="Sending data")
    assert applying.r9_no_usable_key(case(counted=scan(), looks=looks(applier(), reads))) is None
    waits = looks(applier(), transactions=[BLOCKED])
    assert applying.r9_no_usable_key(case(counted=scan(), looks=waits)) is None
    assert applying.r9_no_usable_key(case(counted=scan(), looks=alone, backups=(BACKUP,))) is None
    updates = applier(info="UPDATE `nopk` SET a = 1", database="t")
    known = case(counted=scan(), looks=looks(updates, reads), keyless={"t.nopk": True})
    found = applying.r9_no_usable_key(known)
    assert found.what == "probably each changed row is looked for in all of table t.nopk, which has no key"
    assert found.score == 64


def test_r9_against():
    assert applying.r9_no_usable_key(case(counted=scan(read=5000.0))) is None
    assert applying.r9_no_usable_key(case(counted=scan(changed=5000.0))) is None
    dump = looks(applier("waiting for handler commit"), process(command="Query"))
    assert applying.r9_no_usable_key(case(counted=scan(), looks=dump)) is None
    assert applying.r9_no_usable_key(case()) is None


# R10


def test_r10_a_long_transaction():
    long = transaction(age=1800.0, modified=1_200_000)
    found = explain(case(lag=Lag(seconds=1900.0), looks=looks(applier(), transactions=[long])))
    assert [cause.what for cause in found] == ["one transaction has run for 30 min (1.2 million rows so far)"]


@pytest.mark.parametrize(
    ("modified", "advice"),
    [
        (1_200_000, "wait, then split such transactions on the source"),
        (3, "look at its keys, triggers, functions"),
        (0, "look at its keys, triggers, functions"),
        (9_000, "wait, and see in the source's binary log how many rows it changes"),
    ],
)
def test_r10_advises_to_split_only_what_changes_many_rows(modified, advice):
    long = transaction(age=60.0, modified=modified)
    found = applying.r10_one_transaction(case(looks=looks(applier(), transactions=[long])))
    assert found.advice == advice


def test_r10_does_not_advise_to_split_where_nothing_counts_the_rows():
    at_work = worker(thread=61, applying="x:5", applying_since=NOW - 300, applying_commit=NOW - 310)
    known = snapshot(case().snapshot.channel, commits=commits(workers=(at_work,)))
    assert "split" not in applying.r10_one_transaction(case(known=known)).advice


def test_r10_by_the_worker_and_its_statement():
    at_work = worker(thread=61, applying="x:5", applying_since=NOW - 300, applying_commit=NOW - 310)
    known = snapshot(case().snapshot.channel, commits=commits(workers=(at_work,)))
    alters = applier("altering table", info="ALTER TABLE t.a ADD COLUMN c INT")
    found = applying.r10_one_transaction(
        case(known=known, looks=looks(alters), threads=(Thread(61, APPLIER, None),))
    )
    assert found.what == "one transaction has run for 5 min (ALTER TABLE t.a)"
    assert found.advice == "wait for it"


def test_r10_an_alter_on_mariadb():
    alters = applier("copy to tmp table", 400.0, command="Slave_SQL", info="alter table t.a engine=innodb")
    found = applying.r10_one_transaction(case(mariadb(), looks=looks(alters), flavour=MARIADB))
    assert found.what == "one transaction has run for 6 min 40 s (ALTER TABLE t.a)"


def test_r10_against():
    young = looks(applier(), transactions=[transaction(age=4.0)])
    assert applying.r10_one_transaction(case(looks=young)) is None
    half = looks(applier(), transactions=[transaction(age=100.0)])
    assert applying.r10_one_transaction(case(looks=half, lag=Lag(seconds=900.0))) is None
    client = looks(applier(), process(), transactions=[transaction(55, age=9000.0)])
    assert applying.r10_one_transaction(case(looks=client)) is None
    updates = looks(applier("", 900.0, info="update t set a = 1", command="Slave_SQL"))
    assert applying.r10_one_transaction(case(looks=updates, flavour=MARIADB)) is None


# R11 and InnoDB


def redo_log(age, **more):
    return counted(None, 1.0, Innodb_checkpoint_age=age, Innodb_checkpoint_max_age=100e6, **more)


def test_r11_a_redo_log_near_its_stall_point():
    (found,) = explain(case(counted=redo_log(97e6, Innodb_lsn_current=10e6)))
    assert found.what == "the redo log is 97 % full"
    assert found.more == (
        "92.5 MiB of the 95.4 MiB at which writers wait are in the redo log",
        "it holds 10 s of writes, an hour would be better",
    )
    assert found.score == 75
    assert "innodb_log_file_size" in found.advice


def test_r11_is_worse_when_full_or_when_writers_waited():
    assert storing.r11_redo_full(case(counted=redo_log(99e6))).score == 83
    found = storing.r11_redo_full(case(counted=redo_log(50e6, log_on_file_space_waits=204.0)))
    assert found.score == 83
    assert "writers waited 204 times" in found.what
    assert storing.r11_redo_full(case(counted=redo_log(50e6, buffer_flush_sync_total_pages=9.0))).score == 75


def test_r11_against():
    assert storing.r11_redo_full(case(counted=redo_log(75e6, log_on_file_space_waits=0.0))) is None
    assert storing.r11_redo_full(case(counted=redo_log(75e6, Innodb_log_waits=99.0))) is None
    assert storing.r11_redo_full(case()) is None


def load(busy, wait=0.04):
    return Host(disk="sda", load=DiskLoad(busy, wait), processors=8)


BACKUP = Backup("mariabackup", 26920, (165,), 7200.0)


def test_r12_a_backup_beside_a_busy_disk():
    (found,) = explain(case(backups=(BACKUP,), host=load(97.0)))
    assert found.what == "mariabackup pid 26920 for 2 h, sda 97 % busy"
    assert found.score == 77  # less than what the applier shows: 84 it would be
    fast = Host(disk="nvme0n1", load=DiskLoad(97.0, 0.0001))
    assert storing.r12_backup_runs(case(backups=(BACKUP,), host=fast)).score == 60


def test_r12_the_lag_began_with_it():
    """11 h of lag in the 24 h that a backup took: "Mystery Solved: Replication lag in InnoDB"."""
    day = BACKUP._replace(seconds=86400.0)
    found = storing.r12_backup_runs(
        case(lag=Lag(seconds=39600.0), trend=Trend(0.458, 3600.0, 12), backups=(day,))
    )
    assert found.what == "mariabackup pid 26920 for 1 d"
    assert found.more[0] == "the lag began with the backup"
    assert found.score == 77
    hour = BACKUP._replace(seconds=3600.0)
    found = storing.r12_backup_runs(
        case(lag=Lag(seconds=39600.0), trend=Trend(0.458, 3600.0, 12), backups=(hour,))
    )
    assert found.score == 60


def test_r12_who_cannot_be_placed_weighs_less():
    found = storing.r12_backup_runs(case(backups=(BACKUP._replace(certain=False),)))
    assert (found.score, found.explains) == (30, False)
    assert found.what == "mariabackup pid 26920 for 2 h on this host, of this server or another"
    both = (BACKUP, Backup("dump", None, (9,)))
    assert "dump connection 9 runs, too" in storing.r12_backup_runs(case(backups=both)).more


def test_r12_against():
    assert storing.r12_backup_runs(case(host=load(97.0))) is None


def test_r12_is_r5_where_the_backup_holds_the_lock():
    holds = (Backup("mysqldump", 32318, (204,), 210.0),)
    found = explain(case(looks=looks(WAITS, HOLDER), locks=(HELD, AWAITED), backups=holds))
    assert [cause.rule for cause in found] == ["R5"]
    assert "(mysqldump pid 32318)" in found[0].what


def test_r13_a_busy_disk():
    (found,) = explain(case(host=load(98.0)))
    assert found.what == "disk sda is 98 % busy, a request takes 40 ms"
    assert [cause.rule for cause in explain(case(host=load(98.0), backups=(BACKUP,)))] == ["R12"]


def test_r13_against():
    assert storing.r13_disk_busy(case(host=load(60.0))) is None
    assert storing.r13_disk_busy(case()) is None


def texts(**status):
    (first, last) = counted(Uptime=240.0)
    return [
        first,
        last._replace(texts={f"Innodb_buffer_pool_{name}_status": text for name, text in status.items()}),
    ]


def test_r14_a_buffer_pool_that_is_loaded():
    (found,) = explain(case(counted=texts(load="Loaded 3100/10000 pages")))
    assert found.what == "buffer pool load 31 %, the server runs for 4 min"
    assert "innodb_buffer_pool_load_abort" in found.advice


def test_r14_a_dump_and_the_old_variable():
    found = storing.r14_buffer_pool_dumped(case(counted=texts(dump="Dumping buffer pool(s) to /x")))
    assert (found.what, found.advice) == ("buffer pool dump", "wait for it")
    found = storing.r14_buffer_pool_dumped(case(settings={"innodb_auto_lru_dump": "ON"}))
    assert found.advice == "SET GLOBAL innodb_auto_lru_dump = 0"


def test_r14_against():
    rest = texts(
        load="Buffer pool(s) load completed at 261120 23:37:30", dump="Dumping of buffer pool not started"
    )
    assert storing.r14_buffer_pool_dumped(case(counted=rest)) is None
    assert storing.r14_buffer_pool_dumped(case(settings={"innodb_auto_lru_dump": "OFF"})) is None


def test_r15_a_status_that_hangs():
    hangs = process(31, command="Query", info="show engine innodb status", seconds=130.0)
    (found,) = explain(case(looks=looks(applier(), hangs)))
    assert found.what == "SHOW ENGINE INNODB STATUS of connection 31 hangs for 2 min 10 s"
    assert storing.r15_innodb_status_hangs(case(looks=looks(applier(), hangs._replace(seconds=2.0)))) is None


def test_r18_reads_that_wait():
    reads = counted(
        None, 1.0, Innodb_buffer_pool_reads=500.0, Innodb_buffer_pool_read_requests=20_000.0,
        Innodb_data_pending_reads=3.0, Innodb_buffer_pool_wait_free=0.0,
    )  # fmt: skip
    waiting = [reads[0]._replace(numbers=reads[0].numbers | {"Innodb_data_pending_reads": 2.0}), reads[1]]
    found = storing.r18_buffer_pool_small(case(counted=waiting))
    assert found.what == "2.5 % of the pages come from the disk (500 per second)"
    assert storing.r18_buffer_pool_small(case(counted=reads)) is None
    assert storing.r18_buffer_pool_small(case(counted=reads, host=load(70.0)))
    freed = counted(Innodb_buffer_pool_wait_free=7.0)
    assert "7 waits for a free page" in storing.r18_buffer_pool_small(case(counted=freed)).what
    assert storing.r18_buffer_pool_small(case()) is None


def test_r20_a_reader_that_holds_purge_up():
    history = counted(Innodb_history_list_length=1_500_000.0)
    reader = looks(applier(), process(), transactions=[transaction(55, age=7200.0)])
    found = storing.r20_history_long(case(counted=history, looks=reader))
    assert (
        found.what == "purge is 1.5 million transactions behind one of connection 55 app@web1, open for 2 h"
    )
    assert "KILL" not in found.advice
    prepared = looks(applier(), transactions=[transaction(0, age=4000.0, modified=10)])
    found = storing.r20_history_long(case(counted=history, looks=prepared))
    assert "XA RECOVER" in found.advice
    assert "connection 0" not in found.what
    other_channel = looks(applier(), applier(number=13), transactions=[transaction(13, age=7200.0)])
    assert storing.r20_history_long(case(counted=history, looks=other_channel)) is None
    assert storing.r20_history_long(case(counted=history)) is None
    short = counted(trx_rseg_history_len=2000.0)
    assert storing.r20_history_long(case(counted=short, looks=reader)) is None


def test_r21_no_space_for_relay_logs():
    state = "Waiting for the replica SQL thread to free enough relay log space"
    throttled = channel(receiver=ChannelThread("Yes", state, 0, ""))
    found = storing.r21_no_relay_space(case(throttled, settings={"relay_log_space_limit": "1073741824"}))
    assert found.what == "the receiver waits, relay_log_space_limit (1 GiB) is reached"
    found = storing.r21_no_relay_space(case(host=Host(free=500 << 20)))
    assert found.what == "only 500 MiB are free where the data is"
    assert not found.explains
    assert storing.r21_no_relay_space(case(host=Host(free=490 << 30))) is None
    assert storing.r21_no_relay_space(case()) is None


def at_work(count):
    """Looks at so many statements, and at us."""
    running = [process(100 + number, command="Query", info="SELECT 1") for number in range(count)]
    us = process(3, command="Query", info="SHOW PROCESSLIST")
    return looks(applier(), process(), us, process(2, command="Binlog Dump GTID"), *running)


def test_r22_other_load():
    found = storing.r22_other_load(case(looks=at_work(48), host=load(10.0)))
    assert found.what == "48 statements run on 8 processors"


def test_r22_against():
    assert storing.r22_other_load(case(looks=at_work(48))) is None
    assert storing.r22_other_load(case(looks=at_work(15), host=load(10.0))) is None
    for state in ("User lock", "User sleep", "Waiting for table metadata lock", "Writing to net"):
        queued = [process(100 + number, state, command="Query", info="SELECT 1") for number in range(48)]
        assert storing.r22_other_load(case(looks=looks(applier(), *queued), host=load(10.0))) is None
    once = [*at_work(48)[:2], *at_work(2)[:1]]
    assert storing.r22_other_load(case(looks=once, host=load(10.0))) is None
    idle = [applier("Waiting for work from SQL thread", number=number) for number in range(100)]
    assert storing.r22_other_load(case(looks=looks(*idle), host=load(10.0))) is None


# R16, R17, R19


SINGLE = {"slave_parallel_threads": "0"}
WHOLE = {"threads": (Thread(61, APPLIER, 4711),), "host": Host(busy_threads={4711: 99.0})}


def test_r16_one_thread_takes_a_processor():
    found = applying.r16_single_threaded(case(settings=SINGLE, **WHOLE))
    assert found.what == "one applier thread takes a whole processor"
    other = (Thread(60, 99, 4711),)  # of another channel
    assert applying.r16_single_threaded(case(settings=SINGLE, **WHOLE | {"threads": other})) is None


@pytest.mark.parametrize(
    ("flavour", "expected"),
    [
        (MARIADB, "MariaDB refuses that while an applier runs"),
        (MYSQL, "the variable holds from the next start of the applier on"),
        (MYSQL_5_7, "slave_preserve_commit_order = ON first"),
    ],
)
def test_r16_says_what_each_server_lets_us_do(flavour, expected):
    found = applying.r16_single_threaded(case(settings=SINGLE, flavour=flavour, **WHOLE))
    assert "SET GLOBAL slave_parallel_threads = 4" in found.advice
    assert found.more[0] == "slave_parallel_threads = 0"
    assert expected in found.more[1]


def test_r16_falls_behind_beside_an_idle_disk():
    rises = Trend(0.4, 600.0, 8)
    found = applying.r16_single_threaded(case(settings=SINGLE, trend=rises, host=load(20.0)))
    assert found.score == pytest.approx(33)
    assert applying.r16_single_threaded(case(settings=SINGLE, trend=rises, host=load(80.0))) is None
    assert applying.r16_single_threaded(case(settings=SINGLE, trend=rises)) is None


def test_r16_against():
    assert applying.r16_single_threaded(case(**WHOLE)) is None
    half = WHOLE | {"host": Host(busy_threads={4711: 40.0})}
    assert applying.r16_single_threaded(case(settings=SINGLE, **half)) is None
    idle = channel(applier=ChannelThread("Yes", IDLE, 0, ""))
    assert applying.r16_single_threaded(case(idle, settings=SINGLE, **WHOLE)) is None


@pytest.mark.parametrize("state", [
    "Waiting for dependent transaction to commit", "Waiting for preceding transaction to commit",
    "Waiting for prior transaction to commit",
])  # fmt: skip
def test_r17_appliers_that_wait_for_one_another(state):
    waiting = [applier(state, number=number) for number in (13, 14, 15)]
    coordinator = applier("Waiting for replica workers to process their queues", number=16)
    (found,) = explain(case(looks=looks(applier(), coordinator, *waiting)))
    assert found.what == "4 appliers wait for one another (1 at work)"


def test_r17_against():
    waiting = applier("Waiting for preceding transaction to commit", number=13)
    assert applying.r17_parallelism_unused(case(looks=looks(applier(), applier(number=14), waiting))) is None
    assert applying.r17_parallelism_unused(case(looks=looks(applier()))) is None
    assert (
        applying.r17_parallelism_unused(
            case(looks=looks(waiting), settings={"replica_parallel_workers": "1"})
        )
        is None
    )


def test_r19_commits_that_take_long():
    known = {"sync_binlog": "1", "innodb_flush_log_at_trx_commit": "1"}
    commits_ = looks(applier("waiting for handler commit"))
    found = applying.r19_commits_slowly(case(looks=commits_, settings=known))
    assert found.what == "the appliers commit 100 % of the time"
    assert found.more[0] == "sync_binlog = 1, innodb_flush_log_at_trx_commit = 1"
    assert len(applying.r19_commits_slowly(case(looks=commits_, settings={})).more) == 1
    nothing_synced = {"sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2"}
    assert "to sync" not in applying.r19_commits_slowly(case(looks=commits_, settings=nothing_synced)).advice
    assert applying.r19_commits_slowly(case(looks=looks(applier("Commit", command="Slave_SQL"))))


def test_r19_against():
    assert applying.r19_commits_slowly(case()) is None
    rarely = [*looks(applier("waiting for handler commit"), times=1), *looks(applier(), times=2)]
    assert applying.r19_commits_slowly(case(looks=rarely)) is None


# what stands before what


def test_the_receiver_comes_before_a_backup():
    found = explain(case(lag=Lag(seconds=312.0, transport=305.0), backups=(BACKUP,)))
    assert [cause.rule for cause in found] == ["R8", "R12"]


def test_a_stopped_applier_explains_all():
    everything = {
        "backups": (Backup("mysqldump", 5),), "host": load(99.0), "counted": redo_log(99e6),
        "looks": looks(WAITS, HOLDER, transactions=[BLOCKED]),
    }  # fmt: skip
    found = explain(case(channel(applier=down(1062, "Duplicate entry")), **everything))
    assert [cause.rule for cause in found] == ["R1"]


def test_both_stopped_are_one_cause_and_started_by_one_statement():
    (found,) = explain(case(channel(applier=down(), receiver=down())))
    assert found.what == "receiver and applier are stopped, without an error"
    assert found.advice == "find out who stopped them, then START REPLICA"


def test_a_stopped_receiver_does_not_hide_an_applier_that_a_backup_stopped():
    found = explain(case(channel(applier=down(), receiver=down(1236, "purged")), backups=(STOPS,)))
    assert [cause.rule for cause in found] == ["R3", "R2"]


def test_a_lock_explains_a_long_transaction():
    long = transaction(age=700.0)
    seen = looks(WAITS, HOLDER, transactions=[long])
    assert [cause.rule for cause in explain(case(looks=seen, locks=(HELD, AWAITED)))] == ["R5"]


def test_what_is_down_leads_whatever_else_is_found():
    everything = {"backups": (BACKUP,), "host": load(97.0), "trend": Trend(0.3, 600.0, 10)}
    found = explain(case(channel(receiver=down()), Lag(seconds=600.0), **everything))
    assert [cause.rule for cause in found] == ["R3", "R12"]
    dead = heartbeat(600.0, 600.0)._replace(channel=channel(receiver=down()))
    found = explain(case(known=dead, lag=Lag(seconds=600.0)))
    assert [cause.rule for cause in found] == ["R3", "R24"]


def test_a_backup_does_not_outrank_a_lock():
    seen = looks(applier(), process(), transactions=[BLOCKED, BLOCKER])
    found = explain(
        case(
            lag=Lag(seconds=600.0), trend=Trend(0.3, 600.0, 10), looks=seen, host=load(97.0),
            backups=(BACKUP,), row_locks=(RowLock(BLOCKED.id, BLOCKER.id),),
        )
    )  # fmt: skip
    assert [cause.rule for cause in found] == ["R6", "R12"]


def test_what_explains_nothing_comes_last():
    """Although a backup that may be another server's has more points than a history that is long."""
    reader = looks(applier(), process(), transactions=[transaction(55, age=7200.0)])
    history = counted(Innodb_history_list_length=1_500_000.0)
    found = explain(
        case(
            lag=Lag(seconds=600.0), trend=Trend(0.3, 600.0, 10), looks=reader, counted=history,
            host=Host(free=1000), backups=(BACKUP._replace(certain=False),),
        )
    )  # fmt: skip
    assert [(cause.rule, cause.explains) for cause in found] == [
        ("R20", True),
        ("R12", False),
        ("R21", False),
    ]


def test_only_what_is_stronger_implies():
    """What is likely does not hide a long transaction, nor another server's backup a busy disk."""
    long = looks(applier(info="UPDATE t.a SET b = 1"), transactions=[transaction(age=70.0)])
    found = explain(case(looks=long, counted=scan()))
    assert [cause.rule for cause in found] == ["R10", "R9"]
    found = explain(case(looks=long, counted=scan(), keyless={"t.a": True}))
    assert [cause.rule for cause in found] == ["R9"]
    found = explain(case(backups=(BACKUP._replace(certain=False),), host=load(98.0)))
    assert [cause.rule for cause in found] == ["R13", "R12"]


def test_no_room_for_relay_logs_is_not_the_link_s_fault():
    state = "Waiting for the replica SQL thread to free enough relay log space"
    full = channel(receiver=ChannelThread("Yes", state, 0, ""), applier=ChannelThread("Yes", "", 0, ""))
    known = case(
        full, Lag(seconds=300.0, transport=290.0, apply=10.0),
        settings=SINGLE | {"relay_log_space_limit": "1000000"}, **WHOLE,
    )  # fmt: skip
    assert [cause.rule for cause in explain(known)] == ["R16", "R21"]


# who must not be blamed, and what must not be advised


def test_nobody_is_told_to_kill_connection_0():
    """A prepared XA transaction whose client is gone has no connection (9.7.2)."""
    prepared = transaction(0, age=640.0)
    seen = looks(applier(), transactions=[BLOCKED, prepared])
    found = locked.r6_row_locked(case(looks=seen, row_locks=(RowLock(BLOCKED.id, prepared.id),)))
    assert found.what == ("row lock of an XA transaction without a connection, open for 10 min 40 s")
    assert "XA RECOVER" in found.advice
    assert "KILL" not in found.advice


COMMITS = process(state="waiting for handler commit", command="Query", seconds=9.0, info="COMMIT")


@pytest.mark.parametrize(
    ("holder", "its", "more", "step"),
    [
        (BLOCKER, process(), {}, NextStep(Step.KILL, (55,))),
        (BLOCKER._replace(modified=999), process(), {}, NextStep(Step.KILL, (55,))),
        (BLOCKER._replace(modified=1000), process(), {}, NextStep(Step.KILL, (55,), rows=1000)),
        (BLOCKER._replace(modified=100_000), process(), {}, NextStep(Step.LET_GO, (55,), rows=100_000)),
        (
            BLOCKER,
            process(),
            {"backups": (Backup("mysqlsh", 9, (55,)),)},
            NextStep(Step.LET_BACKUP_END, (55,)),
        ),
        (BLOCKER, process(), {"programs": {55: Program("mydumper")}}, NextStep(Step.LET_BACKUP_END, (55,))),
        (BLOCKER._replace(rolls_back=True), process(), {}, NextStep(Step.WAIT_FOR_ROLLBACK)),
        (BLOCKER, process(command="Killed"), {}, NextStep(Step.WAIT_FOR_ROLLBACK)),
        (BLOCKER, COMMITS, {}, NextStep(Step.SEE_DISK)),
        (BLOCKER, process(), {"last": {55: Last("XA PREPARE ?", None)}}, NextStep(Step.END_OWN_BY_XA, (55,))),
        (BLOCKER, process(), {"prepared": True}, NextStep(Step.CHECK_XA, (55,))),
        (
            BLOCKER._replace(age=1.0),
            process(command="Query", seconds=1.0),
            {},
            NextStep(Step.LOOK_AGAIN, (55,)),
        ),
    ],
)
def test_what_ends_the_row_lock_that_the_applier_waits_for(holder, its, more, step):
    seen = looks(applier(), its, transactions=[BLOCKED, holder])
    found = locked.r6_row_locked(case(looks=seen, row_locks=(RowLock(BLOCKED.id, holder.id),), **more))
    assert found.advice == words.step(step, " on the replica")


def test_r5_does_not_blame_a_backup_for_the_lock_of_a_reader():
    """With the plugin of MariaDB, which does not tell who waits: BACKUP STAGE START blocks no ALTER."""
    waits = applier("Waiting for table metadata lock", 9.0, info="ALTER TABLE a ADD b INT", database="t")
    held = (lock("START", 204, "BACKUP"), lock("SHARED_READ", 55, "TABLE", "t.a"))
    seen = looks(waits, HOLDER, process())
    found = locked.r5_server_locked(case(mariadb(), looks=seen, locks=held, flavour=MARIADB))
    assert "metadata lock on t.a of connection 55" in found.what
    assert found.advice == "KILL 55 on the replica, or let it COMMIT or UNLOCK TABLES"
    found = locked.r5_server_locked(case(mariadb(), looks=seen, locks=held[:1], flavour=MARIADB))
    assert "KILL" not in found.advice  # who holds locks is told, and none of them is in the way


def test_r5_says_how_many_hold_the_lock():
    waits = applier("Waiting for table metadata lock", 9.0, info="ALTER TABLE t.a ADD b INT")
    held = tuple(lock("SHARED_READ", one, "TABLE", "t.a") for one in (55, 56, 57))
    seen = looks(waits, process(55), process(56, seconds=900.0), process(57))
    found = locked.r5_server_locked(case(mariadb(), looks=seen, locks=held, flavour=MARIADB))
    assert "of connection 56 app@web1, idle for 15 min, and of 2 more" in found.what
    assert found.advice == "KILL 56, 55 and 57 on the replica"
    assert found.more == ("held by connections 56, 55, 57",)


FLUSHED = applier("Waiting for table flush", 70.0)


def test_r5_behind_a_flush():
    """FLUSH TABLES behind a long SELECT: it never ends by waiting (9.7.2)."""
    selects = process(
        55, "executing", command="Query", info="SELECT SLEEP(9), 'secret' FROM t.a", seconds=99.0
    )
    flush = process(60, "Waiting for table flush", command="Query", info="FLUSH TABLES", seconds=68.0)
    waiting = [applier("Waiting for preceding transaction to commit", number=13)]
    long = [transaction(age=70.0)]
    found = explain(case(looks=looks(FLUSHED, *waiting, selects, flush, transactions=long)))
    assert [cause.rule for cause in found] == ["R5"]
    assert found[0].what == (
        "the applier waits for a FLUSH, probably behind connection 55 app@web1, runs SELECT FROM t.a"
    )
    assert found[0].advice == "check it, then KILL 55 on the replica"
    assert found[0].more[0] == (
        'the applier has been "Waiting for table flush", behind a FLUSH TABLES or its like of 1 min 8 s ago'
    )
    found = locked.r5_server_locked(case(looks=looks(FLUSHED, flush)))
    assert found.advice == "see in SHOW FULL PROCESSLIST which statement is older than the FLUSH"


@pytest.mark.parametrize("state", ["Waiting for table level lock", "Waiting for table flush"])
def test_what_waits_is_neither_long_nor_unused_parallelism(state):
    at_rest = [applier("Waiting for preceding transaction to commit", number=number) for number in (13, 14)]
    seen = looks(applier(state, 70.0), *at_rest, transactions=[transaction(age=70.0)])
    assert applying.r10_one_transaction(case(looks=seen)) is None
    assert applying.r17_parallelism_unused(case(looks=seen)) is None


def test_r10_on_5_7_where_nothing_tells_since_when():
    alters = applier("altering table", 5.0, info="ALTER TABLE t.a ADD b INT")
    found = applying.r10_one_transaction(case(looks=looks(alters), flavour=MYSQL_5_7))
    assert (found.what, found.advice) == ("the applier runs ALTER TABLE t.a", "wait for it")


SECRET = "UPDATE users SET password = 'hunter2', iban='DE89370400440532013000' WHERE"


def test_nobody_s_values_are_told():
    writes = process(55, command="Query", info=SECRET)
    seen = looks(applier(), writes, transactions=[BLOCKED, BLOCKER])
    found = locked.r6_row_locked(case(looks=seen, row_locks=(RowLock(BLOCKED.id, BLOCKER.id),)))
    assert "runs UPDATE users" in found.what
    long = looks(applier(info=SECRET), transactions=[transaction(age=1800.0)])
    assert applying.r10_one_transaction(case(looks=long)).what.endswith("30 min (UPDATE users)")
    error = f"Error 'Deadlock found' on query. Default database: 'shop'. Query: '{SECRET}'"
    found = threads_and_link.r1_applier_failed(case(channel(applier=down(1213, error))))
    assert found.what == "the applier stopped with error 1213: Error 'Deadlock found' on query"
    error = f"Query caused different errors. Error on master: message='x' code=1. Query: '{SECRET}'"
    assert "hunter2" not in threads_and_link.r1_applier_failed(case(channel(applier=down(1105, error)))).what


@pytest.mark.parametrize(
    ("number", "error", "advice"),
    [
        (1677, "Column 1 of table 'lab.typed' cannot be converted from type 'varchar(400)' to 'varchar(20)'",
         "compare the columns of lab.typed with the source, then START"),
        (13146, "Column 1 of table 'lab.typed' cannot be converted from type 'varchar(400)' to 'varchar(20)'",
         "compare the columns of lab.typed with the source, then START"),
        (1054, "Unknown column 'x' in 'field list'", "compare the columns of that table with the source"),
        (1146, "Error executing row event: 'Table 'lab.gone' doesn't exist'",
         "find out who dropped or filters lab.gone, then restore"),
        (1396, "Error 'Operation CREATE USER failed for 'bob'@'%'' on query.", "compare that account"),
        (1452, "Cannot add or update a child row: a foreign key constraint fails", "compare this row"),
        (1756, "The replica coordinator and worker threads are stopped", "see the error log for what ended"),
        (9999, "Something else", "correct what the error names, then START"),
    ],
)  # fmt: skip
def test_r1_the_next_step_fits_to_the_error(number, error, advice):
    found = threads_and_link.r1_applier_failed(case(channel(applier=down(number, error))))
    assert found.advice.startswith(advice)


@pytest.mark.parametrize("number", [1594, 13121])
def test_r1_no_reset_without_its_condition(number):
    found = threads_and_link.r1_applier_failed(case(channel(applier=down(number, "Relay log read failure"))))
    assert "bin.000001:5000" in found.advice
    assert "RESET without GTIDs begins with the first event" in found.more


def test_an_idle_channel_is_not_told_of_the_other_s_lock():
    """Two connections of MariaDB, which tells neither's threads; the other one waits for a row."""
    rests = applier(IDLE, command="Slave_SQL")
    works = applier("Update_rows_log_event::find_row()", number=14, command="Slave_SQL")
    blocked = transaction(14, waiting=30.0, age=30.0)
    seen = looks(rests, works, process(), transactions=[blocked, BLOCKER])
    both = {
        "looks": seen,
        "row_locks": (RowLock(blocked.id, BLOCKER.id),),
        "settings": SINGLE,
        "flavour": MARIADB,
    }
    assert locked.r6_row_locked(case(mariadb(name="east"), **both)) is None
    west = mariadb(name="west", applier=ChannelThread("Yes", works.state, 0, ""))
    assert locked.r6_row_locked(case(west, **both)).what.startswith(
        "an applier of this server waits for a row lock of"
    )


def test_whose_applier_it_is_where_two_channels_receive():
    """MySQL without SELECT on performance_schema."""
    blocked = looks(applier(), process(), transactions=[BLOCKED, BLOCKER])
    seen = [look._replace(processes=(*look.processes, receiver()._replace(id=21))) for look in blocked]
    locks = (RowLock(BLOCKED.id, BLOCKER.id),)
    found = locked.r6_row_locked(case(looks=seen, row_locks=locks))
    assert found.what.startswith("an applier of this server waits for a row lock of")
    own = snapshot(case().snapshot.channel, commits=commits(workers=(worker(thread=61),)))
    found = locked.r6_row_locked(
        case(known=own, looks=seen, row_locks=locks, threads=(Thread(61, APPLIER, None),))
    )
    assert found.what.startswith("row lock of")


def test_r13_a_disk_that_is_busy_but_fast_is_not_to_blame():
    fast = Host(disk="nvme0n1", load=DiskLoad(95.0, 0.0001))
    assert storing.r13_disk_busy(case(host=fast)) is None


def test_r18_no_more_than_all_pages():
    ahead = counted(
        None, 1.0, Innodb_buffer_pool_reads=1012.0, Innodb_buffer_pool_read_requests=1000.0,
    )  # fmt: skip
    found = storing.r18_buffer_pool_small(case(counted=ahead, host=load(70.0)))
    assert found.what.startswith("100.0 % of the pages")


# the reference


def test_what_differs_from_a_healthy_replica():
    here = Signals(counted=scan(), host=load(97.0))
    there = Signals(counted=scan(read=200.0), host=load(4.2))
    assert differences(here, there) == [
        "rows read in scans 2 million/s instead of 200/s",
        "disk busy 97 % instead of 4.2 %",
    ]


def test_what_hardly_differs_or_is_not_known_is_not_told():
    assert differences(Signals(), Signals(counted=scan())) == []
    assert differences(Signals(host=load(9.0)), Signals(host=load(1.0))) == []
    assert differences(Signals(host=load(30.0)), Signals(host=load(15.0))) == []
    assert differences(Signals(host=load(10.0)), Signals(host=load(0.0))) == []
    assert not can_compare(Signals(), Signals(counted=scan()))
    assert can_compare(Signals(counted=scan()), Signals(counted=scan()))


def test_a_reference_that_does_more_is_told_as_well():
    here, there = Signals(counted=scan(changed=10.0)), Signals(counted=scan(changed=900.0))
    assert differences(here, there) == ["rows changed 10/s instead of 900/s"]
