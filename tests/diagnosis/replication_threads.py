"""Threads of the replica that do not run: somebody stopped them, or the applier failed."""

from case import ALARMS, CRITICAL_STATE, OK_STATE, UNKNOWN_STATE, fault
from replication_strengths import RATES


@fault(
    "applier stopped by hand",
    strengths=RATES,
    right=("applier stopped",),
    states=(CRITICAL_STATE,),
    evident=0.5,
)
def applier_stopped(scene, every):
    """Somebody stopped the applier."""
    scene.load(every=every)
    yield
    scene.replica.stop_replication("", "SQL_THREAD")
    yield
    scene.replica.start_replication("", "SQL_THREAD")


@fault(
    "receiver stopped by hand", strengths=RATES, right=("receiver stopped",), states=(CRITICAL_STATE,),
    evident=0.5,
)  # fmt: skip
def receiver_stopped(scene, every):
    """Somebody stopped the receiver."""
    scene.load(every=every)
    yield
    scene.replica.stop_replication("", "IO_THREAD")
    yield
    scene.replica.start_replication("", "IO_THREAD")


# What the replica lost or has too much, what the source then does, and how the replica is mended.
_MISMATCHES = {
    "1062 duplicate row": ("INSERT INTO lab.odd VALUES (1, 0)", "INSERT INTO lab.odd VALUES (1, 0)",
                           "DELETE FROM lab.odd WHERE id = 1"),
    "1032 missing row": ("DELETE FROM lab.odd", "UPDATE lab.odd SET n = 1",
                         "INSERT INTO lab.odd VALUES (7, 0)"),
    "1146 missing table": ("DROP TABLE lab.odd", "INSERT INTO lab.odd VALUES (2, 0)",
                           "CREATE TABLE lab.odd (id INT PRIMARY KEY, n INT)"),
}  # fmt: skip


@fault(
    "applier failed", strengths=_MISMATCHES, right=("applier failed",), states=(CRITICAL_STATE,), evident=3.0,
)  # fmt: skip
def applier_failed(scene, mismatch):
    """The data of the replica differ from those of the source, and the applier stops."""
    differs, breaks, mends = mismatch
    scene.table("odd", "id INT PRIMARY KEY, n INT", "(7, 0)")
    yield
    scene.not_logged(scene.replica, differs)
    scene.source.sql(breaks)
    yield
    scene.not_logged(scene.replica, mends)
    scene.replica.stop_replication()
    scene.replica.start_replication()


@fault(
    "intended delay", strengths={"10 s": 10, "30 s": 30, "1 h": 3600}, right=("intended delay",),
    states=(OK_STATE,), evident=12.0, after=0.0, lasts=60.0,
)  # fmt: skip
def intended_delay(scene, seconds):
    """The replica is to be behind, and is."""
    yield
    scene.delay = float(seconds)
    scene.follow(delay=seconds)
    yield


@fault(
    "replica frozen", strengths=RATES, right=("replica silent",), states=(UNKNOWN_STATE, *ALARMS),
    evident=1.0, tells=False, lasts=45.0,
)  # fmt: skip
def replica_frozen(scene, every):
    """The process of the replica is stopped: its kernel takes connections, and nobody answers."""
    scene.load(every=every)
    yield
    scene.replica.suspend()
    yield
    scene.replica.resume()
