"""Faults that are no lag: nobody writes the heartbeats, or somebody writes to the replica."""

import contextlib
import threading

import places  # noqa: F401 - it says where the rest is
from case import ALARMS, OK_STATE, WARNING_STATE, fault
from replication_heartbeats import COLUMNS, TABLE, Heartbeats
from replication_pair import GRANTS
from replication_strengths import RATES


@fault(
    "heartbeat writer dead", strengths=RATES, right=("heartbeat writer",), states=(OK_STATE, WARNING_STATE),
    evident=20.0, lasts=80.0, after=0.0,
)  # fmt: skip
def heartbeat_writer_dead(scene, every):
    """Who writes the heartbeats has died; all else goes on, and nothing is late."""
    scene.account = scene.pair.account("beating", *GRANTS[scene.kind], "SELECT ON lab.*")
    scene.source.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} ({COLUMNS})")
    scene.options += ["--heartbeat", TABLE]
    scene.load(every=every)
    with Heartbeats(scene.pair):
        yield
    yield
    scene.source.sql(f"DROP TABLE {TABLE}")


@fault(
    "written to the replica", strengths={"once": 0.0, "every 10 s": 10.0, "10 times/s": 0.1},
    right=("errant transactions",), states=(OK_STATE, *ALARMS), evident=0.0, after=0.0, lasts=45.0,
    fresh=True,
)  # fmt: skip
def written_to_the_replica(scene, every):
    """read_only is off, and an application writes to the replica."""
    scene.table("orders", "id INT AUTO_INCREMENT PRIMARY KEY")
    yield
    with writing(scene.replica, every):
        yield


@contextlib.contextmanager
def writing(server, every):
    """Meanwhile an application inserts into lab.orders every so many seconds; 0: once."""
    ended = threading.Event()

    def write():
        while True:
            server.sql("INSERT INTO lab.orders VALUES ()")
            if not every or ended.wait(every):
                return

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
