"""Heartbeats as pt-heartbeat writes them into a source: the time, once a second."""

import threading
from datetime import UTC, datetime, timedelta

TABLE = "lab.heartbeat"
COLUMNS = (
    "ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY, file VARCHAR(255), "
    "position BIGINT UNSIGNED, relay_master_log_file VARCHAR(255), exec_master_log_pos BIGINT UNSIGNED"
)
INTERVAL = 1.0  # seconds between heartbeats: how old one is on a current replica


class Heartbeats:
    """Writes the time into the source once a second, as ``hours`` ahead of UTC have it."""

    def __init__(self, pair, hours=0):
        self.source = pair.source
        self.hours = hours
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        with self.source.session() as sql:
            while not self.ended.is_set():
                write(sql, self.source.number, hours=self.hours)
                self.ended.wait(INTERVAL)


def write(sql, server, *, ago=0.0, hours=0):
    """Write one heartbeat in pt-heartbeat's form: the time has no zone."""
    moment = datetime.now(UTC) + timedelta(hours=hours, seconds=-ago)
    written = moment.replace(tzinfo=None).isoformat(timespec="microseconds")
    row = "(ts, server_id, file, position) VALUES (%s, %s, 'binlog.000001', 4)"
    sql(f"REPLACE INTO {TABLE} {row}", written, server)
