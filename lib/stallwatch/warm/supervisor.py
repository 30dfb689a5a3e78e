"""The supervisor: takes checks from callers, hands each to a worker, and sees to it that each ends.

It looks at requests without ever waiting for one caller, so that half a message holds up nobody, and without
taking them: passwords go from the caller to the worker. Workers are forked when all are busy, and ended when
there is nothing to do for them: checks that wait for a slow server take no place from others. If a worker
ends without an answer, the caller's connection closes, and the caller runs the plugin itself.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import time
from collections import deque
from contextlib import suppress
from itertools import islice

from stallwatch.startup import TYPE_CHECKING
from stallwatch.warm import protocol
from stallwatch.warm.caller import Caller
from stallwatch.warm.hand import SHORT, Hand
from stallwatch.warm.slot import Slot
from stallwatch.warm.trust import is_ours
from stallwatch.warm.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from stallwatch.warm.worker import Plugins

LEAST = 2  # workers that are there without checks
MOST = 64  # workers at most
FEW = 4  # workers for each processor: more keep each other waiting, unless servers keep them waiting
IDLE = 10.0  # seconds after which a worker more than LEAST is ended
PATIENCE, LONGER = 0.02, 0.2  # seconds that a request waits before a worker is forked; where there are many
HALF = 2.0  # seconds for a caller to send its request; so long a front waits for its check to begin
CALLERS = 512  # that have sent half a request, at most: the oldest is dropped
_AT_ONCE = 64  # connections taken, before the others get their turn
_ENDING = 10.0  # seconds for checks under way when the supervisor ends
_BUSY_TICK, _IDLE_TICK = 0.1, 2.0


class Supervisor:
    """Serves on a listening socket until it has to end, or is no longer current (``is_current``)."""

    def __init__(
        self, listener: socket.socket, plugins: Plugins, is_current: Callable[[], bool] = lambda: True
    ) -> None:
        self._listener = listener
        self._plugins = plugins
        self._is_current = is_current
        self._events = select.epoll()
        self._callers: dict[int, Caller] = {}  # by descriptor, the oldest first
        self._waiting: deque[Caller] = deque()  # those of them with a whole request
        self._hands: dict[int, Hand] = {}  # by the descriptor of their control
        self._busy: dict[int, Hand] = {}  # by the descriptor of their caller
        self._idle: list[Hand] = []  # the last one was busy last
        self._ends = False
        self._is_outdated = False
        self._wakes, self._wakened = socket.socketpair()
        self._processors = len(os.sched_getaffinity(0))

    def end(self, *_: object) -> None:
        """Take no more checks; those under way come to their end. For a handler of signals, too."""
        self._ends = True

    def serve(self) -> bool:
        """Serve. Afterwards all workers are gone; the listening socket is still open.

        True: it is out of date; False: a signal ended it.
        """
        for one in (self._listener, self._wakes, self._wakened):
            one.settimeout(0)
        signal.set_wakeup_fd(self._wakened.fileno(), warn_on_full_buffer=False)
        self._events.register(self._wakes, select.EPOLLIN)
        self._events.register(self._listener, select.EPOLLIN)
        ticked = 0.0
        try:
            while not self._ends:
                found = self._events.poll(self._patience())
                for descriptor, _ in sorted(found, key=lambda one: one[0] == self._listener.fileno()):
                    self._handle(descriptor)  # new descriptors come last: they may have a closed one's number
                self._grow()
                if (now := time.monotonic()) - ticked >= _BUSY_TICK:
                    ticked = now
                    self._tick(now)
        finally:
            signal.set_wakeup_fd(-1)
            self._finish()
        return self._is_outdated

    def _patience(self) -> float:
        if self._waiting:
            return PATIENCE
        return _BUSY_TICK if self._busy or self._callers else _IDLE_TICK

    def _handle(self, descriptor: int) -> None:
        if descriptor == self._listener.fileno():
            self._accept()
        elif hand := self._hands.get(descriptor):
            self._hear(hand)
        elif hand := self._busy.get(descriptor):
            hand.gone = time.monotonic()
            self._watch_no_more(descriptor)
        elif caller := self._callers.get(descriptor):
            self._look(caller)
        elif descriptor == self._wakes.fileno():
            self._wakes.recv(4096)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ECONNABORTED):
                    raise
                self._drop_oldest()
                return
            if not is_ours(connection):
                connection.close()
                continue
            caller = Caller(connection, HALF)
            self._callers[connection.fileno()] = caller
            self._events.register(connection, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
            self._look(caller)
            if len(self._callers) > CALLERS:
                self._drop_oldest()

    def _look(self, caller: Caller) -> None:
        try:
            caller.look()
        except (OSError, ValueError):
            self._drop(caller)
            return
        if caller.plugin and caller.plugin not in self._plugins:
            self._drop(caller)
        elif caller.plugin:
            self._events.modify(caller.connection, select.EPOLLRDHUP)
            self._waiting.append(caller)
            self._hand_over()

    def _drop(self, caller: Caller) -> None:
        """Let a caller go: it runs the plugin itself."""
        del self._callers[caller.connection.fileno()]
        with suppress(ValueError):
            self._waiting.remove(caller)
        self._close(caller.connection)

    def _drop_oldest(self) -> None:
        """Make room: whoever has sent only a part of its request goes first."""
        oldest = min(self._callers.values(), key=lambda one: (bool(one.plugin), one.since), default=None)
        if oldest:
            self._drop(oldest)

    def _hand_over(self) -> None:
        """Give the requests that wait to workers that do not."""
        while self._waiting and self._idle:
            caller, hand = self._waiting.popleft(), self._idle.pop()
            descriptor = caller.connection.fileno()
            del self._callers[descriptor]
            hand.take(caller)
            self._busy[descriptor] = hand
            try:
                socket.send_fds(hand.control, [b"\0"], [descriptor])
            except OSError:  # it has just been killed: its control closes
                hand.gone = 0.0

    def _grow(self) -> None:
        """Fork a worker if a request has waited for some time, and the others wait for their servers."""
        patience = LONGER if self._are_many() else PATIENCE
        late = bool(self._waiting) and time.monotonic() - self._waiting[0].since > patience
        with suppress(OSError):  # no more processes, or memory: callers go their own way soon
            while len(self._hands) < LEAST or (late and not self._idle and self._helps()):
                self._idle.append(self._fork())
        self._hand_over()

    def _helps(self) -> bool:
        """Whether one more worker would get more done: not where the processors are what all wait for."""
        return len(self._hands) < MOST and not self._processors_are_busy()

    def _processors_are_busy(self) -> bool:
        """Whether checks that take little time keep them busy. A long one may be there beside others.

        Where there are many workers, checks that have just begun count, too, while a process waits for a
        processor: the server that they wait for may be one of this host, and wait for the same.
        """
        if self._are_enough(hand.is_short() for hand in self._busy.values()):
            return True
        now = time.monotonic()
        begun = (now - hand.since < SHORT for hand in self._busy.values())
        return self._are_many() and _running() > (os.cpu_count() or 1) and self._are_enough(begun)

    def _are_many(self) -> bool:
        return len(self._hands) >= FEW * self._processors

    def _are_enough(self, found: Iterable[bool]) -> bool:
        """Whether so many are true that each processor has one."""
        return len(list(islice(filter(None, found), self._processors))) == self._processors

    def _fork(self) -> Hand:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        slot = Slot()
        try:
            process = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            slot.close()
            raise
        if not process:
            self._be_worker(ours, theirs, slot)
        theirs.close()
        hand = Hand(process, ours, slot)
        self._hands[ours.fileno()] = hand
        self._events.register(ours, select.EPOLLIN)
        return hand

    def _be_worker(self, ours: socket.socket, control: socket.socket, slot: Slot) -> NoReturn:
        """Be a worker, and nothing else, until the end of this process."""
        with suppress(BaseException):
            signal.set_wakeup_fd(-1)
            self._events.close()
            connections = [hand.control for hand in self._hands.values()]
            connections += [hand.caller for hand in self._busy.values() if hand.caller]
            connections += [caller.connection for caller in self._callers.values()]
            for one in (ours, self._listener, self._wakes, self._wakened, *connections):
                one.close()
            plugins = self._plugins
            self.__dict__.clear()
            Worker(control, slot, plugins).serve()
        os._exit(0)

    def _hear(self, hand: Hand) -> None:
        """Hear from a worker that it has answered, or has ended."""
        try:
            heard = hand.control.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if caller := hand.caller:
            del self._busy[caller.fileno()]
            self._close(caller)
            hand.rest()
        if not heard:
            self._bury(hand)
        elif self._ends:
            hand.end()
        elif not hand.ended:
            self._idle.append(hand)
        self._hand_over()

    def _bury(self, hand: Hand) -> None:
        """Forget a worker that has ended."""
        del self._hands[hand.control.fileno()]
        if hand in self._idle:
            self._idle.remove(hand)
        self._close(hand.control)
        hand.slot.close()
        os.waitpid(hand.process, 0)

    def _close(self, connection: socket.socket) -> None:
        self._watch_no_more(connection.fileno())
        connection.close()

    def _watch_no_more(self, descriptor: int) -> None:
        """Get no more events of it: closing is not enough while a worker that was just forked has it, too."""
        with suppress(OSError):
            self._events.unregister(descriptor)

    def _tick(self, now: float) -> None:
        for caller in [one for one in self._callers.values() if now - one.since > one.patience]:
            self._drop(caller)
        late = [one for one in self._waiting if now - one.since > HALF / 2 and one.patience < protocol.QUEUE]
        if late and self._processors_are_busy():  # to start Python for the check would take even more of them
            for caller in late:
                caller.queue()
        for hand in self._hands.values():
            hand.look(now)
        while len(self._idle) > LEAST and now - self._idle[0].since > IDLE:
            self._idle.pop(0).end()
        if not self._is_current():
            self._is_outdated = True
            self.end()

    def _finish(self) -> None:
        """Let the checks under way come to their end, and end all workers."""
        self._ends = True
        self._watch_no_more(self._listener.fileno())
        for caller in list(self._callers.values()):
            self._drop(caller)
        for hand in self._idle:
            hand.end()
        end = time.monotonic() + _ENDING
        while self._hands and (now := time.monotonic()) < end:
            for descriptor, _ in self._events.poll(_BUSY_TICK):
                self._handle(descriptor)
            for hand in self._hands.values():
                hand.look(now)
        for hand in list(self._hands.values()):
            hand.end(signal.SIGKILL)
            self._bury(hand)
        self._events.close()


def _running() -> int:
    """Count what runs on this host or waits for a processor: this process, too (proc(5), loadavg).

    0: that is not known.
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].partition("/")[0])
    except OSError:  # as no descriptor is free
        return 0
