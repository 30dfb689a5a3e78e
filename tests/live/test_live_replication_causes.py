"""Real replicas in trouble of every kind: the right cause comes first, and names who is to blame."""

import contextlib
import subprocess
import threading
import time

import psutil
import pymysql
import pytest
import throttled
from held_backup import held_backup
from replication_pair import GRANTS
from replication_writer import Writer
from stallwatch.deadline import Deadline
from stallwatch.probes.mysql import innodb
from stallwatch.probes.replication_lag import lag, queries
from stallwatch.probes.replication_lag.causes import applying, explain
from stallwatch.probes.replication_lag.causes.case import Case
from stallwatch.probes.replication_lag.model import ChannelSnapshot
from stallwatch.probes.replication_lag.signals import Signals, can_compare, readings
from stallwatch.probes.replication_lag.signals.collect import gather as gather_signals
from stallwatch.sources import mysql

# Without a key: MariaDB reads half of them for each row that is changed, MySQL for some 450 at once.
ROWS = {"mariadb": 7_000, "mysql": 80_000}


@contextlib.contextmanager
def connected(replica, account):
    target = mysql.Target(socket=replica.socket, user=account.user, password=account.password)
    with mysql.connect(target, Deadline(30), known=None) as server:
        yield server


def snapshots(server):
    facts, channels, commits = queries.facts(server), queries.channels(server), {}
    with contextlib.suppress(mysql.DeniedError):
        commits = queries.commits(server)
    return [ChannelSnapshot(one, facts.now, facts.net_timeout, commits.get(one.name)) for one in channels]


def pause(seconds):
    time.sleep(seconds)
    return True


def gather(server, known):
    """What is known of the replica; on this host backups may run for the servers of other tests."""
    signals = gather_signals(server, known, pause, lambda _: None)
    return signals._replace(backups=tuple(one for one in signals.backups if one.certain))


def gathered(pair, account):
    with connected(pair.replica, account) as server:
        return gather(server, snapshots(server))


def explained(pair, account):
    with connected(pair.replica, account) as server:
        (snapshot,) = snapshots(server)
        signals = gather(server, [snapshot])
        return explain(Case(snapshot, lag.judge(snapshot), None, signals))


def first(pair, account, rule, seconds=90):
    """Look until this is the first cause; a server that is throttled may not answer each time."""
    until = time.monotonic() + seconds
    while True:
        found = []
        with contextlib.suppress(mysql.NoAnswerError):
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
    disk_busy = "R13"  # with what others do on this machine
    assert {cause.rule for cause in explained(pair, mon)} <= {disk_busy}
    signals = gathered(pair, mon)
    assert signals.missing == ()
    assert signals.backups == ()
    assert len(signals.looks) == 3
    assert {reading.name for reading in readings(signals)} >= {"redo_log", "history_list"}
    assert can_compare(signals, gathered(pair, mon))


def test_a_global_read_lock(pair, mon, table):
    with pair.replica.session() as sql:
        sql("FLUSH TABLES WITH READ LOCK")
        pair.source.sql(f"UPDATE {table} SET v = 3")
        cause = first(pair, mon, "R5")
        holder = connection(sql)
        sql("UNLOCK TABLES")
    if pair.kind == "mysql":
        assert f"global read lock of connection {holder} root@localhost" in cause.what
        assert cause.advice == f"KILL {holder} on the replica, or let it UNLOCK TABLES"
    else:
        assert_likely(cause, "global lock", holder)


def assert_likely(cause, lock, holder):
    """That the holder is called likely, and looked at before anybody ends it."""
    assert cause.what.startswith(f"{lock}, probably of connection {holder} root@localhost, idle for ")
    assert cause.advice == f"check it, then KILL {holder} on the replica"


def test_several_that_may_hold_a_lock_of_mariadb(running_pair):
    """Nobody is named of two that have been idle since the wait began."""
    pair = running_pair("mariadb")
    mon = pair.account()
    with pair.replica.session() as sql, pair.replica.session() as other:
        sql("FLUSH TABLES WITH READ LOCK")
        other("SELECT 1")
        pair.source.sql("UPDATE lab.mark SET at = 0")
        cause = first(pair, mon, "R5")
        sql("UNLOCK TABLES")
    assert 'has been "Waiting for backup lock" for' in cause.what
    assert cause.more == ("the plugin metadata_lock_info names who holds locks",)
    assert "root" not in cause.advice
    pair.heal()


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
        holder = connection(sql)
        sql("BACKUP STAGE END")
    assert_likely(cause, "global lock", holder)
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
        assert_likely(cause, f"metadata lock on {table}", holder)


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
    else:
        assert_likely(cause, f"metadata lock on {table}", holder)


