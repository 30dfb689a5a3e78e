"""What check_ndb_log may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import duration, number, size

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

check = Check(
    "ndb_log",
    "Report problems in the logs of NDB data nodes: stuck threads, full redo buffers, shutdowns.",
)
check.option("--log", action="append", required=True, metavar="FILE",
             help="ndb_N_out.log, ndb_N_error.log, cluster log; repeatable; may hold * and ?")  # fmt: skip
check.option("--hold", type=duration, default="1h", metavar="TIME", help="report what happened for this long")
check.option("--acknowledge", action="store_true", help="report nothing of what happened up to now any more")
check.option("--whole", action="store_true",
             help="judge whole files and keep no state, for a log someone sent")  # fmt: skip
check.option("--max-bytes", type=size, default="256M", metavar="SIZE",
             help="read at most this much of a log in a run")  # fmt: skip
check.option("--watchdog-interval", type=duration, metavar="TIME",
             help="TimeBetweenWatchDogCheck (default: as in the log, or 6s)")  # fmt: skip
check.option("--spin-ns", type=number, default="1.25", metavar="NS", help="time of one spin")
check.option("--backup-age", type=duration, metavar="TIME",
             help="warn if the last backup in a cluster log is older (default: not asked)")  # fmt: skip
check.threshold("stuck", unit="s", headline=True, warning="@1:", critical="@9:",
                help="longest time without a sign of life of a thread")  # fmt: skip
for name, unit, warning, critical, about in (
    ("overslept", "s", "@1:", "@5:", "longest time a thread woke up too late"),
    ("spin", "s", "@5e-6:", None, "longest time to spin for a lock"),
    ("redo_full", "s", "0", "@0.2:", "median time a redo buffer was full; from 1 s on, its longest"),
    ("redo_lag", "s", "@1:", "@5:", "longest lag of a redo log part"),
    ("gcp_commit_lag", "s", "@10:", "@30:", "longest lag of a GCP commit"),
    ("gcp_save_lag", "s", None, "@60:", "longest lag of a GCP save"),
    ("missed_heartbeats", "", "@2:", "@3:", "heartbeats missed in a row"),
):
    check.threshold(name, unit=unit, warning=warning, critical=critical, help=about)
check.keeps_state()
check.examples(
    "check_ndb_log --log '/var/lib/mysql-cluster/ndb_*_out.log'",
    "check_ndb_log --log /var/lib/mysql-cluster/ndb_1_cluster.log --backup-age 26h",
    "check_ndb_log --log ndb_4_out.log --whole -v  # a log that somebody sent",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Read what is new in the logs and judge all that still counts."""
    import time
    from contextlib import nullcontext

    from stallwatch.memory import Memory
    from stallwatch.probes.ndb_log import probe
    from stallwatch.probes.ndb_log.model import Rules

    check.refuse_empty(options, "log")
    if options.acknowledge and (options.no_state or options.whole):
        keeper = "--whole" if options.whole else "--no-state"
        check.parser.error(f"--acknowledge needs the state that {keeper} leaves alone")
    for name in ("watchdog_interval", "max_bytes", "spin_ns"):
        if getattr(options, name) is not None and getattr(options, name) <= 0:
            check.parser.error(f"--{name.replace('_', '-')} is to be above 0")
    rules = Rules(
        now=time.time(), hold=options.hold, spin=options.spin_ns * 1e-9, whole=options.whole,
        watchdog_interval=options.watchdog_interval, backup_age=options.backup_age,
    )  # fmt: skip
    run.target = ", ".join(options.log)
    with nullcontext(Memory()) if options.whole else run.memory(logs=sorted(options.log)) as memory:
        yield from probe.findings(options, run, rules, memory)
