"""A MySQL or MariaDB server of the tests, in a folder of its own, that may replicate from others."""

import contextlib
import os
import shutil
import signal
import socket
from typing import NamedTuple

import pymysql
from loopback import free_port, wait_until
from server_process import Server

AS_ROOT = ["--user=root"] if os.geteuid() == 0 else []  # else both refuse to run as root
SMALL = {  # what both understand; durable writes would only wear the disk
    "innodb_buffer_pool_size": "32M",
    "innodb_flush_log_at_trx_commit": 2,
    "sync_binlog": 0,
    "table_open_cache": 400,
    "max_connections": 60,
    "binlog_format": "ROW",
    "skip_name_resolve": "ON",
}


def unlock(path):
    """Remove what a mysqld that was killed has left beside its socket.

    The next one looks whether there is a process of that number, which there is until its parent has noticed
    its end (MySQL 9.7.2: "Another process ... is using unix socket file").
    """
    with contextlib.suppress(FileNotFoundError):
        os.remove(f"{path}.lock")


class Account(NamedTuple):
    """Who may ask a server."""

    user: str
    password: str


ROOT = Account("root", "")
HEARS = 5  # seconds in which a server that is well reads that a session is left


class SqlServer(Server):
    """A server with an empty root password. A subclass says how it is made, called and told to replicate."""

    host = "127.0.0.1"

    def __init__(self, folder, number=1, **settings):
        self.folder = os.path.abspath(folder)
        self.number = number  # its server_id
        self.settings = SMALL | self.defaults | settings
        self.variables = {}  # more in its environment
        self.port = free_port()
        self.socket = self.path("socket")
        self.log = self.path("log")
        self.data = self.path("data")

    # starting and stopping

    def start(self):
        """Start it, with the data it had or else with none, and wait until it answers."""
        if not os.path.isdir(self.data):
            os.makedirs(self.folder, exist_ok=True)
            shutil.copytree(self.template(), self.data)
        own = {
            "datadir": self.data, "socket": self.socket, "port": self.port, "bind_address": self.host,
            "pid_file": self.path("pid"), "server_id": self.number, "log_bin": "binlog",
            "relay_log": "relay", "tmpdir": self.folder,
        }  # fmt: skip
        options = [f"--{name}={value}" for name, value in (own | self.settings).items()]
        unlock(self.socket)
        self.launch([*self.program(), *AS_ROOT, *options], cwd=self.folder, env=os.environ | self.variables)

    def suspend(self):
        """Stop its process, all of it: connections are taken by the kernel, and nobody answers."""
        self.process.family[0].send_signal(signal.SIGSTOP)
        wait_until(lambda: _states(self.pid) == {"T"}, 30, self.process, self.log)

    def resume(self):
        """Let its process go on."""
        self.process.family[0].send_signal(signal.SIGCONT)

    def revive(self):
        """See that it runs: let it go on, or start it again."""
        if self.process.family:
            self.resume()
        else:
            self.start()

    @property
    def pid(self):
        """The process id of the server."""
        return self.process.family[0].pid

    def path(self, *parts):
        """A path below its folder."""
        return os.path.join(self.folder, *parts)

    # asking

    def is_ready(self):
        """Whether it does."""
        with contextlib.suppress(OSError, pymysql.Error):
            return bool(self.sql("SELECT 1"))
        return False

    @contextlib.contextmanager
    def session(self, account=ROOT, *, seconds=60):
        """A session over the socket: what is given takes (statement, *values) and gives rows as dictionaries.

        A statement may take so many seconds. Once it is left, the server has read its COM_QUIT: that would be
        counted among the statements of whoever comes next.
        """
        connection = pymysql.Connection(
            user=account.user, password=account.password, read_timeout=seconds, autocommit=True,
            cursorclass=pymysql.cursors.DictCursor,
            defer_connect=True,
            ssl_disabled=True,  # to read all authorities takes 29 ms of processor time
        )  # fmt: skip
        connection._secure = True  # as PyMySQL says of a socket that it opens itself: passwords may be sent

        def sql(statement, *values):
            with connection.cursor() as cursor:
                cursor.execute(statement, values or None)
                return list(cursor.fetchall())

        with socket.socket(socket.AF_UNIX) as link:  # ours: it would not close what breaks
            link.connect(self.socket)
            connection.connect(link)
            with link.dup() as until_closed:
                with connection:
                    yield sql
                until_closed.settimeout(HEARS)
                with contextlib.suppress(OSError):  # it hangs, or is dead
                    until_closed.recv(1)

    def sql(self, statement, *values, seconds=60):
        """The rows of one statement in a session of its own."""
        with self.session(seconds=seconds) as sql:
            return sql(statement, *values)

    def account(self, name, *grants):
        """Make an account, not in the binary log: account("mon", "PROCESS", "SELECT ON lab.*")."""
        account = Account(name, f"secret of {name}")
        with self.session() as sql:
            sql("SET sql_log_bin = 0")
            sql(f"DROP USER IF EXISTS '{name}'@'%'")
            sql(f"CREATE USER '{name}'@'%' IDENTIFIED BY '{account.password}'")
            for grant in grants:
                privilege, _, on = grant.partition(" ON ")
                sql(f"GRANT {privilege} ON {on or '*.*'} TO '{name}'@'%'")
        return account

    def others(self):
        """The sessions of clients, but for our own, as rows of the process list."""
        return self.sql(
            "SELECT id, user, command, time, state, info FROM information_schema.processlist "
            "WHERE id != CONNECTION_ID() AND command NOT IN ('Daemon', 'Slave_IO', 'Slave_SQL', "
            "'Slave_worker', 'Connect', 'Query for replication') AND command NOT LIKE 'Binlog Dump%' "
            "AND user NOT IN ('system user', 'event_scheduler')"
        )

    def disconnect_others(self):
        """End the sessions of all clients: what they hold is let go."""
        for row in self.others():
            with contextlib.suppress(pymysql.Error):  # it ended by itself
                self.sql(f"KILL {row.get('id') or row['ID']}")


def _states(pid):
    """The states of a process's threads, as the kernel calls them."""
    states = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        ended = contextlib.suppress(FileNotFoundError, ProcessLookupError)
        with ended, open(f"/proc/{pid}/task/{thread}/stat") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states
