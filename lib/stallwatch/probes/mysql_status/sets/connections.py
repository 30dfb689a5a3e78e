"""Connections: how many there are, how many come, and whether clients use them again."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject
from stallwatch.units import plain, say_duration, say_rate, say_size

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

# "Read Buffer performance hit": an application without persistent connections, 60 to 100 connections/s.
_MANY = 60.0  # per second
_SHORT = 10.0  # seconds that connections last, if they are not used again
_NEARLY = 0.85  # of max_connections
_CHEAP = (
    262_144  # bytes of read_buffer_size; more is mapped and zeroed for every connection ("malloc() speed")
)


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge what comes, what is there, and what is turned away."""
    yield _new(facts)
    most, used = facts.setting("max_connections"), facts.now("Threads_connected")
    yield Limit(
        "Threads_connected", f"{plain(used)} clients are connected (Threads_connected)",
        f"max_connections is {plain(most)}, {plain(facts.now('Threads_running'))} of them are at work",
        "see who they are (SHOW PROCESSLIST): are they idle in too large a pool, or do they wait?",
        f"{_NEARLY * most:.0f}" if most else "",
    )  # fmt: skip
    name = "Connection_errors_max_connections"
    yield Limit(
        name, f"{say_rate(facts.rate(name))} clients are turned away ({name})",
        f"max_connections is {plain(most)}", "see who is connected (SHOW PROCESSLIST) before you raise it",
        "0", "0",
    )  # fmt: skip
    name = "Connection_errors_internal"
    yield Limit(
        name, f"{say_rate(facts.rate(name))} clients are turned away ({name})",
        "", "it has no memory or no thread for them: see its error log, the host's memory and ulimit -u", "0",
    )  # fmt: skip


def _new(facts: Facts) -> Limit:
    """Judge what comes: by rate and number it is known how long each lasts (Little's law)."""
    coming = facts.rate("Connections")
    others = max(0.0, facts.now("Threads_connected") - 1)  # but for us
    lasts = others / coming if coming else 0.0
    statements = facts.rate("Questions") / coming if coming else 0.0
    why = f"each lasts {say_duration(float(f'{lasts:.2g}'))} and asks {statements:.0f} statements"
    advice = "clients do not use them again: let them keep connections, or put a pool before the server"
    buffer = facts.setting("read_buffer_size")
    if buffer > _CHEAP:
        advice += f"; read_buffer_size {say_size(buffer)} is mapped and zeroed for them: try 128 KiB"
    what = f"{say_rate(coming)} new connections (Connections)"
    return Limit("Connections", what, why, advice, f"{_MANY:.0f}" if lasts < _SHORT else "")


SET = Subject(
    (
        "Connections", "Threads_connected", "Max_used_connections", "Aborted_connects", "Aborted_clients",
        "Connection_errors_max_connections", "Connection_errors_internal", "Access_denied_errors",
        "Ssl_accepts", "Bytes_received", "Bytes_sent", "Questions",
    ),
    limits,
    ("max_connections", "read_buffer_size"),
)  # fmt: skip
