"""Real replicas in trouble of every kind: the right cause comes first, and names who is to blame."""

import contextlib
import os
import select
import subprocess
import threading
import time

import psutil
import pymysql
import pytest
from replication_pair import GRANTS
from stallwatch.deadline import Deadline
from stallwatch.probes.replication import causes, lag, status
from stallwatch.probes.replication.causes import innodb_status, reference
from stallwatch.probes.replication.causes.rules import applying
from stallwatch.probes.replication.evidence import Evidence
from stallwatch.sources import mysql

ROWS = 12_000


@contextlib.contextmanager
def connected(replica, account):
    target = mysql.Target(socket=replica.socket, user=account.user, password=account.password)
    with mysql.connect(target, Deadline(30)) as server:
        yield server


def evidences(server):
    facts = status.facts(server)
    with contextlib.suppress(mysql.DeniedError):
        return _evidences(server, facts, status.commits(server))
    return _evidences(server, facts, {})


def _evidences(server, facts, commits):
    return [
        Evidence(channel, facts.now, facts.net_timeout, commits.get(channel.name))
        for channel in status.channels(server)
    ]


def pause(seconds):
    time.sleep(seconds)
    return True


def gathered(pair, account):
    with connected(pair.replica, account) as server:
        return causes.gather(server, evidences(server), pause, lambda _: None)


def explained(pair, account):
    with connected(pair.replica, account) as server:
        (evidence,) = evidences(server)
        signals = causes.gather(server, [evidence], pause, lambda _: None)
        return causes.explain(causes.Case(evidence, lag.judge(evidence), None, signals))


def first(pair, account, rule, seconds=40):
    """Look until this is the first cause."""
    until = time.monotonic() + seconds
    while True:
        found = explained(pair, account)
        if found and found[0].rule == rule:
            return found[0]
        assert time.monotonic() < until, found
        time.sleep(0.3)


@pytest.fixture
def mon(pair):
    return pair.account()


@pytest.fixture
def table(pair):
    """A table with a few rows on source and replica."""
    pair.source.sql("DROP TABLE IF EXISTS lab.held")
    pair.source.sql("CREATE TABLE lab.held (id INT PRIMARY KEY, v INT)")
    pair.source.sql("INSERT INTO lab.held VALUES (1, 1), (2, 2)")
    pair.catch_up()
    return "lab.held"


def connection(sql):
    (row,) = sql("SELECT CONNECTION_ID() AS id")
    return row["id"]


def test_a_healthy_replica_has_nothing_to_explain(pair, mon):
    assert explained(pair, mon) == []
    signals = gathered(pair, mon)
    assert signals.missing == ()
    assert signals.backups == ()
    assert len(signals.looks) == 3
    assert {reading.name for reading in causes.findings(signals)} >= {"redo_log", "history_list"}
    assert reference.differences(signals, signals) == []


def test_a_global_read_lock(pair, mon, table):
    with pair.replica.session() as sql:
        sql("FLUSH TABLES WITH READ LOCK")
        pair.source.sql(f"UPDATE {table} SET v = 3")
        cause = first(pair, mon, "R5")
        holder = connection(sql)
        sql("UNLOCK TABLES")
    if pair.kind == "mysql":
        assert f"global read lock of connection {holder} root@localhost" in cause.what
        assert cause.advice == f"let it UNLOCK TABLES or end, or KILL {holder}"
    else:
        assert 'has been "Waiting for backup lock" for' in cause.what
        assert "INSTALL SONAME 'metadata_lock_info'" in cause.advice
        assert f"{holder} root@localhost" in cause.advice


def test_a_global_read_lock_of_mariadb_with_its_plugin(running_pair):
    pair = running_pair("mariadb")
    mon = pair.account()
    pair.replica.sql("INSTALL SONAME 'metadata_lock_info'")
    try:
        with pair.replica.session() as sql:
            sql("FLUSH TABLES WITH READ LOCK")
            pair.source.sql("UPDATE lab.mark SET at = 0")
            cause = first(pair, mon, "R5")
            holder = connection(sql)
            sql("UNLOCK TABLES")
        assert f"global read lock of connection {holder} root@localhost, idle for" in cause.what
    finally:
        pair.replica.sql("UNINSTALL SONAME 'metadata_lock_info'")
        pair.heal()


