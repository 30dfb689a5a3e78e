"""The processes of the host that we run on, and their threads, as /proc shows them.

psutil only lists them. Its Process wants to know when the host was started, up to 7.0, from a file that
systemd's ProcSubset=pid hides: to it each process is gone then. What else it lacks or has wrong (5.9.4 to
7.2.2) is said beside the code.
"""

from __future__ import annotations

import contextlib
import os
import time

from stallwatch.accounts import may_be_server, user_name
from stallwatch.sources import kernel
from stallwatch.sources.following import RefusedError, opener
from stallwatch.sources.kernel import asked, counted
from stallwatch.sources.recording import of_host
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Sequence

ENDED, STOPPED, TRACED, STUCK = "Z", "T", "t", "D"  # states of a process (man proc)
_INTERPRETERS = frozenset(("python", "perl", "ruby", "bash", "dash", "sh"))  # without their version
_LONGEST_NAME = 15  # bytes; the kernel cuts names there
_TICKS = os.sysconf("SC_CLK_TCK")
_KIB = 1024
_LISTENS = "0A"  # TCP_LISTEN


class Running(NamedTuple):
    """A process; ``age`` in seconds. Its ``arguments`` may hold passwords: never show them."""

    pid: int
    name: str
    age: float
    arguments: tuple[str, ...] = ()
    parent: int = 0

    def option(self, *names: str) -> str | None:
        """Give the value of the last of its options ``--socket=x``, ``-S x``, ``-Sx``; None: it has none.

        ``-`` and ``_`` in a name are distinguished as little as MySQL's programs do.
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


class Task(NamedTuple):
    """What the kernel counts of a process."""

    id: int
    name: str  # of its first thread, which a program may have set
    state: str
    parent: int
    minor_faults: int  # pages that the kernel had at hand, an empty one for example
    major_faults: int  # pages that were read from disk
    user: float  # seconds of processor time, as are those in
    system: float
    threads: int
    started: float  # seconds after the host was


class Thread(NamedTuple):
    """What the kernel counts of a thread; its name is its own, or its program's. All times in seconds."""

    id: int
    name: str
    user: float
    system: float
    started: float


class Status(NamedTuple):
    """What the kernel also shows everybody (man proc, /proc/PID/status)."""

    real_user: int  # who started it, also where its program is to run as another user (setuid)
    user: int
    resident: int  # bytes
    swapped: int  # bytes
    slots: int  # for descriptors: no more than so many are open
    tracer: int  # the process that traces it; 0: nobody does
    pids: tuple[int, ...]  # its ids in nested name spaces, ours first, that of a container last

    @property
    def is_in_container(self) -> bool:
        """Whether it and its threads have other numbers for themselves than for us."""
        return len(self.pids) > 1


class Listening(NamedTuple):
    """A TCP socket that listens."""

    inode: int
    user: int


@of_host
def running(names: Collection[str]) -> list[Running]:
    """List the processes that are called so, or are scripts that are called so, and have not ended.

    We ourselves are not among them: who looks for python means another one.
    """
    found, ours = [], _ourselves()
    for pid in _pids():
        if pid == ours or not _may_be(_name(pid), names):
            continue  # to ask psutil for the names of all takes 6 times as long
        if (one := task(pid)) is None or one.state == ENDED:
            continue
        arguments = _arguments(pid)
        whole = _whole(one.name, arguments)
        name = next((name for name in (_called(whole, arguments), whole) if name in names), None)
        if name is not None:
            found.append(Running(pid, name, age(one), arguments, one.parent))
    return found


def _pids() -> list[int]:
    try:
        found: list[int] = asked("pids")
    except IndexError:  # of none psutil wants the lowest
        return []
    except OSError as error:  # of bytes
        raise OSError(error.errno, error.strerror, kernel.PLACE) from None
    return found


def _name(pid: int) -> str:
    """Read what the kernel calls a process; "": it is not there."""
    with contextlib.suppress(OSError), open(_path(pid, "comm"), "rb", buffering=0) as file:
        return file.read().removesuffix(b"\n").decode(errors="replace")
    return ""


def _ourselves() -> int | None:
    """Give our own id in the name space that is looked at; None: we are not seen there."""
    with contextlib.suppress(OSError, ValueError):
        return int(os.readlink(f"{kernel.PLACE}/self"))
    return None


def _may_be(name: str, names: Collection[str]) -> bool:
    """Whether it is one of these, the beginning of one that the kernel has cut, or of a script."""
    is_cut = len(name.encode()) >= _LONGEST_NAME  # as are many of the kernel's own
    return name in names or _interprets(name) or (is_cut and any(one.startswith(name) for one in names))


def _interprets(name: str) -> bool:
    return name.rstrip("0123456789.") in _INTERPRETERS


