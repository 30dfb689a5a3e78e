import json
import os
import pwd
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest
from stallwatch.deadline import Deadline
from stallwatch.findings import ProbeError, Reading
from stallwatch.frame import places, state
from stallwatch.frame.state import memory

NOBODY = 65534
FOREIGN = "was written by another check or version"
BUSY = "another run of this check has not ended yet and holds its state"


@pytest.fixture
def folder(tmp_path):
    """A directory for state that does not exist yet."""
    return tmp_path / "state"


def recall(folder, **target):
    """Run once: what the run before left, and what was wrong with it."""
    problems = []
    with memory({"name": "demo", **target}, str(folder), Deadline(60), problems) as kept:
        return dict(kept), [problem.what for problem in problems]


def keep(folder, value, **target):
    """Run once, keeping a value; tell what was wrong."""
    problems = []
    with memory({"name": "demo", **target}, str(folder), Deadline(60), problems) as kept:
        kept["value"] = value
    return [problem.what for problem in problems]


def file_in(folder):
    return next(folder.glob("*.json"))


def in_a_child(action, uid=None):
    """Do it in a process of its own, as another user where we may choose."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if uid is not None and os.geteuid() == 0:
                os.setgid(uid)
                os.setuid(uid)
            os.write(writer, json.dumps(action()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer)


@pytest.fixture
def open_folder():
    """A directory that belongs to that user."""
    path = tempfile.mkdtemp()
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    yield path
    os.chmod(path, 0o700)
    shutil.rmtree(path)


# What is kept


def test_the_first_run_remembers_nothing_and_the_next_what_the_first_kept(folder):
    assert recall(folder) == ({}, [])
    assert keep(folder, {"offset": 5}) == []
    assert recall(folder) == ({"value": {"offset": 5}}, [])


def test_every_target_has_a_memory_of_its_own(folder):
    keep(folder, 1, log="a.log")
    keep(folder, 2, log="b.log")
    assert recall(folder, log="a.log") == ({"value": 1}, [])
    assert recall(folder, log="b.log") == ({"value": 2}, [])
    assert recall(folder) == ({}, [])


def test_the_file_tells_its_version_and_whose_it_is(folder):
    keep(folder, 1, nodes=(3, 4))
    assert file_in(folder).name.startswith("demo-")
    assert json.loads(file_in(folder).read_bytes()) == {
        "version": 1,
        "identity": {"name": "demo", "nodes": [3, 4]},
        "values": {"value": 1},
    }


def test_its_name_is_the_same_for_ever(folder):
    keep(folder, 1, target="db1:3306", channel="[]")
    assert {path.name for path in folder.iterdir()} == {
        "demo-6d934c3978c41c18.json",
        "demo-6d934c3978c41c18.lock",
    }


def test_a_target_that_is_no_text_is_remembered(folder):
    keep(folder, "\udcfe", log="\udcff.log")
    assert recall(folder, log="\udcff.log") == ({"value": "\udcfe"}, [])


def test_a_run_that_fails_leaves_what_was_kept_before(folder):
    def fail():
        with memory({"name": "demo"}, str(folder), Deadline(60), []) as kept:
            kept["value"] = 2
            raise ProbeError("no answer")

    keep(folder, 1)
    with pytest.raises(ProbeError, match="no answer"):
        fail()
    assert recall(folder) == ({"value": 1}, [])


def test_directory_and_files_are_for_their_user_alone(folder):
    before = os.umask(0)
    keep(folder, 1)
    os.umask(before)
    modes = {path.suffix: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}
    assert modes == {"": 0o700, ".json": 0o600, ".lock": 0o600}


# Damaged files


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "is damaged"),
        (b'{"version": 1, "ident', "is damaged"),
        (b"\xff\xfe\x00", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b"1" * 100_000, "is damaged"),
        (b"[]", FOREIGN),
        (b'{"version": 1, "identity": {"name": "demo"}, "values": []}', FOREIGN),
        (b'{"version": 2, "identity": {"name": "demo"}, "values": {}}', FOREIGN),
        (b'{"version": 1, "identity": {"name": "other"}, "values": {}}', FOREIGN),
        (b" " * (8 * 1024 * 1024 + 1), "is larger than 8 MiB"),
        (b"[" + b"{}," * 150_000 + b"{}]", "would take more than 40 MiB of memory"),
    ],
    ids=range(11),
)
def test_a_file_that_makes_no_sense_is_told_once_and_replaced(folder, content, wrong):
    keep(folder, 1)
    file_in(folder).write_bytes(content)
    lost = "the memory of earlier runs is lost and this run counts as the first"
    sentence = f"{lost}: {file_in(folder)} {wrong}"
    assert keep(folder, 2) == [sentence]
    assert recall(folder) == ({"value": 2}, [])


def test_a_symbolic_link_in_place_of_the_file_is_never_followed(folder, tmp_path):
    keep(folder, 1)
    target = tmp_path / "target"
    shutil.copy(file_in(folder), target)
    before = target.read_bytes()
    path = file_in(folder)
    path.unlink()
    path.symlink_to(target)
    [problem] = keep(folder, 2)
    assert problem.endswith(f"{path}: Too many levels of symbolic links")
    assert target.read_bytes() == before
    assert recall(folder) == ({"value": 2}, [])


def test_a_symbolic_link_in_place_of_the_lock_is_refused(folder, tmp_path):
    keep(folder, 1)
    lock = next(folder.glob("*.lock"))
    lock.unlink()
    lock.symlink_to(tmp_path / "made")
    [problem] = keep(folder, 2)
    assert problem == f"nothing is remembered between runs: {lock}: Too many levels of symbolic links"
    assert not (tmp_path / "made").exists()


def test_a_fifo_in_place_of_the_file_does_not_hold_up_the_run(folder):
    keep(folder, 1)
    path = file_in(folder)
    path.unlink()
    os.mkfifo(path)
    [problem] = keep(folder, 2)
    assert problem.endswith(f"{path} is damaged")
    assert recall(folder) == ({"value": 2}, [])


# Directories


def test_a_symbolic_link_in_place_of_the_directory_is_refused(folder, tmp_path):
    folder.mkdir(0o700)
    link = tmp_path / "link"
    link.symlink_to(folder)
    sentence = f"nothing is remembered between runs: {link} is a symbolic link"
    assert keep(link, 1) == [sentence]
    assert keep(f"{link}/", 1) == [f"nothing is remembered between runs: {link}/ is a symbolic link"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_directory_that_others_can_write_is_refused(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    [problem] = keep(folder, 1)
    assert problem.startswith(f"nothing is remembered between runs: {folder} can be written by others than ")
    assert list(folder.iterdir()) == []


def test_a_directory_of_another_user_is_refused_even_to_root(open_folder):
    if os.geteuid() != 0:
        open_folder = "/usr"
    [problem] = keep(open_folder, 1)
    assert problem.startswith(f"nothing is remembered between runs: {open_folder} belongs to ")
    assert os.geteuid() != 0 or os.listdir(open_folder) == []


def test_the_user_chooses_the_place_then_systemd_then_the_system_then_the_home(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "SHARED_PLACE", str(tmp_path / "var"))
    monkeypatch.setenv("STATE_DIRECTORY", f"{tmp_path}/systemd:{tmp_path}/other")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    user = state.user_name(os.geteuid())

    def place(directory=None):
        path, descriptor = state._open_folder(directory)
        os.close(descriptor)
        return os.path.relpath(path, tmp_path)

    assert place(str(tmp_path / "own")) == "own"
    assert place() == "systemd"
    monkeypatch.delenv("STATE_DIRECTORY")
    assert place() == f"var/{user}"
    (tmp_path / "file").touch()
    monkeypatch.setattr(places, "SHARED_PLACE", str(tmp_path / "file"))
    assert place() == "home/.local/state/stallwatch"


def test_without_a_home_the_password_file_knows_it(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    assert os.path.expanduser("~") == pwd.getpwuid(os.getuid()).pw_dir


def test_a_user_without_any_place_is_told_so(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(places, "SHARED_PLACE", str(tmp_path / "file"))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    problems = []
    with memory({"name": "demo"}, None, Deadline(60), problems) as kept:
        assert kept == {}
    assert "cannot be made: Not a directory" in problems[0].what
    assert os.listdir(tmp_path) == ["file"]


@pytest.fixture
def shared(monkeypatch):
    """A place for all users that is not made yet, which everybody can reach; and no other one."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        monkeypatch.setattr(places, "SHARED_PLACE", f"{folder}/stallwatch")
        monkeypatch.delenv("STATE_DIRECTORY", raising=False)
        monkeypatch.setenv("HOME", "/proc/home")
        before = os.umask(0o077)  # as plugins have it
        yield f"{folder}/stallwatch"
        os.umask(before)


