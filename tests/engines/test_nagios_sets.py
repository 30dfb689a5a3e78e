"""The sets of services for Nagios, on real servers: all is well, then a server does not answer."""

import engine_user
import pytest
from generators.sets import members
from installing import installable
from loopback import free_port
from nagios import COMMANDS, Nagios, elsewhere, shipped

OK, WARNING, CRITICAL, UNKNOWN = range(4)


@pytest.fixture
def stranger(open_path, installed):
    """Gives a Nagios with one of the sets as it is shipped; its addresses lead to these ports on loopback."""
    option_file = open_path / "mysql.cnf"

    def nagios(name, ports, account=None):
        if account:
            write(option_file, account)
        plugins = elsewhere(open_path / "plugins", installed / "lib" / "stallwatch" / "bin", ports)
        files = shipped(open_path / "shipped", plugins, option_file)
        with installable():
            return Nagios(open_path / "nagios", files / COMMANDS.name, files / f"{name}.cfg")

    nagios.option_file = option_file
    return nagios


def write(option_file, account):
    """Let plugins log in as that account."""
    option_file.write_text(f'[client]\nuser="{account.user}"\npassword="{account.password}"\n')
    engine_user.give(option_file)


def states(nagios, *hosts):
    """The state of every service of these hosts, once each was checked."""
    services = [service for service in nagios.services() if service.split("!")[0] in hosts]
    held = nagios.check_all(services)
    return {service: result.state for service, result in held.items()}, held


def are_well(nagios, *hosts):
    """What it holds of these services, none of which is in trouble; asked alone, if all at once was slow."""
    found, held = states(nagios, *hosts)
    for service in [one for one, state in found.items() if state in {CRITICAL, UNKNOWN}]:
        held[service] = nagios.check(service)
        assert held[service].state in {OK, WARNING}, held[service]
    return held


def test_a_replication_pair(stranger, running_pair):
    pair = running_pair("mariadb")
    pair.heal()
    ports = {"192.0.2.11": pair.source.port, "192.0.2.12": pair.replica.port}
    lag = "replica1!Replication lag"
    try:
        with stranger("replication", ports, pair.monitor) as nagios:
            held = are_well(nagios, "db1", "replica1")
            assert held[lag].state == OK
            assert len(held) == 2 * (1 + len(members("mysql"))) + 1
            assert list(nagios.path("state").glob("*.json"))  # here, and not where the machine has its own
            pair.source.stop()
            found, held = states(nagios, "db1")
            assert found.pop("db1!MySQL") == CRITICAL
            assert f"127.0.0.1:{pair.source.port} " in held["db1!MySQL"].output
            assert set(found.values()) == {UNKNOWN}
            write(stranger.option_file, pair.replica.account("bare", "USAGE ON *.*"))
            held = nagios.check_all(["replica1!MySQL", lag])
            assert held["replica1!MySQL"].state in {OK, WARNING}
            assert held[lag].state == UNKNOWN
            assert "denied" in held[lag].output
    finally:
        pair.heal()


def test_a_server_that_is_no_replica_any_more(stranger, running_pair):
    pair = running_pair("mariadb")
    pair.heal()
    with stranger("replication", {"192.0.2.12": pair.source.port}, pair.monitor) as nagios:
        result = nagios.check("replica1!Replication lag")
    assert (result.state, "is not a replica" in result.output) == (CRITICAL, True)


def test_an_ndb_cluster(stranger, ndb):
    node = ndb.sql_node
    account = node.account("mon", "SELECT ON ndbinfo.*")
    with stranger("ndb", {"192.0.2.21": node.port}, account) as nagios:
        assert len(are_well(nagios, "sql1")) == 2 + len(members("ndb"))
        node.stop()
        found, held = states(nagios, "sql1")
    for name in ("sql1!NDB SQL node", "sql1!NDB nodes"):
        assert found.pop(name) == CRITICAL
        assert f"127.0.0.1:{node.port} " in held[name].output
    assert set(found.values()) == {UNKNOWN}


def test_a_cassandra_ring(stranger, cassandra):
    ports = {"192.0.2.51": cassandra.port, "192.0.2.52": free_port()}
    with stranger("cassandra", ports) as nagios:
        assert len(are_well(nagios, "cassandra1")) == 6
        found, _ = states(nagios, "cassandra2")
    assert found.pop("cassandra2!Cassandra") == CRITICAL
    assert list(found.values()) == [UNKNOWN] * 5
