"""A lag that goes, and one that comes again: where it is going, and when that ends."""

import contextlib
import threading
import time

import places  # noqa: F401 - it says where the rest is
from case import fault
from replication_stories import SLOW, slow_statement

STOPPED = 45.0  # seconds
HEALTHY = 15.0  # seconds between two episodes


@contextlib.contextmanager
def _slow_statements(scene):
    """Meanwhile the source runs one a second, which takes the replica longer."""
    ended = threading.Event()

    def run():
        with scene.source.session() as sql:
            sql("SET SESSION binlog_format = STATEMENT")
            while not ended.wait(1.0):
                sql(SLOW)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    try:
        yield
    finally:
        ended.set()
        running.join()


@fault(
    "backlog drains", strengths={"2.5 s in a second": 0.4, "2 s in a second": 0.5, "1.7 s in a second": 0.6},
    lasts=120.0, after=0.0,
)  # fmt: skip
def backlog_drains(scene, seconds):
    """The applier was stopped for 45 s; it applies what has come meanwhile at a steady pace."""
    scene.not_logged(scene.replica, "DROP TABLE IF EXISTS lab.pace, lab.slow")
    scene.source.sql("DROP TABLE IF EXISTS lab.pace, lab.slow")
    slow_statement(scene.pair, 1, seconds)
    with _slow_statements(scene):
        yield
        scene.replica.stop_replication("", "SQL_THREAD")
        time.sleep(STOPPED)
        scene.replica.start_replication("", "SQL_THREAD")
        scene.note("evident")
        yield


@fault(
    "second episode", strengths={"after 10 s": 10.0, "after 20 s": 20.0, "after 30 s": 30.0},
    right=("row lock",), lasts=105.0,
)  # fmt: skip
def second_episode(scene, seconds):
    """A row lock ended, the replica caught up, and another one begins."""
    yield
    locked = ("BEGIN", "SELECT * FROM lab.beat FOR UPDATE")
    with scene.holding(*locked):
        time.sleep(seconds)
    time.sleep(HEALTHY)
    with scene.holding(*locked):
        scene.note("evident")
        yield
