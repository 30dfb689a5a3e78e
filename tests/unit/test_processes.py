"""What the kernel tells of processes and threads: of our own host, and of others as recorded."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from fake_proc import FakeProc
from stallwatch.sources import kernel, processes

NOBODY = 2**22 + 1  # more than any process has


@pytest.fixture
def started():
    """Starts a program that lasts as long as the test."""
    running = []

    def start(*command):
        running.append(subprocess.Popen(command))
        return running[-1].pid

    yield start
    for one in running:
        one.kill()
        one.wait()


def eventually(found, seconds=120):
    until = time.monotonic() + seconds
    while not (result := found()) and time.monotonic() < until:
        time.sleep(0.02)
    return result


def test_a_program_is_found_by_its_name(started, tmp_path):
    name = f"rests-{os.getpid()}"  # of this worker: tests of backups run beside it
    program = shutil.copy(shutil.which("sleep"), tmp_path / name)
    pid = started(program, "60")
    (found,) = eventually(lambda: processes.running({name}))
    assert (found.pid, found.name) == (pid, name)
    assert 0 <= found.age < 60


def test_the_age_of_a_process_needs_no_uptime_of_the_host(started, monkeypatch):
    def of_a_container():
        return 300.0  # /proc/uptime in LXC (lxcfs), while starts are told by the host's clock

    monkeypatch.setattr(kernel, "uptime", of_a_container)
    begun = time.monotonic()
    pid = started("sleep", "60")
    age = processes.age(processes.task(pid))
    assert 0 <= age <= time.monotonic() - begun + 0.1
    older = eventually(lambda: (now := processes.age(processes.task(pid))) > age + 0.5 and now)
    assert older > age + 0.5


def test_a_script_is_found_by_its_name(started, tmp_path):
    script = tmp_path / "mysqlpdump.py"
    script.write_text("import time\ntime.sleep(60)\n")
    pid = started(sys.executable, str(script))
    (found,) = eventually(lambda: processes.running({"mysqlpdump"}))
    assert (found.pid, found.name) == (pid, "mysqlpdump")


def test_a_script_is_found_by_the_name_of_its_interpreter_too(started, tmp_path):
    script = tmp_path / "mysqlpdump.py"
    script.write_text("import time\ntime.sleep(60)\n")
    pid = started(sys.executable, str(script))
    interpreter = eventually(lambda: (name := processes.program_of(pid)).startswith("python") and name)
    names = {one.pid: one.name for one in processes.running({interpreter})}
    assert names[pid] == interpreter
    assert os.getpid() not in names


@pytest.mark.parametrize(
    ("name", "arguments", "called"),
    [
        ("sha256sum", ["sha256sum", "/opt/mariabackup"], "sha256sum"),
        ("shfmt", ["shfmt", "mysqldump"], "shfmt"),
        ("perl", ["perl", "-w", "/usr/bin/innobackupex"], "innobackupex"),
        ("python3.11", ["python3", "/opt/mysqlpdump.py"], "mysqlpdump"),
        ("bash", ["bash"], "bash"),
    ],
)
def test_what_a_program_is_called(name, arguments, called):
    assert processes._called(name, arguments) == called


def test_the_options_of_a_program():
    tool = processes.Running(
        1, "x", 0.0, ("x", "--data_dir=/a", "-S/b", "--port", "3306", "--socket=/c", "-P")
    )
    assert tool.option("--data-dir") == "/a"
    assert tool.option("--socket", "-S") == "/c"
    assert tool.option("--port") == "3306"
    assert tool.option("-P") == ""
    assert tool.option("--user") is None
    assert tool.has("--socket")
    assert not tool.has("--user", "-u")


def test_a_process_by_the_file_that_tells_its_id(tmp_path):
    with open("/proc/self/comm", encoding="ascii") as comm:
        ours = comm.read().strip()
    (tmp_path / "pid").write_text(f"{os.getpid()}\n")
    assert processes.is_process(str(tmp_path / "pid"), {ours}) is True
    assert processes.is_process(str(tmp_path / "pid"), {"mysqld"}) is False
    assert processes.is_process(str(tmp_path / "nothing"), {ours}) is False
    (tmp_path / "pid").write_text("none")
    assert processes.is_process(str(tmp_path / "pid"), {ours}) is False


def test_who_only_speaks_of_a_program_is_not_it(started):
    started("sleep", "60", "61")  # as "vi mariabackup"
    assert processes.running({"60", "61"}) == []
    assert processes.running(frozenset()) == []


def test_the_time_of_a_thread_is_its_own():
    ended = threading.Event()
    idle = threading.Thread(target=ended.wait)
    idle.start()
    before = processes.thread_seconds(idle.native_id), processes.thread_seconds(threading.get_native_id())
    until = time.monotonic() + 120
    while processes.thread_seconds(threading.get_native_id()) < before[1] + 0.1:
        assert time.monotonic() < until
    after = processes.thread_seconds(idle.native_id)
    ended.set()
    idle.join()
    assert after - before[0] < 0.1


def test_a_thread_that_is_not_there():
    assert processes.thread_seconds(NOBODY) is None
    assert processes.program_of(NOBODY) == ""


def test_the_program_of_a_thread_not_its_own_name():
    named = threading.Event()
    thread = threading.Thread(target=named.wait)
    thread.start()
    with open(f"/proc/self/task/{thread.native_id}/comm", "w", encoding="ascii") as comm:
        comm.write("rpl_worker")
    with open("/proc/self/comm", encoding="ascii") as comm:
        expected = comm.read().strip()
    found = processes.program_of(thread.native_id)
    named.set()
    thread.join()
    assert found == expected


def test_the_time_of_a_thread_whose_name_has_a_bracket():
    """Psutil takes it for the end of the name, and other numbers for the times."""
    worked, ended = threading.Event(), threading.Event()

    def work():
        (Path("/proc/self/task") / str(threading.get_native_id()) / "comm").write_text("a) b c")
        until = time.thread_time() + 0.3
        while time.thread_time() < until:
            pass
        worked.set()
        ended.wait()

    busy = threading.Thread(target=work)
    busy.start()
    try:
        assert worked.wait(120)
        used = eventually(lambda: (spent := processes.thread_seconds(busy.native_id)) > 0.2 and spent)
        theirs = {one.id: one for one in psutil.Process().threads()}[busy.native_id]
        ours = {one.id: one for one in processes.threads(os.getpid())}[busy.native_id]
        assert (theirs.user_time, theirs.system_time) != (ours.user, ours.system)
        assert ours.name == "a) b c"
        assert ours.user + ours.system == pytest.approx(used, abs=0.1)
    finally:
        ended.set()
        busy.join()


def test_a_program_without_arguments_whose_path_has_a_blank(started, tmp_path):
    """Psutil takes it for two arguments."""
    folder = tmp_path / "my tools"
    folder.mkdir()
    program = shutil.copy(shutil.which("cat"), folder / "mysqlbackup")
    waiting = subprocess.Popen([program], stdin=subprocess.PIPE)
    try:
        eventually(lambda: any(one.arguments for one in processes.running({"mysqlbackup"})))
        (found,) = processes.running({"mysqlbackup"})
        assert found.arguments == (str(program),)
        assert len(psutil.Process(waiting.pid).cmdline()) == 2
    finally:
        waiting.communicate()


def test_a_program_that_starts_has_its_name_before_its_arguments(tmp_path, monkeypatch):
    FakeProc(tmp_path, monkeypatch).process(7, "mysqlbackup", arguments=[])
    (found,) = processes.running({"mysqlbackup"})
    assert found.arguments == ()


AS_NOBODY = """
import os, sys
import psutil
from stallwatch.sources import processes
os.setgroups([]); os.setgid(65534); os.setuid(65534)
pid = int(sys.argv[1])
about = processes.status(pid)
print(about.user, about.resident > 0, about.swapped)
print(processes.descriptor_limit(pid), processes.descriptors(pid))
one = psutil.Process(pid)
for ask in (lambda: one.rlimit(psutil.RLIMIT_NOFILE), one.memory_full_info):
    try:
        ask()
    except psutil.AccessDenied:
        print("denied")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="to become nobody needs root")
