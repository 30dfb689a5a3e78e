"""A server that lets nobody in, not even us: max_connections is used up, and that is the finding."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.history.delta import LEAST
from stallwatch.probes.mysql_status.lasting import Lasting
from stallwatch.probes.mysql_status.sets.connections import TURNED_AWAY
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.sources.mysql import UnreachableError

TOO_MANY = 1040  # ER_CON_COUNT_ERROR of MySQL and MariaDB
_ADVICE = (
    "see who is connected and what they wait for: one place is reserved for CONNECTION ADMIN (SUPER), and "
    "MySQL's admin_address and MariaDB's extra_port let in administrators, too"
)


def finding(error: UnreachableError, memory: dict[str, Any], confirm: int, *, sampled: bool) -> Fault:
    """Judge a log-in that was refused: CRITICAL after ``confirm`` looks in a row, a WARNING before.

    The looks count together with those that are let in and see others turned away. Raises the ``error`` if
    it says anything else.
    """
    if error.number != TOO_MANY:
        raise error
    lasting = Lasting(memory)
    if lasting.since >= LEAST or not lasting.of(TURNED_AWAY[0]):
        lasting.count(TURNED_AWAY, refused=True)
    looks = lasting.of(TURNED_AWAY[0])
    lasts = looks >= confirm
    of = "" if lasts else " (one sample)" if sampled else f" ({looks} of {confirm} looks)"
    what = f"max_connections is used up: not even this check is let in{of}"
    return Fault(State.CRITICAL if lasts else State.WARNING, what, error.what, _ADVICE)
