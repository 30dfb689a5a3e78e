"""R3: why the receiver does not run, by its last error, and what helps."""

from __future__ import annotations

import re

from stallwatch import known, withheld
from stallwatch.line import Forms, in_all_forms
from stallwatch.probes.replication_lag.causes.case import SLOW, Cause, rule
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.model import Thread

OF_CLIENT = range(2000, 3000)  # errors that the receiver itself found; all others are the source's answer
_TLS = 2026
_CUT_OFF = re.compile(r"lib\(0\)|unexpected eof")  # the connection ended in the middle of the handshake
# Both families write where to and how often, before what matters (MariaDB 10.11, MySQL 9.7).
_CONNECTING = re.compile(
    r"^[Ee]rror (?:re)?connecting to .*?[Mm]essage: |^\w+ command COM_REGISTER_\w+ failed: ", re.DOTALL
)
_BEFORE = re.compile(
    r"Got fatal error \d+ from (?:source|master) when reading data from binary log: ?"
    r"|(?:Fatal error: )?The (?:replica|slave) I/O thread stops because "
    r"|a fatal error is encountered when .*?Error: |SSL connection error: "
    r"(?:error:[^:]*:[^:]*:[^:]*:(?:reason\(0\))?)?"
    r"|Can't connect to (?:MySQL )?server on '[^']*' ?(?=\()"
)
_AFTER = re.compile(
    r' "[^"]*"(?=\)$)'  # MariaDB: (111 "Connection refused")
    r"| \(using password: \w+\)| \(Errno: \d+\)|, system error:.*|; these .*|(?<=[a-z])\. .*"
    r"|, using the source's.*",
    re.DOTALL,
)
_LETTERS = 60
# "This was attempt 3/10, with a delay of 60 seconds between attempts" (MySQL 9.7).
_ATTEMPT = re.compile(r"attempt (\d{1,20})/(\d{1,20})")
# MariaDB 10.11 writes how often it tries, not how often it has: stopped by hand it keeps the same error.
_LIMIT = re.compile(r"retry-time: (\d{1,20}) +maximum-retries: (\d{1,20})")
_DAY = 86400  # seconds in which a receiver may well have used up its attempts; by default it has 69 days
_MOST_LEFT = 20  # attempts: a receiver that will soon give up
# A link that broke, or a source that lets the receiver in and cannot send, as MariaDB 10.11 without a file of
# its binary log: errno is 0 as long as each connection comes about.
_BROKEN = re.compile(r"after a failed (master|source) event read")
_WAITS_LONG = 5.0  # seconds in which a source that runs has answered

# What helps: the first row that fits to "NUMBER TEXT" of the error. All but those of purged logs were made on
# MySQL 9.7.2 and MariaDB 10.11.19. A source that cannot send its log is 1236, or 13114 from MySQL 8 on; one
# that is no source for this replica is 1593, or 13117.
_HELPS = {
    r"^20(26|13) .*(lib\(0\)|unexpected eof|reading (initial|auth))": (
        "check the network, {source} and its certificate"
    ),
    r"^2026 .*verify failed": "check the dates and the authority of the source's certificate",
    r"^2026 .*(n't|not) support": "set up TLS on the source, or do not ask for it in {change}",
    r"^2026 ": "compare TLS versions and certificates of source and replica",
    r"^2061 ": "switch on TLS in {change}, which this account requires",
    r"^(2059|1251) ": "change the authentication plugin of the account on the source",
    r"^2005 ": "check this name in the replica's DNS",
    r"^2003 .*\(111\b": Forms("check that {source} runs and listens", "check that it runs and listens"),
    r"^20(02|03) ": "check {source} and the firewall before its port",
    r"^20(06|13) ": "check the network and the source's error log",
    r"COM_REGISTER_\w+ failed: Access denied": "GRANT REPLICATION SLAVE to the account on the source",
    r"^(1045|1698) ": "check its account there (password, host, REQUIRE SSL)",
    r"^1130 ": "CREATE USER for this replica's host on the source",
    r"^1129 ": "unblock this host on the source (FLUSH HOSTS, or TRUNCATE performance_schema.host_cache)",
    r"^(3118|4151) ": "ALTER USER ... ACCOUNT UNLOCK on the source",
    r"^(1862|1820) ": "set a new password on the source and in {change}",
    r"^1040 ": "see who is connected there (SHOW PROCESSLIST)",
    r"^(1203|1226) ": "raise the account's limit on the source, or see who else uses it",
    r"purged|first log file name": "find these logs (backup, other replicas), or rebuild this replica",
    r"equal .*server UUID": "delete auto.cnf on the copy (here, if this replica was copied) and restart it",
    r"same server_(uu)?id": "{twin}",
    r"equal .* server id": "give this replica its own server_id",
    r"max_allowed_packet": "raise max_allowed_packet there and {slave}_max_allowed_packet here",
    r"could not queue event": "check the source's binary log at {place}, and the disk space here",
    r"log is not open": "switch on log_bin on the source",
    r"GTID_MODE": "set the same gtid_mode on source and replica",
    r"open log file|read error|I/O error": "check disk and error log of the source",
    r"more GTIDs|not in the (master|source)'s binlog|impossible position": (
        "compare source and replica before anything is reset"
    ),
}


