"""R1 to R4, R7, R8, R23, R24: threads that do not run, the link to the source, and what is written there."""

from __future__ import annotations

import re

from stallwatch import withheld
from stallwatch.probes.mysql.status import is_on
from stallwatch.probes.replication_lag.causes.case import SLOW, Cause, backup, rule
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import are, have, plural

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.model import Thread, Worker

_BEFORE = re.compile(
    r"Worker \d+ failed executing transaction '[^']*' at (source|master) log [^;]*; ?"
    r"|Got fatal error \d+ from (source|master) when reading data from binary log: ?"
)
# Before what matters both families say where to, how often and how many times (MariaDB 10.11, MySQL 9.7).
_PREAMBLE = re.compile(r"^[Ee]rror (?:re)?connecting to .*?[Mm]essage: ", re.DOTALL)
# "This was attempt 3/10, with a delay of 60 seconds between attempts" (MySQL 9.7).
_ATTEMPT = re.compile(r"attempt (\d+)/(\d+)")
_MOST_LEFT = 20  # attempts: a receiver that will soon give up
_NO_TLS_ERROR = "error:00000000:"  # OpenSSL's code for none: the other end just went away (MySQL 9.7)
# The place in the logs, and the statement with its values: both are on the server to be read.
_AFTER = re.compile(r"(,? Error_code: |[.,;]? ?(Default database: |(on )?[Qq]uery: ?')).*", re.DOTALL)
_LETTERS = 120  # of the server's own words
_MOSTLY = 0.7  # of the lag
_WORTH = 5.0  # seconds
_SAME = 0.8  # of a heartbeat's age here is its age on the source, too
_SKIP = "compare that row on source and replica before anything is skipped"

# What helps when the applier stops with this error (MySQL 9.7, MariaDB 10.11 error references).
_APPLIER = {
    1032: f"the row to change is missing here: {_SKIP}",
    1062: f"that row is here already: {_SKIP}",
    1146: "a table is missing here: see who dropped it, and the filters; a copy has to be as of this event",
    1205: "it gave up waiting for a row lock: find who holds it, then start the applier again",
    1213: "it gave up after deadlocks: start the applier again",
    1950: "this replica has transactions of its own: find who writes here, and compare gtid_binlog_pos",
    3024: "a statement took longer than max_execution_time",
}
_RELAY_LOG_DAMAGED = frozenset({1594, 13121})
# What helps a receiver that cannot connect or read.
_MEND = "mend what the error says"
_GAVE_UP, _STOPPED = "gave up", "is stopped"
_LOST = 2013
_RECEIVER = {
    1045: "the source refuses user or password: set them in CHANGE REPLICATION SOURCE (CHANGE MASTER)",
    1129: "the source blocks this host: unblock it there (mariadb-admin or mysqladmin flush-hosts, from MySQL"
    " 8.4 on TRUNCATE performance_schema.host_cache), then find out why connections broke",
    1130: "the source does not let this host in: CREATE USER for it there",
    1593: "source and replica do not fit: see the error, server_id and UUID must differ",
    2003: "see that the source runs and its port is open from here",
    2005: "its name is not known here: see DNS",
    _LOST: "the link broke: see the network and the source's error log",
    2026: "TLS failed: compare certificates and versions on both ends",
    2061: "the account needs TLS: SOURCE_SSL = 1 in CHANGE REPLICATION SOURCE (CHANGE MASTER)",
}
# A source that cannot send its binary log says why in words: 1236, or 13114 in performance_schema.
_CANNOT_SEND = frozenset({1236, 13114})
_SENDS_NOT = {
    r"purged|first log file name": "see on the source (SHOW BINARY LOGS) and its other replicas whether the"
    " binary logs that are needed still exist; only without them the replica has to be rebuilt",
    r"same server_(uu)?id": "another replica has the same identity: give this one its own server_id, and if"
    " it is a clone its own server_uuid (auto.cnf)",
    r"max_allowed_packet": "raise max_allowed_packet on the source, and here replica_max_allowed_packet"
    " (slave_...); see that the place in the binary log is right",
    r"open log file|read error|I/O error": "see the source's disk, its error log and the rights of its binary"
    " logs",
    r"more GTIDs|not in the (master|source)'s binlog|impossible position": "the replica is ahead of this"
    " source: has that crashed, or been changed? Compare both before anything is reset",
}


