"""Backups that seem to be well and are not, and those that are well and seem not to be."""

import bz2
import contextlib
import gzip
import os
import subprocess
import time

import pytest
from backups import HOUR, PLUGIN, FakeServer, copied, moment, pages, written
from first_line import first_line, perfdata
from stallwatch.frame.options import mysql
from stallwatch.probes.mysql_backup import physical, verify
from stallwatch.sources.backups import files

pytestmark = pytest.mark.usefixtures("utc")
NOW = "2026-11-22 09:56:00"
THEN = moment(NOW) - 2 * HOUR
LOST = "mysqldump: Got error: 1045: Access denied for user when trying to connect\n"
WARNED = "mysqldump: [Warning] Using a password on the command line interface can be insecure.\n"
FINISHED = "Started dump at: 2026-11-22 07:55:59\n\nFinished dump at: 2026-11-22 07:56:00\n"
needs_zstd = pytest.mark.usefixtures("zstd_programs")


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def now(monkeypatch):
    time_ = [moment(NOW)]
    monkeypatch.setattr(time, "time", lambda: time_[0])

    def at(text):
        time_[0] = moment(text)

    return at


@pytest.fixture
def check(now, server, tmp_path, monkeypatch):
    monkeypatch.setattr(mysql, "connect", lambda *_: server)

    def check(path, *arguments):
        words = ["--state-dir", str(tmp_path / "state"), "-d", str(path), "--no-binlog", *map(str, arguments)]
        return PLUGIN["check"].run(PLUGIN["findings"], words)

    return check


def made(path, text, at=THEN):
    """Write a file, packed as its name says."""
    octets = text if isinstance(text, bytes) else text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        gzip.compress(octets) if path.name.endswith(".gz") and octets[:2] != b"\x1f\x8b" else octets
    )
    os.utime(path, (at, at))
    return path


def dump(schema="", tables=("orders",), rows=0, *, whole=True, head="-- MariaDB dump 10.19\n"):
    """A dump of some tables as mariadb-dump writes it."""
    named = f"-- Host: localhost    Database: {schema}\n" if head else ""
    text = "".join(
        f"\nCREATE TABLE `{table}` (\n  id int);\nINSERT INTO `{table}` VALUES (1);\n" for table in tables
    )
    text += "".join(f"INSERT INTO x VALUES ({number}, '{hash(number * 1.7)}');\n" for number in range(rows))
    return head + named + text + ("-- Dump completed\n" if whole else "")


# Nothing in it, or no dump (cheap looks, without --verify)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("all.sql.gz", gzip.compress(b"", mtime=0), "there is nothing in it"),
        ("all.sql", LOST, 'it does not begin with SQL but with "mysqldump: Got error: 1045'),
        ("all.sql.gz", LOST, "it does not begin with SQL but with"),
        ("all.sql", WARNED + dump(rows=1000, whole=False), "it does not begin with SQL but with"),
        ("all.sql.gz", WARNED + dump(rows=5000), "it does not begin with SQL but with"),
        ("all.sql", bytes(100_000), "it begins with zeros"),
        ("all.sql", dump().encode("utf-16"), "it does not begin with SQL"),
        ("full.tar.gz", gzip.compress(b"", mtime=0), "there is nothing in it"),
        ("full.tar.gz", b"\x1f\x8b" + bytes(0), "the compressed data end too early"),
        ("full.tar", b"", "it is empty"),
        ("full.tar", bytes(9000), "it begins with zeros"),
        ("all.sql.xz", b"", "it is empty"),
    ],
)
def test_a_backup_with_nothing_in_it_is_critical(check, tmp_path, name, text, said):
    status, answer = check(made(tmp_path / "b" / name, text))
    assert status == 2, answer
    assert said in first_line(answer)


@pytest.mark.parametrize("name", ["all.sql.gz", "all.sql.zst", "full.tar.gz"])
def test_a_file_that_is_not_packed_as_its_name_says_is_critical(check, tmp_path, name):
    path = made(tmp_path / "b" / name, gzip.compress(b"x"))
    path.write_bytes(bytes(100_000))
    os.utime(path, (THEN, THEN))
    status, answer = check(path)
    assert status == 2, answer
    assert ", although its name says so" in first_line(answer)


