"""Clients that fill a redo log until they have to wait for it."""

import contextlib
import random
import threading

from mariadb import Mariadb
from sql_server import ROOT

SLOW = {  # flushing that writers outrun, as on a slow disk
    "innodb_buffer_pool_size": "64M", "innodb_adaptive_flushing": "OFF", "innodb_io_capacity": 100,
    "innodb_io_capacity_max": 100,
}  # fmt: skip
SMALL = {"mariadb": {"innodb_log_file_size": "16M"}, "mysql": {"innodb_redo_log_capacity": "8M"}}
ROWS, WRITERS = 8000, 4


def counter(server):
    """What is to be enabled for waits to be counted."""
    return "buffer_flush_sync%" if isinstance(server, Mariadb) else "log_on_file_space_waits"


def filled(server):
    """Make a table of pages that are all to be changed again and again."""
    server.sql("CREATE DATABASE lab")
    server.sql("CREATE TABLE lab.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, pad VARCHAR(2000))")
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        for _ in range(ROWS // 500):
            values = ", ".join(f"({random.randrange(10**9)}, REPEAT('x', 1500))" for _ in range(500))
            sql(f"INSERT INTO lab.t (a, pad) VALUES {values}")


@contextlib.contextmanager
def writing(server):
    """Let clients write, each to rows of its own, faster than pages can be flushed."""
    enough = threading.Event()

    def write(number):
        with server.session(ROOT, seconds=120) as sql:
            sql("SET sql_log_bin = 0")
            while not enough.is_set():
                low = number * ROWS // WRITERS + random.randrange(ROWS // WRITERS - 110)
                some = f"id BETWEEN {low} AND {low + 100}"
                sql(f"UPDATE lab.t SET a = a + 1, pad = REPEAT('{number}', 1500) WHERE {some}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for one in writers:
        one.start()
    try:
        yield
    finally:
        enough.set()
        for one in writers:
            one.join()
