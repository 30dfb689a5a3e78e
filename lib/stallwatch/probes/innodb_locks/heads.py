"""Words for who blocks others: who it is, what it has, what it does, and what makes it let go."""

from __future__ import annotations

from stallwatch.line import shorten
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.graph import FLUSH, ROW, SERVER, USER
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.innodb_locks.collect import Details
    from stallwatch.probes.innodb_locks.diagnosis import Head
    from stallwatch.probes.innodb_locks.model import Found
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process

_APPLIES = "wait: check_replication_lag shows what holds up the applier"
_OWN = "wait: it is a thread of the server"
_TOOLS = ("dump", "backup")  # in names of programs
_WORTH_TELLING = 1000  # rows that a KILL rolls back
_STATEMENT = 200  # bytes of a statement on a line
_METADATA_LOCKS = (8, 0)  # MySQL: the instrument is on by default


def subject(head: Head) -> str:
    """Say who it is."""
    if not head.connection:
        return "an XA transaction without a connection"
    if head.process and head.process.is_system:
        return f"applier {head.connection}"
    return f"connection {words.who(head.connection, head.process)}"


def does(details: Details, head: Head) -> str:
    """Say what it does: ``idle for 4 min``, in short where a queue has to be named, too; "": not known."""
    if head.is_idle and queue(details, head):
        return "idle"
    one = head.transaction
    if one and one.rolls_back:
        return "which rolls back"
    if head.process and head.process.command == "Killed":
        return "killed already"
    if said := words.doing(head.process):
        return said
    return f"open for {say_duration(one.age)}" if one else ""


def whom(details: Details, head: Head) -> str:
    """Say who waits: ``12 others``, ``ALTER TABLE shop.orders and 12 more``."""
    if behind := queue(details, head):
        return f"{behind[1]} and {len(head.behind) - 1} more"
    return plural(len(head.behind), "other")


def place(details: Details, head: Head) -> str:
    """Say what is fought for, behind "blocks 12 others for 3 min": `` on shop.orders``."""
    if queue(details, head):
        return ""
    first = next((one for one in head.waits if one.certain), head.waits[0])
    if first.kind == USER:
        return f" by the user lock {first.on}" if first.on else " by a user lock"
    if first.kind == SERVER:
        return f" by the {first.lock}"
    if first.kind == FLUSH:
        return " by a table in use"
    return f" on {first.on}" if first.on else ""


def queue(details: Details, head: Head) -> tuple[int, str] | None:
    """Tell which definition or FLUSH waits for the head while others queue behind that: connection, words."""
    direct = {one.waiting for one in head.waits if not one.queued}
    for one in head.waits:
        process = details.processes.get(one.holding)
        if one.queued and one.holding in direct and process and process.info:
            said = "a FLUSH" if one.kind == FLUSH else statements.said(process.info)
            return process.id, said
    return None


def advice(found: Found, head: Head) -> str:
    """Say the next step."""
    if head.process and head.process.command == "Killed":
        return words.WAIT_FOR_ROLLBACK
    if not head.is_proven:
        return words.check_first(head.connection)
    if queue(found.details, head) and head.process and head.process.is_client:
        return f"KILL {head.connection}"
    if head.transaction or all(one.kind == ROW for one in head.waits):
        return end(found, head.connection, head.process, head.transaction)
    by = next(one.release for one in head.waits if not one.queued).removeprefix("COMMIT or ")
    return end(found, head.connection, head.process, None, by if head.is_idle else "end")


def end(
    found: Found, connection: int, process: Process | None, transaction: Transaction | None, by: str = ""
) -> str:
    """Say how a connection is made to let go, or why it must not be ended; ``by`` is how it does itself."""
    if not connection:
        return words.END_DETACHED.partition(" (")[0]
    if transaction and transaction.rolls_back:
        return words.WAIT_FOR_ROLLBACK
    if process and process.is_system:
        return _APPLIES if process.applies else _OWN
    if process and not process.is_client:
        return _OWN
    program = found.programs.get(connection)
    if program and any(word in program.name for word in _TOOLS):
        return words.release_backup(connection)
    by = by or ("commit" if process and process.command == "Sleep" else "end")
    modified = transaction.modified if transaction and transaction.modified >= _WORTH_TELLING else 0
    return words.release(connection, by, modified)


def more(found: Found, head: Head) -> Iterator[str]:
    """Give the lines below: what it has, who waits, what it did last, what is not known."""
    yield from _held(head.waits)
    yield _waiting(found, head)
    if behind := queue(found.details, head):
        # To end a FLUSH TABLES does not help who waits for it (MySQL 9.7.2).
        lets = "" if behind[1] == "a FLUSH" else f": KILL {behind[0]} lets them go on without it"
        yield f"the others queue behind {behind[1]} of connection {behind[0]}{lets}"
    if head.transaction:
        yield from of_transaction(found, head.transaction)
    elif head.connection:
        yield from _last(found, head.connection)
    if not head.is_proven:
        yield "no table of the server says who holds it: it is the only one that can, or the oldest"
        yield from _to_know(found)


def _held(waits: Sequence[Wait]) -> Iterator[str]:
    """Say which locks it has that others wait for, the index of rows, too."""
    told = dict.fromkeys(one.said for one in waits if not one.queued)
    if told:
        yield f"what others wait for: {listed(list(told))}"


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


def of_transaction(found: Found, one: Transaction) -> Iterator[str]:
    """Say what a transaction is like, and what it did last."""
    few = one.modified < _WORTH_TELLING
    changed = plural(one.modified, "row") if few else f"{say_count(one.modified)} rows"
    yield f"its transaction is open for {say_duration(one.age)} and has changed {changed}"
    if one.process:
        yield from _last(found, one.process)
    else:
        yield words.END_DETACHED


def _last(found: Found, connection: int) -> Iterator[str]:
    program = found.programs.get(connection)
    if program and program.name:
        yield f"its program is {program.name}" + (f", pid {program.pid}" if program.pid else "")
    if statement := found.statements.get(connection):
        yield f"its last statement: {shorten(statement, _STATEMENT)}"
    else:
        yield "its last statement is not known: performance_schema shows it (events_statements_current)"


def how_to_find(found: Found, waits: Process | None) -> list[str]:
    """Say where the holder can be found, and what would tell it."""
    if waits and waits.state.startswith("User lock"):
        return ["SELECT IS_USED_LOCK('its name')", *_to_know(found)]
    if found.missing:
        return ["GRANT what is missing, see below", *_to_know(found)]
    return ["see SHOW FULL PROCESSLIST for what is older", *_to_know(found)]


def _to_know(found: Found) -> Iterator[str]:
    flavour = found.flavour
    if found.details.tells:
        return
    if flavour and flavour.mariadb:
        yield "the plugin metadata_lock_info names who holds them: INSTALL SONAME 'metadata_lock_info'"
    elif flavour and flavour.version < _METADATA_LOCKS:
        yield "performance_schema.metadata_locks names them, with its instrument wait/lock/metadata/sql/mdl"
