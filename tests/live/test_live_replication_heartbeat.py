"""check_replication_lag with a heartbeat table, as pt-heartbeat writes it, on real servers."""

import contextlib
import time
from datetime import UTC, datetime, timedelta

import pytest
from replication_check import Check
from replication_heartbeats import COLUMNS, INTERVAL, TABLE, Heartbeats, write
from replication_pair import GRANTS
from replication_writer import Writer

ERROR = 1.5  # seconds
SLIGHT = 0.5  # seconds: clocks are compared in the way, and numbers are rounded
SMALL = 5.0  # seconds of a lag that is not the age of a heartbeat that nobody writes
RETIRED = 77  # server_id of a primary that is no more


@pytest.fixture
def watched(pair, tmp_path):
    """Gives (pair, run the plugin on it): with a heartbeat table that the monitoring account may read."""
    with pair.source.session() as sql:
        sql(f"CREATE TABLE IF NOT EXISTS {TABLE} ({COLUMNS})")
        sql(f"DELETE FROM {TABLE}")
    pair.catch_up()
    account = pair.account("beating", *GRANTS[pair.kind], "SELECT ON lab.*")
    check = Check(tmp_path)
    return pair, lambda *options, **more: check(
        pair, "--heartbeat", TABLE, *options, **{"account": account} | more
    )


def source_of(pair):
    """What tells the plugin how to ask the source, too."""
    words = ["--source", f"127.0.0.1:{pair.source.port}"]
    return words if pair.kind == "mariadb" else [*words, "--ssl-mode", "REQUIRED"]


@contextlib.contextmanager
def zone(pair, hours):
    """Let the servers' own zone be so many hours ahead of UTC."""
    servers = (pair.replica, pair.source)
    try:
        for one in servers:
            one.sql(f"SET GLOBAL time_zone = '{hours:+03d}:00'")
        yield
    finally:
        for one in servers:
            one.sql("SET GLOBAL time_zone = 'SYSTEM'")


def newest(pair, hours=0):
    """When the newest heartbeat of its source was written that the replica has."""
    (row,) = pair.replica.sql(f"SELECT MAX(ts) AS ts FROM {TABLE} WHERE server_id = {pair.source.number}")
    moment = datetime.fromisoformat(row["ts"] or "1970-01-01").replace(tzinfo=UTC)
    return (moment - timedelta(hours=hours)).timestamp()


def wait_for_a_heartbeat(pair, hours=0):
    """Until one that is written from now on is on the replica."""
    now, end = time.time(), time.monotonic() + 60
    while newest(pair, hours) < now:
        assert time.monotonic() < end
        time.sleep(0.1)


def told(check, pair, *options, hours=0):
    """What a run says, which is how old the heartbeat was that it saw: one of those that came meanwhile."""
    begun, oldest = time.time(), newest(pair, hours)
    said = check(*options, "-v")
    youngest, ended = newest(pair, hours), time.time()
    assert "how the lag is known: heartbeat table" in said.output
    assert begun - youngest - SLIGHT <= said.number("lag") <= ended - oldest + SLIGHT
    return said


def assert_is_true(check, pair, hours=0):
    """What the heartbeats say is true on a current replica, and on one whose applier waits for a row."""
    wait_for_a_heartbeat(pair, hours)
    assert told(check, pair, hours=hours).status == 0
    with pair.replica.session() as sql:
        sql("BEGIN")
        sql(f"SELECT * FROM {TABLE} FOR UPDATE")
        time.sleep(8)
        assert told(check, pair, "-w", "5", hours=hours).status == 1


@pytest.mark.slow("the replica lags 8 s")
def test_the_time_in_utc(watched):
    pair, check = watched
    with Heartbeats(pair):
        assert_is_true(check, pair)


@pytest.mark.parametrize("hours", [2, -5])
@pytest.mark.slow("the replica lags 8 s")
def test_the_time_in_the_servers_own_zone(watched, hours):
    pair, check = watched
    with zone(pair, hours), Heartbeats(pair, hours):
        assert_is_true(check, pair, hours)


def test_the_row_of_a_retired_primary(watched):
    pair, check = watched
    pair.source.sql("SELECT 1")
    with pair.source.session() as sql:
        write(sql, RETIRED, ago=4000)
    pair.catch_up()
    said = check()
    assert f"{TABLE} has no heartbeat of server {pair.source.number}, but of {RETIRED}" in said.output
    assert said.number("lag") < SMALL  # of what else is known
    with Heartbeats(pair):
        wait_for_a_heartbeat(pair)
        assert told(check, pair).status == 0
        assert check("--heartbeat-server-id", str(RETIRED)).status in {0, 2}  # 0: the clocks may differ
        said = check("--heartbeat-server-id", str(RETIRED))
    assert said.status == 2  # another look at the same row: no clock does that
    assert 4000 <= said.number("lag") < 4100


def test_a_table_that_keeps_every_heartbeat(watched):
    pair, check = watched
    with pair.source.session() as sql:
        sql(f"ALTER TABLE {TABLE} DROP PRIMARY KEY, ADD id INT AUTO_INCREMENT PRIMARY KEY FIRST")
        for ago in range(7200, 0, -60):
            write(sql, pair.source.number, ago=ago)
    try:
        with Heartbeats(pair):
            wait_for_a_heartbeat(pair)
            assert told(check, pair).status == 0
    finally:
        pair.source.sql(f"DROP TABLE {TABLE}")


@pytest.mark.parametrize("asks_source", [False, True])
@pytest.mark.slow("a heartbeat is late after 10 s")
def test_a_writer_that_died(watched, asks_source):
    """MariaDB's replica alone takes some looks: transactions go on, and the row does not change."""
    pair, check = watched
    options = [*source_of(pair), "--errant-warning", "~:"] if asks_source else []  # others have written here
    with Writer(pair):
        with Heartbeats(pair):
            wait_for_a_heartbeat(pair)
            assert check(*options).status == 0
        time.sleep(14)  # so old that the 10 s are over from which on it is told, whenever a transaction comes
        end = time.monotonic() + 60
        while "heartbeat writer stopped" not in (said := check(*options, "-v")).output:
            assert time.monotonic() < end, said.output
            assert pair.kind == "mariadb", said.output
            assert not asks_source, said.output
            time.sleep(4)
    assert said.status == 0
    assert said.number("lag") < SMALL
    assert "how the lag is known: heartbeat table" not in said.output


@pytest.mark.slow("the replica lags 8 s")
def test_a_table_that_is_locked(watched):
    """The applier waits for the same lock, so there is a lag to be told."""
    pair, check = watched
    with Heartbeats(pair), pair.replica.session() as sql:
        wait_for_a_heartbeat(pair)
        assert check().status == 0
        sql(f"LOCK TABLES {TABLE} WRITE")
        begun = time.time()
        time.sleep(8)
        asked = time.monotonic()
        said = check("-w", "5")
        took = time.monotonic() - asked
        truth = time.time() - begun
    assert took < 10 - ERROR
    assert truth - took - ERROR < said.number("lag") < truth + INTERVAL + ERROR
    assert TABLE in said.output
    assert " lags " in said.text


def test_a_table_that_may_not_be_read(watched):
    pair, check = watched
    with Heartbeats(pair):
        said = check(account=pair.monitor)
    assert "needs SELECT" in said.output or "GRANT SELECT" in said.output, said.output
    assert said.number("lag") < SMALL