def _whole(name: str, arguments: Sequence[str]) -> str:
    """Give a name that the kernel has cut; psutil takes its bytes for letters."""
    whole = os.path.basename(arguments[0]) if arguments else ""
    return whole if len(name.encode()) >= _LONGEST_NAME and whole.startswith(name) else name


def _called(name: str, arguments: Sequence[str]) -> str:
    """Name a program; a script is called after its file, not after its interpreter."""
    if not _interprets(name):
        return name
    script = next((one for one in arguments[1:] if not one.startswith("-")), name)
    return os.path.basename(script).removesuffix(".py")


def _arguments(pid: int) -> tuple[str, ...]:
    # psutil parts a single argument at its blanks: of "/opt/my tools/mysqld" it makes two.
    with contextlib.suppress(OSError), open(_path(pid, "cmdline"), "rb") as file:
        if told := file.read().rstrip(b"\0"):  # a program that starts just now has its name before them
            return tuple(map(os.fsdecode, told.split(b"\0")))
    return ()


@of_host
def are_hidden() -> bool:
    """Whether processes of other users are not for us to see (man proc, the mount option hidepid).

    To psutil what is hidden is not there.
    """
    with (
        contextlib.suppress(OSError),
        open(_path("self", "mountinfo"), encoding="utf-8", errors="replace") as file,
    ):
        mounts = [line for line in file if f" {kernel.PLACE} " in line]
        return task(1) is None and any("hidepid=" in line for line in mounts)
    return False


@of_host
def is_process(pid_file: str, names: Container[str]) -> bool | None:
    """Whether the process whose id is in a file has this name; None: the file is not for us to read."""
    try:
        return program_of(pid_in(pid_file)) in names
    except (PermissionError, RefusedError):
        return None
    except (OSError, ValueError):
        return False


@of_host
def pid_in(pid_file: str) -> int:
    """Read the id of a process from a file; raises OSError, and ValueError where there is none."""
    with open(pid_file, encoding="ascii", opener=opener) as file:
        told = file.read(20).strip()
    if not told.isdecimal():  # "-10" and "1_0" are numbers to Python
        raise ValueError(told)
    return int(told)


@of_host
def task(pid: int) -> Task | None:
    """Look what a process has done; None: it is not there (any more)."""
    try:
        name, numbers = _stat(_path(pid, "stat"))
        return Task(
            id=pid,
            name=name,
            state=numbers[0].decode(),
            parent=counted(numbers[1]),
            minor_faults=counted(numbers[7]),
            major_faults=counted(numbers[9]),
            user=counted(numbers[11]) / _TICKS,
            system=counted(numbers[12]) / _TICKS,
            threads=counted(numbers[17]),
            started=counted(numbers[19]) / _TICKS,
        )
    except (OSError, ValueError, IndexError):
        return None


def _stat(path: str) -> tuple[str, list[bytes]]:
    """Read the name and the numbers of a process or thread (man proc, /proc/PID/stat); raises OSError."""
    with open(path, "rb") as file:
        before, _, after = file.read().rpartition(b")")  # the name may contain anything
    return before.partition(b"(")[2].decode(errors="replace"), after.split()


def age(task: Task) -> float:
    """Return for how many seconds it has been there."""
    return max(0.0, _now() - task.started)


@of_host
def _now() -> float:
    """Read the clock by which the kernel notes starts; /proc/uptime is that of a container in LXC (lxcfs)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@of_host
def threads(pid: int) -> list[Thread]:
    """Look what each thread of a process has done; none if it is not there.

    psutil knows neither their names nor when they were started, and takes the first ")" in the name of one
    for its end: the times that it shows are others then.
    """
    try:
        listed = sorted(map(int, os.listdir(_path(pid, "task"))))
    except OSError:
        return []
    return [one for number in listed if (one := thread(pid, number))]


@of_host
def thread(pid: int, number: int) -> Thread | None:
    """Look what a thread of a process has done; None: it is not there (any more)."""
    try:
        name, numbers = _stat(_path(pid, f"task/{number}/stat"))
        user, system, started = (counted(numbers[place]) / _TICKS for place in (11, 12, 19))
    except (OSError, ValueError, IndexError):
        return None
    return Thread(number, name, user, system, started)


def thread_seconds(number: int) -> float | None:
    """Return how much processor time a thread has used, in seconds; None: there is no such thread here.

    psutil reads all threads of a process to show one.
    """
    one = thread(number, number)
    return one and one.user + one.system


@of_host
def thread_waits(number: int) -> float | None:
    """Return for how long a thread was ready to run and had no processor, in seconds; None: not known.

    So it is also while its control group has used up its share of the processors (Linux 6.18). The time is
    counted when the thread runs again. psutil does not have it; a kernel without CONFIG_SCHED_INFO shows 0.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(_path(number, f"task/{number}/schedstat"), encoding="ascii") as file:
            ran, waited, *_ = map(counted, file.read().split())
        return waited / 1e9 if ran else None
    return None


