"""Loads for the tests' MySQL NDB Cluster, each through its SQL node, in the schema "lab".

disk_table(node)
with random_reads(node):
    look()
"""

import contextlib
import itertools
import random
import threading
import time

import pymysql

FULL = 1114  # The table is full
ROWS = 20000  # of the table on disk: 20 MB
BATCH = 400  # rows of it that one statement changes
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


def disk_table(node, undo="64M"):
    """Make the table lab.t1 if it is not there: data1 and data2 are on disk, a good 1 KB per row.

    ``undo`` is the size of the undo log.
    """
    with node.session() as sql:
        _schema(sql)
        if not sql("SHOW TABLES FROM lab LIKE 't1'"):
            _tablespace(sql, undo)
            _t1(sql)


def _tablespace(sql, undo):
    group = f"ADD UNDOFILE 'undo_1.log' INITIAL_SIZE {undo} UNDO_BUFFER_SIZE 2M ENGINE NDB"
    sql(f"CREATE LOGFILE GROUP lg_1 {group}")
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


def disk_writes(node, writers=4):
    """Meanwhile so many sessions change rows of lab.t1, BATCH per statement, each its own: no lock waits."""
    turns = itertools.count()
    part = ROWS // writers

    def write(sql, number):
        letter = "abcdefgh"[next(turns) % 8]
        first = number * part + random.randint(1, part - BATCH)
        changes = f"data1 = REPEAT('{letter}', 512), data2 = REPEAT('{letter}', 512)"
        sql(f"UPDATE lab.t1 SET {changes} WHERE id BETWEEN {first} AND {first + BATCH}")

    return statements(node, writers, write)


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


# transactions that are in the way, all in lab.seats


@contextlib.contextmanager
def open_transaction(node, *statements):
    """A transaction has changed row 1, or done these statements, and idles meanwhile.

    Gives its connection's number.
    """
    with node.session() as sql:
        _seats(sql)
        sql("BEGIN")
        for statement in statements or (_SET,):
            sql(statement)
        try:
            yield _number(sql)
        finally:
            sql("ROLLBACK")


def lock_wait(node, *wanted):
    """A transaction has changed row 1 for which another one waits, to do these statements.

    Gives the numbers of their connections, the waiter's as a list that has its present one last: it fails
    after TransactionDeadlockDetectionTimeout, and waits anew.
    """
    return _wait(node, (_SET,), wanted or (_take(1),))


def scan_wait(node):
    """The same, but that the other one wants all rows."""
    return lock_wait(node, "UPDATE lab.seats SET taken = taken + 1")


def upgrade_wait(node):
    """Two share the lock of row 1, of whom one waits to have it alone."""
    return _wait(node, (_SHARE,), (_SHARE, _take(1)))


@contextlib.contextmanager
def chained_waits(node):
    """A transaction has changed row 2, for which a second waits, who has changed row 1, which a third wants.

    Gives the numbers of their connections, the third's as a list. The second one fails after
    TransactionDeadlockDetectionTimeout, and that is the end.
    """
    with _transactions(node, _take(1)) as last, node.session() as sql:
        middle = _number(sql)
        sql("BEGIN")
        sql(_take(1))
        with contextlib.ExitStack() as waiter, open_transaction(node, _take(2)) as head:
            waiter.enter_context(_once(sql, _take(2)))
            yield head, middle, last


@contextlib.contextmanager
def _once(sql, statement):
    """Meanwhile a session does a statement, which may fail."""

    def work():
        with contextlib.suppress(pymysql.Error):
            sql(statement)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextlib.contextmanager
def several_operations_wait(node, seconds=6):
    """A transaction has read row 1 to change it, which it did so many seconds later, and is waited for."""
    slowly = ("SELECT * FROM lab.seats WHERE id = 1 FOR UPDATE", f"DO SLEEP({seconds})", _take(1), _take(1))
    with _wait(node, slowly, (_take(1),)) as found:
        yield found


@contextlib.contextmanager
def working_transaction(node):
    """A transaction has changed row 1, and its connection works at a statement that needs no data node.

    Gives its connection's number.
    """
    with node.session() as other, node.session() as sql:
        _seats(sql)
        working = _number(sql)
        sql("BEGIN")
        sql(_SET)
        with _once(sql, "DO SLEEP(600)"):
            while not other("SELECT * FROM information_schema.processlist WHERE info = 'DO SLEEP(600)'"):
                time.sleep(0.05)
            try:
                yield working
            finally:
                other(f"KILL QUERY {working}")


_SET = "UPDATE lab.seats SET taken = 1 WHERE id = 1"  # without reading it, one operation
_SHARE = "SELECT * FROM lab.seats WHERE id = 1 LOCK IN SHARE MODE"


def _take(row):
    return f"UPDATE lab.seats SET taken = taken + 1 WHERE id = {row}"


def _number(sql):
    (row,) = sql("SELECT CONNECTION_ID() AS number")
    return row["number"]


def _seats(sql):
    _schema(sql)
    sql("CREATE TABLE IF NOT EXISTS lab.seats (id INT PRIMARY KEY, taken INT) ENGINE NDB")
    if not sql("SELECT * FROM lab.seats"):  # which waits for nobody
        sql("INSERT INTO lab.seats VALUES (1, 0), (2, 0)")


@contextlib.contextmanager
def _wait(node, held, wanted):
    with contextlib.ExitStack() as waiter, open_transaction(node, *held) as holder:
        yield holder, waiter.enter_context(_transactions(node, *wanted))  # the lock goes before the waiter


@contextlib.contextmanager
def _transactions(node, *wanted):
    """Meanwhile a session does these statements in one transaction, again and again; give its numbers."""
    numbers = []
    with node.session() as sql:
        _seats(sql)

    def work(sql, _):
        numbers.append(_number(sql))
        sql("BEGIN")
        for statement in wanted:
            sql(statement)
        sql("ROLLBACK")

    with statements(node, 1, work):
        while not numbers:
            time.sleep(0.01)
        yield numbers
