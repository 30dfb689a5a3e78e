"""The applier waits for a lock that somebody on the replica holds."""

from case import fault
from replication_strengths import RATES


@fault("global read lock", strengths=RATES, right=("global read lock", "backup lock"))
def global_read_lock(scene, every):
    """Somebody ran FLUSH TABLES WITH READ LOCK on the replica, and left the session open."""
    scene.load(every=every)
    yield
    with scene.holding("FLUSH TABLES WITH READ LOCK"):
        yield


@fault("row lock", strengths=RATES, right=("row lock",), lasts=78.0)
def row_lock(scene, every):
    """A transaction on the replica was left open; after 50 s the applier gives up and tries again."""
    scene.load(every=every)
    yield
    with scene.holding("BEGIN", "SELECT * FROM lab.beat FOR UPDATE"):
        yield


@fault("metadata lock", strengths=RATES, right=("metadata lock",))
def metadata_lock(scene, every):
    """An ALTER TABLE waits for a reader on the replica, and all else waits behind it."""
    scene.load(every=every)
    scene.table("held", "id INT PRIMARY KEY, v INT", "(1, 1)")
    yield
    with scene.holding("BEGIN", "SELECT * FROM lab.held"):
        scene.source.sql("ALTER TABLE lab.held ADD w INT")
        yield
