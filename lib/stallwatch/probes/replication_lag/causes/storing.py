"""R11 to R15, R18, R20 to R22: InnoDB, the disk, a backup, and the rest of the server's load.

R12, a backup or dump, is the finding of "Mystery Solved: Replication lag in InnoDB".
"""

from __future__ import annotations

from stallwatch.probes.mysql import innodb
from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.replication_lag.causes import locked
from stallwatch.probes.replication_lag.causes.case import Cause, backup, rule
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration, say_roughly, say_size
from stallwatch.words import plural, times

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.signals import Look
    from stallwatch.probes.replication_lag.signals.backups import Backup

_BUSY = 90.0  # per cent of the time that the disk has something to do
_HALF_BUSY = 50.0
_MISSES = 0.01  # of the pages that are wanted
_READS = 50  # pages per second from the disk
_LONG_HISTORY = 1_000_000  # transactions
_LONG_READER = 600.0  # seconds
_FREE = 1 << 30  # bytes of the file system
_SLOW_REQUEST = 0.005  # seconds
_PER_CORE = 2  # statements

# Of a disk beside a backup.
_BUSY_BACKUP = 80.0  # per cent of the time that it has something to do
_SLOW_COPY = 0.002  # seconds: what serves many requests at once is no slower for being always busy
_RISES = 0.02  # seconds of lag per second
_MOST_OF_BACKUP = 77.0  # score: less than what the applier itself shows

_WAITS = ("log_on_file_space_waits",)  # MySQL 8 and later, if enabled; Innodb_log_waits is of the log buffer
_FLUSHES = ("buffer_flush_sync_total_pages",)


@rule(slow=True)
def r11_redo_full(case: Case) -> Cause | None:
    """Blame a redo log near its stall point, or writers that had to wait for it within our looks."""
    fullest = case.signals.redo
    waits, flushes = case.signals.grown(*_WAITS) or 0, case.signals.grown(*_FLUSHES) or 0
    if not fullest or (fullest.fill < innodb.NEARLY_FULL and not waits and not flushes):
        return None
    what = f"the redo log is {fullest.fill:.0f} % full"
    if waits:
        what += f", writers waited {times(round(waits))}"
    more = [
        f"{say_size(fullest.age)} of the {say_size(fullest.stall)} at which writers wait are in the redo log"
    ]
    if written := case.signals.redo_rate:
        more.append(f"it holds {say_duration(fullest.stall / written)} of writes, an hour would be better")
    capacity = "innodb_redo_log_capacity"
    name = capacity if capacity in case.signals.settings else "innodb_log_file_size"
    worst = fullest.fill >= innodb.FULL or bool(waits)
    return Cause(83 if worst else 75, what, f"enlarge {name}", more=tuple(more))


@rule("R13")
def r12_backup_runs(case: Case) -> Cause | None:
    """Blame a backup that runs, unless R5 does; more so with a busy disk, or if the lag began with it."""
    blamed = locked.held_by(case)
    found = [one for one in case.signals.backups if not blamed.intersection(one.connections)]
    if not found:
        return None
    running = max(found, key=lambda one: (one.certain, one.pid is not None, one.seconds or 0.0))
    host = case.signals.host
    score = 60.0 if running.certain else 30.0
    what = backup(running) + ("" if running.certain else " on this host, of this server or another")
    more = [f"{backup(one)} runs, too" for one in found if one is not running]
    if host.load:
        score *= 1.4 if host.load.busy >= _BUSY_BACKUP and host.load.wait >= _SLOW_COPY else 1
        what += f", {host.disk} {host.load.busy:.0f} % busy"
    if _began_with(case, running):
        score *= 1.3
        more.insert(0, "the lag began with the backup")
    more.append("--throttle makes mariabackup and xtrabackup slower and gentler")
    advice = "let it end, take the next one from another replica"
    score = min(score, _MOST_OF_BACKUP)
    return Cause(score, what, advice, explains=running.certain, more=tuple(more))


def _began_with(case: Case, running: Backup) -> bool:
    """Whether at its present slope the lag was nothing when the backup began, or later."""
    lag, trend = case.lag.seconds, case.trend
    if not lag or not trend or trend.slope < _RISES or not running.seconds:
        return False
    return lag / trend.slope <= 1.1 * running.seconds


@rule(slow=True)
def r13_disk_busy(case: Case) -> Cause | None:
    """Blame the disk that the data is on, if it is busy without a backup (a proposal: not measured).

    One that serves many requests at once may be busy all the time with little to do: they have to wait, too.
    """
    host = case.signals.host
    if not host.load or host.load.busy < _BUSY or host.load.wait < _SLOW_REQUEST:
        return None
    what = f"disk {host.disk} is {host.load.busy:.0f} % busy, a request takes {say_duration(host.load.wait)}"
    return Cause(65, what, "run pidstat -d 1 to see who uses it")


