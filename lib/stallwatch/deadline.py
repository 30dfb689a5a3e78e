"""The time that one run may take, and whose time it was: that of the server, or our own."""

from __future__ import annotations

import math
import os
import signal
import time
from _thread import get_native_id
from contextlib import suppress

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen
    from typing import Any, TypeVar

    Process = TypeVar("Process", bound=Popen[Any])
    Done = TypeVar("Done")

MOST_KEPT = 36 << 20  # bytes of memory; the names, schemas and engines of 90 000 tables are 35 MiB
# All are chosen, in seconds.
TICK = 0.05  # of a wait, until we look again; what it takes longer is time that we did not have
_SHORTEST = 0.001  # wait, also for an answer that has come while we had no time
LITTLE_TIME = 0.5  # or a quarter of the whole time: a server that was silent for less is not blamed
_REPORTED = 0.5  # within this time after a wait in vain the run has found out what that means
GRACE = 0.1  # after the end, for a wait that lasts until then: it ends by itself, and is reported
_MUCH = 1 / 4  # of the whole time: a run that lost less had its time


class TimeUpError(BaseException):
    """The time of a run is up, and nobody is to blame; the message is the sentence that ends it.

    No ``except`` of a probe is to take it for an answer of the server.
    """


class Children(list["Popen[Any]"]):
    """The processes that a run has started, as long as they run: each is added by ``start``."""

    def __init__(self) -> None:
        super().__init__()
        self._starts: tuple[int, set[int]] | None = None  # who starts one, and its processes before

    def start(self, begin: Callable[[], Process]) -> Process:
        """Start one, and know it: it is killed also if a signal comes before ``begin`` has returned it."""
        thread = get_native_id()
        self._starts = thread, _begun_by(thread)
        try:
            process = begin()
            self.append(process)
        except BaseException:
            self._kill_begun()
            raise
        finally:
            self._starts = None
        return process

    def kill(self) -> None:
        """Kill them; of other processes, as those of a shell that this one took the place of, none."""
        for one in [*self]:
            with suppress(Exception):
                one.kill()
        self._kill_begun()

    def _kill_begun(self) -> None:
        """Kill the one that is being started; those of another thread belong to another run."""
        thread, before = self._starts or (0, set[int]())
        for begun in _begun_by(thread) - before:
            with suppress(OSError):
                os.kill(begun, signal.SIGKILL)


def _begun_by(thread: int) -> set[int]:
    """Give the processes of this thread; none where the kernel does not show them (CONFIG_PROC_CHILDREN)."""
    with suppress(OSError), open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
        return set(map(int, file.read().split()))
    return set()


