"""Transactions and waits for rows as SHOW ENGINE INNODB STATUS lists them, where INNODB_TRX is too costly.

MySQL 5.7 and MariaDB collect all pairs of who waits for whom for each look at INNODB_TRX, and hold up all
that lock rows meanwhile. Measured on MariaDB 10.11.19 while connections wait for one row: 0.13 s with 500,
1.2 s with 1,000, 6.3 s with 2,000 of them. The status takes 20 ms with 2,000. It has 1 MiB at most, of which
the start of this list is cut: the oldest transactions, which are at its end, stay.
"""

from __future__ import annotations

import re

from stallwatch.probes.mysql.locks.graph import LockKind, Wait
from stallwatch.probes.mysql.locks.rows import Transaction, has_no_data_locks
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.probes.mysql.innodb import Answer
    from stallwatch.probes.mysql.processes import Process

WAITING = "Innodb_row_lock_current_waits"  # the status variable that counts those that wait for rows
MANY = 300  # of them, from which on this is asked instead
LONGEST = 4.0  # seconds: limit for the status
_LIST = r"(?ms)^LIST OF TRANSACTIONS FOR EACH SESSION:$(.*?)(?:^-+\nFILE I/O|\Z)|^\.\.\. truncated\.\.\.$(.*)"
_TRANSACTION = r"(?m)^---TRANSACTION "
_HEAD = r"(?P<id>\d+), ACTIVE (?:\(PREPARED\) )?(?P<age>\d{1,20}) sec"
_LOCKS = r"(?m)^(?P<state>[A-Z ]*?)\s*\d+ lock struct\(s\).*?, (?P<locked>\d{1,20}) row lock\(s\)"
_UNDO = r"(?m) undo log entries (\d{1,20})$"
_THREAD = r"(?m)^(?:MySQL|MariaDB) thread id (\d{1,20}), "
_WAITING = r"(?m)^-+ TRX HAS BEEN WAITING (\d{1,20}) (us|SEC) FOR THIS LOCK"
_FOR = (
    r"(?m)^RECORD LOCKS space id (?P<space>\d+) page no (?P<page>\d+) .*?"
    r"index (?P<key>\S+) of table (?P<table>`.*?`) trx id .*waiting\s*\n"
    r"(?:Record lock, heap no (?P<heap>\d+))?"
)


def is_better(asking: Asking, waiting: float) -> bool:
    """Whether so many wait for rows that the status is to be asked instead of INNODB_TRX."""
    return waiting > MANY and has_no_data_locks(asking)


def ask(asking: Asking, budget: float = LONGEST, listed: Sequence[Process] | None = None) -> Answer:
    """Ask for the status, within ``budget`` seconds.

    ``listed`` is the process list, if it is known: that of 10,000 connections takes 9 MB.
    """
    from stallwatch.probes.mysql import innodb

    if asking.lost:
        return innodb.Answer(why=asking.lost)
    return innodb.ask_status(asking.server, budget, listed=listed)


def read(status: str) -> tuple[tuple[Transaction, ...], dict[str, tuple[str, str]]]:
    """Read the transactions that are open, and by row the table and index of those that are waited for."""
    section = re.search(_LIST, status)
    found, tables = [], {}
    for part in re.split(_TRANSACTION, (section[1] or section[2] or "") if section else ""):
        if not (head := re.match(_HEAD, part)):
            continue
        locks, undo, thread, waiting, lock = (
            re.search(pattern, part) for pattern in (_LOCKS, _UNDO, _THREAD, _WAITING, _FOR)
        )
        row = ""
        if waiting and lock:
            row = f"{lock['space']}:{lock['page']}:{lock['heap']}"
            tables[row] = lock["table"].replace("`", ""), lock["key"].strip("`")
        one = Transaction(
            id=head["id"],
            process=int(thread[1]) if thread else 0,
            age=float(head["age"]),
            waiting=_seconds(waiting) if waiting else None,
            modified=int(undo[1]) if undo else 0,
            locked=int(locks["locked"]) if locks else 0,
            rolls_back=bool(locks and locks["state"] == "ROLLING BACK"),
            started=head["id"],
            row=row,
        )
        found.append(one)
    return tuple(found), tables


def _seconds(waiting: re.Match[str]) -> float:
    return int(waiting[1]) / (1e6 if waiting[2] == "us" else 1.0)


def waits(
    transactions: Sequence[Transaction], tables: Mapping[str, tuple[str, str]], most: int = 1
) -> Iterator[Wait]:
    """Let all wait for the only one that has rows, does not wait, and is older than the longest wait.

    Nothing shows pairs, so a holder is only probable. ``most`` limits the holders: one has the row, or each
    has one of several rows.
    """
    waiting = [one for one in transactions if one.waiting is not None]
    longest = max((one.waiting or 0.0 for one in waiting), default=0.0)
    heads = [one for one in transactions if one.waiting is None and one.locked and one.age + 1 >= longest]
    for one in waiting if len(heads) <= most else ():
        on, key = tables.get(one.row, ("", ""))
        for head in heads:
            row = one.row or f"of {one.process}"
            yield Wait(one.process, head.process, LockKind.ROW, on, key, certain=False, row=row)
