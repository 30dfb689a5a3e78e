"""check_mysql_stalls on real servers on which one client blocks others, with the privileges it declares.

The bench of diagnosis makes all faults that it knows (``make diagnosis WHAT=locks``).
"""

import time

import plugin_command
import pytest
from lock_scenes import Scene
from mariadb import Mariadb
from plugin_command import Said

ACCOUNTS = {"mon": ("PROCESS", "SELECT ON performance_schema.*"), "few": ("PROCESS",), "poor": ()}
SOON = ("-w", "0.5", "-c", "0.9")  # seconds, instead of 10 and 60; servers count whole ones
PATIENCE = 30


@pytest.fixture
def scene(server):
    with Scene(server) as scene:
        yield scene


@pytest.fixture
def check(server, tmp_path):
    """Runs it as one of the accounts: they are made now, as a server that is locked makes none."""
    accounts = {name: server.account(name, *grants) for name, grants in ACCOUNTS.items()}

    def run(*options, who="mon"):
        words = ("check_mysql_stalls", "-S", server.socket, "-u", who, "-t", "30s", *options)
        password = {"STALLWATCH_MYSQL_PASSWORD": accounts[who].password}
        state = ("--state-dir", tmp_path / "state")
        return Said.of(plugin_command.run(tmp_path, *words, *state, variables=password))

    return run


@pytest.fixture
def until(check):
    """Runs it again and again until that holds of what it says."""

    def run(holds, *options, who="mon"):
        end = time.monotonic() + PATIENCE
        while not holds(said := check(*options, who=who)):
            assert time.monotonic() < end, said.output
            time.sleep(0.3)
        return said

    return run


def names_tables(server):
    """Whether the server tells who holds locks of tables: MariaDB does not by default."""
    return not isinstance(server, Mariadb)


def test_an_idle_transaction_is_the_head_and_its_statement_has_no_values(scene, server, until):
    head = scene.idle()
    scene.writers(3)
    said = until(lambda said: said.status == 2, *SOON)
    assert f"connection {head.id} report@localhost blocks 3 others for " in said.text
    assert " on shop.orders, idle for " in said.text
    assert said.sentence.endswith(f": KILL {head.id}, or let it commit")
    assert "row lock on shop.orders, index PRIMARY" in said.output
    assert ("SET `state` = ?" in said.output) == names_tables(server)
    assert "state = 7" not in said.output
    assert said.number("waiting") == 3
    server.sql(f"KILL {head.id}")
    over = until(lambda said: said.number("waiting") == 0)
    assert over.status == 0, over.output


def test_what_xa_has_prepared_is_not_ended_by_a_kill_alone(scene, server, until):
    """MariaDB keeps a prepared transaction with its connection; MySQL 9.7 takes it away at once."""
    head = scene.prepared()
    scene.writers(1)
    said = until(lambda said: "XA" in said.text, *SOON)
    if names_tables(server):
        assert "an XA transaction without a connection " in said.text
        assert "end it by XA " in said.output
    else:
        assert f"KILL {head.id}, then XA COMMIT or ROLLBACK if XA RECOVER lists it" in said.output
        assert f"KILL {head.id}" in said.text
        server.sql(f"KILL {head.id}")
        later = until(lambda said: "without a connection" in said.text, *SOON)
        assert later.number("waiting") == 1


@pytest.mark.only_in_all_cells
def test_of_a_chain_the_first_one_is_the_head(scene, until):
    links = scene.chain(5)
    said = until(lambda said: said.status == 2, *SOON)
    assert f"connection {links[0].id} app@localhost blocks 4 others" in said.text
    assert "3 of them in a chain behind others" in said.output
    assert "more problem" not in said.text


def test_a_definition_behind_a_reader_and_all_that_queue_behind_it(scene, server, until):
    reader, alters = scene.reader(), scene.definition()
    scene.readers(2)
    said = until(lambda said: said.status == 2, *SOON)
    blocks = "blocks" if names_tables(server) else "probably blocks"
    assert f"connection {reader.id} report@localhost {blocks} ALTER TABLE shop.orders and 2 more" in said.text
    assert f"KILL {reader.id}" in said.text
    assert f"KILL {alters.id} lets them go on without it" in said.output


