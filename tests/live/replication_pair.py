"""A source and its replica, of MariaDB or MySQL, with a link between them that can be broken.

    with Pair(folder, "mariadb") as pair:
        pair.link.black_hole()
        print(pair.replica.socket, pair.account("mon", "SLAVE MONITOR"))

By hand: .venv/bin/python tests/live/replication_pair.py mysql [--folder DIR] [--no-gtid] [--channel NAME]
runs until it is interrupted, writes into the source once a second, and prints ports and the rest as a line of
JSON. Its links obey what is written into the file DIR/link: "pass", "black hole", "refuse", "slow 20000"; a
channel's name may stand before it.
"""

import argparse
import concurrent.futures
import contextlib
import itertools
import json
import os
import shutil
import signal
import tempfile
import time
from typing import NamedTuple

import pymysql
from link import Link
from mariadb import Mariadb
from mysql_server import Mysql
from replication_writer import Writer
from sql_server import Account, SqlServer

KINDS = {"mariadb": Mariadb, "mysql": Mysql}
NO_GTID = {"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"}  # of MySQL; MariaDB always has them
TO_NO_GTID = (  # MySQL goes from one mode to the next only
    "gtid_mode = ON_PERMISSIVE", "gtid_mode = OFF_PERMISSIVE", "gtid_mode = OFF",
    "enforce_gtid_consistency = OFF",
)  # fmt: skip
TO_GTID = (
    "enforce_gtid_consistency = ON",
    "gtid_mode = OFF_PERMISSIVE", "gtid_mode = ON_PERMISSIVE", "gtid_mode = ON",
)  # fmt: skip
REPLICATION = Account("replication", "secret of replication")
GRANTS = {  # what a monitoring account needs, all of it
    "mariadb": ("SLAVE MONITOR", "BINLOG MONITOR", "PROCESS", "SELECT ON performance_schema.*"),
    "mysql": ("REPLICATION CLIENT", "PROCESS", "SELECT ON performance_schema.*"),
}


class Channel(NamedTuple):
    """Where a replica gets its data: from a source, through a link, into a schema of that source's own."""

    source: SqlServer
    link: Link
    schema: str


class Pair:
    """A replica, the source of its default channel, and more sources where they are added.

    kind      "mariadb" or "mysql"
    gtid      whether the replica finds its place by GTID
    replica   settings of the replica, source: those of the source: {"replica_parallel_workers": 8}

    ``monitor`` is an account on all servers that may read all there is to read.
    """

    def __init__(self, folder, kind, *, gtid=True, replica=(), source=()):
        self.folder = os.path.abspath(folder)
        self.kind = kind
        self.gtid = gtid
        self.server = KINDS[kind]
        self.off = {} if gtid or kind == "mariadb" else NO_GTID
        self.channels = {}
        self.monitor = None
        self.settings = dict(source)
        self.replica = self.server(os.path.join(self.folder, "replica"), 100, **self.off | dict(replica))
        self.all = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as started:
            with concurrent.futures.ThreadPoolExecutor() as both:
                source = both.submit(self._source, started, "source", self.settings)
                both.submit(started.enter_context, self.replica).result()
            self._add("", source.result(), "lab", started)
            self.all = started.pop_all()
        self.monitor = self.account()
        self.catch_up()
        return self

    def __exit__(self, *_):
        self.all.close()

    @property
    def source(self):
        """The source of the default channel."""
        return self.channels[""].source

    @property
    def link(self):
        """The link of the default channel."""
        return self.channels[""].link

    def add_channel(self, name, **settings):
        """Start another source, for a channel of that name. Returns the Channel."""
        return self._channel(name, settings, self.all)

    @contextlib.contextmanager
    def another_channel(self, name, **settings):
        """Meanwhile there is a channel of that name, with a source of its own. Gives the Channel."""
        shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)  # of an earlier one
        with contextlib.ExitStack() as started:
            try:
                yield self._channel(name, settings, started)
            finally:
                if self.channels.pop(name, None):
                    self.replica.forget(name)
                with self._stopped(), self.replica.session() as sql:
                    sql("SET sql_log_bin = 0")
                    sql(f"DROP DATABASE IF EXISTS {name}")

    @contextlib.contextmanager
    def _stopped(self):
        """Meanwhile nothing is replicated, and the replica has no transactions but those of its sources."""
        self.catch_up()
        for name in self.channels:
            self.replica.stop_replication(name)
        self.replica.keep_transactions_of([channel.source for channel in self.channels.values()])
        try:
            yield
        finally:
            for name in self.channels:
                self.replica.start_replication(name)

    def _channel(self, name, settings, started):
        source = self._source(started, name, settings)
        source.account(self.monitor.user, *GRANTS[self.kind])
        channel = self._add(name, source, name, started)
        self.catch_up()
        return channel

    def _source(self, started, name, settings):
        number = len(self.channels) + 1
        domain = {"gtid_domain_id": number} if self.kind == "mariadb" else {}
        server = self.server(os.path.join(self.folder, name), number, **domain | self.off | settings)
        return started.enter_context(server)

    def _add(self, name, source, schema, started):
        source.account(REPLICATION.user, "REPLICATION SLAVE")
        channel = Channel(source, started.enter_context(Link(source.port)), schema)
        self.channels[name] = channel
        self.replica.follow(name, channel.link.port, REPLICATION, gtid=self.gtid, place=self._place(source))
        self.replica.start_replication(name)
        source.sql(f"CREATE DATABASE {schema}")
        source.sql(f"CREATE TABLE {schema}.mark (at DOUBLE)")
        source.sql(f"INSERT INTO {schema}.mark VALUES (0)")
        return channel

    def _place(self, source):
        return None if self.gtid else source.place()

    @contextlib.contextmanager
    def without_gtids(self):
        """Meanwhile the replica finds its place by file and offset, and MySQL's servers have no GTIDs."""
        self._use_gtids(wanted=False)
        try:
            yield
        finally:
            self.heal()
            self._use_gtids(wanted=True)

    def _use_gtids(self, *, wanted):
        with self._stopped():
            if wanted:
                self._set(TO_GTID)
            self.gtid = wanted
            place = self._place(self.source)
            self.replica.follow("", self.link.port, REPLICATION, gtid=self.gtid, place=place)
            if not wanted:
                self._set(TO_NO_GTID)
        self.catch_up()

    def _set(self, steps):
        if self.kind == "mysql":
            for server, step in itertools.product((self.source, self.replica), steps):
                server.sql(f"SET GLOBAL {step}")

    def account(self, name="mon", *grants):
        """Make an account on the replica and all sources. Without grants it may read all that is read."""
        for one in (self.replica, *(channel.source for channel in self.channels.values())):
            account = one.account(name, *(grants or GRANTS[self.kind]))
        return account

    # coming back to health

    def catch_up(self, seconds=120):
        """Wait until the replica has what its sources have now."""
        until = time.monotonic() + seconds
        for name, channel in self.channels.items():
            now = time.time()
            channel.source.sql(f"UPDATE {channel.schema}.mark SET at = %s", now)
            while self._mark(channel) != now:
                if time.monotonic() > until:
                    raise TimeoutError(f"channel {name!r} does not catch up: {self.replica.channels()[name]}")
                time.sleep(0.05)

    def _mark(self, channel):
        try:
            rows = self.replica.sql(f"SELECT at FROM {channel.schema}.mark")
        except pymysql.Error:  # the table is not there yet
            return None
        return rows[0]["at"] if rows else None

    def heal(self, seconds=180):
        """Undo all trouble that tests make, and wait until the replica has caught up."""
        for channel in self.channels.values():
            channel.link.pass_all()
        for one in (self.replica, *(channel.source for channel in self.channels.values())):
            one.revive()
            one.disconnect_others()
        for name, row in self.replica.channels().items():
            if name not in self.channels:
                self.replica.forget(name)
            elif not self._is_healthy(row, self.channels[name]):
                self._repair(name, row)
        self.catch_up(seconds)
        if self.kind == "mysql" and self.replica.has_own_transactions():
            with self._stopped():
                pass

    @staticmethod
    def _is_healthy(row, channel):
        threads = (row["Replica_IO_Running"], row["Replica_SQL_Running"])
        return threads == ("Yes", "Yes") and (row["Source_Port"], row["SQL_Delay"]) == (channel.link.port, 0)

    def _repair(self, name, row):
        self.replica.stop_replication(name)
        place = None if self.gtid else (row["Relay_Source_Log_File"], row["Exec_Source_Log_Pos"])
        port = self.channels[name].link.port
        self.replica.follow(name, port, REPLICATION, gtid=self.gtid, place=place)
        self.replica.start_replication(name)


