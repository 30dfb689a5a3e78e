"""The applier works, and too slowly."""

import os

from case import fault
from throttled import throttled

ROWS = 100_000
GIVES_WAY = 5  # of niceness: other cases go on beside it
# Of how many rows one is changed. MariaDB reads half of the table for each, at 2.5 million rows a second;
# MySQL hashes the rows of an event of 8 kB, and reads the table once for each of these.
SHARES = {"mariadb": {"weak": 70, "middle": 40, "strong": 25}, "mysql": {"weak": 2, "middle": 1, "strong": 1}}
MORE_ROWS = {"weak": 1, "middle": 1, "strong": 2}  # MySQL: times as many rows


@fault(
    "table without key", strengths={name: name for name in MORE_ROWS}, right=("table without key",),
    fair=("long transaction",), lasts=45.0, after=60.0,
)  # fmt: skip
def table_without_key(scene, strength):
    """An UPDATE of some rows of a table that has no key: one line for the source, minutes for the replica."""
    rows = ROWS * (MORE_ROWS[strength] if scene.is_mysql else 1)
    scene.table("visits", "id INT, n INT")
    with scene.source.session() as sql:
        step = 20_000
        for first in range(0, rows, step):
            sql(
                "INSERT INTO lab.visits VALUES "
                + ",".join(f"({number}, 0)" for number in range(first, first + step))
            )
    scene.pair.catch_up()
    _give_way(scene.replica.pid, GIVES_WAY)
    yield
    scene.source.sql(f"UPDATE lab.visits SET n = n + 1 WHERE id MOD {SHARES[scene.kind][strength]} = 0")
    yield
    _give_way(scene.replica.pid, 0)


def _give_way(pid, niceness):
    """Set the niceness of all threads of a process."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(thread), niceness)


@fault(
    "processor starved",
    strengths={"3 %": 0.03, "2 %": 0.02, "1 %": 0.01},
    right=("starved host",),
    lasts=75.0,
)
def processor_starved(scene, share):
    """The replica's process gets little of a processor, as under another container's load."""
    scene.load(every=0.05)
    yield
    with throttled(scene.replica.process.family, share):
        yield
