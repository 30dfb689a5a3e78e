"""The words and the numbers for what came of the runs."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.line import shorten
from stallwatch.probes.mysql_query.diagnosis import is_lasting
from stallwatch.probes.mysql_query.model import CONNECTION, MAX, P50, P95, ROWS, percentile
from stallwatch.probes.mysql_query.queries import READ_ONLY, is_ours
from stallwatch.sources.mysql import NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import named, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_query.collect import Left, Runs
    from stallwatch.probes.mysql_query.diagnosis import Rules
    from stallwatch.probes.mysql_query.model import Answer
    from stallwatch.sources.mysql import MysqlError

_SLOW = "look at what runs beside it (SHOW FULL PROCESSLIST)"
_WAITS = "look at what it waits for: SHOW FULL PROCESSLIST"
_STILL = "see if the query still runs{} (SHOW FULL PROCESSLIST)"
_SLOW_LOG_IN = "look at the network, at name look-ups (skip_name_resolve), and at connections per second"
_WRITES = "if it is to write: --allow-writes"
_LONGEST = 40  # bytes of a result: it may be nobody's business


def all_of_it(runs: Runs, rules: Rules) -> Iterator[Finding]:
    """Say all that was found; raises UnreachableError, at the end, if nobody is there any more."""
    yield from numbers(runs, rules)
    yield from _unexpected(runs, rules)
    if error := runs.log_in_failed:
        fault = Fault(State.WARNING, error.what, "a second log-in, as the first was slow", error.advice)
        yield error if error.always_unknown else fault
    yield from (Fault(State.OK, f"the query may still run{_where([one])}", one.why) for one in runs.left)
    yield from _failures(runs)


def numbers(runs: Runs, rules: Rules) -> Iterator[Finding]:
    """Say how long it took and how many rows came."""
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
    what = f"p95 {say_duration(p95)}, p50 {say_duration(p50)}, max {say_duration(slowest)}"
    what = f"{what} of {len(seconds)} runs" if len(seconds) > 1 else f"answered in {say_duration(p95)}"
    if runs.answers[-1].cut:
        what += f", the last without an answer in {say_duration(seconds[-1])}"
        what += f", and may still run{_where(runs.left)}" if runs.left else ""
    advice = _SLOW + ", and EXPLAIN it" * runs.query.is_given
    confirmed = rules.is_slow(P95, seconds, alone=runs.plan.times == 1)
    yield Reading(P95, _rounded(p95), "s", what, advice=advice, confirmed=confirmed)
    half = f"half of the runs took up to {say_duration(p50)}"
    yield Reading(P50, _rounded(p50), "s", half, in_table=True)
    what = f"the slowest run took {say_duration(slowest)}: {what}"
    yield Reading(MAX, _rounded(slowest), "s", what, advice=_WAITS, in_table=True)


def _log_in(seconds: Sequence[float], rules: Rules) -> Reading:
    p95 = percentile(seconds, 95)
    what = f"connected in {say_duration(p95)}"
    if len(seconds) > 1:
        what += f" (p95 of {len(seconds)}, p50 {say_duration(percentile(seconds, 50))})"
    confirmed = rules.is_slow(CONNECTION, seconds)
    return Reading(CONNECTION, _rounded(p95), "s", what, advice=_SLOW_LOG_IN, confirmed=confirmed)


def _rows(counts: Sequence[int], rules: Rules) -> Iterator[Reading]:
    """Say the least and the most: what is critical in some runs and not in others may be good again."""
    if not counts:
        return
    least, most = min(counts), max(counts)
    confirmed = all(rules.is_critical(ROWS, one) for one in counts)
    what = plural(least, "row") if least == most else f"{least} to {most} rows"
    yield Reading(ROWS, least, what=what, confirmed=confirmed)
    if most != least:
        what = f"{most} rows in a run"
        yield Reading(ROWS, most, what=what, label="", in_table=True, confirmed=confirmed)


def _unexpected(runs: Runs, rules: Rules) -> Iterator[Fault]:
    answers = [one for one in runs.answers if not one.cut]
    others = rules.unexpected(answers)
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
    for error in earlier:
        yield Fault(State.WARNING, error.what, why, _advice(error, runs))
    if is_lasting(runs) and isinstance(last, UnreachableError):
        raise last
    state = State.CRITICAL if is_lasting(runs) else State.WARNING
    yield Fault(state, last.what, why, _advice(last, runs))


def _advice(error: MysqlError, runs: Runs) -> str:
    if not isinstance(error, NoAnswerError):
        return error.advice
    return _STILL.format(_where(runs.left)) if runs.left else error.advice or _WAITS


def _where(left: Sequence[Left]) -> str:
    """Say as which connections runs may go on; "" where their numbers are not known."""
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
