"""Calls that leave without waiting for the answers to those before them: one round trip for many."""

from __future__ import annotations

from collections import deque

from stallwatch.sources.jmx.errors import UnreachableError, UnreadableError
from stallwatch.sources.jmx.rmi import FAILURES, NoJrmpError
from stallwatch.sources.jmx.wire import LostError, SilentError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.sources.jmx.rmi import Link
    from stallwatch.sources.jmx.session import Session

# Bytes of calls without an answer. More than the two sockets can hold would block us and the server for ever.
_WINDOW = 32 * 1024


class _Asked(NamedTuple):
    """A call on its way: ``then`` gets what came back, an object or one of FAILURES."""

    call: bytes
    about: tuple[str, ...]
    then: Callable[[Any], None]
    several: bool  # things that can be asked for one by one


class Pipeline:
    """The calls of one session. All are reads, so what a lost connection swallowed is asked again, once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._link: Link | None = None
        self._unsent: deque[_Asked] = deque()
        self._sent: deque[_Asked] = deque()
        self._octets = 0  # of all calls without an answer
        self._out = 0  # of those that have left
        self._lost_once: _Asked | None = None  # for which a connection has ended already
        self._late: list[_Asked] = []  # that got no answer in their share of the time, and were put last

    @property
    def has_room(self) -> bool:
        """Whether another call would leave soon."""
        return self._octets < _WINDOW

    def ask(
        self, call: bytes, about: tuple[str, ...], then: Callable[[Any], None], *, several: bool = False
    ) -> None:
        """Make a call; ``about`` names the question, ``then`` gets the answer in a later ``step``.

        ``several``: ``then`` can ask for the things one by one, if it is given a failure.
        """
        self._unsent.append(_Asked(call, about, then, several))
        self._octets += len(call)

    def step(self) -> None:
        """Wait for the next answer and hand it on."""
        asked = self._sent[0] if self._sent else self._unsent[0]
        try:
            link = self._send()
            found = link.answer()
        except SilentError:
            self._silent(asked)
            return
        except LostError:
            self._lost(asked)
            return
        except NoJrmpError:
            raise UnreachableError(f"{self._session.where} no longer speaks RMI") from None
        except FAILURES as failure:
            found = failure.with_traceback(None)  # which would keep all that had been read so far
        self._done(asked, found, go_on=link.usable)

    def _done(self, asked: _Asked, found: Any, *, go_on: bool) -> None:
        """Hand on what came back; unless they may ``go_on``, the others are asked over a new connection."""
        self._sent.popleft()
        self._octets -= len(asked.call)
        self._out -= len(asked.call)
        if not go_on:
            self._send_again()
        asked.then(found)

    def _silent(self, asked: _Asked) -> None:
        """Put a call last that got no answer in its share of the time, and go on with the others.

        If the server answers something else meanwhile, this hangs by itself, which costs nothing but what it
        asked for. A getter that hangs keeps its connection, so that the others need a new one.
        """
        hangs = asked.several or ((self._is_last or asked in self._late) and self._session.answers())
        if self._sent and hangs:
            why = UnreadableError(f"no answer within {say_duration(self._session.waited)}")
            self._done(asked, why, go_on=False)
        elif self._sent and self._session.has_time:
            self._late.append(asked)
            self._send_again()
            self._unsent.append(self._unsent.popleft())
        else:
            raise self._session.silent("for " + " of ".join(asked.about)) from None

    @property
    def _is_last(self) -> bool:
        """Whether a single call is open."""
        return len(self._sent) + len(self._unsent) == 1

    def _send(self) -> Link:
        """Send what may leave, once half of what has left is answered: many calls a segment."""
        link = self._link = self._link or self._session.link()
        first = (self._sent or self._unsent)[0]
        link.within(self._session.share(among_others=first.several or not self._is_last))
        if not self._unsent or self._out > _WINDOW // 2:
            return link
        leaving: list[_Asked] = []
        while self._unsent and (self._out < _WINDOW or not leaving):
            leaving.append(self._unsent.popleft())
            self._out += len(leaving[-1].call)
        self._sent.extend(leaving)
        link.send(*(asked.call for asked in leaving))
        return link

    def _lost(self, asked: _Asked) -> None:
        if asked is self._lost_once:
            raise UnreachableError(
                f"{self._session.rmi_where} closed the connection when asked for {' of '.join(asked.about)}",
                "look into its log",
            )
        self._lost_once = asked
        self._send_again()

    def _send_again(self) -> None:
        """Let the rest leave over a new connection."""
        self._link = None
        self._unsent.extendleft(reversed(self._sent))
        self._sent.clear()
        self._out = 0


def in_order(pipeline: Pipeline, asked: Iterable[Any]) -> Iterator[Any]:
    """Give what was asked as it gets ready, in order, while more is being asked."""
    waiting: deque[Any] = deque()
    for one in asked:
        waiting.append(one)
        while not pipeline.has_room and not waiting[0].ready:
            pipeline.step()
        while waiting and waiting[0].ready:
            yield waiting.popleft()
    while waiting:
        while not waiting[0].ready:
            pipeline.step()
        yield waiting.popleft()
