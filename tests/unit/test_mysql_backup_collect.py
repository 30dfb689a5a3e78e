"""Which backup of a place is judged, and what names and texts tell."""

import os

import pytest
from backups import copied, moment, written
from counted import growth
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.deadline import Children
from stallwatch.probes.mysql_backup import collect, moments, mydumper, physical
from stallwatch.probes.mysql_backup.model import Table
from stallwatch.sources.backups import files as backup_files
from stallwatch.sources.backups.files import File, Folder, Room, Tree

pytestmark = pytest.mark.usefixtures("utc")


def made(path, text="-- MariaDB dump 10.19\n-- Dump completed\n", at="2026-11-21 23:00:00"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (moment(at), moment(at)))


def names(path):
    return [one.name for one in collect.candidates(str(path), Room())]


def look(path):
    candidate, *_ = collect.candidates(str(path), Room())
    return collect.Reader(Children(), Room()).look(candidate)


# Places


def test_a_name_s_date_outranks_the_time_of_the_file(tmp_path):
    for name, at in (("2026-11-19", "2026-11-21 03:00:00"), ("2026-11-20", "2026-11-20 03:00:00")):
        made(tmp_path / name / "all.sql", at=at)
    assert names(tmp_path) == ["2026-11-20", "2026-11-19"]


@pytest.mark.parametrize("name", ["shop-20261018.sql", "all-2026-10-18.tar", "2026-10-18/shop.sql"])
@pytest.mark.parametrize(
    ("at", "taken"),
    [
        ("2026-11-21 23:00:00", "2026-10-18 23:59:59"),  # as a copy is that does not keep the time
        ("2026-10-18 03:00:00", "2026-10-18 03:00:00"),
        ("2026-10-15 03:00:00", "2026-10-15 03:00:00"),
    ],
)
def test_an_old_backup_that_was_copied_is_not_a_new_one(tmp_path, name, at, taken):
    made(tmp_path / name, text="-- MariaDB dump 10.19\n-- Dump completed\n" + "x" * 5000, at=at)
    assert look(tmp_path).taken == moment(taken)


def test_directories_without_a_date_go_by_their_files(tmp_path):
    made(tmp_path / "full-1" / "metadata", at="2026-11-20 03:00:00")
    made(tmp_path / "full-2" / "metadata", at="2026-11-19 03:00:00")
    (tmp_path / "lost+found").mkdir()
    (tmp_path / ".snapshot").mkdir()
    assert names(tmp_path) == ["full-1", "full-2"]


def test_dated_files_of_several_databases_are_one_backup(tmp_path):
    for day in ("20", "21"):
        made(tmp_path / f"shop_2026-11-{day}_0200.sql.gz")
        made(tmp_path / f"crm_2026-11-{day}_0201.sql.gz")
    made(tmp_path / "dropped_2026-10-01_0200.sql.gz")
    first, second, third = collect.candidates(str(tmp_path), Room())
    assert sorted(file.name for file in first.files) == [
        "crm_2026-11-21_0201.sql.gz", "shop_2026-11-21_0200.sql.gz",
    ]  # fmt: skip
    assert len(second.files) == 2
    assert third.name == "dropped_2026-10-01_0200.sql.gz"


def test_the_last_one_of_a_database_counts_until_its_next_one_is_there(tmp_path):
    made(tmp_path / "shop_2026-11-21.sql.gz")
    made(tmp_path / "shop_2026-11-20.sql.gz")
    made(tmp_path / "crm_2026-11-20_1200.sql.gz")
    newest, before = collect.candidates(str(tmp_path), Room())
    assert {file.name for file in newest.files} == {"shop_2026-11-21.sql.gz", "crm_2026-11-20_1200.sql.gz"}
    assert {file.name for file in before.files} == {"shop_2026-11-20.sql.gz"}


def test_files_without_dates_are_one_backup_with_what_is_below(tmp_path):
    made(tmp_path / "shop" / "orders.sql.gz")
    made(tmp_path / "grants.sql")
    assert names(tmp_path) == [""]
    backup = look(tmp_path)
    assert {file.name for file in backup.files} == {"shop/orders.sql.gz", "grants.sql"}
    assert backup.absent([Table("shop", "orders"), Table("shop", "other")]).missing == [
        Table("shop", "other")
    ]


