"""The end of a run: in time, with one line, and with nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import allocate_lock, get_ident, start_new_thread
from contextlib import suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl

from stallwatch.deadline import TICK, TimeUpError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, Self

    from stallwatch.deadline import Deadline

    Report = Callable[[], tuple[int, str]]

UNKNOWN = 3
PATIENCE = 0.3  # seconds that the second one waits for the first: for the report, and to write it
# Seconds after a signal, in which the main thread usually answers it. Whether it does or not, its farewells
# have PATIENCE twice from then on.
UNHEARD = 0.05
_MEANINGS: dict[int, str] = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "terminated",
}


class Alarm:
    """Raises TimeUpError, once, when the deadline has passed for which it was ``set``, until it is ``off``.

    It can interrupt Python code in the main thread. Code in C has to return first. Code that catches
    BaseException goes on. In another thread it does nothing. Used in a ``with`` statement it restores the
    handler of SIGALRM, and another timer with what is left of its time.
    """

    def __init__(self) -> None:
        self._deadline: Deadline | None = None
        self._before: tuple[Any, float, tuple[float, float]] | None = None  # handler; when, and what timer

    def set(self, deadline: Deadline) -> None:
        """Ring for this one."""
        with suppress(ValueError):  # this is not the main thread
            handler = signal.signal(signal.SIGALRM, self._ring)
            self._before = handler, time.monotonic(), signal.setitimer(signal.ITIMER_REAL, 0)
            self._deadline = deadline
            signal.setitimer(signal.ITIMER_REAL, max(0.001, deadline.until_end()))

    def off(self) -> None:
        """Ring no more: in the same ``try`` as what it may interrupt, which it may do until here."""
        self._deadline = None

    def _ring(self, *_: object) -> None:
        if not self._deadline:
            return
        if (left := self._deadline.until_end()) > 0:  # it was extended
            signal.setitimer(signal.ITIMER_REAL, left)
            return
        if self._deadline.put_off():
            signal.setitimer(signal.ITIMER_REAL, max(0.001, self._deadline.until_end()))
            return
        why = self._deadline.overdue()
        self.off()
        raise TimeUpError(why)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.off()
        if self._before:
            handler, at, (left, every) = self._before
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)  # None: it is of C
            if left:
                left = max(0.001, left - (time.monotonic() - at))
            signal.setitimer(signal.ITIMER_REAL, left, every)


class Exit:
    """The one way out of a plugin: whoever comes first prints its text, and the process ends.

    ``os._exit`` leaves no chance to a loop that catches every exception, to a thread that a library
    forgot, or to text that it left in a buffer. SIGTERM, SIGHUP and SIGINT come here too. From now on
    standard output leads nowhere for anybody else: a child that lives on cannot hold it, for which Icinga
    waits.
    """

    def __init__(self, line: Callable[[str], str]) -> None:
        if sys.stdout is None:
            os._exit(UNKNOWN)  # descriptor 1 was closed: the next file to be opened would get the report
        self._terminal: int | None = None
        self._shown = ""
        self._output = 1
        self._line = line
        self._comers: list[int] = []  # the threads that leave, the first of which makes the report
        self._pen = allocate_lock()  # of who writes, never given back
        self._code = UNKNOWN
        self._at_leisure = False
        self._deadline: Deadline | None = None
        try:
            self._take_output()
        except OSError as error:
            self.leave(UNKNOWN, line(f"standard output cannot be led to {os.devnull}: {error.strerror}"))
        for number in _MEANINGS:
            signal.signal(number, lambda number, _: self._ended(number))
        # The first statement of each plugin has blocked them: one that came meanwhile is answered now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _MEANINGS)

    def _take_output(self) -> None:
        if os.isatty(2):
            self._terminal = fcntl(2, F_DUPFD_CLOEXEC, 3)
        self._output = fcntl(1, F_DUPFD_CLOEXEC, 3)  # not 2, which may be closed, too, and be silenced
        silence(1)

    def at(self, deadline: Deadline, report: Callable[[str], tuple[int, str]]) -> None:
        """Leave when ``deadline`` has passed, whatever the plugin does then.

        ``report`` returns status and text for a run that ends with that sentence instead of a verdict.
        The main thread does not notice a signal during getaddrinfo(), which resumes its wait, nor one that
        came just before it began to wait; a thread does not get to run during a regular expression, which
        looks for signals but keeps the interpreter to itself (CPython 3.11). So there are both.
        """
        self._deadline = deadline

        def overdue(*_: object) -> None:
            if deadline.put_off():
                return
            why = deadline.overdue()
            self._interrupt(lambda: report(why), lambda: (UNKNOWN, self._line(why)))

        def watch() -> None:
            while (left := deadline.until_end() + 0.1) > 0 or deadline.put_off():
                deadline.account.stand_by(min(left, TICK))
            if not self._at_leisure:
                overdue()

        def wind() -> None:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, deadline.until_end()))

        signal.signal(signal.SIGALRM, overdue)
        deadline.extended = wind
        wind()
        with suppress(RuntimeError, OSError):  # no more threads or descriptors: the signal has to do
            deadline.account.stand_by(0)  # for the moments until the thread does
            start_new_thread(watch, ())
            start_new_thread(self._listen, (_numbers_of_signals(),))

    def _listen(self, numbers: int) -> None:
        """Answer the signals, whose numbers can be read there, that the main thread does not answer."""
        for number in iter(lambda: os.read(numbers, 1), b""):
            if number[0] in _MEANINGS:
                time.sleep(UNHEARD)
                self._ended(number[0])

    def leave(self, code: int, text: str) -> NoReturn:
        """Write ``text`` to standard output and end the process with ``code``; 3 if it cannot be written."""
        self._leave(lambda: (code, text), lambda: (code, text))

    def _ended(self, number: int) -> None:
        told = UNKNOWN, self._line(f"{_MEANINGS[number]} before the verdict")
        self._interrupt(lambda: told, lambda: told)

    def _interrupt(self, report: Report, briefly: Report) -> None:
        """Leave, unless it is just that what a signal has interrupted: it goes on then.

        It may never come to its end: a thread sees to that where the deadline's does not.
        """
        leaves = get_ident() in self._comers
        if leaves or self._at_leisure or not self._deadline:
            with suppress(RuntimeError):  # no more threads
                start_new_thread(self._insist, (briefly,))
        if not leaves:
            self._leave(report, briefly)

    def _leave(self, report: Report, briefly: Report) -> NoReturn:
        """Leave with ``report``, or with ``briefly`` if another thread has begun to leave and is late."""
        own = get_ident()
        self._comers.append(own)
        if self._comers[0] != own:
            self._insist(briefly)
        self.progress("")
        self._tell(*report())
        if self._deadline:
            self._deadline.end()
        os._exit(self._code)

    def _insist(self, briefly: Report) -> NoReturn:
        """End a run whose end takes too long: the machine is busy, the reader does not read."""
        if not self._pen.locked():  # the report is not there yet
            time.sleep(PATIENCE)
        self._tell(*briefly())
        if self._deadline:
            self._deadline.children.kill()
        os._exit(self._code)

    def _tell(self, code: int, text: str) -> None:
        """Write it, unless somebody else does: he has the time for it, but not for ever."""
        if self._pen.acquire(timeout=PATIENCE):
            with suppress(OSError):
                self.write(f"{text}\n" if text else "")
                self._code = code  # not before: who comes second leaves with it while we write

    def say(self, text: str) -> None:
        """Write a part of a long answer; the deadline is kept no more: a reader who pages takes time."""
        self._at_leisure = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        if os.isatty(self._output):  # the answer itself shows how far it has come
            self.progress("")
            self._terminal = None
        self.write(text)

    def columns(self) -> int:
        """Return how wide the terminal is to which the answer goes; 0: it goes elsewhere."""
        try:
            return os.get_terminal_size(self._output).columns or 80
        except OSError:
            return 0

    def write(self, text: str) -> None:
        """Write it to standard output, all of it; OSError if nobody reads any more."""
        octets = text.encode(errors="replace")
        while octets:
            octets = octets[os.write(self._output, octets) :]

    def progress(self, text: str) -> None:
        """Show it in place of what was shown before, to a person at a terminal; "" takes it away."""
        if self._terminal is None or text == self._shown:
            return
        self._shown = text
        try:
            os.write(self._terminal, f"\r{text}\x1b[K".encode(errors="replace"))
        except OSError:
            self._terminal = None  # it has hung up


def _numbers_of_signals() -> int:
    """Give a descriptor from which the number of each signal that comes can be read, one byte each."""
    pipe = os.pipe()
    numbers, written = (fcntl(end, F_DUPFD_CLOEXEC, 3) for end in pipe)  # not 2, which is silenced later
    for end in pipe:
        os.close(end)
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    return numbers


def no_dump() -> None:
    """Let no crash write our memory, in which there are passwords, to a disk; nor that of a child.

    1 byte, not 0: where a program takes the dumps, 0 is no limit, and 1 is (Linux 6.1, fs/coredump.c). Where
    no more than 0 can be had, it is up to that program.
    """
    with suppress(Exception):  # that is no reason not to check
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1) if most else (0, 0))


def silence(descriptor: int) -> None:
    """Lead standard output or error nowhere: Icinga takes a library's warning for the status line."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    if nowhere != descriptor:
        os.close(nowhere)
