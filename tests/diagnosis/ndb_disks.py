"""Faults of disks, and of what is kept there: redo log, undo log, files of disk tables, checkpoints."""

import re
from pathlib import Path

import places  # noqa: F401 - it says where the rest is
from ndb_case import LOG, MEMORY, REDO, fault

# isort: split
import ndb_load
from small_disk import fill, small_disk

RATES = {"2 MB/s": 2 << 20, "1 MB/s": 1 << 20, "500 KB/s": 500 << 10}  # for both data nodes together
FOLLOWS = ("redo buffer", "GCP", "slow disk", "late thread")
WRITES = {"1 writer": 1, "2 writers": 2, "4 writers": 4}


@fault(
    "slow disk under redo", strengths=RATES, nodes=(3, 4), lasts=42.0, evident=12.0,
    told={REDO: ("slow disk",), LOG: ("slow disk",)}, fair=FOLLOWS,
)  # fmt: skip
def slow_disk_under_redo(scene, rate):
    """Large rows are written to a disk that is too slow for the redo log."""
    ndb_load.blob_table(scene.sql_node)
    yield
    with scene.cluster.slow_disk(rate), scene.under(ndb_load.blob_writes(scene.sql_node)):
        yield
    scene.sql_node.sql("DROP TABLE lab.blobs")


@fault(
    "slow disk under disk tables",
    strengths={"1 MB/s": 1 << 20, "600 KB/s": 600 << 10, "300 KB/s": 300 << 10},
    nodes=(3, 4), lasts=48.0, evident=20.0, told={REDO: ("slow disk",), LOG: ("slow disk",)},
    fair=(*FOLLOWS, "undo log full"), settings={"RedoBuffer": "32M"},
)  # fmt: skip
def slow_disk_under_disk_tables(scene, rate):
    """Rows of a table on disk change on a disk that is too slow for their pages and the undo log."""
    ndb_load.disk_table(scene.sql_node)
    yield
    # At 300 KB/s statements do not end within half a minute: the disk is given back before they are.
    with scene.under(ndb_load.disk_writes(scene.sql_node)), scene.cluster.slow_disk(rate):
        yield


SMALL_REDO = {
    "NoOfFragmentLogFiles": 3, "FragmentLogFileSize": "4M", "TimeBetweenLocalCheckpoints": 31,
    "RedoBuffer": "16M",
}  # fmt: skip


@fault(
    "redo log full", strengths=WRITES, settings=SMALL_REDO, lasts=45.0, evident=15.0,
    told={REDO: ("redo log space", "slow disk")}, fair=(*FOLLOWS, "redo log space", "checkpoint"),
)  # fmt: skip
def redo_log_full(scene, writers):
    """The redo log is small, and what is written fills it faster than checkpoints free it: error 410."""
    ndb_load.blob_table(scene.sql_node)
    yield
    with scene.cluster.slow_disk(3 << 20), scene.under(ndb_load.blob_writes(scene.sql_node, writers)):
        yield


SLOW_CHECKPOINTS = {
    "MinDiskWriteSpeed": "1M", "MaxDiskWriteSpeed": "1M", "TimeBetweenLocalCheckpoints": 31,
    "RedoBuffer": "32M", "NoOfFragmentLogFiles": 32,
}  # fmt: skip


@fault(
    "undo log full", strengths=WRITES, settings=SLOW_CHECKPOINTS, lasts=45.0, evident=15.0,
    told={MEMORY: ("undo log full",)}, fair=(*FOLLOWS, "undo log full", "checkpoint"),
)  # fmt: skip
def undo_log_full(scene, writers):
    """The undo log of disk tables is small, and what changes fills it faster than checkpoints free it."""
    ndb_load.disk_table(scene.sql_node, undo="8M")
    with ndb_load.filled_memory(scene.sql_node, 0.4):
        yield
        with scene.under(ndb_load.disk_writes(scene.sql_node, writers)):
            yield


@fault(
    "disk hangs", strengths={"8 KB/s": 8 << 10, "4 KB/s": 4 << 10, "1 KB/s": 1 << 10}, nodes=(3, 4),
    lasts=48.0, evident=20.0, told={REDO: ("slow disk",), LOG: ("slow disk", "checkpoint")},
    fair=(*FOLLOWS, "node down", "starting", "restarted", "checkpoint"),
)  # fmt: skip
def disk_hangs(scene, rate):
    """The disk takes next to nothing: neither a local checkpoint nor the redo log makes progress."""
    scene.load(0.005)
    with ndb_load.filled_memory(scene.sql_node, 0.5):
        yield
        with scene.cluster.slow_disk(rate):
            scene.cluster.mgm("all dump 7099")  # start a local checkpoint
            yield


def _checkpoint(scene):
    """Whether the last local checkpoint has started or is completed, by the cluster log."""
    told = Path(scene.cluster.cluster_log).read_text(encoding="utf-8")
    return ["completed", *re.findall(r"Local checkpoint \d+ (started|completed)", told)][-1]


@fault(
    "local checkpoint stalls", strengths={"512 B/s": 512, "256 B/s": 256, "128 B/s": 128}, nodes=(4,),
    settings={"LcpScanProgressTimeout": 20, "MinDiskWriteSpeed": "1M", "MaxDiskWriteSpeed": "1M"},
    lasts=48.0, evident=16.0, told={LOG: ("checkpoint",)},
    fair=(*FOLLOWS, "node down", "angel alone", "starting", "restarted", "checkpoint"),
)  # fmt: skip
def local_checkpoint_stalls(scene, rate):
    """While a local checkpoint is written, the disk of node 4 hangs: error 7200 ends the node after 20 s."""
    with ndb_load.filled_memory(scene.sql_node, 0.5):
        scene.wait_for(lambda: _checkpoint(scene) == "completed")
        yield
        scene.cluster.mgm("all dump 7099")  # start a local checkpoint
        scene.wait_for(lambda: _checkpoint(scene) == "started", 15.0)
        with scene.cluster.slow_disk(rate, 4):
            yield


@fault(
    "disk full", strengths=WRITES, fresh=True, nodes=(3, 4), lasts=45.0, evident=12.0,
    told={LOG: ("out of disk",)},
    fair=(*FOLLOWS, "out of disk", "node down", "angel alone", "starting", "restarted", "redo log space"),
    wrong=("bug report",),
)  # fmt: skip
def disk_full(scene, writers):
    """The file system of node 4 has no room left, and its redo log grows.

    The node ends; its angel starts it three times in vain, alone in between, and gives up.
    """
    cluster = scene.cluster
    ndb_load.blob_table(scene.sql_node)
    cluster.shut_down(4)
    scene.kept.enter_context(small_disk(cluster.path(4), 400 << 20))
    cluster.start_again(4)
    yield
    fill(cluster.path(4))
    with scene.under(ndb_load.blob_writes(scene.sql_node, writers)):
        yield
    cluster.kill(4)
