"""Counters and gauges told apart: of every number that real servers were captured to tell."""

import pytest
from captured_mysql import VERSIONS, CapturedMysql
from stallwatch.probes.mysql.status import numbers
from stallwatch.probes.mysql_status import kinds
from stallwatch.probes.mysql_status.kinds import COUNTER, GAUGE, UNKNOWN, kind
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.sources.mysql import Flavour

MYSQL = VERSIONS["MySQL 9.7"][1]
MARIADB = VERSIONS["MariaDB 10.11"][1]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_captured_number_is_known(version):
    server = CapturedMysql(version)
    told = numbers(server.status)
    assert len(told) > 300
    assert [name for name in told if kind(name, server.flavour) == UNKNOWN] == []


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("Handler_read_rnd_next", COUNTER),
        ("Com_select", COUNTER),
        ("Com_invented_tomorrow", COUNTER),  # the manual tells of Com_ as a family
        ("Innodb_row_lock_time", COUNTER),
        ("Innodb_row_lock_time_avg", GAUGE),
        ("Innodb_row_lock_time_max", GAUGE),
        ("Innodb_redo_log_current_lsn", COUNTER),
        ("Innodb_history_list_length", GAUGE),
        ("Threads_created", COUNTER),
        ("Threads_running", GAUGE),
        ("Max_used_connections", GAUGE),
        ("Uptime", GAUGE),
        ("Binlog_snapshot_position", GAUGE),  # begins anew with every file
        ("Performance_schema_digest_lost", COUNTER),
        ("Performance_schema_session_connect_attrs_longest_seen", GAUGE),
        ("Mysqlx_worker_threads_active", GAUGE),
        ("Gr_flow_control_throttle_active_count", GAUGE),
        ("Gr_control_messages_sent_count", COUNTER),
        ("wsrep_local_recv_queue", GAUGE),
        ("wsrep_received_bytes", COUNTER),
        ("option_tracker_usage:Binary Log", COUNTER),
        ("Rocksdb_block_cache_add", UNKNOWN),
        ("Innodb_invented_tomorrow", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_what_counts_up_and_what_goes_up_and_down(name, what):
    assert kind(name, MYSQL) == kind(name, MARIADB) == what


def test_opened_files_is_what_open_files_is_from_mysql_8_on():
    assert kind("Opened_files", MARIADB) == COUNTER
    assert kind("Opened_files", Flavour("MySQL", (5, 7, 42), "")) == COUNTER
    assert kind("Opened_files", Flavour("Percona", (8, 0, 46), "")) == GAUGE
    assert kind("Opened_files", MYSQL) == GAUGE


def test_nothing_is_both_or_twice():
    counters, gauges = kinds._COUNTERS.split(), kinds._GAUGES.split()
    assert len(set(counters + gauges)) == len(counters) + len(gauges)
    assert set(counters) | set(gauges) >= kinds.BYTES


def test_the_sets_name_only_what_is_known():
    for one in SETS.values():
        assert [name for name in one.numbers if kind(name, MARIADB) == UNKNOWN] == []
