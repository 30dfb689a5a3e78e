"""What check_mysql_backup says of recorded backups, beside a server and alone, in health and in need."""

import gzip
import json
import os
import shutil
import time

import pytest
from backups import HOUR, PLUGIN, FakeServer, copied, moment, written
from first_line import first_line, perfdata
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.frame.options import mysql
from stallwatch.probes.mysql_backup.diagnosis import size_before
from stallwatch.sources.mysql.errors import NotSentError

pytestmark = pytest.mark.usefixtures("utc")
TAKEN = "2026-11-21 23:56"


@pytest.fixture
def now(monkeypatch):
    """Ten hours after the recorded backups were made; may be set."""
    time_ = [moment("2026-11-22 09:56:00")]
    monkeypatch.setattr(time, "time", lambda: time_[0])

    def at(text):
        time_[0] = moment(text)

    return at


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def check(now, server, tmp_path, monkeypatch):
    """Run the plugin; with -H it asks the server."""
    monkeypatch.setattr(mysql, "connect", lambda *_: server)

    def check(path, *arguments):
        words = ["--state-dir", str(tmp_path / "state"), "-d", str(path), *map(str, arguments)]
        return PLUGIN["check"].run(PLUGIN["findings"], words)

    return check


@pytest.fixture
def backup(tmp_path):
    """Gives a recorded backup, written to when it was finished."""

    def backup(name, within="", place="backup"):
        path = copied(os.path.join(name, within), tmp_path / place)
        written(path, moment("2026-11-21 23:56:05"))
        return path

    return backup


# What is well


def test_the_line_says_what_one_needs_to_know_before_a_restore(check, backup):
    status, text = check(backup("mydumper-0.10-mariadb"), "-H", "db1")
    assert status == 0
    assert first_line(text).startswith(f"MYSQL_BACKUP OK - backup of {TAKEN} (mydumper), ")
    assert ", 4 tables of 4, " in text
    assert ", binlog.000001:2762 is still on the source | age=" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "within", "maker"),
    [
        ("mydumper-0.10-packed", "", "mydumper"),
        ("mysqlpdump", "", "mysqldump, 6 files"),
        ("mysqlpdump-packed", "", "mysqldump, 6 files"),
        ("mariabackup", "full", "mariadb-backup, not prepared"),
        ("mariabackup", "prepared", "mariadb-backup, prepared"),
    ],
)
def test_backups_of_all_makers(check, backup, name, within, maker):
    status, text = check(backup(name, within), "-H", "db1")
    assert status == 0, text
    assert f"backup of {TAKEN} ({maker}), " in text
    assert "4 tables of 4" in text
    assert "is still on the source" in text


def test_without_a_server_the_place_is_told_and_tables_are_not_compared(check, backup):
    status, text = check(backup("mydumper-0.10-mariadb"))
    assert status == 0
    assert "tables" not in first_line(text)
    assert "binlog.000001:2762" in text
    assert "source" not in text
    assert "missing_tables" not in perfdata(text)


@pytest.mark.parametrize("name", ["all.sql", "gtid.sql", "bare.sql", "undated.sql"])
def test_one_file_for_all_is_known_by_its_end(check, backup, name):
    path = backup("mariadb-dump") / name
    status, text = check(path, "--no-binlog")
    assert (status, "not verified" in text) == (0, False), text
    path.write_bytes(path.read_bytes()[:-80])
    written(path.parent, moment("2026-11-21 23:56:05"))
    status, text = check(path, "--no-binlog")
    assert status == 2, text
    assert f'{name} does not end with "-- Dump completed", last written to 10 h ago' in text


def test_of_a_dump_without_a_last_line_it_is_not_told_that_it_is_whole(check, backup):
    status, text = check(backup("mariadb-dump") / "compact.sql")
    assert status == 0
    assert f"backup of {TAKEN} (mysqldump, no last line shows that it is whole), 10 h old" in text
    assert "not verified" in text


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("larger", [False, True])
def test_a_dump_without_a_last_line_that_ends_within_a_statement_is_unfinished(check, backup, share, larger):
    path = backup("mariadb-dump") / "compact.sql"
    text = path.read_bytes()
    if larger:  # than what is read as a whole
        rows = b"".join(b"(%d,'%s'),\n" % (id_, os.urandom(100).hex().encode()) for id_ in range(200))
        text = text.replace(b"(1,'Ann')", rows + b"(1,'Ann')")
    octets = text[: int(len(text) * share)].rstrip(b";\n*/")  # nor at the end of one, which nobody can tell
    path.write_bytes(octets)
    written(path.parent, moment("2026-11-21 23:56:05"))
    status, answer = check(path)
    assert status == 2, answer
    assert "was not finished, compact.sql ends within a statement - " in answer
    assert "compact.sql ends within a statement, last written to 10 h ago" in answer
    packed = path.with_suffix(".sql.gz")
    packed.write_bytes(gzip.compress(octets))
    written(path.parent, moment("2026-11-21 23:56:05"))
    status, answer = check(packed, "--verify", "full")
    assert status == 2, answer
    assert "compact.sql.gz: it ends within" in answer or "compact.sql.gz ends within" in answer