def test_a_definition_of_a_client_behind_a_reader_holds_up_the_applier(pair, mon, table):
    """The reader is to blame, not the ALTER TABLE that the applier queues behind."""
    with pair.replica.session() as reads, pair.replica.session() as alters:
        reads("BEGIN")
        reads(f"SELECT * FROM {table}")
        waits = threading.Thread(target=lambda: alters(f"ALTER TABLE {table} COMMENT 'x'"))
        waits.start()
        until_seen(pair, "Waiting for table metadata lock")
        pair.source.sql(f"UPDATE {table} SET v = 3")
        try:
            cause = first(pair, mon, "R5")
            holder = connection(reads)
        finally:
            reads("COMMIT")
            waits.join()
    if pair.kind == "mysql":
        assert cause.what.startswith(f"ALTER TABLE {table} of ")
        assert f", behind connection {holder} root@localhost, idle" in cause.what
        assert cause.advice == f"KILL {holder} on the replica, or let it commit"
    else:
        assert "probably" in cause.what
        assert cause.advice == f"check it, then KILL {holder} on the replica"
    pair.heal()


def test_a_row_lock(pair, mon, table):
    with pair.replica.session() as sql:
        sql("BEGIN")
        sql(f"SELECT * FROM {table} WHERE id = 1 FOR UPDATE")
        pair.source.sql(f"UPDATE {table} SET v = 4 WHERE id = 1")
        cause = first(pair, mon, "R6")
        holder = connection(sql)
        sql("ROLLBACK")
    assert cause.what.startswith(f"row lock of connection {holder} root@localhost")
    assert ("idle for" if pair.kind == "mariadb" else ", idle") in cause.what
    assert cause.advice == f"KILL {holder} on the replica, or let it commit"


def test_a_row_of_a_transaction_that_xa_has_prepared(pair, mon, table):
    """MariaDB keeps it with its connection until that ends; MySQL 9.7 takes it away at once."""
    try:
        with pair.replica.session() as sql:
            sql("XA START 'orphan'")
            sql(f"UPDATE {table} SET v = 9 WHERE id = 1")
            sql("XA END 'orphan'")
            sql("XA PREPARE 'orphan'")
            pair.source.sql(f"UPDATE {table} SET v = 4 WHERE id = 1")
            has = connection(sql)
            with_client = first(pair, mon, "R6")
        cause = first(pair, mon, "R6")
    finally:
        pair.replica.sql("XA ROLLBACK 'orphan'")
    if pair.kind == "mariadb":
        checks = f"KILL {has} on the replica, then XA COMMIT or ROLLBACK if XA RECOVER lists it"
        assert with_client.advice.startswith(checks)
    assert "of an XA transaction without a connection" in cause.what
    assert "KILL" not in cause.advice
    assert "XA RECOVER" in cause.advice
    pair.heal()


def until_seen(pair, state):
    """Until a client's statement is in that state."""
    until = time.monotonic() + 60
    while not any((row.get("state") or row.get("STATE")) == state for row in pair.replica.others()):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.slow("the SELECT takes 18 s")
def test_a_flush_behind_a_long_select(running_pair):
    pair = running_pair("mysql")  # on MariaDB 10.11 nobody else waits with the FLUSH
    mon, table = pair.account(), "lab.flushed"
    pair.source.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY, v INT)")
    pair.source.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2)")
    pair.catch_up()
    with pair.replica.session() as reader, pair.replica.session() as flusher:
        read = threading.Thread(target=lambda: reader(f"SELECT *, SLEEP(9) FROM {table}"))
        read.start()
        until_seen(pair, "User sleep")
        flush = threading.Thread(target=lambda: flusher("FLUSH TABLES"))
        flush.start()
        until_seen(pair, "Waiting for table flush")
        pair.source.sql(f"UPDATE {table} SET v = 5")
        try:
            cause = first(pair, mon, "R5", seconds=15)
        finally:
            read.join()
            flush.join()
    assert cause.what.startswith("the applier waits for a FLUSH, probably behind connection ")
    assert f"runs SELECT FROM {table}" in cause.what
    pair.heal()


