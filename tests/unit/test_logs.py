"""The scenarios of a log's life, one by one; test_logs_histories.py mixes them at random."""

import contextlib
import gzip
import itertools
import json
import lzma
import os
import shutil
import socket
import tempfile
import time
import tracemalloc

import pytest
from stallwatch.findings import ProbeError
from stallwatch.sources import logs
from stallwatch.sources.logs import logfile
from stallwatch.sources.logs.rotation import look, rotated_name

NOBODY = 65534
MIB = 1 << 20


class Check:
    """Runs of a check over one log, a minute apart."""

    def __init__(self, path):
        self.path = path
        self.kept = None
        self.minute = 0

    def __call__(self, **options):
        """Give the lines that one run is handed out."""
        time.sleep(0.01)  # older kernels have a clock of 4 ms for files
        self.minute += 1
        self.log = logs.Follow(str(self.path), self.kept, now=60 * self.minute, **options)
        text = b"".join(self.log)
        self.kept = json.loads(json.dumps(self.log.kept))
        time.sleep(0.01)
        return text.decode("latin-1").split("\n")[:-1]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "ndb_4_out.log"


@pytest.fixture
def check(log):
    return Check(log)


@pytest.fixture
def rotated(tmp_path):
    """Give the path of a rotated generation: rotated(1) is ndb_4_out.log.1."""
    return lambda number: tmp_path / f"ndb_4_out.log.{number}"


def append(path, text):
    with path.open("ab") as file:
        file.write(text.encode())


