"""Reading backups from beginning to end: what is whole, what is not, what is remembered."""

import bz2
import concurrent.futures
import contextlib
import gzip
import os
import pty
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from backups import PLUGIN, ROOT, copied
from first_line import first_line, perfdata
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stallwatch.deadline import Children, Deadline
from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_backup import verify
from stallwatch.probes.mysql_backup.sql_text import Tables
from stallwatch.probes.mysql_backup.verify import Kept
from stallwatch.sources.backups import contents
from stallwatch.sources.backups import files as backup_files

NOBODY = 65534
needs_zstd = pytest.mark.usefixtures("zstd_programs")


@pytest.fixture
def check(tmp_path):
    def check(path, *arguments):
        words = ["--state-dir", str(tmp_path / "state"), "-d", str(path), *map(str, arguments)]
        return PLUGIN["check"].run(PLUGIN["findings"], words)

    return check


def dump(rows=1000):
    noise = random.Random(1)
    lines = (f"INSERT INTO `orders` VALUES ({noise.random()});" for _ in range(rows))
    head = "-- MariaDB dump 10.19\n-- Host: localhost    Database: shop\nCREATE TABLE `orders` (\n"
    return "\n".join([head, *lines, "-- Dump completed on 2026-11-21 23:56:04", ""]).encode()


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def read(path):
    return b"".join(contents.text(str(path), Children()))


# Packed texts


def test_plain_gzip_and_several_streams_are_read_to_the_end(tmp_path):
    path = tmp_path / "a"
    text = dump(50_000)
    for packed in (
        text,
        gzip.compress(text),
        gzip.compress(text[:99]) + gzip.compress(text[99:]) + bytes(512),
    ):
        path.write_bytes(packed)
        assert read(path) == text


@needs_zstd
def test_zstd_is_read_by_its_program(tmp_path):
    path, text = tmp_path / "a", dump(50_000)
    path.write_bytes(zstd(text))
    moved = []
    assert b"".join(contents.text(str(path), Children(), moved=moved.append)) == text
    assert sum(moved) == path.stat().st_size
    children = Children()
    pieces = contents.text(str(path), children, 1000)
    assert next(pieces) == text[:1000]
    assert len(children) == 1
    pieces.close()
    assert children == []


