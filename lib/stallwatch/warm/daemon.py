"""stallwatchd: the command line, the listening socket, and the restart when another version is installed."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import stat
import sys
import time

import stallwatch
from stallwatch.startup import TYPE_CHECKING
from stallwatch.warm import trust

if TYPE_CHECKING:
    from typing import NoReturn

SOCKET = "/run/stallwatch/stallwatchd.socket"
PLUGINS = os.path.dirname(os.path.abspath(sys.argv[0]))
_INHERITED = "STALLWATCHD_LISTENS"  # the descriptor of the socket, when a new version takes over
_FIRST = 3  # sd_listen_fds(3)
_SETTLES = 3.0  # seconds without a change after which an installation is complete


class Installation:
    """The version on the disk: whether it is still the one that runs."""

    def __init__(self) -> None:
        self._path = stallwatch.__file__
        self._loaded = self._seen = self._look()
        self._since = 0.0

    def _look(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def is_current(self) -> bool:
        """Whether nothing else is installed, or it is still being installed: what runs is loaded whole."""
        now, found = time.monotonic(), self._look()
        if found != self._seen:
            self._seen, self._since = found, now
        return found == self._loaded or now - self._since < _SETTLES

    @property
    def is_gone(self) -> bool:
        """Whether the package was removed."""
        return self._look() is None


def parser() -> argparse.ArgumentParser:
    """Give the parser of the command line."""
    about = "Run stallwatch's checks in processes that stay, for the programs in lib/stallwatch/warm."
    parser = argparse.ArgumentParser(prog="stallwatchd", description=about, allow_abbrev=False)
    where = f"listen on this Unix socket (default: that of systemd, or {SOCKET})"
    parser.add_argument("--socket", metavar="PATH", default=SOCKET, help=where)
    parser.add_argument("-V", "--version", action="version", version=f"stallwatchd {stallwatch.__version__}")
    about = "be a worker of the Nagios whose query handler this is, and hand its checks to --socket"
    parser.add_argument("--nagios", metavar="PATH", help=about)
    about = "plugins that --nagios registers, by the paths that Nagios calls (default: where stallwatchd is)"
    parser.add_argument("--plugins", metavar="DIR", default=PLUGINS, help=about)
    return parser


def main(arguments: list[str] | None = None) -> NoReturn:
    """Serve until SIGTERM. Ends with a sentence and status 1 where it cannot listen."""
    options = parser().parse_args(arguments)
    trust.hide_memory()
    if options.nagios:
        found = sorted(one.path for one in os.scandir(options.plugins) if one.name.startswith("check_"))
        _be_worker_of_nagios(options.nagios, options.socket, found)
    try:
        listener = _listener(options.socket)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"stallwatchd: cannot listen on {options.socket}: {why}", file=sys.stderr)  # noqa: T201
        raise SystemExit(1) from None
    _serve(listener)


def _be_worker_of_nagios(query_handler: str, path: str, plugins: list[str]) -> NoReturn:
    import asyncio

    from stallwatch.warm.nagios import Front

    asyncio.run(Front(query_handler, path, plugins).serve())
    raise SystemExit(0)


def _serve(listener: socket.socket) -> NoReturn:
    """Serve until SIGTERM, or until another version is installed, which goes on with the same socket.

    Ends with a sentence and status 1 when the socket is removed: nobody could ask any more.
    """
    from stallwatch.warm.plugins import loaded
    from stallwatch.warm.supervisor import Supervisor

    os.umask(0o077)
    installation, place = Installation(), listener.getsockname()
    at_start = _file(place)

    def is_current() -> bool:
        if at_start and _file(place) != at_start:
            print(f"stallwatchd: {place} was removed: start it again", file=sys.stderr)  # noqa: T201
            raise SystemExit(1)
        return installation.is_current()

    supervisor = Supervisor(listener, loaded(), is_current)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, supervisor.end)
    if supervisor.serve() and not installation.is_gone:
        listener.set_inheritable(True)
        os.environ[_INHERITED] = str(listener.fileno())
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - the new version of ourselves
    raise SystemExit(0)


def _file(place: str | bytes) -> tuple[int, int] | None:
    """Identify the file of a socket; None: there is none, or the socket is an abstract one."""
    try:
        found = os.stat(place)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _listener(path: str) -> socket.socket:
    """Give the socket to listen on: that of an earlier version of this process, of systemd, or a new one."""
    inherited = os.environ.pop(_INHERITED, "")
    process, count = (os.environ.pop(f"LISTEN_{name}", "") for name in ("PID", "FDS"))
    activated = process == str(os.getpid()) and count == "1"
    if inherited or activated:
        listener = socket.socket(fileno=int(inherited) if inherited else _FIRST)
        listener.set_inheritable(False)
        return listener
    if refused := trust.refusal(os.path.dirname(os.path.abspath(path))):
        raise ValueError(refused)
    listener = socket.socket(socket.AF_UNIX)
    if _is_served(path):
        raise ValueError("another stallwatchd serves there")
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(4096)
    return listener


def _is_served(path: str) -> bool:
    """Whether somebody listens there; a socket that nobody serves any more is removed."""
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)
    except FileNotFoundError:
        return False
    except ConnectionRefusedError:  # of a file that is no socket, too
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise ValueError("there is a file that is not a socket") from None
        os.unlink(path)
        return False
    return True
