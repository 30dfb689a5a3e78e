"""Cassandra writes its memtables to one disk: a disk that is too slow, and one that keeps up.

It is an old one, which tells what its flushes block, with 1 MiB for memtables.
"""

import contextlib
import os
import threading

import places  # noqa: F401 - it says where the rest is
from jmx_case import POOLS, Told, fault, healthy

# isort: split
import pool_servers
from small_disk import frozen, small_disk

TABLES = 20  # of which each is a flush of its own
DISK = 256 << 20  # octets of the disk of the tables
PERIOD = 2.0  # seconds of which the disk takes nothing for a part


@fault("slow disk under flushes", strengths={"80 %": 0.8, "90 %": 0.9, "all the time": 1.0}, evident=6.0,
       lasts=33.0, fair="CollectionTime|^collecting",
       told={POOLS: Told("slow_disk", of="*/*FlushWriter*")})  # fmt: skip
def slow_disk_under_flushes(scene, share):
    """The disk of a Cassandra's tables takes nothing for most of each two seconds, and clients write."""
    cassandra, disk = _start(scene)
    yield
    with _writing(cassandra, TABLES, 0.0), _frozen(disk, share):  # the disk thaws first, or nobody ends
        yield


@healthy("disk that keeps up")
def disk_that_keeps_up(scene, _):
    """Clients write to a Cassandra, and what they write is flushed at once."""
    cassandra, _ = _start(scene)
    yield
    with _writing(cassandra, 1, 1.0):
        yield


def _start(scene):
    """Let the checks ask a Cassandra: gives it, and where its tables are, a file system of their own."""
    cassandra = pool_servers.OldCassandra(os.path.join(scene.folder, "cassandra"))
    disk = cassandra.path("data")
    os.makedirs(disk)
    scene.kept.enter_context(small_disk(disk, DISK))
    scene.asked = scene.kept.enter_context(cassandra)
    cassandra.execute(
        "CREATE KEYSPACE tests WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        *(f"CREATE TABLE tests.t{number} (key int PRIMARY KEY, value text)" for number in range(TABLES)),
    )
    return cassandra, disk


def _writing(cassandra, tables, pause):
    """Meanwhile a row of 20 KB is written into each of so many tables, again and again."""
    row = "INSERT INTO tests.t{} (key, value) VALUES (1, '{}')"
    rows = [row.format(number, "x" * 20000) for number in range(tables)]

    def write(end):
        with contextlib.suppress(OSError, AssertionError):  # it times out while nothing can be flushed
            cassandra.execute(*rows)
        end.wait(pause)

    return _again(write)


def _frozen(folder, share):
    """Meanwhile nothing can be written to the file system of a folder, for this share of the time."""

    def freeze(end):
        with frozen(folder):
            end.wait(PERIOD * share if share < 1 else None)
        end.wait(PERIOD * (1 - share))

    return _again(freeze)


@contextlib.contextmanager
def _again(work):
    """Meanwhile this is done again and again."""
    end = threading.Event()

    def run():
        while not end.is_set():
            work(end)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
