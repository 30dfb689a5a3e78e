"""R1, R2, R4, R7, R8, R24: the applier that does not run, the link, and heartbeats at its ends."""

from __future__ import annotations

import re

from stallwatch import withheld
from stallwatch.line import Forms
from stallwatch.probes.replication_lag.causes.case import ON_THE_LINE, SLOW, Cause, backup, rule
from stallwatch.probes.replication_lag.causes.locked import still_held
from stallwatch.probes.replication_lag.queries import LOCK_WAIT_TIMEOUT
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import have, plural

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.model import Worker

# Which worker and which place in the logs: the server has both. "Could not execute Write_rows_v1 event on
# table lab.orders; Duplicate entry ..." (MariaDB 10.11; MySQL 9.7 has no _v1).
_BEFORE = re.compile(r"Worker \d+ failed executing transaction '[^']*' at (source|master) log [^;]*; ?")
_EVENT = re.compile(r"Could not execute (\w+?)(?:_v\d)? event on table ([^;]+);")
# The place in the logs, and the statement with its values: both are on the server to be read.
_AFTER = re.compile(
    r"(,? Error_code: |\. The possible reasons are: |[.,;]? ?(Default database: |(on )?[Qq]uery: ?')).*",
    re.DOTALL,
)
_ON_TABLE = re.compile(r"\w+ on (?P<table>[^,]+)(?=,)")
_TABLE = re.compile(r"[Tt]able '([^']+)'")
_LETTERS = 100  # of the server's own words
_MOSTLY = 0.7  # of the lag
_WORTH = 5.0  # seconds
_SAME = 0.8  # of a heartbeat's age here is its age on the source, too
_COMPARE = "compare this row with the source"

_EXISTS = "compare that object with the source, then {start}"
_COLUMNS = "compare the columns of {table} with the source, then {start}"

# What helps when the applier stops with this error (MySQL 9.7, MariaDB 10.11 error references).
_APPLIER = {
    1007: _EXISTS,  # CREATE DATABASE, and so on: it is there already, or is not there any more
    1008: _EXISTS,
    1050: _EXISTS,
    1051: _EXISTS,
    1396: "compare that account with the source, then {start}",
    1032: _COMPARE,
    1062: _COMPARE,
    1451: _COMPARE,
    1452: _COMPARE,
    1054: _COLUMNS,
    1677: _COLUMNS,  # MySQL 8 and later: 13146
    13146: _COLUMNS,
    1756: "see the error log for what ended a worker, then {start}",
    1146: "find out who dropped or filters {table}, then restore it as of this event",
    LOCK_WAIT_TIMEOUT: "find who holds the row lock, then {start}",
    1213: "{start}: the applier gave up after deadlocks",
    1950: "find who writes to this replica, and compare gtid_binlog_pos with the source",
    3024: "raise max_execution_time for the applier, then {start}",
}
_FETCH = ("check that the source still has that log", "RESET without GTIDs begins with the first event")
_RELAY_LOG_DAMAGED = frozenset({1594, 13121})


@rule(SLOW, "R5", "R6", "R8", "R12", down=True)
def r1_applier_failed(case: Case) -> Cause | None:
    """Show the error that the applier stopped with, in the words of the worker that failed (MySQL 5.7 on)."""
    applier = case.snapshot.channel.applier
    if applier.runs or not applier.errno:
        return None
    worker = _failed(case)
    text = _in_short(worker.error if worker and worker.error else applier.error)
    number = worker.errno if worker else applier.errno
    event = _ON_TABLE.match(text)
    what = f"the applier stopped with error {number}{_since(case, worker)}: {event[0] if event else text}"
    more = (f"error {number}: {text}",) if event else ()
    if number in _RELAY_LOG_DAMAGED:
        what = f"applier stopped with error {number}, the relay log is damaged"
        more = (f"error {number}{_since(case, worker)}: {text}",)
        return Cause(100, what, _fetch_again(case), more=(*more, *_FETCH))
    table = event["table"] if event else ""
    if number == LOCK_WAIT_TIMEOUT and (said := still_held(case, _seconds_since(case, worker), table)):
        holder, ended = said
        what = f"applier stopped with error {number}, row lock {holder}"
        more = (f"error {number}{_since(case, worker)}: {text}",)
        return Cause(100, what, f"{ended}, then {case.start('SQL_THREAD')}", more=more)
    advice = _APPLIER.get(number, "correct what the error names, then {start}")
    found = _TABLE.search(worker.error if worker and worker.error else applier.error)
    named = withheld.data(found[1]) if found else "that table"
    return Cause(100, what, advice.format(start=case.start("SQL_THREAD"), table=named), more=more)


def _fetch_again(case: Case) -> str:
    """Show how to refetch a relay log. RESET without GTIDs begins with the source's first event (9.7.2)."""
    file, offset = case.snapshot.channel.applied
    return f"fetch it again from {file}:{offset} ({case.change} TO)"


def _failed(case: Case) -> Worker | None:
    """Find the worker that failed: the coordinator shows only that one did."""
    commits = case.snapshot.commits
    return next((one for one in commits.workers if one.errno), None) if commits else None


