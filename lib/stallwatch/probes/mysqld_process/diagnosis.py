"""What is wrong with a process, whatever it uses.

It is not there; it is stopped, or held by a debugger; it has too many descriptors open, was started often, or
maps a large read_buffer_size anew for each connection.
"""

from __future__ import annotations

import os

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.mysqld_process.choosing import user_name
from stallwatch.probes.mysqld_process.model import CONNECTED, READ_BUFFER, SERVERS, named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Interval
    from stallwatch.probes.mysqld_process.choosing import NotThereError
    from stallwatch.probes.mysqld_process.collect import LastProcess
    from stallwatch.probes.mysqld_process.model import Snapshot, Use

DESCRIPTORS = "descriptors"
_WITHOUT = "at the limit it can neither take connections nor open files (error 24, Too many open files)"
_SERVER = "raise open_files_limit and LimitNOFILE of its unit, or lower table_open_cache, max_connections"
_OTHER = "raise its limit: LimitNOFILE of its unit, ulimit -n where it is started"
ROOM = 16 << 20  # bytes: FragmentLogFileSize, the next redo log file of a data node, by default
_OFTEN = 3  # starts within an hour: no accident, as of data nodes
MAPPED = 128 << 10  # bytes: M_MMAP_THRESHOLD (man mallopt); all versions have it as their default, too
MANY = 50.0  # connections per second: the article has 60 to 100
FAULTS = 10_000.0  # per second, which take 4 % of a processor: fewer are not worth a word
SHARE = 20.0  # per cent of the processor time, which is system time: the article has 67
# Page faults of a connection for each page of a buffer: 1 where it is mapped, 0.12 at most where it is not.
# A connection that needs two is not distinguished from one that needs something else.
FEWEST, MOST = 0.8, 1.25


def gone(error: NotThereError, directory: str | None) -> Fault:
    """Report that the process that is meant is not there, and whether the disk of its data directory is full.

    Then it cannot even write into its log what ended it (a data node of 9.7.2 did not).
    """
    from stallwatch.sources.host import free_bytes

    free = free_bytes(directory) if directory else None
    if free is None or free >= ROOM:
        return Fault(State.CRITICAL, error.what, error.why, error.advice)
    why = f"the disk there is full ({say_size(free)} free)"
    return Fault(State.CRITICAL, error.what, why, "make room there, then check that it starts")


def stopped(snapshot: Snapshot) -> Fault:
    """Report that somebody has stopped it."""
    pid = snapshot.process.pid
    return Fault(
        State.CRITICAL,
        f"{named(snapshot.process)} is stopped and does not respond",
        "it got SIGSTOP",
        f"find out who stopped it, then kill -CONT {pid}",
    )


def held(snapshot: Snapshot) -> Fault:
    """Report that a debugger holds it, which takes microseconds where one only looks at what it does."""
    pid = snapshot.status.tracer
    who = f", process {pid}," if pid else ""
    what = f"{named(snapshot.process)} is held by a debugger{who} and does not respond"
    return Fault(State.CRITICAL, what, "", "end gdb, strace or gcore: detaching lets it go on")


def are_critical(snapshot: Snapshot, run: Run) -> bool:
    """Whether so many descriptors are open that it is critical, if that lasts."""
    if snapshot.descriptors is None or not snapshot.limit:
        return False
    return run.alerts(DESCRIPTORS, snapshot.filled, State.CRITICAL)


