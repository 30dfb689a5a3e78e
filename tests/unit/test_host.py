"""What our own host tells: processes, disks, threads."""

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest
from stallwatch.sources import host
from stallwatch.sources.host import DiskLoad, DiskUse

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


def eventually(found, seconds=5):
    until = time.monotonic() + seconds
    while not (result := found()) and time.monotonic() < until:
        time.sleep(0.02)
    return result


def test_a_program_is_found_by_its_name(started, tmp_path):
    program = shutil.copy(shutil.which("sleep"), tmp_path / "mariabackup")
    pid = started(program, "60")
    (found,) = eventually(lambda: host.processes({"mariabackup"}))
    assert (found.pid, found.name) == (pid, "mariabackup")
    assert 0 <= found.age < 60


def test_a_script_is_found_by_its_name(started, tmp_path):
    script = tmp_path / "mysqlpdump.py"
    script.write_text("import time\ntime.sleep(60)\n")
    pid = started(sys.executable, str(script))
    (found,) = eventually(lambda: host.processes({"mysqlpdump"}))
    assert (found.pid, found.name) == (pid, "mysqlpdump")


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
    assert host._called(name, arguments) == called


def test_the_options_of_a_program():
    tool = host.Running(1, "x", 0.0, ("x", "--data_dir=/a", "-S/b", "--port", "3306", "--socket=/c", "-P"))
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
    assert host.is_process(str(tmp_path / "pid"), {ours}) is True
    assert host.is_process(str(tmp_path / "pid"), {"mysqld"}) is False
    assert host.is_process(str(tmp_path / "nothing"), {ours}) is False
    (tmp_path / "pid").write_text("none")
    assert host.is_process(str(tmp_path / "pid"), {ours}) is False


def test_who_only_speaks_of_a_program_is_not_it(started):
    started("sleep", "60", "61")  # as "vi mariabackup"
    assert host.processes({"60", "61"}) == []
    assert host.processes(frozenset()) == []


@pytest.fixture
def device(tmp_path, monkeypatch):
    """Lets the kernel say that this directory is on a device of that path."""

    def on(*path, partition=False):
        place = tmp_path.joinpath("devices", *path)
        place.mkdir(parents=True)
        if partition:
            (place / "partition").write_text("1\n")
        number = os.stat(tmp_path).st_dev
        (tmp_path / f"{os.major(number)}:{os.minor(number)}").symlink_to(place)
        monkeypatch.setattr(host, "_SYS_BLOCK", str(tmp_path))
        return str(tmp_path)

    return on


@pytest.mark.parametrize(
    ("path", "partition", "disk"),
    [
        (("sda", "sda1"), True, "sda"),
        (("nvme0n1", "nvme0n1p2"), True, "nvme0n1"),
        (("virtual", "dm-0"), False, "dm-0"),
        (("vdb",), False, "vdb"),
    ],
)
def test_the_disk_of_a_directory(device, path, partition, disk):
    assert host.disk_of(device(*path, partition=partition)) == disk


@pytest.mark.parametrize("directory", ["/proc", "/nowhere/at/all"])
def test_a_directory_that_is_on_no_disk(directory):
    assert host.disk_of(directory) is None


def test_a_file_system_without_a_block_device(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "_SYS_BLOCK", str(tmp_path))
    assert host.disk_of(str(tmp_path)) is None


def test_what_a_disk_did_between_two_looks():
    before = DiskUse(100.0, 50.0, 10.0, 1000)
    assert host.disk_load(before, DiskUse(102.0, 51.0, 18.0, 1200)) == DiskLoad(50.0, 0.04)
    assert host.disk_load(before, DiskUse(102.0, 50.0, 10.0, 1000)) == DiskLoad(0.0, 0.0)
    assert host.disk_load(before, DiskUse(102.0, 53.0, 18.0, 1200)).busy == 100
    assert host.disk_load(before, before) is None


def test_a_disk_that_is_not_counted():
    assert host.disk_use("no such disk") is None


def test_the_disks_of_this_host_are_counted():
    disk = host.disk_of(os.path.dirname(__file__))
    if not disk:
        pytest.skip("the file system of the tests is on no disk of its own")
    assert host.disk_use(disk).busy >= 0


def test_the_time_of_a_thread_is_its_own():
    ended = threading.Event()
    idle = threading.Thread(target=ended.wait)
    idle.start()
    before = host.thread_seconds(idle.native_id), host.thread_seconds(threading.get_native_id())
    until = time.monotonic() + 5
    while host.thread_seconds(threading.get_native_id()) < before[1] + 0.1:
        assert time.monotonic() < until
    after = host.thread_seconds(idle.native_id)
    ended.set()
    idle.join()
    assert after - before[0] < 0.1


def test_a_thread_that_is_not_there():
    assert host.thread_seconds(NOBODY) is None
    assert host.program_of(NOBODY) == ""


def test_the_program_of_a_thread_not_its_own_name():
    named = threading.Event()
    thread = threading.Thread(target=named.wait)
    thread.start()
    with open(f"/proc/self/task/{thread.native_id}/comm", "w", encoding="ascii") as comm:
        comm.write("rpl_worker")
    with open("/proc/self/comm", encoding="ascii") as comm:
        expected = comm.read().strip()
    found = host.program_of(thread.native_id)
    named.set()
    thread.join()
    assert found == expected


def test_free_space():
    assert host.free_bytes("/") > 0
    assert host.free_bytes("/nowhere/at/all") is None


def test_processors():
    assert 1 <= host.processors() <= os.cpu_count()
