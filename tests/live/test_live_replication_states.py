"""check_replication_lag on real servers: what does not run, is denied, or is many."""

import re
import time

import pytest
from held_backup import held_backup
from replication_check import SLACK, Check
from replication_writer import Writer
from sql_server import Account
from test_live_replication_heartbeat import source_of

PERFORMANCE = "SELECT ON PERFORMANCE_SCHEMA"
GRANTS = {  # each that is enough for a verdict, and what -v then says is missing
    "mariadb": [
        (["SLAVE MONITOR"], ["PROCESS"]),
        (["SLAVE MONITOR", "PROCESS"], []),
        (["SLAVE MONITOR", "BINLOG MONITOR", "PROCESS"], []),
        (["SLAVE MONITOR", "BINLOG MONITOR", "PROCESS", "SELECT ON performance_schema.*"], []),
    ],
    "mysql": [
        (["REPLICATION CLIENT"], ["PROCESS", PERFORMANCE]),
        (["REPLICATION CLIENT", "PROCESS"], [PERFORMANCE]),
        (["REPLICATION CLIENT", "SELECT ON performance_schema.*"], ["PROCESS"]),
        (["REPLICATION CLIENT", "PROCESS", "SELECT ON performance_schema.*"], []),
    ],
}
NEEDS = re.compile(r"needs (PROCESS|SELECT on performance_schema)", re.IGNORECASE)
STATUS = {"mariadb": "SLAVE MONITOR", "mysql": "REPLICATION CLIENT"}


@pytest.fixture
def check(tmp_path):
    return Check(tmp_path)


def start(pair, thread):
    return f"START {'SLAVE' if pair.kind == 'mariadb' else 'REPLICA'} {thread}"


def repoint(pair, port, account):
    pair.replica.stop_replication()
    place = None if pair.gtid else pair.source.place()
    pair.replica.follow("", port, account, gtid=pair.gtid, place=place)
    pair.replica.start_replication()


def test_a_healthy_replica(pair, check):
    with Writer(pair) as writer:
        time.sleep(2)
        found = check.measured(pair, writer)
    assert found.said.status == 0
    assert found.said.text.startswith(f"REPLICATION_LAG OK - replica of 127.0.0.1:{pair.link.port} ")
    assert found.error < 1.5
    assert "cause" not in found.said.output
    assert [line for line in found.said.more if "would not show" not in line] == []


def test_the_applier_was_stopped(pair, check):
    with Writer(pair) as writer:
        assert check(pair).status == 0
        pair.replica.stop_replication("", "SQL_THREAD")
        time.sleep(3)
        found = check.measured(pair, writer)
    assert found.said.status == 2
    assert "the applier is stopped, without an error" in found.said.output
    assert start(pair, "SQL_THREAD") in found.said.output
    assert found.error < (1.5 if pair.kind == "mysql" else 3)


def test_the_receiver_was_stopped(pair, check):
    with Writer(pair) as writer:
        assert check(pair).status == 0
        pair.replica.stop_replication("", "IO_THREAD")
        time.sleep(3)
        found = check.measured(pair, writer)
    assert found.said.status == 2
    assert "the receiver is stopped, without an error" in found.said.output
    assert start(pair, "IO_THREAD") in found.said.output
    assert found.error < (1.5 if pair.kind == "mysql" else 3)


def test_the_applier_failed(pair, check):
    pair.source.sql("CREATE TABLE lab.failing (id INT PRIMARY KEY)")
    pair.catch_up()
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql("INSERT INTO lab.failing VALUES (1)")
        pair.source.sql("INSERT INTO lab.failing VALUES (1)")
        try:
            said = check.until(2, pair)
        finally:
            sql("DELETE FROM lab.failing")
            pair.heal()
            pair.source.sql("DROP TABLE lab.failing")
    assert re.search(r"the applier stopped with error 1062\b.* on lab.failing", said.output)
    assert any("Duplicate entry '1'" in line for line in said.more)
    assert check(pair).status == 0


