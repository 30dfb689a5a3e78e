"""The cluster of the NDB tests: what it is said to do, it does."""

import statistics
import time

import ndb_load
import pymysql
import pytest
from ndb_configuration import DATA_NODES
from sql_node import MONITOR


def until(true, seconds=60):
    """Until it is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_the_sql_node_shows_both_data_nodes(ndb):
    monitor = ndb.sql_node.account(*MONITOR)
    with ndb.sql_node.session(monitor) as sql:
        assert [row["node_id"] for row in sql("SELECT node_id FROM ndbinfo.nodes ORDER BY 1")] == [3, 4]
        with pytest.raises(pymysql.Error, match="denied"):
            sql("SELECT * FROM lab.t1")


@pytest.mark.slow("all nodes stop and start")
def test_the_whole_cluster_stops_and_comes_back_with_its_data(ndb):
    ndb.sql_node.sql("CREATE DATABASE IF NOT EXISTS lab")
    ndb.sql_node.sql("CREATE TABLE IF NOT EXISTS lab.kept (id INT PRIMARY KEY) ENGINE NDB")
    ndb.sql_node.sql("REPLACE INTO lab.kept VALUES (7)")
    ndb.shut_down_all()
    assert not ndb.sql_node.data_nodes()
    ndb.start_all_again()
    assert ndb.sql_node.sql("SELECT id FROM lab.kept") == [{"id": 7}]


@pytest.mark.slow("data nodes start again")
def test_heal_brings_back_killed_nodes_and_a_suspended_sql_node(ndb):
    ndb.kill(4)
    ndb.kill_management()
    ndb.sql_node.sql("SET GLOBAL ndbinfo_offline = ON")
    ndb.sql_node.suspend()
    ndb.heal()
    assert ndb.sql_node.data_nodes() == [3, 4]


def fullest(node):
    """The use of the fullest redo buffer, and of the emptiest, as shares of what they are."""
    rows = node.sql("SELECT used / total AS share FROM ndbinfo.logbuffers WHERE log_type = 'REDO'")
    shares = [float(row["share"]) for row in rows]
    return max(shares), min(shares)


def full_episodes(cluster):
    """How often the data nodes have said that a redo buffer is full."""
    count = 0
    for node in DATA_NODES:
        with open(cluster.out_log(node), errors="replace") as log:
            count += log.read().count(": Redo buffer full")
    return count


def test_big_writes_fill_small_redo_buffers_for_moments(ndb):
    ndb_load.blob_table(ndb.sql_node)
    before = full_episodes(ndb)
    with ndb_load.blob_writes(ndb.sql_node):
        until(lambda: full_episodes(ndb) > before)


def test_a_slow_disk_keeps_redo_buffers_full_until_it_is_fast_again(ndb, throttle):
    ndb_load.blob_table(ndb.sql_node)
    with ndb_load.blob_writes(ndb.sql_node):
        with ndb.slow_disk(1 << 20):  # less than clients write on a busy machine
            until(lambda: fullest(ndb.sql_node)[0] > 0.6)
            start, before = time.monotonic(), written(ndb)
            seen = []
            while time.monotonic() < start + 6:
                seen.append(fullest(ndb.sql_node)[0])
                time.sleep(0.2)
            rate = (written(ndb) - before) / (time.monotonic() - start)
        assert statistics.median(seen) > 0.6
        assert rate < 2 << 20
    until(lambda: fullest(ndb.sql_node)[0] < 0.2)


def written(cluster):
    """The octets that the data nodes have written."""
    return sum(cluster.child(node).io_counters().write_bytes for node in DATA_NODES)


def test_data_memory_is_full_at_95_percent_and_is_free_again_afterwards(ndb):
    with ndb.sql_node.session() as sql:
        with ndb_load.filled_memory(ndb.sql_node) as error:
            assert error == ndb_load.FULL
            assert 0.93 < ndb_load.memory_used(sql) < 0.96
        until(lambda: ndb_load.memory_used(sql) < 0.9)


def test_who_waits_for_a_lock_is_seen_with_the_holder(ndb):
    def seen():
        rows = ndb.sql_node.sql("SELECT state, op FROM ndbinfo.cluster_locks ORDER BY state, node_id")
        return [row["state"] for row in rows]

    with ndb_load.lock_wait(ndb.sql_node):
        until(lambda: seen() == ["H", "H", "W"])