def descriptors(snapshot: Snapshot, run: Run, *, lasting: bool) -> Iterator[Finding]:
    """Judge how many of the descriptors that it may have are open: files, connections.

    ``lasting``: they are critical, and were at the look before. In the first look a critical limit counts if
    the user gave it. Where they are not for us to see, the slots that the kernel keeps for them are as many
    or more; if these show nothing either, that is an aside, but UNKNOWN if the user set a limit.
    """
    if snapshot.descriptors is not None:
        yield Reading("open_descriptors", snapshot.descriptors, "", in_table=True, most=snapshot.limit)
    if snapshot.limit is None:
        return
    who, filled = named(snapshot.process), snapshot.filled
    alerts = run.alerts(DESCRIPTORS, filled)
    if snapshot.descriptors is not None:
        what = f"{who} has {snapshot.descriptors} of {snapshot.limit} descriptors open"
        confirmed = lasting or run.is_given(DESCRIPTORS, "critical")
        why = _WITHOUT if alerts else ""
        advice = _SERVER if snapshot.process.name in SERVERS else _OTHER
        yield Reading(DESCRIPTORS, filled, "%", what, why, advice, confirmed=confirmed)
    elif not alerts:
        what = f"{who} has at most {snapshot.most_descriptors} of {snapshot.limit} descriptors open"
        yield Reading(DESCRIPTORS, filled, "%", what, label="")
    else:
        what = f"how many of {snapshot.limit} descriptors {who} has open is not for {user_name()} to see"
        state = State.UNKNOWN if run.is_given(DESCRIPTORS) else State.OK
        yield Fault(state, what, advice="run this as its user (sudo -u)")


def starts(snapshot: Snapshot, last: LastProcess | None) -> Iterator[Fault]:
    """Report a process that was started so often that it may not stay up: each look finds another one."""
    if last is None or len(last.starts) < _OFTEN:
        return
    ago, times = say_duration(round(snapshot.age)), len(last.starts)
    yield Fault(
        State.WARNING,
        f"{named(snapshot.process)} started {ago} ago, and {times} times within the last hour",
        advice="if unplanned, see its error log, and what starts it again",
    )


def read_buffer(interval: Interval, use: Use, size: float) -> Iterator[Fault]:
    """Show that a large read_buffer_size is mapped anew for each connection, if all counts show it.

    ``size`` in bytes. The article is "Read Buffer performance hit".

    malloc() maps what is as large as its threshold, 128 KiB, the kernel zeroes each page as it is touched
    first, and free() unmaps it. In the article 5M cost one of eight processors at 60 to 100 connections per
    second, and 128K next to nothing. Measured on one of two processors with 5M of read_buffer_size, 1280
    pages of 4 KiB:

    - MariaDB 10.11.19, MyISAM tables of more than 5 MiB: each scan, sort, update and INSERT ... SELECT took
      1281 minor faults and 4.4 to 5.7 ms of system time, with 128K 25 faults; InnoDB and Aria none, nor
      MySQL 9.7.2 but for LOAD DATA INFILE (1281 faults, 7 ms). A buffer is no larger than the file that is
      read.
    - Only with a fixed threshold (MALLOC_MMAP_THRESHOLD_): by default glibc raises it to 5M when the first
      one is freed, up to 32 MiB, and then there were 0 to 12 % of these faults, of 24 and 50 clients at a
      time too.
    - 64M are mapped by default: 16385 minor faults and 57 ms of system time for each.

    So the size shows nothing, the system time little (a scan of MyISAM in MySQL 9.7.2 is 65 % system time,
    with no page fault), but that each connection has as many page faults as its buffer has pages does: no
    fewer, and no more, which others cause (large values, sort buffers, temporary tables, a buffer pool that
    fills).
    """
    connections, faults = interval.rate(CONNECTED), interval.rate("minor_faults")
    share = use.system_share or 0.0
    if connections is None or faults is None or connections < MANY or faults < FAULTS or share < SHARE:
        return
    pages, each = size / os.sysconf("SC_PAGE_SIZE"), faults / connections
    if size <= MAPPED or not FEWEST <= each / pages <= MOST:
        return
    yield Fault(
        State.WARNING,
        f"{READ_BUFFER} {written(size)} is mapped and zeroed for {connections:.0f} connections/s",
        f"{say_count(faults)} minor page faults/s, {each:.0f} for each connection, where such a buffer has "
        f"{pages:.0f} pages, system time {use.system:.0f} % of a processor",
        "set it to 128K and check again",
        Line(more=("if as many faults are left, another buffer is the cause",)),
    )


def written(size: float) -> str:
    """Write a size as an option file has it: 5M."""
    for letter, unit in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= unit and size % unit == 0:
            return f"{size / unit:.0f}{letter}"
    return f"{size:.0f}"
