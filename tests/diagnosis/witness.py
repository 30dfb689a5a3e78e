"""Who looks at a replica all the time, to know later what it showed when."""

import threading
import time

import places  # noqa: F401 - it says where the rest is
import pymysql
from truth import Seen

PACE = 0.25  # seconds between looks at the replica
PATIENCE = 5  # seconds that a look may take: a frozen server answers nothing


class Witness:
    """Looks at a replica again and again, until it is left: ``seen`` is what it showed."""

    def __init__(self, replica, table):
        self.replica = replica
        self.table = table
        self.seen = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _run(self):
        while not self._ended.wait(PACE):
            try:
                with self.replica.session(seconds=PATIENCE) as sql:
                    self._look(sql)
            except (OSError, pymysql.Error, IndexError):  # it is down, frozen, or has no such row yet
                continue

    def _look(self, sql):
        while not self._ended.is_set():
            asked = time.time()
            [row] = sql(f"SELECT number FROM {self.table}") or [{"number": 0}]
            self.seen.append(Seen(asked, time.time(), row["number"]))
            self._ended.wait(PACE)
