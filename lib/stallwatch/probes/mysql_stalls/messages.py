"""The words and the numbers for what was found: who blocks whom, what it does, and what to do about it."""

from __future__ import annotations

from stallwatch.causes import Certainty
from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import Forms, forms, shorten
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.ending import Head
from stallwatch.probes.mysql.locks.graph import LockKind
from stallwatch.probes.mysql.locks.metadata import MOST as LOCKS
from stallwatch.probes.mysql.processes import Phase
from stallwatch.probes.mysql_stalls import connections, diagnosis
from stallwatch.probes.mysql_stalls.collect import DEADLOCKS, TIMEOUTS, WAITS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration, say_rate
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.causes import Cause
    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.other_waits import Evidence
    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.mysql_stalls.heads import Blocked
    from stallwatch.probes.mysql_stalls.model import Found

STALLED, USER_LOCK, TRANSACTION = "stalled", "user_lock", "transaction"  # quantities that are judged
MOST_HEADS = 5  # heads that are reported; any more are left out
_MOST_BESIDE = 10  # heads of the same connections, each on a line of its own
_MOST_WAITS = 5  # of a circle, one on each line
_STATEMENT = 200  # bytes of a statement on a line
_DAY = 86_400.0  # seconds: so old a deadlock that was before the first look is shown
_WORTH_TELLING = 1000  # rows that a transaction has changed
_METADATA_LOCKS = (8, 0)  # MySQL: the instrument is on by default
_KEEPS_VIEW = {"REPEATABLE READ", "SERIALIZABLE"}  # isolation levels
_STANDS = {
    Phase.SPACE: "wait{s} for space on a disk",
    Phase.ACK: "wait{s} at COMMIT",
    Phase.BEGIN: "wait{s} to begin a transaction",
    Phase.IN_ORDER: "wait{s} to run a definition",
    Phase.COMMIT: "wait{s} at COMMIT",
    Phase.TABLES: "wait{s} to open tables",
    Phase.WRITE: "make{s} no progress with a write",
    Phase.OTHER: "wait{s}",
}
_TIMED_OUT = Forms("after innodb_lock_wait_timeout (error 1205)", "error 1205")


def all_of_it(found: Found, run: Run) -> Iterator[Finding]:
    """Return who blocks whom, then which transactions are old, then the numbers and what is not known."""
    yield from _blocked(found, run)
    yield _transaction(found, run)
    if found.used:
        yield connections.reading(found.used, found.server)
    yield from _counts(found)
    yield from _asides(found)


def _blocked(found: Found, run: Run) -> Iterator[Reading]:
    told = [_head(found, one, run) for one in found.heads[:MOST_HEADS]]
    told += [_circle(found, one, run) for one in found.circles]
    told += [_unexplained(found, one, run) for one in found.unexplained]
    told += [_other_waits(found, one, run) for one in found.other_waits]
    for name in (STALLED, USER_LOCK):
        of_it = sorted((one for one in told if one.name == name), key=lambda one: -(one.value or 0.0))
        if not of_it:
            summary = _summary(found) if name == STALLED else "no user lock blocks anybody"
            yield Reading(name, 0, "s", summary, line=Line(), in_table=name == USER_LOCK)
        for place, one in enumerate(of_it):
            yield one._replace(
                label=None if place == 0 else "", in_table=place > 0 and not run.is_problem(one)
            )


def _judged(of: Head | Blocked, run: Run) -> Reading:
    """Take what is possible, unless it is certain that it is critical: then that is known."""
    name = USER_LOCK if of.is_of_users else STALLED
    is_known = of.certain >= of.possible or run.alerts(name, of.certain, State.CRITICAL)
    return Reading(name, round(of.certain if is_known else of.possible, 3), "s", confirmed=is_known)


def _explained(reading: Reading, cause: Cause, why: str, *, named: bool = False) -> Reading:
    """Return a reading with its cause, in words and as data."""
    return reading._replace(why=why, advice=words.step(cause.parameters["step"], named=named), cause=cause)


