"""The options of check_jmx_thread_pools, with their default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import jmx
from stallwatch.frame.options.values import regex
from stallwatch.probes.jmx_thread_pools.model import LASTING, MOMENTARY
from stallwatch.startup import TYPE_CHECKING
from stallwatch.thresholds import Range
from stallwatch.units import UnusableFileError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_thread_pools.families.form import Family

check = Check(
    "jmx_thread_pools",
    "Look at all thread and connection pools of a JVM over JMX: who is blocked, and what that means.",
)
check.option("--pool", type=regex, action="append", default=[], metavar="REGEX",
             help="check only pools whose whole name matches, and add their numbers to the perfdata; "
                  "may be given several times")  # fmt: skip
check.option("--deadlocks", action="store_true",
             help="look for deadlocked threads, too; this invokes findDeadlockedThreads, "
                  "which a read-only JMX role may not")  # fmt: skip
check.option("--pools", metavar="FILE",
             help="more pools: MBeans of your own, described in this TOML file (see the sheet)")  # fmt: skip
jmx.add(check)
check.threshold("blocked", headline=True, warning="0",
                help="tasks blocked now, or threads that wait for a connection; unless -c is given, critical "
                     "a second later if the pool is full, or one of connections")  # fmt: skip
check.threshold(
    "blocked_new", warning="0", help="tasks blocked since the last run; reported once, so a retry misses them"
)
check.threshold("busy", unit="%",
                help="part of its threads or connections that a pool uses; "
                     "one that serves requests warns if it is full, unless this is given")  # fmt: skip
check.threshold("idle", unit="%", warning="30:", critical="10:", lower_is_worse=True,
                help="time that Kafka's threads had nothing to do; "
                     "critical only if too little was left at the last run, too")  # fmt: skip
check.threshold("pending", help="tasks in the queue of a pool")
check.threshold("active", help="threads or connections that a pool uses")
check.threshold("threads", help="threads of the whole JVM")
check.keeps_state()
check.examples(
    "check_jmx_thread_pools -H db1 -P 7199",
    "check_jmx_thread_pools -H db1 -P 7199 --pool 'Memtable.*' --pending-warning 10",
    "check_jmx_thread_pools -H web1 -P 9010 --pool 'http-.*' --busy-warning 80%",
    "check_jmx_thread_pools -H app1 -P 9010 --pools /etc/stallwatch/pools.toml",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and look at all pools."""
    from stallwatch.probes.jmx_thread_pools import probe
    from stallwatch.probes.jmx_thread_pools.families import FAMILIES

    families = list(FAMILIES)
    if options.pools is not None:
        families += _of_site(options.pools)
    identity = {
        "url": options.url,  # which may have a name in it
        "pools": sorted(pool.pattern for pool in options.pool),
        "deadlocks": options.deadlocks,
        "limits": {
            name: {level: str(limit) for level, limit in both.items()}
            for name, both in run.thresholds.items()
        },
        "site": [str(family) for family in families[len(FAMILIES) :]],
    }
    _judge_what_lasts(run)
    limits = {f"limits_{name}": any(run.thresholds[name].values()) for name in ("busy", "threads")}
    with jmx.connect(check, options, run) as server, run.memory(target=server.where, **identity) as memory:
        yield from probe.findings(
            server, options.pool, memory, run, deadlocks=options.deadlocks, families=families, **limits
        )


def _of_site(path: str) -> list[Family]:
    """Read entries of the user's own; what is wrong in them ends the run as bad usage."""
    from stallwatch.probes.jmx_thread_pools.families import site

    try:
        return site.families(path)
    except UnusableFileError as error:
        check.parser.error(str(error))


def _judge_what_lasts(run: Run) -> None:
    """Set thresholds of what lasts, stricter where the user set none.

    Whoever waits for a full pool waits for somebody else to be done: that is critical. A web server whose
    threads are all busy may not show that requests wait, so that this is worth a warning itself.
    Who waits for a connection for less than a second is no problem: short bursts of clients do.
    Threads that are deadlocked stay so.
    """
    blocked, busy, pending = (run.thresholds[name] for name in LASTING)
    run.judge_by(LASTING["blocked"], {**blocked, "critical": blocked["critical"] or Range("0")})
    run.judge_by(LASTING["busy"], {**busy, "warning": busy["warning"] or Range("~:0", "%")})
    run.judge_by(LASTING["pending"], {**pending, "warning": pending["warning"] or Range("0")})
    run.judge_by(MOMENTARY, blocked if run.is_given("blocked") else {})
    run.judge_by("stalled", {} if run.is_given("pending") else {"warning": Range("0")})
    run.judge_by("deadlocked", {"critical": Range("0")})
