"""R5 and R6: the applier waits for a lock; who holds it?"""

from __future__ import annotations

import math

from stallwatch.causes import Certainty, Subject
from stallwatch.line import Forms, forms, in_all_forms
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.asking import meant
from stallwatch.probes.mysql.locks import ending, words
from stallwatch.probes.mysql.locks.ending import Head
from stallwatch.probes.mysql.locks.graph import LockKind, Release, Wait
from stallwatch.probes.mysql.locks.metadata import FLUSH, GLOBAL_LOCK, METADATA_LOCK
from stallwatch.probes.mysql.locks.suspects import oldest_statement
from stallwatch.probes.mysql.locks.waits import kind
from stallwatch.probes.replication_lag.causes.case import JUST_BEGUN, SLOW, Cause, rule, works
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable

    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.replication_lag.causes.case import Case

_WORTH = 5.0  # seconds of waiting
_TIMEOUT = 50.0  # seconds: innodb_lock_wait_timeout where it is not known
_ROUNDED = 2.0  # seconds: times are whole ones, and the looks go on for one
_PERFORMANCE_SCHEMA = (8, 0)  # MySQL: names who holds metadata and row locks, without being set up for it


@rule(SLOW, "R6")
def r5_server_locked(case: Case) -> Cause | None:
    """Blame who keeps the applier waiting for a global, backup or table lock (by its state).

    metadata_locks names the holder on MySQL 8; MariaDB needs the plugin metadata_lock_info. Without it,
    the only connection that can hold the lock is called likely: KILL of the wrong one mends nothing. Who
    waits itself is not to blame, but who is at the head of the queue: a reader before a DDL, a statement
    before a FLUSH TABLES WITH READ LOCK.
    """
    waits = _waits(case, GLOBAL_LOCK) or _waits(case, METADATA_LOCK)
    if not waits:
        flushed = _waits(case, FLUSH)
        return _flushed(case, flushed) if flushed else _otherwise_waits(case)
    head = _head(case, case.signals.graph.last(waits.id))
    known = [one for its in head.together for one in its.waits] if head else []
    has_it = any(one.waiting == waits.id and not one.queued for one in known)
    if not has_it and (behind := _behind(case, waits.id)):
        return behind
    if not head:
        what = f'{case.subject} has been "{waits.state}"{_for(case, waits)}'
        advice, *more = _how_to_find(case, waits)
        return Cause(88, what, advice, more=tuple(more))
    said, step = _judged(case, head, "of", " " if _is_certain(head) else ", probably ")
    ids = ", ".join(str(one.connection) for one in head.together)
    held = (f"held by connections {ids}",) if head.beside else ()
    waiting = _waiting(case)
    lock, short = (words.lock(one) for one in (head.first, head.first._replace(on="", key="")))
    texts = forms(said)
    what = Forms(*(f"{waiting}{lock}{whose}" for whose in texts), f"{waiting}{short}{texts[-1]}")
    return Cause(88, what, step, more=held)


def _head(case: Case, waits: Iterable[Wait]) -> Head | None:
    """Find the clients that have what these wait for and do not wait, the one that began first is first."""
    of: dict[int, list[Wait]] = {}
    for one in waits:
        of.setdefault(one.holding, []).append(one)
    known = [_known(case, number, *its) for number, its in of.items() if not _applies(case, number)]
    heads = [one for one in known if not one.transaction or one.transaction.waiting is None]
    heads.sort(key=lambda one: -_began(one))
    return heads[0]._replace(beside=heads[1:]) if heads else None


def _applies(case: Case, connection: int) -> bool:
    process = case.signals.processes.get(connection)
    return bool(process and process.is_system)


def _began(head: Head) -> float:
    """Return how many seconds ago its transaction, or what it does, began."""
    return head.transaction.age if head.transaction else head.process.seconds if head.process else 0.0


