"""A worker: a process that runs one check after another, each with the surroundings of whoever asks."""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import threading
import time
from contextlib import suppress

from stallwatch.deadline import TICK
from stallwatch.frame.exit import UNKNOWN, no_dump, silence
from stallwatch.startup import TYPE_CHECKING
from stallwatch.warm import protocol
from stallwatch.warm.slot import Pulse

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.deadline import Account, Deadline
    from stallwatch.frame.check import Check, Findings
    from stallwatch.warm.slot import Slot

    Plugins = dict[str, tuple[Check, Findings]]
    Report = Callable[[str], tuple[int, str]]

DONE = b"\0"  # to the supervisor: the check was answered
MOST_CHECKS = 10_000  # by one worker, before another one takes its place
LARGEST = 192 << 20  # bytes of memory beyond which it is replaced; a check may take 64 MiB
_LATE = 0.15  # seconds after its time, in which a check usually reports itself
_READING = 1.0  # seconds for a caller to read its answer
# Variables that the C library and OpenSSL read themselves: the zone, the authorities whose certificates are
# trusted, other names of hosts. Others they read once in a process: contrib/docs/stallwatchd.md names them.
OF_C = ("TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HOSTALIASES")


class Worker:
    """Runs what the supervisor hands over on ``control``, until that closes."""

    def __init__(self, control: socket.socket, slot: Slot, plugins: Plugins) -> None:
        self._control = control
        self._slot = slot
        self._plugins = plugins
        self._caller = control  # of the check under way
        self._of_c = {name: os.environ[name] for name in OF_C if name in os.environ}
        self._request = bytearray(protocol.LENGTH.size + protocol.LARGEST)  # of one check after another
        self._underway: tuple[Deadline, Report] | None = None
        self._pen = threading.Lock()  # of who answers the check under way

    def serve(self) -> None:
        """Run checks until the supervisor is gone, or this one is to be replaced."""
        os.umask(0o077)
        no_dump()
        for descriptor in (0, 1, 2):
            silence(descriptor)
        os.setpgid(0, 0)  # a check's children are ended with it
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the check ends what it has started
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        threading.Thread(target=self._watch, daemon=True).start()
        gc.disable()  # once, behind each check, is enough
        for _ in range(MOST_CHECKS):
            _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
            if not descriptors:
                return  # the supervisor has ended
            with socket.socket(fileno=descriptors[0]) as self._caller:
                self._run()
            self._control.send(DONE)
            os.environ = {}  # type: ignore[assignment] # noqa: B003
            gc.collect()  # what the check left, with its password, is not kept for the next one
            if _memory() > LARGEST:
                return

    def _taken(self) -> protocol.Request:
        """Take the request, which is there as a whole, and overwrite what it was read into."""
        size = self._caller.recv_into(self._request)
        try:
            return protocol.parsed(self._request, size)
        finally:
            self._request[:size] = bytes(size)

    def _run(self) -> None:
        try:
            asked = self._taken()
            self._move(asked)
        except (OSError, ValueError):
            return  # it is none, or that folder is not for us: the front runs the plugin itself
        check, findings = self._plugins[asked.plugin]
        code, text = check.run(findings, asked.arguments, self._begin)
        self._pen.acquire()  # who has it meanwhile ends this process
        self._underway = None
        self._answer(code, text)
        self._pen.release()

    def _move(self, asked: protocol.Request) -> None:
        """Take the caller's surroundings: a plugin that starts afresh has them, too."""
        os.chdir(asked.directory)
        given = {name: asked.environment[name] for name in OF_C if name in asked.environment}
        if given != self._of_c:
            _put(given)
            self._of_c = given
        # No other: the C library keeps a copy of each value that a variable ever had, passwords too.
        os.environ = asked.environment  # type: ignore[assignment] # noqa: B003

    def _begin(self, deadline: Deadline, report: Report) -> None:
        """Report to the caller and the supervisor when the check, whose arguments are valid, must end."""

        def tell() -> None:
            self._slot.begin(time.monotonic() + deadline.until_end(), deadline.seconds)
            with suppress(OSError):
                self._caller.send(protocol.allowed(deadline.until_end()))

        tell()
        deadline.extended = tell
        deadline.account.stand_by(0)  # for the moments until ``_watch`` does
        self._beat(deadline.account, 0.0)
        self._underway = deadline, report

    def _beat(self, account: Account, awoke: float) -> None:
        pulse = Pulse(time.monotonic(), awoke, time.process_time(), account.shown(), account.enough())
        self._slot.beat(pulse)

    def _answer(self, code: int, text: str) -> None:
        self._slot.answering()
        self._caller.settimeout(_READING)
        with suppress(OSError):  # the caller is gone, or does not read
            self._caller.sendall(protocol.answered(code, f"{text}\n" if text and text[-1] != "\n" else text))

    def _watch(self) -> None:
        """Answer a check that does not end in time, as the main thread hangs in a library; then end."""
        awoke = 0.0
        while True:
            underway = self._underway
            if underway:
                account, begun = underway[0].account, time.monotonic()
                account.stand_by(TICK)
                if (now := time.monotonic()) - begun > 2 * TICK:
                    awoke = now
                self._beat(account, awoke)
            else:
                time.sleep(TICK)
            if not underway or underway[0].until_end() > -_LATE or not self._pen.acquire(blocking=False):
                continue
            if underway is not self._underway:  # it has just ended
                self._pen.release()
                continue
            deadline, report = underway
            self._answer(*report(deadline.overdue()))
            deadline.end()
            os._exit(UNKNOWN)


def _memory() -> int:
    """Bytes of memory that this process has for itself: resident, not shared (proc(5), statm)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    return (resident - shared) * resource.getpagesize()


def _put(given: dict[str, str]) -> None:
    """Have libraries in C read these from now on, and no other of ``OF_C``."""
    for name in OF_C:
        if name in given:
            os.putenv(name, given[name])
        else:
            os.unsetenv(name)
    time.tzset()
