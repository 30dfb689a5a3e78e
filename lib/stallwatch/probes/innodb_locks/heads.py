"""Words for who blocks others: who it is, what it has, what it does, and what makes it let go."""

from __future__ import annotations

from stallwatch.probes.innodb_locks import transactions
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.graph import FLUSH, ROW, SERVER, USER
from stallwatch.probes.mysql.locks.waits import TABLE_LEVEL, kind
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.innodb_locks.collect import Details
    from stallwatch.probes.innodb_locks.diagnosis import Head
    from stallwatch.probes.innodb_locks.model import Found
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.processes import Process

_AT_WORK = 3.0  # seconds since a connection did something
_MOST_BESIDE = 10  # heads of the same connections, each on a line of its own
_METADATA_LOCKS = (8, 0)  # MySQL: the instrument is on by default


def subject(head: Head) -> str:
    """Give its name and verb: ``connection 22 report@app1 blocks``, ``connections 22 and 23 block``."""
    probably = "" if head.are_proven else "probably "
    if head.are_suspects:
        return f"{_names(head.together, last='or')} {probably}blocks"
    if head.beside:
        return f"{_names(head.together)} {probably}block"
    who = transactions.subject(head.connection, head.process, head.transaction)
    return f"{who} {probably}blocks"


def does(found: Found, head: Head) -> str:
    """Return what it does: ``idle for 4 min``, in short where the line has more to name; "": not known."""
    if head.beside:
        idle = sum(one.is_idle for one in head.together)
        return "all idle" if idle == len(head.together) else f"{idle or 'none'} of them idle"
    if head.is_idle and (queue(found.details, head) or any(one.kind == SERVER for one in head.waits)):
        return "idle"
    one = head.transaction
    if one and one.rolls_back:
        return "which rolls back"
    if head.process and head.process.command == "Killed":
        return "killed already"
    if words.commits(head.process):
        return f"{'' if found.pending_writes else 'probably '}waiting for the disk (COMMIT)"
    return words.doing(head.process) or (f"open for {say_duration(one.age)}" if one else "")


def whom(found: Found, head: Head) -> str:
    """Return who waits: ``12 others``, ``ALTER TABLE shop.orders and 12 more``."""
    details = found.details
    least = "at least " if found.waiting.left_out or details.rows_left_out or details.locks_left_out else ""
    if behind := queue(details, head):
        return f"{behind[1]} and {least}{len(head.behind) - 1} more"
    return f"{least}{plural(len(head.behind), 'other')}"


def place(details: Details, head: Head) -> str:
    """Return what is fought for, behind "blocks 12 others for 3 min": `` on shop.orders``."""
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
    """Give which definition or FLUSH waits for the head while others queue behind that: connection, words."""
    direct = {one.waiting for one in head.waits if not one.queued}
    for one in head.waits:
        process = details.processes.get(one.holding)
        if one.queued and one.holding in direct and process and process.info:
            said = "a FLUSH" if one.kind == FLUSH else statements.said(process.info)
            return process.id, said
    return None


def advice(found: Found, head: Head) -> str:
    """Write the next step."""
    if head.beside:
        return _for_all(found, head)
    if head.process and head.process.command == "Killed":
        return words.wait_for_rollback()
    is_known = head.is_proven and head.process
    if head.connection and not is_known and not (head.process and not head.process.is_client):
        said = _end(found, head)
        return words.check_first(head.connection) if said.startswith("KILL ") else said
    if head.process and head.process.is_client:
        if _moves(head):
            return f"look again: if {head.connection} is still at the head, KILL {head.connection}"
        if _is_backup(head):
            return words.release_backup(head.connection)
    by = ""
    if head.connection and not head.transaction and any(one.kind != ROW for one in head.waits):
        releases = next(one.release for one in head.waits if not one.queued).removeprefix("COMMIT or ")
        by = releases if head.is_idle else "end"
    said = _end(found, head, by)
    # Of who stands before a definition or a FLUSH, the line has no room for the second choice.
    in_short = said.startswith("KILL ") and queue(found.details, head)
    return said.partition(", or ")[0] if in_short else said


def _end(found: Found, head: Head, by: str = "", *, named: bool = False) -> str:
    """Return how a head is made to let go, or why it must not be ended, as ``transactions.end``."""
    return transactions.end(found, head.connection, head.process, head.transaction, by, named=named)


def _is_backup(head: Head) -> bool:
    """Whether others wait for nothing but its backup lock."""
    return all(one.lock == words.BACKUP_LOCK for one in head.waits)


def _moves(head: Head) -> bool:
    """Whether a client did something just now and is hardly known to block others: its turn may be new."""
    is_new = head.certain < min(_AT_WORK, head.possible / 2)
    return bool(is_new and head.process and head.process.is_client and head.process.seconds < _AT_WORK)


