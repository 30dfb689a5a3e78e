"""Where sources pass what they ask, so that it can be recorded, or answered from a recording.

MySQL, JMX, ``ndb_mgm`` and what looks at this host ask through ``answer``. Within ``use`` a recorder writes
each question and its answer, or a player answers and nobody is asked (``tests/recorded/record_and_play.py``
has both), for one run at a time. Logs and backups are files, which can be kept as they are.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from itertools import count

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    # The name of the source, the place that it asks, and the number of its log-in there; 0: it has none.
    Source = tuple[str, str, int]
    Ask = TypeVar("Ask", bound=Callable[..., Any])

LOG_IN = ("log in",)  # the question that begins the log-in of this number
_HOST = ("host", "", 0)
_LOG_INS = count(1)
_used: list[Any] = []


def answer(of: Source, asked: tuple[Any, ...], ask: Callable[..., Any], *to: Any) -> Any:
    """Return ``ask(*to)``, the answer to what was ``asked``, as JSON may hold it; see ``use``."""
    return _used[-1].answer(of, asked, ask, *to) if _used else ask(*to)


def log_in(source: str, where: str) -> Source:
    """Return what stands for a new log-in."""
    return source, where, next(_LOG_INS)


def of_host(ask: Ask) -> Ask:
    """Pass the questions of a function about this host through ``answer``, each with its arguments."""
    name = f"{ask.__module__.rpartition('.')[2]}.{ask.__name__}"  # kernel.uptime

    @wraps(ask)
    def passed(*about: Any) -> Any:
        return answer(_HOST, (name, *about), ask, *about)

    return passed  # type: ignore[return-value]


def is_used() -> bool:
    """Whether answers are recorded, or are from a recording."""
    return bool(_used)


@contextmanager
def use(tape: Any) -> Iterator[None]:
    """Pass all questions to ``tape.answer``, that of a recorder or a player."""
    _used.append(tape)
    try:
        yield
    finally:
        _used.pop()