@needs_zstd
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_stump_ends_too_early(tmp_path, pack):
    packed = pack(dump())
    for size in (20, len(packed) // 2, len(packed) - 1):
        (tmp_path / "a").write_bytes(packed[:size])
        with pytest.raises(contents.DamagedError, match="the compressed data end too early"):
            read(tmp_path / "a")


@needs_zstd
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_flipped_bit_is_found(tmp_path, pack):
    packed = bytearray(pack(dump()))
    packed[len(packed) // 2] ^= 4
    (tmp_path / "a").write_bytes(packed)
    with pytest.raises(contents.DamagedError) as raised:
        read(tmp_path / "a")
    assert "\n" not in str(raised.value)


def test_a_bomb_comes_in_pieces(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(bytes(50_000_000)))
    assert max(len(piece) for piece in contents.text(str(tmp_path / "a"), Children())) <= contents.BLOCK


def test_zstd_without_its_program_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(contents.ZSTD + bytes(100))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(contents.SealedError, match="there is no program zstd here"):
        read(tmp_path / "a")


@pytest.mark.parametrize("first", [b"Salted__12345678", b"XBSTCK01\0P", bz2.compress(b"x"), b"XBCRYP01"])
def test_what_is_encrypted_or_archived_is_no_damage(tmp_path, first):
    (tmp_path / "a").write_bytes(first + bytes(50))
    with pytest.raises(contents.SealedError):
        read(tmp_path / "a")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(st.binary(max_size=300), st.sampled_from([b"", contents.GZIP + b"\x08"]))
def test_no_bytes_are_too_odd(tmp_path, octets, first):
    (tmp_path / "a").write_bytes(first + octets)
    with contextlib.suppress(contents.DamagedError, contents.SealedError):
        read(tmp_path / "a")


# The tables of a dump


def heard(text, size):
    tables = Tables()
    for start in range(0, len(text), size):
        tables.feed(text[start : start + size])
    return [str(table) for table in tables.end()]


@pytest.mark.parametrize("size", [7, 100, 301, 100_000])
def test_tables_are_found_wherever_the_text_is_cut(size):
    text = (
        b"-- Host: localhost    Database: \n" + b"USE `shop`;\n\nCREATE TABLE `a``b` (\n" + b"x" * 400
        + b"\nCREATE TABLE IF NOT EXISTS `c` (\n/*!50001 CREATE VIEW `v` AS SELECT\nINSERT INTO `a` VALUES ('"
        + b"\\nCREATE TABLE `no` (" + b"y" * 700 + b"');\nUSE `crm`;\nCREATE TABLE `Gr\xc3\xbcn` (\n"
    )  # fmt: skip
    if size == 7:  # the name of the database is in the first lines, which come in one piece
        text = text.replace(b"-- Host: localhost    Database: \n", b"")
    assert heard(text, size) == ["shop.a`b", "shop.c", "crm.Grün"]


def test_a_dump_of_one_database_names_it_at_its_beginning():
    assert heard(dump(), 1 << 20) == ["shop.orders"]


# Verifying


@pytest.fixture
def folder(tmp_path):
    """A directory with ten whole gzip files of a table each."""
    return whole_files(tmp_path / "dump")


def whole_files(path):
    path.mkdir()
    for number in range(10):
        (path / f"shop-t{number}.sql.gz").write_bytes(gzip.compress(dump(100 * number)))
    return path


def test_whole_files_are_verified(check, folder):
    status, text = check(folder, "--verify", "full", "-v")
    assert status == 0
    assert "100 % verified" in first_line(text)
    assert perfdata(text)["verified"] == "100%"


def test_damage_is_critical_and_stays_so_without_reading_it_again(check, folder, monkeypatch):
    bad = folder / "shop-t9.sql.gz"
    bad.write_bytes(bad.read_bytes()[:-50])
    (folder / "shop-t8.sql.gz").write_bytes(gzip.compress(dump()[:-41]))
    status, text = check(folder, "--verify", "full", "-v")
    assert status == 2
    assert "2 files are damaged" in first_line(text)
    assert "shop-t9.sql.gz  the compressed data end too early" in text
    assert 'shop-t8.sql.gz  it does not end with "-- Dump completed"' in text
    monkeypatch.setattr(verify._Run, "_judge", lambda *_: pytest.fail("it was read again"))
    assert check(folder, "--verify", "full")[0] == 2
    later = time.time() + 3 * 3600
    monkeypatch.setattr(time, "time", lambda: later)
    status, text = check(folder, "--verify", "full", "-v")
    assert status == 2
    assert "shop-t9.sql.gz  the compressed data end too early, read 3 h ago" in text
    assert ", the first read 3 h ago" in text


def test_only_what_has_changed_is_read_again(check, folder, monkeypatch):
    check(folder, "--verify", "full")
    read = []
    real = verify._Run._judge
    monkeypatch.setattr(verify._Run, "_judge", lambda run, file: [read.append(file.name), real(run, file)][1])
    (folder / "shop-t3.sql.gz").write_bytes(gzip.compress(dump(7)))
    assert check(folder, "--verify", "full")[0] == 0
    assert read == ["shop-t3.sql.gz"]


def test_what_was_cut_short_goes_on_at_the_next_run(folder, monkeypatch):
    files = backup_files.look_into(str(folder)).files
    backup = verifying_backup(files)
    memory = {}
    real = contents.text

    def slow(path, *arguments, **more):
        time.sleep(0.3)
        yield from real(path, *arguments, **more)

    monkeypatch.setattr(contents, "text", slow)
    monkeypatch.setattr(verify, "processors", lambda: 2)
    first = verify.verify(backup, Kept(memory), Deadline(0.8), lambda _: None, sample=False)
    assert first.percent < 100
    monkeypatch.setattr(contents, "text", real)
    second = verify.verify(backup, Kept(memory), Deadline(120), lambda _: None, sample=False)
    assert (second.percent, second.damaged) == (100, {})
    assert set(memory["verified"]) == {file.key for file in files}


def test_files_are_read_at_the_same_time_as_far_as_there_are_processors(folder, monkeypatch):
    files = backup_files.look_into(str(folder)).files[:2]
    both = threading.Barrier(2, timeout=120)
    real = contents.text

    def waiting(path, *arguments, **more):
        both.wait()
        yield from real(path, *arguments, **more)

    monkeypatch.setattr(contents, "text", waiting)
    monkeypatch.setattr(verify, "processors", lambda: 2)
    found = verify.verify(verifying_backup(files), Kept({}), Deadline(60), lambda _: None, sample=False)
    assert found.percent == 100


def test_a_sample_grows_from_run_to_run(folder, monkeypatch):
    files = backup_files.look_into(str(folder)).files
    monkeypatch.setattr(verify, "SAMPLE", sum(file.size for file in files) // 3)
    memory, shares = {}, [0.0]
    for _ in range(30):
        found = verify.verify(
            verifying_backup(files), Kept(memory), Deadline(120), lambda _: None, sample=True
        )
        shares.append(found.percent)
        if found.percent == 100:
            break
    assert shares[-1] == 100
    assert shares == sorted(shares)
    assert len(shares) > 3


def test_mydumper_s_files_end_with_a_semicolon(check, tmp_path):
    path = copied("mydumper-0.10-packed", tmp_path / "dump")
    status, text = check(path, "--verify", "full", "-w", "~:", "-c", "~:")
    assert (status, perfdata(text)["verified"]) == (0, "100%"), text
    (path / "shop.customer.sql.gz").write_bytes(gzip.compress(b"INSERT INTO `customer` VALUES\n(1,"))
    text = check(path, "--verify", "full")[1]
    assert 'shop.customer.sql.gz: it does not end with ";"' in text


def verifying_backup(files):
    from stallwatch.probes.mysql_backup.model import Backup

    return Backup("", "mysqldump", files, 0.0, None, by_mysqldump=True)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["wrong", "tables", "x"]), inner),
        max_leaves=6,
    )
)
def test_a_memory_of_files_that_makes_no_sense_is_forgotten(kept):
    file = backup_files.File("/a", "a", 1, 0.0, "x")
    memory = {"verified": kept}
    known = Kept(memory)
    known.wrong(file)
    list(known.tables([file]))
    known.save([file])