@pytest.fixture
def plugin(running_pair):
    """A MariaDB pair whose replica tells metadata locks."""
    pair = running_pair("mariadb")
    try:
        pair.replica.sql("INSTALL SONAME 'metadata_lock_info'")
    except pymysql.Error as error:
        pytest.skip(f"this MariaDB comes without the plugin: {error}")
    yield pair
    pair.replica.sql("UNINSTALL SONAME 'metadata_lock_info'")


def test_a_reader_is_blamed_and_not_the_backup_beside_it(plugin):
    plugin.source.sql("CREATE TABLE lab.read_by (id INT PRIMARY KEY)")
    plugin.catch_up()
    with plugin.replica.session() as copies, plugin.replica.session() as reads:
        copies("BACKUP STAGE START")
        reads("BEGIN")
        reads("SELECT * FROM lab.read_by")
        plugin.source.sql("ALTER TABLE lab.read_by ADD w INT")
        try:
            cause = first(plugin, plugin.account(), "R5")
            reader = connection(reads)
        finally:
            reads("COMMIT")
            copies("BACKUP STAGE END")
    assert f"metadata lock on lab.read_by of connection {reader}" in cause.what
    assert cause.advice == f"KILL {reader} on the replica, or let it commit"
    plugin.catch_up()


def test_a_keyed_row_is_not_without_a_key_because_others_scan(running_pair):
    """An applier that waits for a row, while somebody scans a table."""
    pair = running_pair("mariadb")
    mon = pair.account()
    pair.source.sql("CREATE TABLE lab.hot (id INT PRIMARY KEY, v INT)")
    pair.source.sql("INSERT INTO lab.hot VALUES (1, 1)")
    pair.catch_up()
    scanned = threading.Event()

    def scan():
        with pair.replica.session() as sql:
            while not scanned.is_set():
                sql(f"SELECT COUNT(*) FROM {numbers(100_000)} WHERE seq % 7 = 3")

    scanning = threading.Thread(target=scan)
    with pair.replica.session() as sql:
        sql("BEGIN")
        sql("SELECT * FROM lab.hot WHERE id = 1 FOR UPDATE")
        scanning.start()
        try:
            pair.source.sql("UPDATE lab.hot SET v = 2 WHERE id = 1")
            begun = time.monotonic()
            rules = set()
            while time.monotonic() < begun + 7 or "R6" not in rules:
                rules |= {cause.rule for cause in explained(pair, mon)}
                assert time.monotonic() < begun + 60
        finally:
            scanned.set()
            scanning.join()
            sql("ROLLBACK")
    assert "R9" not in rules
    assert "R6" in rules
    pair.catch_up()


def test_an_idle_shell_is_no_backup(running_pair):
    pair = running_pair("mysql")
    shell = pymysql.connect(
        unix_socket=pair.replica.socket, user="root", program_name="mysqlsh", autocommit=True
    )
    with shell:
        assert gathered(pair, pair.account()).backups == ()


def test_more_appliers_as_advised(running_pair):
    """What R16 says to do is possible."""
    pair = running_pair("mariadb")
    case = Case(None, lag.Lag(seconds=10), None, gathered(pair, pair.account()))
    advice, _ = applying._parallel(case, "slave_parallel_threads")
    with pair.replica.session() as sql, pytest.raises(pymysql.Error, match="1198"):
        sql("SET GLOBAL slave_parallel_threads = 4")
    try:
        for statement in advice.split(", "):
            pair.replica.sql(statement)
        pair.catch_up()
    finally:
        pair.replica.stop_replication()
        pair.replica.sql("SET GLOBAL slave_parallel_threads = 0")
        pair.heal()


def test_a_relay_log_again_without_a_reset(running_pair):
    """The place that R1 tells to keep is where RESET would have begun anew."""
    pair = running_pair("mysql")
    with pair.without_gtids():
        a_relay_log_again(pair)
    pair.source.sql("DROP TABLE lab.once")


