"""Servers that the plugins ask, and what can happen to them: the same words for all."""

import contextlib
import os
import signal
import socket
import time

import loopback
import psutil
import pymysql
from mariadb import Mariadb
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql
from subjects import JMX, MYSQL, NDB, SECRET, Place

SOURCES = {
    "mariadb": MYSQL,
    "mysql": MYSQL,
    "lenient": MYSQL,
    "ndb": NDB,
    "jvm": JMX,
}  # who asks each kind of server
USER = "monitor"
TOO_MANY = 1040
SENT = 300  # MB that a server has sent before it is asked: no check takes its count for that of a minute
PATIENCE = 60  # seconds for what comes soon
MOST_WAITING = 3000  # connections that nobody takes; it is at most 4096 (net.core.somaxconn)


def wait_for(condition, seconds=PATIENCE):
    """Until it holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


class Asked:
    """A server: where it is, and what can be done to its process. ``heal`` undoes all of it."""

    user = USER
    password = SECRET

    def __init__(self, server):
        self.server = server
        self.port = server.port

    def place(self, port=None, user=None):
        """Where plugins are sent: to it, or to a link's port."""
        return Place(self.server.host, port or self.port, user or self.user, self.password)

    def suspend(self):
        """Freeze it. NoSuchProcess: it has ended, or does meanwhile."""
        process = psutil.Process(self.server.pid)
        process.suspend()

        def is_stopped():
            status = process.status()
            if status == psutil.STATUS_ZOMBIE:
                raise psutil.ZombieProcess(process.pid)
            return status == psutil.STATUS_STOPPED

        wait_for(is_stopped)

    def resume(self):
        """Let it go on."""
        psutil.Process(self.server.pid).resume()

    def kill(self):
        """Kill it, and wait until its last thread has let go of its port."""
        self.server.stop()
        wait_for(lambda: not loopback.listens(self.port))

    def end(self):
        """Tell it to end, and wait until it takes no connections any more."""
        self.server.process.family[0].send_signal(signal.SIGTERM)
        wait_for(lambda: not loopback.listens(self.port))

    def start_again(self):
        """See that it is a new process."""
        with contextlib.suppress(IndexError, psutil.NoSuchProcess):  # there is none
            self.resume()
        self.server.stop()
        self.server.start()

    @contextlib.contextmanager
    def full(self):
        """Frozen, with as many connections waiting to be taken as the kernel keeps for it."""
        self.suspend()
        try:
            with contextlib.ExitStack() as held:
                for _ in range(MOST_WAITING):
                    try:
                        one = socket.create_connection((self.server.host, self.port), timeout=1)
                    except TimeoutError:
                        break
                    held.enter_context(one)
                else:
                    raise AssertionError
                yield
        finally:
            self.resume()


class SqlAsked(Asked):
    """A MySQL or MariaDB, or the SQL node of a cluster, with an account of plugins that may ask all."""

    def __init__(self, server, grants, heal):
        super().__init__(server)
        self.heal = heal
        self.account(USER, *grants)
        self.send(SENT)

    def account(self, name, *grants, more=""):
        """Make an account whose password is the secret one; gives where plugins are sent as that."""
        self.server.account(name, *grants)
        self.alter(name, "IDENTIFIED BY %s", SECRET)
        if more:
            self.alter(name, more)
        return self.place(user=name)

    def send(self, megabytes):
        """Let it send so much, which it counts."""
        with self.server.session() as sql:
            for _ in range(megabytes):
                sql("SELECT REPEAT('x', 1000000)")

    def alter(self, name, how, *values):
        """Alter an account here alone."""
        with self.server.session() as sql:
            sql("SET sql_log_bin = 0")
            anywhere = "'%%'" if values else "'%'"  # where there are values, %% is a per cent sign
            sql(f"ALTER USER '{name}'@{anywhere} {how}", *values)

    @contextlib.contextmanager
    def setting(self, name, value):
        """A global variable that has this value meanwhile."""
        with self.server.session() as sql:
            before = next(iter(sql(f"SELECT @@GLOBAL.{name} AS it")[0].values()))
            sql(f"SET GLOBAL {name} = {value}")
            try:
                yield
            finally:
                sql(f"SET GLOBAL {name} = {before}")

    @contextlib.contextmanager
    def crowded(self):
        """It has as many connections as it may have."""
        with self.setting("max_connections", 10), contextlib.ExitStack() as held:
            while self._lets_in(held):
                pass
            yield

    def _lets_in(self, held):
        try:
            held.enter_context(self.server.session())  # of root, who gets the very last one, too
        except pymysql.OperationalError as error:
            if error.args[0] != TOO_MANY:
                raise
            return False
        return True

    @contextlib.contextmanager
    def logged_in(self):
        """Somebody is, as the user that plugins are."""
        target = mysql.Target(self.server.host, self.port, user=self.user, password=self.password)
        with mysql.connect(target, Deadline(PATIENCE), known=None):
            yield

    @contextlib.contextmanager
    def starting(self, begun):
        """It starts, after a crash, and is held up as soon as ``begun`` tells; afterwards it has started."""
        self.kill()
        self.server.is_ready = begun  # it is not waited for any longer
        try:
            self.server.start()
            yield
        finally:
            del self.server.is_ready
            self.start_again()

    @property
    def is_mariadb(self):
        """Whether it is one."""
        return isinstance(self.server, Mariadb)

    def is_left_alone(self):
        """Whether no client is left there."""
        return self.server.others() == []


class JvmAsked(Asked):
    """A JVM that wants a password, with one port for all."""

    user = "monitorRole"

    def __init__(self, server):
        super().__init__(server)
        self.password = server.password

    def heal(self):
        """See that it runs."""
        if not self.server.process.family:
            self.start_again()

    def start_again(self):
        """See that it is a new process."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.server.log)  # which tells when it is ready
        super().start_again()

    @contextlib.contextmanager
    def out_of_descriptors(self):
        """It may not open any file, nor take a connection; afterwards it is a new one.

        Once it could not accept, it waits 10 s until it tries again (TCPTransport, OpenJDK 17).
        """
        process = psutil.Process(self.server.pid)
        _, hard = process.rlimit(psutil.RLIMIT_NOFILE)
        process.rlimit(psutil.RLIMIT_NOFILE, (0, hard))
        try:
            assert loopback.listens(self.port)  # Linux has put aside a descriptor for the very next one
            yield
        finally:
            self.start_again()

    def is_left_alone(self):
        """Whether no client is connected."""
        found = psutil.Process(self.server.pid).net_connections("tcp")
        return not any(one.status == "ESTABLISHED" and one.laddr.port == self.port for one in found)