def test_a_backup_stage_of_mariadb(running_pair):
    pair = running_pair("mariadb")
    mon = pair.account()
    with pair.replica.session() as sql:
        for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"):
            sql(f"BACKUP STAGE {stage}")
        pair.source.sql("UPDATE lab.mark SET at = 0")
        cause = first(pair, mon, "R5")
        sql("BACKUP STAGE END")
    assert '"Waiting for backup lock"' in cause.what
    pair.heal()


def test_a_table_lock(pair, mon, table):
    with pair.replica.session() as sql:
        sql(f"LOCK TABLES {table} READ")
        pair.source.sql(f"UPDATE {table} SET v = 3")
        cause = first(pair, mon, "R5")
        holder = connection(sql)
        sql("UNLOCK TABLES")
    if pair.kind == "mysql":
        assert f"metadata lock on {table} of connection {holder}" in cause.what
    else:
        assert '"Waiting for table metadata lock"' in cause.what


def test_an_open_reader_keeps_a_definition_waiting(pair, mon, table):
    with pair.replica.session() as sql:
        sql("BEGIN")
        sql(f"SELECT * FROM {table}")
        pair.source.sql(f"ALTER TABLE {table} ADD w INT")
        cause = first(pair, mon, "R5")
        holder = connection(sql)
        sql("COMMIT")
    if pair.kind == "mysql":
        assert f"metadata lock on {table} of connection {holder}" in cause.what
    assert "metadata lock" in cause.what


def test_a_row_lock(pair, mon, table):
    with pair.replica.session() as sql:
        sql("BEGIN")
        sql(f"SELECT * FROM {table} WHERE id = 1 FOR UPDATE")
        pair.source.sql(f"UPDATE {table} SET v = 4 WHERE id = 1")
        cause = first(pair, mon, "R6")
        holder = connection(sql)
        sql("ROLLBACK")
    assert f"for a row lock of connection {holder} root@localhost" in cause.what
    assert "idle for" in cause.what
    assert cause.advice == f"let it commit, or KILL {holder}"


def test_no_usable_key(pair, mon):
    pair.source.sql("CREATE TABLE lab.nopk (a INT, b INT)")
    pair.source.sql(f"INSERT INTO lab.nopk SELECT seq, 0 FROM {numbers(ROWS)}")
    pair.catch_up()
    pair.source.sql("UPDATE lab.nopk SET b = 1 WHERE a % 2 = 0")
    try:
        if pair.kind == "mysql":  # hashes the rows of an event
            rules = {cause.rule for _ in range(3) for cause in explained(pair, mon)}
            assert "R9" not in rules
        else:
            cause = first(pair, mon, "R9")
            assert cause.what.startswith("table lab.nopk has no usable key: ")
            assert cause.advice == "add a primary key to lab.nopk"
    finally:
        pair.catch_up(120)
        pair.source.sql("DROP TABLE lab.nopk")


def numbers(count):
    """A table of so many numbers, at most 100000, from 0 on."""
    digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5"
    digit += " UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
    tables = ", ".join(f"{digit} t{power}" for power in range(5))
    total = " + ".join(f"{10**power} * t{power}.d" for power in range(5))
    return f"(SELECT {total} AS seq FROM {tables} LIMIT {count}) AS n"


def test_one_long_transaction(pair, mon, table, monkeypatch):
    monkeypatch.setattr(applying, "_LONG", 3.0)  # a minute is too long for a test
    with pair.source.session() as sql:
        sql("SET SESSION binlog_format = 'STATEMENT'")
        sql(f"UPDATE {table} SET v = SLEEP(6)")
        cause = first(pair, mon, "R10")
    assert cause.what.startswith("one transaction has been applied for ")
    assert f"UPDATE {table} SET v = SLEEP(6)" in cause.what
    pair.catch_up()


def test_a_stopped_applier(pair, mon):
    pair.replica.stop_replication("", "SQL_THREAD")
    (cause,) = explained(pair, mon)
    assert cause.what == "the applier was stopped by hand (no error)"
    assert cause.advice == f"START {'SLAVE' if pair.kind == 'mariadb' else 'REPLICA'} SQL_THREAD"


def test_a_stopped_receiver(pair, mon):
    pair.replica.stop_replication("", "IO_THREAD")
    (cause,) = explained(pair, mon)
    assert (cause.rule, cause.what) == ("R3", "the receiver was stopped by hand (no error)")


