"""What the kernel tells of a host, its disks, its bonds and its processes."""

import os
from contextlib import ExitStack, suppress
from functools import partial
from itertools import pairwise
from unittest import mock

from fake_proc import LIMITS, SOCKET, STAT, STATUS, TCP
from fuzzing import Target
from plugin_runs import NOW, RECORDED, clock, said
from scratch import empty, file
from stallwatch.probes.bonding.model import NoBondError, bond
from stallwatch.sources import host, kernel, processes

DIVIDER = b"\n--8<--\n"  # between files
HOST_FILES = ("uptime", "loadavg", "stat", "diskstats", "meminfo", "vmstat", "net/dev", "zoneinfo")
PROCESS_FILES = ("stat", "status", "limits", "net/tcp", "cmdline", "task/4711/stat", "comm", "statm")
ONE = {
    "pid": 4711, "name": "mysqld", "state": "S", "parent": 1, "minor": 106134, "major": 4, "user": 111,
    "system": 148, "threads": 1, "started": 900_000, "uid": 0, "real_uid": 0, "slots": 64, "pids": "4711",
    "resident": 93272, "swapped": 0, "tracer": 0, "limit": "20000",
}  # fmt: skip


def _written(folder, names, octets):
    """Write files that are parted by a line; what is missing is not there."""
    for name, part in zip(names, octets.split(DIVIDER), strict=False):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(part)


def a_host(octets):
    """All files of /proc that check_host reads, looked at twice; the second look is what comes last."""
    first, _, second = octets.partition(DIVIDER * 2)
    folder, memory = empty("proc"), {}
    came_to = "nothing"
    with (
        clock() as now,
        mock.patch.object(kernel, "PLACE", str(folder)),
        mock.patch.object(os, "sched_getaffinity", return_value={0, 1}),
    ):
        for look in (first, second or first):
            _written(folder, HOST_FILES, look)
            came_to = said("check_host", [], memory)
            now.sleep(60)
    return came_to


def kernel_files(octets):
    """Each reader of /proc by itself: its callers take these errors for what they are."""
    folder = empty("proc")
    _written(folder, HOST_FILES, octets)
    readers = (
        kernel.uptime, kernel.load, kernel.processors, kernel.disks, kernel.interfaces, kernel.memory,
        kernel.swapped,
    )  # fmt: skip
    with mock.patch.object(kernel, "PLACE", str(folder)):
        for read in readers:
            with suppress(ValueError, KeyError, IndexError, TypeError, OSError, AssertionError):
                read()


def a_process(octets):
    """All that /proc tells of a process."""
    folder = empty("proc")
    _written(folder / "4711", PROCESS_FILES, octets)
    with mock.patch.object(kernel, "PLACE", str(folder)):
        processes.running({"mysqld"})
        for one in (processes.task(4711), *processes.threads(4711)):
            if one:
                processes.age(one)
        processes.status(4711)
        processes.program_of(4711)
        processes.descriptor_limit(4711)
        processes.listening(4711, 3306)


def a_watched_process(octets):
    """What check_mysqld_process says of it, twice."""
    first, _, second = octets.partition(DIVIDER * 2)
    folder, memory = empty("proc"), {}
    (folder / "4711" / "task").mkdir(parents=True)
    came_to = "nothing"
    with (
        clock() as now,
        mock.patch.object(kernel, "PLACE", str(folder)),
        mock.patch.object(processes, "_now", partial(_up, now)),
    ):
        for look in (first, second or first):
            _written(folder / "4711", PROCESS_FILES, look)
            came_to = said("check_mysqld_process", [], memory)
            now.sleep(60)
    return came_to


def _up(clock):
    """Seconds that the host has been up."""
    return 10_000.0 + clock.now - NOW


def a_bond(octets):
    """The file of a bond; NoBondError: it is none."""
    bond("bond0", octets.decode(errors="replace"))


def watched_bonds(octets):
    """What check_bonding says of two bonds, twice: the second time they are exchanged."""
    parts, memory = [*octets.split(DIVIDER)[:2]], {}
    folder = empty("bonds")
    came_to = "nothing"
    with ExitStack() as patches:
        now = patches.enter_context(clock())
        patches.enter_context(mock.patch.object(kernel, "BONDS", str(folder)))
        patches.enter_context(mock.patch.object(kernel, "_NET", "/nowhere"))
        for order in (1, -1):
            for number, part in enumerate(parts[::order]):
                (folder / f"bond{number}").write_bytes(part)
            came_to = said("check_bonding", ["--mode", "bond0=802.3ad", "--expect", "bond0=2"], memory)
            now.sleep(60)
    return came_to