@pytest.mark.only_in_all_cells
def test_the_holder_of_a_user_lock_is_named(scene, until):
    head = scene.client()
    head.sql("SELECT GET_LOCK('nightly job', 10)")
    for _ in range(2):
        scene.client().go("SELECT GET_LOCK('nightly job', 500)")
    said = until(lambda said: said.status == 1, "--user-lock-warning", "0.5")
    assert f"connection {head.id} report@localhost blocks 2 others for " in said.text
    assert " by the user lock nightly job, idle" in said.text
    assert f"KILL {head.id}" in said.sentence


@pytest.fixture
def leaves(server):
    """Make a database, which is gone when all of the scene has ended."""
    server.sql("DROP DATABASE IF EXISTS leaves")
    server.sql("CREATE DATABASE leaves")
    server.sql("CREATE TABLE leaves.one (id INT PRIMARY KEY)")
    yield
    server.sql("DROP DATABASE IF EXISTS leaves")


def test_a_drop_of_a_database_is_behind_who_uses_a_table_of_it(leaves, scene, server, until):
    reader, drops = scene.client(), scene.client(scene.app)
    reader.sql("BEGIN")
    reader.sql("SELECT * FROM leaves.one")
    drops.go("DROP DATABASE leaves")
    scene.client(scene.app).go("SELECT * FROM leaves.one")
    said = until(lambda said: said.status and said.number("waiting") == 2, *SOON)
    blocks = "blocks" if names_tables(server) else "probably blocks"
    assert f"connection {reader.id} report@localhost {blocks} " in said.text
    assert f"KILL {reader.id}" in said.output


@pytest.mark.only_in_all_cells
def test_a_global_read_lock_names_who_can_hold_it(scene, server, until):
    holds = scene.client()
    holds.sql("FLUSH TABLES WITH READ LOCK")
    scene.writers(1)
    said = until(lambda said: said.status, *SOON)
    blocks = "blocks" if names_tables(server) else "probably blocks"
    assert f"connection {holds.id} report@localhost {blocks} 1 other for " in said.text
    assert f"KILL {holds.id}" in said.text
    assert ("global read lock" if names_tables(server) else "global lock") in said.text


@pytest.mark.only_in_all_cells
def test_a_table_lock_names_who_can_hold_it(scene, server, until):
    holds = scene.client()
    holds.sql("LOCK TABLES shop.orders WRITE")
    scene.readers(1)
    said = until(lambda said: said.status, *SOON)
    blocks = "blocks" if names_tables(server) else "probably blocks"
    assert f"connection {holds.id} report@localhost {blocks} 1 other for " in said.text
    assert " on shop.orders, " in said.text


@pytest.mark.only_in_all_cells
def test_without_performance_schema_it_tells_that_others_wait(scene, server, until):
    head = scene.idle()
    scene.writers(2)
    said = until(lambda said: said.status, *SOON, who="few")
    if names_tables(server):
        assert "2 connections wait for up to " in said.text
        assert "who blocks is not known" in said.text
        assert "needs SELECT ON performance_schema.*" in said.output
    else:
        assert f"KILL {head.id}" in said.output


def test_without_process_it_knows_nothing(scene, check):
    scene.idle()
    said = check(who="poor")
    assert said.status == 3
    assert "needs PROCESS" in said.output


def test_a_deadlock_that_the_server_ends_is_counted_and_a_problem_of_nobody(scene, check, until):
    check()
    scene.deadlock()
    said = until(lambda said: "deadlocks" in said.perfdata and said.number("deadlocks") > 0, "-v")
    assert said.status == 0, said.output
    assert "waited for shop.orders, index PRIMARY" in said.output
    assert said.output.count("UPDATE shop.orders SET state = ? WHERE id = ?") == 2


def test_names_of_tables_and_accounts_break_no_line(scene, server, until):
    """What a server says is data: a table may be called as perfdata are written."""
    odd = "or|ders\n=1s;2"
    server.sql(f"CREATE TABLE shop.`{odd}` (id INT PRIMARY KEY)")
    server.sql(f"INSERT INTO shop.`{odd}` VALUES (1)")
    head = scene.client()
    head.sql("BEGIN")
    head.sql(f"DELETE FROM shop.`{odd}`")
    scene.client(scene.app).go(f"DELETE FROM shop.`{odd}` WHERE id = 1")
    said = until(lambda said: said.status, *SOON)
    server.sql(f"KILL {head.id}")
    server.sql(f"DROP TABLE shop.`{odd}`")
    assert " on shop.or/ders =1s;2, " in said.text, said.output
