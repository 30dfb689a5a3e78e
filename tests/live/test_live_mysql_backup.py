"""check_mysql_backup on what the programs make that make backups, and what a restore of that brings back."""

import gzip
import os
import shutil
import signal
import subprocess
import time

import backup_makers
import plugin_command
import pytest
import software
from backup_makers import TABLES, base_tables, checksums
from mariadb import Mariadb
from plugin_command import Said

ALL = f"{TABLES} tables of {TABLES}"
PROGRAMS = (
    ("mydumper", "mydumper"), ("myloader", "mydumper"), ("mariadb-dump", "mariadb-client"),
    ("mariadb-backup", "mariadb-backup"), ("zstd", "zstd"),
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def programs():
    try:
        for name, package in PROGRAMS:
            software.program(name, package)
    except software.Missing as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))


@pytest.fixture
def filled(server):
    """A server of either kind with some tables."""
    backup_makers.clear(server)
    backup_makers.fill(server)
    yield server
    backup_makers.clear(server)


@pytest.fixture
def mariadb(running_server):
    """A MariaDB with some tables."""
    server = running_server("mariadb")
    server.revive()
    backup_makers.clear(server)
    backup_makers.fill(server)
    yield server
    backup_makers.clear(server)


@pytest.fixture(scope="module")
def second_server(tmp_path_factory, new_server):
    """Another MariaDB of these tests: backups are restored elsewhere than where they come from."""
    with new_server(tmp_path_factory.mktemp("second"), "mariadb") as server:
        yield server


@pytest.fixture
def other(second_server):
    """That server, without tables."""
    backup_makers.clear(second_server)
    yield second_server
    backup_makers.clear(second_server)


@pytest.fixture
def check(tmp_path):
    """Run the plugin on a backup, and beside a server if one is given."""

    def check(path, *options, server=None, account=None):
        words = ["-d", path, "--state-dir", tmp_path / "state", *options]
        variables = {}
        if server:
            words += ["-S", server.socket, "-u", account.user if account else "root"]
            variables["STALLWATCH_MYSQL_PASSWORD"] = account.password if account else ""
        return Said.of(plugin_command.run(tmp_path, "check_mysql_backup", *words, variables=variables))

    return check


def pack(folder, program, ending):
    """Pack all SQL files of a folder."""
    for name in os.listdir(folder):
        if name.endswith(".sql"):
            backup_makers.run([software.program(program, program), "-q", os.path.join(folder, name)])
            if os.path.exists(os.path.join(folder, name + ending)) and program == "zstd":
                os.remove(os.path.join(folder, name))


def dump_in_quiet(path, hours=-1):
    """Let a dump look as if nobody had written to it for an hour."""
    then = time.time() + 3600 * hours
    for folder, _, names in os.walk(path):
        for name in names:
            os.utime(os.path.join(folder, name), (then, then))
    if os.path.isfile(path):
        os.utime(path, (then, then))


# What is whole


def test_mydumper(filled, check, tmp_path):
    dump = backup_makers.mydumper(filled, tmp_path / "dump")
    said = check(dump, "--verify", "full", "--no-binlog", server=filled)
    assert said.status == 0, said.output
    assert "(mydumper), " in said.text
    assert ALL in said.text
    assert "100 % verified" in said.text
    assert said.number("missing_tables") == said.number("damaged_files") == 0
    os.remove(dump / "shop.orders.sql")
    said = check(dump, "--no-binlog", server=filled)
    assert "no rows of shop.orders (about " in said.output
    assert "shop.part" not in said.output


def test_mydumper_in_packed_chunks(mariadb, check, tmp_path):
    dump = backup_makers.mydumper(mariadb, tmp_path / "dump", "-c", "-r", "100")
    assert len([name for name in os.listdir(dump) if name.startswith("shop.orders.0")]) > 1
    said = check(dump, "--verify", "sample", server=mariadb)
    assert (said.status, said.number("verified")) == (0, 100), said.output
    assert ALL in said.text