@rule(SLOW, "R5", "R6", "R8", "R12", down=True)
def r1_applier_failed(case: Case) -> Cause | None:
    """Tell the error that the applier stopped with, in the words of the worker that failed (MySQL 5.7 on)."""
    applier = case.snapshot.channel.applier
    if applier.runs or not applier.errno:
        return None
    worker = _failed(case)
    text = _in_short(worker.error if worker and worker.error else applier.error)
    number = worker.errno if worker else applier.errno
    what = f"the applier stopped with error {number}{_since(case, worker)}: {text}"
    if number in _RELAY_LOG_DAMAGED:
        return Cause(100, what, _fetch_again(case))
    return Cause(100, what, _APPLIER.get(number, "mend what the error says, then start the applier again"))


def _fetch_again(case: Case) -> str:
    """Say how to get a relay log again. RESET without GTIDs begins with the source's first event (9.7.2)."""
    file, offset = case.snapshot.channel.applied
    place = f"{file}:{offset}"
    return (
        f"a log is damaged, here or on the source: see that {place} can be read there, then CHANGE to that"
        " place; do not RESET without GTID auto-positioning: the place would be lost"
    )


def _failed(case: Case) -> Worker | None:
    """Find the worker that failed: the coordinator only says that some worker did."""
    commits = case.snapshot.commits
    return next((one for one in commits.workers if one.errno), None) if commits else None


def _since(case: Case, worker: Worker | None) -> str:
    if not worker or not worker.error_at:
        return ""
    return f" {say_duration(max(1, round(case.snapshot.now - worker.error_at)))} ago"


def _in_short(text: str) -> str:
    """Say what went wrong, without the worker and the place in the logs, which the server tells, too."""
    short = _AFTER.sub("", _BEFORE.sub("", text, count=1), count=1)
    words = " ".join(withheld.message(short).split())
    return words if len(words) <= _LETTERS else f"{words[:_LETTERS].rstrip()}..."


@rule(SLOW, "R5", "R6", "R8", "R12", down=True)
def r2_applier_stopped(case: Case) -> Cause | None:
    """Tell that the applier was stopped without an error: by hand, or by a backup.

    mariabackup --safe-slave-backup stops it for as long as it runs (10.11.19: 4.5 minutes). Neither is an
    applier started that a restart of the server or an UNTIL has left so: nobody says who it was.
    """
    applier = case.snapshot.channel.applier
    if applier.runs or applier.errno:
        return None
    running = next((one for one in case.signals.backups if one.explains_stop(case.stopped)), None)
    if running:
        what = f"the applier was stopped, likely by the backup that runs: {backup(running)}"
        return Cause(95, what, "it is started again when the backup ends; see that it is")
    return Cause(90, "the applier is stopped, without an error", _started(case, "SQL_THREAD"))


def _started(case: Case, thread: str) -> str:
    return f"ask who stopped it, then {case.start(thread)}"


@rule(SLOW, "R4", "R8", down=True)
def r3_receiver_down(case: Case) -> Cause | None:
    """Tell why the receiver does not run: stopped, or no way to the source (errno is 0 until a try fails)."""
    channel = case.snapshot.channel
    receiver = channel.receiver
    if receiver.runs:
        return None
    if receiver.errno:
        text = _in_short(_PREAMBLE.sub("", receiver.error, count=1))
        advice, doing = _receiver_advice(receiver.errno, receiver.error), _receiver_does(receiver)
        if doing.startswith((_GAVE_UP, _STOPPED)):
            advice += f"; then {case.start('IO_THREAD')}"
        return Cause(95, f"the receiver {doing} error {receiver.errno}: {text}", advice)
    if receiver.running == "No":
        return Cause(95, "the receiver is stopped, without an error", _started(case, "IO_THREAD"))
    return Cause(95, f"the receiver tries to connect to {channel.source}", "see that the source runs")