class Account:
    """Where the time of a run went, in seconds: somebody was waited for, a pause was made, or it was our own.

    Our own is what is left: we compute, have no processor, are stopped or swapped out, or the virtual machine
    stands still. A server is silent only if it was waited for at least as long as that.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end = time.monotonic() + seconds
        self.doing = ""
        self.kept = 0
        self.waited = self.rested = 0.0
        self.silent = 0.0  # of the waited ones, those since the last answer
        self.overshot = 0.0  # by which waits and pauses took longer than they should
        # By how long a thread beside slept longer than we computed; when it wakes; what we had computed.
        self._beside = 0.0, math.inf, 0.0
        self.waits = False  # just now
        self.in_vain_at = -math.inf  # when a server that had its time was given up, as the time was up
        self.has_looked_again = False  # after the time was up: who sends without end is not read without end
        self.children = Children()
        self._thread = get_native_id()
        self._begun, self._computed = time.monotonic(), time.process_time()
        self._queued = _queued("self", self._thread)

    def computed(self) -> float:
        """Return how long we have computed."""
        return time.process_time() - self._computed

    def starved(self) -> float:
        """Return how long we had no processor, as far as it shows, if too long for a verdict; or else 0.0."""
        return shown if (shown := self.shown()) > self.enough() else self._starved_child()

    def shown(self) -> float:
        """Return how long we had no processor, as far as it shows.

        Who is stopped does not wait in the queue, but who waits there may be late, too: both together are no
        more than what is our own and was not spent on computing. A thread beside that alone is late shows
        nothing of a run that waits meanwhile. What is in the queue may be hidden in ticks.
        """
        queued, stood = self._waited_for_processor(), max(self.overshot, self._stood())
        return max(queued, min(queued + stood, self._own() - self.computed()))

    def stand_by(self, seconds: float) -> None:
        """Sleep in a thread beside the run, which shows for how long we have no processor, whatever we do."""
        self._beside = self._stood(), time.monotonic() + seconds, time.process_time()
        time.sleep(max(0.0, seconds))

    def _stood(self) -> float:
        stood, wakes, computed = self._beside
        return stood + max(0.0, time.monotonic() - wakes - (time.process_time() - computed))

    def left(self) -> float:
        """Return how long somebody may still be waited for."""
        return max(0.0, self.end - time.monotonic() - min(0.5, self.seconds / 10))

    def lost(self) -> float:
        """Return how long the time was our own, if for too long to blame anybody else; or else 0.0."""
        own = max(self._own(), self._waited_for_processor())  # the second has also what ticks hide
        return own if own > self.enough() else self._starved_child()

    def may_blame(self) -> bool:
        """Whether a server that has not answered until now had its time."""
        most_of_it = self.waited > self.seconds / 2
        return not self.lost() and (most_of_it or self.silent >= min(LITTLE_TIME, _MUCH * self.seconds))

    def _own(self) -> float:
        return time.monotonic() - self._begun - self.waited - self.rested

    def enough(self) -> float:
        """Return for how long the time was our own where nobody else may be blamed."""
        return max(self.silent, _MUCH * self.seconds, 2 * TICK)

    def _waited_for_processor(self) -> float:
        return _queued("self", self._thread) - self._queued

    def _starved_child(self) -> float:
        """Return the same of a process that asks for us: meanwhile the server only seemed to be silent."""
        queued = max((_queued_most(one.pid) for one in self.children), default=0.0)
        return queued if queued > max(self.silent - queued, _MUCH * self.seconds) else 0.0


class Deadline:
    """The time that one run may take, and the memory for what it is answered.

    Code that waits sets ``doing`` ("waiting for db1:3306"): the line that ends an overdue run
    quotes it. Processes in ``children`` are killed with the run. ``farewells`` are messages for servers, in
    case the process ends in the middle of a conversation; each takes a moment.

    All waiting for others is done by ``wait``, and all pausing of more than a moment by ``rest``.
    """

    def __init__(self, seconds: float, within: Deadline | None = None) -> None:
        """Begin; ``within`` another one, not after that. Time that we lose does not count there."""
        self.seconds = seconds
        self.account: Account = within.account if within else Account(seconds)
        self.children: Children = self.account.children
        self.farewells: list[Callable[[], None]] = within.farewells if within else []
        self.extended: Callable[[], None] = lambda: None  # called when the end has moved
        self._within = within
        self._begun = self._used()
        self._is_put_off = False

    @property
    def doing(self) -> str:
        """What the run waits for."""
        return self.account.doing

    @doing.setter
    def doing(self, text: str) -> None:
        self.account.doing = text

    def keep(self, size: int) -> bool:
        """Count so many bytes of memory for an answer that the run keeps; False: together too much."""
        self.account.kept += size
        return self.account.kept <= MOST_KEPT

    def left(self) -> float:
        """Seconds that may still be spent on asking, never negative.

        A tenth of the time, at most half a second, is kept back for the report: if an answer comes
        too late, whoever waited for it can then still report it.
        """
        if self._within:
            return max(0.0, min(self.seconds - self._used() + self._begun, self._within.left()))
        return self.account.left()

    def _used(self) -> float:
        return self.clock() + self.account.rested

    def until_end(self) -> float:
        """Seconds until the run is ended, whatever it does then; negative if it is overdue."""
        return self.account.end - time.monotonic()

    def part(self, seconds: float) -> Deadline:
        """Give a deadline of so many seconds at most for something besides; time that we lose is added."""
        return Deadline(min(seconds, self.left()), self)

    def extend(self, seconds: float) -> None:
        """Allow so many seconds more, for something that was asked for and takes its time."""
        self.seconds += seconds
        self.account.seconds = self.seconds
        self.account.end += seconds
        self.extended()

    def wait(self, step: Callable[[float], Done], *, for_answer: bool = True) -> Done:
        """Wait for a server: do ``step``, which takes the seconds of a tick, until it does not time out.

        With ``for_answer=False`` the server still counts as silent: a kernel took what was sent. Raises
        TimeoutError if the server did nothing in its time, and TimeUpError if the time of the run is up and
        the server had too little of it. Before that, ``step`` is done once more, almost without waiting.
        """
        account, has_looked = self.account, False
        account.waits, account.in_vain_at = True, -math.inf
        try:
            while left := self._left_to_wait():
                tick, begun = max(_SHORTEST, min(left, TICK)), time.monotonic()
                try:
                    done = step(tick)
                except TimeoutError as error:
                    if error.errno:  # of the system: the connection broke
                        raise
                    account.silent += self._count(time.monotonic() - begun, tick)
                    has_looked = True
                else:
                    self._count(time.monotonic() - begun, tick)
                    account.silent *= not for_answer
                    return done
            is_over = not account.left()
            if has_looked or (is_over and not account.has_looked_again):
                account.has_looked_again = is_over
                with suppress(TimeoutError):
                    done = step(_SHORTEST)
                    account.silent *= not for_answer
                    return done
            if is_over and not account.may_blame():
                raise TimeUpError(self.overdue())
            account.in_vain_at = time.monotonic() if is_over else -math.inf
            raise TimeoutError
        finally:
            account.waits = False

    def _left_to_wait(self) -> float:
        """Return the seconds that are left; of a part also those of the run, as long as we lost too many."""
        return self.left() or (self.account.left() if self._within and self.account.lost() else 0.0)

    def _count(self, took: float, tick: float) -> float:
        """Count a tick of a wait, and return the seconds of it that somebody had."""
        waited = min(took, tick)
        self.account.waited += waited
        self.account.overshot += took - waited
        return waited

    def rest(self, seconds: float) -> None:
        """Let so much time pass, as between two looks."""
        seconds, begun = max(0.0, seconds), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - begun
        self.account.rested += min(took, seconds)
        self.account.overshot += max(0.0, took - seconds)

    def clock(self) -> float:
        """Seconds by a clock that stands still while we rest or have no time: for how long an answer took."""
        return self.account.waited + self.account.computed()

    def must_have_had_time(self) -> None:
        """Raise TimeUpError if we lost more time than is left: what is missing is nobody else's fault."""
        if self.account.lost() > self.account.left():
            starved = self.account.starved()
            raise TimeUpError(no_verdict(starved, self.account.seconds) if starved else self.short())

    def short(self) -> str:
        """Give the sentence that a run has hardly any time left to ask."""
        account = self.account
        return f"this check had {_rounded(account.left())} of {say_duration(account.seconds)} left"

    def put_off(self) -> bool:
        """Move the end a little, once, if a server is waited for: so the wait times out, and is reported."""
        if not self.account.waits or self._is_put_off:
            return False
        self._is_put_off = True
        self.account.end = max(self.account.end, time.monotonic() + GRACE)
        self.extended()
        return True

    def waits_in_vain(self) -> bool:
        """Whether a server that had its time was waited for until the time of the run was up."""
        account = self.account
        just_now = time.monotonic() - account.in_vain_at < _REPORTED
        return just_now or (account.waits and account.may_blame())

    def overdue(self) -> str:
        """Give the sentence that ends the run if there is no verdict now."""
        account = self.account
        doing = f": {self.doing}" if self.doing else ""
        if self.waits_in_vain():
            return f"no answer within {say_duration(account.seconds)}{doing}"
        starved = account.starved()
        if account.waits and not starved:
            whole = say_duration(account.seconds)
            return f"this check had only {_rounded(account.silent)} of {whole} for an answer{doing}"
        return no_verdict(starved, account.seconds) + doing

    def end(self) -> None:
        """Kill the children and send the farewells: nothing may delay the end, and nobody reads any more."""
        self.children.kill()
        for last in [*self.farewells]:
            with suppress(Exception, TimeUpError):
                last()
        self.farewells.clear()


def no_verdict(starved: float, seconds: float) -> str:
    """Give the sentence that ends a run of so many ``seconds``; ``starved`` are those without a processor."""
    whole = say_duration(seconds)
    if starved:
        return f"this check got no processor time for {_rounded(min(starved, seconds))} of {whole}"
    return f"no verdict within {whole}"


def _rounded(seconds: float) -> str:
    return say_duration(round(seconds, 1))


def _queued_most(process: int) -> float:
    """Return how long the thread of a process has waited for a processor that has waited longest, seconds."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:  # it has ended
        return 0.0
    return max((_queued(process, thread) for thread in threads), default=0.0)


def _queued(process: int | str, thread: int | str) -> float:
    """Return how long a thread has waited for a processor, in seconds; 0.0: it is not counted.

    The second number of its schedstat, in nanoseconds (Linux, Documentation/scheduler/sched-stats).
    """
    try:
        file = os.open(f"/proc/{process}/task/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 100).split()[1]) / 1e9
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return 0.0