def _seconds_since(case: Case, worker: Worker | None) -> float:
    """Count the seconds that the applier has been stopped: by the worker's error, else as was seen."""
    return case.snapshot.now - worker.error_at if worker and worker.error_at else case.stopped


def _since(case: Case, worker: Worker | None) -> str:
    if not worker or not worker.error_at:
        return ""
    return f" {say_duration(max(1, round(case.snapshot.now - worker.error_at)))} ago"


def _in_short(text: str) -> str:
    """Return what went wrong, without the worker and the place in the logs, which the server has, too."""
    short = _EVENT.sub(r"\1 on \2,", _AFTER.sub("", _BEFORE.sub("", text, count=1), count=1))
    words = " ".join(withheld.message(short).replace(";", ",").split())
    return words if len(words) <= _LETTERS else f"{words[:_LETTERS].rstrip()}..."


@rule(SLOW, "R5", "R6", "R8", "R12", down=True)
def r2_applier_stopped(case: Case) -> Cause | None:
    """Report that the applier was stopped without an error: by hand, or by a backup.

    mariabackup --safe-slave-backup stops it for as long as it runs (10.11.19: 4.5 minutes). A restart
    of the server or an UNTIL may leave it stopped as well: nothing shows which it was.
    """
    applier = case.snapshot.channel.applier
    if applier.runs or applier.errno:
        return None
    running = next((one for one in case.signals.backups if one.explains_stop(case.stopped)), None)
    if running:
        what = f"the applier was stopped, likely by the backup that runs: {backup(running)}"
        step = "check that it runs again"
        return Cause(95, what, Forms(f"{step} when the backup has ended", f"{step} then"))
    if case.both_stopped:
        return None  # R3 has both
    find = "find out who stopped it"
    step = Forms(f"{find}, then {case.start('SQL_THREAD')}", find)
    what = "the applier is stopped"
    return Cause(90, Forms(f"{what}, without an error", what), step)


@rule(SLOW, "R8")
def r4_link_silent(case: Case) -> Cause | None:
    """Blame a link on which nothing comes; the server shows 0 until its time-out (all versions)."""
    silent = case.lag.silent and case.snapshot.channel.receiver.runs
    return Cause(90, ON_THE_LINE) if silent else None


@rule(SLOW, "R12")
def r7_delayed_on_purpose(case: Case) -> Cause | None:
    """Report that the applier waits because it is meant to (SOURCE_DELAY, MASTER_DELAY)."""
    channel, lag = case.snapshot.channel, case.lag
    waits = channel.remaining_delay is not None or activity.DELAY.search(channel.applier.state)
    beyond = max(_WORTH, 0.1 * channel.delay)
    if not channel.delay or not waits or (lag.seconds or 0.0) > beyond:
        return None
    return Cause(85, ON_THE_LINE)


@rule(SLOW, but_not=("R13",))
def r8_receiver_bound(case: Case) -> Cause | None:
    """Blame what lies before the relay log (MySQL 8's timestamps; elsewhere the GTIDs of the source).

    Thin link of 60 kB/s: 33.6 of 34.8 s on MySQL 8.0.46; MariaDB 10.11.19 showed 0, 745 transactions behind.
    """
    evidence, channel = _transport(case) or _not_received(case), case.snapshot.channel
    if not evidence or not channel.receiver.runs or activity.RELAY_SPACE.search(channel.receiver.state):
        return None  # with no room for relay logs it waits for the applier
    more = ["it is the network, or the source's disk or binlog dump thread"]
    probably = ""
    if case.snapshot.before is None and case.snapshot.clock_ahead is None and case.lag.transport:
        probably = "probably "  # a clock that is set while connected looks the same at the first look
        more.append("or the clock of the source was set while it was connected: --source compares the clocks")
    what = f"receiver {probably}does not keep up ({evidence})"
    return Cause(84, what, f"measure the link to {channel.source_in_short}", more=tuple(more))


def _transport(case: Case) -> str:
    transport, seconds = case.lag.transport, case.lag.seconds
    if not transport or transport < _WORTH or transport < _MOSTLY * (seconds or 0.0):
        return ""
    return f"transport {transport:.0f} s"


def _not_received(case: Case) -> str:
    source = case.snapshot.source
    if not source or not source.not_received or not case.is_idle:
        return ""
    number = source.not_received
    what = f"{plural(number, 'transaction')} of {source.where} {have(range(number))} not arrived"
    return f"{what}, the relay log is empty"


@rule(SLOW, "R8")
def r24_heartbeat_dead(case: Case) -> Cause | None:
    """Show that the heartbeat is as old on the source as here: nobody writes it, and there is no such lag."""
    heartbeat = case.snapshot.heartbeat
    if not heartbeat or heartbeat.source_age is None or heartbeat.age < _WORTH:
        return None
    if heartbeat.source_age < _SAME * heartbeat.age:
        return None
    age = say_duration(heartbeat.source_age)
    what = f"no process writes the heartbeats of server {heartbeat.server_id}, {age} old on the source, too"
    return Cause(97, what, "start pt-heartbeat --update on the source")