# Who may not, and what hangs


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_directory_that_only_root_may_read_is_unknown_with_the_way_out(open_path):
    folder = whole_files(open_path / "dump")
    folder.chmod(0o700)
    said = plugin(open_path, folder, user=NOBODY, group=NOBODY, extra_groups=[])
    assert said.returncode == 3
    assert f"user nobody may not read the directory {folder}" in said.stdout
    assert f"setfacl -R -m u:nobody:rX {folder}" in said.stdout
    folder.chmod(0o755)
    (folder / "shop-t5.sql.gz").chmod(0o600)
    said = plugin(open_path, folder, "--verify", "full", user=NOBODY, group=NOBODY, extra_groups=[])
    assert said.returncode == 3
    assert f"user nobody may not read {folder}/shop-t5.sql.gz" in said.stdout


def plugin(home, folder, *arguments, **more):
    command = [sys.executable, str(ROOT / "plugins" / "check_mysql_backup"), "-d", str(folder), "--no-state"]
    settings = {"capture_output": True, "text": True, "timeout": 120, **more}
    return subprocess.run(
        [*command, *arguments], check=False, env={"PATH": os.environ["PATH"], "HOME": str(home)}, **settings
    )


def test_a_file_system_that_hangs_ends_at_the_deadline(folder, tmp_path):
    script = tmp_path / "hanging"
    script.write_text(
        "import os, runpy, sys, time\n"
        "from signal import SIGALRM, raise_signal\n"
        "from stallwatch.deadline import Account\n"
        "Account.starved = Account.lost = lambda _: 0.0\n"
        "os.scandir = lambda *_: [raise_signal(SIGALRM), time.sleep(600)]\n"  # it hangs until the time is up
        f"sys.argv = ['check', '-d', {str(folder)!r}, '--no-state', '-t', '60s']\n"
        f"runpy.run_path({str(ROOT / 'plugins' / 'check_mysql_backup')!r}, run_name='__main__')\n"
    )
    said = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert said.returncode == 3
    assert said.stdout == f"MYSQL_BACKUP UNKNOWN - no verdict within 1 min: reading {folder}\n"


@pytest.mark.parametrize("number", [5, 24, 116])
def test_what_cannot_be_read_is_unknown_and_not_damaged_and_is_read_again(check, folder, monkeypatch, number):
    def broken(*_):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(contents.os, "read", broken)
        status, text = check(folder, "--verify", "full")
    assert status == 3, text
    assert f"cannot be read: {os.strerror(number)}" in text
    assert perfdata(text)["damaged_files"] == "0;;0"
    assert check(folder, "--verify", "full")[0] == 0


def test_a_directory_that_is_no_directory_any_more_is_a_sentence(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(ProbeError, match="cannot be read: Not a directory"):
        backup_files.look_into(str(tmp_path / "a"))


def all_of(terminal):
    """Read what a terminal shows until nobody has it any more, which Linux calls an I/O error."""
    shown = b""
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            shown += piece
    return shown.decode()


def test_a_person_at_a_terminal_sees_how_far_it_has_come(folder, tmp_path):
    ours, theirs = pty.openpty()
    with concurrent.futures.ThreadPoolExecutor() as reader:
        reading = reader.submit(all_of, ours)
        said = plugin(
            tmp_path, folder, "--verify", "full", capture_output=False, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        shown = reading.result(60)
    os.close(ours)
    assert said.returncode == 0
    assert "100%, " in shown
    assert "in 10 files" in shown
    *_, last = shown.split("\r\x1b[K")
    assert last.startswith("MYSQL_BACKUP OK")


def test_nothing_is_left_of_us_in_the_tree(folder, check):
    before = sorted((path.name, path.stat().st_mtime_ns) for path in Path(folder).iterdir())
    check(folder, "--verify", "full")
    assert sorted((path.name, path.stat().st_mtime_ns) for path in Path(folder).iterdir()) == before
