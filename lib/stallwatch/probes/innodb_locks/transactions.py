"""Words for a transaction and its connection: whose it is, what it did, and what ends it."""

from __future__ import annotations

from stallwatch.line import shorten
from stallwatch.probes.mysql.locks import words
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.innodb_locks.model import Found
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process

WORTH_TELLING = 1000  # rows that a KILL rolls back
_APPLIES = "check_replication_lag shows what holds up the applier"
_OWN = "it is a thread of the server"
_DISK = "see what keeps the disk busy (check_host)"
_TOOLS = ("dump", "backup")  # in names of programs
_STATEMENT = 200  # bytes of a statement on a line
_KEEPS_VIEW = {"REPEATABLE READ", "SERIALIZABLE"}  # isolation levels


def subject(connection: int, process: Process | None, transaction: Transaction | None) -> str:
    """Return whose it is."""
    if not connection:
        if transaction and transaction.rolls_back:
            return "a transaction from before the last start of the server"
        if not transaction:
            return "one of several transactions without a connection"
        return "an XA transaction without a connection"
    if process and process.is_system:
        return f"applier {connection}"
    return f"connection {words.who(connection, process)}"


def end(
    found: Found,
    connection: int,
    process: Process | None,
    transaction: Transaction | None,
    by: str = "",
    *,
    named: bool = False,
) -> str:
    """Return how a connection is made to let go, or why it must not be ended; ``by`` is how it does itself.

    ``named``: the sentence names it, as several are spoken of.
    """
    who = str(connection or "the transaction without a connection") if named else ""
    if transaction and transaction.rolls_back:
        return words.wait_for_rollback(who)
    if not connection:
        return words.end_detached(named=named) if transaction else "see which of them XA RECOVER lists"
    if words.commits(process):
        return _DISK
    if process and not process.is_client:
        why = _APPLIES if process.applies else _OWN
        return f"wait for {who}: {why}" if who else f"wait: {why}"
    return _of_client(found, connection, process, transaction, by)


def _of_client(
    found: Found, connection: int, process: Process | None, transaction: Transaction | None, by: str
) -> str:
    program = found.programs.get(connection)
    if program and any(word in program.name for word in _TOOLS):
        return words.release_backup(connection)
    last = found.last.get(connection)
    if last and last.digest.startswith("XA PREPARE"):
        return words.end_prepared(connection)
    by = by or ("commit" if process and process.command == "Sleep" else "end")
    modified = transaction.modified if transaction and transaction.modified >= WORTH_TELLING else 0
    said = words.release(connection, by, modified)
    if transaction and found.details.prepared and process and process.command == "Sleep":
        kill = said.partition(", or ")[0]
        return f"check that XA RECOVER does not list it, then {kill}" if kill.startswith("KILL ") else said
    return said


def of_transaction(found: Found, one: Transaction) -> Iterator[str]:
    """Return what a transaction is like, and what it did last."""
    few = one.modified < WORTH_TELLING
    changed = plural(one.modified, "row") if few else f"{say_count(one.modified)} rows"
    yield f"its transaction is open for {say_duration(one.age)} and has changed {changed}"
    if one.process:
        yield from last(found, one.process)
    elif not one.rolls_back:
        yield words.END_DETACHED


def last(found: Found, connection: int) -> Iterator[str]:
    """Return which program a connection is of, and its last statement."""
    program = found.programs.get(connection)
    if program and program.name:
        yield f"its program is {program.name}" + (f", pid {program.pid}" if program.pid else "")
    if (last := found.last.get(connection)) and last.digest:
        yield f"its last statement: {shorten(last.digest, _STATEMENT)}"
    else:
        yield "its last statement is not known: performance_schema has none of it"


def undo(found: Found, one: Transaction) -> Iterator[str]:
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
