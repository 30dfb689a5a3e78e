"""The plugins that read ndbinfo on 48 data nodes: a short line, the worst first, the rest counted."""

import copy
import functools
import json
import re
import runpy
from pathlib import Path

import pytest
from clock import keep_time
from large_cluster import TROUBLES, LargeCluster
from levels import representative
from stallwatch.sources import mysql, ndb_mgm
from stallwatch.sources.ndb_mgm import NotRunningError

PLUGINS = Path(__file__).parents[2] / "plugins"
LONGEST = 1023  # bytes of the first line: what Nagios keeps, and NRPE sends
ENOUGH = 3  # intervals in trouble until it is CRITICAL
STATE = dict.fromkeys(TROUBLES, 2) | {"check_ndb_transactions": 1}  # of a cluster in trouble


class Said:
    """What a run says."""

    def __init__(self, status, text):
        self.status = status
        self.output = text
        self.first, *self.more = text.split("\n")
        self.text, _, self.perfdata = self.first.partition(" | ")


@functools.cache
def run_path(plugin):
    """What the file of a plugin defines."""
    return runpy.run_path(str(PLUGINS / plugin))


@pytest.fixture
def said(monkeypatch, tmp_path):
    """Run a plugin on a cluster, at the cluster's time."""

    def nobody(*_):
        raise NotRunningError("the management server mgm1:1186 cannot be asked: Connection refused")

    def run(plugin, cluster, *options):
        monkeypatch.setattr(mysql, "connect", lambda *_: cluster)
        monkeypatch.setattr(ndb_mgm, "data_nodes", nobody)
        keep_time(monkeypatch, lambda: cluster.now)
        monkeypatch.setenv("HOME", str(tmp_path))
        of_plugin = run_path(plugin)
        words = ["-H", "sql1", "--state-dir", str(tmp_path / "state"), *options]
        found = Said(*of_plugin["check"].run(of_plugin["findings"], words))
        assert "internal error" not in found.output
        assert len(found.first.encode()) <= LONGEST, found.first
        assert re.fullmatch(r"[\w.=;:~@%-]+( [\w.=;:~@%-]+)*|", found.perfdata), found.perfdata
        return found

    return run


every = pytest.mark.parametrize("plugin", TROUBLES)


def settled(said, plugin, cluster):
    """A cluster that the plugin knows: the second look is the one that counts."""
    assert said(plugin, cluster).status == 0
    cluster.work()


def troubled(said, plugin, count, *options):
    """What is said when so many nodes are in trouble, and which."""
    cluster = LargeCluster()
    settled(said, plugin, cluster)
    nodes = cluster.nodes[:count]
    for _ in range(ENOUGH):
        TROUBLES[plugin](cluster, nodes)
        found = said(plugin, cluster, *options)
    return nodes, found


def test_it_is_as_large_as_is_said():
    cluster = LargeCluster()
    redo = [row for row in cluster.tables["logbuffers"] if row["log_type"] == "REDO"]
    assert len({(row["node_id"], row["log_id"]) for row in redo}) == 48 * 32
    assert len(cluster.tables["threads"]) == 48 * 20
    assert len({row["group_id"] for row in cluster.tables["membership"]}) == 24
    links = [row for row in cluster.tables["transporters"] if row["remote_node_id"] in cluster.nodes]
    assert len(links) == 48 * 47


@every
@pytest.mark.parametrize("count", [2, 48])
def test_a_healthy_cluster(said, plugin, count):
    cluster = LargeCluster(count)
    settled(said, plugin, cluster)
    found = said(plugin, cluster)
    assert found.status == 0
    assert len(found.text) < 200
    assert found.more in ([], [""])
    assert said(plugin, cluster, "-v").status == 0


@every
def test_one_bad_node(said, plugin):
    (node,), found = troubled(said, plugin, 1)
    assert found.status == STATE[plugin]
    assert re.search(rf"node {node}\b", found.text) or plugin == "check_ndb_transactions"
    more = re.search(r"\b(\d+) more\b", found.text)
    assert not more or (plugin, more[1]) == ("check_ndb_redo_buffer", "31")  # log parts of that node


@every
@pytest.mark.parametrize("count", [10, 47])
def test_many_bad_nodes(said, plugin, count):
    nodes, found = troubled(said, plugin, count)
    assert found.status == STATE[plugin]
    worst = nodes[0] if plugin == "check_ndb_nodes" else nodes[-1]
    assert re.search(rf"nodes? (\d+, )*{worst}\b", found.text) or plugin == "check_ndb_transactions"
    assert re.search(r"\b\d+ more\b|\bof (48|\d+ nodes)\b", found.output)
    assert len(found.output.encode()) < 8192


@every
def test_all_nodes_are_bad(said, plugin):
    if plugin == "check_ndb_nodes":
        cluster = LargeCluster()
        settled(said, plugin, cluster)
        cluster.status["Ndb_number_of_ready_data_nodes"] = 0
        found = said(plugin, cluster)
        assert "none of 48 data nodes" in found.text
    else:
        _, found = troubled(said, plugin, 48)
    assert found.status == STATE[plugin]


@every
def test_what_is_wrong_with_many_is_told_at_length_with_v(said, plugin):
    _, found = troubled(said, plugin, 48 if plugin != "check_ndb_nodes" else 47, "-v")
    assert found.status == STATE[plugin]
    assert len(found.output.encode()) < 64 * 1024


@every
def test_labels_of_a_large_cluster_are_those_of_a_small_one(said, plugin):
    """But for those of single nodes."""

    def labels(count):
        cluster = LargeCluster(count)
        settled(said, plugin, cluster)
        return {one.partition("=")[0] for one in said(plugin, cluster).perfdata.split()}

    few, many = labels(2), labels(48)
    of_all = {label for label in few if not re.match(r"node\d", label)}
    assert of_all == {label for label in many if not re.match(r"node\d", label)}


# A memory that somebody has written into


def places(value):
    """The paths of values that are changed: without --all-cells one of those that differ by numbers alone."""
    found = {}
    for path in leaves(value):
        kind = re.sub(r"\d+", "N", repr(path))
        found.setdefault(representative(kind, every=path), path)
    return found.values()


def leaves(value, path=()):
    """The paths of all values below one."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from leaves(part, (*path, name))


def changed(value, path, new):
    """A copy with something else at that path."""
    value = copy.deepcopy(value)
    part = value
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = new
    return value


@every
@pytest.mark.parametrize("new", [None, "x", -1, 1e300, [], {}, ["x"], {"x": None}, True], ids=repr)
def test_a_memory_with_nonsense_in_it(said, plugin, new, tmp_path):
    cluster = LargeCluster(2)
    settled(said, plugin, cluster)
    said(plugin, cluster)
    cluster.later(60)
    (path,) = (tmp_path / "state").glob("*.json")
    kept = json.loads(path.read_text())
    for place in places(kept["values"]):
        if place:
            path.write_text(json.dumps(kept | {"values": changed(kept["values"], place, new)}))
            said(plugin, cluster)
