"""One look at the open transactions of a cluster, and at who waits for whom."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_transactions import asking, clients, telling
from stallwatch.probes.ndb_transactions.evidence import Evidence
from stallwatch.probes.ndb_transactions.known import INACTIVE, Known
from stallwatch.probes.ndb_transactions.waits import wanted
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import MissingTableError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

# Types 1 to 3: tables, and unique hash indexes, which are tables of their own.
_NAMES = "SELECT id, fq_name FROM ndbinfo.dict_obj_info WHERE type IN (1, 2, 3) AND id IN (%s)"


class Asked(NamedTuple):
    """What the user asked for."""

    alerts: Callable[[str, float | None], bool]  # whether a threshold of that name alerts on a value
    so_far: Callable[[Iterable[Finding]], None]  # takes what is known if the run ends before all is
    everything: bool = False  # tell of transactions also where nothing is wrong


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what is open and who waits; raises a ProbeError."""
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    begun = time.monotonic()
    known = Known(asking.totals(ndbinfo), asked.alerts)
    for step in (_ask_locks, _ask_longest, _ask_involved):
        asked.so_far([*telling.findings(known), *cluster.asides()])
        step(ndbinfo, asked, known)
    _ask_who(ndbinfo, known, begun)
    yield from telling.findings(known)
    yield from cluster.asides()


def _ask_locks(ndbinfo: Ndbinfo, _: Asked, known: Known) -> None:
    """Look at the locks if anybody might wait for one, and if there are not too many."""
    operations = known.totals.operations
    if not known.totals.active:
        known.waits = wanted((), ())
        return
    if operations > asking.MOST_OPERATIONS:
        known.unread.append(ProbeError(f"who waits for whom is not looked at, of {operations} operations"))
        return
    try:
        waiting = asking.waits(ndbinfo, known.unclear)
    except MissingTableError:
        known.notes.append(Fault(State.OK, "this version does not tell who waits for whom"))
    except ProbeError as error:
        known.unread.append(_unread("who waits for whom", operations, error))
    else:
        known.has_more = len(waiting) >= asking.MOST_LOCKS
        if waiting:
            known.waits = wanted(waiting, (), is_whole=False)
            _ask_holders(ndbinfo, known, waiting)
        elif not known.unclear:
            known.waits = wanted((), ())


def _ask_holders(ndbinfo: Ndbinfo, known: Known, waiting: list[asking.Lock]) -> None:
    rows = list(dict.fromkeys(lock.row for lock in waiting))
    if len(rows) > asking.MOST_ROWS:
        words = f"who holds them is looked at of {asking.MOST_ROWS} of {len(rows)} rows that are waited for"
        known.notes.append(Fault(State.OK, words))
    try:
        held = asking.holds(ndbinfo, rows[: asking.MOST_ROWS], known.unclear)
    except ProbeError as error:
        known.unread.append(_unread("who holds what others wait for", known.totals.operations, error))
        return
    is_whole = not (known.has_more or known.unclear)
    if len(held) >= asking.MOST_LOCKS:
        known.notes.append(Fault(State.OK, f"{asking.MOST_LOCKS} holders are looked at, there may be more"))
        is_whole = False
    known.waits = wanted(waiting, held, is_whole=is_whole)


def _unread(what: str, operations: int, error: ProbeError) -> ProbeError:
    if isinstance(error, NoAnswerError) and error.number:  # the server has given up, and can be asked again
        return ProbeError(f"{what} took too long to read, of {operations} operations")
    return ProbeError(f"{what} is not known: {error.what}", error.advice)


def _ask_longest(ndbinfo: Ndbinfo, asked: Asked, known: Known) -> None:
    """Look which transactions have asked nothing for long, or with -v which are open."""
    everything = asked.everything and known.totals.transactions
    if not (everything or asked.alerts(INACTIVE, known.totals.inactive)):
        return
    try:
        known.longest = asking.longest(ndbinfo, known.unclear)
    except ProbeError as error:
        known.notes.append(Fault(State.OK, f"its client is not seen: {error.what}"))


def _ask_involved(ndbinfo: Ndbinfo, _: Asked, known: Known) -> None:
    """Find out of which transactions the locks are that are to be told."""
    try:
        found = asking.transactions(ndbinfo, known.told(), known.unclear)
    except ProbeError as error:
        known.notes.append(Fault(State.OK, f"whose locks they are stays unseen: {error.what}"))
    else:
        known.involved = {one.id: one for one in found}


def _ask_who(ndbinfo: Ndbinfo, known: Known, begun: float) -> None:
    """Find out who that is, and which tables the locks are of."""
    evidence = Evidence(ndbinfo)
    known.clients = clients.ask(evidence, [*(known.longest or ()), *known.involved.values()], begun)
    rows = evidence.rows_in("the name of the table", _NAMES, {row.table for row in known.told_rows()})
    known.tables = {whole(row, "id"): str(row["fq_name"]).replace("/def/", ".") for row in rows}
    known.notes += evidence.unseen
