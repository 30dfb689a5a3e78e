"""Faults of memory, transactions and locks."""

import threading

import places  # noqa: F401 - it says where the rest is
from ndb_case import LOG, MEMORY, NODES, PROCESS_4, TRANSACTIONS, fault

# isort: split
import ndb_load
from swapped_out import page_out, swap_file

SWAP = 1 << 30  # octets: a data node of the tests has 700 MB


@fault(
    "DataMemory nearly full", strengths={"86 %": 0.86, "91 %": 0.91, "all of it": 1.0}, nodes=(3, 4),
    lasts=36.0, told={MEMORY: ("data memory",), LOG: ("data memory",)},
)  # fmt: skip
def data_memory_full(scene, share):
    """DataMemory fills; from 95 % on writes fail with error 827 (1114)."""
    yield
    with ndb_load.filled_memory(scene.sql_node, share):
        scene.note("evident")
        yield


@fault(
    "row locked", strengths={"a row": "lock_wait", "a scan": "scan_wait", "a shared row": "upgrade_wait"},
    told={TRANSACTIONS: ("lock",)}, evident=6.0, fair=("lock", "idle transaction"),
)  # fmt: skip
def row_locked(scene, load):
    """A transaction holds the lock of a row, and another one waits for it until it fails, again and again."""
    yield
    with getattr(ndb_load, load)(scene.sql_node):
        yield


@fault(
    "transaction left open", strengths={"1 row": 1, "100 rows": 100, "5 000 rows": 5000},
    told={TRANSACTIONS: ("idle transaction",)}, evident=16.0, lasts=36.0,
)  # fmt: skip
def transaction_left_open(scene, rows):
    """A client has changed rows, and does not commit."""
    scene.options[TRANSACTIONS] = ("-w", "15s")
    with scene.sql_node.session() as sql:
        sql("CREATE DATABASE IF NOT EXISTS lab")
        sql("CREATE TABLE IF NOT EXISTS lab.many (id INT PRIMARY KEY, n INT) ENGINE NDB")
        sql(f"REPLACE INTO lab.many VALUES {', '.join(f'({row}, 0)' for row in range(rows))}")
    yield
    with ndb_load.open_transaction(scene.sql_node, f"UPDATE lab.many SET n = n + 1 WHERE id < {rows}"):
        yield


@fault(
    "data node swapped out", strengths={"every 2 s": 2.0, "every 1 s": 1.0, "every 0.3 s": 0.3}, nodes=(4,),
    told={NODES: ("swapping",), PROCESS_4: ("swapping",)}, evident=2.0, fair=("swapping", "late thread"),
)  # fmt: skip
def data_node_swapped_out(scene, every):
    """The memory of node 4 is swapped out again and again, and comes back as far as it is used."""
    scene.load(0.01)
    ended = threading.Event()
    process = scene.cluster.child(4).pid

    def swap():
        while not ended.wait(every):
            page_out(process)

    with swap_file(scene.cluster.path("swap"), SWAP):
        yield
        try:
            with scene.meanwhile(swap):
                page_out(process)
                yield
                ended.set()
        finally:
            ended.set()
