"""One run of the check: run the query as often as is wanted, judge the answers, report the result.

Slow is what is slow more than once; wrong is another answer than the expected one, or none.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import Forms, shorten
from stallwatch.probes.mysql_query.collect import ENOUGH, Runs
from stallwatch.probes.mysql_query.queries import READ_ONLY, is_ours
from stallwatch.sources.mysql import NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import named, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from stallwatch.deadline import Deadline
    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_query.collect import Left, Plan
    from stallwatch.probes.mysql_query.queries import Answer, Query
    from stallwatch.sources.mysql import MysqlError, Server

_SLOW = "look at what runs beside it"
_WAITS = "look at what it waits for: SHOW FULL PROCESSLIST"
_STILL = "see if the query still runs{} (SHOW FULL PROCESSLIST)"
_SLOW_LOG_IN = "look at the network, at name look-ups (skip_name_resolve), and at connections per second"
_WRITES = "if it is to write: --allow-writes"
_LONGEST = 40  # bytes of a result: it may be nobody's business


class Rules(NamedTuple):
    """How runs are judged."""

    is_critical: Callable[[str, float], bool]  # whether the critical threshold of a quantity alerts
    expected: str | None = None  # what the first column of the first row is to be; None: anything

    def is_critical_twice(self, name: str, seconds: Sequence[float]) -> bool:
        """Return a query that is slow from one slow run of several: the next may be good."""
        return len(seconds) > 1 and self.is_critical(name, sorted(seconds)[-2])


def findings(
    run: Run, connect: Callable[[Deadline], Server], query: Query, plan: Plan, rules: Rules
) -> Iterator[Finding]:
    """Ask the query; ``connect`` logs in, to ask until a deadline. Raises UnreachableError, at the end."""
    runs = Runs(connect, query, plan, run.deadline)
    for _ in runs.take():
        run.so_far(_numbers(runs, rules))
    if len(runs.log_ins) == 1 and rules.is_critical("connection", runs.log_ins[0]):
        runs.log_in_again()
    yield from _numbers(runs, rules)
    yield from _unexpected(runs, rules)
    if error := runs.log_in_failed:
        fault = Fault(State.WARNING, error.what, "a second log-in, as the first was slow", error.advice)
        yield error if error.state is State.UNKNOWN else fault
    yield from (Fault(State.OK, f"the query may still run{_where([one])}", one.why) for one in runs.left)
    yield from _failures(runs)


def percentile(values: Iterable[float], share: int) -> float:
    """Give the least of the values that ``share`` per cent of them do not exceed; there is at least one.

    That is the nearest rank, definition 1 of Hyndman and Fan, "Sample Quantiles in Statistical Packages"
    (The American Statistician, 1996): always a value that was measured, never one between two of them.
    """
    ranked = sorted(values)
    return ranked[max(0, -(-share * len(ranked) // 100) - 1)]


def _numbers(runs: Runs, rules: Rules) -> Iterator[Finding]:
    """Return how long it took and how many rows came."""
    if runs.answers:
        yield from _times(runs, rules)
    if runs.log_ins:
        yield _log_in(runs.log_ins, rules)
    yield from _rows([one.rows for one in runs.answers if one.rows is not None], rules)
    tried, wanted = len(runs.answers) + len(runs.failed), runs.plan.times
    if runs.answers and tried < wanted and not runs.failed:
        yield Fault(State.OK, f"{tried} of {wanted} runs: a longer --timeout has time for more")


def _times(runs: Runs, rules: Rules) -> Iterator[Reading]:
    seconds = [one.seconds for one in runs.answers]
    p95, p50, slowest = percentile(seconds, 95), percentile(seconds, 50), max(seconds)
    what, then = f"answered in {say_duration(p95)}", ""
    if len(seconds) > 1:
        what = f"p95 {say_duration(p95)}"
        then = f", p50 {say_duration(p50)}, max {say_duration(slowest)} of {len(seconds)} runs"
    if runs.answers[-1].cut:
        late = f", the last without an answer in {say_duration(seconds[-1])}"
        late += f", and may still run{_where(runs.left)}" if runs.left else ""
        then = Forms(then + late, late)
    advice = Forms(f"{_SLOW} (SHOW FULL PROCESSLIST){', and EXPLAIN it' * runs.query.is_given}", _SLOW)
    confirmed = runs.plan.times == 1 or rules.is_critical_twice("p95", seconds)
    yield Reading("p95", _rounded(p95), "s", what, "", advice, confirmed=confirmed, line=Line(then))
    half = f"half of the runs took up to {say_duration(p50)}"
    yield Reading("p50", _rounded(p50), "s", half, in_table=True)
    what = f"the slowest run took {say_duration(slowest)}: {what}{then}"
    yield Reading("max", _rounded(slowest), "s", what, advice=_WAITS, in_table=True)


def _log_in(seconds: Sequence[float], rules: Rules) -> Reading:
    p95 = percentile(seconds, 95)
    what = f"connected in {say_duration(p95)}"
    if len(seconds) > 1:
        what += f" (p95 of {len(seconds)}, p50 {say_duration(percentile(seconds, 50))})"
    confirmed = rules.is_critical_twice("connection", seconds)
    return Reading("connection", _rounded(p95), "s", what, advice=_SLOW_LOG_IN, confirmed=confirmed)


def _rows(counts: Sequence[int], rules: Rules) -> Iterator[Reading]:
    """Write the least and the most: what is critical in some runs and not in others may be good again."""
    if not counts:
        return
    least, most = min(counts), max(counts)
    confirmed = all(rules.is_critical("rows", one) for one in counts)
    what = plural(least, "row") if least == most else f"{least} to {most} rows"
    yield Reading("rows", least, what=what, confirmed=confirmed)
    if most != least:
        what = f"{most} rows in a run"
        yield Reading("rows", most, what=what, label="", in_table=True, confirmed=confirmed)


def _unexpected(runs: Runs, rules: Rules) -> Iterator[Fault]:
    answers = [one for one in runs.answers if not one.cut]
    others = [one for one in answers if rules.expected not in (None, one.first)]
    if not others:
        return
    what = f"{_first(others[0], runs.query.sql)} came, not {_quoted(rules.expected or '')}"
    every = len(others) == len(answers)
    why = "" if every else f"in {len(others)} of {len(answers)} runs"
    yield Fault(State.CRITICAL if every else State.WARNING, what, why)


def _failures(runs: Runs) -> Iterator[Finding]:
    others = [error for error in runs.failed if not is_ours(error)]
    for error in runs.failed:
        if error not in others:
            yield ProbeError(error.what, error.advice or (_WRITES if error.number == READ_ONLY else ""))
    if not others:
        return
    *earlier, last = {error.what: error for error in others}.values()
    why = f"{len(others)} of {len(runs.failed) + len(runs.answers)} runs failed"
    is_lasting = len(runs.failed) >= ENOUGH or runs.hangs or not runs.answers
    is_gone = is_lasting and isinstance(last, UnreachableError)
    for error in earlier:
        is_the_same = is_gone and isinstance(error, UnreachableError)  # what --unreachable is to judge, once
        state = State.OK if is_the_same else State.WARNING
        yield Fault(state, error.what, why, _advice(error, runs))
    if is_gone:
        raise last
    yield Fault(State.CRITICAL if is_lasting else State.WARNING, last.what, why, _advice(last, runs))


def _advice(error: MysqlError, runs: Runs) -> str:
    if not isinstance(error, NoAnswerError):
        return error.advice
    return _STILL.format(_where(runs.left)) if runs.left else error.advice or _WAITS


def _where(left: Sequence[Left]) -> str:
    """Return as which connections runs may go on; "" where their numbers are not known."""
    connections = [str(one.connection) for one in left if one.connection]
    return f" as {named('connection', connections)}" if connections else ""


def _first(answer: Answer, sql: str) -> str:
    if not answer.rows:
        return "no row"
    return "NULL" if answer.first is None else _quoted(withheld.data(answer.first, sql))


def _quoted(text: str) -> str:
    return f'"{shorten(text, _LONGEST)}"'


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
