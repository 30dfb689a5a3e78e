"""A stranger with a clean Debian, the package and Debian's own Icinga and Nagios follows the README alone."""

import pytest
from debian_engines import DebiansIcinga, DebiansNagios
from debian_root import surroundings
from stranger import NODE, OTHER, REPLICA, SOURCE, Stranger, forget, has_a_cluster, has_a_pair


class Newcomer(Stranger):
    """One in a Debian of its own, with servers that are elsewhere: ssh leads out of it."""

    def __init__(self, root, servers):
        super().__init__(root.folder, servers)
        self.root = root
        self.environment = surroundings() | {"HOME": "/root"}
        self.environment["PATH"] = f"{self.programs}:{self.environment['PATH']}"

    def shell(self, line):
        return super().shell(line) if "ssh " in line else self.root.inside("sh", "-ec", f"cd\n{line}")

    def validate(self, line):
        self.root.run(*line.split())

    def icinga(self):
        """Its Icinga."""
        return DebiansIcinga(self.root)

    def nagios(self):
        """Its Nagios."""
        return DebiansNagios(self.root)


@pytest.fixture
def newcomer(monitoring_debian):
    """Gives one for servers by their addresses in the README; the account is removed from them afterwards."""
    known = []

    def newcomer(servers):
        known.extend(servers.values())
        return Newcomer(monitoring_debian, servers)

    yield newcomer
    forget(known)


@pytest.mark.parametrize("pair", ["mariadb"], indirect=True)
@pytest.mark.slow("two engines start in a Debian and check everything")
def test_a_replication_pair_on_the_screen(pair, newcomer):
    has_a_pair(newcomer({SOURCE: pair.source, REPLICA: pair.replica}), pair)


@pytest.mark.slow("two engines start in a Debian and check everything")
def test_an_ndb_cluster_on_the_screen(ndb, newcomer):
    has_a_cluster(newcomer({NODE: ndb.sql_node, OTHER: ndb.sql_node}))
