"""What the runs of a query come to."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.line import shorten
from stallwatch.probes.mysql_query.percentile import percentile
from stallwatch.probes.mysql_query.runs import ENOUGH, READ_ONLY, is_ours
from stallwatch.reading import Fault, Reading, State
from stallwatch.run import DOUBTFUL
from stallwatch.sources.mysql import NoAnswerError, UnreachableError
from stallwatch.units import say_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stallwatch.probes.mysql_query.query import Answer
    from stallwatch.probes.mysql_query.runs import Runs
    from stallwatch.reading import Finding

P95, P50, MAX, CONNECTION, ROWS = "p95", "p50", "max", "connection", "rows"
_SLOW = "look at what runs beside it (SHOW FULL PROCESSLIST), and EXPLAIN it"
_WAITS = "look at what it waits for: SHOW FULL PROCESSLIST"
_SLOW_LOG_IN = "look at the network, at name look-ups (skip_name_resolve), and at connections per second"
_WRITES = "if it is to write: --allow-writes"
_LONGEST = 40  # bytes of a result: it may be nobody's business


class Telling(NamedTuple):
    """Who is told: what the answer is to be (None: anything), and what is critical."""

    expected: str | None
    is_critical: Callable[[str, float], bool]

    def findings(self, runs: Runs) -> Iterator[Finding]:
        """Tell it all; raises UnreachableError, at the end, if nobody is there any more."""
        yield from self.readings(runs)
        yield from self._unexpected(runs.answers)
        yield from _failures(runs)

    def readings(self, runs: Runs) -> Iterator[Finding]:
        """Tell the numbers."""
        if runs.answers:
            yield from self._times([one.seconds for one in runs.answers])
        if runs.log_ins:
            yield self._log_in(runs.log_ins)
        if runs.answers and (rows := runs.answers[-1].rows) is not None:
            yield Reading(ROWS, rows, what=f"{rows} row{'s' * (rows != 1)}")
        tried, wanted = len(runs.answers) + len(runs.failed), runs.plan.times
        if runs.answers and tried < wanted and not runs.failed:
            yield Fault(State.OK, f"{tried} of {wanted} runs: a longer --timeout has time for more")

    def _times(self, seconds: Sequence[float]) -> Iterator[Reading]:
        p95, p50, slowest = percentile(seconds, 95), percentile(seconds, 50), max(seconds)
        said = f"p95 {say_duration(p95)}, p50 {say_duration(p50)}, max {say_duration(slowest)}"
        said = f"{said} of {len(seconds)} runs" if len(seconds) > 1 else f"answered in {say_duration(p95)}"
        yield Reading(self._name(P95, seconds), _rounded(p95), "s", said, advice=_SLOW)
        yield Reading(
            P50, _rounded(p50), "s", f"half of the runs took up to {say_duration(p50)}", in_table=True
        )
        said = f"the slowest run took {say_duration(slowest)}: {said}"
        yield Reading(MAX, _rounded(slowest), "s", said, advice=_WAITS, in_table=True)

    def _log_in(self, seconds: Sequence[float]) -> Reading:
        p95 = percentile(seconds, 95)
        said = f"connected in {say_duration(p95)}"
        if len(seconds) > 1:
            said += f" (p95 of {len(seconds)}, p50 {say_duration(percentile(seconds, 50))})"
        return Reading(self._name(CONNECTION, seconds), _rounded(p95), "s", said, advice=_SLOW_LOG_IN)

    def _name(self, name: str, seconds: Sequence[float]) -> str:
        """Tell the one slow run of several from a query that is slow: the next may be good."""
        second = sorted(seconds)[-2:][0]
        return name if self.is_critical(name, second) else f"{DOUBTFUL}{name}"

    def _unexpected(self, answers: Sequence[Answer]) -> Iterator[Fault]:
        others = [one for one in answers if one.first != self.expected]
        if self.expected is None or not others:
            return
        what = f"{_said(others[0])} came, not {_quoted(self.expected)}"
        every = len(others) == len(answers)
        why = "" if every else f"in {len(others)} of {len(answers)} runs"
        yield Fault(State.CRITICAL if every else State.WARNING, what, why)


def _failures(runs: Runs) -> Iterator[Finding]:
    if not runs.failed:
        return
    error, failed, answered = runs.failed[-1], len(runs.failed), len(runs.answers)
    if is_ours(error):
        error.advice = error.advice or (_WRITES if error.number == READ_ONLY else "")
        yield error
        return
    lasts = failed >= ENOUGH or not answered
    if lasts and isinstance(error, UnreachableError):
        raise error
    advice = error.advice or (_WAITS if isinstance(error, NoAnswerError) else "")
    why = f"{failed} of {failed + answered} runs failed"
    yield Fault(State.CRITICAL if lasts else State.WARNING, error.what, why, advice)


def _said(answer: Answer) -> str:
    if not answer.rows:
        return "no row"
    return "NULL" if answer.first is None else _quoted(answer.first)


def _quoted(text: str) -> str:
    return f'"{shorten(text, _LONGEST)}"'


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