def _receiver_does(receiver: Thread) -> str:
    """Say whether it tries on. It gives up after SOURCE_RETRY_COUNT attempts: 10 by default on 9.7."""
    tried, most = map(int, found.groups()) if (found := _ATTEMPT.search(receiver.error)) else (0, 0)
    if receiver.running != "No":
        soon = 0 < most - tried <= _MOST_LEFT
        return f"cannot reach the source{f' (attempt {tried} of {most})' if soon else ''}:"
    if not _PREAMBLE.search(receiver.error):
        return "stopped with"
    if tried >= most > 0:
        return f"{_GAVE_UP} after {plural(tried, 'attempt')} to connect:"
    return f"{_STOPPED} after it could not connect:"  # it gave up (MariaDB does not say so), or was stopped


def _receiver_advice(number: int, error: str) -> str:
    """Say what helps with this error; of one that stands for many its words decide."""
    if _NO_TLS_ERROR in error:
        return _RECEIVER[_LOST]
    if number in _CANNOT_SEND:
        return next(
            (helps for said, helps in _SENDS_NOT.items() if re.search(said, error, re.IGNORECASE)), _MEND
        )
    return _RECEIVER.get(number, _MEND)


@rule(SLOW, "R8")
def r4_link_silent(case: Case) -> Cause | None:
    """Blame a link on which nothing comes; the server says 0 until its own time-out (all versions)."""
    lag, source = case.lag, case.snapshot.channel.source
    if not lag.silent or not case.snapshot.channel.receiver.runs:
        return None
    silence = f" for {say_duration(lag.contact_age)}" if lag.contact_age else ""
    what = f"nothing was heard from {source}{silence}: the link or the source is dead"
    return Cause(90, what, f"see whether {source} answers; the receiver tries again by itself")


@rule(SLOW, "R12")
def r7_delayed_on_purpose(case: Case) -> Cause | None:
    """Tell that the applier waits because it is meant to (SOURCE_DELAY, MASTER_DELAY)."""
    channel, lag = case.snapshot.channel, case.lag
    waits = channel.remaining_delay is not None or activity.DELAY.search(channel.applier.state)
    beyond = max(_WORTH, 0.1 * channel.delay)
    if not channel.delay or not waits or (lag.seconds or 0.0) > beyond:
        return None
    return Cause(85, f"delayed by {say_duration(channel.delay)} as configured")


@rule(SLOW, but_not=("R13",))
def r8_receiver_bound(case: Case) -> Cause | None:
    """Blame what lies before the relay log (MySQL 8's timestamps; elsewhere the GTIDs of the source).

    Thin link of 60 kB/s: 33.6 of 34.8 s on MySQL 8.0.46; MariaDB 10.11.19 said 0 and lacked 745 transactions.
    """
    evidence, channel = _transport(case) or _not_received(case), case.snapshot.channel
    if not evidence or not channel.receiver.runs or activity.RELAY_SPACE.search(channel.receiver.state):
        return None  # with no room for relay logs it waits for the applier
    more = ("it is the network, or the source's disk or binlog dump thread",)
    what = f"the receiver does not keep up ({evidence})"
    return Cause(84, what, f"measure the link to {channel.source}", more=more)


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


@rule()
def r23_written_to(case: Case) -> Cause | None:
    """Tell that somebody has written here: five local GRANTs stopped a 10.11.19 with error 1950."""
    source = case.snapshot.source
    if not source or not source.errant:
        return None
    number = source.errant
    what = f"{plural(number, 'transaction')} here {are(range(number))} not on {source.where}"
    if not is_on(case.signals.settings.get("read_only", "ON")):
        what += ", and read_only is OFF"
    advice = "find who writes here before read_only keeps them from it, and compare the data"
    return Cause(20, what, advice, explains=False)


@rule(SLOW, "R8")
def r24_heartbeat_dead(case: Case) -> Cause | None:
    """Tell that the heartbeat is as old on the source as here: nobody writes it, and there is no such lag."""
    heartbeat = case.snapshot.heartbeat
    if not heartbeat or heartbeat.source_age is None or heartbeat.age < _WORTH:
        return None
    if heartbeat.source_age < _SAME * heartbeat.age:
        return None
    what = (
        f"nobody writes the heartbeats of server {heartbeat.server_id}: on the source, too,"
        f" {heartbeat.table} is {say_duration(heartbeat.source_age)} old"
    )
    return Cause(97, what, "start pt-heartbeat --update (or your own writer) on the source again")
