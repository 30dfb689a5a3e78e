"""Recorded tables of redo buffers, and a cluster that shows them to a probe, one after the other."""

import re
from pathlib import Path

from fake_ndb import FakeNdb

RECORDED = Path(__file__).parents[1] / "recorded"
MIB = 1 << 20
LOG_TYPES = {"0": "REDO", "1": "DD-UNDO"}
THREADS = ("main", "rep", "ldm", "ldm", "recv")
RUNS = {"OS_user": 90, "OS_system": 10}  # per cent: what a thread executes, it executes on a processor


def recorded(name, table="logbuffers"):
    """The rows of each time that a table was recorded."""
    text = (RECORDED / "ndb_redo_buffer" / f"{name}.txt").read_text()
    if text.startswith("+"):  # as the mysql client prints it
        rows = [line.strip("| ").split() for line in text.splitlines() if line.startswith("|")]
        columns, *rows = [[cell for cell in row if cell != "|"] for row in rows]
        return [[_row(columns, row) for row in rows if len(row) == len(columns) and row[1] == "REDO"]]
    tables = re.findall(rf"== {table} ==\n(.*\n)((?:\d.*\t.*\n)*)", text)
    return [[_row(columns.split(), line.split()) for line in rows.splitlines()] for columns, rows in tables]


def _row(columns, cells):
    row = dict(zip(columns, cells, strict=True))
    kind = row.pop("log_type")
    return {name: int(cell) for name, cell in row.items()} | {"log_type": LOG_TYPES.get(kind, kind)}


def buffers(node=3, parts=4, *, used, total=MIB):
    """Rows of one data node as 9.7 shows them; ``used`` is of what operations may use, in per cent."""
    used = used if isinstance(used, list) else [used] * parts
    usable = total - 10 * 32768
    return [
        {
            "node_id": node, "log_type": "REDO", "log_id": part, "log_part": part % 2 + 1,
            "total": total, "used": int(usable * share / 100 + 0.5),
        }
        for part, share in enumerate(used)
    ]  # fmt: skip


class FakeRedo(FakeNdb):
    """A cluster whose redo buffers are in ``samples``: each sleep leads to the next, the last one stays."""

    def __init__(self, nodes=(3, 4)):
        super().__init__(nodes)
        self.show(*[[row for node in nodes for row in buffers(node, used=9)]])
        self.tables["logspaces"] = [
            {
                "node_id": node, "log_type": "REDO", "log_id": 0, "log_part": part,
                "total": 128 * MIB, "used": MIB,
            }
            for node in nodes
            for part in range(4)
        ]  # fmt: skip
        self.tables["disk_write_speed_aggregate"] = [
            {
                "node_id": node, "thr_no": thread, "redo_speed_last_10sec": 0, "redo_speed_last_60sec": 0,
                "slowdowns_due_to_io_lag": 0,
            }
            for node in nodes
            for thread in (0, 1)
        ]  # fmt: skip
        self.tables["cpustat"] = [
            {"node_id": node, "thr_no": number, "thread_exec": number, "thread_send": 0, **RUNS}
            for node in nodes
            for number in range(len(THREADS))
        ]
        self.tables["threads"] = [
            {"node_id": node, "thr_no": number, "thread_name": name}
            for node in nodes
            for number, name in enumerate(THREADS)
        ]

    def show(self, *samples):
        """Set what the redo buffers are at each sample."""
        self.tables["logbuffers"], *self.samples = samples

    def sleep(self, seconds):
        """Go on to the next sample."""
        if self.samples:
            self.tables["logbuffers"] = self.samples.pop(0)
        self.slept(seconds)

    def slept(self, seconds):
        """What else happens meanwhile is up to a test."""

    def lag(self, node, seconds=1):
        """Let the redo writes of all threads of a data node lag for so long."""
        for row in self.tables["disk_write_speed_aggregate"]:
            if row["node_id"] == node:
                row["slowdowns_due_to_io_lag"] += seconds

    def change(self, table, node, **values):
        """Change all rows of a data node."""
        for row in self.tables[table]:
            if row["node_id"] == node:
                row.update(values)
