"""What befalls a log in the very moment in which a run reads it."""

import os
import re
import shutil

import numbered
import pytest
from stallwatch.sources import logs
from stallwatch.sources.logs import rotation

BASE = 1_790_000_000
MANY = 30_000  # lines of 107 bytes: three blocks


@pytest.fixture
def path(tmp_path):
    """A log that a run has read, and what was written since."""
    path = tmp_path / "ndb_4_out.log"
    path.write_bytes(numbered.line(BASE, 0))
    return path


def write(path, first, end):
    with path.open("ab") as log:
        log.writelines(numbered.line(BASE, number) for number in range(first, end))


def numbers(*blocks):
    return [int(digits) for block in blocks for digits in re.findall(rb"\.(\d{6})Z ", block)]


def read(follow):
    return numbers(*follow), follow.kept


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_a_log_that_is_copied_and_truncated_while_it_is_read(path, blocks):
    first, kept = read(logs.Follow(str(path), None))
    write(path, 1, MANY)
    follow = logs.Follow(str(path), kept)
    pieces = iter(follow)
    second = numbers(*[next(pieces) for _ in range(blocks)])
    shutil.copyfile(path, f"{path}.1")
    os.truncate(path, 0)
    write(path, MANY, MANY + 100)
    second += numbers(*pieces)
    third, kept = read(logs.Follow(str(path), follow.kept))
    fourth, _ = read(logs.Follow(str(path), kept))
    assert first + second + third + fourth == list(range(MANY + 100))


def test_what_is_written_while_a_run_reads_is_for_the_next_one(path):
    _, kept = read(logs.Follow(str(path), None))
    write(path, 1, MANY)
    follow = logs.Follow(str(path), kept)
    pieces = iter(follow)
    second = numbers(next(pieces))
    shutil.copyfile(path, f"{path}.1")  # copied, before ...
    write(path, MANY, MANY + 100)  # ... these are written, and lost with the truncation
    second += numbers(*pieces)
    os.truncate(path, 0)
    write(path, MANY + 100, MANY + 200)
    after = logs.Follow(str(path), follow.kept)
    third, _ = read(after)
    assert second + third == [*range(1, MANY), *range(MANY + 100, MANY + 200)]
    assert [aside for aside in after.asides if "may be lost" in aside]


def test_files_that_are_renamed_within_one_tick_of_the_directorys_time(path, monkeypatch):
    write(path, 1, 10)
    _, kept = read(logs.Follow(str(path), None))
    write(path, 10, 20)
    path.rename(f"{path}.1")
    write(path, 20, 30)
    listed = rotation._siblings
    renamed = []

    def renamed_when_listed(name):
        """Give the files as they were listed, and rename one before it is opened."""
        found = listed(name)
        if not renamed:
            times = path.parent.stat()
            renamed.append(os.rename(f"{path}.1", f"{path}.2"))
            os.utime(path.parent, ns=(times.st_atime_ns, times.st_mtime_ns))
        return found

    monkeypatch.setattr(rotation, "_siblings", renamed_when_listed)
    follow = logs.Follow(str(path), kept)
    assert read(follow)[0] == list(range(10, 30))
    assert follow.notes == follow.asides == []