def test_a_script_that_is_no_dump_is_named_and_said_to_be_of_unknown_origin(check, tmp_path):
    place = tmp_path / "backup" / "scripts"
    place.mkdir(parents=True)
    (place / "fix.sql").write_text("USE shop;\nINSERT INTO orders VALUES (1, 2)\n")
    written(place.parent, moment("2026-11-21 23:56:05"))
    origin = f"backup of {TAKEN} (SQL of unknown origin, no last line shows that it is whole) in"
    status, text = check(place, "--no-binlog")
    assert (status, f"{origin} fix.sql, 10 h old, " in text) == (0, True), text
    assert f"{origin} scripts/fix.sql, 10 h old, " in check(place.parent, "--no-binlog")[1]
    (place / "fix.sql").write_text("UPDATE shop.orders SET open = 0;\n")
    written(place.parent, moment("2026-11-21 23:56:05"))
    status, text = check(place, "--no-binlog")
    assert status == 1
    assert "in fix.sql: it makes no table and fills none, so it may be no backup" in first_line(text)


def test_a_dump_that_broke_off_in_its_first_lines_is_no_script(check, backup):
    place = backup("mariadb-dump")
    begun = place / "zz.sql"
    begun.write_text(
        "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n/*!40101 SET @OLD_COLL"
    )
    later = moment("2026-11-22 05:56:05")
    os.utime(begun, (later, later))
    status, text = check(place, "--no-binlog")
    assert (status, 'zz.sql does not end with "-- Dump completed"' in text) == (2, True), text


def test_a_script_beside_a_dump_is_not_its_age(check, backup):
    place = backup("mariadb-dump")
    alone = check(place, "--no-binlog")
    script = place / "fix.sql"
    script.write_text("ALTER TABLE shop.orders ADD INDEX (open);\n")
    later = moment("2026-11-22 08:56:05")
    os.utime(script, (later, later))
    beside = check(place, "--no-binlog")
    assert beside[0] == alone[0]
    assert "10 h old" in first_line(beside[1])
    assert "more than a day older" not in beside[1]
    assert "(mysqldump, 5 files)" in first_line(beside[1])


def test_a_file_for_all_shows_its_tables_when_it_was_read(check, backup, server):
    path = backup("mariadb-dump") / "all.sql"
    status, text = check(path, "-H", "db1")
    assert (status, "4 tables" in text) == (0, False)
    assert "there are several in a file, --verify full finds them" in text
    status, text = check(path, "-H", "db1", "--verify", "full")
    assert status == 0
    assert "4 tables of 4, " in text
    server.tables.append(("shop", "lost"))
    status, text = check(path, "-H", "db1", "--verify", "full")
    assert status == 2
    assert first_line(text).startswith("MYSQL_BACKUP CRITICAL - shop.lost is not in the backup of ")


# How old


@pytest.mark.parametrize(
    ("clock", "expected"),
    [("2026-11-23 01:56:00", 0), ("2026-11-23 01:57:00", 1), ("2026-11-24 01:57:00", 2)],
)
def test_too_old_is_critical(check, backup, now, clock, expected):
    now(clock)
    path = backup("mydumper-0.10-mariadb")
    status, text = check(path)
    assert status == expected
    assert (f"there is no newer one in {path}" in text) == bool(expected)


def test_the_age_of_a_backup_from_the_future_is_not_known(check, backup, now):
    now("2026-11-21 20:00:00")
    path = backup("mydumper-0.10-mariadb")
    status, text = check(path)
    assert status == 1
    assert "was made in 3 h 56 min by our clock: its age is not known" in text
    now("2026-11-21 23:56:01")  # the clock of a file server, say
    status, text = check(path)
    assert (status, perfdata(text)["age"]) == (0, "0s;93600;180000")