def _head(found: Found, head: Head, run: Run) -> Reading:
    cause, reading = diagnosis.of_head(found, head), _judged(head, run)
    seconds = f"{'' if reading.confirmed else 'up to '}{say_duration(reading.value or 0.0)}"
    probably = "" if head.certainty is Certainty.CERTAIN else "probably "
    verb = "block" if head.beside and head.certainty is not Certainty.POSSIBLE else "blocks"
    who, whom = _heads(head), _whom(found, head)
    pairs = (who[0], whom[0]), (who[-1], whom[-1])
    what = Forms(*(f"{one} {probably}{verb} {others} for {seconds}" for one, others in pairs))
    reading = reading._replace(what=what, line=Line(_place(found, head), tuple(_below(found, head, cause))))
    return _explained(reading, cause, _does(head, cause), named=bool(head.beside))


def _heads(head: Head) -> tuple[str, ...]:
    """Name them: ``connection 22 report@app1``, ``connections 22 and 23``."""
    if not head.beside:
        return forms(words.whose(head))
    return (_names(head.together, last="or" if head.certainty is Certainty.POSSIBLE else "and"),)


def _names(heads: Sequence[Head], last: str = "and") -> str:
    """Name several: ``connections 20 and 21``, ``connection 20 or an XA transaction``."""
    ids = [str(one.connection) for one in heads if one.connection]
    plural_ = "s" * (len(ids) > 1 and last == "and")
    of_xa = [] if len(ids) == len(heads) else ["an XA transaction"]
    return f" {last} ".join([f"connection{plural_} {listed(ids, last=last)}"] * bool(ids) + of_xa)


def _does(head: Head, cause: Cause) -> str:
    """Return what it does: ``idle for 4 min``."""
    if head.beside:
        idle = sum(bool(one.process and one.process.command == "Sleep") for one in head.together)
        return "all idle" if idle == len(head.together) else f"{idle or 'none'} of them idle"
    return words.does(head, cause)


def _whom(found: Found, head: Head) -> tuple[str, ...]:
    """Return who waits: ``12 others``, ``ALTER TABLE shop.orders and 12 more``; then a shorter form."""
    is_cut = found.waiting.left_out or found.details.rows_left_out or found.details.locks_left_out
    least = "at least " if is_cut else ""
    others = f"{least}{plural(len(head.behind), 'other')}"
    if queue := _queue(found, head):
        return f"{_queues_behind(queue)} and {least}{len(head.behind) - 1} more", others
    return (others,)


def _place(found: Found, head: Head) -> str:
    """Return what is fought for, behind "blocks 12 others for 3 min": `` on shop.orders``."""
    first = head.first
    if _queue(found, head):
        return ""
    if first.lock is LockKind.USER:
        return f" by the {words.lock(first)}" if first.on else " by a user lock"
    if first.lock.is_of_server:
        return f" by the {words.lock(first)}"
    if first.lock in {LockKind.FLUSH, LockKind.STATEMENT}:
        return " by a table in use"
    return f" on {first.on}" if first.on else ""


def _queue(found: Found, head: Head) -> tuple[Wait, Process] | None:
    """Find the definition or FLUSH that waits for the head while others queue behind that."""
    direct = {one.waiting for one in head.waits if not one.queued}
    for one in head.waits:
        process = found.details.processes.get(one.holding)
        if one.queued and one.holding in direct and process and process.info:
            return one, process
    return None


def _queues_behind(queue: tuple[Wait, Process]) -> str:
    wait, process = queue
    return "a FLUSH" if wait.lock is LockKind.FLUSH else statements.said(process.info)