@rule(SLOW, "R4", "R8", down=True)
def r3_receiver_down(case: Case) -> Cause | None:
    """Return why the receiver does not run: stopped, or no way to the source (errno is 0 until a try fails).

    A firewall that drops, or a port where nobody answers, leaves it at 0 for replica_net_timeout (60 s).
    """
    channel = case.snapshot.channel
    receiver = channel.receiver
    if receiver.runs:
        return None
    if receiver.errno:
        advice = _advice(case)
        if receiver.running == "No" and receiver.errno in OF_CLIENT:  # the source may be back
            advice = f"{case.start('IO_THREAD')}, the receiver does not try again by itself"
        elif receiver.running == "No":
            advice += f", then {case.start('IO_THREAD')}"
        what, more = _in_short(receiver)
        return Cause(96, f"{_doing(case)}: {what}", advice, more=more)
    if receiver.running != "No":
        seconds = round(case.connecting)
        waited = f", no answer for {say_duration(seconds)}" if seconds > _WAITS_LONG else ""
        if _BROKEN.search(receiver.state):
            what = f"the receiver lost connection while reading{waited}"
            return Cause(95, what, Forms("check the link and the source's error log", "check the link"))
        what = f"the receiver is connecting to the source{waited}"
        step = "check that {} answers, and the firewall before it"
        return Cause(95, what, Forms(step.format(channel.source), step.format("it")))
    both = case.both_stopped
    what = f"{'receiver and applier are' if both else 'the receiver is'} stopped"
    find = f"find out who stopped {'them' if both else 'it'}"
    step = Forms(f"{find}, then {case.start('IO_THREAD')}", find)
    return Cause(95, Forms(f"{what}, without an error", what), step)


def _doing(case: Case) -> str:
    """Return whether it tries on."""
    receiver = case.snapshot.channel.receiver
    tried, most = _pair(_ATTEMPT, receiver)
    if receiver.running == "No":
        return _ended(receiver, tried, most)
    soon = f" (attempt {tried} of {most})" if 0 < most - tried <= _MOST_LEFT else ""
    if receiver.errno == _TLS and not _CUT_OFF.search(receiver.error):
        return f"the receiver cannot connect to the source by TLS{soon}"
    if receiver.errno in OF_CLIENT:
        return f"the receiver cannot connect to the source{soon}"
    return f"the source refuses the receiver{soon}"


def _ended(receiver: Thread, tried: int, most: int) -> str:
    """Return how it ended. It stops after SOURCE_RETRY_COUNT attempts: 10 by default on 9.7."""
    if not _CONNECTING.search(receiver.error):
        return "the receiver stopped"
    if tried >= most > 0:
        return f"the receiver gave up after {plural(tried, 'attempt')} to connect"
    pause, limit = _pair(_LIMIT, receiver)
    if 0 < pause * limit <= _DAY:
        return "the receiver probably gave up connecting"
    return "the receiver is stopped and could not connect before"


def _pair(numbers: re.Pattern[str], receiver: Thread) -> tuple[int, int]:
    found = numbers.search(receiver.error)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _in_short(receiver: Thread) -> tuple[str, tuple[str, ...]]:
    """Return what went wrong, without where to and how often; if that is cut, all of it for below."""
    short = _AFTER.sub("", _BEFORE.sub("", _CONNECTING.sub("", receiver.error, count=1)))
    words = " ".join(withheld.message(short).replace(";", ",").split()).rstrip(".")
    words = words.strip("'") if words.startswith("'") else words  # of the source, quoted as a whole
    number = f"error {receiver.errno}"
    if len(words) <= _LETTERS:
        return f"{number}{' ' if words.startswith('(') else ', '}{words}".rstrip(", "), ()
    return f"{number}, {words[:_LETTERS].rstrip()}...", (f"{number}: {words}",)


def _advice(case: Case) -> str:
    """Return what helps with this error."""
    channel = case.snapshot.channel
    error = f"{channel.receiver.errno} {channel.receiver.error}"
    found = known.first(_HELPS, error, re.IGNORECASE | re.DOTALL)
    parts = {
        "source": channel.source,
        "place": ":".join(map(str, channel.received)),
        "change": case.change,
        "slave": case.slave.lower(),
        "twin": _twin(case),
    }
    helps = found[0] if found else "correct what the error names"
    return in_all_forms(helps, lambda one: one.format(**parts))


def _twin(case: Case) -> str:
    """Return which of two replicas to change, and how: MySQL knows them by server_uuid, MariaDB has none."""
    flavour = case.signals.flavour
    if flavour and flavour.mariadb:
        return "give the copied one of both replicas its own server_id"
    return "delete auto.cnf on the copied one of both replicas and restart it"
