"""Numbers of more digits than a float holds, or Python reads, wherever others can write one."""

import math
from types import SimpleNamespace

import pytest
from stallwatch.findings import ProbeError
from stallwatch.probes.mysql import innodb
from stallwatch.probes.mysql.locks import deadlocks, in_status
from stallwatch.probes.mysql_backup import mydumper, mysqldump, physical
from stallwatch.probes.ndb_memory import queries as ndb_memory
from stallwatch.probes.ndb_nodes import queries as ndb_nodes
from stallwatch.probes.ndb_page_buffer import collect as ndb_page_buffer
from stallwatch.probes.replication_lag import reconnects
from stallwatch.probes.replication_lag.causes import receiver
from stallwatch.probes.replication_lag.signals import Signals
from stallwatch.sources.jmx import values as of_rmi
from stallwatch.sources.jmx.jmxquery.lines import Line
from stallwatch.sources.jmx.jolokia import values as of_jolokia
from stallwatch.sources.mysql import connection


@pytest.fixture(params=[400, 5000])
def absurd(request):
    return "9" * request.param


def test_of_jolokia(absurd):
    told = of_jolokia.parsed(f'{{"value": [{absurd}, -{absurd}, 7]}}'.encode())
    assert told == {"value": [math.inf, -math.inf, 7]}
    assert of_jolokia.plain(told["value"], 0, lambda _: None) == [math.inf, -math.inf, 7]


def test_of_jolokia_as_text():
    assert of_jolokia.plain({"bigint": "9" * 400}, 0, lambda _: None) == math.inf


def test_of_rmi():
    octets = (10**400).to_bytes(200)
    fields = {"signum": -1, "magnitude": SimpleNamespace(octets=octets)}
    record = SimpleNamespace(name="java.math.BigInteger", fields=fields)
    assert of_rmi._READERS["java.math.BigInteger"](None, record) == -math.inf


@pytest.mark.parametrize("kind", ["Integer", "Long", "BigInteger", "AtomicLong"])
def test_of_jmxquery(kind, absurd):
    text = absurd if kind in {"Integer", "Long"} else f'"{absurd}"'
    assert Line("a:b=c", "D", None, kind, text).value() == math.inf


def test_of_a_row_of_mysql(absurd):
    for octets in (absurd.encode(), b"9" * 21, b"-" + b"9" * 20):
        with pytest.raises(ValueError, match="9999"):
            connection._whole(octets)
    assert connection._whole(b"0" * 234 + b"18446744073709551615") == 2**64 - 1


def test_of_the_status_of_innodb(absurd):
    status = f"Log sequence number {absurd}\nLast checkpoint at  1\n"
    assert innodb.redo_in(status, {}) is None
    assert innodb._share(f"Loaded 1/{absurd} pages") is None
    head = f"LIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 7, ACTIVE {absurd} sec\n"
    assert in_status.read(head)[0] == ()
    for line in (
        f"MySQL thread id {absurd}, OS thread",
        f"undo log entries {absurd}",
        f"2 lock struct(s), heap size 1, {absurd} row lock(s)",
        f"------- TRX HAS BEEN WAITING {absurd} us FOR THIS LOCK TO BE GRANTED:",
    ):
        (one,) = in_status.read(head.replace(absurd, "1") + f"{line}\n")[0]
        assert (one.process, one.modified, one.locked, one.waiting) == (0, 0, 0, None)
    section = f"*** (1) TRANSACTION:\nMySQL thread id {absurd}, OS thread handle 1, query id 1 x\n"
    assert [one.connection for one in deadlocks._parties(section)] == [0]


def test_of_replication(absurd):
    error = f"attempt {absurd}/{absurd}, retry-time: {absurd} maximum-retries: {absurd}"
    for numbers in (receiver._ATTEMPT, receiver._LIMIT):
        assert receiver._pair(numbers, SimpleNamespace(error=error)) == (0, 0)
    assert reconnects._NUMBER.search(f"relay.{absurd}") is None
    settings = {"replica_parallel_workers": absurd}
    assert Signals.workers.fget(SimpleNamespace(settings=settings)) is None


def test_of_a_backup(absurd):
    assert list(mydumper._places(f"[master]\nfile = a.000001\nposition = {absurd}\n")) == []
    assert physical._PLACE.search(f"filename 'a.000001', position '{absurd}'") is None
    assert mysqldump._PLACE.search(f"MASTER_LOG_FILE='a.1', MASTER_LOG_POS={absurd}".encode()) is None


def test_of_ndb(absurd, monkeypatch):
    monkeypatch.setattr(ndb_nodes, "configured", lambda *_: {3: absurd, 4: "2"})
    assert ndb_nodes.replicas(None) == 2
    monkeypatch.setattr(ndb_memory, "configured", lambda *_: {3: absurd, 4: "5"})
    ends = next(one for one in vars(ndb_memory).values() if hasattr(one, "ends")).ends
    assert ends(SimpleNamespace(_ndbinfo=None)) == {4: 95.0}
    monkeypatch.setattr(ndb_page_buffer, "configured", lambda *_: {3: absurd})
    with pytest.raises(ProbeError, match="is no number of bytes"):
        ndb_page_buffer._sizes(None)
