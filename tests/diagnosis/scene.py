"""What a case is played on: a pair of servers, who writes, who is asked, and hands to make trouble with."""

import contextlib
import os
import time

import places  # noqa: F401 - it says where the rest is

# isort: split
import pymysql
from link import Link
from replication_pair import GRANTS, REPLICATION, Channel
from replication_writer import Writer

WRITES = 0.5  # seconds between commits, where a case does not say otherwise
TABLE = "lab.beat"  # what the writer writes to
SETTLES = 60  # seconds in which a session that is to wait does so


class Scene:
    """A case sets it up and makes trouble on it.

    pair      the servers; ``source`` and ``replica`` are those of the pair
    watched   the server that the check is asked about
    upstream  the one that --source names
    above     others that it names, too
    options   more options of the check
    account   who the check logs in as
    delay     seconds that the replica is to be behind
    """

    def __init__(self, pair, folder):
        self.pair = pair
        self.folder = folder
        self.kind = pair.kind
        self.source, self.replica, self.link = pair.source, pair.replica, pair.link
        self.watched, self.upstream = pair.replica, pair.source
        self.above = []
        self.options = []
        self.account = pair.monitor
        self.delay = 0.0
        self.writer = None
        self.note = print  # notes that something happens now: "evident"
        self.replication = REPLICATION
        self.kept = contextlib.ExitStack()  # what is given back at the end of the trial

    @property
    def is_mysql(self):
        """Whether it is MySQL; else it is MariaDB."""
        return self.kind == "mysql"

    # who writes

    def load(self, every=WRITES, octets=0):
        """Have commits made every so many seconds, each with so many octets."""
        self.writer = self.kept.enter_context(Writer(self.pair, every=every, octets=octets))

    # replication

    def follow(self, **more):
        """Point the replica at its source anew: all as it should be, but for ``more``."""
        self.replica.stop_replication()
        account = more.pop("account", REPLICATION)
        port = more.pop("port", self.link.port)
        self.replica.follow("", port, account, gtid=self.pair.gtid, **more)
        self.replica.start_replication()

    def skip_to_the_source(self):
        """Take it that the replica has all that its source has: what it lacks cannot be had any more."""
        self.replica.stop_replication()
        if self.is_mysql:
            [row] = self.source.sql("SELECT @@GLOBAL.gtid_executed AS them")
            self.replica.sql("RESET BINARY LOGS AND GTIDS")
            self.replica.sql("SET GLOBAL gtid_purged = %s", row["them"])
        else:
            [row] = self.source.sql("SELECT @@GLOBAL.gtid_binlog_pos AS them")
            self.replica.sql("RESET MASTER")
            self.replica.sql("SET GLOBAL gtid_slave_pos = %s", row["them"])
        self.replica.start_replication()

    # sessions

    @contextlib.contextmanager
    def holding(self, *statements, server=None):
        """Meanwhile a session on the replica has run these and holds what they took. Gives its connection."""
        with (server or self.replica).session(seconds=600) as sql:
            for statement in statements:
                sql(statement)
            [row] = sql("SELECT CONNECTION_ID() AS id")
            try:
                yield row["id"]
            finally:
                with contextlib.suppress(OSError, pymysql.Error):  # somebody has ended it
                    sql("UNLOCK TABLES")
                    sql("ROLLBACK")

    def not_logged(self, server, *statements):
        """Run statements that the binary log does not get."""
        with server.session(seconds=600) as sql:
            sql("SET sql_log_bin = 0")
            for statement in statements:
                sql(statement)

    def table(self, name, columns, *rows):
        """Make a table with rows on the source, and wait for it on the replica."""
        with self.source.session() as sql:
            sql(f"DROP TABLE IF EXISTS lab.{name}")
            sql(f"CREATE TABLE lab.{name} ({columns})")
            if rows:
                sql(f"INSERT INTO lab.{name} VALUES {','.join(rows)}")
        self.pair.catch_up()

    # servers

    def restart(self, server, *, grace=30, pause=0.0):
        """End a server in order, and start it again after so many seconds."""
        server.stop(grace)
        time.sleep(pause)
        server.start()

    def third_server(self, name="leaf", number=200, **settings):
        """Start a server that replicates from the replica: the end of a chain."""
        server = self.pair.server(os.path.join(self.pair.folder, name), number, **settings)
        self.kept.enter_context(server)
        self.replica.account(REPLICATION.user, "REPLICATION SLAVE")
        server.follow("", self.replica.port, REPLICATION)
        server.start_replication()
        server.account(self.account.user, *GRANTS[self.kind])
        return server

    def switch_roles(self):
        """Let the source replicate from the replica: as if they had changed places long ago."""
        pair, old, new = self.pair, self.source, self.replica
        pair.catch_up()
        pair.replica.forget("")
        new.account(REPLICATION.user, "REPLICATION SLAVE")
        link = self.kept.enter_context(Link(new.port))
        pair.channels[""] = Channel(new, link, "lab")
        pair.replica = old
        if not self.is_mysql:
            old.sql("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos")
        old.follow("", link.port, REPLICATION)
        old.start_replication()
        self.source, self.replica, self.link = new, old, link
        self.watched, self.upstream = old, new
        pair.catch_up()

    def wait_for(self, true, seconds=SETTLES):
        """Wait until something is true."""
        until = time.monotonic() + seconds
        while not true():
            if time.monotonic() > until:
                raise TimeoutError("what was to be waited for did not come")
            time.sleep(0.2)
