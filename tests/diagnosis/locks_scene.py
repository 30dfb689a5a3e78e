"""What a case of locks is played on: a server with the table shop.orders, and clients that are well."""

import contextlib
import threading

import places  # noqa: F401 - it says where the rest is

# isort: split
import lock_scenes
import pymysql
from loopback import wait_until

UPDATE = "UPDATE shop.orders SET state = 8 WHERE id = 1"
POOLED = 3  # idle connections that ask something now and then, as those of a pool
PINGS = 2.0  # seconds between their questions
AGAIN = 10  # times that a waiter tries again after error 1205


class Scene(lock_scenes.Scene):
    """A case makes trouble on it.

    server   whom the check is asked about: the source, until the case says ``on_the_replica``
    heads    the connections that block others; 0: a transaction without a connection
    may_end  others whose KILL helps, too
    options  more options of the check
    kept     what is given back at the end of the trial
    """

    def __init__(self, pair):
        super().__init__(pair.source)
        self.pair = pair
        self.is_mysql = pair.kind == "mysql"
        self.heads, self.may_end, self.options = [], [], []
        self.note = print  # notes that something happens now: "evident"
        self.kept = contextlib.ExitStack()
        self._disk = contextlib.ExitStack()
        self._over = threading.Event()
        self._beside = []

    def __enter__(self):
        super().__enter__()
        self.server.sql(
            "INSERT INTO shop.orders WITH RECURSIVE n AS (SELECT 10 i UNION ALL SELECT i + 10 FROM n"
            " WHERE i < 1000) SELECT i, i FROM n"
        )
        self._start_others()
        return self

    def __exit__(self, *error):
        self._over.set()
        for thread in self._beside:
            thread.join()
        super().__exit__(*error)
        self.pair.source.sql("DROP DATABASE shop")
        self._disk.close()

    def on_the_replica(self):
        """Let the check look at the replica, which has all that the source has."""
        self.pair.catch_up()
        self.server = self.pair.replica
        self.report, self.app = self.server.account("report", "ALL"), self.server.account("app", "ALL")
        self._start_others()

    def move_to(self, disk):
        """Have the server's folder on a disk of its own, until the end of the trial."""
        self.server.stop(30)
        self._disk.enter_context(disk)
        self._disk.callback(self.server.stop, 30)
        self.server.settings["tmpdir"] = self.pair.folder
        self.server.start()
        self._start_others()

    def _start_others(self):
        """Connect clients that have nothing to do with any fault: idle ones, and a pool."""
        self.kept.enter_context(self.server.session(self.app, seconds=600))
        for _ in range(POOLED):
            self.beside(self._pooled)

    def _pooled(self):
        with self.server.session(self.app, seconds=600) as sql:
            while not self._over.wait(PINGS):
                sql("SELECT 1")

    # what happens meanwhile

    def beside(self, work):
        """Do something beside what goes on, until the end of the trial or until it is ended."""

        def run():
            with contextlib.suppress(pymysql.Error, OSError, ValueError):
                work()

        thread = threading.Thread(target=run, daemon=True)
        self._beside.append(thread)
        thread.start()

    def until_over(self, seconds):
        """Wait so many seconds; whether the trial goes on."""
        return not self._over.wait(seconds)

    def crowd(self, number, statement=UPDATE, *, is_sure=False):
        """Let so many clients begin a statement that waits. The fault is there with the first of them.

        is_sure  nobody has to look whether it waits: a server without a disk may not answer
        """
        for place in range(number):
            client = self.client(self.app)
            client.begin(*[statement] * AGAIN)
            if place == 0:
                if not is_sure:
                    wait_until(client.waits, 30, self.server.process, self.server.log)
                self.note("evident")

    def blocks(self, *heads):
        """Note who is at the head."""
        self.heads += heads

    def release(self):
        """End all clients of the case."""
        for one in self.clients:
            with contextlib.suppress(pymysql.Error):  # it has ended
                self.server.sql(f"KILL {one.id}")
        for row in self.server.sql("XA RECOVER"):
            self.server.sql("XA ROLLBACK %s", row["data"])
