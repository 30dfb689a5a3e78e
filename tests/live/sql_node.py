"""The SQL node of the tests' MySQL NDB Cluster: a mysqld that shows the data nodes in its schema ndbinfo."""

import contextlib

import pymysql
from loopback import wait_until
from mysql_server import Mysql

MONITOR = ("mon", "SELECT ON ndbinfo.*")  # an account, with all that it needs


class SqlNode(Mysql):
    """A mysqld that takes part in a cluster."""

    defaults = Mysql.defaults | {
        "ndbcluster": "ON",
        "ndb_wait_connected": 5,  # while the cluster is down; of both the default is 120,
        "ndb_wait_setup": 5,  # and until then it refuses all connections
        "max_connections": 200,
    }
    boot = 300  # seconds at most; it takes 3

    def __init__(self, folder, node, connectstring, certificates, **settings):
        own = {
            "ndb_nodeid": node,
            "ndb_connectstring": connectstring,
            "ndb_tls_search_path": certificates,
        }
        super().__init__(folder, node, **own | settings)

    def data_nodes(self):
        """The numbers of the data nodes that ndbinfo shows as started."""
        with contextlib.suppress(OSError, pymysql.Error):
            rows = self.sql("SELECT node_id FROM ndbinfo.nodes WHERE status = 'STARTED'", seconds=10)
            return sorted(row["node_id"] for row in rows)
        return []

    def wait_for(self, nodes, seconds=180):
        """Wait until ndbinfo answers for these data nodes and no other, and tables can be used."""
        wait_until(
            lambda: self.data_nodes() == sorted(nodes) and self.has_tables(),
            seconds, self.process, self.log,
        )  # fmt: skip

    def has_tables(self):
        """Whether tables of the cluster can be used: after a failure that comes later than ndbinfo."""
        with contextlib.suppress(OSError, pymysql.Error):
            return bool(self.sql("SELECT COUNT(*) FROM mysql.ndb_apply_status", seconds=10))
        return False

    def has_arbitrator(self):
        """Whether all data nodes that answer have one that runs."""
        with contextlib.suppress(OSError, pymysql.Error):
            rows = self.sql("SELECT arb_state, arb_connected FROM ndbinfo.membership", seconds=10)
            return {(row["arb_state"], row["arb_connected"]) for row in rows} == {("ARBIT_RUN", "Yes")}
        return False

    def heal(self, nodes):
        """See that it runs, shows these data nodes, and has no sessions."""
        self.revive()
        try:
            self.sql("SET GLOBAL ndbinfo_offline = OFF")
            self.disconnect_others()
            self.wait_for(nodes, 30)
        except (TimeoutError, pymysql.Error):
            # Started without a cluster, 9.7.2 once was silent on ndbinfo when it had one.
            self.stop()
            self.start()
            self.wait_for(nodes)