def _below(found: Found, head: Head, cause: Cause) -> Iterator[str]:
    """Give the lines below: what it has, who waits, what it did last, what is not known."""
    if held := dict.fromkeys(words.lock(one) for one in head.waits if not one.queued):
        either = any(one.lock is LockKind.SERVER for one in head.waits if not one.queued)
        which = " (of FLUSH TABLES WITH READ LOCK or a backup)" * either
        yield f"what others wait for: {listed(list(held))}{which}"
    yield _waiting(found, head)
    if head.beside:
        yield from _each(head, cause.parameters["each"])
    if queue := _queue(found, head):
        # To end a FLUSH TABLES does not help who waits for it (MySQL 9.7.2).
        wait, first = queue
        ends = wait.lock is not LockKind.FLUSH and first.is_client
        lets = f": KILL {first.id} lets them go on without it" if ends else ""
        yield f"the others queue behind {_queues_behind(queue)} of connection {first.id}{lets}"
    if not head.beside and head.transaction:
        yield from _of_transaction(found, head.transaction)
    elif not head.beside and head.connection:
        yield from _last(found, head.connection)
    if head.certainty is not Certainty.CERTAIN:
        doubted = _names([one for one in head.together if not one.is_proven], last="or")
        only = "this connection is the only possible one, or the oldest"
        maybe = f"perhaps not {doubted}" if head.beside else only
        yield f"no table of the server names the holder: {maybe}"
        if any(one.lock not in {LockKind.ROW, LockKind.TABLE} for one in head.waits):
            yield from _to_know(found, hangs=any(one.lock.is_of_server for one in head.waits))


def _each(head: Head, causes: Sequence[Cause]) -> Iterator[str]:
    """Give a line for each of several heads."""
    for one, cause in list(zip(head.together, causes, strict=True))[:_MOST_BESIDE]:
        yield f"they wait for {words.whose(one)}, {words.does(one, cause)}"
    if len(causes) > _MOST_BESIDE:
        ids = (str(one.connection) for one in head.together if one.connection)
        yield f"all that they wait for: connections {', '.join(ids)}"


def _waiting(found: Found, head: Head) -> str:
    for_rows, processes = found.waiting.for_rows(), found.details.processes

    def seconds(one: int) -> float:
        known = processes.get(one)
        return for_rows.get(one, known.seconds if known else 0.0)

    behind = sorted(head.behind, key=lambda one: -seconds(one))
    names = listed([str(one) for one in behind])
    longest = processes.get(behind[0])
    said = f" ({statements.said(longest.info)})" if longest and longest.info else ""
    verb = "has waited" if len(behind) == 1 else "wait, the first"
    what = f"connection{'s' * (len(behind) > 1)} {names} {verb} for {say_duration(seconds(behind[0]))}{said}"
    direct = {one.waiting for one in head.waits}
    indirect = len(set(head.behind) - direct)
    return f"{what}, {indirect} of them in a chain behind others" if indirect else what


def _to_know(found: Found, *, hangs: bool) -> Iterator[str]:
    """Return what would name the holder of a lock of a table or of the server.

    ``hangs``: INSTALL SONAME waits itself behind FLUSH TABLES WITH READ LOCK (MariaDB 10.11.19).
    """
    flavour = found.flavour
    if found.details.tells:
        return
    if flavour and flavour.mariadb:
        step = ": install it when this is over" if hangs else ": INSTALL SONAME 'metadata_lock_info'"
        yield f"the plugin metadata_lock_info names who holds them{step}"
    elif flavour and flavour.version < _METADATA_LOCKS:
        yield "performance_schema.metadata_locks names them, with its instrument wait/lock/metadata/sql/mdl"


def _circle(found: Found, circle: Blocked, run: Run) -> Reading:
    cause, reading = diagnosis.of_circle(found, circle), _judged(circle, run)
    names = listed([str(one) for one in circle.connections])
    probably = "" if cause.certainty is Certainty.CERTAIN else "probably "
    seconds = f"{'' if reading.confirmed else 'up to '}{say_duration(reading.value or 0.0)}"
    what = f"connections {names} {probably}wait for each other for {seconds}"
    locks = [
        f"connection {one.waiting} waits for the {words.lock(one)} of connection {one.holding}"
        for one in diagnosis.between(found, circle)
    ]
    ends = "the server does not see such a deadlock: only a time-out ends a wait, and a retry begins it again"
    behind = Forms(_behind(circle), "")
    reading = reading._replace(what=what, line=Line(behind, (*locks[:_MOST_WAITS], ends)))
    return _explained(reading, cause, Forms("by locks of several kinds", "a deadlock"))