@rule(slow=True)
def r14_buffer_pool_dumped(case: Case) -> Cause | None:
    """Blame a dump or load of the buffer pool, or the variable of old Percona Servers that dumps always."""
    if name := innodb.old_dump(case.signals.settings):
        dumps = "the LRU list is dumped again and again, which has held replication up elsewhere"
        return Cause(62, f"{name} is on", f"SET GLOBAL {name} = 0", more=(dumps,))
    if going_on := case.signals.buffer_pool:
        uptime = case.signals.counted[-1].numbers.get("Uptime")
        after = f", the server runs for {say_duration(uptime)}" if uptime and "load" in going_on else ""
        advice = "wait for it" + (
            ", or SET GLOBAL innodb_buffer_pool_load_abort = ON" if "load" in going_on else ""
        )
        return Cause(62, f"buffer pool {going_on}{after}", advice)
    return None


@rule(slow=True)
def r15_innodb_status_hangs(case: Case) -> Cause | None:
    """Report that SHOW ENGINE INNODB STATUS hangs, as it did for 2 to 3 minutes in "Mystery Solved"."""
    hanging = innodb.hanging(case.signals.processes.values())
    if not hanging:
        return None
    what = f"SHOW ENGINE INNODB STATUS of connection {hanging.id} hangs for {say_duration(hanging.seconds)}"
    return Cause(72, what, innodb.ADVICE)


@rule(slow=True)
def r18_buffer_pool_small(case: Case) -> Cause | None:
    """Blame pages that are not in the buffer pool. Evidence, no proof: a smaller pool has been faster."""
    waited = case.signals.grown("Innodb_buffer_pool_wait_free") or 0
    misses = case.signals.misses or 0.0
    reads = case.signals.rate("Innodb_buffer_pool_reads") or 0
    bound = misses >= _MISSES and reads >= _READS and _reads_wait(case)
    if not waited and not bound:
        return None
    what = f"{100 * misses:.1f} % of the pages come from the disk ({say_count(reads)} per second)"
    if waited:
        what += f", {plural(round(waited), 'wait')} for a free page"
    return Cause(45, what, "enlarge innodb_buffer_pool_size in small steps")


def _reads_wait(case: Case) -> bool:
    """Whether reads are seen to wait: pending ones in most samples, or a disk that is half busy."""
    counted = case.signals.counted
    pending = sum(one.numbers.get("Innodb_data_pending_reads", 0) > 0 for one in counted)
    load = case.signals.host.load
    return 2 * pending > len(counted) or bool(load and load.busy >= _HALF_BUSY)


@rule(slow=True)
def r20_history_long(case: Case) -> Cause | None:
    """Report that purge cannot clear away what the oldest transaction still may see."""
    history = case.signals.history
    processes = case.signals.processes
    own = {one.id for one in processes.values() if one.is_system}
    old = [one for one in case.signals.transactions if one.process not in own and one.age > _LONG_READER]
    if history is None or history < _LONG_HISTORY or not old:
        return None
    oldest = max(old, key=lambda one: one.age)
    what = f"purge is {say_count(history)} transactions behind"
    if oldest.is_detached:
        age = f"the oldest transaction is {say_duration(oldest.age)} old"
        advice = words.step(NextStep(Step.END_BY_XA))
        return Cause(35, f"{what} {words.OF_XA}", advice, more=(age,))
    what += f" one of connection {case.who(oldest.process)}, open for {say_roughly(oldest.age)}"
    return Cause(35, what, "see what it is for, and let it commit")


@rule()
def r21_no_relay_space(case: Case) -> Cause | None:
    """Report relay_log_space_limit, for which the receiver waits for the applier, or of a full disk."""
    limit = case.signals.settings.get("relay_log_space_limit", "0")
    free = case.signals.host.free
    if activity.RELAY_SPACE.search(case.snapshot.channel.receiver.state):
        size = say_size(float(limit)) if limit.isdecimal() else limit
        what = f"the receiver waits, relay_log_space_limit ({size}) is reached"
        more = ("the limit only keeps the backlog on the source",)
        return Cause(44, what, "look why the applier is slow", more=more)
    if free is not None and free < _FREE:
        what = f"only {say_size(free)} are free where the data is"
        more = ("remove binary logs by PURGE BINARY LOGS only, relay logs not at all",)
        return Cause(20, what, "free space there", explains=False, more=more)
    return None


@rule(slow=True)
def r22_other_load(case: Case) -> Cause | None:
    """Blame the rest of the load: at every look, twice as many statements run as there are processors.

    Threads_running would not do: MariaDB counts idle replication threads in (10.11.19), and all count who
    waits for a lock, for GET_LOCK or in SLEEP.
    """
    cores = case.signals.host.processors
    at_work = [_running(look) for look in case.signals.looks]
    if not cores or not at_work or min(at_work) < _PER_CORE * cores:
        return None
    what = f"{min(at_work)} statements run on {cores} processors"
    return Cause(40, what, "send reads to another replica, or find the slow statements")


def _running(look: Look) -> int:
    """Count the clients whose statements do not wait."""
    waiting = {one.process for one in look.transactions if one.waiting is not None}
    return sum(one.is_client_at_work and one.id not in waiting for one in look.processes)