def test_a_server_in_another_zone_does_not_make_a_backup_older(check, backup):
    path = backup("mydumper-0.10-mariadb")
    written(path, moment("2026-11-22 04:56:06"))
    status, text = check(path)
    assert status == 0
    assert 4.9 * HOUR < float(perfdata(text)["age"].partition("s")[0]) < 5.1 * HOUR


def test_a_copy_is_as_old_as_what_is_in_it(check, backup):
    path = backup("mydumper-0.10-mariadb")
    written(path, moment("2026-11-22 09:13:47"))
    assert float(perfdata(check(path)[1])["age"].partition("s")[0]) > 9.9 * HOUR


# Finished or not


def test_a_dump_that_was_killed_is_critical_once_nobody_writes_to_it(check, backup, now):
    path = backup("mydumper-0.10-killed")
    now("2026-11-22 01:00:00")
    status, text = check(path)
    assert status == 1
    assert "there is no finished backup, and one that is being written" in text
    now("2026-11-22 02:00:00")
    status, text = check(path)
    assert status == 2
    assert first_line(text) == (
        f"MYSQL_BACKUP CRITICAL - backup of {TAKEN} (mydumper) was not finished, metadata.partial is "
        "still there - check its log and free space"
    )
    assert ", last written to 2 h 4 min ago" in text


def test_the_one_before_is_judged_while_the_newest_is_written(check, backup, tmp_path, now):
    backup("mydumper-0.10-mariadb", place="all/2026-11-21")
    backup("mydumper-0.10-killed", place="all/2026-11-22")
    now("2026-11-22 00:30:00")
    status, text = check(tmp_path / "all")
    assert status == 0
    assert "(mydumper) in 2026-11-21, 33 min " in text
    assert "a newer one is not finished yet, last written to 33 min 55 s ago" in text
    now("2026-11-22 09:00:00")
    status, text = check(tmp_path / "all")
    assert status == 2
    assert "in 2026-11-22 was not finished" in first_line(text)


def test_a_copy_that_failed_is_known_by_what_it_lacks_and_by_its_log(check, backup, tmp_path):
    path = backup("mariabackup", place="all")
    (path / "failed").mkdir()
    (path / "failed" / "ib_logfile0").write_bytes(b"x")
    written(path / "failed", moment("2026-11-21 23:56:05"))
    status, text = check(path / "failed")
    assert status == 2
    assert "it has no xtrabackup_checkpoints" in text
    shutil.copytree(path / "full", path / "cut")
    shutil.copy(path / "failed.log", path / "cut.log")
    written(path / "cut", moment("2026-11-21 23:56:05"))
    status, text = check(path / "cut")
    assert status == 2
    assert 'its log cut.log does not end with "completed OK!"' in text
    assert check(path / "full")[0] == 0


def test_mariadb_dump_that_failed_is_told(check, backup):
    status, text = check(backup("mariadb-dump-failed"))
    assert status == 2
    assert 'all.sql does not end with "-- Dump completed"' in text


def test_a_directory_without_a_backup_is_critical_and_one_that_is_not_there_unknown(check, tmp_path):
    (tmp_path / "empty").mkdir()
    assert check(tmp_path / "empty")[0] == 2
    assert "no backup in" in check(tmp_path / "empty")[1]
    status, text = check(tmp_path / "gone")
    assert status == 3
    assert "gone does not exist - check the path, and that its file system is mounted" in text


# Beside the server


def test_a_missing_table_is_critical(check, backup, server):
    server.tables += [("shop", "lost"), ("crm", "lost")]
    status, text = check(backup("mydumper-0.10-mariadb"), "-H", "db1", "-v")
    assert status == 2
    assert first_line(text).startswith(
        f"MYSQL_BACKUP CRITICAL - shop.lost and crm.lost are not in the backup of {TAKEN} (mydumper), "
        "4 tables of 6 in there - check whether it broke off"
    )
    assert "4 tables of 6 in there, and these are older than it" in text
    assert perfdata(text)["missing_tables"] == "2;;0"
    assert "\nmissing table\nshop.lost\ncrm.lost" in text


def test_a_table_that_was_made_later_is_not_missing(check, backup, server):
    server.tables.append(("shop", "later"))
    server.made["shop", "later"] = moment("2026-11-21 23:59:00")
    status, text = check(backup("mydumper-0.10-mariadb"), "-H", "db1")
    assert status == 0
    assert "4 tables of 5 (1 made later)" in text