def test_what_a_process_of_others_has_is_told_to_everybody_but_not_by_psutil(started):
    pid = started("sleep", "60")
    path = os.pathsep.join(one for one in sys.path if one)
    said = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(pid)], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": path},
    ).stdout  # fmt: skip
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert said.splitlines() == ["0 True 0", f"{soft} None", "denied", "denied"]


def test_what_is_told_is_what_the_kernel_says(started):
    pid = started("sleep", "60")
    assert eventually(lambda: processes.task(pid).state == "S")
    os.kill(pid, signal.SIGSTOP)
    assert eventually(lambda: processes.task(pid).state == processes.STOPPED)
    told = Path(f"/proc/{pid}/status").read_text()
    about = processes.status(pid)
    assert f"VmRSS:\t{about.resident >> 10:8d} kB" in told
    assert f"Uid:\t{about.user}\t" in told
    task = processes.task(pid)
    assert (task.name, task.parent, task.threads) == ("sleep", os.getpid(), 1)


def test_a_process_that_has_ended_and_one_that_is_not_there():
    ended = subprocess.Popen(["true"])
    assert eventually(lambda: processes.task(ended.pid).state == processes.ENDED)
    assert processes.status(ended.pid).resident == 0
    ended.wait()
    for pid in (ended.pid, NOBODY):
        assert (processes.task(pid), processes.status(pid), processes.descriptors(pid)) == (None, None, None)


def test_a_process_is_there_where_proc_has_nothing_but_processes(tmp_path, monkeypatch):
    """As of a service with ProcSubset=pid: there is no /proc/stat."""
    ours = os.getpid()
    (tmp_path / str(ours)).symlink_to(f"/proc/{ours}")
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))
    assert processes.task(ours).parent == os.getppid()
    assert processes.status(ours).resident > 0
    assert processes.descriptors(ours) > 0


def test_where_there_are_no_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))
    assert processes.running({"mysqld"}) == []
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError) as told:
        processes.running({"mysqld"})
    assert told.value.filename == str(tmp_path / "none")