def _behind(waits: Blocked) -> str:
    return f", with {plural(waits.behind, 'other')} behind" if waits.behind else ""


def _unexplained(found: Found, waits: Blocked, run: Run) -> Reading:
    cause, reading = diagnosis.of_unknown(found, waits), _judged(waits, run)
    first = found.details.processes.get(waits.connections[0])
    on = f' ("{first.state}")' if first and waits.lock is not LockKind.ROW else " for a row lock"
    what = f"{plural(len(waits.connections), 'connection')} wait{'s' * (len(waits.connections) == 1)}"
    is_named = waits.lock in {LockKind.ROW, LockKind.TABLE}  # where a table of the server has it at all
    more = () if is_named else tuple(_to_know(found, hangs=waits.lock is LockKind.SERVER))
    what = f"{what} for up to {say_duration(reading.value or 0.0)}"
    reading = reading._replace(what=what, line=Line(Forms(on + _behind(waits), on, ""), more))
    return _explained(reading, cause, Forms("who blocks is not known", "by whom is not known"))


def _other_waits(found: Found, group: Blocked, run: Run) -> Reading:
    cause, reading = diagnosis.of_other_waits(found, group), _judged(group, run)
    first = found.details.processes[group.connections[0]]
    count = len(group.connections)
    phase = group.phase or Phase.OTHER
    seconds = f"{'' if reading.confirmed else 'up to '}{say_duration(reading.value or 0.0)}"
    what = f"{plural(count, 'connection')} {_STANDS[phase].format(s='s' * (count == 1))} for {seconds}"
    on = f' ("{first.state}")' if phase is Phase.OTHER else ""
    more = [f'connection {words.who(first.id, first)} has the state "{first.state}", {words.doing(first)}']
    if group.phase is Phase.SPACE:
        more.append("the error log of the server names the file")
    reading = reading._replace(what=what, line=Line(Forms(on + _behind(group), on, ""), tuple(more)))
    return _explained(reading, cause, _why(cause))


# Why clients wait, by the rule that has decided: its forms, longest first.
_WHY = {
    "waits_for_space": ("a disk is full",),
    "log_names_it": ("the disk of {full} is full", "a disk is full"),
    "too_few": ("{replicas} of {wanted} connected",),
    "silent": ("the semi-sync replicas that are connected do not acknowledge", "no ACK of a replica"),
    "members": ("no majority: {present} of {members} members of the group are there", "no majority"),
    "apart": ("this node is apart from the primary component", "no primary component"),
    "own": ("flow control: this member is behind",),
    "of_another": ("probably flow control: another member is behind",),
    "unreachable": ("probably as the member {silent} does not answer", "probably a silent member"),
    "definition": ("probably behind {definition}, which all members run", "probably behind a definition"),
    "cluster": ("the members decide on a COMMIT",),
    "writes": ("probably a slow disk",),
    "commit": ("probably a slow disk",),
    "redo": ("probably as the redo log is full",),
    "semaphores": ("InnoDB waits for its own semaphores", "semaphores of InnoDB"),
    "other": ("why is not known",),
}


def _why(cause: Cause) -> str:
    """Return why clients wait for something that is no lock."""
    seen: Evidence = cause.parameters["seen"]
    wanted = plural(seen.wanted, "semi-sync replica")
    return Forms(*(form.format(**seen._asdict() | {"wanted": wanted}) for form in _WHY[cause.evidence]))