def obey(pair, words):
    """Do to a link what a line says: "[CHANNEL] pass", "black hole", "refuse", "slow OCTETS_PER_SECOND"."""
    words = words.split()
    link = pair.channels[words.pop(0)].link if words and words[0] in pair.channels else pair.link
    match words:
        case ["pass"]:
            link.pass_all()
        case ["black", "hole"]:
            link.black_hole()
        case ["refuse"]:
            link.refuse()
        case ["slow", rate]:
            link.slow(int(rate))


def keep_running(pair, channels):
    """Run it until we are interrupted or terminated, and obey what is written into the file "link"."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    orders, seen = os.path.join(pair.folder, "link"), None
    with contextlib.suppress(KeyboardInterrupt), pair:
        for name in channels:
            pair.add_channel(name)
        sources = {name or "source": channel.source for name, channel in pair.channels.items()}
        about = {
            name: {"port": one.port, "socket": one.socket, "pid": one.pid, "log": one.log}
            for name, one in {"replica": pair.replica, **sources}.items()
        }
        more = {"link": {"port": pair.link.port, "orders": orders}, "account": pair.monitor._asdict()}
        print(json.dumps(about | more), flush=True)  # noqa: T201
        with Writer(pair):
            while True:
                time.sleep(0.2)
                with contextlib.suppress(FileNotFoundError), open(orders) as file:
                    if (order := file.read()) != seen:
                        seen = order
                        obey(pair, order)


def main():
    """Run one in the foreground."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("kind", choices=KINDS)
    add("--folder", help="where it lives; without it, a folder that goes with it")
    add("--no-gtid", action="store_true", help="the replica finds its place by file and offset")
    add("--replica", action="append", default=[], metavar="NAME=VALUE", help="a setting of the replica")
    add("--source", action="append", default=[], metavar="NAME=VALUE", help="a setting of the source")
    add("--channel", action="append", default=[], metavar="NAME", help="one more source")
    options = parser.parse_args()
    with contextlib.ExitStack() as folder:
        place = options.folder or folder.enter_context(tempfile.TemporaryDirectory(prefix="pair-"))
        settings = {
            name: dict(one.split("=", 1) for one in getattr(options, name)) for name in ("replica", "source")
        }
        keep_running(Pair(place, options.kind, gtid=not options.no_gtid, **settings), options.channel)


if __name__ == "__main__":
    main()
