"""The words and the numbers for what was found: who blocks whom, what it does, and what to do about it."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import shorten
from stallwatch.probes.innodb_locks import heads, transactions
from stallwatch.probes.innodb_locks.collect import DEADLOCKS, TIMEOUTS, WAITS
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.graph import ROW
from stallwatch.probes.mysql.locks.metadata import MOST as LOCKS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration, say_rate
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.innodb_locks.diagnosis import Blocked, Head
    from stallwatch.probes.innodb_locks.model import Found

BLOCKED, USER_LOCK, TRANSACTION = "blocked", "user_lock", "transaction"  # quantities that are judged
MOST_HEADS = 5  # heads that are reported; any more are left out
_STATEMENT = 200  # bytes of a statement on a line
_DAY = 86_400.0  # seconds: so old a deadlock that was before the first look is shown
_MOST_WAITS = 5  # of a circle, one on each line


def all_of_it(found: Found, run: Run) -> Iterator[Finding]:
    """Return who blocks whom, then which transactions are old, then the numbers and what is not known."""
    blocked = [*_blocked(found, run)]
    yield from blocked
    yield _transaction(found, run)
    for one in _counts(found):  # waits that time out are a symptom of who blocks
        yield one._replace(in_table=one.name == "timeouts" and any(map(run.is_problem, blocked)))
    yield from _asides(found)


def _blocked(found: Found, run: Run) -> Iterator[Reading]:
    told = [_head(found, one, run) for one in found.heads[:MOST_HEADS]]
    told += [_circle(found, one, run) for one in found.circles]
    told += [_unexplained(found, one, run) for one in found.unexplained]
    for name in (BLOCKED, USER_LOCK):
        of_it = sorted((one for one in told if one.name == name), key=lambda one: -(one.value or 0.0))
        if not of_it:
            summary = _summary(found) if name == BLOCKED else "no user lock blocks anybody"
            yield Reading(name, 0, "s", summary, line=Line(), in_table=name == USER_LOCK)
        for place, one in enumerate(of_it):
            yield one._replace(
                label=None if place == 0 else "", in_table=place > 0 and not run.is_problem(one)
            )


def _judged(name: str, certain: float, possible: float, run: Run) -> Reading:
    """Take what is possible, unless it is certain that it is critical: then that is known."""
    is_known = certain >= possible or run.alerts(name, certain, State.CRITICAL)
    return Reading(name, round(certain if is_known else possible, 3), "s", confirmed=is_known)


def _head(found: Found, head: Head, run: Run) -> Reading:
    reading = _judged(USER_LOCK if head.is_of_users else BLOCKED, head.certain, head.possible, run)
    most = "" if reading.confirmed else "up to "
    whom = heads.whom(found, head)
    what = f"{heads.subject(head)} {whom} for {most}{say_duration(reading.value or 0.0)}"
    line = Line(heads.place(found.details, head), tuple(heads.more(found, head)), fits=True)
    return reading._replace(
        what=what, why=heads.does(found, head), advice=heads.advice(found, head), line=line
    )


def _circle(found: Found, circle: Blocked, run: Run) -> Reading:
    reading = _judged(BLOCKED, circle.certain, circle.possible, run)
    names = listed([str(one) for one in circle.connections])
    what = f"connections {names} wait for each other for {say_duration(reading.value or 0.0)}"
    why = "by locks of several kinds"
    kinds = [
        f"connection {one.waiting} waits for the {one.said} of connection {one.holding}"
        for one in found.details.graph.waits
        if one.waiting in circle.connections and one.holding in circle.connections
    ]
    ends = "the server does not see such a deadlock: it lasts until one of the waits times out"
    clients = [
        str(one)
        for one in circle.connections
        if (known := found.details.processes.get(one)) is None or known.is_client
    ]
    one_of = f"{'one of ' * (len(clients) > 1)}{listed(clients)}"
    advice = f"KILL {one_of}" if clients else "wait until one of the waits times out"
    return reading._replace(
        what=what, why=why, advice=advice, line=Line(more=(*kinds[:_MOST_WAITS], ends), fits=True)
    )


def _unexplained(found: Found, waits: Blocked, run: Run) -> Reading:
    reading = _judged(USER_LOCK if waits.is_of_users else BLOCKED, waits.certain, waits.possible, run)
    first = found.details.processes.get(waits.connections[0])
    on = f' ("{first.state}")' if first and waits.kind != ROW else " for a row lock"
    what = f"{plural(len(waits.connections), 'connection')} wait{'s' * (len(waits.connections) == 1)}"
    behind = f", with {plural(waits.behind, 'other')} behind" if waits.behind else ""
    advice, *more = heads.how_to_find(found, first)
    return reading._replace(
        what=f"{what} for up to {say_duration(reading.value or 0.0)}",
        why="who blocks is not known",
        advice=advice,
        line=Line(on + behind, tuple(more), fits=True),
    )


def _summary(found: Found) -> str:
    """Write all of it in a sentence, for when all is well."""
    count = found.waiting.number
    opened = plural(len(found.waiting.transactions), "open transaction")
    if not count:
        return f"no connection waits for a lock, {opened}"
    verb = "waits" if count == 1 else "wait"
    longest = say_duration(found.waiting.longest) if found.waiting.longest else "less than 1 s"
    return f"{plural(count, 'connection')} {verb} for a lock, the longest for {longest}"


def _transaction(found: Found, run: Run) -> Reading:
    """Report the oldest transaction that blocks nobody."""
    one = (
        found.oldest
        if found.is_detailed
        else max(found.waiting.transactions, key=lambda one: one.age, default=None)
    )
    if not one:
        other = "other " if found.waiting.transactions else ""
        return Reading(TRANSACTION, 0, "s", f"no {other}transaction of a client is open", line=Line())
    reading = Reading(
        TRANSACTION, one.age, "s", f"the oldest transaction is open for {say_duration(one.age)}"
    )
    if not run.is_problem(reading):
        return reading._replace(line=Line())
    process = found.details.processes.get(one.process)
    who = transactions.subject(one.process, process, one)
    age = say_duration(one.age)
    return reading._replace(
        what=f"{who} has a transaction open for {age}" if one.process else f"{who} is open for {age}",
        why=words.doing(process) if one.process else "",
        advice=transactions.end(found, one.process, process, one),
        line=Line(more=(*transactions.of_transaction(found, one), *transactions.undo(found, one)), fits=True),
    )


def _counts(found: Found) -> Iterator[Reading]:
    waiting, interval = found.waiting, found.interval
    yield Reading(
        "waiting",
        waiting.number,
        what=f"{plural(waiting.number, 'connection')} waiting for a lock",
        line=Line(),
    )
    longest = f"the longest wait for a lock lasts {say_duration(waiting.longest)}"
    yield Reading("longest_wait", waiting.longest, "s", longest, line=Line())
    within = say_duration(interval.seconds)
    if (timeouts := interval.counts.get(TIMEOUTS)) is not None:
        what = f"{plural(timeouts, 'row lock wait')} timed out in the last {within}"
        advice = "see whether the clients try again"
        line = Line(more=("innodb_lock_wait_timeout was over: error 1205",) if timeouts else (), fits=True)
        yield Reading("timeouts", timeouts, "", what, "", advice, line=line)
    if (deadlocks := interval.counts.get(DEADLOCKS)) is not None:
        yield _deadlocks(found, deadlocks, within)
    if found.history is not None:
        what = f"{plural(found.history, 'transaction')} to purge (history list)"
        yield Reading("history_list", found.history, "", what, line=Line())
    if (rate := interval.rate(WAITS)) is not None:
        what = f"{say_rate(rate)} waits for row locks"
        yield Reading("row_lock_waits_per_s", round(rate, 3), "", what, line=Line())


def _deadlocks(found: Found, number: float, within: str) -> Reading:
    what = f"{plural(number, 'deadlock')} in the last {within}"
    reading = Reading("deadlocks", number, "", what, "", "see SHOW ENGINE INNODB STATUS", line=Line())
    if not (number and found.deadlock):
        return reading
    whose, both, more = _latest(found)
    advice = f"let {both} lock rows in the same order"
    return reading._replace(why=f"the latest: {whose}", advice=advice, line=Line(more=more, fits=True))


def _latest(found: Found) -> tuple[str, str, tuple[str, ...]]:
    """Give whose statements were in the latest deadlock, "both" or "all", and a line for each of them."""
    said = [statements.said(one.statement) or f"connection {one.connection}" for one in found.deadlock]
    both = "both" if len(said) == 2 else "all"  # noqa: PLR2004 - words
    same = f"{both} {said[0]}" if len(said) > 1 and len({*said}) == 1 else listed(said)
    more = []
    for one in found.deadlock:
        statement = shorten(statements.without_values(one.statement), _STATEMENT)
        ended = ", was rolled back" if one.is_rolled_back else ""
        waited = f", waited for {one.table}{f', index {one.key}' if one.key else ''}" if one.table else ""
        more.append(f"connection {one.connection}{waited}{ended}: {statement}")
    return same, both, tuple(more)


def _deadlock_before(found: Found) -> Iterator[Fault]:
    """Show the latest deadlock of a day, of which the server does not show whether it was one of many."""
    if not found.deadlock or not found.deadlock_at or not 0 <= found.deadlock_at[1] <= _DAY:
        return
    whose, _, more = _latest(found)
    at, passed = found.deadlock_at
    what = f"the latest deadlock was {say_duration(passed)} ago, at {at[-8:]} of the server's clock: {whose}"
    yield Fault(State.OK, what, line=Line(more=more))


def _asides(found: Found) -> Iterator[Finding]:
    if not found.interval.seconds:
        later = "lock wait timeouts and deadlocks are reported from the next run on"
        yield Fault(State.OK, f"{found.interval.said_why}: {later}")
        yield from _deadlock_before(found)
    if found.details.rows_left_out:
        rows = plural(found.details.rows_left_out, "more row")
        yield Fault(State.OK, f"{rows} that somebody waits for: who holds them was not asked")
    if found.waiting.left_out:
        left = plural(found.waiting.left_out, "more connection")
        yield Fault(State.OK, f"{left} waiting for a row: not looked at")
    if found.details.locks_left_out:
        yield Fault(State.OK, f"more than {LOCKS:,} locks of tables: not all were looked at")
    for one in found.missing:
        yield Fault(State.OK, f"not seen: {one}")
    if found.lost:
        yield ProbeError(f"who blocks whom is not all known: {found.lost.what}", found.lost.advice)