def _names(heads: Sequence[Head], last: str = "and") -> str:
    """Name several: ``connections 20 and 21``, ``connection 20 or an XA transaction``."""
    ids = [str(one.connection) for one in heads if one.connection]
    plural_ = "s" * (len(ids) > 1 and last == "and")
    of_xa = [] if len(ids) == len(heads) else ["an XA transaction"]
    return f" {last} ".join([f"connection{plural_} {listed(ids, last=last)}"] * bool(ids) + of_xa)


def _for_all(found: Found, head: Head) -> str:
    """Return how all of several heads are made to let go: first those that must not just be killed."""
    if head.are_suspects:
        can_end = all(_ends_by_kill(found, one) for one in head.together)
        return "check which of them has it" + ", then end that one alone" * can_end
    for one in head.together:
        if said := _not_just_killed(found, one):
            return said
    kill = f"KILL {listed(_ids(head))}"
    return kill if head.are_proven else f"check them, then {kill}"


def _ends_by_kill(found: Found, one: Head) -> bool:
    """Whether it is a client's, and KILL is the first choice for it."""
    is_client = one.process and one.process.is_client
    return bool(is_client and _end(found, one).startswith("KILL "))


def _not_just_killed(found: Found, one: Head) -> str:
    """Return what is to be done about one of several that a plain KILL is wrong for; "": it is right."""
    number, is_client = one.connection, one.process and one.process.is_client
    said = words.release_backup(number) if is_client and _is_backup(one) else _end(found, one, named=True)
    if said.startswith("KILL "):
        return "" if one.process else f"check {number}, then KILL {number}"
    return f"check {number}, then {said}" if is_client and not one.is_proven else said


def _ids(head: Head) -> list[str]:
    """Give the connections of all heads together."""
    return [str(one.connection) for one in head.together if one.connection]


def more(found: Found, head: Head) -> Iterator[str]:
    """Give the lines below: what it has, who waits, what it did last, what is not known."""
    yield from _held(head.waits)
    yield _waiting(found, head)
    for one in head.together[:_MOST_BESIDE] if head.beside else ():
        who = transactions.subject(one.connection, one.process, one.transaction)
        yield f"they wait for {who}, {does(found, one._replace(waits=(), beside=()))}"
    if len(head.together) > _MOST_BESIDE:
        yield f"all that they wait for: connections {', '.join(_ids(head))}"
    if behind := queue(found.details, head):
        # To end a FLUSH TABLES does not help who waits for it (MySQL 9.7.2).
        first = found.details.processes.get(behind[0])
        ends = behind[1] != "a FLUSH" and first and first.is_client
        lets = f": KILL {behind[0]} lets them go on without it" if ends else ""
        yield f"the others queue behind {behind[1]} of connection {behind[0]}{lets}"
    if head.beside:
        pass
    elif head.transaction:
        yield from transactions.of_transaction(found, head.transaction)
    elif head.connection:
        yield from transactions.last(found, head.connection)
    else:
        yield words.END_DETACHED
    if not head.are_proven:
        yield _not_named(head)
        if not all(one.kind == ROW or one.lock.startswith(words.TABLE_LEVEL_LOCK) for one in head.waits):
            yield from _to_know(found, hangs=any(one.kind == SERVER for one in head.waits))


def _not_named(head: Head) -> str:
    """Return that no table of the server names the holder, and who else it may be."""
    if head.beside:
        doubted = _names([one for one in head.together if not one.is_proven], last="or")
        return f"no table of the server names the holder: perhaps not {doubted}"
    return "no table of the server names the holder: this connection is the only possible one, or the oldest"


def _held(waits: Sequence[Wait]) -> Iterator[str]:
    """Return which locks it has that others wait for, the index of rows, too."""
    told = dict.fromkeys(one.said for one in waits if not one.queued)
    if told:
        which = " (of FLUSH TABLES WITH READ LOCK or a backup)" * (words.READ_OR_BACKUP_LOCK in told)
        yield f"what others wait for: {listed(list(told))}{which}"


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


def how_to_find(found: Found, waits: Process | None) -> list[str]:
    """Return where the holder can be found, and what would show it."""
    of_it = kind(waits) if waits and not waits.state.startswith(TABLE_LEVEL) else ""
    known = list(_to_know(found, hangs=of_it == SERVER)) if of_it else []
    if of_it == USER:
        return ["SELECT IS_USED_LOCK('its name')", *known]
    if found.missing:
        return ["GRANT what is missing, see below", *known]
    return ["see SHOW FULL PROCESSLIST for what is older", *known]


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
