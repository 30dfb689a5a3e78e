"""What the kernel tells of processes and threads: of our own host, and of others as recorded."""

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest
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


def eventually(found, seconds=30):
    until = time.monotonic() + seconds
    while not (result := found()) and time.monotonic() < until:
        time.sleep(0.02)
    return result


def test_a_program_is_found_by_its_name(started, tmp_path):
    program = shutil.copy(shutil.which("sleep"), tmp_path / "mariabackup")
    pid = started(program, "60")
    (found,) = eventually(lambda: processes.running({"mariabackup"}))
    assert (found.pid, found.name) == (pid, "mariabackup")
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
    until = time.monotonic() + 60
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
