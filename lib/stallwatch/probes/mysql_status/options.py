"""What check_mysql_status may be asked, and how it is run."""

from __future__ import annotations

import re

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql, sample
from stallwatch.frame.options.values import regex
from stallwatch.probes.mysql_status.selection import NONE, SETS, Selection, wanted
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import count

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_status.collect import Opened
    from stallwatch.probes.mysql_status.selection import Wanted

# What changes the meaning of what is remembered.
MEANING = (
    "set", "include", "exclude", "all", "reference", "reference_group", "confirm", "warning", "critical"
)  # fmt: skip


def _names(text: str) -> re.Pattern[str]:
    """Read a regular expression for names, whatever their case."""
    return regex(text, re.IGNORECASE)


check = Check(
    "mysql_status",
    "Report resources of a MySQL or MariaDB server that are at their limit, and its status variables.",
)
mysql.add(check)
check.option(
    "--set", action="append", default=[], choices=(*SETS, NONE), metavar="SET",
    help=f"show the numbers of {', '.join(SETS[:-1])} or {SETS[-1]}, and check no other set; "
    "none: check none; may be given several times (default: check all)",
)  # fmt: skip
check.option(
    "--include", type=_names, action="append", default=[], metavar="REGEX",
    help="also show status variables whose whole name matches; may be given several times",
)  # fmt: skip
check.option(
    "--exclude", type=_names, action="append", default=[], metavar="REGEX",
    help="ignore status variables whose whole name matches; may be given several times",
)  # fmt: skip
check.option("--all", action="store_true", help="show every number of SHOW GLOBAL STATUS")
for _kind, _does in (("counter", "counter: show its rate"), ("gauge", "gauge: show its value")):
    check.option(
        f"--{_kind}", action="append", default=[], metavar="NAME",
        help=f"treat this unknown variable as a {_does}",
    )  # fmt: skip
check.option(
    "--reference", metavar="HOST[:PORT]",
    help="healthy server to compare with, same user and password; reports what differs by a factor of three "
    "or more",
)  # fmt: skip
check.option(
    "--reference-group", metavar="GROUP", help="compare with the server of this group of the option file"
)
sample.add(check)
check.option(
    "--confirm", type=count, default=3, metavar="COUNT",
    help=f"{sample.CONFIRM}; -c is CRITICAL at once",
)  # fmt: skip
for _level in ("warning", "critical"):
    check.limit(
        f"-{_level[0]}", f"--{_level}", type=wanted, action="append", default=[], metavar="NAME=RANGE",
        help=f"{_level} range of a status variable, per second for a counter; NAME/NAME: ratio of two over "
        "the interval, if the second grew by 100; may be given several times, replaces the limits of a set",
    )  # fmt: skip
check.keeps_state()
check.examples(
    "check_mysql_status -H db1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_mysql_status -H db1 --all --exclude 'Com_.*' -w Threads_running=50",
    "check_mysql_status -H db1 --set handlers \\",
    "    --warning Handler_read_rnd_next/Handler_read_key=100",
    "check_mysql_status -H db1 --reference db2 --sample 5s -v",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in, look, and compare; who is not let in for want of a place has found something, too."""
    from stallwatch.probes.mysql_status import probe
    from stallwatch.probes.mysql_status.diagnosis import turned_away
    from stallwatch.sources.mysql import UnreachableError

    sample.refuse_what_cannot_be(check, options)
    ranges = {"warning": options.warning, "critical": options.critical}
    _refuse_twice(ranges)
    chosen = Selection(
        ranges, options.set, options.include, options.exclude, options.all, _kinds(options)
    )  # fmt: skip
    reference = _reference(options, run)
    _refuse_excluded(chosen)
    identity = {name: str(getattr(options, name)) for name in MEANING}
    target = mysql.target(check, options)
    with sample.memory(options, run, target=target.where, **identity) as memory:
        try:
            server = mysql.connect(target, run)
        except UnreachableError as error:
            if "connections" not in chosen.judged_sets:
                raise
            confirm = 1 if options.unreachable == "critical" else options.confirm
            yield turned_away(error, memory, confirm, sampled=bool(options.sample))
            return
        with server:
            yield from probe.findings(
                server, run, memory, chosen, confirm=options.confirm, sample=options.sample,
                reference=reference, everything=bool(options.verbose),
            )  # fmt: skip


def _refuse_twice(ranges: Mapping[str, Sequence[Wanted]]) -> None:
    """Refuse two ranges of one number: which of them is meant?"""
    for level, given in ranges.items():
        quantities = [one.quantity for one in given]
        for one in given:
            if quantities.count(one.quantity) > 1:
                check.parser.error(f"there are two {level} ranges of {one.name}: give one, as 10:20")


def _refuse_excluded(chosen: Selection) -> None:
    """Refuse a range of a number that is excluded."""
    for level, given in chosen.ranges.items():
        for one in given:
            if not one.per and chosen.excludes(one.name):
                check.parser.error(f"--exclude leaves out {one.name}, of which there is a {level} range")


def _kinds(options: Namespace) -> dict[str, str]:
    """Return what the user sets for variables, by name in small letters."""
    kinds = {name.lower(): "gauge" for name in options.gauge}
    for name in options.counter:
        if name.lower() in kinds:
            check.parser.error(f"{name} is either a --counter or a --gauge")
        kinds[name.lower()] = "counter"
    return kinds


def _reference(options: Namespace, run: Run) -> Opened | None:
    """Give what logs in at the reference, if there is one."""
    if options.reference and options.reference_group:
        check.parser.error("--reference and --reference-group name one server: give one of them")
    if not (options.reference or options.reference_group):
        return None
    target = mysql.other(check, options, options.reference, options.reference_group)
    return lambda: mysql.connect_besides(target, run)