def mode(path):
    return os.stat(path).st_mode & 0o7777


def keep_anywhere():
    """Run once without a directory that is named; tell what was wrong, and what to do."""
    problems = []
    with memory({"name": "demo"}, None, Deadline(60), problems) as kept:
        kept["value"] = 1
    return [[problem.what, problem.advice] for problem in problems]


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes others")


@only_root
def test_the_first_run_of_root_shuts_nobody_out(shared):
    assert keep_anywhere() == []
    assert (mode(shared), mode(f"{shared}/root")) == (0o755, 0o700)
    os.mkdir(f"{shared}/nobody", 0o700)
    os.chown(f"{shared}/nobody", NOBODY, NOBODY)
    assert in_a_child(keep_anywhere, NOBODY) == []
    assert os.listdir(f"{shared}/nobody")


@only_root
def test_a_place_of_all_that_is_closed_is_named_with_its_remedy(shared):
    os.mkdir(shared, 0o700)
    [[what, advice]] = in_a_child(keep_anywhere, NOBODY)
    assert what == (
        f"nothing is remembered between runs: {shared} is closed to nobody, and "
        "/proc/home/.local/state/stallwatch cannot be made: No such file or directory"
    )
    assert advice == f"run as root: chmod 755 {shared}, or give --state-dir"
    assert mode(shared) == 0o700