def _summary(found: Found) -> str:
    """Write all of it in a sentence, for when all is well."""
    count = found.waiting.number
    opened = plural(len(found.waiting.transactions), "open transaction")
    if not count:
        return f"no client is stalled, {opened}"
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
    age = say_duration(one.age)
    reading = Reading(TRANSACTION, one.age, "s", f"the oldest transaction is open for {age}", line=Line())
    if not run.is_problem(reading):
        return reading
    head = Head(one.process, found.details.processes.get(one.process), one, certain=one.age)
    cause = diagnosis.of_head(found, head)
    open_ = f"has a transaction open for {age}" if one.process else f"is open for {age}"
    what = Forms(*(f"{who} {open_}" for who in forms(words.whose(head))))
    line = Line(more=(*_of_transaction(found, one), *_kept(found, one)))
    return _explained(reading._replace(what=what, line=line), cause, words.does(head, cause))


def _of_transaction(found: Found, one: Transaction) -> Iterator[str]:
    """Return what a transaction is like, and what it did last."""
    few = one.modified < _WORTH_TELLING
    changed = plural(one.modified, "row") if few else f"{say_count(one.modified)} rows"
    yield f"its transaction is open for {say_duration(one.age)} and has changed {changed}"
    if one.process:
        yield from _last(found, one.process)


def _last(found: Found, connection: int) -> Iterator[str]:
    """Return which program a connection is of, and its last statement."""
    program = found.programs.get(connection)
    if program and program.name:
        yield f"its program is {program.name}" + (f", pid {program.pid}" if program.pid else "")
    if (last := found.last.get(connection)) and last.digest:
        yield f"its last statement: {shorten(last.digest, _STATEMENT)}"
    else:
        yield "its last statement is not known: performance_schema has none of it"


def _kept(found: Found, one: Transaction) -> Iterator[str]:
    """Return what others pay for a transaction that is open: its read view, and the history list."""
    if one.isolation in _KEEPS_VIEW:
        view = f"its read view ({one.isolation}), if it has read, is up to {say_duration(one.age)} old"
        yield f"{view}: purge keeps all that was changed since"
    elif one.isolation:
        yield f"it keeps no read view between its statements ({one.isolation})"
    if found.history is not None:
        grown = ""
        if found.grown:
            more, seconds = found.grown
            than = f"{say_count(abs(more))} {'more' if more > 0 else 'fewer'} than" if more else "as many as"
            grown = f", {than} {say_duration(seconds)} ago"
        yield f"history list: {say_count(found.history)} transactions to purge{grown}"


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
        reading = Reading("timeouts", timeouts, "", what, line=Line())
        yield _explained(reading, diagnosis.of_timeouts(found), _TIMED_OUT) if timeouts else reading
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
    reading, cause = Reading("deadlocks", number, "", what, line=Line()), diagnosis.of_deadlocks(found)
    if not number:
        return reading
    if not found.deadlock:
        return _explained(reading, cause, "whose is not known")
    whose, more = _latest(found)
    why = Forms(f"the latest: {whose}", f"the latest of {len(found.deadlock)} connections")
    return _explained(reading._replace(line=Line(more=more)), cause, why)


def _latest(found: Found) -> tuple[str, tuple[str, ...]]:
    """Give whose statements were in the latest deadlock, and a line for each of them."""
    said = [statements.said(one.statement) or f"connection {one.connection}" for one in found.deadlock]
    both = "both" if len(said) == 2 else "all"  # noqa: PLR2004 - words
    same = f"{both} {said[0]}" if len(said) > 1 and len({*said}) == 1 else listed(said)
    more = []
    for one in found.deadlock:
        statement = shorten(statements.without_values(one.statement), _STATEMENT)
        ended = ", was rolled back" if one.is_rolled_back else ""
        waited = f", waited for {one.table}{f', index {one.key}' if one.key else ''}" if one.table else ""
        more.append(f"connection {one.connection}{waited}{ended}: {statement}")
    return same, tuple(more)


def _deadlock_before(found: Found) -> Iterator[Fault]:
    """Show the latest deadlock of a day, of which the server does not show whether it was one of many."""
    if not found.deadlock or not found.deadlock_at or not 0 <= found.deadlock_at[1] <= _DAY:
        return
    whose, more = _latest(found)
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
