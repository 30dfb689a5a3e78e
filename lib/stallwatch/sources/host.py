"""The host that we run on: its processes, its disks, its threads, without a shell."""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import NamedTuple

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

_SYS_BLOCK = "/sys/dev/block"
_INTERPRETERS = re.compile(r"python[\d.]*|perl[\d.]*|ruby[\d.]*|bash|dash|sh")
_TICKS = os.sysconf("SC_CLK_TCK")


class Running(NamedTuple):
    """A process; ``age`` in seconds. Its ``arguments`` may hold passwords: never show them."""

    pid: int
    name: str
    age: float
    arguments: tuple[str, ...] = ()

    def option(self, *names: str) -> str | None:
        """Give the value of the last of its options ``--socket=x``, ``-S x``, ``-Sx``; None: it has none.

        Words and underscores are told apart no more than MySQL's programs do it.
        """
        found = None
        for number, argument in enumerate(self.arguments):
            name, equals, value = argument.partition("=")
            following = self.arguments[number + 1] if number + 1 < len(self.arguments) else ""
            if name.startswith("--"):
                if name.replace("_", "-") in names:
                    found = value if equals else following
            elif argument[:2] in names:
                found = argument[2:] or following
        return found

    def has(self, *names: str) -> bool:
        """Whether it was given one of these options."""
        return any(one.partition("=")[0].replace("_", "-") in names for one in self.arguments)


class DiskUse(NamedTuple):
    """What a disk had done since the host was started."""

    at: float  # seconds, by a clock that never jumps
    busy: float  # seconds in which it had something to do
    waited: float  # seconds that its requests took, together
    requests: int


class DiskLoad(NamedTuple):
    """How much a disk had to do between two looks."""

    busy: float  # per cent of the time; of a disk that does several things at once 100 is not yet full
    wait: float  # seconds per request


def processes(names: Container[str]) -> list[Running]:
    """List the processes that are called so, or are scripts that are called so."""
    import psutil

    found = []
    for process in psutil.process_iter(["name"]):
        name = process.info["name"] or ""
        if name not in names and not _INTERPRETERS.fullmatch(name):
            continue  # to read the arguments of all processes takes seconds where there are many
        with contextlib.suppress(psutil.Error):
            arguments = process.cmdline()
            name = _called(name, arguments)
            if name in names and process.status() != psutil.STATUS_ZOMBIE:
                age = max(0.0, time.time() - process.create_time())
                found.append(Running(process.pid, name, age, tuple(arguments)))
    return found


def _called(name: str, arguments: Sequence[str]) -> str:
    """Name a program; a script is called after its file, not after its interpreter."""
    if not _INTERPRETERS.fullmatch(name):
        return name
    script = next((one for one in arguments[1:] if not one.startswith("-")), name)
    return os.path.basename(script).removesuffix(".py")


def is_process(pid_file: str, names: Container[str]) -> bool | None:
    """Whether the process that a file tells the id of is called so; None: the file is not for us to read."""
    try:
        with open(pid_file, encoding="ascii") as file:
            return program_of(int(file.read(20))) in names
    except PermissionError:
        return None
    except (OSError, ValueError):
        return False


def disk_of(directory: str) -> str | None:
    """Name the disk that a directory is on: "sda", "nvme0n1", "dm-0".

    None: there is no such directory here, or its file system has no block device of its own (overlay, tmpfs,
    ZFS, Btrfs).
    """
    try:
        device = os.stat(directory).st_dev
        path = os.path.realpath(f"{_SYS_BLOCK}/{os.major(device)}:{os.minor(device)}", strict=True)
    except OSError:
        return None
    if os.path.exists(f"{path}/partition"):
        path = os.path.dirname(path)
    return os.path.basename(path)


def disk_use(disk: str) -> DiskUse | None:
    """Look what a disk has done; None: the kernel does not count it."""
    import psutil

    try:
        counters = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
    except (NotImplementedError, OSError):  # no /proc/diskstats, as in some containers
        return None
    if (one := counters.get(disk)) is None:
        return None
    waited = (one.read_time + one.write_time) / 1000
    return DiskUse(time.monotonic(), one.busy_time / 1000, waited, one.read_count + one.write_count)


def disk_load(before: DiskUse, after: DiskUse) -> DiskLoad | None:
    """Tell what happened between two looks; None: no time has passed."""
    seconds = after.at - before.at
    if seconds <= 0:
        return None
    requests = after.requests - before.requests
    busy = min(100.0, max(0.0, 100 * (after.busy - before.busy) / seconds))
    return DiskLoad(busy, (after.waited - before.waited) / requests if requests > 0 else 0.0)


def thread_seconds(thread: int) -> float | None:
    """Tell how much processor time a thread has used, in seconds; None: there is no such thread here."""
    try:
        with open(f"/proc/{thread}/task/{thread}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name before may contain anything
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, ValueError, IndexError):
        return None


def program_of(thread: int) -> str:
    """Name the program that a thread belongs to; "": there is no such thread here."""
    try:
        with open(f"/proc/{thread}/status", encoding="utf-8", errors="replace") as file:
            about = dict(line.split(":", 1) for line in file if ":" in line)
        with open(f"/proc/{int(about['Tgid'])}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except (OSError, ValueError, KeyError):
        return ""


def free_bytes(directory: str) -> int | None:
    """Tell how many bytes of a directory's file system are free to others than root; None: not known."""
    try:
        of = os.statvfs(directory)
    except OSError:
        return None
    return of.f_bavail * of.f_frsize if of.f_blocks else None


def processors() -> int:
    """Count the processors that we may use."""
    return len(os.sched_getaffinity(0))