def test_the_source_is_down(pair, check):
    assert check(pair).status == 0
    pair.source.stop()
    check.until(1, pair, text=r"the receiver (is connecting|cannot connect to the source)")
    check.until(2, pair, "--connecting-grace", "1s")


def test_a_dead_port(pair, check):
    repoint(pair, 1, pair.monitor)
    said = check.until(1, pair)
    assert said.text.startswith("REPLICATION_LAG WARNING - replica")
    assert "replica of 127.0.0.1:1, lag unknown" in said.output
    assert " lags 0 s" not in said.text  # nobody knows
    unreached = r"the receiver cannot connect to the source: error 2003\b"
    said = check.until(2, pair, "--connecting-grace", "1s", text=unreached)
    assert "check that 127.0.0.1:1 runs and listens" in said.output


def test_a_wrong_password(pair, check):
    repoint(pair, pair.link.port, Account("replication", "wrong"))
    said = check.until(2, pair, text="error 1045, Access denied f")  # at the second look, whatever the grace
    assert "the source refuses the receiver" in said.text
    assert "wrong" not in said.output


def test_both_threads_are_stopped_and_started_by_one_statement(pair, check):
    pair.replica.stop_replication()
    said = check(pair)
    assert said.status == 2
    assert "receiver and applier are stopped, without an error" in said.output
    assert re.search(r"find out who stopped them, then START (REPLICA|SLAVE)\b", said.output)


def test_what_is_written_to_the_replica_is_seen_on_it_alone(pair, check):
    pair.replica.sql("CREATE TABLE lab.old (id INT)")  # as from before a switchover
    assert check(pair).status == 0
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql("INSERT INTO lab.old VALUES (1)")
    said = check(pair)
    assert (said.status, said.number("errant")) == (0, 0)
    pair.replica.sql("DROP TABLE lab.old")
    said = check(pair)
    assert said.status == 1
    assert ": 1 transaction written here in the last " in said.text
    assert said.number("errant") == 1
    said = check(pair, *source_of(pair))
    assert (said.status, said.number("errant") >= 1) == (1, True)
    assert f" not on 127.0.0.1:{pair.source.port}, read_only is OFF" in said.text


def test_one_channel_of_two_is_broken(pair, check):
    with pair.another_channel("east"):
        assert check(pair).status == 0
        pair.replica.stop_replication("east", "SQL_THREAD")
        said = check(pair)
        assert said.status == 2
        assert said.text.startswith("REPLICATION_LAG CRITICAL - channel east")
        assert "the applier is stopped, without an error" in said.output
        assert said.number("lag") < 5
        assert check(pair, "--ignore-channel", "east").status == 0
        assert check(pair, "--channel", "east").status == 2
        assert check(pair, "--channel", "e.*", "--ignore-channel", "east").status == 3


@pytest.mark.slow("both servers change how they number transactions, and back")
def test_without_gtids(pair, check):
    source = f"127.0.0.1:{pair.source.port}"
    with pair.without_gtids(), Writer(pair) as writer:
        time.sleep(2)
        found = check.measured(pair, writer)
        assert found.said.status == 0
        assert found.error < 1.5
        assert check(pair, "--source", source).status == 0
        pair.replica.stop_replication("", "SQL_THREAD")
        time.sleep(3)
        found = check.measured(pair, writer)
        assert found.said.status == 2
        assert found.error < 1.5
        asked = check(pair, "--source", source)
        assert asked.status == 2
        assert "have not arrived" not in asked.text


def test_a_server_that_is_no_replica(pair, check):
    words = ("-S", pair.source.socket)
    said = check(pair, *words)
    assert said.status == 3
    assert "is not a replica" in said.text
    assert check(pair, *words, "--not-replica", "ok").status == 0


# What may be read


def test_status_denied(pair, check):
    for grants in ([], ["PROCESS"]):
        account = pair.account("denied", *(grants or ["USAGE"]))
        said = check(pair, account=account)
        assert said.status == 3
        assert f"GRANT {STATUS[pair.kind]} ON *.* TO" in said.output


