"""check_ndb_transactions on a real cluster: a transaction left open, and others that want its row."""

import re
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
    """A mysqld that has joined the cluster may hold a transaction of its own, without operations."""
    said = until(check, 0, ndb.sql_node)
    assert re.search(" OK - (no open transactions|1 open transaction with 0 operations)", said.text)
    assert said.number("operations") == 0
    assert said.number("lock_wait") == 0


def test_a_transaction_left_open_warns(ndb, check):
    node = ndb.sql_node
    with ndb_load.open_transaction(node) as holder:
        assert check(node).status == 0
        said = until(check, 1, node, "-w", "4s", account=PROCESS)
        assert f"transaction of connection {holder} of SQL node 51 inactive for " in said.text
        assert ", client idle for " in said.text
        assert f" - KILL {holder} on SQL node 51" in said.text
        said = check(node, "-w", "2s")
        assert said.status == 1
        assert "transaction of SQL node 51 inactive for " in said.text
        assert "KILL" not in said.text
        assert said.output.count("GRANT PROCESS ON *.* TO 'mon'@'") == 1
    assert until(check, 0, node, "-w", "2s").number("operations") == 0


def test_a_transaction_whose_statement_runs_is_not_to_be_killed(ndb, check):
    """Its connection works at what no data node is asked for."""
    node = ndb.sql_node
    with ndb_load.working_transaction(node) as working:
        said = until(check, 1, node, "-w", "4s", account=PROCESS)
        assert f"transaction of connection {working} of SQL node 51 inactive for " in said.text
        assert ", client at work - SHOW PROCESSLIST on SQL node 51" in said.text
        assert re.search(r"at work for \S+ s \(Query\)", said.output)
        assert "KILL" not in said.output


def killed(said):
    """Whom to KILL, by what is said."""
    numbers = {int(number) for number in re.findall(r"KILL (\d+)", said.output)}
    assert len(numbers) == 1, said.output
    return numbers.pop()


def locked(check, node, *options, waited=0):
    """What is said as soon as a row has been locked and its holder idle for long enough, and waited for."""
    end = time.monotonic() + 60
    while True:
        said = until(check, 1, node, *options, account=PROCESS)
        if "KILL" in said.text and said.number("lock_wait") > waited:
            return said
        assert time.monotonic() < end, said.output


def test_who_holds_a_row_and_who_wants_it_is_said(ndb, check):
    node = ndb.sql_node
    with ndb_load.lock_wait(node) as (holder, waiters):
        said = locked(check, node, waited=3)
        assert "a row of lab.seats locked for " in said.text
        assert f" by connection {holder} of SQL node 51, idle for " in said.text
        assert f"  connection {waiters[-1]} of SQL node 51 (" in said.output
        assert killed(said) == holder
        said = until(check, 1, node)
        assert " by SQL node 51 - " in said.text
        assert "KILL" not in said.text
        assert said.output.count("GRANT PROCESS ON *.* TO 'mon'@'") == 1


def test_a_scan_that_waits_is_not_taken_for_an_idle_client(ndb, check):
    """No operation is outstanding while it waits."""
    node = ndb.sql_node
    with ndb_load.scan_wait(node) as (holder, waiters):
        said = locked(check, node, waited=3)
        assert said.number("transactions") in (2, 3)  # mysqld's own is maybe the third
        assert f"  connection {waiters[-1]} of SQL node 51 (" in said.output
        assert killed(said) == holder


@pytest.mark.parametrize("_", range(3))
def test_of_two_who_share_a_lock_the_other_one_is_in_the_way(ndb, check, _):
    """Whichever has got it first."""
    node = ndb.sql_node
    with ndb_load.upgrade_wait(node) as (holder, _):
        assert killed(locked(check, node)) == holder


def test_the_head_of_a_chain_is_found(ndb, check):
    """Within the 10 s after which the second one gives up."""
    node = ndb.sql_node
    with ndb_load.chained_waits(node) as (head, middle, last):
        said = locked(check, node, "--lock-held-warning", "2s")
        assert f", held up by connection {head} of SQL node 51, idle for " in said.text
        assert f"the row is locked by connection {middle} of SQL node 51 (" in said.output
        assert f"the holder waits for connection {head} of SQL node 51 (" in said.output
        assert f"  connection {last[-1]} of SQL node 51 (" in said.output
        assert killed(said) == head


def test_a_row_is_held_since_the_first_operation_on_it(ndb, check):
    """A transaction has a lock for each of its operations on the row."""
    node = ndb.sql_node
    with ndb_load.several_operations_wait(node) as (holder, _):
        said = until(check, 1, node, account=PROCESS)
        assert said.number("lock_held") > 6
        assert f" by connection {holder} of SQL node 51" in said.text
        assert killed(locked(check, node)) == holder


def test_what_ends_it_does(ndb, check):
    node = ndb.sql_node
    lost = pytest.raises(pymysql.OperationalError, match=r"gone away|Lost connection|killed")
    with lost, ndb_load.open_transaction(node) as holder:
        said = until(check, 1, node, "-w", "4s", account=PROCESS)
        assert f"KILL {holder} " in said.text
        node.sql(f"KILL {holder}")
        assert until(check, 0, node, "-w", "4s").number("operations") == 0


@pytest.mark.own_server("has TransactionDeadlockDetectionTimeout at its default, unlike the shared cluster")
@pytest.mark.slow("a cluster of its own starts")
def test_with_the_usual_timeout_a_row_that_is_wanted_warns(own_ndb, check):
    """Nobody waits for 5 s where each wait ends after 1.2 s; but whoever holds the row is found."""
    node = own_ndb().sql_node
    with ndb_load.lock_wait(node) as (holder, _):
        said = locked(check, node)
        assert said.number("lock_held") > 5
        assert said.number("lock_wait") < 5
        assert killed(said) == holder
