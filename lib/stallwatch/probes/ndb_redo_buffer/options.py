"""The options of check_ndb_redo_buffer, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, count, duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

FEWEST, MOST = 2, 100  # samples


def samples(text: str) -> int:
    """Read how many samples to take: one alone cannot separate a peak from a buffer that stays full."""
    number = count(text)
    if not FEWEST <= number <= MOST:
        raise NotUnderstoodError(f'"{text}" is not a number from {FEWEST} to {MOST}')
    return number


check = Check(
    "ndb_redo_buffer",
    "Watch the redo buffers of NDB data nodes: if they fill, is the buffer small or the disk slow?",
)
mysql.add(check)
check.option("--count", type=samples, default="5", metavar="COUNT",
             help="number of samples of the buffers; fewer if --timeout is short")  # fmt: skip
check.option(
    "--spread", type=duration, default="2s", metavar="TIME", help="start the samples within this time"
)
check.option("--log", action="append", default=[], metavar="FILE",
             help="ndb_N_out.log of a data node, for full buffers between the samples; may be given several "
                  "times, with * and ?")  # fmt: skip
check.option("--hold", type=duration, default="1h", metavar="TIME",
             help="report what is in the logs for this long")  # fmt: skip
check.option("--data-dir", action="append", default=[], metavar="DIR",
             help="the DataDir of a data node on this host: look how busy its disk is; may be given several "
                  "times")  # fmt: skip
check.threshold("redo_buffer", unit="%", headline=True, warning="60", critical="85",
                help="used part of a redo buffer, of what operations may use: a WARNING if it is more in any "
                     "sample, CRITICAL only if in all of them")  # fmt: skip
check.threshold("redo_space", unit="%", warning="70", critical="85",
                help="used part of the redo log itself, without the 6 MiB of each part that are kept free: "
                     "CRITICAL only in two runs in a row, as checkpoints empty it again")  # fmt: skip
check.threshold("undo_space", unit="%", warning="70", critical="85",
                help="used part of the undo log of disk tables, without the third that is kept free (NDB 8.0 "
                     "and later): CRITICAL only in two runs in a row")  # fmt: skip
check.threshold("undo_buffer", unit="%", warning="85",
                help="used part of the undo buffer of disk tables, in both of two samples")  # fmt: skip
check.threshold("slow_pages", unit="%", warning="10", critical="50",
                help="page reads or writes of disk tables since the last run that took over 0.5 s: CRITICAL "
                     "only in two runs in a row")  # fmt: skip
check.threshold("slow_undo", unit="%", warning="10", critical="50",
                help="waits for the undo log since the last run that took over 0.5 s: CRITICAL only in two "
                     "runs in a row")  # fmt: skip
check.threshold(
    "redo_lagged",
    unit="%",
    warning="5",
    critical="50",
    help="time since the last run in which redo writes lagged: CRITICAL only in two runs in a row",
)
check.threshold("redo_full", unit="s", warning="0",
                help="median time that a redo buffer was full, with --log")  # fmt: skip
check.threshold("redo_lag", unit="s", warning="@1:",
                help="longest lag of a redo log part, with --log")  # fmt: skip
check.keeps_state()
check.examples(
    "check_ndb_redo_buffer -H sql1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_ndb_redo_buffer -H sql1 --log '/var/lib/ndb/ndb_*_out.log'",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and judge all data nodes."""
    from stallwatch.probes.ndb_redo_buffer import probe
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

    check.refuse_empty(options, "log", "data_dir")
    target = mysql.target(check, options)
    with (
        run.memory(target=target.where, logs=sorted(options.log)) as memory,
        mysql.connect(target, run) as server,
    ):
        yield from probe.findings(Ndbinfo(server, run.deadline), options, run, memory)
