"""Who writes into the source of a pair all the time, so that the true lag is known."""

import contextlib
import threading
import time

import pymysql


class Writer:
    """Commits to the source again and again, and remembers when: servers and we have the same clock.

    every   seconds between commits
    octets  the size of what is changed with each; the binary log has it twice
    """

    def __init__(self, pair, channel="", *, every=1.0, octets=0):
        self.pair = pair
        self.source = pair.channels[channel].source
        self.table = f"{pair.channels[channel].schema}.beat"
        self.every = every
        self.octets = octets
        self.committed = []  # (number, moment), oldest first
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        columns = "id INT PRIMARY KEY, number BIGINT, filler LONGTEXT"
        with self.source.session() as sql:
            sql(f"CREATE TABLE IF NOT EXISTS {self.table} ({columns})")
            sql(f"REPLACE INTO {self.table} VALUES (1, 0, '')")
        self.pair.catch_up()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        number = 0
        while not self.ended.is_set():
            with contextlib.suppress(OSError, pymysql.Error), self.source.session(seconds=5) as sql:
                while not self.ended.is_set():
                    number += 1
                    sql(f"UPDATE {self.table} SET number = %s, filler = REPEAT('x', %s)", number, self.octets)
                    self.committed.append((number, time.time()))
                    self.ended.wait(self.every)
            self.ended.wait(0.1)

    def true_lag(self):
        """Seconds since the oldest commit that the replica does not show yet; 0.0: it shows all."""
        (row,) = self.pair.replica.sql(f"SELECT number FROM {self.table}")
        now = time.time()
        return max((now - at for number, at in tuple(self.committed) if number > row["number"]), default=0.0)
