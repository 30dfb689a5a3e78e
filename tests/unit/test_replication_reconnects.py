"""A receiver that comes and goes is told; one that came back once, full relay logs, FLUSH LOGS are not."""

from types import SimpleNamespace

import pytest
from fake_replica import FLAVOURS
from replication_snapshots import channel
from stallwatch.probes.replication_lag import reconnects
from stallwatch.probes.replication_lag.model import Position
from stallwatch.sources.mysql import DeniedError, UnreachableError

MIB = 1 << 20


class Server:
    """Answers how often a receiver came back, or what a person did."""

    def __init__(self, flavour, *, times=0, quiet=5, commands=0, error=None):
        self.flavour = FLAVOURS[flavour]
        self.commands, self.error = commands, error
        self.connections = {"times": times, "seconds": 120, "quiet": quiet}
        self.asked = []

    def rows(self, sql, *arguments, within):
        self.asked.append((sql, arguments))
        assert within <= 1.0
        if self.error:
            raise self.error
        if "error_log" in sql:
            return [self.connections]
        return [{"Variable_name": "Com_flush", "Value": str(self.commands)}]


def looks(server, *logs, memory=None, every=60.0, octets=1000):
    """What the last of several looks finds; each saw the relay log of this number."""
    memory, found = {} if memory is None else memory, None
    for place, number in enumerate(logs):
        at = Position("bin.000001", place * octets)
        one = channel(relay_log=f"relay.{number:06}", applied=at)
        found = reconnects.look(memory, one, server, 1000.0 + place * every)
    return found


def test_mysql_counts_them_itself():
    found = looks(Server("MySQL", times=4), 7, 9)
    assert found == (4, 120.0, 5.0, True)


def test_the_channel_s_own_are_counted():
    server = Server("MySQL", times=4)
    memory = {"number": 7, "place": {"file": "bin.000001", "offset": 0}, "begun": [], "first": 700.0}
    reconnects.look(memory, channel(name="east", relay_log="relay-east.000009"), server, 1000.0)
    assert server.asked[0][1] == (300, "%channel 'east'%")


def test_what_was_before_the_first_look_does_not_count():
    server = Server("MySQL", times=4)
    looks(server, 7, 8, 9)
    assert [since for _, (since, _) in server.asked] == [60, 120]


def test_one_restart_of_the_source_is_none():
    assert looks(Server("MySQL", times=1), 7, 8) is None
    assert looks(Server("MySQL", times=2), 7, 8, 9) is None


def test_full_relay_logs_are_none():
    server = Server("MySQL", times=0)
    assert looks(server, 7, 8, 9, 10, octets=900 * MIB) is None
    assert server.asked == []


def test_what_was_long_ago_is_over():
    assert looks(Server("MySQL", times=5, quiet=400), 7, 9) is None


def test_nothing_is_asked_while_the_relay_log_stays():
    server = Server("MySQL", times=9)
    assert looks(server, 7, 7, 7) is None
    assert server.asked == []


def test_mariadb_s_are_only_likely():
    found = looks(Server("MariaDB"), 7, 8, 9, 10)
    assert found == (3, 120.0, 0.0, False)


def test_of_mariadb_two_are_too_few_and_old_ones_do_not_count():
    assert looks(Server("MariaDB"), 7, 8, 9) is None
    assert looks(Server("MariaDB"), 7, 8, 9, 10, every=400.0) is None


def test_what_a_person_began_is_none():
    server, memory = Server("MariaDB"), {}
    for number in range(7, 13):
        server.commands += 1  # FLUSH LOGS, STOP and START SLAVE
        found = looks(server, number, memory=memory)
        assert found is None


def test_an_old_mysql_tells_nothing():
    assert looks(Server("MySQL 5.7", times=9), 7, 12) is None


def test_what_is_denied_costs_no_more_than_this():
    denied = DeniedError("db2 denied it", "GRANT SELECT ON performance_schema.*")
    assert looks(Server("MySQL", times=9, error=denied), 7, 12) is None
    with pytest.raises(UnreachableError):
        looks(Server("MySQL", error=UnreachableError("gone")), 7, 12)


@pytest.mark.parametrize(
    "kept", [{"number": "x"}, {"begun": [["a", 1], 3]}, {"place": 7, "number": 1}, {"begun": 4}]
)
def test_a_damaged_memory_is_none(kept):
    assert looks(SimpleNamespace(flavour=FLAVOURS["MySQL"]), 7, memory=kept) is None