@only_root
def test_without_a_directory_of_their_own_others_learn_who_makes_it(shared):
    keep_anywhere()
    [[what, advice]] = in_a_child(keep_anywhere, NOBODY)
    assert f"{shared}/nobody cannot be made: Permission denied, and /proc/home/" in what
    assert advice == f"run as root: install -d -o nobody -m 700 {shared}/nobody, or give --state-dir"


# Saving


def test_a_directory_that_cannot_be_written_is_told_and_the_run_goes_on(open_folder):
    def twice():
        keep(open_folder, 1)
        os.chmod(open_folder, 0o500)
        return keep(open_folder, 2), recall(open_folder)[0]

    [problem], values = in_a_child(twice, NOBODY)
    assert problem.startswith(f"this run cannot be remembered: {open_folder}/demo-")
    assert problem.endswith(".json: Permission denied")
    assert values == {"value": 1}


def test_a_new_directory_that_cannot_be_written_is_told(open_folder):
    os.chmod(open_folder, 0o500)
    [problem] = in_a_child(lambda: keep(open_folder, 1), NOBODY)
    assert problem.startswith(f"nothing is remembered between runs: {open_folder}/demo-")
    assert problem.endswith(".lock: Permission denied")


def test_a_place_that_cannot_be_made_is_told():
    sentence = "nothing is remembered between runs: /proc/state cannot be made: No such file or directory"
    assert keep("/proc/state", 1) == [sentence]


def test_a_full_disk_keeps_the_old_file_and_is_told(folder):
    def too_much():
        keep(folder, "old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        return keep(folder, "x" * 10_000)

    folder.mkdir(0o700)
    [problem] = in_a_child(too_much)
    assert problem == f"this run cannot be remembered: {file_in(folder)}: File too large"
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".lock"]
    assert recall(folder) == ({"value": "old"}, [])


def test_more_than_can_be_read_back_is_not_written(folder):
    keep(folder, 1)
    sentence = "this run cannot be remembered: it would need 9 MiB, more than 8 MiB"
    assert keep(folder, "x" * (9 * 1024 * 1024)) == [sentence]
    assert recall(folder) == ({"value": 1}, [])


