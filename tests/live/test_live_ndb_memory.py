"""check_ndb_memory on a real cluster whose DataMemory and tablespace are filled until inserts fail."""

import contextlib
import time

import ndb_load
import plugin_command
import pymysql
import pytest
from plugin_command import Said
from sql_node import MONITOR

FULL = 1114  # The table is full


@pytest.fixture
def check(tmp_path):
    """Run the plugin with an account that may do nothing but read ndbinfo, or more."""

    def run(node, *options, account=MONITOR):
        account = node.account(*account)
        words = ("-S", node.socket, "-u", account.user, "--state-dir", tmp_path / "state", "-t", "20s")
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        return Said.of(plugin_command.run(tmp_path, "check_ndb_memory", *words, *options, variables=password))

    return run


def test_an_idle_cluster_is_ok(ndb, check):
    said = check(ndb.sql_node)
    assert said.status == 0, said.output
    assert said.text.startswith("NDB_MEMORY OK - data memory at most "), said.output
    assert {"data_memory", "node3_data_memory", "node4_data_memory", "long_message_buffer"} <= set(
        said.perfdata
    )
    assert 0 < said.number("data_memory") < 50


@pytest.mark.slow("80 MB of memory are filled")
def test_it_is_critical_before_inserts_fail(ndb, check):
    node = ndb.sql_node
    with ndb_load.filled_memory(node, 0.6) as error:
        assert error is None
        assert check(node).status == 0
    with ndb_load.filled_memory(node, 0.85) as error:
        assert error is None
        said = check(node)
        assert said.status == 1, said.output
        assert "data memory of node " in said.text
        assert "inserts fail at 95 % (1114 The table is full, NDB error 827)" in said.output
    with ndb_load.filled_memory(node, 0.93) as error:
        assert error is None
        said = check(node)
        assert said.status == 2, said.output
    with ndb_load.filled_memory(node) as error:
        assert error == FULL
        said = check(node)
        assert said.status == 2, said.output
        assert "inserts fail now, at 95 %" in said.text
        assert 94.5 < said.number("data_memory") <= 95
    end = time.monotonic() + 30
    while (said := check(node)).status:  # what a table had is free soon after it is dropped
        assert time.monotonic() < end, said.output


@contextlib.contextmanager
def small_tablespace(node):
    """A tablespace of 16 extents and a table in it; the log file group is that of ndb_load.disk_table."""
    ndb_load.disk_table(node)
    with node.session() as sql:
        sql(
            "CREATE TABLESPACE small ADD DATAFILE 'small.dat' USE LOGFILE GROUP lg_1 INITIAL_SIZE 2M "
            "EXTENT_SIZE 128K ENGINE NDB"
        )
        sql(
            "CREATE TABLE lab.small (id INT AUTO_INCREMENT PRIMARY KEY, data VARCHAR(4000)) CHARSET latin1 "
            "TABLESPACE small STORAGE DISK ENGINE NDB"
        )
        try:
            yield sql
        finally:
            sql("DROP TABLE lab.small")
            sql("ALTER TABLESPACE small DROP DATAFILE 'small.dat'")
            sql("DROP TABLESPACE small")


def fill(sql):
    """Insert until that fails."""
    while True:
        sql(f"INSERT INTO lab.small (data) VALUES {', '.join(['(REPEAT(0, 4000))'] * 10)}")


@pytest.mark.slow("a cluster of its own starts, and a tablespace is filled")
@pytest.mark.own_server("a data node that restarts after a tablespace was dropped may crash (9.7.2, TSMAN)")
def test_a_full_tablespace_is_not_taken_for_memory(own_ndb, check):
    node = own_ndb().sql_node
    with_process = ("process", "SELECT ON ndbinfo.*", "PROCESS")
    with small_tablespace(node) as sql:
        assert "tablespace" in check(node, account=with_process).perfdata
        with pytest.raises(pymysql.Error, match="is full"):
            fill(sql)
        said = check(node, account=with_process)
        assert said.status == 2, said.output
        assert "tablespace small 100 % full (limit 90 %), when full, inserts fail" in said.text
        assert "15 of 15 extents of 128 KiB that can be had" in said.output
        assert said.number("tablespace") == 100
        assert said.number("data_memory") < 80
        said = check(node)
        assert said.status == 0, said.output
        assert said.output.count("GRANT PROCESS ON *.* TO 'mon'@'") == 1
        assert "tablespace" not in said.perfdata
