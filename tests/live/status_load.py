"""Clients that give a database server something to count."""

import contextlib
import threading

import pymysql

DATABASE = "status_load"
TABLES = 40  # more than the table cache of the tests holds


@contextlib.contextmanager
def database(server):
    """A database with a table without an index, and many small ones."""
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        sql(f"DROP DATABASE IF EXISTS {DATABASE}")
        sql(f"CREATE DATABASE {DATABASE}")
        sql(f"CREATE TABLE {DATABASE}.big (a INT, b TEXT)")
        sql(f"INSERT INTO {DATABASE}.big VALUES (1, 'one')")
        for _ in range(12):
            sql(f"INSERT INTO {DATABASE}.big SELECT a + 1, b FROM {DATABASE}.big")
        for number in range(TABLES):
            sql(f"CREATE TABLE {DATABASE}.small_{number} (a INT)")
    try:
        yield
    finally:
        server.sql(f"DROP DATABASE {DATABASE}")


def scan(server, so_long):
    """Read the whole table for one row, again and again."""
    with server.session() as sql:
        while so_long():
            sql(f"SELECT COUNT(*) FROM {DATABASE}.big WHERE a = 0")


def open_tables(server, so_long):
    """Read from one small table after the other."""
    with server.session() as sql:
        while so_long():
            for number in range(TABLES):
                sql(f"SELECT * FROM {DATABASE}.small_{number}")


def connect(server, so_long):
    """Connect for a single statement."""
    while so_long():
        server.sql("SELECT 1")


def sort_on_disk(server, so_long):
    """Make temporary tables that are on disk: larger than they may be, and with texts."""
    with server.session() as sql:
        sql("SET tmp_table_size = 1024")
        while so_long():
            sql(f"SELECT b, COUNT(*) FROM (SELECT b FROM {DATABASE}.big LIMIT 50) AS some GROUP BY b")


def change(server, so_long):
    """Change rows in transactions, some of which are rolled back."""
    with server.session() as sql:
        while so_long():
            for end in ("COMMIT", "ROLLBACK"):
                sql("BEGIN")
                sql(f"UPDATE {DATABASE}.big SET a = a + 1 LIMIT 100")
                sql(end)


@contextlib.contextmanager
def running(server, *clients):
    """Let these clients work meanwhile, each in a thread of its own; they have begun."""
    enough = threading.Event()
    failures = []

    def work(client, begun):
        def so_long():
            if asked:
                begun.set()
            asked.append(True)
            return not enough.is_set()

        asked = []
        try:
            client(server, so_long)
        except (OSError, pymysql.Error) as failure:
            failures.append(failure)
        finally:
            begun.set()

    threads = []
    for client in clients:
        begun = threading.Event()
        threads.append(threading.Thread(target=work, args=(client, begun), daemon=True))
        threads[-1].start()
        begun.wait(60)
    try:
        yield
        assert not failures
    finally:
        enough.set()
        for thread in threads:
            thread.join(60)