KILLED_WHILE_SAVING = """
import os, signal, sys
from stallwatch.deadline import Deadline
from stallwatch.frame.state import memory

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

with memory({"name": "demo"}, sys.argv[1], Deadline(60), []) as kept:
    kept["value"] = "new"
    os.replace = die
"""


def test_a_run_that_is_killed_while_saving_leaves_the_old_file_and_no_litter(folder):
    keep(folder, "old")
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_SAVING, folder], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".lock", ".new"]
    assert recall(folder) == ({"value": "old"}, [])
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".lock"]


# One run at a time


def test_a_second_run_waits_until_its_deadline_and_says_why(folder, clock):
    problems, begun = [], clock.now
    with memory({"name": "demo"}, str(folder), Deadline(60), []) as kept:
        kept["value"] = 1
        with (
            pytest.raises(ProbeError, match=BUSY),
            memory({"name": "demo"}, str(folder), Deadline(10), problems),
        ):
            pass
    assert 9 < clock.now - begun < 10
    assert len(problems) == 1
    assert recall(folder) == ({"value": 1}, [])


COUNT_TO_50 = """
import sys
from stallwatch.deadline import Deadline
from stallwatch.frame.state import memory

for _ in range(50):
    with memory({"name": "demo"}, sys.argv[1], Deadline(60), []) as kept:
        kept["count"] = kept.get("count", 0) + 1
"""


def test_4_runs_at_once_lose_nothing(folder):
    runs = [subprocess.Popen([sys.executable, "-c", COUNT_TO_50, folder]) for _ in range(4)]
    assert [run.wait(timeout=120) for run in runs] == [0, 0, 0, 0]
    assert recall(folder) == ({"count": 200}, [])


# In a check


@pytest.fixture
def counting(check):
    """A check that counts its runs."""
    check.keeps_state()
    check.asks_server("critical")

    def findings(_options, run):
        with run.memory(log="x.log") as kept:
            kept["runs"] = kept.get("runs", 0) + 1
            yield Reading("runs", kept["runs"], what="counted")

    return lambda *argv: check.run(findings, [*argv])


def test_a_check_remembers_in_its_state_directory(counting, folder):
    assert counting("--state-dir", str(folder)) == (0, "DEMO OK - counted | runs=1")
    assert counting("--state-dir", str(folder)) == (0, "DEMO OK - counted | runs=2")


def test_without_state_nothing_is_read_or_written(counting, folder):
    counting("--state-dir", str(folder))
    before = file_in(folder).stat().st_mtime_ns
    assert counting("--state-dir", str(folder), "--no-state") == (0, "DEMO OK - counted | runs=1")
    assert file_in(folder).stat().st_mtime_ns == before


def test_damaged_state_makes_the_run_unknown_beside_what_it_found(counting, folder):
    counting("--state-dir", str(folder))
    file_in(folder).write_bytes(b"{")
    sentence = (
        f"the memory of earlier runs is lost and this run counts as the first: {file_in(folder)} is damaged"
    )
    assert counting("--state-dir", str(folder)) == (3, f"DEMO UNKNOWN - {sentence} | runs=1")
    assert counting("--state-dir", str(folder)) == (0, "DEMO OK - counted | runs=2")


def test_state_that_cannot_be_kept_makes_the_run_unknown_beside_what_it_found(counting):
    sentence = "nothing is remembered between runs: /proc/state cannot be made: No such file or directory"
    status, text = counting("--state-dir", "/proc/state")
    assert (status, text.splitlines()) == (3, [
        f"DEMO UNKNOWN - {sentence} - name another --state-dir | runs=1",
        "  next step: give this user a directory of its own with --state-dir",
    ])  # fmt: skip


@pytest.mark.usefixtures("clock")
def test_a_run_in_the_way_is_unknown_even_where_an_unreachable_server_is_critical(counting, folder):
    with memory({"name": "demo", "log": "x.log"}, str(folder), Deadline(60), []):
        code, text = counting("--state-dir", str(folder))
    assert (code, text) == (3, f"DEMO UNKNOWN - {BUSY}")