def test_directories_of_databases_are_one_backup(tmp_path):
    made(tmp_path / "shop" / "orders.sql.gz")
    made(tmp_path / "crm" / "people.sql.gz")
    assert names(tmp_path) == [""]
    assert len(look(tmp_path).files) == 2


def test_directories_of_databases_within_one_with_a_date_are_one_backup(tmp_path):
    made(tmp_path / "20261121" / "shop" / "orders.sql.gz")
    made(tmp_path / "20261121" / "crm" / "people.sql.gz")
    assert names(tmp_path) == ["20261121"]
    assert len(look(tmp_path).files) == 2


def test_a_symbolic_link_to_the_newest_is_no_other_backup(tmp_path):
    made(tmp_path / "2026-11-20" / "all.sql")
    os.symlink("2026-11-20", tmp_path / "latest-2026-11-20")
    assert names(tmp_path) == ["2026-11-20"]
    assert names(tmp_path / "latest-2026-11-20") == [""]


def test_what_is_removed_meanwhile_was_never_there(tmp_path):
    made(tmp_path / "2026-11-20" / "all.sql")
    (candidate,) = collect.candidates(str(tmp_path), Room())
    os.remove(tmp_path / "2026-11-20" / "all.sql")
    os.rmdir(tmp_path / "2026-11-20")
    assert collect.Reader(Children(), Room()).look(candidate) is None


def test_a_fifo_is_nothing_to_wait_for(tmp_path):
    os.mkfifo(tmp_path / "metadata")
    made(tmp_path / "shop.sql")
    os.mkfifo(tmp_path / "orders.sql")
    assert [file.name for file in look(tmp_path).files] == ["shop.sql"]


def test_twice_as_many_files_are_listed_with_twice_the_work(tmp_path):
    def work(count):
        assert len(look(tmp_path / str(count)).files) == count

    for count in (100, 200):
        for number in range(10):
            folder = tmp_path / str(count) / f"db{number}"
            folder.mkdir(parents=True)
            for table in range(count // 10):
                os.close(os.open(folder / f"t{table}.sql.gz", os.O_CREAT))
    assert growth(work, 100) < 2.5


# Moments


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-11-20", "2026-11-20 00:00:00"),
        ("shop-20261120.sql.gz", "2026-11-20 00:00:00"),
        ("20261120233433", "2026-11-20 23:34:33"),
        ("shop_2026-11-20_06h25m_Friday.sql.gz", "2026-11-20 06:25:00"),
        ("export-20261120-233433", "2026-11-20 23:34:33"),
        ("2026-11-20T23:34:33", "2026-11-20 23:34:33"),
        ("2026.11.20", "2026-11-20 00:00:00"),
    ],
)
def test_a_moment_in_a_name(name, expected):
    assert moments.in_name(name) == moment(expected)


@pytest.mark.parametrize(
    "name", ["full-1", "2026-13-20", "v20261120123", "12026-11-20", "2026-1-2", "1.2.2026"]
)
def test_no_moment_in_a_name(name):
    assert moments.in_name(name) is None


@given(st.text())
def test_no_name_and_no_text_is_too_odd(text):
    moments.in_name(text)
    moments.in_text(text)


@pytest.mark.parametrize(
    ("apart", "shift"),
    [(0, 0), (3, 0), (-2, 0), (3600, 3600), (3605, 3600), (19800, 19800), (-18000, -18000), (4000, 0),
     (15 * 3600, 0), (86400, 0)],
)  # fmt: skip
def test_a_clock_in_another_zone_is_told_from_a_copy(apart, shift):
    assert moments.shift(1_000_000.0, 1_000_000.0 + apart) == shift


# mydumper since 0.14

INI = """# Started dump at: 2026-11-21 21:44:48
[config]
quote-character = BACKTICK

[myloader_session_variables]
SQL_MODE='NO_AUTO_VALUE_ON_ZERO' /*!40101

[{section}]
# Channel_Name = '' # It can be use to setup replication FOR CHANNEL
{place}
executed_gtid_set = "7b166a41-65a2-11ed-9de3-0800275ff74d:1-147115"

[`shop`.`orders`]
real_table_name=orders
rows = 2

[`shop`.`mydumper_0`]
real_table_name=we.ird
rows = 2
data_checksum = 3119812626
{end}
"""
PLACES = {
    "master": "File = binlog.000017\nPosition = 241149225",
    "source": '# SOURCE_LOG_FILE = "binlog.000017"\n# SOURCE_LOG_POS = 241149225',
}


