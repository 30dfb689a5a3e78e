"""Somebody has a lock of a table, of the server, or of the user, that others wait for."""

import places  # noqa: F401 - it says where the rest is
from locks_case import CRITICAL, WARNING, fault

READ = "SELECT state FROM shop.orders WHERE id = 3"
METADATA = "metadata_lock"


@fault("DDL behind a reader", kind=METADATA)
def ddl_behind_a_reader(scene, waiters):
    """An ALTER TABLE waits for a transaction that has read the table, and all others wait behind it."""
    yield
    yield from _ddl(scene, waiters)


def _ddl(scene, waiters):
    reader = scene.reader()
    alters = scene.definition()
    scene.note("evident")
    for _ in range(waiters):
        scene.client(scene.app).begin(*[READ] * 10)
    scene.blocks(reader.id)
    scene.may_end.append(alters.id)
    yield


@fault("DDL behind a reader, metadata_lock_info", servers=("mariadb",), kind=METADATA)
def ddl_with_plugin(scene, waiters):
    """The same, where the plugin of MariaDB is installed that shows who has which metadata lock."""
    _install_plugin(scene)
    yield
    yield from _ddl(scene, waiters)


@fault("DDL behind three readers", kind=METADATA, evidence=("several",))
def ddl_behind_three_readers(scene, waiters):
    """Three transactions have read the table: each of them has to end. MariaDB has metadata_lock_info."""
    if not scene.is_mysql:
        _install_plugin(scene)
    yield
    scene.blocks(scene.reader().id, scene.reader().id)
    yield from _ddl(scene, waiters)


def _install_plugin(scene):
    scene.server.sql("INSTALL SONAME 'metadata_lock_info'")
    scene.kept.callback(scene.server.sql, "UNINSTALL SONAME 'metadata_lock_info'")


@fault("FLUSH TABLES WITH READ LOCK", kind="global_read_lock")
def global_read_lock(scene, waiters):
    """A session has run FLUSH TABLES WITH READ LOCK and is idle; nobody can write."""
    yield
    head = scene.client()
    head.sql("FLUSH TABLES WITH READ LOCK")
    scene.crowd(waiters)
    scene.blocks(head.id)
    yield


@fault("LOCK TABLES", kind=METADATA)
def lock_tables(scene, waiters):
    """A session has run LOCK TABLES ... WRITE and is idle; nobody can read the table."""
    yield
    head = scene.client()
    head.sql("LOCK TABLES shop.orders WRITE")
    scene.crowd(waiters, READ)
    scene.blocks(head.id)
    yield


@fault("user lock", servers=("mysql",), kind="user_lock")
def user_lock(scene, waiters):
    """A session has a lock of GET_LOCK() and is idle."""
    scene.options = ["--user-lock-warning", str(WARNING), "--user-lock-critical", str(CRITICAL)]
    yield
    head = scene.client()
    head.sql("SELECT GET_LOCK('job', 10)")
    scene.crowd(waiters, "SELECT GET_LOCK('job', 500)")
    scene.blocks(head.id)
    yield
