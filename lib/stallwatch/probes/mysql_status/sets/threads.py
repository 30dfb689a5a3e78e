"""Threads: how many are at work, and whether new ones have to be made."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject, are
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

_OFTEN = 10.0  # threads made per second
_MISSES = 10.0  # per cent of the connections
_PER_PROCESSOR = 2  # threads at work
_FEW = 8  # threads at work that are never too many


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge threads at work, by the processors where they are known, and the cache of threads."""
    processors = facts.processors
    own = facts.now("Threads_running") - facts.at_work  # of the server: no clients wait for them
    known = processors and facts.variables  # else own ones may be among them
    most = own + max(_FEW, _PER_PROCESSOR * (processors or 0)) if known else 0
    yield Limit(
        "Threads_running", f"{are(facts.at_work, 'thread')} at work{_besides(own)} (Threads_running)",
        f"for {processors} processors" if processors else "",
        "see what they do (SHOW PROCESSLIST): wait for locks, for the disk, or compute",
        f"{most:.0f}" if most else "",
    )  # fmt: skip
    name, missed = "Threads_created", facts.share("Threads_created", "Connections")
    pool = facts.variables.get("thread_handling", "") == "pool-of-threads"
    yield Limit(
        name, f"{say_rate(facts.rate(name))} threads are made ({name})",
        f"for {missed:.0f} % of the new connections: {facts.say('thread_cache_size')}",
        "raise thread_cache_size, or let clients keep their connections",
        f"{_OFTEN:.0f}" if missed >= _MISSES and not pool else "",
    )  # fmt: skip
    name = "Slow_launch_threads"
    what = f"{say_rate(facts.rate(name))} threads took longer than slow_launch_time to make ({name})"
    yield Limit(name, what, "", "the host is short of processors or memory: see check_host", "1")


def _besides(own: float) -> str:
    return f" besides {own:.0f} of the server's own" if own else ""


SET = Subject(
    (
        "Threads_running", "Threads_connected", "Threads_cached", "Threads_created", "Slow_launch_threads",
        "Threadpool_threads", "Threadpool_idle_threads",
    ),
    limits,
    ("thread_cache_size", "thread_handling", "event_scheduler", "slave_parallel_threads"),
)  # fmt: skip
