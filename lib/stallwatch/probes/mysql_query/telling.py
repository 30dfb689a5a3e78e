"""What the runs of a query come to."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, Reading, State
from stallwatch.line import shorten
from stallwatch.probes.mysql_query.percentile import percentile
from stallwatch.probes.mysql_query.runs import READ_ONLY, is_ours
from stallwatch.sources.mysql import NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_query.query import Answer
    from stallwatch.probes.mysql_query.runs import Left, Runs
    from stallwatch.sources.mysql import MysqlError

P95, P50, MAX, CONNECTION, ROWS = "p95", "p50", "max", "connection", "rows"
_SLOW = "look at what runs beside it (SHOW FULL PROCESSLIST)"
_WAITS = "look at what it waits for: SHOW FULL PROCESSLIST"
_STILL = "see if the query still runs{} (SHOW FULL PROCESSLIST)"
_SLOW_LOG_IN = "look at the network, at name look-ups (skip_name_resolve), and at connections per second"
_WRITES = "if it is to write: --allow-writes"
_LONGEST = 40  # bytes of a result: it may be nobody's business


class Telling(NamedTuple):
    """Who is told: what the answer is to be (None: anything), what is critical, whose query it is, and it."""

    expected: str | None
    is_critical: Callable[[str, float], bool]
    given: bool
    sql: str = ""

    def findings(self, runs: Runs) -> Iterator[Finding]:
        """Tell it all; raises UnreachableError, at the end, if nobody is there any more."""
        yield from self.readings(runs)
        yield from self._unexpected([one for one in runs.answers if not one.cut])
        if error := runs.log_in_failed:
            fault = Fault(State.WARNING, error.what, "a second log-in, as the first was slow", error.advice)
            yield error if error.always_unknown else fault
        yield from (Fault(State.OK, f"the query may still run{_where([one])}", one.why) for one in runs.left)
        yield from _failures(runs)

    def readings(self, runs: Runs) -> Iterator[Finding]:
        """Tell the numbers."""
        if runs.answers:
            yield from self._times(runs)
        if runs.log_ins:
            yield self._log_in(runs.log_ins)
        yield from self._rows([one.rows for one in runs.answers if one.rows is not None])
        tried, wanted = len(runs.answers) + len(runs.failed), runs.plan.times
        if runs.answers and tried < wanted and not runs.failed:
            yield Fault(State.OK, f"{tried} of {wanted} runs: a longer --timeout has time for more")

    def _times(self, runs: Runs) -> Iterator[Reading]:
        seconds = [one.seconds for one in runs.answers]
        p95, p50, slowest = percentile(seconds, 95), percentile(seconds, 50), max(seconds)
        said = f"p95 {say_duration(p95)}, p50 {say_duration(p50)}, max {say_duration(slowest)}"
        said = f"{said} of {len(seconds)} runs" if len(seconds) > 1 else f"answered in {say_duration(p95)}"
        if runs.answers[-1].cut:
            said += f", the last without an answer in {say_duration(seconds[-1])}"
            said += f", and may still run{_where(runs.left)}" if runs.left else ""
        advice = _SLOW + ", and EXPLAIN it" * self.given
        lasts = self._lasts(P95, seconds, alone=runs.plan.times == 1)
        yield Reading(P95, _rounded(p95), "s", said, advice=advice, confirmed=lasts)
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
        lasts = self._lasts(CONNECTION, seconds)
        return Reading(CONNECTION, _rounded(p95), "s", said, advice=_SLOW_LOG_IN, confirmed=lasts)

    def _rows(self, numbers: Sequence[int]) -> Iterator[Reading]:
        """Tell the least and the most: what is critical in some runs and not in others may be good again."""
        if not numbers:
            return
        least, most = min(numbers), max(numbers)
        lasts = all(self.is_critical(ROWS, one) for one in numbers)
        what = plural(least, "row") if least == most else f"{least} to {most} rows"
        yield Reading(ROWS, least, what=what, confirmed=lasts)
        if most != least:
            what = f"{most} rows in a run"
            yield Reading(ROWS, most, what=what, label="", in_table=True, confirmed=lasts)

    def _lasts(self, name: str, seconds: Sequence[float], *, alone: bool = False) -> bool:
        """Tell the one slow run of several from a query that is slow: the next may be good."""
        second = sorted(seconds)[-2:][0]
        return (len(seconds) > 1 or alone) and self.is_critical(name, second)

    def _unexpected(self, answers: Sequence[Answer]) -> Iterator[Fault]:
        others = [one for one in answers if one.first != self.expected]
        if self.expected is None or not others:
            return
        what = f"{_said(others[0], self.sql)} came, not {_quoted(self.expected)}"
        every = len(others) == len(answers)
        why = "" if every else f"in {len(others)} of {len(answers)} runs"
        yield Fault(State.CRITICAL if every else State.WARNING, what, why)


def _failures(runs: Runs) -> Iterator[Finding]:
    ours = [error for error in runs.failed if is_ours(error)]
    others = [error for error in runs.failed if not is_ours(error)]
    for error in ours:
        error.advice = error.advice or (_WRITES if error.number == READ_ONLY else "")
        yield error
    if not others:
        return
    *earlier, last = {error.what: error for error in others}.values()
    why = f"{len(others)} of {len(runs.failed) + len(runs.answers)} runs failed"
    for error in earlier:
        yield Fault(State.WARNING, error.what, why, _advice(error, runs))
    if runs.lasts and isinstance(last, UnreachableError):
        raise last
    yield Fault(State.CRITICAL if runs.lasts else State.WARNING, last.what, why, _advice(last, runs))


def _advice(error: MysqlError, runs: Runs) -> str:
    if not isinstance(error, NoAnswerError):
        return error.advice
    return _STILL.format(_where(runs.left)) if runs.left else error.advice or _WAITS


def _where(left: Sequence[Left]) -> str:
    """Say as which connections runs may go on; "" where their numbers are not known."""
    numbers = [str(one.connection) for one in left if one.connection]
    return f" as connection{'s' * (len(numbers) > 1)} {' and '.join(numbers)}" if numbers else ""


def _said(answer: Answer, sql: str) -> str:
    if not answer.rows:
        return "no row"
    return "NULL" if answer.first is None else _quoted(withheld.data(answer.first, sql))


def _quoted(text: str) -> str:
    return f'"{shorten(text, _LONGEST)}"'


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