def a_relay_log_again(pair):
    pair.source.sql("CREATE TABLE lab.once (id INT PRIMARY KEY)")
    pair.catch_up()
    pair.replica.stop_replication("", "SQL_THREAD")
    pair.source.sql("INSERT INTO lab.once VALUES (1)")
    with connected(pair.replica, pair.account()) as server:
        (known,) = snapshots(server)
    failed = known.channel.applier._replace(running="No", errno=13121, error="Relay log read failure")
    broken = known._replace(channel=known.channel._replace(applier=failed))
    (cause,) = explain(Case(broken, lag.Lag(seconds=10), None, Signals()))
    file, offset = known.channel.applied
    assert cause.advice.startswith(f"fetch it again from {file}:{offset} (CHANGE REPLICATION SOURCE TO)")
    pair.replica.stop_replication()
    pair.replica.sql(f"CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {offset}")
    pair.replica.start_replication()
    pair.catch_up()
    assert pair.replica.sql("SELECT COUNT(*) n FROM lab.once") == [{"n": 1}]


def test_no_usable_key(pair, mon):
    pair.source.sql("CREATE TABLE lab.nopk (a INT, b INT)")
    pair.source.sql(f"INSERT INTO lab.nopk SELECT seq, 0 FROM {numbers(ROWS[pair.kind])}")
    pair.catch_up()
    pair.source.sql("UPDATE lab.nopk SET b = 1 WHERE a % 2 = 0")
    try:
        cause = first(pair, mon, "R9")
        assert cause.what.startswith("table lab.nopk has no usable key (")
        assert cause.advice.startswith("add a primary key")
    finally:
        pair.catch_up(120)
        pair.source.sql("DROP TABLE lab.nopk")


def test_a_usable_key_beside_a_scan(running_pair):
    """A large UPDATE by the key is no table without one, nor is what others read."""
    pair = running_pair("mysql")
    mon, rules, ended = pair.account(), [], threading.Event()
    pair.source.sql("CREATE TABLE lab.keyed (a INT PRIMARY KEY, b INT)")
    pair.source.sql(f"INSERT INTO lab.keyed SELECT seq, 0 FROM {numbers(100_000)}")
    pair.catch_up()

    def scan():
        with pair.replica.session() as sql:
            while not ended.is_set():
                sql(f"SELECT COUNT(*) FROM {numbers(100_000)} WHERE seq % 7 = 3")

    scanning = threading.Thread(target=scan)
    scanning.start()
    pair.source.sql("UPDATE lab.keyed SET b = b + 1")
    try:
        for _ in range(5):
            rules += [cause.rule for cause in explained(pair, mon)]
    finally:
        ended.set()
        scanning.join()
        pair.catch_up(120)
        pair.source.sql("DROP TABLE lab.keyed")
    assert "R9" not in rules


def numbers(count):
    """A table of so many numbers, at most 100000, from 0 on."""
    digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5"
    digit += " UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
    tables = ", ".join(f"{digit} t{power}" for power in range(5))
    total = " + ".join(f"{10**power} * t{power}.d" for power in range(5))
    return f"(SELECT {total} AS seq FROM {tables} LIMIT {count}) AS n"


@pytest.mark.slow("the transaction sleeps 6 s for each of two rows")
def test_one_long_transaction(pair, mon, table, monkeypatch):
    monkeypatch.setattr(applying, "_LONG", 3.0)  # a minute is too long for a test
    with pair.source.session() as sql:
        sql("SET SESSION binlog_format = 'STATEMENT'")
        sql(f"UPDATE {table} SET v = SLEEP(6)")
        cause = first(pair, mon, "R10")
    assert cause.what.startswith("one transaction has run for ")
    assert cause.what.endswith(f" (UPDATE {table})")
    pair.catch_up()


def test_a_stopped_applier(pair, mon):
    pair.replica.stop_replication("", "SQL_THREAD")
    (cause,) = explained(pair, mon)
    assert cause.what == "the applier is stopped, without an error"
    _, _, statement = cause.advice.partition(", then ")
    assert statement == f"START {'SLAVE' if pair.kind == 'mariadb' else 'REPLICA'} SQL_THREAD"
    pair.replica.sql(statement)
    pair.catch_up()


def test_a_stopped_receiver(pair, mon):
    pair.replica.stop_replication("", "IO_THREAD")
    (cause,) = explained(pair, mon)
    assert (cause.rule, cause.what) == ("R3", "the receiver is stopped, without an error")


