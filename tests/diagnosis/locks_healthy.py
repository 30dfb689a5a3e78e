"""Healthy things that look like a lock that somebody forgot: nothing may alarm."""

import contextlib
import subprocess

import locks_rows
import places  # noqa: F401 - it says where the rest is
from locks_case import healthy
from locks_scene import UPDATE

# isort: split
import software


@healthy("quiet server")
def quiet_server(scene, _):
    """Nothing happens but the questions of a pool."""
    yield
    yield


@healthy("hot row with short waits", strengths={"5 clients": 5, "20 clients": 20})
def hot_row(scene, clients):
    """Many clients change the same row, each for 50 ms: all wait, and the queue moves."""
    yield

    def change(client):
        while scene.until_over(0.0):
            client.sql("BEGIN")
            client.sql(UPDATE)
            client.sql("DO SLEEP(0.05)")
            client.sql("COMMIT")

    for _ in range(clients):
        client = scene.client(scene.app)
        scene.beside(lambda client=client: change(client))
    yield


@healthy("batch", strengths={"1 s each": 1.0, "3 s each": 3.0})
def batch(scene, seconds):
    """A batch changes all rows in transactions of some seconds, and others wait for each of them."""
    yield
    batch = scene.client()

    def change():
        while scene.until_over(0.2):
            batch.sql("BEGIN")
            batch.sql("UPDATE shop.orders SET state = state + 1")
            scene.until_over(seconds)
            batch.sql("COMMIT")

    def others(client):
        while scene.until_over(0.1):
            client.sql(UPDATE)

    scene.beside(change)
    for _ in range(3):
        client = scene.client(scene.app)
        scene.beside(lambda client=client: others(client))
    yield


@healthy(
    "long transaction with no waiter",
    strengths={
        "reads": "SELECT COUNT(*) FROM shop.orders",
        "has changed rows": "UPDATE shop.orders SET state = 1",
    },
)
def open_transaction(scene, statement):  # fmt: skip
    """A transaction is open all the time, below 30 minutes, and nobody waits for it."""
    yield
    client = scene.client()
    client.sql("BEGIN")
    client.sql(statement)
    yield


@healthy("backup that hurts nobody", strengths={"dump": False, "with its backup lock": True})
def backup(scene, with_lock):
    """A dump reads in one transaction while others write, or a backup has the lock that all of them take."""
    yield
    if with_lock:
        backup = scene.client()
        for statement in (("LOCK INSTANCE FOR BACKUP",) if scene.is_mysql else (
            "BACKUP STAGE START", "BACKUP STAGE FLUSH", "BACKUP STAGE BLOCK_DDL")):  # fmt: skip
            backup.sql(statement)
    to_it = ("-S", scene.server.socket, "-u", "root")
    dump = software.program("mariadb-dump", "mariadb-client")

    def dumps():
        while scene.until_over(0.5):
            subprocess.run(
                [dump, "--no-defaults", "--single-transaction", *to_it, "shop"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            )  # fmt: skip

    def writes(client):
        while scene.until_over(0.05):
            client.sql(UPDATE)

    scene.beside(dumps)
    client = scene.client(scene.app)
    scene.beside(lambda: writes(client))
    yield


@healthy("heads that come and go")
def short_heads(scene, _):
    """One client after the other blocks another for two seconds."""
    yield

    def blocks(first, second):
        while scene.until_over(0.1):
            first.sql("BEGIN")
            first.sql(UPDATE)
            second.begin(UPDATE)
            scene.until_over(2.0)
            first.sql("COMMIT")
            second.finish()

    clients = scene.client(), scene.client(scene.app)
    scene.beside(lambda: blocks(*clients))
    yield


@healthy("deadlocks", strengths={"every 3 s": 3.0})
def deadlocks(scene, every):
    """The server ends a deadlock now and then, and clients try again: there is no limit by default."""
    with contextlib.closing(locks_rows.deadlocks(scene, every)) as told:
        next(told)
        scene.options = []
        yield
        next(told)
        yield
