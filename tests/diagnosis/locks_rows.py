"""Somebody has rows that others wait for."""

import time

import places  # noqa: F401 - it says where the rest is
from locks_case import GIVES_UP, IDLE, KILLS, WORKS, fault
from locks_scene import UPDATE

ROW = "row_lock"


@fault("idle head", kind=ROW, evidence=IDLE)
def idle_head(scene, waiters):
    """A transaction was left open after an UPDATE, and others wait for its row."""
    yield
    head = scene.idle()
    scene.crowd(waiters)
    scene.blocks(head.id)
    yield


@fault("head at work", kind=ROW, evidence=WORKS)
def head_at_work(scene, waiters):
    """A statement that takes a minute has rows that others wait for."""
    yield
    head = scene.client()
    head.begin("UPDATE shop.orders SET state = 7 + SLEEP(IF(id = 2, 60, 0)) WHERE id < 4")
    time.sleep(0.3)
    scene.crowd(waiters)
    scene.blocks(head.id)
    yield


@fault("chain of five", strengths={"5 alone": 0, "3 at its end": 3, "20 at its end": 20}, kind=ROW)
def chain_of_five(scene, more):
    """Each of five transactions waits for the one before, and others wait for the last one."""
    yield
    set_limit = "SET GLOBAL innodb_lock_wait_timeout = {}"
    scene.server.sql(set_limit.format(600))  # else those in the middle give up, and there is no chain
    links = scene.chain(5)
    scene.server.sql(set_limit.format(GIVES_UP))
    scene.note("evident")
    for _ in range(more):
        scene.client(scene.app).begin(*["UPDATE shop.orders SET state = 8 WHERE id = 5"] * 10)
    scene.blocks(links[0].id)
    yield


@fault(
    "cycle that the server broke",
    strengths={"every 4 s": 4.0, "every 2 s": 2.0, "every 0.5 s": 0.5},
    kind="deadlocks", limits=(0.0, None),
)  # fmt: skip
def deadlocks(scene, every):
    """Transactions change two rows in different order again and again: the server ends one of them."""
    scene.options = ["--deadlocks-warning", "0"]
    yield
    one, other = scene.client(scene.app), scene.client()

    def change():
        while scene.until_over(every):
            for client, row in ((one, 1), (other, 2)):
                client.sql("BEGIN")
                client.sql(f"UPDATE shop.orders SET state = 7 WHERE id = {row}")
            one.begin("UPDATE shop.orders SET state = 9 WHERE id = 2")
            other.begin("UPDATE shop.orders SET state = 9 WHERE id = 1")
            one.finish()
            other.finish()
            one.sql("ROLLBACK")
            other.sql("ROLLBACK")

    scene.beside(change)
    scene.note("evident")
    yield


@fault("XA transaction that nobody owns", kind=ROW, evidence=("no_connection",), wrong=KILLS)
def prepared_xa(scene, waiters):
    """A client has prepared a transaction and gone away; others wait for its row."""
    yield
    client = scene.client()
    for statement in ("XA START 'order-7'", UPDATE, "XA END 'order-7'", "XA PREPARE 'order-7'"):
        client.sql(statement)
    client.end()
    scene.crowd(waiters)
    scene.blocks(0)
    yield


@fault("gap lock", kind=ROW, evidence=IDLE)
def gap_lock(scene, waiters):
    """A locking read of a range without rows keeps others from inserting there."""
    yield
    head = scene.client()
    head.sql("BEGIN")
    head.sql("SELECT * FROM shop.orders WHERE id BETWEEN 2001 AND 3000 FOR UPDATE")
    scene.crowd(waiters, "INSERT INTO shop.orders SELECT 2001 + FLOOR(900 * RAND()), 1")
    scene.blocks(head.id)
    yield


@fault("foreign key", kind=ROW, evidence=IDLE)
def foreign_key(scene, waiters):
    """An INSERT into a child table that is not committed keeps others from changing its parent row."""
    _parent_and_child(scene)
    yield
    yield from _visits(scene, waiters, 1)


def _parent_and_child(scene):
    sql = scene.server.sql
    sql("CREATE TABLE shop.customer (id INT PRIMARY KEY, name INT) ENGINE=InnoDB")
    sql("CREATE TABLE shop.visit (id INT AUTO_INCREMENT PRIMARY KEY, customer INT,"
        " FOREIGN KEY (customer) REFERENCES shop.customer (id)) ENGINE=InnoDB")  # fmt: skip
    sql("INSERT INTO shop.customer VALUES (1, 1)")


def _visits(scene, waiters, number):
    heads = [scene.client() for _ in range(number)]
    for head in heads:
        head.sql("BEGIN")
        head.sql("INSERT INTO shop.visit (customer) VALUES (1)")
    scene.crowd(waiters, "UPDATE shop.customer SET name = 2 WHERE id = 1")
    scene.blocks(*(head.id for head in heads))
    yield


@fault("row that three share", kind=ROW, evidence=("several",))
def shared_row(scene, waiters):
    """Three transactions have inserted into a child table: each of them has the parent row, too."""
    _parent_and_child(scene)
    yield
    yield from _visits(scene, waiters, 3)


@fault("transaction open for long", strengths={"read": 0, "1 row changed": 1, "90 rows changed": 90},
       kind="long_transaction", limits=(10.0, None))  # fmt: skip
def long_transaction(scene, rows):
    """A transaction is left open that nobody waits for, longer than its limit."""
    scene.options = ["--transaction-warning", "10"]
    yield
    head = scene.client()
    head.sql("BEGIN")
    head.sql("SELECT COUNT(*) FROM shop.orders")
    if rows:
        head.sql(f"UPDATE shop.orders SET state = 7 WHERE id > 6 LIMIT {rows}")
    scene.note("evident")
    scene.blocks(head.id)
    yield
