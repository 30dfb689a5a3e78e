"""R9, R10, R16, R17, R19: the applier works, but not as fast as the source did."""

from __future__ import annotations

from stallwatch.probes.mysql import statements
from stallwatch.probes.replication_lag.causes.case import Cause, rule
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain, say_count, say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.signals.scans import Scan

_READ_PER_SECOND = 100_000
_READ_PER_CHANGE = 1000
_SCANNED_PER_SECOND = 20_000  # by an applier's thread of MySQL
_SCANNED_PER_CHANGE = 40  # it looks for some 450 rows at once
_LONG = 5.0  # seconds; of the lag it has to be half as well
_WAIT, _SPLIT = "wait for it", "wait, then split such transactions on the source"
_ADD_KEY, _QUIET_HOUR = "add a primary key", "add the key in a quiet hour: that copies the table"
_SLOW_ROWS = "look at its keys, triggers, functions"
_UNKNOWN_ROWS = "wait, and see in the source's binary log how many rows it changes"
_MANY, _FEW = 10_000, 100.0  # rows, and rows per second: to split helps, or does not
_PARALLEL_BY_DEFAULT = (8, 0, 27)  # MySQL: commits stay in order, and not only schemas are apart
_CORE = 90.0  # per cent of a processor
_IDLE_DISK = 50.0  # per cent
_RISES = 0.02  # seconds of lag per second
_DURABLE = ("sync_binlog", "innodb_flush_log_at_trx_commit")
_ALONE = 1.2  # appliers at work, on average


@rule("R10", "R16", "R17", slow=True)
def r9_no_usable_key(case: Case) -> Cause | None:
    """Blame a table without a usable key: each changed row is looked for by reading the whole table.

    MariaDB 10.11.19: 2.1 to 2.9 million rows read per second, 20 000 to 40 000 for each that was changed,
    25 s for what took the source 0.07 s. MySQL 8 and later put the rows of an event into a hash table and
    read the table once for each event: 46 to 400 rows read for each row changed, 0.3 to 1 million per second.
    MySQL counts rows per thread, so only the applier's own count is used. With a key that is 0.

    The other counters are those of the whole server: a dump that scans makes them rise as much. So it is
    certain only where InnoDB shows that the table has no key and nobody else may be at work, and is called
    likely where one of both is known.
    """
    if scans := _own_scans(case):
        return _scanned(case, max(scans, key=lambda one: one.reads))
    read = case.signals.rate("Handler_read_rnd_next")
    changed = case.signals.grown("Handler_update", "Handler_delete")
    if read is None or changed is None or read < _READ_PER_SECOND:
        return None
    applier = case.lasting(activity.FINDS_ROW)
    per_change = (case.signals.grown("Handler_read_rnd_next") or 0.0) / max(changed, 1.0)
    if not applier or per_change < _READ_PER_CHANGE:
        return None
    table = statements.changed_table(applier.info, applier.database)
    proven, disputed = case.signals.keyless.get(table), _others_may_read(case)
    reads = f"({say_count(per_change)} rows read for each change)"
    if proven:
        likely = f"probably each changed row is looked for in all of table {table}, which has no key"
        what = likely if disputed else f"table {table} has no usable key {reads}"
        return Cause(64 if disputed else 80, what, _ADD_KEY, more=(_QUIET_HOUR,))
    if disputed or proven is False:
        return None
    which = f"table {table}" if table else "the table being changed"
    advice = f"see the keys of {table}" if table else "see which tables have no primary key"
    return Cause(64, f"{which} likely has no usable key {reads}", advice)


def _own_scans(case: Case) -> list[Scan]:
    """List what this channel's appliers have been seen to read, where their threads are counted (MySQL 8)."""
    own = {one.id for look in case.appliers[-1:] for one in look}
    return [one for one in case.signals.scans if one.process in own]


def _scanned(case: Case, scan: Scan) -> Cause | None:
    """Report that the applier itself reads whole tables, and which of those that it changes has no key."""
    if scan.reads < _SCANNED_PER_SECOND or scan.per_change < _SCANNED_PER_CHANGE:
        return None
    if not case.lasting(activity.FINDS_ROW):
        return None
    reads = f"({say_count(scan.reads)} rows/s read in scans)"
    without = [table for table in scan.tables if case.signals.keyless.get(table)]
    if without:
        which = (
            f"table {without[0]} has no usable key"
            if not without[1:]
            else f"tables {listed(without)} have no key"
        )
        return Cause(80, f"{which} {reads}", _ADD_KEY, more=(_QUIET_HOUR,))
    which = f"table {' or '.join(scan.tables)}" if scan.tables else "the table being changed"
    return Cause(64, f"{which} likely has no usable key {reads}", "see which tables have no primary key")


def _others_may_read(case: Case) -> bool:
    """Whether a client or another channel is at work, or the applier itself waits for a row lock."""
    busy = any(one.is_client_at_work for look in case.signals.looks for one in look.processes)
    waits = any(one.waiting is not None for look in case.transactions for one in look)
    return busy or waits or bool(case.signals.backups) or not case.has_own_appliers


@rule("R16", "R17", slow=True)
def r10_one_transaction(case: Case) -> Cause | None:
    """Blame one long transaction, or a statement like ALTER (INNODB_TRX; performance_schema of MySQL 8).

    One that waits for a lock or a flush is not to blame.
    """
    if case.waits:
        return None
    found = list(_at_work(case))
    if not found:
        return _defines(case)
    seconds, about, modified = max(found, key=lambda one: one[:2])
    if seconds < max(_LONG, (case.lag.seconds or 0.0) / 2):
        return None
    what = f"one transaction has run for {say_duration(seconds)}"
    what += f" ({about})" if about else ""
    if _runs_definition(case):
        return Cause(78, what, _WAIT)
    advice = _for_rows(modified, seconds)
    few = f"{plural(modified or 0, 'row')} changed so far, so to split it would probably not help"
    return Cause(78, what, advice, more=(few,) if advice == _SLOW_ROWS else ())


