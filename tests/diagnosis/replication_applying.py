"""The applier works, and too slowly."""

import os

import places  # noqa: F401 - it says where the rest is
from case import fault
from throttled import need, throttled

GIVES_WAY = 10  # of niceness: other cases go on beside it
BATCH = 25_000  # rows
# How many rows there are, and of how many one is changed: some 40, 65 and 95 s of work. MariaDB 10.11 reads
# half of the table for each, 5 million rows a second; MySQL 9.7 reads it once for all rows of an event.
SIZES = {
    "mariadb": {"40 s": (100_000, 25), "65 s": (100_000, 15), "95 s": (100_000, 10)},
    "mysql": {"40 s": (250_000, 1), "65 s": (325_000, 1), "95 s": (400_000, 1)},
}


@fault(
    "table without key", strengths={name: name for name in SIZES["mysql"]}, right=("table without key",),
    fair=("long transaction",), lasts=45.0, after=60.0, heavy=True,
)  # fmt: skip
def table_without_key(scene, strength):
    """An UPDATE of some rows of a table that has no key: a moment for the source, minutes for the replica."""
    rows, of = SIZES[scene.kind][strength]
    scene.table("visits", "id INT, n INT")
    with scene.source.session() as sql:
        for first in range(0, rows, BATCH):
            numbers = range(first, first + BATCH)
            sql("INSERT INTO lab.visits VALUES " + ",".join(f"({number}, 0)" for number in numbers))
    scene.pair.catch_up()
    _give_way(scene.replica.pid, GIVES_WAY)
    yield
    scene.source.sql(f"UPDATE lab.visits SET n = n + 1 WHERE id MOD {of} = 0")
    yield
    _give_way(scene.replica.pid, 0)


LEAST = 0.002  # of a processor


@fault(
    "processor starved",
    strengths={"30 % of its need": 0.3, "20 % of its need": 0.2, "15 % of its need": 0.15},
    right=("starved host",), lasts=80.0,
)  # fmt: skip
def processor_starved(scene, share):
    """The replica's process gets less of a processor than it needs, as under another container's load."""
    scene.load(every=0.02, octets=2000)
    yield
    with throttled(scene.replica.process.family, max(LEAST, share * need(scene.replica.pid))):
        yield


def _give_way(pid, niceness):
    """Set the niceness of all threads of a process."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(thread), niceness)