def test_tables_that_are_not_wanted_may_be_missing(check, backup, server):
    server.tables += [("cache", "a"), ("cache", "b"), ("cached", "a")]
    server.made["cached", "a"] = moment("2027-01-01 00:00:00")
    status, text = check(backup("mydumper-0.10-mariadb"), "-H", "db1", "--ignore-table", r"cache\..*")
    assert status == 0
    assert "4 tables of 5 (1 made later)" in text


def test_a_table_that_may_yet_come_is_a_warning(check, backup, now, tmp_path):
    path = backup("mysqlpdump-packed")
    os.remove(path / "shop-orders.sql.gz")
    now("2026-11-22 00:00:00")
    status, text = check(path, "-H", "db1")
    assert status == 1
    assert "shop.orders is not in the backup" in text
    assert "it was written to a moment ago" in text
    now("2026-11-22 00:10:00")
    assert check(path, "-H", "db1")[0] == 2


def test_a_place_that_is_gone_is_a_warning(check, backup, server):
    path = backup("mydumper-0.10-mariadb")
    server.logs = [("binlog.000007", 500), ("binlog.000008", 500)]
    status, text = check(path, "-H", "db1")
    assert status == 1
    assert "binlog.000001:2762 is not on db1:3306 any more: changes after the backup of" in text
    assert "the oldest binary log there is binlog.000007" in text
    server.logs = [("binlog.999999", 500), ("binlog.1000000", 500)]
    assert ", the oldest is binlog.999999 - " in first_line(check(path, "-H", "db1")[1])
    server.logs = [("binlog.000001", 500)]
    assert "binlog.000001 has 500 bytes there" in check(path, "-H", "db1")[1]
    assert check(path, "-H", "db1", "--no-binlog")[0] == 0


def test_a_server_without_a_binary_log_misses_no_place(check, backup, server):
    server.logs = None
    assert check(backup("mydumper-0.10-mysql"), "-H", "db1")[0] == 0


def test_no_place_at_all_is_a_warning_where_there_is_a_binary_log(check, backup):
    path = backup("mydumper-0.10-mysql")
    status, text = check(path, "-H", "db1")
    assert status == 1
    assert "has no binary log position" in text
    assert check(path, "-H", "db1", "--no-binlog")[0] == 0
    assert check(path)[0] == 0


def test_the_place_of_a_replica_s_source_counts_too(check, backup, server):
    path = backup("mydumper-0.10-mariadb")
    (path / "metadata").write_text(
        "Started dump at: 2026-11-21 23:56:04\nSHOW MASTER STATUS:\n\tLog: own.000002\n\tPos: 5\n\tGTID:\n\n"
        "SHOW SLAVE STATUS:\n\tConnection name: \n\tHost: 127.0.0.1\n\tLog: binlog.000001\n\tPos: 44\n\n"
        "Finished dump at: 2026-11-21 23:56:05\n"
    )
    assert "binlog.000001:44 is still on the source" in check(path, "-H", "db1")[1]


def test_what_is_denied_is_unknown_with_the_grant(check, backup, server):
    server.denied = True
    server.tables = []
    server.grants = ["GRANT USAGE ON *.* TO `mon`@`%`"]
    status, text = check(backup("mydumper-0.10-mariadb"), "-H", "db1")
    assert status == 3
    assert "shows no table to this account" in text
    assert "GRANT SHOW VIEW ON *.*" in text
    assert "GRANT BINLOG MONITOR ON *.* TO 'mon'@'%'" in text


def test_an_account_that_sees_a_part_is_told_so(check, backup, server):
    server.grants = ["GRANT REPLICATION CLIENT ON *.* TO `mon`@`%`", "GRANT SELECT ON `shop`.* TO `mon`@`%`"]
    status, text = check(backup("mydumper-0.10-mariadb"), "-H", "db1")
    assert status == 3
    assert "4 tables compared, whether others are missing is not known" in first_line(text)
    assert "compared are only the tables that db1:3306 shows to this account, 4" in text
    assert "GRANT SHOW VIEW ON *.* shows all" in text
    server.grants[0] = "GRANT `monitoring`@`%` TO `mon`@`%`"
    assert "compared are only" not in check(backup("mydumper-0.10-packed", place="b"), "-H", "db1")[1]


def test_a_server_that_is_down_leaves_the_backup_its_verdict(check, backup, server):
    server.down = True
    path = backup("mydumper-0.10-mariadb")
    status, text = check(path, "-H", "db1")
    assert status == 3
    assert "db1:3306 refuses connections" in text
    assert check(path, "-H", "db1", "--unreachable", "critical")[0] == 2
    assert perfdata(text)["age"].startswith("3")