@pytest.mark.parametrize("section", PLACES)
def test_the_newer_metadata_of_mydumper(tmp_path, section):
    """As the documentation of mydumper 0.14, and dumps by 0.19 and 1.0, have it."""
    made(tmp_path / "metadata", INI.format(section=section, place=PLACES[section], end="# Finished dump at: "
         "2026-11-21 21:44:50"), at="2026-11-21 21:44:50")  # fmt: skip
    for name in ("shop-schema-create", "shop.orders-schema", "shop.orders.00000", "shop.mydumper_0-schema"):
        made(tmp_path / f"{name}.sql.zst")
    backup = look(tmp_path)
    assert backup.finished
    assert backup.taken == moment("2026-11-21 21:44:48")
    assert [str(place) for place in backup.places] == ["binlog.000017:241149225"]
    tables = [Table("shop", "orders"), Table("shop", "we.ird"), Table("shop", "gone")]
    assert backup.absent(tables).missing == tables[2:]


def test_newer_metadata_without_an_end_is_of_a_dump_that_broke_off(tmp_path):
    made(tmp_path / "metadata", INI.format(section="source", place="", end=""))
    backup = look(tmp_path)
    assert backup.finished is False
    assert backup.unfinished == 'its metadata has no "Finished dump at"'


def test_newer_metadata_with_the_place_of_a_replica_s_source(tmp_path):
    text = "[replication]\n# Channel_Name = ''\n# SOURCE_LOG_FILE = \"bin.000003\"\n# SOURCE_LOG_POS = 77\n"
    made(tmp_path / "metadata", INI.format(section="source", place=PLACES["source"], end=text))
    own, other = look(tmp_path).places
    assert (str(own), own.of_source) == ("binlog.000017:241149225", False)
    assert (str(other), other.of_source) == ("bin.000003:77", True)


@given(st.text(max_size=300))
def test_no_metadata_is_too_odd(text):
    list(mydumper._places(text))
    names = mydumper._Names({"a.b-schema.sql"}, text, Room())
    names.holds(Table("a", "b"))
    list(names.lost())


# Copies of a data directory


def holds(*names):
    files = [File(name, name, 1, 0.0, name) for name in names]
    return physical._holds(files)


@pytest.mark.parametrize(
    ("file", "schema", "name"),
    [
        ("shop/orders.ibd", "shop", "orders"),
        ("shop/orders.ibd.qp", "shop", "orders"),
        ("shop/orders.ibd.zst.xbcrypt", "shop", "orders"),
        ("shop/part#P#p0.ibd", "shop", "part"),
        ("shop/part#p#p0#sp#s1.ibd", "shop", "part"),
        ("odd@002ddb/we@002eird@0020@00241.ibd", "odd-db", "we.ird $1"),
        ("shop/Gr@1on.ibd", "shop", "Grün"),
        ("shop/@65e5@672c.ibd", "shop", "日本"),
        ("shop/orders.ibd.delta", "shop", "orders"),
    ],
)
def test_a_table_in_a_copy(file, schema, name):
    assert holds(file)(Table(schema, name, "InnoDB"))
    assert not holds(file)(Table(schema, f"{name}x", "InnoDB"))


def test_a_table_whose_rows_are_not_copied_is_missing(tmp_path):
    assert not holds("shop/orders.frm", "shop/orders.cfg")(Table("shop", "orders", "InnoDB"))
    assert holds("shop/memory.frm")(Table("shop", "memory", "MEMORY"))


def test_files_of_a_copy_that_are_called_otherwise_since_mariadb_11(tmp_path):
    path = copied("mariabackup/full", tmp_path / "full")
    for name in os.listdir(path):
        if name.startswith("xtrabackup_"):
            os.rename(path / name, path / name.replace("xtrabackup_", "mariadb_backup_"))
    written(path, moment("2026-11-21 23:56:06"))
    backup = look(path)
    assert backup.finished
    assert [str(place) for place in backup.places] == ["binlog.000001:2762"]
    os.remove(path / "mariadb_backup_info")
    backup = look(path)
    assert backup.finished is False
    assert backup.unfinished == "it has no xtrabackup_info, or an empty one, which is written last"


def test_an_empty_tree_is_no_backup():
    assert not physical.is_one(Folder([], [], []))
    assert backup_files.tree("/nowhere", Folder([], ["gone"], [])).closed
    assert Tree([], [], []).files == []