def test_an_applier_that_fails(pair, mon, table):
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql(f"INSERT INTO {table} VALUES (3, 3)")
        pair.source.sql(f"INSERT INTO {table} VALUES (3, 3)")
        cause = first(pair, mon, "R1")
        sql(f"DELETE FROM {table} WHERE id = 3")
    assert "error 1062" in cause.what
    assert "Duplicate entry '3'" in cause.more[0]
    pair.replica.stop_replication("")
    pair.replica.start_replication("")


@pytest.fixture(scope="module")
def performing_pair(tmp_path_factory, new_pair):
    """A MariaDB pair of these tests with performance_schema: it can only be set at the start."""
    folder = tmp_path_factory.mktemp("performing")
    with new_pair(folder, "mariadb", replica={"performance_schema": "ON"}) as pair:
        yield pair


@contextlib.contextmanager
def backed_up(pair, folder):
    """Meanwhile a mariabackup copies the replica of a pair: gives its process id."""
    pair.heal()
    try:
        with held_backup(pair.replica, folder) as pid:
            yield pid
    finally:
        pair.heal()


def test_a_mariabackup_that_stops_the_applier(performing_pair, tmp_path):
    pair = performing_pair
    with backed_up(pair, tmp_path / "copy") as pid:
        (cause,) = explained(pair, pair.account())
        assert cause.rule == "R2"
        assert f"stopped, likely by the backup that runs: mariabackup pid {pid} for " in cause.what
        (running,) = gathered(pair, pair.account()).backups
        assert running.certain
        assert running.connections


def test_a_mariabackup_beside_a_running_applier(performing_pair, tmp_path):
    pair = performing_pair
    with backed_up(pair, tmp_path / "copy") as pid:
        pair.replica.start_replication("")
        found = explained(pair, pair.account())
        assert [cause.rule for cause in found] == ["R12"]
        assert f"mariabackup pid {pid} for " in found[0].what
        assert "% busy" in found[0].what


def test_a_mariabackup_that_no_attribute_gives_away(running_pair, tmp_path):
    pair = running_pair("mariadb")
    with backed_up(pair, tmp_path / "copy") as pid:
        found = [one for one in gathered(pair, pair.account()).backups if one.pid == pid]
        assert [one.certain for one in found] == [True]  # its arguments do


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
        assert cause.what.startswith(f"backup lock of connection {holder}")
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
            until = time.monotonic() + 60
            while not (found := gathered(pair, mon).backups):
                assert time.monotonic() < until
        finally:
            dump.kill()
    assert [(one.tool, one.pid) for one in found] == [("mariadb-dump", dump.pid)]
    pair.source.sql("DROP TABLE lab.big")


SMALL_REDO = {  # MariaDB's is as large as its buffer at least
    "mariadb": ("innodb_log_file_size", 16 << 20),
    "mysql": ("innodb_redo_log_capacity", 8 << 20),
}


@pytest.fixture
def small_redo(pair):
    """A pair of either kind whose replica has as small a redo log as there is."""
    name, size = SMALL_REDO[pair.kind]
    (before,) = pair.replica.sql(f"SELECT @@GLOBAL.{name} AS size")
    pair.replica.sql(f"SET GLOBAL {name} = %s", size)
    yield pair
    with pair.replica.session() as sql:
        sql(f"SET GLOBAL {name} = %s", before["size"])
        sql("SET sql_log_bin = 0")
        sql("DROP TABLE IF EXISTS lab.fills")


def test_a_full_redo_log(small_redo):
    pair = small_redo
    mon = pair.account()
    filling = threading.Event()
    fill_up = threading.Thread(target=keep_filling, args=(pair, filling), daemon=True)
    fill_up.start()
    try:
        cause = first(pair, mon, "R11")
        until = time.monotonic() + 90
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
            told = (f"commit times, who holds locks, which programs are connected {schema}",)
            assert missing == (told if pair.kind == "mysql" else ())  # MariaDB has it off
        else:
            assert missing == ()
    least = pair.account("least", REPLICATION[pair.kind])
    assert len(gathered(pair, least).missing) == {"mysql": 2, "mariadb": 1}[pair.kind]


