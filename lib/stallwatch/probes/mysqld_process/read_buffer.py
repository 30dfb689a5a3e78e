"""A large read_buffer_size that is mapped anew for each connection ("Read Buffer performance hit").

malloc() maps what is as large as its threshold, 128 KiB, the kernel zeroes each page as it is touched first,
and free() unmaps it. In the article 5M cost one of eight processors at 60 to 100 connections per second, and
128K next to nothing. Measured on one of two processors with 5M of read_buffer_size, 1280 pages of 4 KiB:

- MariaDB 10.11.19, MyISAM tables of more than 5 MiB: each scan, sort, update and INSERT ... SELECT took 1281
  minor faults and 4.4 to 5.7 ms of system time, with 128K 25 faults; InnoDB and Aria none, nor MySQL 9.7.2
  but for LOAD DATA INFILE (1281 faults, 7 ms). A buffer is no larger than the file that is read.
- Only with a fixed threshold (MALLOC_MMAP_THRESHOLD_): by default glibc raises it to 5M when the first one
  is freed, up to 32 MiB, and then there were 0 to 12 % of these faults, of 24 and 50 clients at a time too.
- 64M are mapped by default: 16385 minor faults and 57 ms of system time for each.

So the size says nothing, the system time little (a scan of MyISAM in MySQL 9.7.2 is 65 % system time, with
no page fault), but that each connection has as many page faults as its buffer has pages does: no fewer, and
no more, which others cause (large values, sort buffers, temporary tables, a buffer pool that fills).
"""

from __future__ import annotations

import os

from stallwatch.findings import Fault, State
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count

if TYPE_CHECKING:
    from stallwatch.history.delta import Interval
    from stallwatch.probes.mysqld_process.use import Use

CONNECTED = "Connections"  # the status variable, and its count between two looks
VARIABLE = "read_buffer_size"
MAPPED = 128 << 10  # bytes: M_MMAP_THRESHOLD (man mallopt); all versions have it as their default, too
MANY = 50.0  # connections per second: the article has 60 to 100
FAULTS = 10_000.0  # per second, which take 4 % of a processor: fewer are not worth a word
SHARE = 20.0  # per cent of the processor time, which is system time: the article has 67
# Page faults of a connection for each page of a buffer: 1 where it is mapped, 0.12 at most where it is not.
# A connection that needs two is not told from one that needs something else.
FEWEST, MOST = 0.8, 1.25


def finding(interval: Interval, use: Use, size: float) -> Fault | None:
    """Say that it is mapped for each connection, if all that was counted says so; ``size`` in bytes."""
    connections, faults = interval.rate(CONNECTED), interval.rate("minor_faults")
    share = use.system_share or 0.0
    if connections is None or faults is None or connections < MANY or faults < FAULTS or share < SHARE:
        return None
    pages, each = size / os.sysconf("SC_PAGE_SIZE"), faults / connections
    if size <= MAPPED or not FEWEST <= each / pages <= MOST:
        return None
    return Fault(
        State.WARNING,
        f"{VARIABLE} {written(size)} is mapped and zeroed for {connections:.0f} connections/s",
        f"{say_count(faults)} minor page faults/s, {each:.0f} for each connection, where such a buffer has "
        f"{pages:.0f} pages; system time {use.system:.0f} % of a processor",
        "set 128K and look again (it once cost one of eight processors): if as many are left, it was another "
        "buffer",
    )


def written(size: float) -> str:
    """Write a size as an option file has it: 5M."""
    for letter, unit in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= unit and size % unit == 0:
            return f"{size / unit:.0f}{letter}"
    return f"{size:.0f}"
