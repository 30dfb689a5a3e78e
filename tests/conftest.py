"""What all tests share: real servers, and folders. What is not here is skipped, saying how to get it."""

import contextlib
import tempfile
from pathlib import Path

import groups
import loopback
import pytest
import slow_disk
import software
import thread_control
from cassandra import Cassandra
from figures import Modules
from installing import installable, obtained
from jvm import VARIANTS, Jvm
from ndb_cluster import NdbCluster
from replication_pair import KINDS, Pair
from shared_servers import SERVERS

pytest_plugins = ["levels", "balance", "kept_logs", "older_recordings"]
FIGURES = Modules()


def pytest_runtest_logreport(report):
    """Count what tests came to."""
    FIGURES.add(report)


def pytest_sessionfinish(session, exitstatus):
    """Stop the shared servers; keep the figures of modules that were run with every cell, to their end."""
    SERVERS.stop()  # those of a run that was interrupted
    config = session.config
    chosen = config.option.keyword or config.option.markexpr or any("::" in word for word in config.args)
    whole = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not session.shouldfail
    if config.getoption("all_cells") and whole and not chosen and not hasattr(config, "workerinput"):
        FIGURES.write()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item, nextitem):
    """Stop the shared servers behind the last test of a group, when its module has cleaned up."""
    try:
        return (yield)
    finally:
        if nextitem is None or groups.of_test(nextitem.nodeid) != groups.of_test(item.nodeid):
            SERVERS.stop()


