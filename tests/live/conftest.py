"""Real servers for the tests in this folder. What is not here is skipped, saying how to get it."""

import contextlib
import os

import java_software
import loopback
import ndb_software
import pytest
import thread_control
from cassandra import Cassandra
from jvm import VARIANTS, Jvm
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


@contextlib.contextmanager
def java_needed():
    """Skip what needs Java where there is none; not in CI: there it can be installed."""
    try:
        yield
    except java_software.Missing as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))


@pytest.fixture(scope="session")
def jvm_variant(tmp_path_factory):
    """Gives the JVM of that name in jvm.VARIANTS, one for the whole run."""
    running = {}
    with contextlib.ExitStack() as each:

        def variant(name):
            if VARIANTS[name].get("host") == "::1" and not loopback.has_ipv6():
                pytest.skip("this machine has no IPv6 loopback")
            if name not in running:
                with java_needed():
                    running[name] = each.enter_context(Jvm(tmp_path_factory.mktemp(name), **VARIANTS[name]))
            return running[name]

        yield variant


@pytest.fixture(scope="session")
def jvm(jvm_variant):
    """A JVM that anyone may ask, for the whole run."""
    return jvm_variant("plain")


@pytest.fixture
def own_jvm(tmp_path):
    """A JVM for one test, which may change what it shows."""
    with contextlib.ExitStack() as server:
        with java_needed():
            started = server.enter_context(Jvm(tmp_path / "jvm"))
        yield started


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory):
    """A Cassandra that anyone may ask, for the whole run."""
    with contextlib.ExitStack() as server:
        with java_needed():
            started = server.enter_context(Cassandra(tmp_path_factory.mktemp("cassandra")))
        yield started