def _known(case: Case, connection: int, *waits: Wait) -> Head:
    """Return what is known of who has what these wait for."""
    signals = case.signals
    transactions = [one for one in signals.transactions if one.process == connection]
    transaction = transactions[0] if len(transactions) == 1 else None  # of several nothing shows which
    behind = {one.waiting for one in waits}
    waited = max((one.waiting or 0.0 for one in signals.transactions if one.process in behind), default=0.0)
    program, last = signals.program(connection), signals.last.get(connection)
    return Head(
        connection,
        signals.processes.get(connection),
        transaction,
        waits,
        certain=min(waited, transaction.age) if transaction else 0.0,
        possible=waited,
        program=program.name if program else "",
        is_known_backup=any(connection in one.connections for one in signals.backups),
        digest=last.digest if last else "",
        prepared=signals.prepared,
    )


def _is_certain(head: Head) -> bool:
    return head.certainty is Certainty.CERTAIN


def _judged(
    case: Case, head: Head, of: str, doubt: str = "", where: str = " on the replica"
) -> tuple[str, str]:
    """Return who blocks the applier, and what it does, behind ``doubt`` and ``of``; and the next step."""
    cause = ending.judge(head, Subject(""), case.snapshot.now)  # which server it is makes no difference
    its = cause.parameters["each"][0] if head.beside else cause
    does, more = words.does(head, its), ""
    if head.beside:
        last = "or" if cause.certainty is Certainty.POSSIBLE else "and"
        more = f", {last} {of} {len(head.beside)} more"
    whose = forms(words.whose(head, case.signals.program(head.connection)))
    names = f"{whose[0]}, {does}", *whose
    what = Forms(*dict.fromkeys(f"{doubt}{of} {one}{more}" for one in names))
    return what, words.step(cause.parameters["step"], where, named=bool(head.beside))


def _otherwise_waits(case: Case) -> Cause | None:
    """Report any other wait in the server's words: there is no more evidence."""
    waits = _waits(case, activity.OTHER_WAIT)
    if not waits:
        return None
    what = f'{case.subject} has been "{waits.state}"{_for(case, waits)}'
    if activity.ACK.search(waits.state):
        what = f"applier waits for a semi-sync ACK{_for(case, waits)}"
        return Cause(66, what, "check this server's own replicas, or switch semi-sync off here")
    return Cause(66, what, "see in SHOW FULL PROCESSLIST what else runs on the replica")


def _behind(case: Case, waiting: int, by: str = "") -> Cause | None:
    """Blame who is at the head of the queue, where the applier waits for a client that waits itself.

    ``by`` is what that client has: "row lock held by ".
    """
    graph, processes = case.signals.graph, case.signals.processes
    known = [(one, processes[one.holding]) for one in graph.holders(waiting) if one.holding in processes]
    first, queued = next(((one, its) for one, its in known if its.is_client and kind(its)), (None, None))
    if not first or not queued:
        return None
    said = statements.said(queued.info)
    what = f"{_waiting(case)}{by}{said} of"
    more = [f"connection {queued.id} has run {said} for {say_duration(queued.seconds)}"]
    ends = [one._replace(certain=one.certain and first.certain) for one in graph.last(queued.id)]
    if not ends:
        what = f"{what} connection {case.who(queued.id)}, which waits itself"
        _, advice = _judged(case, _known(case, queued.id, first), "behind")
        return Cause(88, what, advice, more=tuple(more)) if first.certain else None
    if head := _head(case, ends):
        behind, advice = _judged(case, head, "behind", "" if _is_certain(head) else "probably ")
        if head.process and head.process.is_client_s_statement:
            ran = say_duration(head.process.seconds)
            more.append(f"connection {head.connection} has run its statement for {ran}")
    else:  # an applier is not killed
        last = ends[0].holding
        does = words.doing(processes.get(last))
        behind = f"{'' if ends[0].certain else 'probably '}behind connection {case.who(last)}, {does}"
        advice = f"KILL {queued.id} on the replica, or wait for {last}"
    what = in_all_forms(behind, lambda whose: f"{what} {queued.id}, {whose}")
    return Cause(88, what, advice, more=tuple(more))


