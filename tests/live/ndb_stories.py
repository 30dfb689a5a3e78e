"""What happens to a cluster while the plugins look at its ndbinfo: each story is one recording.

A story is given a cluster and ``check(plugin, *options, of=..., account=...)``, which runs a plugin as an
account that has what sql_node.MONITOR says, on "sql1", the cluster's SQL node, or on another server that the
story adds to ``check.servers``. Those with the same settings share a cluster, and leave it as it was.
"""

import time
from typing import NamedTuple

import ndb_load
from mariadb import Mariadb
from mysql_server import Mysql
from stallwatch.history.delta import LEAST

ALL = NODES, PAGES, REDO, MEMORY, TRANSACTIONS = (
    "check_ndb_nodes", "check_ndb_page_buffer", "check_ndb_redo_buffer", "check_ndb_memory",
    "check_ndb_transactions",
)  # fmt: skip
INTERVAL = LEAST + 1  # seconds between two looks that count
JUST_STARTED = ("--restarted", "1s")  # that the cluster has is no part of the stories


class Story(NamedTuple):
    """What happens, and the settings of the cluster that it needs."""

    happens: object
    settings: tuple


STORIES = {}


def story(**settings):
    """Make a function a story."""

    def add(happens):
        STORIES[happens.__name__.replace("_", "-")] = Story(happens, tuple(settings.items()))
        return happens

    return add


def every(check, *options, **more):
    """Run all five."""
    for plugin in ALL:
        check(plugin, *(JUST_STARTED if plugin == NODES else ()), *options, **more)


@story()
def healthy(_, check):
    """Nothing, twice."""
    every(check)
    time.sleep(INTERVAL)
    every(check)


@story()
def healthy_in_detail(_, check):
    """The same; the second time with -v."""
    every(check)
    time.sleep(INTERVAL)
    every(check, "-v")


@story()
def grant_missing(cluster, check):
    """An account that may log in, and no more."""
    every(check, account=cluster.sql_node.account("nobody"))


@story()
def offline(cluster, check):
    """SET GLOBAL ndbinfo_offline = 1."""
    cluster.sql_node.sql("SET GLOBAL ndbinfo_offline = 1")
    every(check)
    cluster.sql_node.sql("SET GLOBAL ndbinfo_offline = 0")


@story()
def plain_mysql(cluster, check):
    """The same program as a MySQL server that takes part in no cluster."""
    with Mysql(cluster.path("plain")) as server:
        check.servers["db1"] = server
        every(check, of="db1", account=server.account("mon"))


@story()
def mariadb(cluster, check):
    """A MariaDB."""
    with Mariadb(cluster.path("mariadb")) as server:
        check.servers["db1"] = server
        check(NODES, of="db1", account=server.account("mon"))


@story()
def open_transaction(cluster, check):
    """A transaction of which nobody has heard for 6 s: by default, with a limit of 3 s, with PROCESS."""
    with ndb_load.open_transaction(cluster.sql_node):
        time.sleep(6)
        check(TRANSACTIONS)
        check(TRANSACTIONS, "-w", "3s", "-v")
        check(TRANSACTIONS, "-w", "3s", account=with_process(cluster))


@story()
def working_transaction(cluster, check):
    """A transaction that has asked nothing of the data nodes for 6 s: its statement takes long elsewhere."""
    with ndb_load.working_transaction(cluster.sql_node):
        time.sleep(6)
        check(TRANSACTIONS, "-w", "3s", "-v", account=with_process(cluster))


@story(TransactionDeadlockDetectionTimeout=30_000)
def lock_wait(cluster, check):
    """A transaction waits for a row that another one has changed: after 2 s, 7 s, and then with PROCESS."""
    with ndb_load.lock_wait(cluster.sql_node):
        time.sleep(2)
        check(TRANSACTIONS)
        time.sleep(5)
        check(TRANSACTIONS, "-v")
        check(TRANSACTIONS, account=with_process(cluster))


def _waiting(cluster, check, load):
    with load(cluster.sql_node):
        time.sleep(7)
        check(TRANSACTIONS, "-v", account=with_process(cluster))


@story(TransactionDeadlockDetectionTimeout=30_000)
def scan_wait(cluster, check):
    """An UPDATE of all rows waits for one that another transaction has changed 7 s ago."""
    _waiting(cluster, check, ndb_load.scan_wait)


@story(TransactionDeadlockDetectionTimeout=30_000)
def upgrade_wait(cluster, check):
    """Two transactions have shared the lock of a row for 7 s, one of whom waits to have it alone."""
    _waiting(cluster, check, ndb_load.upgrade_wait)


