"""Real servers for the tests in this folder. What is not here is skipped, saying how to get it."""

import ndb_software
import pytest
import thread_control
from ndb_cluster import DATA_NODES, NdbCluster


@pytest.fixture(scope="session")
def ndb_processes(tmp_path_factory):
    """A cluster for the whole run."""
    try:
        cluster = NdbCluster(tmp_path_factory.mktemp("ndb"))
    except ndb_software.Missing as missing:
        pytest.skip(str(missing))
    with cluster:
        yield cluster


@pytest.fixture
def ndb_cluster(ndb_processes):
    """The cluster, with both data nodes started."""
    for node in DATA_NODES:
        ndb_processes.wait_for(node)
    return ndb_processes


@pytest.fixture(scope="session")
def thread_trouble():
    """Needed by tests that freeze a thread or let it spin."""
    if reason := thread_control.unavailable():
        pytest.skip(reason)