@needs_zstd
def test_zstd_of_nothing_is_critical(check, tmp_path):
    packed = subprocess.run(["zstd", "-q", "-c"], input=b"", capture_output=True, check=True).stdout
    assert check(made(tmp_path / "b" / "all.sql.zst", packed))[0] == 2


def test_empty_texts_in_a_file_for_each_table_are_critical(check, tmp_path):
    for table in ("customer", "nothing", "orders", "part"):
        made(tmp_path / "b" / f"shop-{table}.sql.gz", gzip.compress(b""))
    status, answer = check(tmp_path / "b", "-H", "db1")
    assert status == 2
    assert "4 files are damaged" in answer


def test_a_file_that_has_just_been_begun_is_a_warning(check, tmp_path):
    made(tmp_path / "b" / "shop-customer.sql.gz", dump("shop", ["customer"]))
    made(tmp_path / "b" / "shop-orders.sql.gz", b"\x1f\x8b\x08", at=moment(NOW) - 5)
    assert check(tmp_path / "b")[0] == 1


# Ends that tell, and ends that do not


@pytest.mark.parametrize("name", ["bare.sql", "bare.sql.gz"])
def test_a_dump_without_comments_is_to_end_as_it_begins(check, tmp_path, name):
    text = (copied("mariadb-dump", tmp_path / "all") / "bare.sql").read_bytes()
    path = made(tmp_path / "b" / name, text)
    assert check(path, "--verify", "full")[0] == 0
    made(path, text[: len(text) * 6 // 10], at=THEN + 1)
    status, answer = check(path, "--verify", "full", "--unfinished-grace", "0s")
    assert status == 2, answer
    assert 'does not end with "-- Dump completed"' in answer


def test_a_dump_whose_end_tells_nothing_is_not_verified(check, tmp_path):
    path = copied("mariadb-dump", tmp_path / "b") / "compact.sql"
    written(path.parent, THEN)
    for _ in range(2):
        status, answer = check(path, "--verify", "full")
        assert (status, perfdata(answer)["verified"]) == (3, "0%")
        assert "whether compact.sql is complete is not known" in first_line(answer)


@needs_zstd
def test_what_pzstd_has_packed_is_read(check, tmp_path):
    plain = made(tmp_path / "all.sql", dump(rows=50_000))
    subprocess.run(["pzstd", "-q", "-p", "2", plain], check=True, capture_output=True)
    packed = (tmp_path / "all.sql.zst").read_bytes()
    assert packed[1:4] == b"\x2a\x4d\x18"
    assert check(made(tmp_path / "b" / "all.sql.zst", packed), "--verify", "full")[0] == 0
    cut = made(tmp_path / "b" / "all.sql.zst", packed[: len(packed) // 2], at=THEN + 1)
    status, answer = check(cut, "--verify", "full")
    assert status == 2, answer


@needs_zstd
def test_a_large_window_of_zstd_is_no_damage(check, tmp_path):
    text = dump(rows=200_000).encode()

    def verified(window):
        command = ["zstd", "-q", f"--long={window}", "-c"]
        packed = subprocess.run(command, input=text, capture_output=True, check=True).stdout
        return check(made(tmp_path / str(window) / "all.sql.zst", packed), "--verify", "full")

    assert verified(25)[0] == 0
    status, said = verified(27)
    assert status == 3
    assert "it needs 128 MiB of memory to be read, more than a check takes" in said
    assert ": check it with zstd -t --long=27" in said


def let_time_be_up(monkeypatch, path):
    """Let the time be up while this file is read, as soon as the others have been."""
    passed = [0.0]
    real, work = verify.contents.text, verify._Run._work
    begun, ended = [], []  # threads, two in each run

    def counted(run):
        begun.append(run)
        work(run)
        ended.append(run)

    def slow(place, *arguments, **more):
        for piece in real(place, *arguments, **more):
            if place == str(path) and more:
                while len(begun) % 2 or len(begun) - len(ended) > 1:
                    time.sleep(0.01)
                passed[0] += 100
            yield piece

    monkeypatch.setattr(verify._Run, "_work", counted)
    monkeypatch.setattr(time, "monotonic", lambda: passed[0])
    monkeypatch.setattr(verify.contents, "text", slow)
    monkeypatch.setattr(verify, "processors", lambda: 2)


def test_a_file_that_needs_more_time_than_there_is_is_a_warning(check, tmp_path, monkeypatch):
    path = made(tmp_path / "b" / "shop.sql.gz", dump("shop", rows=20_000))
    made(tmp_path / "b" / "crm.sql.gz", dump("crm", rows=10))
    real = verify.contents.text
    let_time_be_up(monkeypatch, path)
    for _ in range(2):
        status, answer = check(tmp_path / "b", "--verify", "full")
        assert status == 1, answer
        assert (
            "shop.sql.gz cannot be read to the end in the time that there is - --verify full"
            in first_line(answer)
        )
        assert 0 < float(perfdata(answer)["verified"].rstrip("%")) < 100
    monkeypatch.setattr(verify.contents, "text", real)
    status, answer = check(tmp_path / "b", "--verify", "full")
    assert (status, perfdata(answer)["verified"]) == (0, "100%")


def test_what_nobody_can_look_into_does_not_need_more_time(check, tmp_path, monkeypatch):
    path = made(tmp_path / "b" / "shop.sql.gz", dump("shop", rows=20_000))
    made(tmp_path / "b" / "crm.sql.xz", b"\xfd7zXZ\0" + bytes(9))
    let_time_be_up(monkeypatch, path)
    answer = check(tmp_path / "b", "--verify", "full")[1]
    assert first_line(answer).startswith("MYSQL_BACKUP WARNING - shop.sql.gz cannot be read to the end"), (
        answer
    )
    assert "crm.sql.xz cannot be verified: compressed by xz" in answer


def test_an_archive_is_read_to_the_end_of_its_packing(check, tmp_path):
    packed = gzip.compress(os.urandom(100_000))
    status, answer = check(made(tmp_path / "b" / "full.tar.gz", packed), "--verify", "full")
    assert (status, "100 % of its packing verified" in first_line(answer)) == (0, True), answer
    made(tmp_path / "b" / "full.tar.gz", packed[:50_000], at=THEN + 1)
    assert check(tmp_path / "b", "--verify", "full")[0] == 2
    status, answer = check(made(tmp_path / "c" / "full.tar.bz2", bz2.compress(b"x" * 99)), "--verify", "full")
    assert status == 3
    assert "cannot be verified" in first_line(answer)


# mydumper


def test_rows_that_were_counted_and_have_no_file_are_critical(check, tmp_path):
    text = (
        "# Started dump at: 2026-11-22 07:55:59\n[`shop`.`orders`]\nreal_table_name=orders\nrows = 100000\n"
    )
    made(tmp_path / "b" / "metadata", f"{text}# Finished dump at: 2026-11-22 07:56:00\n")
    made(tmp_path / "b" / "shop.orders-schema.sql", "CREATE TABLE `orders` (\nid int);\n")
    made(tmp_path / "b" / "shop.other.00000.sql", "INSERT INTO `other` VALUES (1);\n")
    status, answer = check(tmp_path / "b")
    assert status == 2
    assert "shop.orders: it has no file of rows, and metadata has 100000 rows" in first_line(answer)
    made(tmp_path / "b" / "shop.orders.00000.sql", "INSERT INTO `orders` VALUES (1);\n")
    assert check(tmp_path / "b")[0] == 0


@pytest.mark.parametrize(("updated", "status"), [(None, 1), (THEN - 9 * HOUR, 1), (THEN + HOUR, 0)])
def test_rows_that_the_server_has_and_no_file_are_told(check, tmp_path, server, updated, status):
    path = copied("mydumper-0.10-mariadb", tmp_path / "b")
    os.remove(path / "shop.orders.sql")
    written(path, moment("2026-11-21 23:56:05"))
    server.filled = {("shop", "orders"): (500, updated), ("shop", "part"): (2, None)}
    found, answer = check(path, "-H", "db1")
    assert found == status, answer
    assert "no rows of shop.orders (about 500) in the backup" in answer


def test_a_dump_that_is_written_over_an_older_one_is_not_finished(check, tmp_path):
    made(tmp_path / "b" / "metadata", FINISHED)
    made(tmp_path / "b" / "metadata.partial", "Started dump at: 2026-11-22 07:56:00\n")
    made(tmp_path / "b" / "shop.orders-schema.sql", "CREATE TABLE `orders` (\nid int);\n")
    status, answer = check(tmp_path / "b", "--unfinished-grace", "1h")
    assert status == 2
    assert "was not finished, metadata.partial is still there" in first_line(answer)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("shop.orders.sql", "INSERT INTO `orders` VALUES\n(1,'a", 'it does not end with ";"'),
        ("shop.orders.00000.dat", "", "it is empty"),
        ("shop.orders.00000.sql.gz", gzip.compress(b"", mtime=0), "there is nothing in it"),
    ],
)
def test_a_file_of_mydumper_that_is_cut_off_is_critical_without_reading_it_all(
    check, tmp_path, name, text, said
):
    made(tmp_path / "b" / "metadata", FINISHED)
    made(tmp_path / "b" / "shop.orders-schema.sql", "CREATE TABLE `orders` (\nid int);\n")
    made(tmp_path / "b" / name, text)
    status, answer = check(tmp_path / "b")
    assert status == 2
    assert f"{name}: {said}" in first_line(answer)


# Copies of a data directory


@pytest.fixture
def copy(tmp_path):
    def copy(name="prepared", place="b"):
        path = copied(f"mariabackup/{name}", tmp_path / place)
        written(path, moment("2026-11-21 23:56:06"))
        return path

    return copy


def empty(path):
    path.write_bytes(b"")


def cut(path):
    path.write_bytes(pages(2, said=4))


def part_of_a_page(path):
    path.write_bytes(pages(4)[:-5])


@pytest.mark.parametrize(
    ("name", "harm", "said"),
    [
        ("shop/orders.ibd", empty, "it is empty"),
        ("shop/orders.ibd", cut, "it has 32768 bytes, and its header has a length of 65536"),
        ("shop/orders.ibd", part_of_a_page, "65531 bytes are no whole pages"),
        ("ibdata1", empty, "it is empty"),
        ("ibdata1", os.remove, "it is not there"),
        ("backup-my.cnf", os.remove, "it is not there"),
        ("shop/my.MYD", lambda path: (path.with_suffix(".MYI")).write_bytes(b"x"), "it is not there"),
        ("shop/my.MYI", lambda path: (path.with_suffix(".MYD")).write_bytes(b""), "it is not there"),
    ],
)
def test_a_copy_with_files_that_cannot_be_right_is_critical(check, copy, name, harm, said):
    path = copy()
    assert check(path)[0] == 0
    harm(path / name)
    status, answer = check(path)
    assert status == 2
    assert f"{name}: {said}" in first_line(answer)


def test_a_path_of_innodb_s_own_tables_may_end_with_a_semicolon(check, copy):
    path = copy()
    (path / "backup-my.cnf").write_text("[mysqld]\ninnodb_data_file_path=ibdata1:12M:autoextend;\n")
    status, answer = check(path)
    assert status == 0, answer


def test_a_copy_is_not_verified_and_that_is_said(check, copy):
    path = copy()
    status, answer = check(path)
    assert (status, ", not verified" in first_line(answer)) == (0, True)
    status, answer = check(path, "--verify", "full")
    assert status == 3
    assert "pages are not verified here" in first_line(answer)


def test_a_table_whose_rows_are_not_in_a_copy_is_missing(check, copy, server):
    path = copy()
    os.remove(path / "shop" / "orders.ibd")
    status, answer = check(path, "-H", "db1")
    assert status == 2
    assert "shop.orders is not in the backup" in first_line(answer)
    server.shared = ["shop/orders", "odd@002ddb/x"]
    status, answer = check(path, "-H", "db1")
    assert (status, "3 tables of 3" in answer) == (0, True)
    server.shared = None
    status, answer = check(path, "-H", "db1")
    assert status == 2
    assert "whether they are in a shared tablespace, is not known" in answer


def test_an_incremental_copy_is_of_no_use_without_its_base(check, copy, server):
    path = copy("since", "all/since")
    status, answer = check(path, "-H", "db1")
    assert status == 1  # copies that are full may be kept elsewhere
    assert "its base is not here, the copy up to log sequence number 44404" in first_line(answer)
    copy("since", "all/again")
    status, answer = check(path, "-H", "db1")
    assert status == 2
    assert "its base is not here, the copy up to log sequence number 44404" in first_line(answer)
    copy("full", "all/full")
    status, answer = check(path, "-H", "db1")
    assert status == 0, answer
    assert "(mariadb-backup, incremental), " in first_line(answer)
    assert "4 tables of 4" in answer


def of_copies(tmp_path, **copies):
    """Tell what the last one of these lacks: the kind of each, and its log sequence numbers."""
    for name, (kind, begin, end) in copies.items():
        text = f"backup_type = {kind}\nfrom_lsn = {begin}\nto_lsn = {end}\n"
        path = made(tmp_path / name / "xtrabackup_checkpoints", text)
    return physical.lacks(str(path.parent), physical.settings(str(path)))


def test_any_way_back_to_a_full_copy_will_do(tmp_path):
    """Where nothing was written between two copies, both end at the same number."""
    full, old, base = ("full-backuped", 0, 100), ("incremental", 50, 200), ("incremental", 100, 200)
    last = ("incremental", 200, 300)
    assert "up to log sequence number 50:" in of_copies(tmp_path / "a", old=old, last=last)
    assert of_copies(tmp_path / "b", full=full, old=old, base=base, last=last) == ""


def test_copies_that_go_round_in_a_circle_come_to_an_end(tmp_path):
    there, back = ("incremental", 100, 200), ("incremental", 200, 100)
    assert "its base is not here" in of_copies(
        tmp_path, there=there, back=back, last=("incremental", 200, 300)
    )


def test_a_copy_without_the_file_that_is_written_last_is_not_finished(check, copy):
    path = copy()
    (path / "xtrabackup_info").write_bytes(b"")
    written(path, moment("2026-11-21 23:56:06"))
    status, answer = check(path)
    assert status == 2
    assert "it has no xtrabackup_info, or an empty one, which is written last" in answer


# Which of several


def test_a_series_that_has_ended_is_a_warning(check, tmp_path):
    for day in range(18, 23):
        made(
            tmp_path / "b" / f"shop-2026-11-{day}.sql.gz", dump("shop"), at=moment(f"2026-11-{day} 02:00:00")
        )
        if day < 20:
            made(
                tmp_path / "b" / f"crm-2026-11-{day}.sql.gz",
                dump("crm"),
                at=moment(f"2026-11-{day} 02:00:00"),
            )
    status, answer = check(tmp_path / "b")
    assert status == 1
    assert "crm-2026-11-19.sql.gz has had no successor since" in first_line(answer)


def test_a_date_in_the_name_of_a_table_is_none_of_the_backup(check, tmp_path, server):
    for table in ("customer", "nothing", "log_20261101"):
        made(tmp_path / "b" / f"shop-{table}.sql.gz", dump("shop", [table]))
    server.tables = [("shop", "customer"), ("shop", "nothing"), ("shop", "log_20261101")]
    status, answer = check(tmp_path / "b", "-H", "db1")
    assert status == 0, answer
    assert "3 tables of 3" in first_line(answer)


def test_an_old_dump_with_a_date_does_not_hide_the_one_that_is_written_anew(check, tmp_path):
    made(tmp_path / "b" / "pre-upgrade-2026-01-01.sql.gz", dump(), at=moment("2026-01-01 12:00:00"))
    made(tmp_path / "b" / "all.sql.gz", dump())
    status, answer = check(tmp_path / "b")
    assert status == 0
    assert ", 2 h old, " in first_line(answer)


def test_fewer_and_smaller_files_are_a_warning(check, tmp_path):
    for number in range(6):
        made(
            tmp_path / "b" / f"shop-t{number}.sql.gz", dump("shop", [f"t{number}"], rows=2000), at=THEN - HOUR
        )
    assert check(tmp_path / "b")[0] == 0
    for number in range(6):
        path = tmp_path / "b" / f"shop-t{number}.sql.gz"
        made(path, dump("shop", [f"t{number}"])) if number < 3 else os.remove(path)
    status, answer = check(tmp_path / "b")
    assert status == 1
    assert float(perfdata(answer)["size_change"].partition("%")[0]) < -90


# Tables


def test_a_schema_without_a_file_where_others_have_one_is_missing(check, tmp_path, server):
    server.tables = [("shop", "orders"), ("crm", "a"), ("crm", "b")]
    made(tmp_path / "b" / "shop.sql.gz", dump("shop", rows=5000))
    status, answer = check(tmp_path / "b", "-H", "db1")
    assert status == 2
    assert "crm.a and crm.b are not in the backup" in first_line(answer)
    made(tmp_path / "b" / "crm.sql.gz", dump("crm", "ab", rows=5000))
    status, answer = check(tmp_path / "b", "-H", "db1")
    assert status == 0
    assert "which tables are in it is not known" in first_line(answer)


def test_tables_in_files_that_were_not_read_are_not_known_yet(check, tmp_path, server):
    server.tables = [("shop", "customer"), ("shop", "orders"), ("crm", "a"), ("crm", "b")]
    made(tmp_path / "b" / "shop.sql.gz", dump("shop", ["customer", "orders"], rows=5000))
    for table in "ab":
        made(tmp_path / "b" / f"crm-{table}.sql.gz", dump("crm", table, rows=5000))
    status, answer = check(tmp_path / "b", "-H", "db1")
    assert status == 0
    assert "2 tables of 4 (2 not known yet)" in first_line(answer)
    assert "4 tables of 4, " in check(tmp_path / "b", "-H", "db1", "--verify", "full")[1]
    os.remove(tmp_path / "b" / "crm-b.sql.gz")
    status, answer = check(tmp_path / "b", "-H", "db1")
    assert status == 2
    assert "crm.b is not in the backup" in first_line(answer)


def test_tables_in_a_damaged_file_are_not_missing_besides(check, tmp_path, server):
    server.tables = [("shop", "orders"), ("crm", "a")]
    made(tmp_path / "b" / "shop.sql.gz", dump("shop"))
    made(tmp_path / "b" / "crm.sql.gz", gzip.compress(dump("crm", "a").encode())[:-9])
    status, answer = check(tmp_path / "b", "-H", "db1", "--verify", "full")
    assert (status, perfdata(answer)["missing_tables"]) == (2, "0;;0")
    assert "crm.sql.gz: the compressed data end too early" in first_line(answer)


def test_names_without_quotes_and_a_schema_that_only_the_file_s_name_tells(check, tmp_path, server):
    made(
        tmp_path / "b" / "shop.sql.gz",
        dump("shop", ["customer", "nothing", "orders", "part"]).replace("`", ""),
    )
    assert "4 tables of 4" in check(tmp_path / "b", "-H", "db1", "--verify", "full")[1]
    bare = "/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n"
    text = dump(tables=["customer", "nothing", "orders"], head=bare)
    made(tmp_path / "c" / "shop.sql.gz", text.replace("-- Host: localhost    Database: \n", ""))
    status, answer = check(tmp_path / "c", "-H", "db1", "--verify", "full")
    assert status == 2
    assert "shop.part is not in the backup" in first_line(answer)
    assert "3 tables of 4 in there" in answer


def test_optimizing_a_missing_table_does_not_make_it_newer(check, tmp_path, server, now):
    path = copied("mydumper-0.10-mariadb", tmp_path / "b")
    written(path, moment("2026-11-21 23:56:05"))
    server.tables.append(("crm", "lost"))
    server.made["crm", "lost"] = moment("2026-11-01 00:00:00")
    assert check(path, "-H", "db1")[0] == 2
    server.made["crm", "lost"] = moment("2026-11-22 09:00:00")
    assert check(path, "-H", "db1")[0] == 2
    server.tables.append(("crm", "new"))
    server.made["crm", "new"] = moment("2026-11-22 09:00:00")
    assert "(1 made later)" in check(path, "-H", "db1", "-v")[1]


def test_optimizing_a_table_that_is_missing_in_a_large_file_does_not_make_it_newer(check, tmp_path, server):
    path = made(
        tmp_path / "b" / "all.sql", dump("shop", ["customer", "nothing", "orders", "part"], rows=1000)
    )
    server.tables.append(("crm", "lost"))
    for made_at in (THEN - 99 * HOUR, THEN + HOUR, THEN + HOUR):
        server.made["crm", "lost"] = made_at
        status, answer = check(path, "-H", "db1", "--verify", "full")
        assert status == 2, answer
        assert "crm.lost is not in the backup" in first_line(answer)


def test_a_table_that_was_made_while_a_dump_ran_is_not_missing_from_it(check, tmp_path, server):
    path = made(tmp_path / "b" / "all.sql", dump("shop", ["customer", "nothing", "orders", "part"]))
    server.tables.append(("shop", "during"))
    server.made["shop", "during"] = THEN - 60
    status, answer = check(path, "-H", "db1", "--verify", "full")
    assert status == 0, answer
    assert "4 tables of 5 (1 made later)" in first_line(answer)
    server.made["shop", "during"] = THEN - 9 * HOUR
    assert check(path, "-H", "db1", "--verify", "full")[0] == 2


# The place in the binary log


def test_the_place_of_a_source_is_not_looked_for_on_its_replica(tmp_path, server, now, monkeypatch):
    monkeypatch.setattr(mysql, "connect", lambda *_: server)
    own = "SHOW MASTER STATUS:\n\tLog: own.000002\n\tPos: 5\n\n"
    other = "SHOW SLAVE STATUS:\n\tConnection name: \n\tHost: 10.0.0.9\n\tLog: own.000007\n\tPos: 44\n\n"
    text = FINISHED.replace("\n\n", f"\n{own}{other}")
    made(tmp_path / "b" / "metadata", text)
    server.tables, server.logs = [], [("own.000007", 500), ("own.000008", 5)]
    words = ["--no-state", "-H", "db1", "-d", str(tmp_path / "b")]
    status, answer = PLUGIN["check"].run(PLUGIN["findings"], words)
    assert status == 1
    assert "own.000002 is gone: " in first_line(answer)


def test_gtids_are_a_place(tmp_path, server, now, monkeypatch):
    monkeypatch.setattr(mysql, "connect", lambda *_: server)
    gtids = "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5';\n"
    server.tables = [("shop", "orders")]
    path = made(tmp_path / "b" / "all.sql", dump("shop").replace("\nCREATE", f"\n{gtids}\nCREATE", 1))
    words = ["--no-state", "-H", "db1", "-d", str(path)]
    status, answer = PLUGIN["check"].run(PLUGIN["findings"], words)
    assert (status, "GTIDs noted" in first_line(answer)) == (0, True), answer


def test_a_directory_that_may_be_listed_and_not_entered_is_no_empty_one(check, tmp_path, monkeypatch):
    class Entry:
        name, path = "all.sql", str(tmp_path / "b" / "all.sql")

        def is_dir(self, **_):
            return False

        def stat(self):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "scandir", lambda _: contextlib.nullcontext([Entry()]))
    status, answer = check(tmp_path)
    assert status == 3
    assert " may not " in first_line(answer)