def _flushed(case: Case, waits: Process) -> Cause:
    """Report a FLUSH TABLES that waits for a statement; who opens one of its tables waits, too.

    The statement is older than the FLUSH. To end the FLUSH does not help (MySQL 9.7.2).
    """
    what = f'{case.subject} has been "{waits.state}"{_for(case, waits)}'
    running = [one for one in case.signals.processes.values() if one.is_client_s_statement]
    begun = max((one.seconds for one in running if FLUSH.search(one.state)), default=None)
    if begun is not None:
        what += f", behind a FLUSH TABLES or its like of {say_duration(begun)} ago"
    oldest = oldest_statement(running)
    if not oldest or oldest.seconds < (begun or _WORTH):
        advice = "see in SHOW FULL PROCESSLIST which statement is older than the FLUSH"
        return Cause(88, what, advice)
    wait = Wait(waits.id, oldest.id, LockKind.STATEMENT, release=Release.END, certain=False)
    said, step = _judged(case, _known(case, oldest.id, wait), "behind", "probably ")
    ran = f"connection {oldest.id} has run its statement for {say_duration(oldest.seconds)}"
    more = (what, f"the FLUSH waits for a statement that is older, {ran}")
    what = in_all_forms(said, lambda whose: f"{case.subject} waits for a FLUSH, {whose}")
    return Cause(88, what, step, more=more)


def _waiting(case: Case) -> str:
    """Begin a sentence with who waits, where that may be the applier of another channel."""
    return "" if case.has_own_appliers else f"{case.subject} waits for a "


def _waits(case: Case, state: re.Pattern[str]) -> Process | None:
    """Find an applier that has waited for long; on MySQL its time may be that of the event."""
    found = case.lasting(state)
    return found if found and found.seconds >= _WORTH else None


def _for(case: Case, process: Process) -> str:
    """Return for how long; MySQL counts an applier's time from when the source wrote the event."""
    flavour = case.signals.flavour
    return f" for {say_duration(process.seconds)}" if flavour and flavour.mariadb else ""


def held_by(case: Case) -> set[int]:
    """Return which connections keep the applier waiting for what R5 is about."""
    waits = _waits(case, GLOBAL_LOCK) or _waits(case, METADATA_LOCK)
    return {one.holding for one in case.signals.graph.last(waits.id) if one.certain} if waits else set()


def _how_to_find(case: Case, waits: Process) -> tuple[str, ...]:
    """Return where to find the holder, and what would show it."""
    flavour = case.signals.flavour
    if flavour and flavour.mariadb:
        what = "LOCK TABLES, ALTER TABLE or an old transaction"
        if GLOBAL_LOCK.search(waits.state):
            what = "FLUSH TABLES WITH READ LOCK or a backup"
        step = Forms(f"find {what} in SHOW FULL PROCESSLIST or INNODB_TRX", "see INNODB_TRX for who has it")
        return step, "the plugin metadata_lock_info names who holds locks"
    where = "see performance_schema.metadata_locks for who holds it"
    if flavour and flavour.version < _PERFORMANCE_SCHEMA:
        return where, "its instrument wait/lock/metadata/sql/mdl is off by default"
    return (where,)