def a_pid_file(octets):
    """A file with the id of a process, which may hold anything."""
    path = file("mysqld.pid", octets)
    with suppress(ValueError):
        processes.pid_in(path)
    return str(processes.is_process(path, {"mysqld"}))


def the_mounts(octets):
    """The file systems of a host, and which of them a directory is on."""
    with mock.patch.object(host, "_MOUNTS", file("mountinfo", octets)):
        host._why_none("/proc/self")
        host._source("/proc/self")


def hosts():
    """Recorded hosts, one look or two."""
    looks = []
    for path in sorted((RECORDED / "host").iterdir()):
        if path.is_dir() and path.name != "expected":
            each = [
                DIVIDER.join(_content(look / name) for name in HOST_FILES) for look in sorted(path.iterdir())
            ]
            looks += [*each, (DIVIDER * 2).join(each)]
    return looks


def _content(path):
    return path.read_bytes()[:8000] if path.exists() else b""


def one_process():
    """A mysqld that listens, and what a later look at it finds."""
    sockets = SOCKET.format(sl=0, port=3306, state="0A", uid=0, inode=77)

    def look(**more):
        told = ONE | more
        parts = (
            STAT.format(**told), STATUS.format(**told), LIMITS.format(**told), TCP.format(rows=sockets),
            "/usr/sbin/mysqld\0--port=3306\0-S/run/x\0", STAT.format(**told), "mysqld",
            "44544 23318 5000 1200 0 9000 0\n",
        )  # fmt: skip
        return DIVIDER.join(part.encode() for part in parts)

    return [
        look(),
        look() + DIVIDER * 2 + look(user=4111, minor=200_000),
        look(state="Z"),
        look(tracer=1, swapped=9),
    ]


def bonds():
    """Recorded bonds of many kernels."""
    folders = [
        path for path in sorted((RECORDED / "bonding").iterdir()) if path.is_dir() and path.name != "expected"
    ]
    texts = [path.read_bytes() for folder in folders for path in sorted(folder.iterdir())]
    return texts + [DIVIDER.join(pair) for pair in pairwise(texts)]


def mounts():
    """Some mounts."""
    return [
        (
            b"24 28 0:22 / /proc rw,nosuid - proc proc rw\n28 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
            b"30 28 0:31 / /proc/self\\040x rw - nfs4 filer:/export rw\n"
        )
    ]


STATES = frozenset({"OK", "UNKNOWN"})
TOKENS = (
    DIVIDER,
    b"cpu0 ",
    b"MemAvailable: ",
    b" kB\n",
    b"4294967295",
    b": ",
    b"eth0:",
    b"   8       0 sda ",
)
OF_PROCESS = (DIVIDER, b")", b"(", b"\0", b"Uid:\t", b"Max open files ", b"0100007F:0CEA ", b" 0A ")
OF_BOND = (b"Slave Interface: ", b"MII Status: up\n", b"Aggregator ID: ", b"Bonding Mode: ", b"\n\n", DIVIDER)
TARGETS = {
    "host": Target(a_host, hosts, (), TOKENS, 120, STATES),
    "kernel_files": Target(kernel_files, hosts, (), TOKENS, 300),
    "process_files": Target(a_process, one_process, (), OF_PROCESS, 300),
    "process": Target(a_watched_process, one_process, (), OF_PROCESS, 120, frozenset({"OK", "CRITICAL"})),
    "bond": Target(a_bond, bonds, (NoBondError,), OF_BOND, 600, frozenset({"value", "NoBondError"})),
    "bonding": Target(watched_bonds, bonds, (), OF_BOND, 250, frozenset({"WARNING", "CRITICAL"})),
    "pid_file": Target(
        a_pid_file, lambda: [b"4711\n", b"1"], (), (b"-", b"_", b"\n"), 200, frozenset({"False"})
    ),
    "mounts": Target(the_mounts, mounts, (), (b" - ", b"\\040", b"/dev/", b" / "), 500),
}