OWN = frozenset({"own_jvm", "own_pair", "own_server", "own_ndb"})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Refuse a test that starts a server of its own and does not say why."""
    if not OWN.isdisjoint(item.fixturenames) and not item.get_closest_marker("own_server"):
        why = "starts a server of its own: mark with own_server(why), or use a shared server"
        pytest.fail(why, pytrace=False)


@pytest.fixture
def open_path():
    """A folder that other users get to: every start of pytest closes pytest's own."""
    with tempfile.TemporaryDirectory(prefix="stallwatch-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def note(request):
    """Put something into the test's report, whoever runs it: note("counted", ("inputs tried", 5))."""
    return lambda name, value: request.node.user_properties.append((name, value))


@contextlib.contextmanager
def obtainable():
    """Skip what needs software that is not here, in CI too: it cannot be installed."""
    try:
        yield
    except software.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def ndb_processes(tmp_path_factory):
    """A cluster for the tests of a module, in whose logs no SQL node appears."""
    with obtainable():
        cluster = NdbCluster(tmp_path_factory.mktemp("ndb"))
    with cluster:
        yield cluster


@pytest.fixture
def ndb_cluster(ndb_processes):
    """That cluster, with both data nodes started."""
    ndb_processes.heal()
    return ndb_processes


@pytest.fixture(scope="module")
def running_ndb(tmp_path_factory):
    """A cluster with an SQL node for all tests."""

    def cluster():
        with obtainable():
            return NdbCluster(
                tmp_path_factory.mktemp("ndb"),
                sql=True,
                TransactionDeadlockDetectionTimeout=10000,  # by default nobody waits longer than 1.2 s
            )

    return SERVERS.get("ndb", cluster)


@pytest.fixture
def ndb(running_ndb):
    """The cluster with an SQL node; a test may change anything that heal() brings back."""
    running_ndb.heal()
    return running_ndb


@pytest.fixture
def own_ndb(tmp_path):
    """Gives a cluster with an SQL node for one test, with settings of its own."""
    with contextlib.ExitStack() as each:

        def cluster(**settings):
            with obtainable():
                cluster = NdbCluster(tmp_path / "ndb", sql=True, **settings)
            return each.enter_context(cluster)

        yield cluster


@pytest.fixture(scope="session")
def throttle(tmp_path_factory):
    """Needed by tests that slow down the disk."""
    if reason := slow_disk.unavailable(tmp_path_factory.getbasetemp()):
        pytest.skip(reason)


@pytest.fixture(scope="session")
def thread_trouble():
    """Needed by tests that freeze a thread or let it spin."""
    if reason := thread_control.unavailable():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def jvm_variant(tmp_path_factory):
    """Gives the JVM of that name in jvm.VARIANTS, one for all tests."""

    def variant(name):
        if VARIANTS[name].get("host") == "::1" and not loopback.has_ipv6():
            pytest.skip("this machine has no IPv6 loopback")
        own = VARIANTS[name]
        return SERVERS.get(f"JVM {name}", lambda: obtained(Jvm, tmp_path_factory.mktemp(name), **own))

    return variant


@pytest.fixture(scope="module")
def jvm(jvm_variant):
    """A JVM that anyone may ask, for all tests."""
    return jvm_variant("plain")


@pytest.fixture
def changeable_jvm(request, tmp_path_factory):
    """A JVM that a test may change, and whose clients log out: it is brought back to its first state.

    After a test that failed it is started anew, so that no other test fails for that.
    """
    jvm = SERVERS.get("JVM to be changed", lambda: obtained(Jvm, tmp_path_factory.mktemp("changeable")))
    if not jvm.process.family:
        jvm.start()
    failed = request.session.testsfailed
    yield jvm
    if request.session.testsfailed > failed:
        jvm.stop()
    else:
        jvm.tell("reset")


@pytest.fixture
def jvm_that_hangs(tmp_path_factory):
    """A JVM that is frozen, or asked for what never returns: what a look leaves there harms nobody."""
    return SERVERS.get(
        "JVM that hangs", lambda: obtained(Jvm, tmp_path_factory.mktemp("hangs"), groups=("never",))
    )


@pytest.fixture
def own_jvm(tmp_path):
    """A JVM for one test, which leaves something there."""
    with obtained(Jvm, tmp_path / "jvm") as server:
        yield server


@pytest.fixture(scope="module")
def cassandra(tmp_path_factory):
    """A Cassandra that anyone may ask, for all tests."""
    return SERVERS.get("cassandra", lambda: obtained(Cassandra, tmp_path_factory.mktemp("cassandra")))


@contextlib.contextmanager
def started(kind, make, *arguments, **settings):
    """A context with what make(...) gives, of "mariadb" or "mysql"."""
    with contextlib.ExitStack() as servers:
        try:
            with installable() if kind == "mariadb" else contextlib.nullcontext():
                started = servers.enter_context(make(*arguments, **settings))
        except software.Missing as missing:  # MySQL cannot be installed
            pytest.skip(str(missing))
        yield started


@pytest.fixture(scope="session")
def new_pair():
    """Gives a context with a pair of database servers; what is said of Pair holds."""
    return lambda folder, kind, **settings: started(kind, Pair, folder, kind, **settings)


@pytest.fixture(scope="session")
def running_pair(tmp_path_factory, new_pair):
    """Gives the pair of that kind, "mariadb" or "mysql", one for all tests."""
    return lambda kind: SERVERS.get(f"{kind} pair", lambda: new_pair(tmp_path_factory.mktemp(kind), kind))


@pytest.fixture
def own_pair(tmp_path, new_pair):
    """Gives a pair of that kind for one test, with settings of its own."""
    with contextlib.ExitStack() as each:
        yield lambda kind, **settings: each.enter_context(new_pair(tmp_path / kind, kind, **settings))


@pytest.fixture(params=("mariadb", "mysql"))
def pair(request, running_pair):
    """A pair of either kind; a test may change anything that heal() brings back."""
    pair = running_pair(request.param)
    yield pair
    pair.heal()


@pytest.fixture(scope="session")
def new_server():
    """Gives a context with one database server, "mariadb" or "mysql"; what is said of SqlServer holds."""
    return lambda folder, kind, **settings: started(kind, KINDS[kind], folder, **settings)


@pytest.fixture
def own_server(tmp_path, new_server):
    """Gives a server of that kind for one test, with settings of its own."""
    with contextlib.ExitStack() as each:
        yield lambda kind, **settings: each.enter_context(new_server(tmp_path / kind, kind, **settings))


@pytest.fixture(scope="session")
def running_server(tmp_path_factory, new_server):
    """Gives the server of that kind, one for all tests."""
    return lambda kind: SERVERS.get(kind, lambda: new_server(tmp_path_factory.mktemp(kind), kind))


@pytest.fixture(params=("mariadb", "mysql"))
def server(request, running_server):
    """A server of either kind; a test drops what it makes and sets back what it sets."""
    server = running_server(request.param)
    server.revive()
    return server
