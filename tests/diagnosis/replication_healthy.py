"""Healthy things that look like a fault: nothing may alarm."""

import contextlib
import os
import subprocess
import threading

import places  # noqa: F401 - it says where the rest is
import software
from case import ALARMS, healthy
from replication_heartbeat import writing
from replication_writer import Writer
from throttled import need, others_burning, throttled

NEVER = 3600.0


class Batches(Writer):
    """Commits many times, then not for a while."""

    def __init__(self, pair, size, gap):
        self.size, self.gap = size, gap
        super().__init__(pair)

    @property
    def every(self):
        """Seconds until the next commit."""
        return 0.002 if len(self.committed) % self.size else self.gap

    @every.setter
    def every(self, _):
        pass


@healthy("idle source", lasts=80.0, after=0.0)
def idle_source(scene, _):
    """Nothing is written any more."""
    yield
    scene.writer.every = NEVER
    yield


@healthy("batches with gaps", lasts=90.0, after=0.0)
def batches(scene, _):
    """300 commits at once, then none for 25 s."""
    scene.writer = scene.kept.enter_context(Batches(scene.pair, 300, 25.0))
    yield
    yield


@healthy("restart of the replica", lasts=20.0, after=50.0, allowed=ALARMS)
def restart_of_the_replica(scene, _):
    """The replica restarts, and catches up with what was written meanwhile."""
    yield
    scene.restart(scene.replica, pause=3.0)
    yield


@healthy("restart of the source", lasts=20.0, after=50.0, allowed=ALARMS)
def restart_of_the_source(scene, _):
    """The source restarts, and the receiver connects again by itself."""
    yield
    scene.restart(scene.source, pause=3.0)
    yield


@healthy("switchover", fresh=True, lasts=60.0, after=0.0)
def switchover(scene, _):
    """The roles were changed: the replica has transactions of its own from when it was the source."""
    scene.load()
    scene.kept.close()
    scene.writer = None
    scene.switch_roles()
    yield
    yield


@healthy("circular replication", fresh=True, lasts=60.0, after=0.0)
def circular_replication(scene, _):
    """Both servers replicate from each other, and clients write to both."""
    scene.table("orders", "id INT AUTO_INCREMENT PRIMARY KEY")
    scene.replica.account(scene.replication.user, "REPLICATION SLAVE")
    if not scene.is_mysql:
        scene.source.sql("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos")
    scene.source.follow("", scene.replica.port, scene.replication)
    scene.source.start_replication()
    scene.load()
    yield
    with writing(scene.replica, 3.0):
        yield


@healthy("backup", lasts=60.0, after=0.0)
def backup(scene, _):
    """Dumps of the replica that lock nothing run all the time."""
    scene.table("big", "id INT PRIMARY KEY, filler CHAR(200)")
    with scene.source.session() as sql:
        for first in range(0, 60_000, 10_000):
            sql(
                "INSERT INTO lab.big VALUES "
                + ",".join(f"({n}, REPEAT('x', 200))" for n in range(first, first + 10_000))
            )
    scene.pair.catch_up()
    yield
    ended = threading.Event()
    dumping = threading.Thread(target=_dump, args=(scene.replica, ended), daemon=True)
    dumping.start()
    try:
        yield
    finally:
        ended.set()
        dumping.join()


def _dump(server, ended):
    program = software.program("mariadb-dump", "mariadb-client")
    words = ("--no-defaults", "--single-transaction", "--quick", "-uroot", f"--socket={server.socket}")
    command = [program, *words, "lab", "big"]
    while not ended.is_set():
        with contextlib.suppress(OSError):
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        ended.wait(5)


@healthy(
    "long transaction on the replica", strengths={"a reader": "SELECT * FROM lab.beat", "a writer's lock":
    "UPDATE lab.aside SET v = v + 1", "a lock of a gap": "SELECT * FROM lab.aside FOR UPDATE"}, lasts=60.0,
    after=0.0,
)  # fmt: skip
def long_transaction_on_the_replica(scene, statement):
    """A transaction on the replica stays open, and blocks nothing that is replicated."""
    scene.table("aside", "id INT PRIMARY KEY, v INT", "(1, 1)")
    yield
    with scene.holding("SET sql_log_bin = 0", "BEGIN", statement):
        yield


@healthy(
    "large UPDATE with a key",
    strengths={"50 000 rows": 50_000, "100 000 rows": 100_000, "150 000 rows": 150_000},
    lasts=60.0, after=0.0, allowed=ALARMS, wrong=("no (usable )?key",),
)  # fmt: skip
def large_update(scene, rows):
    """One statement changes many rows by their key, beside a scan of a table that has none."""
    scene.table("keyed", "id INT PRIMARY KEY, n INT")
    scene.table("loose", "id INT, n INT")
    with scene.source.session() as sql:
        for first in range(0, rows, 25_000):
            values = ",".join(f"({number}, 0)" for number in range(first, first + 25_000))
            for name in ("keyed", "loose"):
                sql(f"INSERT INTO lab.{name} VALUES {values}")
    scene.pair.catch_up()
    yield
    ended = threading.Event()
    scanning = threading.Thread(target=_scan, args=(scene.replica, ended), daemon=True)
    scanning.start()
    scene.source.sql("UPDATE lab.keyed SET n = n + 1")
    try:
        yield
    finally:
        ended.set()
        scanning.join()


def _scan(server, ended):
    with server.session(seconds=600) as sql:
        while not ended.wait(0.2):
            sql("SELECT COUNT(*) FROM lab.loose WHERE n + id < 0")


@healthy("high load", lasts=60.0, after=0.0)
def high_load(scene, _):
    """Much is written, and the replica keeps up."""
    scene.load(every=0.01)
    yield
    yield


@healthy("host busy with others", lasts=60.0, after=0.0, heavy=True)
def host_busy_with_others(scene, _):
    """Others want twice the processors that the host has, and the replica keeps up."""
    scene.load(every=0.1)
    yield
    with others_burning(2 * os.cpu_count()):
        yield


@healthy("throttled, keeps up", lasts=60.0, after=0.0)
def throttled_keeps_up(scene, _):
    """The replica's control group has a CPU limit that it meets now and then, and the replica keeps up."""
    scene.load(every=0.1)
    yield
    with throttled(scene.replica.process.family, max(0.1, 3 * need(scene.replica.pid))):
        yield
