"""Words for locks, for who holds them, and for the step that ends them."""

from __future__ import annotations

from stallwatch.causes import Certainty, Kind
from stallwatch.line import Forms, in_all_forms
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks.ending import Step
from stallwatch.probes.mysql.locks.graph import LockKind
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from stallwatch.causes import Cause
    from stallwatch.probes.mysql.locks.ending import Head, NextStep
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.processes import Process, Program

# A replica of MySQL 8 has those of its source, which are ended there.
OF_XA = Forms("an XA transaction without a connection", "an XA transaction")
# What a lock is called, and the word before what it is of.
_LOCKS = {
    LockKind.ROW: ("row lock", " on"),
    LockKind.METADATA: ("metadata lock", " on"),
    LockKind.DATABASE: ("metadata lock on database", ""),
    LockKind.TABLE: ("lock of table", ""),
    LockKind.READ: ("global read lock", ""),
    LockKind.BACKUP: ("backup lock", ""),
    LockKind.SERVER: ("global lock", ""),
    LockKind.FLUSH: ("flush of tables", ""),
    LockKind.STATEMENT: ("end of its statement", ""),
    LockKind.USER: ("user lock", ""),
}
# What a head does, where the rule that has decided knows it.
_DOES = {
    "rolls_back": Forms("which rolls back"),
    "killed": Forms("killed already"),
    "one_of_several_without_connection": Forms("prepared or rolling back"),
    "commits_for_long": Forms("waiting for the disk (COMMIT)", "waiting for the disk"),
    "waits_for_space": Forms("waiting for space on a disk"),
    "waits_for_ack": Forms("waiting for the ACK of a semi-sync replica", "waiting for a semi-sync ACK"),
}
# Of each step the forms, longest first. {one} is the connection, {all} are all of them; {who} is the
# transaction without a connection, where several are spoken of, or nothing.
_STEPS: dict[Step, tuple[str, ...]] = {
    Step.KILL: ("KILL {all}{where}{rolls}, or let it {by}", "KILL {all}{where}{rolls}", "KILL {all}{where}"),
    Step.CHECK_FIRST: ("check {it}, then KILL {all}{where}",),
    Step.CHECK_WHICH: ("check which of them has it, then end that one alone", "check which of them has it"),
    Step.CHECK_WHICH_ONLY: ("check which of them has it",),
    Step.KILL_ONE_OF: ("KILL {one_of}{all}",),
    Step.LET_GO: ("let {one} {by}: KILL first rolls {rows} rows back, locked as long", "let {one} {by}"),
    Step.LET_BACKUP_END: ("let that backup end, or KILL {one}{where}", "let that backup end"),
    Step.LOOK_AGAIN: ("look again: if {one} is still at the head, KILL {one}{where}", "look again"),
    Step.WAIT_FOR_ROLLBACK: ("wait for the rollback{of}: KILL does not help", "wait for the rollback{of}"),
    Step.WAIT_FOR_APPLIER: (
        "wait{for_}: check_replication_lag shows what holds up the applier",
        "wait{for_}",
    ),
    Step.WAIT_FOR_THREAD: ("wait{for_}: it is a thread of the server", "wait{for_}"),
    Step.WAIT_FOR_TIMEOUT: ("wait until one of the waits times out",),
    Step.SEE_DISK: ("see what keeps the disk busy (check_host)", "see check_host"),
    Step.END_BY_XA: (
        "end {xa} by XA where it began (XA RECOVER, XA COMMIT or ROLLBACK): here or on the source",
        "XA RECOVER, then XA COMMIT or XA ROLLBACK of what it lists",
        "XA RECOVER, then XA ROLLBACK or COMMIT",
    ),
    Step.END_OWN_BY_XA: (
        "end {one}{where} by XA COMMIT or XA ROLLBACK: KILL leaves it prepared",
        "end {one}{where} by XA COMMIT or XA ROLLBACK",
    ),
    Step.FIND_BY_XA: ("see which of them XA RECOVER lists",),
    Step.CHECK_XA: (
        "KILL {one}{where}{rolls}, then XA COMMIT or ROLLBACK if XA RECOVER lists it",
        "KILL {one}{where}, then see XA RECOVER",
    ),
    Step.FIND_USER_LOCK: ("SELECT IS_USED_LOCK('its name')",),
    Step.GRANT: ("GRANT what is missing, see below",),
    Step.FIND_OLDER: (
        "see INNODB_TRX and SHOW FULL PROCESSLIST for what is older",
        "see INNODB_TRX for what is older",
    ),
    Step.SEE_RETRIES: ("see whether the clients try again",),
    Step.ORDER_ROWS: ("let {both} lock rows in the same order",),
    Step.SEE_STATUS: ("see SHOW ENGINE INNODB STATUS",),
    Step.FREE_SPACE: ("free space there: KILL does not help", "free space there"),
    Step.START_REPLICA: (
        "start one, or SET GLOBAL rpl_semi_sync_source_enabled = OFF (or rpl_semi_sync_master_enabled)",
        "start one, or switch semi-sync off",
        "start one",
    ),
    Step.SEE_REPLICAS: (
        "see the replicas and the links to them, or switch semi-sync off: KILL does not help",
        "see the replicas, or switch semi-sync off",
    ),
    Step.SEE_CLUSTER: (
        "see whether all members of the cluster are there and in step: KILL does not help",
        "see the members of the cluster",
    ),
    Step.FIND_PRIMARY: (
        "see the other members first, they may have a primary: KILL does not help",
        "see the other members first",
    ),
    Step.SEE_APPLIER: ("see what keeps its applier (SHOW PROCESSLIST)",),
    Step.SEE_QUEUES: ("see which member is behind: KILL does not help", "see which member is behind"),
    Step.SEE_MEMBER: ("see that member: KILL does not help", "see that member"),
    Step.LET_IT_END: ("let it end: KILL does not help who waits", "let it end"),
    Step.SEE_REDO: ("see check_innodb_redo_log",),
    Step.SEE_ERROR_LOG: (
        "see its error log, have what it shows of them, then restart the server",
        "see its error log",
    ),
    Step.SEE_PROCESSES: ("see SHOW FULL PROCESSLIST",),
}


