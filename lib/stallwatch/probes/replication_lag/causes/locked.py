"""R5 and R6: the applier waits for a lock; who holds it?"""

from __future__ import annotations

import math

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.asking import meant
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.locks.graph import LockKind, Release
from stallwatch.probes.mysql.locks.metadata import FLUSH, GLOBAL_LOCK, METADATA_LOCK
from stallwatch.probes.mysql.locks.waits import kind
from stallwatch.probes.replication_lag.causes import flushes
from stallwatch.probes.replication_lag.causes.case import (
    JUST_BEGUN,
    ON,
    SLOW,
    Cause,
    rule,
    works,
)
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from stallwatch.probes.mysql.locks.graph import Graph, Wait
    from stallwatch.probes.mysql.locks.rows import Transaction
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
        return flushes.of_tables(case, flushed, _for(case, flushed)) if flushed else _otherwise_waits(case)
    graph = case.signals.graph
    direct = graph.holders(waits.id)
    if held := [one for one in _clients(case, direct) if not graph.holders(one.holding)]:
        what, advice = _held(case, held)
        ids = ", ".join(str(one.holding) for one in held)
        return Cause(88, what, advice, more=(f"held by connections {ids}",) if len(held) > 1 else ())
    if behind := _behind(case, graph, direct):
        return behind
    if probably := next((one for one in direct if not one.certain), None):
        return Cause(88, *_suspected(case, probably))
    what = f'{case.subject} has been "{waits.state}"{_for(case, waits)}'
    advice, *more = _how_to_find(case, waits)
    return Cause(88, what, advice, more=tuple(more))


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


def _behind(case: Case, graph: Graph, direct: Sequence[Wait], by: str = "") -> Cause | None:
    """Blame who is at the head of the queue, where the applier waits for a client that waits itself.

    ``by`` is what that client has: "row lock held by ".
    """
    processes = case.signals.processes
    known = [(one, processes[one.holding]) for one in direct if one.holding in processes]
    first, queued = next(((one, its) for one, its in known if its.is_client and kind(its)), (None, None))
    if not first or not queued:
        return None
    ran = f"connection {queued.id} has run {statements.said(queued.info)} for {say_duration(queued.seconds)}"
    what = f"{_waiting(case)}{by}{statements.said(queued.info)} of"
    ends = [processes[one] for one in graph.ends(queued.id) if one in processes]
    if not ends:
        what = f"{what} connection {case.who(queued.id)}, which waits itself"
        return Cause(88, what, f"KILL {queued.id}{ON}", more=(ran,)) if first.certain else None
    head = max(ends, key=lambda one: (one.is_client, one.seconds))
    is_proven = first.certain and graph.is_certain(queued.id)
    probably = "" if is_proven else "probably "
    what = f"{what} {queued.id}, {probably}behind connection {case.who(head.id)}, {words.doing(head)}"
    last = next(
        one
        for one in graph.waits
        if one.holding == head.id and (one.waiting == queued.id or queued.id in graph.behind(one.waiting))
    )
    has_run = f"connection {head.id} has run its statement for {say_duration(head.seconds)}"
    more = (ran, *([has_run] if head.is_client_s_statement else []))
    if not head.is_client:  # an applier is not killed
        return Cause(88, what, f"KILL {queued.id}{ON}, or wait for {head.id}", more=more)
    check_first = NextStep(Step.CHECK_FIRST, (head.id,))
    if last.lock in {LockKind.FLUSH, LockKind.STATEMENT}:
        return Cause(88, what, f"{words.step(check_first, ON)}, or wait", more=more)
    ended = case.release(head.id, last.release) if is_proven else check_first
    return Cause(88, what, str(words.step(ended, ON)), more=more)


def _suspected(case: Case, wait: Wait) -> tuple[str, str]:
    """Return who probably holds what the applier waits for, and to look before anybody is ended."""
    does = words.doing(case.signals.processes.get(wait.holding))
    what = f"{_waiting(case)}{words.lock(wait)}, probably of connection {case.who(wait.holding)}, {does}"
    return what, str(words.step(NextStep(Step.CHECK_FIRST, (wait.holding,)), ON))


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


def _clients(case: Case, direct: Sequence[Wait]) -> list[Wait]:
    """Find what clients have for certain that an applier waits for, who has been there longest first."""
    processes = case.signals.processes
    of_clients = [
        one
        for one in direct
        if one.certain
        and not one.queued
        and one.holding in processes
        and not processes[one.holding].is_system
    ]
    first = {one.holding: one for one in reversed(of_clients)}
    return sorted(first.values(), key=lambda one: -processes[one.holding].seconds)


def held_by(case: Case) -> set[int]:
    """Return which connections keep the applier waiting for what R5 is about."""
    waits = _waits(case, GLOBAL_LOCK) or _waits(case, METADATA_LOCK)
    if not waits:
        return set()
    return {one.holding for one in _clients(case, case.signals.graph.holders(waits.id))}


