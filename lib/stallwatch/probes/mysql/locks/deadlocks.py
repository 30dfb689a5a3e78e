"""The latest deadlock in SHOW ENGINE INNODB STATUS: whose statements, and for which tables they waited.

The section is alike in MySQL 9.7.2, MariaDB 10.11.19 and 11.4.5: "*** (1) TRANSACTION:", the transaction with
its thread and its statement, then the locks, of which the one that is waited for ends with "waiting". MySQL
also lists what each holds.
"""

from __future__ import annotations

import re
from datetime import datetime

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECTION = r"(?ms)^LATEST DETECTED DEADLOCK\n-+\n(.*?)^-+\n^TRANSACTIONS$"
_MOMENT = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) "
_WRITTEN = rf"(?m)^{_MOMENT}.*INNODB MONITOR OUTPUT$"
_PARTY = r"(?m)^\*\*\* \((\d+)\) TRANSACTION:\n"
_THREAD = r"(?m)^(?:MySQL|MariaDB) thread id (\d{1,20}), OS thread handle \S+, query id \d+ ?(.*)$"
_WAITS = (
    r"(?m)^(?:RECORD LOCKS .*? index (?P<key>\S+) of|TABLE LOCK) table (?P<table>`.*?`) trx id \S+ .*waiting$"
)
_ROLLED_BACK = r"(?m)^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)"


class Party(NamedTuple):
    """One of those that waited for each other."""

    connection: int
    statement: str  # with its values
    table: str  # that it waited for, "shop.orders"
    key: str  # the index
    is_rolled_back: bool


def latest(status: str) -> tuple[Party, ...]:
    """Read the parties of the latest deadlock; none: no deadlock, or in another format."""
    section = re.search(_SECTION, status)
    return tuple(_parties(section[1])) if section else ()


def moment(status: str) -> tuple[str, float] | None:
    """Read when the latest deadlock was: "2026-11-28 05:49:46", and how many seconds before the status.

    Both times are in the server's zone: when its clocks change, the seconds may be wrong by an hour.
    """
    section, written = re.search(_SECTION, status), re.search(_WRITTEN, status)
    if not section or not written or not (begun := re.match(_MOMENT, section[1])):
        return None
    try:
        passed = datetime.fromisoformat(written[1]) - datetime.fromisoformat(begun[1])
    except ValueError:  # no such day
        return None
    return begun[1], passed.total_seconds()


def _parties(section: str) -> Iterator[Party]:
    victim = re.search(_ROLLED_BACK, section)
    _, *parts = re.split(_PARTY, section)
    for number, part in zip(parts[::2], parts[1::2], strict=True):
        thread, waits = re.search(_THREAD, part), re.search(_WAITS, part)
        statement = part[thread.end() : _end(part, thread.end())].strip() if thread else ""
        yield Party(
            int(thread[1]) if thread else 0,
            statement,
            waits["table"].replace("`", "") if waits else "",
            (waits["key"] or "").strip("`") if waits else "",
            bool(victim and victim[1] == number),
        )


def _end(part: str, begin: int) -> int:
    """Find where the statement ends, which may have several lines."""
    end = part.find("\n*** ", begin)
    return len(part) if end < 0 else end
