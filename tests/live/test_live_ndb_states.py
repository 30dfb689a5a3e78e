"""The plugins that read ndbinfo on real servers that are broken, denied, no cluster, or half of one."""

import contextlib
import re
import threading
import time

import plugin_command
import pytest
import software
from loopback import free_port
from mariadb import Mariadb
from mysql_server import Mysql
from plugin_command import Said
from sql_node import MONITOR
from sql_server import Account

NODES, *OTHERS = PLUGINS = (
    "check_ndb_nodes", "check_ndb_page_buffer", "check_ndb_redo_buffer", "check_ndb_memory",
    "check_ndb_transactions",
)  # fmt: skip
OK, WARNING, CRITICAL, UNKNOWN = range(4)
WORDS = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
SLACK = 30  # seconds for a busy machine to start a program and to end it
TIMEOUT = 4  # seconds
CALM = {
    NODES: ("--restarted", "1s"),  # that the cluster of the tests has just started is no trouble,
    "check_ndb_page_buffer": ("--min-requests", "999999999"),  # nor what a node reads for one that starts
}


class Check:
    """Runs plugins as an engine does; every run ends within the timeout, with one state and no traceback."""

    def __init__(self, home):
        self.home = home

    def __call__(self, plugin, *options, account, timeout=8, state=None):
        command = (
            *CALM.get(plugin, ()), "-u", account.user, "-t", f"{timeout}s",
            "--state-dir", state or self.home / "state", *options,
        )  # fmt: skip
        began = time.monotonic()
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        said = Said.of(plugin_command.run(self.home, plugin, *command, variables=password))
        assert time.monotonic() - began < timeout + SLACK
        assert "internal error" not in said.output
        name = plugin.removeprefix("check_").upper()
        assert said.output.startswith(f"{name} {WORDS[said.status]} - "), said.output
        assert len(said.output.split("\n")[0].encode()) < 1024
        return said


@pytest.fixture
def check(tmp_path):
    return Check(tmp_path)


@pytest.fixture
def ask(ndb, check):
    """Run a plugin on the cluster's SQL node."""
    monitor = ndb.sql_node.account(*MONITOR)

    def ask(plugin, *options, **more):
        return check(plugin, "-S", ndb.sql_node.socket, *options, account=monitor, **more)

    return ask


each = pytest.mark.parametrize("plugin", PLUGINS)


def end_of(plugin, said, words, *, answers=False):
    """UNKNOWN for that reason; CRITICAL where a plugin asks whether somebody answers, and nobody does."""
    assert said.status == (CRITICAL if plugin == NODES and not answers else UNKNOWN), said.output
    assert re.search(words, said.output), said.output


# Nobody can be asked


@each
def test_a_closed_port(check, plugin):
    port = free_port()
    said = check(plugin, "-H", "127.0.0.1", "-P", port, account=Account("mon", "x"))
    end_of(plugin, said, f"127.0.0.1:{port}.*refused")


@each
def test_a_closed_port_may_be_told_otherwise(check, plugin):
    options = ("-H", "127.0.0.1", "-P", free_port(), "--unreachable", "critical")
    assert check(plugin, *options, account=Account("mon", "x")).status == CRITICAL


@each
@pytest.mark.parametrize("user", ["mon", "stranger"])
def test_a_wrong_password(ndb, check, plugin, user):
    ndb.sql_node.account(*MONITOR)
    said = check(plugin, "-S", ndb.sql_node.socket, account=Account(user, "wrong"))
    end_of(plugin, said, f"(denied|refuse).*{user}|{user}.*(denied|refuse)")
    assert "wrong" not in said.output.replace("wrong password", "")


@each
def test_a_suspended_sql_node(ndb, ask, plugin):
    ndb.sql_node.suspend()
    try:
        said = ask(plugin, timeout=TIMEOUT)
    finally:
        ndb.sql_node.resume()
    end_of(plugin, said, "within")


@each
def test_no_grant_on_ndbinfo(ndb, check, plugin):
    said = check(plugin, "-S", ndb.sql_node.socket, account=ndb.sql_node.account("nobody"))
    end_of(plugin, said, r"GRANT SELECT ON ndbinfo\.\* TO 'nobody'@'%'", answers=True)


# Nothing can be asked of it


@each
def test_ndbinfo_is_offline(ndb, ask, plugin):
    ndb.sql_node.sql("SET GLOBAL ndbinfo_offline = 1")
    try:
        said = ask(plugin)
    finally:
        ndb.sql_node.sql("SET GLOBAL ndbinfo_offline = 0")
    end_of(plugin, said, "ndbinfo_offline", answers=True)
    assert "cluster down" not in said.text


