"""Plugins whose memory between runs is in trouble: the verdict stands, and they say what is not remembered.

What the run before has kept is as it was, and once the machine is no trouble any more all is well again.
"""

import os
from dataclasses import dataclass, field

import psutil
import pytest
from cells import cells
from healthy import SAID
from subjects import CRITICAL, OK, SUBJECTS, UNKNOWN
from surroundings import NAMELESS, NOBODY, ORDINARY, TIMEOUT, WITHIN, Surroundings, run_in

NOTHING = "nothing is remembered between runs: "
LOST = "the memory of earlier runs is lost and this run counts as the first: "
UNSAVED = "this run cannot be remembered: "
US = psutil.Process().username()  # or our number


@dataclass(frozen=True)
class Trouble:
    """What is done to the folder of state of a plugin that has run, and what it then says.

    told  how it begins, and how it ends
    kept  whether the file of the run before is as it was
    root  whether only root can cause it
    """

    cause: callable
    told: tuple[str, str]
    surroundings: Surroundings = field(default_factory=Surroundings)
    kept: bool = True
    root: bool = False


def keeps(_trouble, subject):
    return subject.state


def state_in(folder):
    """The file of state; what servers showed at first is kept in files of its own."""
    (file,) = (one for one in folder.glob("*.json") if not one.name.startswith("mysql_server-"))
    return file


def in_place_of(suffix, make):
    """Replace the file that ends so."""

    def cause(folder):
        path = state_in(folder).with_suffix(suffix)
        if path.exists():
            path.rename(folder.parent / "moved")
        make(path)

    return cause


def victim(folder):
    """A file that is not to be touched."""
    path = folder.parent / "victim"
    path.write_text("precious")
    return path


def a_link(path):
    path.symlink_to(victim(path.parent))


def a_full_directory(path):
    path.mkdir()
    (path / "file").touch()


def a_device(path):
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero


def linked_directory(folder):
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


def a_file_instead(folder):
    folder.rename(folder.parent / "elsewhere")
    folder.touch()


def nothing(_folder):
    pass


READ_ONLY = 'mount --bind "$STATE_DIRECTORY" "$STATE_DIRECTORY"\nmount -o remount,bind,ro "$STATE_DIRECTORY"'
# A disk of one page of data: the new file cannot be written beside the old one.
FULL = """cp -a "$STATE_DIRECTORY" "$HOME/before"
mount -t tmpfs -o size=64k,mode=700 none "$STATE_DIRECTORY"
cp -a "$HOME/before/." "$STATE_DIRECTORY"
head -c 1M /dev/zero 2>/dev/null >"$STATE_DIRECTORY/filler" || true"""
KEEP = 'cp -a "$STATE_DIRECTORY" "$HOME/after"'
NO_FILE = "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
TROUBLES = {
    "read-only": Trouble(
        nothing, (NOTHING, "Read-only file system"), Surroundings(mounts=READ_ONLY, after=KEEP)
    ),
    "a full disk": Trouble(
        nothing, (UNSAVED, "No space left on device"), Surroundings(mounts=FULL, after=KEEP)
    ),
    "files must not grow": Trouble(nothing, (UNSAVED, "File too large"), Surroundings(NO_FILE)),
    "of another user": Trouble(
        lambda folder: os.chown(folder, NOBODY, NOBODY),
        (NOTHING, "belongs to nobody, not to root"),
        root=True,
    ),
    "others can write": Trouble(
        lambda folder: folder.chmod(0o777), (NOTHING, f"can be written by others than {US}")
    ),
    "a link in its place": Trouble(linked_directory, (NOTHING, "is a symbolic link")),
    "a file in its place": Trouble(a_file_instead, (NOTHING, "cannot be made: File exists")),
    "its file is a link": Trouble(
        in_place_of(".json", a_link), (LOST, "Too many levels of symbolic links"), kept=False
    ),
    "its file is a FIFO": Trouble(in_place_of(".json", os.mkfifo), (LOST, "is damaged"), kept=False),
    "its file is a device": Trouble(
        in_place_of(".json", a_device), (LOST, "is larger than 8 MiB"), kept=False, root=True
    ),
    "its file is a directory": Trouble(
        in_place_of(".json", a_full_directory), (LOST, "Is a directory"), kept=False
    ),
    "its file is of another user": Trouble(
        lambda folder: [os.chown(file, NOBODY, NOBODY) for file in folder.glob("*.json")],
        (LOST, "belongs to nobody, not to root"),
        kept=False,
        root=True,
    ),
    "its lock is a link": Trouble(
        in_place_of(".lock", a_link), (NOTHING, "Too many levels of symbolic links")
    ),
    "its lock is a directory": Trouble(in_place_of(".lock", a_full_directory), (NOTHING, "Is a directory")),
    "its new file is a directory": Trouble(
        in_place_of(".new", a_full_directory), (UNSAVED, "Is a directory")
    ),
}
HARMLESS = {
    "its new file is a link": in_place_of(".new", a_link),
    "its new file is a FIFO": in_place_of(".new", os.mkfifo),
    "its lock is a FIFO": in_place_of(".lock", os.mkfifo),
}


