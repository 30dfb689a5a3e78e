"""Plugins that root runs over folders in which others plant links to what is root's, and named pipes."""

import os
import shutil
import subprocess
import sys

import pytest
import runs
from subjects import BY_NAME, OK, RECORDED, UNKNOWN, WARNING, Place

TIMEOUT = 60  # seconds: whom a pipe keeps waiting has no verdict
NOBODY = 65534
REFUSED = "a symbolic link of user nobody leads to what user root owns"
STUCK = RECORDED / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
NDB_LOG, BACKUP, PROCESS = (BY_NAME[name] for name in ("ndb_log", "mysql_backup", "mysqld_process"))
START_OF = """import sys
from stallwatch.probes.mysqld_process.collect import start_of
print(start_of(1, sys.argv[1]))
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can give files away: run this test as root"
)


@pytest.fixture
def theirs(tmp_path):
    """A folder of nobody."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    return folder


@pytest.fixture
def private(tmp_path):
    """Gives a copy of a file for root's eyes only."""

    def private(path):
        copy = tmp_path / "private"
        shutil.copy(path, copy)
        copy.chmod(0o600)
        return copy

    return private


def run(subject, place, home, *more):
    return runs.run(subject, place, home, *more, "-t", f"{TIMEOUT}s")


def plant(place, target):
    """Make a link there as nobody would."""
    place.symlink_to(target)
    os.lchown(place, NOBODY, NOBODY)
    return str(place)


def pipe(place):
    """Make a named pipe there as nobody would."""
    os.mkfifo(place)
    os.chown(place, NOBODY, NOBODY)
    return str(place)


def give(source, place):
    """Copy a file there as nobody would."""
    shutil.copy(source, place)
    os.chown(place, NOBODY, NOBODY)
    return str(place)


def test_a_link_in_the_place_of_a_log_shows_nothing(home, theirs, private):
    log = plant(theirs / "ndb_4_out.log", private(STUCK))
    outcome = run(NDB_LOG, Place(log=log), home, "--whole").holds(TIMEOUT, UNKNOWN)
    assert f"{log} cannot be read: {REFUSED}" in outcome.line
    assert "stuck" not in outcome.text
    assert "stuck 2.9 s" in run(NDB_LOG, Place(log=str(STUCK)), home, "--whole").holds(TIMEOUT, WARNING).line


def test_a_link_in_the_place_of_a_rotated_log_is_passed_over(home, theirs, private):
    log = give(Place().log, theirs / "ndb_4_out.log")
    run(NDB_LOG, Place(log=log), home).holds(TIMEOUT, OK)
    plant(theirs / "ndb_4_out.log.1", private(STUCK))
    pipe(theirs / "ndb_4_out.log.2")
    run(NDB_LOG, Place(log=log), home).holds(TIMEOUT, OK)


def test_what_is_beside_a_link_s_target_is_no_rotated_log_of_its_own(home, theirs, private, tmp_path):
    folder = tmp_path / "root's"
    folder.mkdir()
    log = give(Place().log, theirs / "ndb_4_out.log")
    run(NDB_LOG, Place(log=log), home).holds(TIMEOUT, OK)
    private(STUCK).rename(folder / "auth.log.1")
    (folder / "auth.log").write_text("root's\n")
    (theirs / "ndb_4_out.log").unlink()
    plant(theirs / "ndb_4_out.log", folder / "auth.log")
    outcome = run(NDB_LOG, Place(log=log), home).holds(TIMEOUT, UNKNOWN)
    assert REFUSED in outcome.text
    assert " stuck=0s;" in outcome.line


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (NDB_LOG, " is a named pipe"),
        (BACKUP, " is neither a directory nor a file"),
        (PROCESS, ": it is neither a regular file nor a directory"),
    ],
)
def test_a_named_pipe_in_its_place_keeps_nobody_waiting(home, theirs, subject, said):
    planted = pipe(theirs / "planted")
    place = Place(log=planted, backup=planted)
    more = ("--pid-file", planted) if subject is PROCESS else ()
    outcome = run(subject, place, home, *more).holds(TIMEOUT, UNKNOWN)
    assert f"{planted}{said}" in outcome.line


def test_a_named_pipe_in_the_place_of_a_nodes_log_keeps_nobody_waiting(theirs):
    pipe(theirs / "ndb_9_out.log")
    done = subprocess.run(
        [sys.executable, "-c", START_OF, theirs], capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"b''\n"


def test_a_link_in_the_place_of_a_pid_file_shows_nothing(home, theirs, tmp_path):
    (tmp_path / "shadow").write_text("4711:secret")
    pid_file = plant(theirs / "mysqld.pid", tmp_path / "shadow")
    outcome = run(PROCESS, Place(), home, "--pid-file", pid_file).holds(TIMEOUT, UNKNOWN)
    assert outcome.line == f"MYSQLD_PROCESS UNKNOWN - {pid_file}: {REFUSED}"


def test_a_link_in_a_folder_of_backups_shows_nothing(home, theirs, private):
    plant(theirs / "all.sql", private(Place().backup))
    outcome = run(BACKUP, Place(backup=str(theirs)), home).holds(TIMEOUT, UNKNOWN)
    assert REFUSED in outcome.text


def test_a_link_in_the_place_of_the_folder_of_backups_shows_nothing(home, theirs, tmp_path):
    folder = tmp_path / "root's"
    folder.mkdir()
    shutil.copy(Place().backup, folder / "all.sql")
    outcome = run(BACKUP, Place(backup=plant(theirs / "latest", folder)), home).holds(TIMEOUT, UNKNOWN)
    assert REFUSED in outcome.line
    assert "all.sql" not in outcome.text


def test_their_own_links_to_their_own_files_are_followed(home, theirs):
    give(Place().log, theirs / "real.log")
    log = plant(theirs / "ndb_4_out.log", "real.log")
    assert "91 lines of" in run(NDB_LOG, Place(log=log), home, "--whole").holds(TIMEOUT, OK).line
    give(Place().backup, theirs / "real.sql")
    assert run(BACKUP, Place(backup=plant(theirs / "all.sql", "real.sql")), home).holds(TIMEOUT, OK)


def test_links_of_root_are_followed_wherever_they_lead(home, theirs):
    log = theirs / "ndb_4_out.log"
    log.symlink_to(give(Place().log, theirs / "real.log"))
    assert "91 lines of" in run(NDB_LOG, Place(log=str(log)), home, "--whole").holds(TIMEOUT, OK).line