@pytest.fixture(scope="module", params=[Mysql, Mariadb])
def plain(request, tmp_path_factory):
    """A server that is no SQL node, and an account of it."""
    with contextlib.ExitStack() as running:
        try:
            server = running.enter_context(request.param(tmp_path_factory.mktemp("plain")))
        except software.Missing as missing:
            pytest.skip(str(missing))
        yield server, server.account("mon")


@each
def test_a_server_that_is_no_sql_node(plain, check, plugin):
    server, monitor = plain
    said = check(plugin, "-S", server.socket, account=monitor)
    end_of(plugin, said, "no SQL node of an NDB Cluster", answers=True)


# What is remembered


@each
def test_a_damaged_state(ask, plugin, tmp_path):
    assert ask(plugin).status == OK
    (kept,) = (tmp_path / "state").glob("*.json")
    kept.write_bytes(kept.read_bytes()[:-9])
    said = ask(plugin)
    end_of(plugin, said, "", answers=True)
    assert "counts as the first" in said.output
    assert ask(plugin).status == OK


@each
def test_no_place_for_a_state(ask, plugin, tmp_path):
    (tmp_path / "place").write_text("a file")
    said = ask(plugin, state=tmp_path / "place")
    end_of(plugin, said, "", answers=True)
    assert "nothing is remembered between runs" in said.output
    sample = ("--sample", "2s") if plugin == "check_ndb_page_buffer" else ()  # which compares two looks
    assert ask(plugin, "--no-state", *sample).status == OK


# Half a cluster


@each
def test_a_healthy_cluster(ask, plugin):
    for _ in range(2):
        said = ask(plugin, "-v")
        assert said.status == OK, said.output
        assert "does not answer" not in said.output
        time.sleep(1.1)


@pytest.mark.slow("a data node stops and starts")
def test_one_node_was_stopped(ndb, ask):
    for plugin in PLUGINS:
        assert ask(plugin).status == OK
    ndb.shut_down(4)
    ndb.sql_node.wait_for((3,))
    said = ask(NODES)
    assert said.status == CRITICAL
    assert "node 4" in said.text
    assert said.number("nodes_missing") == 1
    for plugin in OTHERS:
        said = ask(plugin)
        assert said.status == OK, said.output
        assert "node 4 does not answer: judged without it" in said.output
    ndb.start_again(4)
    for plugin in PLUGINS:
        assert ask(plugin).status == OK


class Runs:
    """All plugins run again and again, each by itself, and what they say is kept."""

    def __init__(self, ask):
        self.ask = ask
        self.said = {plugin: [] for plugin in PLUGINS}  # (when it began, when it ended, what it said)
        self.failures = []
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(plugin,)) for plugin in PLUGINS]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def _run(self, plugin):
        try:
            while not self.ended.is_set():
                began = time.monotonic()
                said = self.ask(plugin)
                self.said[plugin].append((began, time.monotonic(), said))
        except AssertionError as error:
            self.failures.append(error)

    def wait_for(self, true):
        """Until each of them has said, in a run that began after this, what is waited for."""
        now = time.monotonic()
        for plugin in PLUGINS:
            while not any(began > now and true(said) for began, _, said in tuple(self.said[plugin])):
                assert self.failures == []
                assert time.monotonic() < now + 90, self.said[plugin][-1]
                time.sleep(0.1)

    def between(self, begin, end, plugin):
        """What was said by runs within that time."""
        return [said for began, ended, said in self.said[plugin] if begin < began and ended < end]


@pytest.mark.slow("a data node starts again")
def test_one_node_is_killed_while_checks_run(ndb, ask):
    """All five run all the time while node 4 ends, starts and is there again."""
    with Runs(ask) as runs:
        runs.wait_for(lambda said: said.status == OK and "node 4" not in said.text)
        ndb.kill(4)
        ndb.sql_node.wait_for((3,))
        away = time.monotonic()
        runs.wait_for(lambda said: re.search("node 4 (does not answer|is missing)", said.output))
        back = time.monotonic()
        ndb.start_again(4)
        runs.wait_for(lambda said: said.status == OK and "does not answer" not in said.output)
    assert runs.failures == []
    told = {said.status for said in runs.between(away, back, NODES)}
    assert CRITICAL in told
    assert OK not in told
    for plugin in PLUGINS:
        for _, _, said in runs.said[plugin]:
            assert said.status == OK or (plugin == NODES and said.status != UNKNOWN), said.output


@pytest.mark.slow("all nodes stop and start")
def test_the_whole_cluster_is_down(ndb, ask):
    assert ask(NODES).status == OK
    ndb.shut_down_all()
    try:
        said = ask(NODES)
        assert said.status == CRITICAL
        assert "cluster down: none of 2 data nodes is connected to " in said.text
        for plugin in OTHERS:
            end_of(plugin, ask(plugin), "none of 2 data nodes is connected")
    finally:
        ndb.start_all_again()
    for plugin in PLUGINS:
        assert ask(plugin).status == OK