def labels(outcome):
    """What is in the perfdata."""
    return {item.partition("=")[0] for item in outcome.line.partition(" | ")[2].split()}


def kept_in(folder):
    """What is in the file of state."""
    return state_in(folder).read_bytes()


@cells(TROUBLES, keeps, one=True)
def test_trouble(home, healthy, subject, trouble):
    if trouble.root and os.geteuid() != 0:
        pytest.skip("files of others and devices are made by root alone")
    calm, place = healthy(subject)
    calm = calm.remembering()
    state = home / "state"
    first = run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    before = kept_in(state)
    trouble.cause(state)
    run = run_in(calm, place, home, trouble.surroundings, *WITHIN, "-v").holds(TIMEOUT, UNKNOWN)
    begin, end = trouble.told
    said = run.line.partition(" | ")[0].removeprefix(f"{subject.name} UNKNOWN - ")
    assert said.startswith(begin), run
    assert end in said, run
    assert SAID[subject.plugin] in run.text or "first look" in run.text or "from the next run" in run.text, (
        run
    )
    assert labels(first) <= labels(run), run  # the numbers stand, too
    if (home / "victim").exists():
        assert (home / "victim").read_text() == "precious"
    if trouble.kept:
        old = next((home / name for name in ("elsewhere", "after") if (home / name).exists()), state)
        assert kept_in(old) == before
    if trouble.cause is nothing:
        after = run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
        assert SAID[subject.plugin] in after.line, after


@cells(HARMLESS, keeps, one=True)
def test_no_trouble(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    calm = calm.remembering()
    run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    trouble(home / "state")
    run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    if (home / "victim").exists():
        assert (home / "victim").read_text() == "precious"


PLACES = {
    "nowhere": ("/proc/state", "/proc/state cannot be made: No such file or directory"),
    "a name without end": ("/tmp/" + "x" * 5000, "cannot be made: File name too long"),
    "below a file": ("/etc/passwd/state", "/etc/passwd/state cannot be made: Not a directory"),
    "that is no text": ("/proc/\udcff\x01|", "cannot be made: No such file or directory"),
    "a device": ("/dev/null", "/dev/null cannot be made: File exists"),
}


@cells(PLACES, keeps, one=True)
def test_a_directory_that_cannot_be(home, healthy, subject, trouble):
    place_of_state, told = trouble
    calm, place = healthy(subject)
    variables = {"STATE_DIRECTORY": place_of_state}
    outcome = run_in(calm.remembering(), place, home, Surroundings(variables=variables), *WITHIN)
    outcome.holds(TIMEOUT, UNKNOWN)
    assert f" UNKNOWN - {NOTHING}" in outcome.line, outcome
    assert told in outcome.text, outcome  # below line 1, if it is too long for that


@cells({
    "without HOME and name": Surroundings(user=NAMELESS, variables={"HOME": None, "STATE_DIRECTORY": None}),
    "with a HOME of root": Surroundings(user=NAMELESS, variables={"HOME": "/root", "STATE_DIRECTORY": None}),
}, keeps, one=True)  # fmt: skip
def test_a_user_who_has_no_place(strangers_home, healthy, subject, trouble):
    calm, place = healthy(subject)
    outcome = run_in(calm.remembering(), place, strangers_home, trouble, *WITHIN).holds(TIMEOUT, UNKNOWN)
    assert f" UNKNOWN - {NOTHING}" in outcome.line, outcome
    assert "cannot be made: Permission denied" in outcome.line, outcome


ALARM = {  # a headline that is CRITICAL, whatever it is
    "replication_lag": ("-c", "@0:"), "ndb_memory": ("-c", "@0:"),
    "ndb_transactions": ("-c", "@0:"), "mysqld_process": ("--threads-critical", "@0:"),
    "mysql_backup": ("-c", "@0:"), "ndb_log": ("-c", "@0:"),
}  # fmt: skip


@pytest.mark.parametrize(
    "subject", [one for one in SUBJECTS if one.plugin in ALARM], ids=lambda one: one.plugin
)
def test_what_is_wrong_outranks_it(home, healthy, subject):
    calm, place = healthy(subject)
    here = Surroundings(variables={"STATE_DIRECTORY": "/proc/state"})
    outcome = run_in(calm, place, home, here, *WITHIN, *ALARM[subject.plugin]).holds(TIMEOUT, CRITICAL)
    assert f"\n[UNKNOWN] {NOTHING}/proc/state cannot be made" in outcome.text, outcome