def _for_rows(modified: int | None, seconds: float) -> str:
    """Return what helps: to split it only where it changes many rows, as INNODB_TRX counts them."""
    if modified is None:
        return _UNKNOWN_ROWS
    if modified >= _MANY:
        return _SPLIT
    return _SLOW_ROWS if modified < _FEW * seconds else _UNKNOWN_ROWS


def _defines(case: Case) -> Cause | None:
    """Report an ALTER TABLE or its like whose start nothing shows (MySQL 5.7)."""
    applier = case.lasting(activity.DEFINITION)
    if not applier:
        return None
    what = f"the applier runs {statements.said(applier.info) or applier.state}"
    return Cause(70, what, _WAIT)


def _runs_definition(case: Case) -> bool:
    last = case.appliers[-1:]
    return any(statements.defines(one.info) for look in last for one in look)


def _at_work(case: Case) -> Iterator[tuple[float, str, int | None]]:
    """Give for how many seconds appliers have been at one transaction, what it is, and its rows so far.

    A statement like ALTER TABLE has no transaction; on MariaDB its time is its own.
    """
    processes, commits, flavour = case.signals.processes, case.snapshot.commits, case.signals.flavour
    changed = {one.process: one.tables for one in case.signals.scans}
    rows = {one.process: one.modified for one in case.signals.transactions}
    for transactions in case.transactions[-1:]:
        for one in transactions:
            about = _about(one.modified, processes.get(one.process), changed.get(one.process, ()))
            yield one.age, about, one.modified
    of_thread = {one.thread: processes.get(one.id) for one in case.signals.threads}
    for worker in commits.workers if commits else ():
        process = of_thread.get(worker.thread or 0)
        pauses = process and not process.info and process.id not in rows  # to try again: after a lock timeout
        if worker.applying and worker.applying_since and not pauses:
            modified = rows.get(process.id) if process else None
            yield case.snapshot.now - worker.applying_since, _about(modified or 0, process), modified
    for appliers in case.appliers[-1:]:
        for applier in appliers:
            if flavour and flavour.mariadb and statements.defines(applier.info):
                yield applier.seconds, _about(0, applier), None


def _about(modified: int, process: Process | None, tables: Sequence[str] = ()) -> str:
    """Return how many rows are changed so far, and the statement, or in which tables."""
    rows = f"{say_count(modified)} rows so far" if modified else ""
    statement = statements.said(process.info) if process else ""
    return ", ".join(filter(None, [rows, statement or listed(tables)]))


@rule("R18", "R19", slow=True)
def r16_single_threaded(case: Case) -> Cause | None:
    """Blame a single applier that uses a whole processor, or falls behind beside an idle disk."""
    known = case.signals.workers
    if not known or known[1] > 1 or case.is_idle or case.waits:
        return None
    name, number = known
    host, (advice, how) = case.signals.host, _parallel(case, name)
    more = (f"{name} = {number}", how)
    own = [host.busy_threads[one] for one in case.os_threads if one in host.busy_threads]
    if own and max(own) >= _CORE:
        return Cause(55, "one applier thread takes a whole processor", advice, more=more)
    rises = case.trend and case.trend.slope > _RISES
    if not own and rises and host.load and host.load.busy < _IDLE_DISK:
        what = f"probably one applier thread is too few, the disk is {host.load.busy:.0f} % busy"
        return Cause(0.6 * 55, what, advice, more=more)
    return None


def _parallel(case: Case, name: str) -> tuple[str, str]:
    """Return how to apply side by side. MariaDB refuses it while any applier runs (1198, 10.11.19)."""
    flavour, change = case.signals.flavour, f"SET GLOBAL {name} = 4"
    if flavour and flavour.mariadb:
        return f"STOP ALL SLAVES, {change}, START ALL SLAVES", "MariaDB refuses that while an applier runs"
    if flavour and flavour.version < _PARALLEL_BY_DEFAULT:
        needs = "LOGICAL_CLOCK and slave_preserve_commit_order = ON first, else commits overtake"
        return f"stop the applier, {change}", f"that needs slave_parallel_type = {needs}"
    return f"{change}, then restart the applier", "the variable holds from the next start of the applier on"


@rule(slow=True)
def r17_parallelism_unused(case: Case) -> Cause | None:
    """Show that several appliers wait for one another: for the order of commits, or what depends on what."""
    known = case.signals.workers
    if not known or known[1] <= 1 or not case.lasting(activity.ORDER) or case.waits:
        return None
    busy = case.busy
    if busy > _ALONE:
        return None
    what = f"{known[1]} appliers wait for one another ({plain(round(busy, 1))} at work)"
    more = ("or the source commits in small groups",)
    return Cause(50, what, "look for one large transaction on the source", more=more)


@rule(slow=True)
def r19_commits_slowly(case: Case) -> Cause | None:
    """Blame the commits: appliers are seen in them half of the time."""
    share = case.share(activity.COMMIT)
    if share < 1 / 2 or not case.lasting(activity.COMMIT):
        return None
    known = case.signals.settings
    durable = ", ".join(f"{name} = {known[name]}" for name in _DURABLE if name in known)
    what = f"the appliers commit {100 * share:.0f} % of the time"
    more = (*filter(None, [durable]), "more appliers would commit together")
    if known.get(_DURABLE[0]) == "0" and known.get(_DURABLE[1]) in ("0", "2"):  # nothing is synced at commit
        return Cause(45, what, "look how busy the disk is", more=more)
    return Cause(45, what, "look how long the disk takes to sync", more=more)