def step(next_: NextStep, where: str = "", *, named: bool = False) -> Forms:
    """Write a next step.

    ``where`` is the server, as " on the replica". ``named``: several heads are spoken of, so that it has to
    be named.
    """
    ids = [str(one) for one in next_.connections if one]
    several = len(ids) > 1
    who = (ids[0] if ids else "the transaction without a connection") if named else ""
    forms = _STEPS[next_.step][several and next_.step is Step.KILL :]  # several have no second choice
    parts = {
        "one": ids[0] if ids else "",
        "all": listed(ids),
        "one_of": "one of " * several,
        "it": "them" if several else "it",
        "both": "both" if len(next_.connections) == 2 else "all",  # noqa: PLR2004 - words
        "where": where,
        "by": next_.release.value,
        "rows": say_count(next_.rows),
        "rolls": f" (rolls {plural(next_.rows, 'row')} back)" if next_.rows else "",
        "of": f" of {who}" if who else "",
        "for_": f" for {who}" if who else "",
        "xa": "the XA transaction" if named else "it",
    }
    return Forms(*dict.fromkeys(form.format(**parts) for form in forms))


def who(connection: int, process: Process | None, program: Program | None = None) -> str:
    """Name a connection: ``204 root@localhost (mysqldump pid 32318)``."""
    account = f" {process.user}@{process.host.partition(':')[0]}" if process else ""
    if not program or not program.name:
        return f"{connection}{account}"
    return f"{connection}{account} ({program.name}{f' pid {program.pid}' if program.pid else ''})"


def whose(head: Head, program: Program | None = None) -> Forms:
    """Name a connection, or the transaction that none has."""
    if head.connection and head.process and head.process.is_system:
        return Forms(f"applier {head.connection}")
    if head.connection:
        long = f"connection {who(head.connection, head.process, program)}"
        return Forms(long, f"connection {head.connection}")
    if not head.transaction:
        return Forms("one of several transactions without a connection")
    if head.transaction.rolls_back:
        return Forms("a transaction from before the last start of the server", "an old transaction")
    return OF_XA


def does(head: Head, cause: Cause) -> str:
    """Return what a head does, as the rule that has decided knows it, or as the server shows."""
    if known := _DOES.get(cause.evidence):
        is_doubted = cause.kind is Kind.SLOW_DISK and cause.certainty is not Certainty.CERTAIN
        return in_all_forms(known, lambda one: f"probably {one}") if is_doubted else known
    if head.process:
        return doing(head.process) or "at work"
    if head.waits and head.transaction:
        return Forms(f"open for {say_duration(head.transaction.age)}", "open")
    return "not in the process list" if head.connection else "prepared, not committed"


def doing(process: Process | None) -> str:
    """Return what a connection does: ``idle for 3 min``, ``runs UPDATE shop.orders``."""
    if not process:
        return ""
    if process.command == "Sleep":
        return Forms(f"idle for {say_duration(process.seconds)}", "idle") if process.tells_idle else "idle"
    does = f"runs {statements.said(process.info)}" if process.info else process.state
    return Forms(does, "at work") if does else ""


def lock(wait: Wait) -> str:
    """Name what is waited for: ``row lock on shop.orders, index PRIMARY``."""
    name, before = _LOCKS[wait.lock]
    return f"{name}{f'{before} {wait.on}' if wait.on else ''}{f', index {wait.key}' if wait.key else ''}"
