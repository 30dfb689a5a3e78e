"""Checks do not hurt the servers that they ask: nothing stays behind, and they ask what is said."""

import contextlib
import itertools
import json
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import load_left
import pytest
from load_checks import CHECKS, UNKNOWN, of_java, of_sql
from load_counting import JmxCounts, SqlCounts
from load_recording import APART, EXACT, FILE, usual
from loopback import wait_until
from plugin_command import ROOT
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql

PAGE = ROOT / "contrib" / "docs" / "load.md"
SAID = json.loads(FILE.read_text())
EITHER = ("mysql", "mariadb")
AT_ONCE = 2
MANY = 1000  # times that each of the checks is run, with --all-cells
QUICK = {  # what takes its time by waiting need not do so a thousand times
    "check_mysql_query": ("--count", "2"),
    "check_ndb_redo_buffer": ("--count", "2"),
}
ROUGHLY = 1.2  # times what is said, of rows and octets: versions differ
NOISE = {"rows_sent": 10, "rows_examined": 30, "temporary_tables": 0, "on_disk": 0}  # octets: 100
CAUSES = {"mysql": 31, "mariadb": 28}  # statements of check_replication_lag -vvv, in two connections
IDLE, TABLES = 200, 500  # sessions and tables on a server that has many: what takes more rows or octets there
GROW = {"mysql": {"check_innodb_buffer_pool", "check_mysql_stalls", "check_mysql_backup"}}
GROW["mariadb"] = GROW["mysql"] | {"check_replication_lag", "check_mysqld_process"}
SETTLES = 60  # seconds in which a server notices that clients have left
ON_SQL = [(kind, check) for kind in EITHER for check in CHECKS[kind]]
ON_JAVA = list(CHECKS["jvm"])
STOPPED = {  # in the middle of a statement, and between two: what it is asked, and when it is there
    "statement": (
        ("check_mysql_query", "--query", "SELECT SLEEP(600)", "-t", "15s"),
        lambda server: statements(server, "SELECT SLEEP(600)"),
    ),
    "waiting": (
        ("check_innodb_redo_log", "--sample", "60s", "-t", "100s"),
        lambda server: sessions(server, "Sleep"),
    ),
}
LOCKED = "SELECT * FROM left_over.locked"
# It would take years.
SCAN = f"SELECT COUNT(*) FROM {', '.join(f'information_schema.COLLATIONS AS c{i}' for i in range(7))}"
# Runs a plugin that hangs once it has logged in, outside of any statement, and has another second then.
HANGING = """import runpy, sys, time
from stallwatch.sources.mysql.server import Server
ask = Server.rows
def rows(self, sql, *arguments, **how):
    if sql.startswith(("SELECT @@version,", "SET NAMES")):
        return ask(self, sql, *arguments, **how)
    self.deadline.extend(1 - self.deadline.until_end())
    time.sleep(600)
Server.rows = rows
sys.argv[0] = sys.argv.pop(1)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def replica(running_pair):
    """Gives the replica of the pair of that kind, which nobody troubles any more."""

    def healed(kind):
        pair = running_pair(kind)
        pair.heal()
        return pair.replica

    return healed


@pytest.fixture
def unable(tmp_path):
    """Runs checks, two at a time: what those of them said that could not ask."""

    def run(asked, checks):
        def one(check):
            return asked.run(tmp_path, check, *QUICK.get(check, ()))

        with ThreadPoolExecutor(AT_ONCE) as several:
            return [said for said in several.map(one, checks) if not said.asked]

    return run


def grown(before, now):
    """What is more than it was, as (name, then, now)."""
    return [(name, before[name], now[name]) for name in before if int(now[name]) > int(before[name])]


def settled(look, before):
    """What is more than it was when the server has noticed that clients have left."""
    until = time.monotonic() + SETTLES
    while (left := grown(before, look())) and time.monotonic() < until:
        time.sleep(0.2)
    return left


def steady(look):
    """What there is when nothing goes away any more: a session of an earlier test may just be about to."""
    before = look()
    for _ in range(100):
        time.sleep(0.2)
        now = look()
        if now == before:
            break
        before = now
    return before


# nothing stays behind


@pytest.fixture
def leaves_nothing(unable):
    """Asserts that those checks of a server leave nothing that ``look`` can see, after a first time."""

    def holds(asked, checks, look):
        assert unable(asked, dict.fromkeys(checks)) == []
        before = steady(look)
        assert unable(asked, checks) == []
        assert settled(look, before) == []

    return holds


@pytest.mark.parametrize("kind", EITHER)
@pytest.mark.slow("every check runs twice")
def test_checks_leave_nothing_on_a_server(kind, replica, leaves_nothing):
    server = replica(kind)
    leaves_nothing(of_sql(kind, server), CHECKS[kind], lambda: load_left.in_sql(server, kind))


def test_checks_leave_nothing_in_a_cluster(ndb, leaves_nothing):
    leaves_nothing(of_sql("ndb", ndb.sql_node), CHECKS["ndb"], lambda: load_left.in_cluster(ndb))


def test_checks_leave_nothing_in_a_jvm(jvm, leaves_nothing):
    leaves_nothing(of_java(jvm), ON_JAVA, lambda: load_left.in_java(jvm))


@pytest.mark.only_in_all_cells
@pytest.mark.parametrize(("kind", "check"), ON_SQL)
def test_a_thousand_checks_leave_nothing_on_a_server(kind, check, replica, leaves_nothing):
    server = replica(kind)
    leaves_nothing(of_sql(kind, server), [check] * MANY, lambda: load_left.in_sql(server, kind))


@pytest.mark.only_in_all_cells
@pytest.mark.parametrize("check", CHECKS["ndb"])
def test_a_thousand_checks_leave_nothing_in_a_cluster(check, ndb, leaves_nothing):
    leaves_nothing(of_sql("ndb", ndb.sql_node), [check] * MANY, lambda: load_left.in_cluster(ndb))


@pytest.mark.only_in_all_cells
@pytest.mark.parametrize("check", ON_JAVA)
def test_a_thousand_checks_leave_nothing_in_a_jvm(check, jvm, leaves_nothing):
    leaves_nothing(of_java(jvm), [check], lambda: load_left.in_java(jvm))
    heap = load_left.heap(jvm)
    leaves_nothing(of_java(jvm), [check] * MANY, lambda: load_left.in_java(jvm))
    assert load_left.heap(jvm) < heap + 500_000


def on_either(ways, *representative):
    """Every way with either kind of server, of which those pairs are representative."""
    left_out = pytest.mark.only_in_all_cells
    return [
        pytest.param(*pair, marks=() if pair in representative else left_out, id=f"{pair[0]}-{pair[1][:30]}")
        for pair in itertools.product(EITHER, ways)
    ]


@pytest.mark.parametrize(("kind", "how"), on_either(STOPPED, ("mysql", "statement"), ("mariadb", "waiting")))
def test_a_check_that_is_stopped_logs_out_and_leaves_no_statement(kind, how, replica, tmp_path):
    server = replica(kind)
    asked = of_sql(kind, server)
    (check, *options), busy = STOPPED[how]
    before = look_before(server, kind, asked, tmp_path)
    with started(asked, tmp_path, check, *options) as process:
        wait_until(lambda: busy(server), 60, server.process, server.log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == UNKNOWN
    assert settled(lambda: load_left.in_sql(server, kind), before) == []


@pytest.mark.parametrize("kind", EITHER)
def test_a_check_whose_time_is_up_logs_out(kind, replica, tmp_path):
    server = replica(kind)
    asked = of_sql(kind, server)
    before = look_before(server, kind, asked, tmp_path)
    said = asked.run(tmp_path, "check_mysql_status", through=(HANGING,))
    assert (said.status, said.errors) == (UNKNOWN, "")
    assert re.search("no verdict within|got no processor time", said.output)
    assert settled(lambda: load_left.in_sql(server, kind), before) == []


@pytest.mark.parametrize(("kind", "waits_for"), on_either((LOCKED, SCAN), ("mariadb", LOCKED)))
def test_the_server_ends_the_statement_of_a_check_that_is_killed(kind, waits_for, running_server, tmp_path):
    """It cannot log out: the server has been told how long it may take."""
    server = running_server(kind)
    asked = of_sql(kind, server)
    with server.session() as sql:
        sql("CREATE DATABASE IF NOT EXISTS left_over")
        try:
            sql("CREATE TABLE IF NOT EXISTS left_over.locked (id INT)")
            sql("GRANT SELECT ON left_over.* TO 'load'@'%'")
            sql("LOCK TABLES left_over.locked WRITE")
            with started(asked, tmp_path, "check_mysql_query", "--query", waits_for, "-t", "15s") as process:
                wait_until(lambda: statements(server, waits_for[:60]), 60, server.process, server.log)
                process.kill()
            wait_until(lambda: not sessions(server), 60, server.process, server.log)
        finally:
            sql("UNLOCK TABLES")
            sql("DROP DATABASE left_over")
            sql("DROP USER 'load'@'%'")


@pytest.mark.parametrize("kind", EITHER)
@pytest.mark.slow("the check has 15 s")
def test_a_server_ends_any_scan_when_the_time_of_the_check_is_up(kind, running_server):
    """It is told when a check logs in: by itself it would not notice that its client has left."""
    server = running_server(kind)
    with mysql.connect(target(kind, server), Deadline(15), known=None) as found:
        with pytest.raises(mysql.NoAnswerError):
            found.rows(SCAN, within=0.5)
        wait_until(lambda: not sessions(server), 60, server.process, server.log)


@pytest.mark.parametrize("kind", EITHER)
def test_a_server_is_told_when_to_log_out_a_check_that_is_gone(kind, running_server):
    with mysql.connect(target(kind, running_server(kind)), Deadline(30), known=None) as found:
        ((seconds,),) = (row.values() for row in found.rows("SELECT @@wait_timeout"))
    assert 10 < seconds <= 35


@pytest.mark.only_in_all_cells
@pytest.mark.parametrize("kind", EITHER)
def test_a_server_logs_out_a_check_whose_host_is_gone(kind, running_server, tmp_path):
    server = running_server(kind)
    asked = of_sql(kind, server)
    with started(asked, tmp_path, "check_innodb_redo_log", "--sample", "15s", "-t", "20s") as process:
        try:
            wait_until(lambda: sessions(server, "Sleep"), 60, server.process, server.log)
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: not sessions(server), 90, server.process, server.log)
            assert process.poll() is None
        finally:
            process.kill()


def look_before(server, kind, asked, home):
    """What there is on a server that has let in the account of checks."""
    said = asked.run(home, "check_mysql_query", "--count", "1")
    assert said.asked, said
    return steady(lambda: load_left.in_sql(server, kind))


def started(asked, home, check, *options):
    """A check that runs, which nobody listens to."""
    command = asked.command(check, *options)
    return subprocess.Popen(command, env=asked.environment(home), stdout=subprocess.DEVNULL)


def target(kind, server):
    """A server, for an account of checks."""
    return mysql.Target(server.host, server.port, **of_sql(kind, server).account._asdict())


def sessions(server, command="%"):
    """The sessions of checks, or those of them that do such a thing, as rows."""
    query = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'load' AND COMMAND LIKE %s"
    return server.sql(query, command)


def statements(server, sql):
    """The sessions of checks that ask such a statement."""
    query = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'load' AND INFO LIKE %s"
    return server.sql(query, f"%{sql}%")


# they ask what is said


def not_as(said, first, later):
    """What was counted and is not what the page says, as (when, name, said, counted)."""
    return [
        (when, name, of[name], cost[name])
        for when, of, cost in (("first", said["first"], first), ("later", said["later"], later))
        for name in of
        if name != "seconds" and not _is(name, of[name], cost[name])
    ]


def _is(name, said, counted):
    if name == "calls":  # a Java server that has just started may have fewer pools
        return counted <= said
    if name in EXACT:
        return counted == said
    return counted <= said * ROUGHLY + NOISE.get(name, 100)


def wrongly_said(kind, check, counts, home):
    """What a first run and a later one cost, and the page says that they cost otherwise, or less."""
    said = SAID[kind]["checks"][check]
    first = cost(counts, home, check)
    if said["first"].get("statements") != said["later"].get("statements"):
        time.sleep(APART)
    return not_as(said, first, usual([cost(counts, home, check) for _ in range(2)]))


def cost(counts, home, check, *more):
    """What a run costs, by name."""
    said, counted = counts.run(home, check, *more)
    assert said.asked, said
    return counted


@pytest.mark.parametrize(("kind", "check"), ON_SQL)
def test_a_check_asks_a_server_what_is_said(kind, check, replica, tmp_path):
    server = replica(kind)
    counts = SqlCounts(server, kind, of_sql(kind, server))
    wrong = wrongly_said(kind, check, counts, tmp_path)
    if (kind, check) == ("mysql", "check_mysql_backup"):
        # For our tables MySQL may read its whole dictionary: by its statistics, which it renews by itself.
        [of_all] = server.sql("SELECT COUNT(*) AS tables FROM information_schema.TABLES")
        wrong = [one for one in wrong if one[1] != "rows_examined" or one[3] > 2 * of_all["tables"]]
    assert wrong == []


@pytest.mark.own_server("where other tests have made tables on disk, more is asked, also after a DROP")
@pytest.mark.slow("looks that count are 16 s apart")
def test_checks_ask_a_cluster_what_is_said(own_ndb, tmp_path):
    """A new one: where there are tables on disk, more is to be asked."""
    node = own_ndb().sql_node
    counts = SqlCounts(node, "ndb", of_sql("ndb", node))
    wrong = {check: wrongly_said("ndb", check, counts, tmp_path) for check in CHECKS["ndb"]}
    assert {check: those for check, those in wrong.items() if those} == {}


@pytest.mark.parametrize("check", ON_JAVA)
def test_a_check_asks_a_jvm_what_is_said(check, jvm, tmp_path):
    assert wrongly_said("jvm", check, JmxCounts(of_java(jvm)), tmp_path) == []


@pytest.mark.parametrize("check", ON_JAVA)
def test_a_check_asks_a_cassandra_what_is_said(check, cassandra, tmp_path):
    assert wrongly_said("cassandra", check, JmxCounts(of_java(cassandra)), tmp_path) == []


@pytest.mark.parametrize("kind", ["mariadb", pytest.param("mysql", marks=pytest.mark.only_in_all_cells)])
@pytest.mark.slow("500 tables and 200 sessions are made")
def test_a_check_asks_a_server_with_many_tables_and_sessions_the_same(kind, replica, tmp_path):
    server = replica(kind)
    counts = SqlCounts(server, kind, of_sql(kind, server))
    with many_tables_and_sessions(server):
        wrong = {check: wrongly_said(kind, check, counts, tmp_path) for check in CHECKS[kind]}
    assert [one for those in wrong.values() for one in those if one[1] in EXACT] == []
    assert {check for check, those in wrong.items() if those} == GROW[kind]


@contextlib.contextmanager
def many_tables_and_sessions(server):
    """Meanwhile a server has many of both."""
    with server.session() as sql:
        (before,) = sql("SELECT @@GLOBAL.max_connections AS n")
        sql("SET sql_log_bin = 0")
        sql(f"SET GLOBAL max_connections = {3 * IDLE}")  # of half of them it is asked whose they are
        try:
            sql("CREATE DATABASE many")
            for number in range(TABLES):
                sql(f"CREATE TABLE many.t{number} (id INT)")
            with contextlib.ExitStack() as idle:
                for _ in range(IDLE):
                    idle.enter_context(server.session())
                yield
        finally:
            sql("DROP DATABASE IF EXISTS many")
            sql(f"SET GLOBAL max_connections = {before['n']}")
            sql("FLUSH LOCAL STATUS")  # the most sessions that there were


@pytest.mark.parametrize("kind", EITHER)
def test_all_causes_of_a_lag_cost_what_is_said(kind, replica, tmp_path):
    server = replica(kind)
    counts = SqlCounts(server, kind, of_sql(kind, server))
    cost(counts, tmp_path, "check_replication_lag")
    asked = cost(counts, tmp_path, "check_replication_lag", "-vvv")
    assert (asked["connections"], asked["statements"]) == (2, CAUSES[kind])
    assert f"{CAUSES[kind]} statements" in PAGE.read_text()


@pytest.mark.parametrize("kind", EITHER)
def test_the_name_of_a_busy_thread_costs_a_statement_more(kind, replica, tmp_path):
    server = replica(kind)
    counts = SqlCounts(server, kind, of_sql(kind, server))
    cost(counts, tmp_path, "check_mysqld_process")
    time.sleep(APART)
    usually = cost(counts, tmp_path, "check_mysqld_process")["statements"]
    busy = cost(counts, tmp_path, "check_mysqld_process", "--busiest-thread-warning", "@0:")["statements"]
    assert busy == usually + 1


def test_what_is_said_is_said_of_every_check_that_asks_a_server():
    assert {(kind, check) for kind, of in SAID.items() for check in of["checks"]} == set(
        itertools.chain.from_iterable(((kind, check) for check in of) for kind, of in CHECKS.items())
    )