def test_mydumper_packed_by_zstd(mariadb, check, tmp_path):
    dump = backup_makers.mydumper(mariadb, tmp_path / "dump")
    pack(dump, "zstd", ".zst")
    said = check(dump, "--verify", "full", server=mariadb)
    assert (said.status, said.number("verified")) == (0, 100), said.output
    assert ALL in said.text
    assert " is still on the source" in said.text
    name = os.path.join(dump, "shop.orders.sql.zst")
    os.truncate(name, os.path.getsize(name) // 2)
    said = check(dump, "--verify", "full", server=mariadb)
    assert said.status == 2, said.output
    assert said.text.startswith(
        "MYSQL_BACKUP CRITICAL - shop.orders.sql.zst: the compressed data end too early"
    )


def test_mydumper_finds_no_place_in_the_binary_log_of_a_new_mysql(running_server, check, tmp_path):
    server = running_server("mysql")
    backup_makers.fill(server)
    try:
        said = check(backup_makers.mydumper(server, tmp_path / "dump"), server=server)
    finally:
        backup_makers.clear(server)
    assert said.status == 1, said.output
    assert "has no binary log position" in said.text


@pytest.mark.parametrize("name", ["all.sql", "all.sql.gz"])
def test_one_file_by_mariadb_dump_shows_its_tables_when_it_was_read(filled, check, tmp_path, name):
    path = tmp_path / "dumps" / name
    path.parent.mkdir()
    backup_makers.mysqldump(filled, path, "--databases", *backup_makers.SCHEMAS)
    dump_in_quiet(path)
    said = check(path.parent, "--no-binlog", server=filled)
    assert said.status == 0, said.output
    assert "which tables are in the backup" in "\n".join(said.more)
    said = check(path.parent, "--no-binlog", "--verify", "full", server=filled)
    assert (said.status, said.number("missing_tables")) == (0, 0), said.output
    assert ALL in said.text


def test_a_place_that_mariadb_dump_notes_is_still_on_the_source_until_it_is_purged(mariadb, check, tmp_path):
    path = tmp_path / "shop.sql"
    backup_makers.mysqldump(mariadb, path, "--master-data=2", "--databases", *backup_makers.SCHEMAS)
    said = check(path, "--verify", "full", server=mariadb)
    file, position = mariadb.place()
    assert said.status == 0, said.output
    assert f"{file}:{position} is still on the source" in said.text
    mariadb.sql("FLUSH BINARY LOGS")
    newest, _ = mariadb.place()
    end = time.monotonic() + 60
    while mariadb.sql("SHOW BINARY LOGS")[0]["Log_name"] != newest:  # kept until what is in it is on disk
        assert time.monotonic() < end
        mariadb.sql(f"PURGE BINARY LOGS TO '{newest}'")
    said = check(path, server=mariadb)
    assert said.status == 1, said.output
    assert f"{file} is gone: " in said.text
    assert f"the oldest binary log there is {newest}" in said.output


def test_one_file_for_each_table(filled, check, tmp_path):
    ending = ".sql" if isinstance(filled, Mariadb) else ".sql.gz"
    dump = backup_makers.mysqlpdump(filled, tmp_path / "dump", ending=ending)
    dump_in_quiet(dump)
    said = check(dump, server=filled)
    assert said.status == 0, said.output
    assert ALL in said.text
    assert " is still on the source" in said.text
    assert "not verified" in said.text
    said = check(dump, "--verify", "full", server=filled)
    assert (said.status, said.number("verified")) == (0, 100), said.output


def test_a_table_in_the_system_tablespace_is_in_a_copy(mariadb, check, tmp_path):
    with mariadb.session() as sql:
        sql("SET GLOBAL innodb_file_per_table = OFF")
        try:
            sql("CREATE TABLE shop.insystem (id INT PRIMARY KEY)")
        finally:
            sql("SET GLOBAL innodb_file_per_table = ON")
    backup_makers.mariabackup(mariadb, tmp_path / "full")
    assert not (tmp_path / "full" / "shop" / "insystem.ibd").exists()
    said = check(tmp_path / "full", server=mariadb)
    assert said.status == 0, said.output
    assert ALL in said.text


def test_mariadb_backup_prepared_and_not(mariadb, check, tmp_path):
    copy = tmp_path / "full"
    backup_makers.mariabackup(mariadb, copy)
    said = check(copy, server=mariadb)
    assert said.status == 0, said.output
    assert "not prepared), " in said.text
    assert ALL in said.text
    assert " is still on the source" in said.text
    backup_makers.prepare(copy)
    said = check(copy, server=mariadb)
    assert said.status == 0, said.output
    assert ", prepared), " in said.text
    assert ALL in said.text
    data = copy / "shop" / "orders.ibd"
    size = data.stat().st_size
    os.truncate(data, size // 2)
    said = check(copy, server=mariadb)
    assert said.status == 2, said.output
    assert f"shop/orders.ibd: it has {size // 2} bytes, and its header has a length of {size}" in said.text
    os.remove(data)
    said = check(copy, server=mariadb)
    assert said.status == 2, said.output
    assert "shop.orders is not in the backup" in said.text


# What is not


def test_mariadb_dump_that_failed(running_server, check, tmp_path):
    """MariaDB's program asks SHOW MASTER STATUS, which MySQL 8.4 and later do not know."""
    server, path = running_server("mysql"), tmp_path / "all.sql"
    assert backup_makers.mysqldump(server, path, "--master-data=2", "--all-databases", may_fail=True)
    said = check(path, "--unfinished-grace", "0s")
    assert said.status == 2, said.output
    assert "was not finished" in said.text
    assert 'all.sql does not end with "-- Dump completed"' in said.text


def test_mariadb_backup_that_failed(mariadb, check, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    assert backup_makers.mariabackup(mariadb, copies / "full-1") == 0
    failed = backup_makers.mariabackup(mariadb, copies / "full-2", "--socket=/nowhere", may_fail=True)
    assert failed
    os.makedirs(copies / "full-2", exist_ok=True)
    (copies / "full-2" / "ib_logfile0").touch()
    said = check(copies, "--unfinished-grace", "0s", server=mariadb)
    assert said.status == 2, said.output
    assert "in full-2 was not finished" in said.text
    assert any("in full-1" in line and ALL in line for line in check(copies, "-v", "--unfinished-grace", "0s",
               server=mariadb).more)  # fmt: skip


def test_a_running_mydumper_is_no_failed_one_until_it_is_killed(mariadb, check, tmp_path):
    backups = tmp_path / "backups"
    backups.mkdir()
    backup_makers.mydumper(mariadb, backups / "2026-01-01")
    running = backups / "2026-01-02"
    with mariadb.session() as sql:
        sql("LOCK TABLES shop.orders WRITE")
        program = [software.program("mydumper", "mydumper"), "-S", mariadb.socket, "-u", "root", "-B", "shop"]
        process = subprocess.Popen([*program, "--no-locks", "-o", running], stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 60
            while not (running / "metadata.partial").exists():
                assert time.monotonic() < until
                time.sleep(0.05)
            said = check(backups, server=mariadb)
            assert said.status == 0, said.output
            assert "in 2026-01-01, " in said.text
            assert any("not finished yet" in line and "2026-01-02" in line for line in said.more)
            alone = check(running)
            assert alone.status == 1, alone.output
            assert "there is no finished backup" in alone.text
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        sql("UNLOCK TABLES")
    said = check(backups, "--unfinished-grace", "0s", server=mariadb)
    assert said.status == 2, said.output
    assert "in 2026-01-02 was not finished" in said.text


def test_a_table_that_mydumper_could_not_dump_is_found_though_it_says_finished(mariadb, check, tmp_path):
    """Version 0.10 does not quote a backtick in a name."""
    mariadb.sql("CREATE TABLE shop.`back``tick` (id INT PRIMARY KEY)")
    dump = tmp_path / "dump"
    program = software.program("mydumper", "mydumper")
    command = [program, "-S", mariadb.socket, "-u", "root", "-B", "shop", "-o", dump]
    assert backup_makers.run(command, may_fail=True).returncode
    said = check(dump, "--ignore-table", "odd-db.*", server=mariadb)
    assert said.status == 2, said.output
    assert "shop.back`tick-schema.sql: it makes no table" in said.text


# The server


def test_a_table_that_was_made_since_is_not_missing(filled, check, tmp_path):
    dump = backup_makers.mydumper(filled, tmp_path / "dump")
    time.sleep(1.1)  # servers tell when a table was made in whole seconds
    filled.sql("CREATE TABLE shop.later (id INT PRIMARY KEY)")
    said = check(dump, "--no-binlog", server=filled)
    assert said.status == 0, said.output
    assert f"{TABLES} tables of {TABLES + 1} (1 made later)" in said.text


def test_what_an_account_may_not_see_is_told(filled, check, tmp_path):
    dump = backup_makers.mysqlpdump(filled, tmp_path / "dump")
    dump_in_quiet(dump)
    logs = "BINLOG MONITOR" if isinstance(filled, Mariadb) else "REPLICATION CLIENT"
    least = filled.account("least", "SHOW VIEW", logs)
    said = check(dump, server=filled, account=least)
    assert said.status == 0, said.output
    assert ALL in said.text
    part = filled.account("part", "SELECT ON shop.orders", logs)
    said = check(dump, server=filled, account=part)
    assert said.status == 3, said.output
    assert "compared are only the tables that" in said.output
    assert "GRANT SHOW VIEW ON *.*" in said.output
    nothing = filled.account("nothing")
    said = check(dump, server=filled, account=nothing)
    assert said.status == 3, said.output
    assert "GRANT SHOW VIEW ON *.*" in said.output
    assert f"GRANT {logs} ON *.*" in said.output


def test_a_server_that_is_not_there_leaves_the_backup_its_verdict(mariadb, check, tmp_path):
    dump = backup_makers.mydumper(mariadb, tmp_path / "dump")
    (dump / "shop.orders.sql").write_bytes(b"")
    said = check(dump, "-S", "/nowhere/socket")
    assert said.status == 2, said.output
    assert said.text.startswith("MYSQL_BACKUP CRITICAL - shop.orders.sql: it is empty")
    assert any("/nowhere/socket" in line for line in said.more)


# The restore


def test_what_is_judged_whole_is_restored_by_myloader_to_the_last_row(mariadb, other, check, tmp_path):
    mariadb.sql("DROP TABLE `odd-db`.`t-schema`")  # myloader 0.10 takes its rows for the making of "t"
    dump = backup_makers.mydumper(mariadb, tmp_path / "dump", "-c")
    said = check(dump, "--verify", "full", server=mariadb)
    assert (said.status, said.number("verified")) == (0, 100), said.output
    expected = checksums(mariadb)
    assert len(expected) == TABLES - 1
    program = software.program("myloader", "mydumper")
    backup_makers.run([program, "-S", other.socket, "-u", "root", "-d", dump])
    assert checksums(other) == expected


def test_what_is_judged_incomplete_lacks_just_that_when_it_is_restored(mariadb, other, check, tmp_path):
    dump = backup_makers.mysqlpdump(mariadb, tmp_path / "dump")
    dump_in_quiet(dump)
    broken = dump / "shop-orders.sql.gz"
    os.remove(dump / "shop-customer.sql.gz")
    os.truncate(broken, broken.stat().st_size // 2)
    dump_in_quiet(dump, hours=2)  # what was made less than an hour before its end need not be in it
    said = check(dump, "--verify", "full", server=mariadb)
    assert said.status == 2, said.output
    assert "shop.customer is not in the backup" in said.output
    assert "shop-orders.sql.gz: the compressed data end too early" in said.output
    expected = checksums(mariadb)
    for schema in backup_makers.SCHEMAS:
        other.sql(f"CREATE DATABASE `{schema}`")
    for schema, table in expected:
        path = dump / f"{schema}-{table}.sql.gz"
        if path.exists():
            text = decompressed(path)
            assert backup_makers.load(other, text, schema).returncode == 0 or path == broken
    found = checksums(other)
    assert ("shop", "customer") not in found
    bad = {("shop", "customer"), ("shop", "orders")}
    assert {table: found[table] for table in expected if table not in bad} == {
        table: expected[table] for table in expected if table not in bad
    }
    assert found.get(("shop", "orders")) != expected["shop", "orders"]


@pytest.mark.own_server("its data are the copy")
def test_a_copy_that_is_judged_whole_starts_as_a_server(mariadb, own_server, check, tmp_path):
    copy = tmp_path / "full"
    backup_makers.mariabackup(mariadb, copy)
    backup_makers.prepare(copy)
    assert check(copy, server=mariadb).status == 0
    expected = checksums(mariadb)
    place = tmp_path / "mariadb"
    place.mkdir()
    shutil.copytree(copy, place / "data")
    restored = own_server("mariadb")
    assert base_tables(restored) == list(expected)
    assert checksums(restored) == expected


def decompressed(path):
    """The text of a gzip file as far as it goes."""
    text = b""
    with gzip.open(path) as file:
        try:
            while piece := file.read(100):
                text += piece
        except EOFError:
            pass
    return text