def test_the_alias_of_mariadb_is_not_enough(running_pair, check):
    pair = running_pair("mariadb")
    said = check(pair, account=pair.account("alias", "REPLICATION CLIENT"))
    assert said.status == 3
    assert "GRANT SLAVE MONITOR ON *.* TO" in said.output


def test_each_least_set_of_grants_gives_a_verdict(pair, check):
    with Writer(pair) as writer:
        for grants, missing in GRANTS[pair.kind]:
            account = pair.account("least", *grants)
            found = check.measured(pair, writer, "-v", "--no-state", account=account)
            assert found.said.status == 0, found.said.output
            assert found.error < 1.5
            named = NEEDS.findall(found.said.output)
            assert sorted(one.upper() for one in named) == missing, found.said.output


# Who does not answer


def test_a_frozen_replica(pair, check):
    pair.replica.suspend()
    began = time.monotonic()
    said = check(pair, "-t", "4s")
    assert time.monotonic() - began < 4.5 + SLACK
    assert said.status == 3
    stopped = f"process {pair.replica.pid} is stopped, state T"
    assert said.text.startswith(f"REPLICATION_LAG UNKNOWN - mysqld does not respond: {stopped}")
    assert re.search("sends no greeting|has not answered", said.output)  # within 4 s, if it had them
    pair.replica.resume()
    assert check.until(0, pair).text.startswith("REPLICATION_LAG OK")


def test_a_frozen_source_that_we_ask(pair, check):
    pair.source.suspend()
    began = time.monotonic()
    said = check(pair, "-t", "4s", "--source", f"127.0.0.1:{pair.source.port}")
    assert time.monotonic() - began < 4.5 + SLACK
    assert said.status == 3
    assert f"127.0.0.1:{pair.source.port}" in said.output
    assert said.number("lag") < 10  # it is not lost


# Backups


def test_a_backup_that_stops_the_applier(running_pair, check, tmp_path):
    pair = running_pair("mariadb")
    with Writer(pair):
        try:
            with held_backup(pair.replica, tmp_path / "backup") as pid:
                said = check(pair)
                assert said.status == 1
                assert "the applier was stopped, likely by the backup that runs - " in said.text
                assert f"the backup that runs: mariabackup pid {pid}" in said.output
                check.until(2, pair, "--backup-grace", "1s")
        finally:
            pair.heal()


# Many


def test_thirty_channels(pair, check):
    for number in range(29):
        pair.replica.follow(f"c{number:02}", number + 1, pair.monitor)
    for number in range(15):
        pair.replica.start_replication(f"c{number:02}")
    began = time.monotonic()
    said = check(pair)
    assert time.monotonic() - began < 8.5 + SLACK
    assert said.status == 2
    if "no verdict within" in said.text:  # a busy machine: it has not asked for the causes of all
        said = check(pair, "-t", "60s")
    assert re.match(
        r"REPLICATION_LAG CRITICAL - channel c(1[5-9]|2\d)[ ,].*, .* (is|are) stopped(, without an error)? -",
        said.text,
    )
    assert len(said.output.encode().split(b"\n")[0]) < 1024 or len(said.perfdata) >= 30
    assert "lag" in said.perfdata
    assert check(pair, "--channel", "").status == 0


def test_two_hundred_workers(pair, check):
    name = "slave_parallel_threads" if pair.kind == "mariadb" else "replica_parallel_workers"
    (before,) = pair.replica.sql(f"SELECT @@GLOBAL.{name} n")
    try:
        pair.replica.stop_replication()
        pair.replica.sql(f"SET GLOBAL {name} = 200")
        pair.replica.start_replication()
        pair.catch_up()
        with Writer(pair, every=0.05) as writer:
            time.sleep(2)
            began = time.monotonic()
            found = check.measured(pair, writer, "-v")
            assert time.monotonic() - began < 8.5 + SLACK
        assert found.said.status == 0
        assert found.error < 1.5
        assert "threads run" not in found.said.text  # they idle
    finally:
        pair.replica.stop_replication()
        pair.replica.sql(f"SET GLOBAL {name} = {before['n']}")
