"""R5: the applier waits for a FLUSH TABLES, which itself waits for a statement."""

from __future__ import annotations

from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.locks.metadata import FLUSH
from stallwatch.probes.mysql.locks.suspects import oldest_statement
from stallwatch.probes.replication_lag.causes.case import ON, Cause
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.replication_lag.causes.case import Case

_WORTH = 5.0  # seconds of a statement


def of_tables(case: Case, waits: Process, since: str) -> Cause:
    """Report a FLUSH TABLES that waits for a statement: whoever opens such a table waits with it.

    The statement is older than the FLUSH. To end the FLUSH does not help (MySQL 9.7.2).
    """
    what = f'{case.subject} has been "{waits.state}"{since}'
    running = _running(case)
    begun = max((one.seconds for one in running if FLUSH.search(one.state)), default=None)
    if begun is not None:
        what += f", behind a FLUSH TABLES or its like of {say_duration(begun)} ago"
    oldest = oldest_statement(running)
    if not oldest or oldest.seconds < (begun or _WORTH):
        advice = "see in SHOW FULL PROCESSLIST which statement is older than the FLUSH"
        return Cause(88, what, advice)
    who = f"probably behind connection {case.who(oldest.id)}, {words.doing(oldest)}"
    ran = f"connection {oldest.id} has run its statement for {say_duration(oldest.seconds)}"
    more = (what, f"the FLUSH waits for a statement that is older, {ran}")
    advice = f"{words.step(NextStep(Step.CHECK_FIRST, (oldest.id,)), ON)}, or wait"
    return Cause(88, f"{case.subject} waits for a FLUSH, {who}", advice, more=more)


def _running(case: Case) -> list[Process]:
    return [one for one in case.signals.processes.values() if one.is_client_s_statement]
