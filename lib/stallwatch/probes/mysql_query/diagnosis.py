"""What is wrong: slow more than once, not the answer that is expected, or no answer."""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.mysql_query.collect import ENOUGH
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from stallwatch.probes.mysql_query.collect import Runs
    from stallwatch.probes.mysql_query.model import Answer


class Rules(NamedTuple):
    """How runs are judged."""

    alerts: Callable[[str, float, State], bool]  # whether a threshold of a quantity alerts on a value
    expected: str | None = None  # what the first column of the first row is to be; None: anything

    def is_critical(self, name: str, value: float) -> bool:
        """Whether the critical threshold of a quantity alerts on a value."""
        return self.alerts(name, value, State.CRITICAL)

    def is_slow(self, name: str, seconds: Sequence[float], *, alone: bool = False) -> bool:
        """Tell the one slow run of several from a query that is slow: the next may be good."""
        second = sorted(seconds)[-2:][0]
        return (len(seconds) > 1 or alone) and self.is_critical(name, second)

    def unexpected(self, answers: Iterable[Answer]) -> list[Answer]:
        """List those that are not what is expected."""
        return [one for one in answers if self.expected not in (None, one.first)]


def is_lasting(runs: Runs) -> bool:
    """Whether it is no accident that there is no answer."""
    return len(runs.failed) >= ENOUGH or runs.hangs or not runs.answers
