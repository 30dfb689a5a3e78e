"""A stranger with a clean Debian, the package and Debian's own Icinga and Nagios follows the README alone."""

import pytest
from newcomer import Newcomer
from stranger import NODE, OTHER, REPLICA, SOURCE, forget, has_a_cluster, has_a_pair


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