@of_host
def program_of(thread: int) -> str:
    """Name the program that a thread belongs to, which psutil does not; "": there is no such thread here."""
    try:
        return _name(int(_about(thread)["Tgid"]))
    except (OSError, ValueError, KeyError):
        return ""


@of_host
def process_of(thread: int) -> int | None:
    """Return the id of the process that a thread belongs to; None: there is no such thread here."""
    try:
        return int(_about(thread)["Tgid"])
    except (OSError, ValueError, KeyError):
        return None


@of_host
def status(pid: int) -> Status | None:
    """Return whose a process is and what memory it has; None: it is not there."""
    try:
        about = _about(pid)
        return Status(
            real_user=counted(about["Uid"].split()[0]),
            user=counted(about["Uid"].split()[1]),
            resident=_bytes(about.get("VmRSS", "0")),
            swapped=_bytes(about.get("VmSwap", "0")),
            slots=counted(about["FDSize"]),
            tracer=counted(about.get("TracerPid", "0")),
            pids=tuple(map(counted, about.get("NSpid", str(pid)).split())),
        )
    except (OSError, ValueError, KeyError, IndexError):
        return None


def stranger(pid: int, owners: Collection[int] = ()) -> str:
    """Name the user of a process that is no server's, see ``may_be_server``; "": it is, or is not there.

    Everybody can start a program that is called as a server; ``owners`` are users who may run one, too.
    """
    about = status(pid)
    users = (about.real_user, about.user) if about else ()
    return next((user_name(uid) for uid in users if uid not in owners and not may_be_server(uid)), "")


def _about(pid: int) -> dict[str, str]:
    with open(_path(pid, "status"), encoding="utf-8", errors="replace") as file:
        return dict(line.split(":", 1) for line in file if ":" in line)


def _bytes(told: str) -> int:
    return counted(told.split(maxsplit=1)[0]) * _KIB


@of_host
def descriptor_limit(pid: int) -> int | None:
    """Return how many descriptors a process may have open, RLIMIT_NOFILE; None: not limited, or not known.

    psutil asks prlimit(2), which only the process's own user and root may call.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(_path(pid, "limits"), encoding="ascii", errors="replace") as file:
            lines = [line for line in file if line.startswith("Max open files")]
        return counted(lines[0].split()[3])
    return None


@of_host
def descriptors(pid: int) -> int | None:
    """Count the open descriptors of a process; None: it is not for us to see, or not there."""
    try:
        return len(os.listdir(_path(pid, "fd")))
    except OSError:
        return None


@of_host
def sockets(pid: int) -> set[int] | None:
    """Give the inodes of the sockets of a process, which psutil keeps; None: they are not for us to see."""
    found = set()
    try:
        names = os.listdir(_path(pid, "fd"))
    except OSError:
        return None
    for name in names:
        with contextlib.suppress(OSError):
            kind, _, inode = os.readlink(_path(pid, f"fd/{name}")).partition(":[")
            found |= {int(inode[:-1])} if kind == "socket" else set()
    return found


@of_host
def listening(pid: int, port: int) -> list[Listening]:
    """List what listens on a TCP port where a process has its network: a container has its own.

    psutil looks only where we have ours.
    """
    return [one for table in ("tcp", "tcp6") for one in _listening(_path(pid, f"net/{table}"), port)]


def _listening(table: str, port: int) -> Iterator[Listening]:
    with contextlib.suppress(OSError, ValueError, IndexError), open(table, encoding="ascii") as file:
        next(file, None)
        for line in file:
            fields = line.split()
            if fields[3] != _LISTENS:
                return  # these come first, and of the others there may be many
            if int(fields[1].rpartition(":")[2], 16) == port:
                yield Listening(counted(fields[9]), counted(fields[7]))


@of_host
def works_in(pid: int, directory: str) -> bool | None:
    """Whether a directory is the one that a process works in; None: that is not for us to see.

    psutil only names it, and in a container a name is another directory's.
    """
    try:
        return os.path.samestat(os.stat(_path(pid, "cwd")), os.stat(directory))
    except OSError:
        return None


@of_host
def directory_of(pid: int) -> str | None:
    """Return in which directory a process works; None: that is not for us to see.

    psutil leaves out "(deleted)": another one may have that name now.
    """
    try:
        return os.readlink(_path(pid, "cwd"))
    except OSError:
        return None


def _path(pid: int | str, file: str) -> str:
    return f"{kernel.PLACE}/{pid}/{file}"