def test_what_can_be_known_without_privileges_is_known(pair, table):
    least = pair.account("least", REPLICATION[pair.kind])
    signals = gathered(pair, least)
    assert signals.redo
    assert signals.settings["datadir"].rstrip("/") == pair.replica.data
    pair.replica.stop_replication("", "SQL_THREAD")
    (cause,) = explained(pair, least)
    assert cause.rule == "R2"


@pytest.mark.own_server("a server takes over the time zone of its surroundings at its start")
@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_ages_are_right_in_any_time_zone(own_server, kind, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    server = own_server(kind)
    mon = server.account("mon", *GRANTS[kind])
    with server.session() as sql, connected(server, mon) as asked:
        sql("CREATE DATABASE lab")
        sql("CREATE TABLE lab.mark (at DOUBLE)")
        sql("INSERT INTO lab.mark VALUES (0)")
        sql("BEGIN")
        sql("SELECT * FROM lab.mark FOR UPDATE")
        ages = [one.age for one in gather_signals(asked, [], pause, lambda _: None).transactions]
        sql("ROLLBACK")
    assert ages
    assert max(ages) < 30


def test_the_status_of_innodb_is_timed(pair, mon):
    with connected(pair.replica, mon) as server, server.again() as another:
        reading = innodb.ask_status(another, 5).reading
    assert reading.name == "innodb_status"
    assert 0 <= reading.value < 5


def test_a_frozen_server_loses_nothing_but_the_signals(pair, mon):
    with connected(pair.replica, mon) as server:
        known = snapshots(server)
        pair.replica.suspend()
        begun = time.monotonic()
        signals = gather_signals(server, known, pause, lambda _: None)
        spent = time.monotonic() - begun
        pair.replica.resume()
    assert spent < 10
    (sentence,) = signals.missing
    assert sentence.startswith("the search for causes was cut short: ")
    assert explain(Case(known[0], lag.Lag(seconds=10), None, signals)) == []


def test_a_frozen_server_is_not_asked_for_the_status_of_innodb(pair, mon):
    heard = []
    target = mysql.Target(socket=pair.replica.socket, user=mon.user, password=mon.password)
    with mysql.connect(target, Deadline(30), None, heard.append) as server:
        pair.replica.suspend()
        answer = innodb.ask_status(server, 20)
        pair.replica.resume()
    assert (answer.reading, answer.text) == (None, "")
    assert "has not answered within " in answer.why.what
    assert not [one for one in heard if "SHOW ENGINE" in one]


def test_the_processor_of_a_thread_is_found(pair, mon):
    with connected(pair.replica, mon) as server:
        signals = gather_signals(server, snapshots(server), pause, lambda _: None)
    found = {one.os_id for one in signals.threads}
    assert sum(one.receives for one in signals.threads) == 1
    assert len(found) == 1 + {"mysql": 5, "mariadb": 1}[pair.kind]  # a coordinator and four workers
    assert found <= {one.id for one in psutil.Process(pair.replica.pid).threads()}
    assert set(signals.host.busy_threads) == set(signals.host.hunger.waits) == found


# A host that gives its replica too little


@contextlib.contextmanager
def little(pair):
    """The replica gets some of the processor time that it needs."""
    if why := throttled.unavailable():
        pytest.skip(why)
    with Writer(pair, every=0.02, octets=2000):
        need = throttled.need(pair.replica.pid)
        share = {"mysql": 0.4, "mariadb": 0.15}[pair.kind]  # MariaDB lags not before that
        with throttled.throttled(pair.replica.process.family, max(0.002, share * need)):
            yield


@pytest.mark.slow("the replica has to fall behind")
def test_a_cpu_limit(pair, mon):
    with little(pair):
        cause = first(pair, mon, "R30")
    assert "mysqld is throttled" in cause.what
    assert cause.advice == "raise the CPU limit"
    pair.catch_up()


@pytest.mark.slow("a row lock has to last")
def test_a_row_lock_on_a_host_that_others_keep_busy(pair, mon, table):
    with pair.replica.session(seconds=600) as sql, throttled.others_burning(2 * psutil.cpu_count()):
        sql("BEGIN")
        sql(f"SELECT * FROM {table} WHERE id = 1 FOR UPDATE")
        pair.source.sql(f"UPDATE {table} SET v = 7 WHERE id = 1")
        first(pair, mon, "R6")
        sql("ROLLBACK")
    pair.catch_up()
