"""check_ndb_transactions on a real cluster: a transaction left open, and others that want its row."""

import time

import ndb_load
import plugin_command
import pymysql
import pytest
from plugin_command import Said
from sql_node import MONITOR

PROCESS = ("process", "SELECT ON ndbinfo.*", "PROCESS")


@pytest.fixture
def check(tmp_path):
    """Run the plugin with an account that may do nothing but read ndbinfo, or more."""

    def run(node, *options, account=MONITOR):
        account = node.account(*account)
        words = ("-S", node.socket, "-u", account.user, "--state-dir", tmp_path / "state", "-t", "20s")
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        done = plugin_command.run(tmp_path, "check_ndb_transactions", *words, *options, variables=password)
        return Said.of(done)

    return run


def until(check, status, *arguments, seconds=60, **more):
    """Run it until it leaves with that status; what it says then."""
    end = time.monotonic() + seconds
    while (said := check(*arguments, **more)).status != status:
        assert time.monotonic() < end, said.output
        time.sleep(0.2)
    return said


def test_an_idle_cluster_is_ok(ndb, check):
    said = until(check, 0, ndb.sql_node)
    assert said.text == "NDB_TRANSACTIONS OK - no open transactions", said.output
    assert said.number("lock_wait") == 0


def test_a_transaction_left_open_warns(ndb, check):
    node = ndb.sql_node
    with ndb_load.open_transaction(node) as holder:
        assert check(node).status == 0
        said = until(check, 1, node, "-w", "2s", account=PROCESS)
        assert f"a transaction of connection {holder} of SQL node 51 (" in said.text
        assert "has been open without activity for " in said.text
        assert f"KILL {holder} on SQL node 51 ends it" in said.text
        said = check(node, "-w", "2s")
        assert said.status == 1
        assert "a transaction of SQL node 51 (" in said.text
        assert said.output.count("GRANT PROCESS ON *.* TO 'mon'@'") == 1
    assert until(check, 0, node, "-w", "2s").number("transactions") == 0


def test_who_holds_a_row_and_who_wants_it_is_said(ndb, check):
    """With TransactionDeadlockDetectionTimeout = 10 s somebody waits for 5 s and more."""
    node = ndb.sql_node
    with ndb_load.lock_wait(node) as holder:
        said = until(check, 1, node, "--lock-held-warning", "~:", account=PROCESS)
        assert said.number("lock_wait") > 5
        assert "a row of lab.seats has been locked for " in said.text
        assert f" by connection {holder} of SQL node 51 (" in said.text
        assert "a transaction waits for it" in said.text
        assert "such as that of connection " in said.text
        said = until(check, 1, node)
        assert " by SQL node 51 (" in said.text
        assert said.output.count("GRANT PROCESS ON *.* TO 'mon'@'") == 1


def test_what_ends_it_does(ndb, check):
    node = ndb.sql_node
    killed = pytest.raises(pymysql.OperationalError, match=r"gone away|Lost connection|killed")
    with killed, ndb_load.open_transaction(node) as holder:
        said = until(check, 1, node, "-w", "1s", account=PROCESS)
        assert f"KILL {holder} " in said.text
        node.sql(f"KILL {holder}")
        assert until(check, 0, node, "-w", "1s").number("transactions") == 0


def test_with_the_usual_timeout_a_row_that_is_wanted_warns(own_ndb, check):
    """Nobody waits for 5 s where each wait ends after 1.2 s; but whoever holds the row is found."""
    node = own_ndb().sql_node
    with ndb_load.lock_wait(node) as holder:
        said = until(check, 1, node, account=PROCESS)
        assert said.number("lock_held") > 5
        assert said.number("lock_wait") < 5
        assert f"by connection {holder} of SQL node 51 (" in said.text
