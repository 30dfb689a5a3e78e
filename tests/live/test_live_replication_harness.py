"""The tests' own pairs of database servers: they replicate, and their links do what they are told."""

import socket
import time

import pymysql
import pytest
from replication_pair import REPLICATION
from replication_writer import Writer


def status(pair):
    return pair.replica.channels()[""]


def eventually(true, seconds=60):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_pair_replicates(pair):
    with Writer(pair) as writer:
        eventually(lambda: len(writer.committed) >= 3)
        pair.catch_up()
        eventually(lambda: writer.true_lag() < 1)
        assert (status(pair)["Replica_IO_Running"], status(pair)["Replica_SQL_Running"]) == ("Yes", "Yes")


def test_a_black_hole_takes_connections_and_says_nothing(pair):
    with Writer(pair) as writer:
        pair.link.black_hole()
        with socket.create_connection(("127.0.0.1", pair.link.port)) as client:
            client.settimeout(1)
            with pytest.raises(TimeoutError):
                client.recv(1)
            eventually(lambda: writer.true_lag() > 1)
            assert status(pair)["Replica_IO_Running"] == "Yes"
            pair.link.pass_all()
            client.settimeout(10)
            assert client.recv(1)
        pair.catch_up()
        eventually(lambda: writer.true_lag() < 1)


def test_a_refusing_link_closes_and_refuses(pair):
    with Writer(pair) as writer:
        pair.link.refuse()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", pair.link.port))
        eventually(lambda: writer.true_lag() > 1)
        eventually(lambda: status(pair)["Last_IO_Errno"] == 2003)
        pair.link.pass_all()
        pair.catch_up()


def test_a_slow_link_passes_so_many_octets(pair):
    pair.source.sql("CREATE TABLE lab.slow (octets LONGBLOB)")
    pair.catch_up()
    pair.link.slow(50_000)
    began = time.monotonic()
    pair.source.sql("INSERT INTO lab.slow VALUES (REPEAT('x', 200000))")
    pair.catch_up()
    assert 3 < time.monotonic() - began < 60
    pair.source.sql("DROP TABLE lab.slow")


@pytest.mark.parametrize("trouble", ["nowhere and locked", "source down", "source stopped and delayed"])
def test_everything_heals(pair, trouble):
    with Writer(pair) as writer, pair.replica.session() as held:
        pair.replica.stop_replication()
        match trouble:
            case "nowhere and locked":
                pair.replica.follow("", 1, pair.monitor)
                held("FLUSH TABLES WITH READ LOCK")
            case "source down":
                pair.source.stop()
            case "source stopped and delayed":
                pair.source.suspend()
                pair.replica.follow("", pair.link.port, REPLICATION, delay=3600)
                pair.replica.start_replication()
        time.sleep(1)
        pair.heal()
        eventually(lambda: writer.true_lag() < 1)


def everything(pair):
    """What outlives a test: databases, whose transactions there are, how the replica finds its place."""
    pair.catch_up()
    both = (pair.source, pair.replica)
    databases = [server.sql("SHOW DATABASES") for server in both]
    if pair.kind == "mariadb":
        rows = pair.replica.sql("SELECT @@GLOBAL.gtid_slave_pos AS it, 1 AS mode")
        whose = "-"
    else:
        asked = "SELECT @@GLOBAL.gtid_executed AS it, @@GLOBAL.gtid_mode AS mode"
        rows = [row for server in both for row in server.sql(asked)]
        whose = ":"
    theirs = [
        ({one.strip().partition(whose)[0] for one in row["it"].split(",")}, row["mode"]) for row in rows
    ]
    channels = pair.replica.channels()
    places = {name: (row.get("Using_Gtid"), row.get("Auto_Position")) for name, row in channels.items()}
    return databases, theirs, places


def test_what_is_done_for_a_while_leaves_a_pair_as_it_was(pair):
    before = everything(pair)
    with pair.another_channel("east"):
        assert set(pair.replica.channels()) == {"", "east"}
    assert everything(pair) == before
    with pair.without_gtids():
        assert status(pair).get("Using_Gtid", "No") == "No"
        assert status(pair).get("Auto_Position", 0) in {0, "0"}
        pair.source.sql("CREATE TABLE lab.anonymous (id INT)")
        pair.catch_up()
    pair.source.sql("DROP TABLE lab.anonymous")
    assert everything(pair) == before


def test_an_account_may_only_what_it_was_granted(pair):
    account = pair.account("little", "PROCESS")
    statement = "SHOW ALL SLAVES STATUS" if pair.kind == "mariadb" else "SHOW REPLICA STATUS"
    for server in (pair.replica, pair.source):
        with server.session(account) as sql:
            assert sql("SHOW ENGINE INNODB STATUS")
            with pytest.raises(pymysql.OperationalError, match="Access denied"):
                sql(statement)
    pair.catch_up()