@rule(SLOW)
def r6_row_locked(case: Case) -> Cause | None:
    """Blame who keeps the applier's transaction waiting for a row lock (LOCK WAIT in INNODB_TRX).

    After innodb_lock_wait_timeout the applier begins its transaction again, and the wait in INNODB_TRX
    begins at 0. So retries count: with a timeout of 50 s, 29 s of waiting after one retry were 81 s in truth
    (MySQL 9.7.2, MariaDB 10.11.19). But deadlocks are counted, too, and on MariaDB conflicts of appliers side
    by side: what is reckoned so is likely, and no longer than the lag. While it pauses before it tries again,
    the only transaction that is old enough and has row locks is called likely. So is a wait that has just
    begun, where the applier has not moved since the last look: it may have restarted between the status and
    the looks (10.11.19).
    """
    if not case.waits_for_row:
        return None
    waiting = [one for look in case.transactions for one in look if one.waiting is not None]
    waits = waiting[-1] if waiting and case.transactions[-1] else None
    longest = max((one.waiting or 0.0 for one in waiting), default=0.0)
    signals = case.signals
    retries = 0 if waits and works(waits) else case.snapshot.retries
    seconds = max(longest, min(retries * _timeout(case) + longest, _most(case)))
    if seconds < _WORTH and (longest < JUST_BEGUN or not _stands(case)):
        return None
    reckoned = "" if longest >= seconds else "probably "
    more = (f"{reckoned}waiting for that row lock for {say_duration(seconds)}",)
    last = signals.graph.last(waits.process) if waits else _old_enough(case, seconds)
    lasts = seconds >= _WORTH if waits else bool(last)
    if waits and (behind := _behind(case, waits.process, "row lock held by ")):
        return behind._replace(score=86, more=(*behind.more, *more))
    head = _head(case, (one._replace(certain=one.certain and lasts) for one in last))
    if not head and any(_applies(case, one.holding) for one in last):
        return None  # appliers wait for one another: what the other one does is the cause
    what = f"{_waiting(case)}row lock" if lasts else "probably a row lock"
    if not head:
        return Cause(86, f"{what} for {say_duration(seconds)}", _who_blocks(case))
    said, step = _judged(case, head, "of", ", probably " if lasts and not _is_certain(head) else " ")
    return Cause(86, in_all_forms(said, lambda whose: f"{what}{whose}"), step, more=more)


def _stands(case: Case) -> bool:
    """Whether the applier is where the last look has seen it, and that is some time ago."""
    before = case.snapshot.before
    return bool(before and before.applied == case.snapshot.channel.applied and before.seconds_ago >= _WORTH)


def _most(case: Case) -> float:
    """Return for how long the applier can have waited: no longer than it lags, or is at this transaction."""
    lag, commits = case.lag, case.snapshot.commits
    most = [max(lag.seconds, lag.high or 0.0)] if lag.seconds is not None else []
    begun = [one.applying_since for one in commits.workers if one.applying and one.retries] if commits else []
    if since := [one for one in begun if one]:
        most.append(case.snapshot.now - min(since))
    return min(most, default=math.inf)


def _timeout(case: Case) -> float:
    return meant(case.signals.settings.get("innodb_lock_wait_timeout")) or _TIMEOUT


def _old_enough(case: Case, seconds: float, users: Collection[int] = ()) -> list[Wait]:
    """Find the only transaction of a client that has row locks and is as old as the wait.

    Its connection is one of ``users``, if there are any.
    """
    found = [
        Wait(0, one.process, LockKind.ROW, certain=False)
        for one in case.signals.transactions
        if one.age >= seconds - _ROUNDED and (one.locked or one.modified)
        if not _applies(case, one.process)
        if one.is_detached or not users or one.process in users
    ]
    return found if len(found) == 1 else []


def still_held(case: Case, ago: float, table: str) -> tuple[str, str] | None:
    """Return who probably still has the row lock that an applier gave up on, and what to do.

    ``ago`` is for how many seconds it has been stopped.
    It has to be older than the last wait, which ended with the error (1205), and to be the only one. Where
    metadata_locks names the connections that use the table (MySQL 8), it is one of those.
    """
    users = {one.process for one in case.signals.locks if one.granted and table and one.table == table}
    head = _head(case, _old_enough(case, ago + _timeout(case), users))
    return _judged(case, head, "of", "probably ", "") if head else None


def _who_blocks(case: Case) -> str:
    flavour = case.signals.flavour
    if flavour and not flavour.mariadb and flavour.version >= _PERFORMANCE_SCHEMA:
        return "see sys.innodb_lock_waits for who holds it"
    return "see information_schema.INNODB_LOCK_WAITS for who holds it"
