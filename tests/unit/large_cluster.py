"""A cluster of 48 data nodes with 32 log parts and 20 threads each, made of the tables of a real one.

Nobody has one here. So what the two data nodes of a real cluster have in ndbinfo, with 32 log parts and 20
threads each, is said of as many nodes: tests/recorded/ndbinfo/tables, made by
tests/live/ndb_tables_recording.py.
"""

import functools
import json
from pathlib import Path

from fake_ndb import FakeNdb

PAGE = 32 * 1024  # bytes
TABLES = Path(__file__).parents[1] / "recorded" / "ndbinfo" / "tables" / "mysql-9.7.json"
RECORDED = (3, 4)  # the data nodes that were
UPTIME = 5_000_000  # seconds
# Columns that name another data node, in rows of one about the other.
ABOUT_ANOTHER = {"transporters": "remote_node_id", "transporter_details": "remote_node_id"}
# Tables with one row of each node of the cluster, clients among them, whoever answers.
OF_ALL_NODES = ("config_nodes", "processes")


_SPREAD = {}  # the tables of clusters that were made already, by their number of nodes


@functools.cache
def _recorded():
    return json.loads(TABLES.read_text())


def _rows(table):
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


class LargeCluster(FakeNdb):
    """Such a cluster: ``tables`` has the rows of all ``nodes``; groups are (3, 4), (5, 6), and so on."""

    def __init__(self, count=48):
        self.nodes = tuple(range(RECORDED[0], RECORDED[0] + count))
        super().__init__(self.nodes)
        recorded = _recorded()
        self.columns = {name: table["columns"] for name, table in recorded.items()}
        self.columns["ndb$certificates"] = ["node_id", "name", "serial", "expires"]  # listed nowhere
        if count not in _SPREAD:
            _SPREAD[count] = {name: list(self._spread(name, _rows(recorded[name]))) for name in recorded}
        self.tables = {name: [row.copy() for row in rows] for name, rows in _SPREAD[count].items()}
        self.tables["ndb$certificates"] = []
        for row in self.tables["nodes"]:
            row["uptime"] = UPTIME
        self.tables["membership"] = [self._member(row) for row in self.tables["membership"]]
        for row in self.tables["arbitrator_validity_summary"]:
            row["consensus_count"] = count

    def of(self, table, *nodes):
        """The rows that these nodes have in a table, to be changed."""
        return [row for row in self.tables[table] if row["node_id"] in nodes]

    def count(self, table, nodes=None, **more):
        """Let counters of these nodes, or of all, have grown by so much in each of their rows."""
        for row in self.of(table, *(self.nodes if nodes is None else nodes)):
            for column, number in more.items():
                row[column] += number

    def work(self, seconds=60):
        """So much time goes by in which every node finds its pages in memory."""
        self.later(seconds)
        self.count("diskpagebuffer", page_requests_direct_return=100_000)

    def _spread(self, table, rows):
        """Give to every node what one of the recorded nodes has; node groups alternate as they do."""
        if table in OF_ALL_NODES:
            yield from (row for row in rows if row["node_id"] not in RECORDED)
            like = next(row for row in rows if row["node_id"] == RECORDED[0])
            yield from (like | {"node_id": node} for node in self.nodes)
            return
        if not any(row.get("node_id") in RECORDED for row in rows):
            yield from rows
            return
        for node in self.nodes:
            first = self._group(node) * 2 + RECORDED[0]
            model = RECORDED[node - first]
            changed = {"node_id": node}
            for row in rows:
                if row["node_id"] != model:
                    continue
                if "transid" in row:  # both nodes of a group have a part in the same one
                    changed["transid"] = row["transid"] + first
                if "tc_node_id" in row:
                    changed["tc_node_id"] = first
                yield from self._about(table, row | changed)

    def _about(self, table, row):
        """A row, or if it is about the other recorded node, one about every other node."""
        column = ABOUT_ANOTHER.get(table)
        if column and row[column] in RECORDED:
            yield from (row | {column: other} for other in self.nodes if other != row["node_id"])
        else:
            yield row

    def _group(self, node):
        return (node - self.nodes[0]) // 2

    def _member(self, row):
        place = self.nodes.index(row["node_id"])
        left, right = self.nodes[place - 1], self.nodes[(place + 1) % len(self.nodes)]
        order = {"left_node": left, "right_node": right, "succession_order": place + 1}
        return row | order | {"group_id": self._group(row["node_id"])}


# Trouble, a minute of it: each is more on the last of the nodes than on the first.


def missing(cluster, nodes):
    """They are down."""
    up = {row["node_id"] for row in cluster.tables["nodes"]}
    for node in up.intersection(nodes):
        cluster.end(node)
    cluster.work()


def misses(cluster, nodes):
    """Half of their requests for a page wait for the disk."""
    cluster.work()
    for place, node in enumerate(nodes):
        waits = 100_000 + place * 1000
        cluster.count("diskpagebuffer", [node], page_requests_wait_io=waits, pages_read=waits)


def full_redo_buffers(cluster, nodes):
    """All their redo buffers are full."""
    cluster.work()
    for place, node in enumerate(nodes):
        for row in cluster.of("logbuffers", node):
            if row["log_type"] == "REDO":
                row["used"] = int((row["total"] - 10 * PAGE) * (0.9 + place / 500))


def full_memory(cluster, nodes):
    """Their DataMemory is nearly full."""
    cluster.work()
    for place, node in enumerate(nodes):
        for row in cluster.of("memoryusage", node):
            if row["memory_type"] == "Data memory":
                row["used"] = int(row["total"] * (0.92 + place / 1000))
                row["used_pages"] = row["used"] // PAGE


def open_transactions(cluster, nodes):
    """Somebody has left a transaction open on each."""
    cluster.work()
    first, *_ = rows = cluster.tables["cluster_transactions"]
    rows[:] = [row for row in rows if row["inactive_seconds"] == first["inactive_seconds"]]
    for place, node in enumerate(nodes):
        rows.append(first | {"node_id": node, "transid": 1000 + node, "inactive_seconds": 400 + place})


TROUBLES = {
    "check_ndb_nodes": missing,
    "check_ndb_page_buffer": misses,
    "check_ndb_redo_buffer": full_redo_buffers,
    "check_ndb_memory": full_memory,
    "check_ndb_transactions": open_transactions,
}
