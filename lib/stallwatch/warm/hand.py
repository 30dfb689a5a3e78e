"""A worker as the supervisor sees it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from stallwatch.deadline import TICK, no_verdict
from stallwatch.frame.exit import UNKNOWN
from stallwatch.line import status
from stallwatch.startup import TYPE_CHECKING
from stallwatch.warm import protocol

if TYPE_CHECKING:
    import socket

    from stallwatch.warm.caller import Caller
    from stallwatch.warm.slot import Slot

_OVERDUE = 0.35  # seconds after its time in which a check ends itself, or after the worker, late, went on
_LATEST = 1.0  # seconds after its time: less than a front waits
_UNBEGUN = 5.0  # seconds in which a worker understands a command line
_GONE = 0.5  # seconds in which a caller that is gone may have got its answer
SHORT = 0.25  # seconds of processor time: usual checks take 0.01, the reading of a long log takes more
_TIMES = slice(10, 12)  # of the fields behind the state: utime, stime
_TICKS = os.sysconf("SC_CLK_TCK")  # of these a second
_STUBBORN = 1.0  # seconds after SIGTERM, or of writing an answer


class Hand:
    """A worker as the supervisor sees it."""

    def __init__(self, process: int, control: socket.socket, slot: Slot) -> None:
        self.process = process
        self.control = control
        self.slot = slot
        self.caller: socket.socket | None = None  # whose check it runs
        self.plugin = ""
        self.since = time.monotonic()  # that it is busy or idle
        self.gone = 0.0  # when its caller left, if it has
        self.ended = 0.0  # when it was sent SIGTERM
        self._spent: float | None = None  # seconds of processor time when its check was seen first

    def take(self, caller: Caller) -> None:
        """Run the check of this caller from now on."""
        self.slot.clear()
        self.caller = caller.connection
        self.plugin = caller.plugin
        self.since = time.monotonic()
        self.gone = 0.0
        self._spent = None

    def rest(self) -> None:
        """Have no check."""
        self.caller = None
        self.gone = 0.0
        self.since = time.monotonic()

    def is_short(self) -> bool:
        """Whether it has a processor, or waits for one, and is likely to let go of it soon.

        It does not wait for a server, nor has its check had much time of a processor since the first call.
        """
        state, spent = self._seen()
        self._spent = spent if self._spent is None else self._spent
        return state == b"R" and spent - self._spent < SHORT

    def _seen(self) -> tuple[bytes, float]:
        """Give its state, and its seconds of processor time; b"": it has ended."""
        try:
            with open(f"/proc/{self.process}/stat", "rb") as file:
                state, *fields = file.read().rpartition(b")")[2].split()  # proc(5)
        except OSError:
            return b"", 0.0
        return state, sum(map(int, fields[_TIMES])) / _TICKS

    def end(self, number: int = signal.SIGTERM) -> None:
        """Send it, and with SIGKILL its children, a signal."""
        self.ended = self.ended or time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(self.process, number)
            if number == signal.SIGKILL:
                os.killpg(self.process, number)

    def look(self, now: float) -> None:
        """End the worker if its caller is gone, if its check has not ended in time, or if it does not end."""
        if self.ended:
            if now - self.ended > _STUBBORN:
                self.end(signal.SIGKILL)
        elif self.gone:
            if now - self.gone > _GONE:
                self.end()
        elif self.caller:
            until, seconds, answering = self.slot.read()
            pulse = self.slot.pulse()
            end = max(until, min(pulse.awoke, until + _LATEST - _OVERDUE)) + _OVERDUE
            late = now - (end if until else self.since + _UNBEGUN)
            if late > (_STUBBORN if answering else 0):
                _, spent = self._seen()
                starved = pulse.shown + max(0.0, now - pulse.at - TICK - max(0.0, spent - pulse.computed))
                self.end(signal.SIGKILL)
                if until and not answering:  # otherwise the caller runs the plugin itself
                    self._answer_for(no_verdict(starved if starved > pulse.enough else 0.0, seconds))

    def _answer_for(self, why: str) -> None:
        line = status(self.plugin.removeprefix("check_").upper(), "UNKNOWN", why)
        if self.caller:
            with suppress(OSError):
                self.caller.send(protocol.answered(UNKNOWN, f"{line}\n"))