def _held(case: Case, held: Sequence[Wait]) -> tuple[str, str]:
    """Return who holds what the applier waits for, and what to do."""
    first, others = held[0], len(held) - 1
    what = f"{_waiting(case)}{words.lock(first)} of connection {case.who(first.holding)}"
    if does := words.doing(case.signals.processes.get(first.holding)):
        what += f", {does}"
    if others:
        what += f", and of {others} more"
    ends = {one.holding: case.release(one.holding, one.release) for one in held}
    special = next((one for one in ends.values() if one.step is not Step.KILL), None)
    together = NextStep(Step.KILL, tuple(ends))
    return what, str(words.step((special or together) if others else ends[first.holding], ON))


def _how_to_find(case: Case, waits: Process) -> tuple[str, ...]:
    """Return where to find the holder, and what would show it."""
    flavour = case.signals.flavour
    if flavour and flavour.mariadb:
        what = "LOCK TABLES, ALTER TABLE or an old transaction"
        if GLOBAL_LOCK.search(waits.state):
            what = "FLUSH TABLES WITH READ LOCK or a backup"
        return f"find {what} in SHOW FULL PROCESSLIST", "the plugin metadata_lock_info names who holds locks"
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
    graph = signals.graph
    if waits and (behind := _behind(case, graph, graph.holders(waits.process), "row lock held by ")):
        return behind._replace(score=86, more=(*behind.more, *more))
    holds = _head(case, graph, waits) if waits else _old_enough(case, seconds)
    if holds and _applies(case, holds):
        return None  # appliers wait for one another: what the other one does is the cause
    is_told = bool(waits and graph.is_certain(waits.process))  # of whom it is
    lasts = seconds >= _WORTH if waits else bool(holds)
    what = f"{_waiting(case)}row lock" if lasts else "probably a row lock"
    if not holds:
        return Cause(86, f"{what} for {say_duration(seconds)}", _who_blocks(case))
    said, ended = _row_held(case, holds, proven=lasts and is_told)
    what = f"{what}{', probably' if lasts and not is_told else ''} of {said}"
    return Cause(86, what, str(words.step(ended, ON)), more=more)


def _head(case: Case, graph: Graph, waits: Transaction) -> Transaction | None:
    """Find the transaction at the head of all that this one waits for, of several the oldest."""
    ends = graph.ends(waits.process)
    found = [one for one in case.signals.transactions if one.process in ends and one.waiting is None]
    return max(found, key=lambda one: one.age, default=None)


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


def _old_enough(case: Case, seconds: float) -> Transaction | None:
    """Find the only transaction of a client that has row locks and is as old as the wait."""
    found = [
        one
        for one in case.signals.transactions
        if one.age >= seconds - _ROUNDED and (one.locked or one.modified) and not _applies(case, one)
    ]
    return found[0] if len(found) == 1 else None


def still_held(case: Case, ago: float, table: str) -> tuple[str, NextStep] | None:
    """Who probably still has the row lock that an applier gave up on so many seconds ago, and what to do.

    It has to be older than the last wait, which ended with the error (1205), and to be the only one. Where
    metadata_locks names the connections that use the table (MySQL 8), it is one of those.
    """
    users = {one.process for one in case.signals.locks if one.granted and table and one.table == table}
    least = ago + _timeout(case) - _ROUNDED
    found = [
        one
        for one in case.signals.transactions
        if one.age >= least and (one.locked or one.modified) and not _applies(case, one)
        if one.is_detached or not users or one.process in users
    ]
    return _row_held(case, found[0], proven=False) if len(found) == 1 else None


def _row_held(case: Case, holds: Transaction, *, proven: bool) -> tuple[str, NextStep]:
    """Return who holds it, and what to do; to look first where that is only likely."""
    if holds.is_detached:
        return f"{words.DETACHED}, {say_duration(holds.age)} old", NextStep(Step.END_BY_XA)
    said = f"connection {case.who(holds.process)}"
    if holds.rolls_back:
        return f"{said}, which rolls back", NextStep(Step.WAIT_FOR_ROLLBACK)
    does = words.doing(case.signals.processes.get(holds.process)) or f"open for {say_duration(holds.age)}"
    check_first = NextStep(Step.CHECK_FIRST, (holds.process,))
    return f"{said}, {does}", case.release(holds.process, Release.COMMIT) if proven else check_first


def _applies(case: Case, transaction: Transaction) -> bool:
    process = case.signals.processes.get(transaction.process)
    return bool(process and process.is_system)


def _who_blocks(case: Case) -> str:
    flavour = case.signals.flavour
    if flavour and not flavour.mariadb and flavour.version >= _PERFORMANCE_SCHEMA:
        return "see sys.innodb_lock_waits for who holds it"
    return "see information_schema.INNODB_LOCK_WAITS for who holds it"