def compress(path):
    """Do as gzip does: the time stays, the plain file goes."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    shutil.copystat(path, packed)
    path.unlink()
    return packed


def error_of(run, *arguments, **options):
    with pytest.raises(ProbeError) as caught:
        run(*arguments, **options)
    return caught.value.what, caught.value.advice


# appending


def test_the_first_run_reads_the_log_from_its_beginning(log, check):
    append(log, "one\ntwo\n")
    assert check() == ["one", "two"]
    assert check.log.first_run


def test_the_next_run_reads_only_what_was_appended(log, check):
    append(log, "one\n")
    check()
    append(log, "two\nthree\n")
    assert check() == ["two", "three"]
    assert not check.log.first_run
    assert check.log.bytes_read == 10


def test_a_log_that_has_not_grown_has_no_new_lines(log, check):
    append(log, "one\n")
    check()
    assert check() == []
    assert check.log.notes == []


def test_an_incomplete_last_line_waits_for_its_rest(log, check):
    append(log, "one\ntw")
    assert check() == ["one"]
    append(log, "o")
    assert check() == []
    append(log, "\n")
    assert check() == ["two"]


def test_an_empty_log_is_read_when_it_is_filled(log, check):
    append(log, "")
    assert check() == []
    append(log, "one\n")
    assert check() == ["one"]


def test_a_broken_off_iteration_keeps_what_was_handed_out(log):
    append(log, f"{'a' * MIB}"[1:] + "\nlast\n")
    first = logs.Follow(str(log), None)
    assert next(iter(first)) == b"a" * (MIB - 1) + b"\n"
    assert list(logs.Follow(str(log), first.kept)) == [b"last\n"]


def test_blocks_have_at_most_a_mebibyte(log):
    append(log, "0123456789abcde\n" * 200_000)
    sizes = [len(block) for block in logs.Follow(str(log), None)]
    assert sizes == [MIB, MIB, MIB, 3_200_000 - 3 * MIB]


def test_what_is_kept_is_small(log, check, tmp_path):
    for day in range(1, 31):
        append(tmp_path / f"ndb_4_out.log-202611{day:02}", f"day {day}\n")
    append(log, "one\n")
    check()
    assert len(json.dumps(check.kept)) < 1500


# rotation by renaming


@pytest.mark.parametrize(
    "name",
    [
        "ndb_4_out.log.1",
        "ndb_4_out.log.0",
        "ndb_4_out.log-20261120",
        "ndb_4_out.log-2026112013",
        "ndb_4_out.log-20261120-1795000000",
        "ndb_4_out.log.2026-11-20",
        "ndb_4_out-20261120.log",
        "ndb_4_out.2026-11-20.log",
        "ndb_4_out.2026-11-20_13:45:59.log",
        "ndb_4_out.1.log",
    ],
)
def test_a_renamed_log_is_read_to_its_end_before_the_new_one(log, check, tmp_path, name):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(tmp_path / name)
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert check.log.notes == []


@pytest.mark.parametrize(
    "name",
    [
        "ndb_4_out.log",
        "ndb_4_out.log.bak",
        "ndb_4_out.log~",
        "ndb_4_out.log.1~",
        ".ndb_4_out.log.swp",
        "ndb_40_out.log",
        "ndb_4_out.log.lock",
        "ndb_4_error.log",
        "ndb_4_out-2.log",
        "xndb_4_out.log.1",
        "ndb_4_outxlog.1",
    ],
)
def test_a_backup_or_a_neighbours_log_is_no_rotated_generation(name):
    assert not rotated_name("ndb_4_out.log").fullmatch(name)


@pytest.mark.parametrize("name", ["ndb_4_out.log.1.gz", "ndb_4_out-20261120.log.xz", "ndb_4_out.log.gz"])
def test_a_compressed_rotated_generation_is_one(name):
    assert rotated_name("ndb_4_out.log").fullmatch(name)


def test_several_rotations_between_two_runs_lose_nothing(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(3))
    append(log, "three\n")
    log.rename(rotated(2))
    append(log, "four\n")
    log.rename(rotated(1))
    append(log, "five\n")
    assert check() == ["two", "three", "four", "five"]
    assert check() == []


def test_rotations_within_one_tick_of_the_clock_come_in_the_order_of_their_numbers(log, check, rotated):
    check_at = 1_790_000_000
    append(log, "one\n")
    os.utime(log, (check_at, check_at))
    check()
    for number, text in ((12, "two\n"), (9, "three\n"), (1, "four\n")):
        append(rotated(number), text)
        os.utime(rotated(number), (check_at + 1, check_at + 1))
    log.rename(rotated(13))
    append(log, "five\n")
    assert check() == ["two", "three", "four", "five"]


def test_a_ring_of_numbers_as_the_management_node_uses_it(log, check, rotated):
    append(rotated(1), "history\n")
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(2))
    append(log, "three\n")
    log.rename(rotated(1))
    append(log, "four\n")
    assert check() == ["two", "three", "four"]
    assert check.log.notes == []


def test_older_generations_are_history_for_the_first_run(log, check, rotated):
    append(rotated(2), "old\n")
    append(rotated(1), "older\n")
    append(log, "one\n")
    assert check() == ["one"]
    assert check() == []


def test_older_generations_stay_history_when_they_are_rotated_and_compressed(log, check, rotated):
    append(rotated(1), "history\n")
    append(log, "one\n")
    check()
    rotated(1).rename(rotated(2))
    compress(rotated(2))
    log.rename(rotated(1))
    append(log, "two\n")
    assert check() == ["two"]
    assert check.log.notes == []


def test_history_that_is_compressed_anew_stays_history(log, check, rotated):
    append(rotated(1), "history\n")
    append(log, "one\n")
    check()
    rotated("1.gz").write_bytes(gzip.compress(rotated(1).read_bytes()))
    rotated(1).unlink()
    append(log, "two\n")
    assert check() == ["two"]


def test_history_that_is_touched_stays_history(log, check, rotated):
    rotated("1.gz").write_bytes(gzip.compress(b"history\n"))
    append(log, "one\n")
    check()
    rotated("1.gz").touch()
    append(log, "two\n")
    assert check() == ["two"]


def test_history_that_begins_like_a_deleted_log_stays_history(log, check, rotated):
    append(rotated("1.gz"), "")
    rotated("1.gz").write_bytes(gzip.compress(b"banner\nhistory\n"))
    time.sleep(0.01)
    append(log, "banner\n")
    check()
    log.unlink()
    append(log, "one\n")
    assert check() == ["one"]


def test_an_incomplete_last_line_of_history_is_history(log, check, rotated):
    append(rotated(1), "history\nincomplete")
    append(log, "one\n")
    assert check() == ["one"]
    assert check() == []


def test_rotation_away_of_the_oldest_generation_is_no_loss(log, check, rotated):
    append(log, "one\n")
    check()
    log.rename(rotated(1))
    append(log, "two\n")
    check()
    log.rename(rotated(1))
    append(log, "three\n")
    assert check() == ["three"]
    assert check.log.notes == []


def test_a_rotated_log_whose_successor_is_not_yet_there(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    assert check() == ["two"]
    assert check.log.problem.what == f"{log} does not exist"
    append(log, "three\n")
    assert check() == ["three"]
    assert check.log.problem is None
    assert check.log.notes == []


def test_a_writer_that_goes_on_in_the_renamed_file_is_followed(log, check, rotated):
    append(log, "one\n")
    check()
    log.rename(rotated(1))
    append(log, "")
    append(rotated(1), "two\n")
    assert check() == ["two"]
    rotated(1).rename(rotated(2))
    log.rename(rotated(1))
    append(log, "")
    append(rotated(2), "three\n")
    assert check() == ["three"]
    append(rotated(2), "four\n")
    append(log, "five\n")
    assert check() == ["four", "five"]


def test_a_writer_is_followed_however_often_its_file_is_renamed(log, check, rotated):
    append(log, "one\n")
    check()
    for number in range(1, 9):
        log.rename(rotated(number))
        append(log, "")
        check()
    append(rotated(1), "two\n")
    assert check() == ["two"]


def test_the_rest_of_a_generation_that_grew_until_it_was_compressed_is_read(log, check, rotated):
    append(log, "one\n")
    check()
    log.rename(rotated(1))
    append(log, "")
    append(rotated(1), "two\n")
    check()
    append(rotated(1), "three\n")
    compress(rotated(1))
    assert check() == ["three"]
    assert check.log.notes == []


def test_a_writer_that_was_in_a_renamed_file_before_the_first_run_is_followed(log, check, rotated):
    append(rotated(1), "history\nin")
    append(log, "")
    assert check() == []
    append(rotated(1), "complete\n")
    assert check() == ["incomplete"]


def test_an_incomplete_last_line_counts_when_its_writer_has_left_it_for_a_run(log, check, rotated):
    append(log, "one\ntw")
    check()
    log.rename(rotated(1))
    append(log, "three\n")
    assert check() == ["three"]
    assert check() == ["tw"]
    assert check() == []


def test_an_incomplete_last_line_that_is_completed_after_the_rotation_is_one_line(log, check, rotated):
    append(log, "one\ntw")
    check()
    log.rename(rotated(1))
    append(log, "")
    assert check() == []
    append(rotated(1), "o\n")
    append(log, "three\n")
    assert check() == ["two", "three"]


def test_an_incomplete_last_line_of_a_compressed_generation_counts_at_once(log, check, rotated):
    append(log, "one\ntw")
    check()
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "three\n")
    assert check() == ["tw", "three"]


# compression


def test_the_rest_of_a_compressed_generation_is_read(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert [generation["name"] for generation in check.kept["generations"]] == ["ndb_4_out.log"]
    assert check() == []
    assert check.log.notes == []


def test_a_generation_and_its_compressed_copy_are_read_once(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    rotated("1.gz").write_bytes(gzip.compress(rotated(1).read_bytes()))
    append(log, "three\n")
    assert check() == ["two", "three"]
    rotated(1).unlink()
    assert check() == []
    assert check.log.notes == []


def test_a_generation_that_is_just_being_compressed_is_read_once(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    rotated("1.gz").write_bytes(gzip.compress(rotated(1).read_bytes())[:-9])
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert check.log.notes == []


def test_compression_one_rotation_later(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    append(log, "three\n")
    check()
    rotated(1).rename(rotated(2))
    compress(rotated(2))
    append(log, "four\n")
    log.rename(rotated(1))
    append(log, "five\n")
    assert check() == ["four", "five"]
    assert check.log.notes == []


def test_new_generations_that_were_compressed_before_they_were_seen(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(2))
    compress(rotated(2))
    append(log, "three\n")
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "four\n")
    assert check() == ["two", "three", "four"]
    assert check.log.notes == []


def test_an_empty_log_that_was_filled_rotated_and_compressed(log, check, rotated):
    append(log, "")
    check()
    append(log, "one\n")
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "two\n")
    assert check() == ["one", "two"]
    assert check.log.notes == []


def test_an_empty_log_that_was_rotated_and_compressed_is_no_loss(log, check, rotated):
    append(log, "")
    check()
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "")
    assert check() == []
    assert check.log.notes == []


def test_a_large_compressed_generation_is_taken_up_where_it_was_left(log, check, rotated):
    append(log, "".join(f"{number:015}\n" for number in range(150_000)))
    assert len(check(max_bytes=2_000_000)) == 125_000
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "last\n")
    lines = check()
    assert lines[0] == "000000000125000"
    assert lines[-2:] == ["000000000149999", "last"]
    assert len(lines) == 25_001


def test_a_compressed_generation_may_take_several_runs(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\nthree\n")
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "four\n")
    assert check(max_bytes=1) == ["two"]
    assert check.log.behind > 0
    rotated("1.gz").rename(rotated("2.gz"))
    assert check() == ["three", "four"]
    assert check.log.behind == 0


def test_a_compressed_file_with_the_inode_of_a_generation_is_not_that_generation(log, check, rotated):
    append(log, "one\n")
    check()
    shutil.copyfile(log, rotated(7))
    append(log, "two\n")
    log.rename(rotated(1))
    compress(rotated(1))
    kept = check.kept["generations"][0]
    found = logfile.open_log(str(compress(rotated(7))), lambda: False)
    kept["inode"], kept["birth"] = found.inode, found.birth
    found.close()
    assert check() == ["two"]
    assert check() == []


def test_a_compressed_generation_that_is_cut_off_is_told(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    packed = compress(rotated(1))
    os.truncate(packed, packed.stat().st_size - 4)
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert check.log.notes == [
        "ndb_4_out.log.1.gz is damaged (the compressed data end too early): its rest is lost"
    ]


def test_a_generation_that_is_being_compressed_is_read_once_and_not_called_damaged(log, check, rotated):
    append(log, "one\n")
    check()
    log.unlink()
    lines = [f"line {number} {number * number}" for number in range(500)]
    append(log, "".join(f"{line}\n" for line in lines))
    log.rename(rotated(1))
    octets = gzip.compress(rotated(1).read_bytes())
    append(log, "last\n")
    rotated("1.gz").write_bytes(octets[: len(octets) // 2])
    assert check() == [*lines, "last"]
    assert [note for note in check.log.notes if "damaged" in note] == []
    rotated("1.gz").write_bytes(octets)
    shutil.copystat(rotated(1), rotated("1.gz"))
    rotated(1).unlink()
    assert check() == check.log.notes == []


def test_what_gzip_appends_to_a_file_after_it_was_opened_is_not_of_its_text(rotated):
    octets = gzip.compress(b"".join(b"%d\n" % (number * number) for number in range(900)))
    rotated("1.gz").write_bytes(octets[: len(octets) // 2])
    with contextlib.closing(logfile.open_log(str(rotated("1.gz")), lambda: False)) as file:
        length, edges = file.length(), file.edges(300)
        with rotated("1.gz").open("ab") as growing:
            growing.write(octets[len(octets) // 2 :])
        assert file.edges(10 * length)
        assert (file.length(), file.edges(300)) == (length, edges)
    with contextlib.closing(logfile.open_log(str(rotated("1.gz")), lambda: False)) as file:
        assert file.length() > length


def test_a_compression_other_than_gzip_is_told(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.unlink()
    rotated("1.xz").write_bytes(lzma.compress(b"one\ntwo\n"))
    append(log, "three\n")
    assert check() == ["three"]
    assert check.log.notes == [
        "ndb_4_out.log was deleted: what was written to it in the last 1 min may be lost",
        f"{rotated('1.xz')} cannot be read: of compressed logs, only gzipped ones can",
    ]


# truncation and deletion


@pytest.fixture
def births(monkeypatch):
    """Let the file system tell the uses of an inode apart, or not: births(0)."""

    def tell(number):
        monkeypatch.setattr(logfile, "_birth", lambda descriptor: number)

    tell(7)
    return tell


def test_the_copy_of_a_truncated_log_is_read_and_the_gap_between_them_told(log, check, rotated, births):
    append(log, "one\n")
    check()
    append(log, "two\n")
    shutil.copyfile(log, rotated(1))
    log.write_bytes(b"three\n")
    assert check() == ["two", "three"]
    assert check.log.asides == [
        (
            "ndb_4_out.log was truncated in place (its copy ndb_4_out.log.1 is read): "
            "what was written to it in the last 1 min may be lost"
        )
    ]
    assert check.log.notes == []
    assert check() == []
    assert check.log.asides == []


def test_the_gap_is_told_when_the_copy_was_compressed_at_once(log, check, rotated, births):
    append(log, "one\n")
    check()
    append(log, "two\n")
    shutil.copyfile(log, rotated(1))
    compress(rotated(1))
    log.write_bytes(b"three\n")
    assert check() == ["two", "three"]
    assert "truncated in place (its copy ndb_4_out.log.1.gz is read)" in check.log.asides[0]


def test_an_incomplete_last_line_that_was_copied_counts_in_the_next_run(log, check, rotated):
    append(log, "one\ntw")
    check()
    shutil.copyfile(log, rotated(1))
    log.write_bytes(b"")
    assert check() == []
    assert check() == ["tw"]
    assert check() == []


def test_a_log_truncated_twice_with_copies_between_two_runs(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    shutil.copyfile(log, rotated(2))
    log.write_bytes(b"three\n")
    shutil.copyfile(log, rotated(1))
    log.write_bytes(b"four\n")
    assert check() == ["two", "three", "four"]


@pytest.mark.parametrize("after", ["", "three\n"])
def test_the_gap_is_told_of_a_log_that_was_empty_and_then_copied_and_truncated(
    log, check, rotated, births, after
):
    append(log, "one\n")
    check()
    log.write_bytes(b"")
    check()
    append(log, "two\n")
    shutil.copyfile(log, rotated(1))
    log.write_bytes(after.encode())
    assert check() == ["two", *after.split()]
    assert check.log.notes == []
    assert check.log.asides == [
        (
            "ndb_4_out.log was truncated in place (its copy ndb_4_out.log.1 is read): "
            "what was written to it in the last 1 min may be lost"
        )
    ]
    shutil.copyfile(log, rotated(2))
    assert check() == check.log.notes == check.log.asides == []


def test_a_truncated_log_without_a_copy(log, check, births):
    append(log, "one\ntw")
    check()
    log.write_bytes(b"")
    assert check() == []
    assert check.log.notes == [
        (
            "ndb_4_out.log was truncated in place: 2 B that were not yet read "
            "and what was written to it in the last 1 min may be lost"
        )
    ]


def test_a_log_that_was_truncated_or_recreated_where_the_file_system_does_not_tell(log, check, births):
    births(0)
    append(log, "one\n")
    check()
    log.write_bytes(b"")
    check()
    assert check.log.notes[0].startswith(
        "ndb_4_out.log was truncated in place or recreated: what was written"
    )


def test_a_truncated_log_that_has_grown_past_the_old_position(log, check):
    append(log, "one\n")
    check()
    log.write_bytes(b"two\nthree\nfour\n")
    assert check() == ["two", "three", "four"]
    assert len(check.log.notes) == 1


def test_a_truncated_log_that_ends_as_before_but_begins_otherwise(log, check):
    append(log, "1\n" + "x" * 300 + "\n")
    check()
    log.write_bytes(b"2\n" + b"x" * 300 + b"\n")
    assert check() == ["2", "x" * 300]


def test_a_deleted_log_is_told_when_it_is_back(log, check, tmp_path):
    append(log, "one\n")
    check()
    log.unlink()
    assert error_of(check) == (
        f"{log} does not exist",
        "check the path and where the server writes its log",
    )
    append(tmp_path / "other", "takes the inode\n")
    append(log, "two\n")
    assert check() == ["two"]
    assert check.log.notes == [
        "ndb_4_out.log was deleted: what was written to it in the last 2 min may be lost"
    ]


def test_a_log_that_was_deleted_and_recreated_is_read_from_its_beginning(log, check):
    append(log, "one\n")
    check()
    log.unlink()
    append(log, "two\nthree\n")
    assert check() == ["two", "three"]
    assert len(check.log.notes) == 1


def test_a_new_file_with_the_inode_of_the_old_one_is_known_by_its_content(log, check, rotated):
    append(log, "one\n")
    check()
    log.rename(rotated(1))
    compress(rotated(1))
    old = check.kept["generations"][0]["inode"]
    for number in itertools.count():
        append(log, "two\nthree\n")
        if log.stat().st_ino == old or number == 100:
            break
        log.rename(log.with_name(f"other {number}"))
    assert check() == ["two", "three"]


def test_a_file_system_that_changes_inodes_at_will(log, check, rotated):
    append(log, "one\n")
    check()
    other = log.with_name("other")
    shutil.copyfile(log, other)
    other.replace(log)
    append(log, "two\n")
    assert check() == ["two"]
    assert check.log.notes == []


def test_an_emptied_rotated_generation_is_no_loss(log, check, rotated):
    append(log, "one\n")
    check()
    log.rename(rotated(1))
    append(log, "two\n")
    check()
    rotated(1).write_bytes(b"")
    assert check() == []
    assert check.log.notes == []


def test_a_deleted_generation_that_its_writer_had_not_left_may_be_a_loss(log, check, rotated):
    append(log, "one\n")
    check()
    log.rename(rotated(1))
    append(log, "")
    check()
    rotated(1).unlink()
    assert check() == []
    assert check.log.notes == [
        "ndb_4_out.log.1 was deleted: what was written to it in the last 1 min may be lost"
    ]


# copies that somebody makes


def test_a_copy_beside_the_intact_log_is_not_read(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    shutil.copyfile(log, rotated(1))
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert check() == []


def test_a_copy_of_a_log_that_is_then_rotated_is_not_read(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    shutil.copyfile(log, rotated(7))
    log.rename(rotated(1))
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert check() == []
    assert check.log.notes == []


def test_a_copy_of_a_log_that_was_empty_before_is_not_read(log, check, rotated):
    append(log, "")
    check()
    append(log, "one\n")
    shutil.copyfile(log, rotated(1))
    append(log, "two\n")
    assert check() == ["one", "two"]


def test_a_shorter_copy_does_not_hide_the_compressed_generation(log, check, rotated):
    append(log, "one\n")
    check()
    shutil.copyfile(log, rotated(7))
    append(log, "two\n")
    log.rename(rotated(1))
    compress(rotated(1))
    append(log, "three\n")
    assert check() == ["two", "three"]
    assert check() == []
    assert check.log.notes == []


def test_of_a_file_and_its_equal_the_one_that_was_there_before_is_followed(log, check, rotated):
    append(log, "")
    check()
    append(log, "one\n")
    shutil.copy2(log, log.with_name("ndb_4_out.log-20261120"))
    log.rename(rotated(1))
    assert check() == ["one"]
    append(rotated(1), "two\n")
    assert check() == ["two"]


def test_a_copy_of_history_is_not_read(log, check, rotated):
    append(rotated(1), "history\n")
    append(log, "one\n")
    check()
    shutil.copyfile(rotated(1), rotated(8))
    log.rename(rotated(2))
    append(log, "two\n")
    assert check() == ["two"]


def test_an_editor_that_saves_the_log_as_a_new_file(log, check):
    append(log, "one\n")
    check()
    log.rename(log.with_name("ndb_4_out.log~"))
    append(log, "one\ntwo\n")
    assert check() == ["two"]
    assert check.log.notes == []


# floods, long lines, large files, little time


def test_a_flood_is_read_in_portions(log, check):
    append(log, "one\ntwo\nthree\n")
    assert check(max_bytes=8) == ["one", "two"]
    assert check.log.behind == 6
    assert check(max_bytes=8) == ["three"]
    assert check.log.behind == 0


def test_a_run_gives_at_least_one_line(log, check):
    append(log, "one\ntwo\n")
    assert check(max_bytes=1) == ["one"]


def test_a_flood_over_several_generations_is_read_in_portions(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(2))
    append(log, "three\n")
    log.rename(rotated(1))
    append(log, "four\n")
    assert check(max_bytes=1) == ["two"]
    assert check(max_bytes=1) == ["three"]
    compress(rotated(1))
    assert check(max_bytes=1) == ["four"]
    assert check.log.notes == []


def test_generations_that_were_found_but_not_read_are_read_when_compressed(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(2))
    append(log, "three\n")
    log.rename(rotated(1))
    append(log, "four\n")
    assert check(max_bytes=1) == ["two"]
    compress(rotated(1))
    compress(rotated(2))
    assert check() == ["three", "four"]
    assert check.log.notes == []


def test_the_loss_of_what_was_known_to_be_unread_is_told_with_its_size(log, check):
    append(log, "one\ntwo\nthree\n")
    check(max_bytes=1)
    log.unlink()
    append(log, "")
    assert check() == []
    assert "10 B that were not yet read and what was written" in check.log.notes[0]


def test_reading_stops_when_the_time_is_short(log, check):
    append(log, f"{'a' * 99}\n" * 50_000)
    left = iter([8, 7, 6, 1.4, 1.3, 1.2, 1.1, 1.0])
    lines = check(left=lambda: next(left))
    assert len(lines) == 2 * (MIB // 100)
    assert check.log.behind == 5_000_000 - check.log.bytes_read
    assert len(lines) + len(check()) == 50_000


def test_a_short_timeout_reads_something_too(log, check):
    append(log, "one\n")
    assert check(left=lambda: 0.9) == ["one"]


def test_nothing_is_read_and_nothing_lost_when_no_time_is_left(log, check):
    append(log, "one\n")
    assert check(left=lambda: 0.0) == []
    assert check.log.behind == 4
    assert check() == ["one"]


def test_a_compressed_generation_for_which_the_time_is_too_short_is_read_later(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    packed = compress(rotated(1))
    assert check(left=lambda: 0.0) == []
    assert check.log.behind == packed.stat().st_size
    assert check() == ["two"]


@pytest.mark.parametrize("looks", range(1, 16))
def test_the_time_may_become_short_anywhere_in_a_compressed_generation(log, check, rotated, looks):
    append(log, "one\n")
    check()
    append(log, "".join(f"{number:015}\n" for number in range(200_000)))
    log.rename(rotated(1))
    compress(rotated(1))
    left = itertools.chain([8] * looks, itertools.repeat(1))
    lines = check(left=lambda: next(left))
    assert len(lines) == 200_000 or check.log.behind > 0
    assert lines + check() == [f"{number:015}" for number in range(200_000)]


def test_a_line_that_is_too_long_is_skipped_and_told(log, check):
    append(log, "one\n" + "x" * (3 * MIB) + "\ntwo\n")
    assert check() == ["one", "two"]
    assert check.log.notes == ["1 line of ndb_4_out.log longer than 1 MiB skipped"]


def test_a_line_that_is_too_long_may_span_several_runs(log, check):
    append(log, "one\n" + "x" * (2 * MIB))
    assert check() == ["one"]
    assert len(check.log.notes) == 1
    append(log, "x" * MIB)
    assert check() == []
    append(log, "x\ntwo\n")
    assert check() == ["two"]
    assert check.log.notes == []


def test_a_line_of_100_megabytes_costs_no_memory(log, check):
    append(log, "one\n")
    os.truncate(log, 100_000_000)
    append(log, "\ntwo\n")
    tracemalloc.start()
    assert check() == ["one", "two"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MIB


def test_positions_beyond_4_gibibytes(log, check, rotated):
    append(rotated(1), "history\n")
    os.truncate(rotated(1), 5 << 30)
    append(rotated(1), "\n")
    append(log, "")
    check()
    append(rotated(1), "one\n")
    assert check() == ["one"]
    assert check.kept["generations"][0]["offset"] == (5 << 30) + 5


# content is left as it is


def test_windows_line_ends_are_left_to_the_caller(log, check):
    append(log, "one\r\ntwo\r\n")
    assert check() == ["one\r", "two\r"]


def test_what_is_not_text_is_handed_out_as_it_is(log, check):
    log.write_bytes("é\n".encode("utf-16") + b"\0\xff\n")
    assert b"".join(logs.Follow(str(log), None)) == b"\xff\xfe\xe9\0\n\0\0\xff\n"


# files that cannot be read


def test_a_missing_log(log, check):
    assert error_of(check) == (f"{log} does not exist", "check the path and where the server writes its log")
    assert check.kept is None


def test_a_directory(check, tmp_path):
    check.path = tmp_path
    assert error_of(check) == (
        f"{tmp_path} is a directory",
        f"name the log file in it, for example {tmp_path}/ndb_4_out.log",
    )


def test_a_named_pipe_does_not_hold_us_up(log, check):
    os.mkfifo(log)
    assert error_of(check) == (f"{log} is a named pipe, not a log file", "name a regular file")


def test_a_socket(check, tmp_path):
    check.path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(check.path))
        assert error_of(check)[0] == f"{check.path} is a socket, not a log file"


def test_a_device(check):
    check.path = "/dev/zero"
    assert error_of(check)[0] == "/dev/zero is a device, not a log file"


def test_a_compressed_log_cannot_be_followed(log, check):
    log.write_bytes(gzip.compress(b"one\n"))
    assert error_of(check) == (f"{log} is compressed", "name the log that is being written")


def test_a_symbolic_link_to_a_log_is_followed_where_it_is_rotated(log, check, tmp_path):
    (tmp_path / "links").mkdir()
    check.path = tmp_path / "links" / "ndb.log"
    check.path.symlink_to(log)
    append(log, "one\n")
    assert check() == ["one"]
    append(log, "two\n")
    log.rename(tmp_path / "ndb_4_out.log.1")
    append(log, "three\n")
    assert check() == ["two", "three"]


def test_a_symbolic_link_that_is_moved_to_the_next_log(check, tmp_path):
    check.path = tmp_path / "app.log"
    append(tmp_path / "app-20261120.log", "one\n")
    check.path.symlink_to("app-20261120.log")
    check()
    append(tmp_path / "app-20261120.log", "two\n")
    append(tmp_path / "app-20261121.log", "three\n")
    check.path.unlink()
    check.path.symlink_to("app-20261121.log")
    assert check() == ["two", "three"]
    assert check.log.notes == []


def test_a_dangling_symbolic_link(log, check):
    log.symlink_to("elsewhere.log")
    assert error_of(check)[0] == f"{log} is a symbolic link to elsewhere.log, which does not exist"


@pytest.fixture
def as_nobody():
    """A directory that anybody may enter, and the rights of nobody."""
    if os.geteuid():
        pytest.skip("only root can become nobody")
    folder = tempfile.mkdtemp()
    os.chown(folder, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    yield folder
    os.seteuid(0)
    shutil.rmtree(folder)


def test_a_log_that_may_not_be_read(as_nobody):
    path = f"{as_nobody}/ndb_4_out.log"
    open(path, "w").close()
    os.chmod(path, 0)
    assert error_of(Check(path)) == (
        f"user nobody may not read {path}",
        f"let nobody read it: setfacl -m u:nobody:r {path}",
    )


def test_a_directory_that_may_not_be_entered(as_nobody):
    os.makedirs(f"{as_nobody}/data/4")
    os.chmod(f"{as_nobody}/data", 0)
    assert error_of(Check(f"{as_nobody}/data/4/ndb_4_out.log")) == (
        f"user nobody may not enter {as_nobody}/data",
        f"let nobody in: setfacl -m u:nobody:x {as_nobody}/data",
    )
    os.chmod(f"{as_nobody}/data", 0o700)


def test_a_generation_that_may_not_be_read_is_read_when_it_may(as_nobody):
    check = Check(f"{as_nobody}/ndb_4_out.log")
    with open(check.path, "w") as log:
        log.write("one\n")
    check()
    with open(check.path, "a") as log:
        log.write("two\n")
    os.rename(check.path, f"{check.path}.1")
    os.chmod(f"{check.path}.1", 0)
    with open(check.path, "w") as log:
        log.write("three\n")
    assert check() == ["three"]
    assert check.log.notes == [f"user nobody may not read {check.path}.1"]
    os.chmod(f"{check.path}.1", 0o600)
    assert check() == ["two"]


def test_a_directory_that_may_not_be_listed_is_no_obstacle(as_nobody):
    check = Check(f"{as_nobody}/ndb_4_out.log")
    with open(check.path, "w") as log:
        log.write("one\n")
    os.chmod(as_nobody, 0o300)
    assert check() == ["one"]


def test_lines_of_a_rotated_generation_come_before_the_problem_with_the_log(log, check, rotated):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    log.mkdir()
    assert check() == ["two"]
    assert check.log.problem.what == f"{log} is a directory"


# rotation at the very moment of the run


def test_a_rotation_while_the_directory_is_listed(log, check, rotated, monkeypatch):
    append(log, "one\n")
    check()
    append(log, "two\n")
    log.rename(rotated(1))
    append(log, "three\n")
    listing = os.scandir

    def shift(folder):
        with listing(folder) as entries:
            listed = list(entries)
        monkeypatch.setattr(os, "scandir", listing)
        rotated(1).rename(rotated(2))
        compress(rotated(2))
        return contextlib.nullcontext(listed)

    monkeypatch.setattr(os, "scandir", shift)
    assert check() == ["two", "three"]
    assert check.log.notes == []


# one file, whole


def test_a_whole_log_ends_with_its_incomplete_line(log):
    append(log, "one\ntwo")
    assert b"".join(logs.Whole(str(log))) == b"one\ntwo\n"


def test_a_whole_log_may_be_compressed(tmp_path):
    path = tmp_path / "sent"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\nthr") + bytes(512))
    assert b"".join(logs.Whole(str(path))) == b"one\ntwo\nthr\n"


def test_an_empty_whole_log_has_no_lines(log):
    append(log, "")
    assert list(logs.Whole(str(log))) == []


def test_a_whole_log_that_is_cut_off_is_told_after_what_is_there(tmp_path):
    path = tmp_path / "ndb_4_out.log.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n")[:-5])
    lines = []
    what, advice = error_of(lambda: lines.extend(logs.Whole(str(path))))
    assert lines == [b"one\ntwo\n"]
    assert what == f"{path} is damaged: the compressed data end too early"
    assert advice == "fetch it again"


def test_a_whole_log_without_time_to_read_it(log):
    append(log, "one\n")
    whole = logs.Whole(str(log), left=lambda: 0.0)
    assert list(whole) == []
    assert whole.behind == 4


def test_a_whole_log_that_is_missing(log):
    assert error_of(lambda: list(logs.Whole(str(log))))[0] == f"{log} does not exist"


def test_a_log_through_the_root_of_a_process_has_its_rotated_files_there(tmp_path, log):
    append(log, "live\n")
    append(tmp_path / "ndb_4_out.log.1", "old\n")
    there = f"/proc/{os.getpid()}/root{log}"
    rotation = look(there, lambda: False)
    try:
        assert [file.path for file in rotation.files] == [there, f"{there}.1"]
    finally:
        rotation.close()


def test_a_log_of_another_root_does_not_get_the_rotated_files_of_this_one(tmp_path, log, monkeypatch):
    append(log, "live\n")
    other = tmp_path / "other"
    other.mkdir()
    append(other / "ndb_4_out.log", "of the host\n")
    append(other / "ndb_4_out.log.1", "of the host\n")
    real = os.path.realpath
    elsewhere = {str(log): str(other / log.name), str(tmp_path): str(other)}
    monkeypatch.setattr(os.path, "realpath", lambda path: elsewhere.get(path) or real(path))
    rotation = look(str(log), lambda: False)
    try:
        assert [file.path for file in rotation.files] == [str(log)]
    finally:
        rotation.close()


@pytest.mark.parametrize("first", [True, False])
def test_a_file_that_is_truncated_while_it_is_read_is_told(log, first):
    append(log, "".join(f"line {number}\n" for number in range(300_000)))
    blocks = iter(run := logs.Follow(str(log), None) if first else logs.Whole(str(log)))
    next(blocks)
    os.truncate(log, 0)
    if first:
        assert [*blocks] == []
        assert run.notes == [f"{log} was truncated while it was read: lines may be lost"]
    else:
        with pytest.raises(ProbeError, match="was truncated while it was read"):
            next(blocks)


@pytest.mark.skipif(os.geteuid() != 0, reason="root may read all links: it has to become somebody else")
def test_a_link_on_the_way_that_is_not_for_us_to_read_is_told(log):
    """Of /proc/1/root; the log may even be opened by its other name."""
    os.seteuid(NOBODY)
    try:
        what, _ = error_of(list, logs.Follow(f"/proc/1/root{log}", None))
    finally:
        os.seteuid(0)
    assert "/proc/1/root" in what
