"""Which process is meant: by a pid file, a port or a data directory, or because there is no other.

The kernel shows to root and to the user of a process alone where it works and what it has open. Where that
does not show which of several is meant, nobody guesses.
"""

from __future__ import annotations

import os
from contextlib import suppress

from stallwatch import accounts
from stallwatch.findings import ProbeError
from stallwatch.line import Forms
from stallwatch.probes.mysqld_process.collect import is_angel_in, start_of
from stallwatch.probes.mysqld_process.model import DATA_NODES, PROGRAMS, SERVERS, named
from stallwatch.sources import processes
from stallwatch.sources.data_nodes import is_angel
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stallwatch.sources.processes import Listening, Running

_DATA_DIR = ("--datadir", "-h")
_PORT = ("--port", "-P")
_ROOT = 0
_WITHOUT_NODE = "an angel without its node"
_FORKED = 10.0  # seconds; a program that starts another one is called as before until it has
_HOW = "choose one with --pid-file, --listens, --data-dir or --program"
_OWNER = "see its error log, then start it; if that is the server, name its --data-dir or --pid-file"
_AS_ITS_USER = "run this as the server's user, by sudo (see sudoers.d/stallwatch)"


class NotThereError(Exception):
    """The process that is meant does not run; the message is for a person."""

    def __init__(self, what: str, why: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.advice = advice


class Wanted(NamedTuple):
    """What is said of the process; at most one of the three ways to find it."""

    programs: tuple[str, ...] = PROGRAMS
    pid_file: str | None = None
    port: int | None = None
    data_dir: str | None = None

    @property
    def is_told(self) -> bool:
        """Whether it is said which of several."""
        return any(way is not None for way in (self.pid_file, self.port, self.data_dir))

    @property
    def called(self) -> str:
        """What it may be called."""
        *first, last = self.programs
        return f"{', '.join(first)} or {last}" if first else last


def choose(
    wanted: Wanted,
    likeness: Callable[[Running], int] = lambda _: 0,
    ignore: Callable[[str], None] = lambda _: None,
) -> Running:
    """Find the one process that is meant; ``likeness`` returns how much one is like a server that is asked.

    A server or data node of a user who runs none is ignored, unless the pid file or data directory that was
    named is his; ``ignore`` gets that as a sentence. Of other programs it is not known who runs them.
    Raises NotThereError, or a ProbeError where that is not known.
    """
    others: dict[Running, str] = {}
    try:
        running, owners = processes.running(wanted.programs), set(_owners(wanted))
        for one in running:
            if one.name in PROGRAMS and (user := processes.stranger(one.pid, owners)):
                others[one] = f"{named(one)} belongs to the user {user} (no system account)"
                ignore(f"{others[one]}: it is ignored")
        return _chosen(wanted, [one for one in running if one not in others], likeness)
    except NotThereError as gone:
        if others and not gone.why:
            gone.why, gone.advice = next(iter(others.values())), _OWNER
        if processes.are_hidden():
            what = f"{gone.what}, but processes of others are hidden from {user_name()}"
            raise ProbeError(what, "mount /proc with gid= of our group, or without hidepid") from None
        raise
    except OSError as error:
        raise ProbeError(f"{error.filename}: {error.strerror}", "this needs all of Linux' /proc") from None


def _owners(wanted: Wanted) -> Iterator[int]:
    for path in filter(None, (wanted.pid_file, wanted.data_dir)):
        with suppress(OSError):
            yield os.stat(path).st_uid


def _chosen(wanted: Wanted, running: Sequence[Running], likeness: Callable[[Running], int]) -> Running:
    if wanted.pid_file is not None:
        return _by_pid_file(wanted.pid_file, wanted.called, running)
    if not running:
        raise NotThereError(
            f"no {wanted.called} runs on this host", advice="see its error log, then start it"
        )
    workers, alone = _workers(running)
    if wanted.port is not None:
        return _by_port(wanted.port, wanted.called, [*workers, *alone])
    if wanted.data_dir is not None:
        return _by_data_dir(wanted.data_dir, wanted.called, [*workers, *alone])
    candidates = [*_without_forked(workers), *alone]
    if len(candidates) > 1:
        alike = {one: likeness(one) for one in candidates}
        candidates = [one for one in candidates if alike[one] == max(alike.values())]
    return _the_only(candidates, "run on this host")


def user_name() -> str:
    """Name the user who we are."""
    return f"the user {accounts.user_name(os.geteuid())}"


def _workers(running: Sequence[Running]) -> tuple[list[Running], list[Running]]:
    """Leave out the angels of data nodes, and give those alone apart; nothing else is left: NotThereError."""
    watched = {one.parent for one in running if one.name in DATA_NODES}
    nodes = [one for one in running if one.name in DATA_NODES and one.pid not in watched]
    alone = [one for one in nodes if _is_angel(one)]
    workers = [one for one in running if one.name not in DATA_NODES or (one in nodes and one not in alone)]
    if not workers:
        raise _only_angel(alone[0], "runs")
    return workers, alone


def _only_angel(angel: Running, does: str) -> NotThereError:
    return NotThereError(
        f"only the angel of a data node {does}, {named(angel)}",
        "the data node has ended, or is about to be started",
        "see the end of its ndb_*_out.log: check_ndb_log reads it",
    )


def _parents(running: Sequence[Running]) -> list[Running]:
    """Leave out the children of others of these that are called alike."""
    names = {one.pid: one.name for one in running}
    return [one for one in running if names.get(one.parent) != one.name]


def _without_forked(running: Sequence[Running]) -> list[Running]:
    """Leave out what others of these have just forked; of a server a child never is what is meant."""
    parents = _parents(running)
    return [one for one in running if one in parents or (one.name not in SERVERS and one.age > _FORKED)]


def _is_angel(process: Running) -> bool:
    """Whether a data node's process without children only watches."""
    return is_angel(processes.task(process.pid))


def _by_pid_file(file: str, called: str, running: Sequence[Running]) -> Running:
    try:
        pid = processes.pid_in(file)
    except FileNotFoundError:
        why = "a server removes it when it ends in order"
        raise NotThereError(f"{file} is not there", why, _hint(running)) from None
    except PermissionError:
        raise ProbeError(
            f"{file} is not for {user_name()} to read",
            f"leave --pid-file out where only one runs, give --listens PORT, or {_AS_ITS_USER}",
        ) from None
    except OSError as error:
        raise ProbeError(f"{file}: {error.strerror}") from None
    except ValueError:
        raise ProbeError(f"{file} does not hold the id of a process") from None
    for one in running:
        if one.pid == pid and one.name not in DATA_NODES:
            return one
    family = [one for one in running if pid in {one.pid, one.parent} and one.name in DATA_NODES]
    if any(one.pid == pid for one in family):
        return _the_only(_workers(family)[0], f"belong to {file}")
    inside = [one for one in running if _is_in_container_as(one, pid)]
    if inside:
        return _the_only(_workers(inside)[0], f"are process {pid} of a container")
    raise _stale(file, pid, called, running)


def _is_in_container_as(process: Running, pid: int) -> bool:
    status = processes.status(process.pid)
    return status is not None and status.is_in_container and status.pids[-1] == pid


def _stale(file: str, pid: int, called: str, running: Sequence[Running]) -> NotThereError:
    task = processes.task(pid)
    if task is None:
        what = f"process {pid} of {file} is not there"
        why = "it has ended without removing the file: it was killed, crashed, or its host did"
    elif task.state == processes.ENDED:
        what = f"process {pid} of {file} has ended"
        why = f"its parent, process {task.parent}, has not noticed yet"
    else:
        user = processes.stranger(pid) if task.name in called else ""
        program = f"{task.name} of the user {user}" if user else task.name or "another program"
        what = f"process {pid} of {file} is {program}, not {called}"
        why = "the file is left from a process that has ended"
    return NotThereError(what, why, _hint(running))


def _hint(running: Sequence[Running]) -> str:
    see = "see its error log"
    return Forms(f"{see}, here runs {_listed(running)}", see) if running else f"{see}, then start it"


def _by_port(port: int, called: str, running: Sequence[Running]) -> Running:
    certain, possible, of_root = [], [], False
    for one in running:
        sockets = processes.listening(one.pid, port)
        own = processes.sockets(one.pid) if sockets else set()
        if own is None:
            possible += [one] if _is_of_user(one, sockets) else []
            of_root |= any(socket.user == _ROOT for socket in sockets)
        elif any(socket.inode in own for socket in sockets):
            certain.append(one)
    if certain:
        return _the_only(_parents(certain), f"listen on port {port}")
    if not possible and of_root:
        what = f"whose socket listens on port {port} is not for {user_name()} to see: it belongs to root"
        raise ProbeError(
            what, "systemd may have made it, or docker-proxy: run this as root, or give --pid-file"
        )
    if not possible:
        or_off = ", or skip_networking on" if any(one.name in SERVERS for one in running) else ""
        raise NotThereError(
            f"no {called} listens on port {port}",
            Forms(f"here runs {_listed(running)}", "only others run here"),
            f"see its error log: is it starting still{or_off}?",
        )
    possible = _without_forked(possible)
    if len(possible) > 1:
        possible = [one for one in possible if _option(one, *_PORT) == str(port)] or possible
    return _the_only(possible, f"may listen on port {port}", _AS_ITS_USER)


def _option(process: Running, *names: str) -> str | None:
    """Give the value of an option of a server; to other programs it means something else, java's -h."""
    return process.option(*names) if process.name in SERVERS else None


def _listed(running: Sequence[Running]) -> str:
    watched = {one.parent for one in running if one.name in DATA_NODES}
    shown = [one for one in running if one.pid not in watched or one.name not in DATA_NODES]
    return listed([named(one) + _angel(one) for one in shown])


def _angel(process: Running) -> str:
    return f" ({_WITHOUT_NODE})" if _is_angel_alone(process) else ""


def _is_angel_alone(process: Running) -> bool:
    """Whether it is the angel of a data node that has ended; not asked of one that has a child."""
    return process.name in DATA_NODES and _is_angel(process)


def _is_of_user(process: Running, sockets: Sequence[Listening]) -> bool:
    status = processes.status(process.pid)
    return status is not None and any(socket.user == status.user for socket in sockets)


def _by_data_dir(directory: str, called: str, running: Sequence[Running]) -> Running:
    if not os.path.isdir(directory):
        raise ProbeError(f"{directory} is no directory, or not for {user_name()} to see")
    found = {one: _uses(one, directory) for one in running}
    certain = [one for one, uses in found.items() if uses]
    if certain and all(_is_angel_alone(one) for one in certain):
        raise _only_angel(certain[0], f"works in {directory}")
    if certain:
        return _the_only(_without_forked(certain), f"work in {directory}")
    hidden = [one for one, uses in found.items() if uses is None]
    if hidden:
        raise ProbeError(
            f"in which directory {_listed(hidden)} works is not for {user_name()} to see",
            f"leave --data-dir out where only one runs, give --listens PORT, or {_AS_ITS_USER}",
        )
    raise NotThereError(f"no {called} works in {directory}", f"here runs {_listed(running)}")


def _uses(process: Running, directory: str) -> bool | None:
    """Whether it works there: servers change to their data directory; None: that cannot be seen.

    Only then its log or its option is believed; that of a server in a container means another directory.
    """
    works = processes.works_in(process.pid, directory)
    if works is not None:
        return works
    if process.name in DATA_NODES:
        is_it = is_angel_in if _is_angel(process) else start_of
        return True if is_it(process.pid, directory) else None
    told = _option(process, *_DATA_DIR)
    status = processes.status(process.pid)
    if not told or status is None or status.is_in_container:
        return None
    return os.path.realpath(told) == os.path.realpath(directory)


def _the_only(running: Sequence[Running], what: str, how: str = _HOW) -> Running:
    if len(running) > 1:
        each = [named(one) + _about(one) for one in running]
        raise ProbeError(f"{len(running)} processes {what}: {listed(each)}", how)
    return running[0]


def _about(process: Running) -> str:
    place = processes.directory_of(process.pid) or _option(process, "--datadir")
    task = processes.task(process.pid)
    stopped = "stopped" if task is not None and task.state == processes.STOPPED else ""
    angel = _WITHOUT_NODE if _is_angel_alone(process) else ""
    about = ", ".join(filter(None, [place, angel, stopped]))
    return f" ({about})" if about else ""
