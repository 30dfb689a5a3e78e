"""Clients: connections, who is turned away, and the threads that serve them."""

from __future__ import annotations

from stallwatch.line import Forms
from stallwatch.probes.mysql_status.model import Facts, Limit, StatusSet, are
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain, say_size
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

# Connections: how many there are, how many come, and who is turned away.

# "Read Buffer performance hit": an application without persistent connections, 60 to 100 connections/s.
_MANY_CONNECTIONS = "60"  # per second
_NEARLY = 0.85  # of max_connections
# Bytes of read_buffer_size from which on malloc() maps memory, and the kernel zeroes it: "Read Buffer
# performance hit" measured it with the glibc of its time.
_MAPPED = 262_144
# What shows that clients are turned away; a log-in that is refused shows all of it at once.
TURNED_AWAY = ("Connection_errors_max_connections", "Threads_connected", "Aborted_connects")

_WHO = "look at SHOW PROCESSLIST, see who holds the connections, then raise max_connections"


def _connections(facts: Facts) -> Iterator[Limit]:
    """Judge who is turned away before what is there and what comes, of which that is the effect."""
    most, used = facts.setting("max_connections"), facts.now("Threads_connected")
    yield from _turned_away(facts, full=0 < most <= used)
    advice = "it has no memory or no thread for them: see its error log, the host's memory and ulimit -u"
    yield facts.per_second("Connection_errors_internal", "client/s turned away", "", advice, "0")
    # One place more is reserved for administrators: who is in it sees that all others are taken.
    yield Limit(
        "Threads_connected", f"{are(used, 'client')} connected (Threads_connected)",
        f"{facts.say('max_connections')}, {plural(facts.at_work, 'thread')} at work",
        "see in SHOW PROCESSLIST whether they wait, or are idle in too large a pool",
        f"{_NEARLY * most:.0f}" if most else "", f"{most:.0f}" if most else "",
    )  # fmt: skip
    yield _new(facts)


def _turned_away(facts: Facts, *, full: bool) -> Iterator[Limit]:
    """Judge who finds no place.

    MySQL 9.7.2 counts them. MariaDB 10.11.19 does only when the place of administrators is taken, too
    (measured); else they are among Aborted_connects, as wrong passwords are, and the highest number of
    connections has gone beyond max_connections by one.
    """
    most = facts.say("max_connections")
    yield facts.per_second(TURNED_AWAY[0], "client/s turned away", most, _WHO, "0", "0")
    if not facts.mariadb:
        return
    why, beyond = (f"all connections are used, {most}", "0") if full else ("", "")
    yield facts.per_second("Aborted_connects", "log-in/s failed", why, _WHO, beyond, beyond)
    name = "Max_used_connections"
    places = facts.setting("max_connections")
    rose = places and facts.now(name) > places and facts.measured.grown(name)
    at_once = "was connected at once" if facts.now(name) == 1 else "were connected at once"
    clients = f"{plural(facts.now(name), 'client')} {at_once}"
    what = Forms(f"{clients} ({name})", clients)
    away = f"{most}, so some were turned away"
    why = Forms(f"{away} since the last look", away, most) if rose else most
    yield Limit(name, what, why, _WHO, f"{places:.0f}" if rose else "")


def _new(facts: Facts) -> Limit:
    """Judge what comes: where it goes on, as many leave."""
    coming = facts.rate("Connections")
    statements = facts.rate("Questions") / coming if coming else 0.0
    advice = "let clients keep connections, or put a pool before the server"
    buffer = facts.setting("read_buffer_size")
    if buffer > _MAPPED:
        advice += f", then try read_buffer_size 128 KiB ({say_size(buffer)} may be zeroed for each)"
    why = f"{plain(round(statements))} statements each, on average"
    return facts.per_second("Connections", "new connection/s", why, advice, _MANY_CONNECTIONS)


CONNECTIONS = StatusSet(
    (
        "Connections", "Threads_connected", "Max_used_connections", "Aborted_connects", "Aborted_clients",
        "Connection_errors_max_connections", "Connection_errors_internal", "Access_denied_errors",
        "Ssl_accepts", "Bytes_received", "Bytes_sent", "Questions",
    ),
    _connections,
    ("max_connections", "read_buffer_size"),
)  # fmt: skip

# Threads: how many are at work, and whether new ones have to be made.

_OFTEN = "10"  # threads made per second
_MISSES = 10.0  # per cent of the connections
_PER_PROCESSOR = 2  # threads at work
_FEW = 8  # threads at work that are never too many


def _threads(facts: Facts) -> Iterator[Limit]:
    """Judge threads at work, by the processors where they are known, and the cache of threads."""
    processors = facts.processors
    own = facts.now("Threads_running") - facts.at_work  # of the server: no clients wait for them
    besides = f" besides {own:.0f} of the server's own" if own else ""
    known = processors and facts.variables  # else own ones may be among them
    most = own + max(_FEW, _PER_PROCESSOR * (processors or 0)) if known else 0
    yield Limit(
        "Threads_running", f"{are(facts.at_work, 'thread')} at work{besides} (Threads_running)",
        f"for {processors} processors" if processors else "",
        "see what they do (SHOW PROCESSLIST): wait for locks, for the disk, or compute",
        f"{most:.0f}" if most else "",
    )  # fmt: skip
    missed = facts.share("Threads_created", "Connections")
    pool = facts.variables.get("thread_handling", "") == "pool-of-threads"
    yield facts.per_second(
        "Threads_created", "thread/s created",
        f"for {missed:.0f} % of the new connections: {facts.say('thread_cache_size')}",
        "raise thread_cache_size, or let clients keep their connections",
        _OFTEN if missed >= _MISSES and not pool else "",
    )  # fmt: skip
    yield facts.per_second(
        "Slow_launch_threads", "thread/s took longer than slow_launch_time to start", "",
        "the host is short of processors or memory: see check_host", "1",
    )  # fmt: skip


THREADS = StatusSet(
    (
        "Threads_running", "Threads_connected", "Threads_cached", "Threads_created", "Slow_launch_threads",
        "Threadpool_threads", "Threadpool_idle_threads",
    ),
    _threads,
    ("thread_cache_size", "thread_handling", "event_scheduler", "slave_parallel_threads"),
)  # fmt: skip
