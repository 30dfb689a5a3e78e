"""Which processes of missing data nodes check_ndb_nodes sees on its own host."""

import pytest
from fake_proc import FakeProc
from stallwatch.probes.ndb_nodes import collect
from stallwatch.probes.ndb_nodes.collect import Snapshot
from stallwatch.probes.ndb_nodes.here import alive
from stallwatch.probes.ndb_nodes.model import Management
from stallwatch.probes.ndbinfo.cluster import Cluster

NODE_4 = ("ndbmtd", "--ndb-nodeid=4", "-c", "mgm1")


@pytest.fixture
def proc(tmp_path, monkeypatch):
    folder = tmp_path / "proc"
    folder.mkdir()
    return FakeProc(folder, monkeypatch)


def test_an_angel_without_its_node_is_told(proc):
    proc.process(996, "ndbmtd", arguments=NODE_4, threads=1)
    (said,) = alive((4,), "mgm1:1186")
    assert str(said) == "on this host the angel of node 4 runs, ndbmtd 996, without its node"


def test_a_node_that_runs_is_told_without_its_angel(proc):
    proc.process(996, "ndbmtd", arguments=NODE_4, threads=1)
    proc.process(1004, "ndbmtd", parent=996, arguments=NODE_4, threads=60)
    (said,) = alive((4,), "mgm1:1186")
    assert str(said) == "on this host node 4 runs, ndbmtd 1004"
    proc.process(1004, state="T")
    (said,) = alive((4,), "mgm1:1186")
    assert str(said) == "on this host node 4 runs, ndbmtd 1004 (stopped)"


def test_others_are_not_told(proc):
    proc.process(996, "ndbmtd", arguments=NODE_4, threads=1)
    proc.process(71, "ndbmtd", arguments=("ndbmtd", "-c", "mgm1"), threads=1)
    proc.process(4711, "mysqld", arguments=("mysqld", "--ndb-nodeid=5"))
    assert alive((5, 71), "mgm1:1186") == ()


@pytest.mark.parametrize("management", ["mgm1:11860", "mgm1:118", ""])
def test_a_node_of_another_cluster_is_not_told(proc, management):
    proc.process(996, "ndbmtd", arguments=NODE_4, threads=1)
    assert alive((4,), management) == ()


def test_the_port_of_the_management_server_is_in_the_connect_string(proc):
    words = ("ndbmtd", "--ndb-nodeid=4", "--ndb-connectstring=mgm1:11860,mgm2:11861")
    proc.process(996, "ndbmtd", arguments=words, threads=1)
    assert [len(alive((4,), f"mgm2:{port}")) for port in (11861, 1186)] == [1, 0]


@pytest.mark.parametrize(("management", "certain"), [("mgm1:1186", True), ("10.0.0.1:1186", False)])
@pytest.mark.parametrize("told", ["mgm1", "nodeid=4;host=mgm1", "bind-address=db4,mgm1:1186,mgm2:1186"])
def test_it_is_of_this_cluster_for_certain_if_its_management_server_has_that_name(
    proc, management, certain, told
):
    proc.process(996, "ndbmtd", arguments=("ndbmtd", "--ndb-nodeid=4", "-c", told), threads=1)
    (said,) = alive((4,), management)
    assert said.is_certain == certain


@pytest.mark.parametrize(("host", "told"), [("127.0.0.1", 1), ("localhost", 1), ("sql1", 0)])
def test_only_the_host_of_the_sql_node_is_looked_at(proc, host, told):
    proc.process(996, "ndbmtd", arguments=NODE_4, threads=1)
    snapshot = Snapshot(Cluster("sql1:3306", {}, (4,)), Management("mgm1:1186"))
    assert len(collect.alive_here(host, snapshot)) == told