def test_an_applier_that_fails(pair, mon, table):
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql(f"INSERT INTO {table} VALUES (3, 3)")
        pair.source.sql(f"INSERT INTO {table} VALUES (3, 3)")
        cause = first(pair, mon, "R1")
        sql(f"DELETE FROM {table} WHERE id = 3")
    assert "error 1062" in cause.what
    assert "Duplicate entry '3'" in cause.what
    pair.replica.stop_replication("")
    pair.replica.start_replication("")


@pytest.fixture
def backed_up(own_pair, tmp_path):
    """A MariaDB pair whose replica a mariabackup copies, as long as the test lasts."""

    @contextlib.contextmanager
    def backup(**settings):
        pair = own_pair("mariadb", replica=settings)
        command = [
            "mariabackup", "--backup", "--stream=xbstream", f"--target-dir={tmp_path}/copy", "--user=root",
            f"--socket={pair.replica.socket}", f"--datadir={pair.replica.data}", "--safe-slave-backup",
        ]  # fmt: skip
        with open(tmp_path / "mariabackup.log", "wb") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        try:
            read_until(process.stdout, lambda: pair.replica.channels()[""]["Replica_SQL_Running"] == "No")
            yield pair, process.pid
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    return backup


def read_until(stream, true, seconds=30):
    """Read what a program writes until something is true: from then on it waits for us."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        if select.select([stream], [], [], 0.1)[0]:
            assert os.read(stream.fileno(), 65536)


def test_a_mariabackup_that_stops_the_applier(backed_up):
    with backed_up(performance_schema="ON") as (pair, pid):
        (cause,) = explained(pair, pair.account())
        assert cause.rule == "R2"
        assert f"stopped, likely by the backup that runs: mariabackup pid {pid} for " in cause.what
        (running,) = gathered(pair, pair.account()).backups
        assert running.certain
        assert running.connections


def test_a_mariabackup_beside_a_running_applier(backed_up):
    with backed_up(performance_schema="ON") as (pair, pid):
        pair.replica.start_replication("")
        found = explained(pair, pair.account())
        assert [cause.rule for cause in found] == ["R12"]
        assert f"mariabackup pid {pid} for " in found[0].what
        assert "% busy" in found[0].what


def test_a_mariabackup_that_no_attribute_gives_away(backed_up):
    with backed_up() as (pair, pid):
        found = [one for one in gathered(pair, pair.account()).backups if one.pid == pid]
        assert [one.certain for one in found] == [False]


def test_a_backup_lock_of_mysql(running_pair):
    pair = running_pair("mysql")
    mon = pair.account()
    with pair.replica.session() as sql:
        sql("LOCK INSTANCE FOR BACKUP")
        holder = connection(sql)
        (running,) = gathered(pair, mon).backups
        assert (running.tool, running.connections) == ("", (holder,))
        pair.source.sql("CREATE TABLE lab.waits (id INT PRIMARY KEY)")
        cause = first(pair, mon, "R5")
        assert f"waits for the backup lock of connection {holder}" in cause.what
        sql("UNLOCK INSTANCE")
    pair.heal()


def test_a_dump(pair, mon):
    """A dump that is in the middle of a table: its reader does not read."""
    pair.source.sql("CREATE TABLE lab.big (a INT PRIMARY KEY, b CHAR(200))")
    pair.source.sql(f"INSERT INTO lab.big SELECT seq, REPEAT('x', 200) FROM {numbers(50_000)}")
    pair.catch_up()
    command = [
        "mariadb-dump",
        "--no-defaults",
        "--quick",
        "-uroot",
        f"--socket={pair.replica.socket}",
        "lab",
        "big",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as dump:
        try:
            dump.stdout.read(1000)
            until = time.monotonic() + 20
            while not (found := gathered(pair, mon).backups):
                assert time.monotonic() < until
        finally:
            dump.kill()
    assert [(one.tool in {"mariadb-dump", "mysqldump", "dump"}, one.certain) for one in found] == [
        (True, True)
    ]
    pair.source.sql("DROP TABLE lab.big")


SMALL_REDO = {"mariadb": {"innodb_log_file_size": "8M"}, "mysql": {"innodb_redo_log_capacity": "8M"}}


@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_a_full_redo_log(own_pair, kind):
    pair = own_pair(kind, replica=SMALL_REDO[kind])
    mon = pair.account()
    filling = threading.Event()
    fill_up = threading.Thread(target=keep_filling, args=(pair, filling), daemon=True)
    fill_up.start()
    try:
        cause = first(pair, mon, "R11")
        until = time.monotonic() + 40
        while (fill := (signals := gathered(pair, mon)).redo.fill) < 98:
            assert time.monotonic() < until
    finally:
        filling.set()
        fill_up.join(30)
    assert "% full" in cause.what
    assert fill <= 102
    assert signals.redo_rate > 0


def keep_filling(pair, enough):
    with pair.replica.session() as sql, contextlib.suppress(pymysql.Error):
        sql("SET sql_log_bin = 0")
        sql("CREATE TABLE IF NOT EXISTS lab.fills (a INT PRIMARY KEY, b VARCHAR(8000))")
        sql(f"INSERT INTO lab.fills SELECT seq, REPEAT('a', 800) FROM {numbers(20_000)}")
        letter = 0
        while not enough.is_set():
            letter += 1
            sql("UPDATE lab.fills SET b = REPEAT(%s, 800)", chr(97 + letter % 26))


REPLICATION = {"mariadb": "SLAVE MONITOR", "mysql": "REPLICATION CLIENT"}


def test_each_missing_privilege_is_told_once(pair):
    schema = "(needs SELECT ON performance_schema.*)"
    for number, grant in enumerate(grants := GRANTS[pair.kind]):
        account = pair.account(f"less{number}", *(one for one in grants if one != grant))
        if grant == REPLICATION[pair.kind]:
            continue  # without it there is no channel to explain
        missing = gathered(pair, account).missing
        if grant == "PROCESS":
            assert missing == ("other connections, transactions, row locks, how InnoDB is (needs PROCESS)",)
        elif "performance_schema" in grant:
            assert missing == (f"commit times, who holds locks, which programs are connected {schema}",)
        else:
            assert missing == ()
    least = pair.account("least", REPLICATION[pair.kind])
    assert len(gathered(pair, least).missing) == 2


def test_what_can_be_known_without_privileges_is_known(pair, table):
    least = pair.account("least", REPLICATION[pair.kind])
    signals = gathered(pair, least)
    assert signals.redo
    assert signals.settings["datadir"].rstrip("/") == pair.replica.data
    pair.replica.stop_replication("", "SQL_THREAD")
    (cause,) = explained(pair, least)
    assert cause.rule == "R2"


@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_ages_are_right_in_any_time_zone(own_pair, kind, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    pair = own_pair(kind)
    with pair.replica.session() as sql:
        sql("BEGIN")
        sql("SELECT * FROM lab.mark FOR UPDATE")
        ages = [one.age for one in gathered(pair, pair.account()).transactions]
        sql("ROLLBACK")
    assert ages
    assert max(ages) < 30


def test_the_status_of_innodb_is_timed(pair, mon):
    with connected(pair.replica, mon) as server:
        signals = gathered(pair, mon)
        with server.again() as another:
            (reading,) = innodb_status.look(another, signals, 5)
    assert reading.name == "innodb_status"
    assert 0 <= reading.value < 5


def test_a_frozen_server_loses_nothing_but_the_signals(pair, mon):
    with connected(pair.replica, mon) as server:
        known = evidences(server)
        pair.replica.suspend()
        begun = time.monotonic()
        signals = causes.gather(server, known, pause, lambda _: None)
        spent = time.monotonic() - begun
        pair.replica.resume()
    assert spent < 10
    (sentence,) = signals.missing
    assert sentence.startswith("the search for causes was cut short: ")
    assert causes.explain(causes.Case(known[0], lag.Lag(seconds=10), None, signals)) == []


def test_the_processor_of_a_thread_is_found(pair, mon):
    if pair.kind == "mariadb":
        pytest.skip("its performance_schema is off by default, and only that tells threads")
    with connected(pair.replica, mon) as server:
        signals = causes.gather(server, evidences(server), pause, lambda _: None)
    found = {one.os_id for one in signals.threads}
    assert len(found) == 5  # a coordinator and four workers
    assert found <= {one.id for one in psutil.Process(pair.replica.pid).threads()}
    assert 0 <= signals.host.busiest <= 100
