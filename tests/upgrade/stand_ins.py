"""Stands in for servers, JVMs, the host and the clock.

Of the test of upgrades only this and declared.py know the code inside: what moves has to be found here. It
uses what other tests use.
"""

import _socket
import os
import socket
import threading
import time
from pathlib import Path

import backups
import captured_mysql
import fake_host
import fake_proc
import mysql_bytes
import recorded_jvm
import recorded_mysql
from asking_server import Asking, certificate
from stallwatch.sources import jmx, kernel, mysql, ndb_mgm
from stallwatch.sources.mysql import UnreachableError

# Of all status variables the state of check_mysql_status would be large.
FEW = ("Threads_", "Connection", "Max_used", "Handler_read_rnd_next", "Handler_read_key", "Select_scan",
       "Select_full_join", "Table_open_cache_over", "Opened_tables", "Queries", "Questions", "Uptime",
       "Novel")  # fmt: skip
START = 1_795_000_000.0  # Unix time of the first run
RECORDED = Path(__file__).parents[1] / "recorded"
_sleep = time.sleep
_looked_up = _socket.getaddrinfo


class Patch:
    """As pytest's monkeypatch, of a process that ends."""

    setattr = staticmethod(setattr)


class World:
    """Where one run of a plugin takes place; time goes by only if the plugin sleeps.

    ``folder`` is where it runs. ``moved`` are new names of files since the run before, by their old ones.
    """

    def __init__(self, folder):
        self.folder = folder
        self.moved = {}
        self.now = START
        self.slept = []  # who is told of each pause
        self.tell_time(lambda: self.now, self._sleep)
        self._proc(".proc", 4)

    def settle(self):
        """Let there be a host where nothing else was said, which has not been started anew in between."""
        host = fake_host.FakeHost(self.folder / ".proc")
        host.later(time.time() - START)
        host.write()

    def tell_time(self, now, sleep):
        """Let the time be what ``now()`` says. Only the main thread of a plugin sleeps without waiting."""
        main = threading.get_ident()

        def pause(seconds):
            (sleep if threading.get_ident() == main else _sleep)(seconds)

        time.time = time.monotonic = now
        os.uname = lambda: os.uname_result(("Linux", "db1", "6.1", "", "x86_64"))
        time.clock_gettime = lambda _: now()
        time.sleep = pause

    def _sleep(self, seconds):
        self.now += seconds
        for tell in self.slept:
            tell(seconds)

    def replay(self, path, number):
        """Let servers answer as in that run of a recording."""
        run = recorded_mysql.load(path)[number]
        mysql.connect = run.connect
        ndb_mgm.data_nodes = run.data_nodes
        self.tell_time(run.clock, run.clock.sleep)

    def server(self, version, uptime=500_000):
        """Let a captured server answer, which may be changed; it has been up for so long at the start."""
        server = captured_mysql.CapturedMysql(version)
        server.status["Uptime"] = str(uptime + round(self.now - START))
        self.slept.append(lambda seconds: server.later(round(seconds)))
        self.answers(server)
        return server

    def few(self, server):
        """Let a server have a few status variables of those that check_mysql_status judges."""
        server.status = {name: one for name, one in server.status.items() if name.startswith(FEW)}
        return server

    def answers(self, server):
        """Let this server answer who connects."""
        mysql.connect = lambda *_: server

    def refuses(self, what, advice="", number=None):
        """Let nobody get in."""

        def refuse(*_):
            raise UnreachableError(what, advice, number) if number else UnreachableError(what, advice)

        mysql.connect = refuse

    def backup_server(self):
        """Let the server of the recorded backups answer."""
        server = backups.FakeServer(logs=(("binlog.000001", 1_000_000), ("mysql-bin.000001", 1_000_000)))
        self.answers(server)
        return server

    def backup(self, name, moment):
        """Let there be a recorded backup as files, written at that Unix time: its folder."""
        path = backups.copied(name, self.folder / "backup" / name)
        backups.written(path, moment)
        return path

    def jvm(self, beans):
        """Let a JVM answer, of recorded or other beans."""
        known = recorded_jvm.RecordedJvm
        server = known.load(RECORDED / "jmx_thread_pools" / beans) if isinstance(beans, str) else known(beans)
        jmx.connect = lambda *_: server
        return server

    def host(self, processors=4):
        """Let there be a host; ``write()`` lets it be seen."""
        host = fake_host.FakeHost(self.folder / "proc", processors)
        self._proc("proc", processors)
        return host

    def recorded_host(self, folder):
        """Let the host be one that was recorded."""
        self._proc(str(folder), 99)

    def _proc(self, place, processors):
        kernel.PLACE = str(place)
        os.sched_getaffinity = lambda _: set(range(processors))

    def processes(self):
        """Let there be a host with processes, which has been up for 10 000 s at the start."""
        (self.folder / "proc").mkdir()
        proc = fake_proc.FakeProc(self.folder / "proc", Patch)
        proc.later(self.now - START)
        kernel.PLACE = "proc"
        return proc

    def bonds(self, folder):
        """Let the bonds be recorded ones."""
        kernel.BONDS, kernel._NET = str(folder), "/nowhere"

    def listens(self, who, method, *answers):
        """Let a server listen at db1:3306, which asks for the password by that method and then lets in.

        It has the certificate of db1 or of an other server.
        """
        certificates = {name: certificate(self.folder, name) for name in ("db1", "other")}
        listener = socket.create_server(("127.0.0.1", 0))

        def serve():
            while True:
                with listener.accept()[0] as connection:
                    try:
                        Asking(method=method, answers=answers, tls=certificates[who])(connection)
                    except OSError:
                        continue

        def looked_up(host, port, *others, **more):
            here = host in (b"db1", "db1")
            return _looked_up("127.0.0.1", listener.getsockname()[1], *others, **more) if here else []

        threading.Thread(target=serve, daemon=True).start()
        for place in (socket, _socket):  # tcp.py has the inner one
            place.getaddrinfo = looked_up


OK = mysql_bytes.OK
