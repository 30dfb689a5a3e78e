"""Loads for the tests' MySQL NDB Cluster, each through its SQL node, in the schema "lab".

disk_table(node)
with random_reads(node):
    look()
"""

import contextlib
import itertools
import random
import threading

import pymysql

FULL = 1114  # The table is full
ROWS = 20000  # of the table on disk: 20 MB
BIG_BATCHES = (
    "ndb_batch_size = 16777216"  # a statement's rows go to the data nodes at once, not 32 KB at a time
)


def statements(node, count, work):
    """Meanwhile so many sessions do work(sql, number) again and again; after an error, in a new session.

    Gives a list to which the numbers of all errors are added.
    """
    ended = threading.Event()
    errors = []

    def run(number):
        while not ended.is_set():
            try:
                with node.session() as sql:
                    sql(f"SET {BIG_BATCHES}")
                    while not ended.is_set():
                        work(sql, number)
            except pymysql.Error as error:
                errors.append(error.args[0])
                ended.wait(0.05)

    return _threads(run, count, ended, errors)


@contextlib.contextmanager
def _threads(run, count, ended, errors):
    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _schema(sql):
    sql("CREATE DATABASE IF NOT EXISTS lab")


# a table on disk, and reads of it


def disk_table(node):
    """Make the table lab.t1 if it is not there: data1 and data2 are on disk, a good 1 KB per row."""
    with node.session() as sql:
        _schema(sql)
        if not sql("SHOW TABLES FROM lab LIKE 't1'"):
            _tablespace(sql)
            _t1(sql)


def _tablespace(sql):
    sql("CREATE LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_1.log' INITIAL_SIZE 64M UNDO_BUFFER_SIZE 2M ENGINE NDB")
    sql("CREATE TABLESPACE ts_1 ADD DATAFILE 'data_1.dat' USE LOGFILE GROUP lg_1 INITIAL_SIZE 64M ENGINE NDB")


def _t1(sql):
    sql(
        "CREATE TABLE lab.t1 (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, "
        "data1 VARCHAR(512), data2 VARCHAR(512)) CHARSET latin1 "  # on disk a column takes all of its width
        "TABLESPACE ts_1 STORAGE DISK ENGINE NDB"
    )
    sql(f"SET {BIG_BATCHES}")
    for first in range(1, ROWS, 1000):
        rows = (f"({number}, REPEAT('a', 512), REPEAT('b', 512))" for number in range(first, first + 1000))
        sql(f"INSERT INTO lab.t1 VALUES {', '.join(rows)}")


def random_reads(node, readers=4, rows=50):
    """Meanwhile so many sessions read so many rows of lab.t1 per statement, at random."""

    def read(sql, _):
        chosen = ", ".join(str(random.randint(1, ROWS)) for _ in range(rows))
        sql(f"SELECT COUNT(data1), COUNT(data2) FROM lab.t1 WHERE id IN ({chosen})")

    return statements(node, readers, read)


# big rows, written


def blob_table(node):
    """Make the table lab.blobs if it is not there, in memory, for rows of 8 KB."""
    with node.session() as sql:
        _schema(sql)
        columns = "id INT PRIMARY KEY, data VARCHAR(8000)"
        sql(f"CREATE TABLE IF NOT EXISTS lab.blobs ({columns}) CHARSET latin1 ENGINE NDB")


def blob_writes(node, writers=4, rows=400):
    """Meanwhile so many sessions write so many rows of 8 KB per statement: each the same rows, anew."""
    turns = itertools.count()

    def write(sql, number):
        letter = "abcdefgh"[next(turns) % 8]
        first = number * rows
        values = ", ".join(f"({first + row}, REPEAT('{letter}', 8000))" for row in range(rows))
        sql(f"REPLACE INTO lab.blobs VALUES {values}")

    return statements(node, writers, write)


# memory, filled


@contextlib.contextmanager
def filled_memory(node, share=1.0):
    """DataMemory is used to that share meanwhile, or as far as it goes. Gives the error that ended it."""
    with node.session() as sql:
        _schema(sql)
        columns = "id INT AUTO_INCREMENT PRIMARY KEY, data VARCHAR(8000)"
        sql(f"CREATE TABLE lab.filler ({columns}) CHARSET latin1 ENGINE NDB")
        try:
            yield _fill(sql, share)
        finally:
            sql("DROP TABLE lab.filler")


def _fill(sql, share):
    """Fill the table; the number of the error, or None where the share is reached without one."""
    error = None
    for rows in (200, 20, 1):  # a statement that does not fit leaves nothing
        values = ", ".join(["(REPEAT('x', 8000))"] * rows)
        try:
            while memory_used(sql) < share:
                sql(f"INSERT INTO lab.filler (data) VALUES {values}")
        except pymysql.Error as failure:
            error = failure.args[0]
            if error != FULL:
                raise
    return error


def memory_used(sql):
    """The share of DataMemory that is used, of the data node that has least left."""
    rows = sql("SELECT used / total AS share FROM ndbinfo.memoryusage WHERE memory_type = 'Data memory'")
    return float(max(row["share"] for row in rows))


# transactions that are in the way


@contextlib.contextmanager
def open_transaction(node):
    """A transaction has changed a row of lab.seats and idles meanwhile. Gives its connection's number."""
    with node.session() as sql:
        _schema(sql)
        sql("CREATE TABLE IF NOT EXISTS lab.seats (id INT PRIMARY KEY, taken INT) ENGINE NDB")
        sql("REPLACE INTO lab.seats VALUES (1, 0)")
        sql("BEGIN")
        sql("UPDATE lab.seats SET taken = 1 WHERE id = 1")
        (row,) = sql("SELECT CONNECTION_ID() AS number")
        try:
            yield row["number"]
        finally:
            sql("ROLLBACK")


@contextlib.contextmanager
def lock_wait(node):
    """Meanwhile a transaction holds a row that another one waits for. Gives the holder's connection number.

    The other one fails after TransactionDeadlockDetectionTimeout, and waits anew.
    """

    def wait(sql, _):
        sql("UPDATE lab.seats SET taken = taken + 1 WHERE id = 1")

    with (
        contextlib.ExitStack() as waiter,
        open_transaction(node) as holder,
    ):  # the lock goes before the waiter
        waiter.enter_context(statements(node, 1, wait))
        yield holder