def test_a_stranger_in_the_place_of_the_server_is_unknown(check, backup, monkeypatch):
    def stranger(*_, **__):
        raise NotSentError("db1:3306 shows another certificate: the password was not sent")

    monkeypatch.setattr("stallwatch.frame.options.mysql.connect", stranger)
    path = backup("mydumper-0.10-mariadb")
    status, text = check(path, "-H", "db1", "--unreachable", "critical")
    assert status == 3, text
    assert "db1:3306 shows another certificate" in text


# Damage that one look tells


def test_empty_files_links_to_nowhere_and_stumps_are_damaged(check, backup):
    path = backup("mydumper-0.10-packed")
    (path / "shop.orders.00000.sql.gz").write_bytes(b"")
    (path / "shop.part.sql.gz").write_bytes(b"\x1f\x8b\x08")
    os.remove(path / "shop.customer.sql.gz")
    os.symlink("/nowhere/at/all", path / "shop.customer.sql.gz")
    status, text = check(path, "-v")
    assert status == 2
    assert "3 files are damaged" in first_line(text)
    assert perfdata(text)["damaged_files"] == "3;;0"
    for sign in (
        "it is empty",
        "the compressed data end too early",
        "a symbolic link to a file that is not there",
    ):
        assert sign in text


def test_a_dump_without_rows_is_a_warning(check, backup):
    path = backup("mydumper-0.10-mariadb")
    for name in os.listdir(path):
        if name.endswith(".sql") and "-schema" not in name:
            os.remove(path / name)
    status, text = check(path)
    assert status == 1
    assert "no table in it has any rows, as after --no-data" in text


def test_a_file_that_was_not_dumped_again_is_a_warning(check, backup):
    path = backup("mysqlpdump")
    os.utime(path / "shop-part.sql", (moment("2026-11-19 23:00:00"),) * 2)
    status, text = check(path)
    assert status == 1
    assert "shop-part.sql is more than a day older than the newest" in text


def test_an_archive_is_judged_by_age_and_size_alone(check, tmp_path):
    path = tmp_path / "full-2026-11-22.xbstream"
    path.write_bytes(b"XBSTCK01" + bytes(100))
    written(path, moment("2026-11-22 01:00:00"))
    status, text = check(tmp_path, "-H", "db1")
    assert status == 0
    assert "backup of 2026-11-22 01:00 (archive) in full-2026-11-22.xbstream, 8 h 56 min old, " in text
    assert "which tables are in it is not known, 108 B" in first_line(text)
    assert "full-2026-11-22.xbstream is an xbstream archive: only its age and size are judged" in text


# Size


def test_a_backup_that_shrinks_by_more_than_half_is_a_warning_as_long_as_it_is_the_newest(
    check, backup, now, tmp_path
):
    path = tmp_path / "dumps"
    path.mkdir()
    for day, size in (("2026-11-20", 4000), ("2026-11-21", 1000), ("2026-11-22", 1200)):
        dump = path / f"all-{day}.sql"
        dump.write_bytes(
            b"-- MariaDB dump 10.19\n" + bytes(size) + f"\n-- Dump completed on {day} 01:00:00\n".encode()
        )
        written(dump, moment(f"{day} 01:00:01"))
        for _ in range(2):
            now(f"{day} 02:00:00")
            status, text = check(path)
            assert status == (day == "2026-11-21"), text
    assert perfdata(text)["size_change"].startswith("18.")


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=3)
    | st.dictionaries(
        st.sampled_from(["mydumper", "x"]),
        st.none()
        | st.dictionaries(
            st.sampled_from(["taken", "size", "before"]), st.none() | st.floats() | st.text() | st.integers()
        ),
    )
)
def test_a_memory_of_sizes_that_makes_no_sense_is_forgotten(kept):
    class Now:
        kind, about, taken, size = "mydumper", "", 5.0, 10

    memory = {"sizes": kept}
    before = size_before(memory, Now)
    assert before is None or before > 0
    json.dumps(memory)


# Bad usage


@pytest.mark.parametrize(
    "words", [["--verify", "some"], ["--ignore-table", "("], ["--unfinished-grace", "x"]]
)
def test_bad_usage_is_unknown(check, tmp_path, words):
    assert check(tmp_path, *words)[0] == 3
