"""A chain of three servers, whose middle one has fallen behind; the last one is asked."""

import threading

import places  # noqa: F401 - it says where the rest is
from case import fault, healthy
from replication_healthy import NEVER
from replication_heartbeats import COLUMNS, TABLE, Heartbeats
from replication_pair import GRANTS

STOPS = {"its applier stopped": "SQL_THREAD", "its receiver stopped": "IO_THREAD", "its link dead": ""}


def _watch_the_leaf(scene):
    scene.watched, scene.upstream = scene.third_server(), scene.replica


def _stop(scene, thread):
    if thread:
        scene.replica.stop_replication("", thread)
    else:
        scene.link.black_hole()


def _go_on(scene, thread):
    if thread:
        scene.replica.start_replication("", thread)
    else:
        scene.link.pass_all()


@fault(
    "chain, the middle one stopped", strengths=STOPS, right=("upstream",), alone=False, fresh=True, lasts=70.0
)
def chain(scene, thread):
    """The last one of three is asked, and the middle one does not get or apply anything.

    It does not know so itself before its link has been dead for a while: then --source names the first, too.
    """
    _watch_the_leaf(scene)
    scene.above = [] if thread else [scene.source]
    yield
    _stop(scene, thread)
    yield
    _go_on(scene, thread)


@fault("chain with heartbeats", strengths=STOPS, right=("upstream",), fresh=True, lasts=60.0)
def chain_with_heartbeats(scene, thread):
    """The same, and the first one writes heartbeats that the check reads on the last one."""
    scene.account = scene.pair.account("beating", *GRANTS[scene.kind], "SELECT ON lab.*")
    scene.source.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} ({COLUMNS})")
    _watch_the_leaf(scene)
    scene.watched.account("beating", *GRANTS[scene.kind], "SELECT ON lab.*")
    scene.watched.account(scene.pair.monitor.user, *GRANTS[scene.kind])
    scene.options += ["--heartbeat", TABLE, "--heartbeat-server-id", str(scene.source.number)]
    scene.kept.enter_context(Heartbeats(scene.pair))
    yield
    _stop(scene, thread)
    yield
    _go_on(scene, thread)


@healthy("idle chain", fresh=True, lasts=80.0, after=0.0)
def idle_chain(scene, _):
    """The last one of three is asked, and nothing is written any more."""
    _watch_the_leaf(scene)
    yield
    scene.writer.every = NEVER
    yield


@healthy("chain, the first one idle", fresh=True, lasts=60.0, after=0.0)
def first_one_idle(scene, _):
    """The last one of three is asked; the first one writes nothing any more, the middle one does."""
    _watch_the_leaf(scene)
    scene.table("own", "id INT AUTO_INCREMENT PRIMARY KEY")
    yield
    scene.writer.every = NEVER
    ended = threading.Event()

    def write():
        while not ended.wait(1.0):
            scene.replica.sql("INSERT INTO lab.own VALUES ()")

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    try:
        yield
    finally:
        ended.set()
        writing.join()


@healthy("chain, the middle one delayed", strengths={"4 s": 4}, fresh=True, lasts=60.0, after=0.0)
def middle_one_delayed(scene, seconds):
    """The last one of three is asked; the middle one is to be behind, which the last one cannot know."""
    _watch_the_leaf(scene)
    yield
    scene.delay = float(seconds)
    scene.follow(delay=seconds)
    yield