@story(TransactionDeadlockDetectionTimeout=30_000)
def chained_waits(cluster, check):
    """For 7 s one transaction waits for another one, and that for a third."""
    _waiting(cluster, check, ndb_load.chained_waits)


@story(TransactionDeadlockDetectionTimeout=30_000)
def several_operations_wait(cluster, check):
    """A row has been locked for 13 s, by three operations of one transaction, the last 7 s ago."""
    _waiting(cluster, check, ndb_load.several_operations_wait)


@story()
def node_restarted(cluster, check):
    """Node 4 was restarted in order between the first run and the second; the third is 5 s later."""
    every(check)
    cluster.restart(4)
    cluster.sql_node.wait_for((3, 4))
    every(check)
    time.sleep(5)
    every(check)


@story()
def node_down(cluster, check):
    """Node 4 was killed between two runs."""
    every(check)
    cluster.kill(4)
    cluster.sql_node.wait_for((3,))
    every(check)
    cluster.start_again(4)


@story()
def node_starting(cluster, check):
    """Node 4 starts: while ndbinfo does not know of it yet, and once it does."""
    cluster.shut_down(4)
    cluster.start_node(4)
    cluster.wait_for(4, "starting")
    every(check)
    until = time.monotonic() + 60
    while not cluster.sql_node.sql("SELECT * FROM ndbinfo.nodes WHERE node_id = 4"):
        if time.monotonic() > until:
            raise TimeoutError("ndbinfo never knows of node 4")
    check(NODES, *JUST_STARTED)
    check(MEMORY)
    cluster.wait_for(4)
    cluster.sql_node.wait_for((3, 4))


@story()
def cluster_down(cluster, check):
    """All data nodes were stopped in order; the SQL node runs."""
    cluster.shut_down_all()
    every(check)
    cluster.start_all_again()


@story(DiskPageBufferMemory="4M")
def page_buffer_too_small(cluster, check):
    """Random reads of a table on disk that is five times as large: 3 runs. Then 64M, node by node: 4 runs."""
    ndb_load.disk_table(cluster.sql_node)

    def look():
        check(PAGES, "--cold", "1s", "--confirm", "2")
        time.sleep(INTERVAL)

    with ndb_load.random_reads(cluster.sql_node):
        for _ in range(3):
            look()
        for _ in cluster.changing(DiskPageBufferMemory="64M"):
            look()
        for _ in range(2):
            look()


@story()
def disk_table(cluster, check):
    """A tablespace, seen without PROCESS, and with it."""
    ndb_load.disk_table(cluster.sql_node)
    check(MEMORY, "-v")
    check(MEMORY, "-v", account=with_process(cluster))
    check(PAGES)


@story(RedoBuffer="1M", NoOfFragmentLogFiles=16)
def redo_buffer_too_small(cluster, check):
    """Large rows are written, in bursts that the disk can take: 3 runs."""
    _written(cluster, check)


@story(RedoBuffer="1M", NoOfFragmentLogFiles=16)
def disk_too_slow(cluster, check):
    """The same, on a disk that writes 2 MB/s for both data nodes together: 3 runs."""
    with cluster.slow_disk(2 << 20):
        _written(cluster, check)


@story(RedoBuffer="32M")
def disk_too_slow_for_disk_tables(cluster, check):
    """Rows of a table on disk change, on a disk that writes 600 KB/s: one run before, 3 runs."""
    ndb_load.disk_table(cluster.sql_node)
    check(REDO)
    with ndb_load.disk_writes(cluster.sql_node), cluster.slow_disk(600 << 10):
        for _ in range(3):
            time.sleep(INTERVAL)
            check(REDO)


def _written(cluster, check):
    ndb_load.blob_table(cluster.sql_node)
    with ndb_load.blob_writes(cluster.sql_node):
        time.sleep(3)
        for _ in range(3):
            check(REDO)
            time.sleep(1)
    cluster.sql_node.sql("DROP TABLE lab.blobs")


@story(DataMemory="80M")
def memory_filled(cluster, check):
    """DataMemory is used to 60 %, then 85 %, then until a table is full."""
    for share in (0.6, 0.85, 1.0):
        with ndb_load.filled_memory(cluster.sql_node, share):
            time.sleep(2)
            check(MEMORY)


def with_process(cluster):
    """An account that may see whose connections there are, too."""
    return cluster.sql_node.account("process", "SELECT ON ndbinfo.*", "PROCESS")
