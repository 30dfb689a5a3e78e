"""On a replica: the applier waits for a client, and clients wait for the applier."""

import time

import places  # noqa: F401 - it says where the rest is
from locks_case import IDLE, KILLS, fault
from locks_scene import UPDATE
from loopback import wait_until

MORE = {"alone": 0, "with 5 clients": 5, "with 25 clients": 25}
WAITS = "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'"


@fault("applier as victim", strengths=MORE, kind="row_lock", evidence=IDLE)
def applier_as_victim(scene, more):
    """A transaction on the replica was left open after an UPDATE, and the applier waits for its row."""
    scene.on_the_replica()
    yield
    head = scene.idle()
    scene.pair.source.sql(UPDATE)
    wait_until(lambda: scene.server.sql(WAITS), 30, scene.server.process, scene.server.log)
    scene.note("evident")
    for _ in range(more):
        scene.client(scene.app).begin(*[UPDATE] * 10)
    scene.blocks(head.id)
    yield


@fault("applier as head", kind="row_lock", evidence=("applier",), wrong=KILLS)
def applier_as_head(scene, waiters):
    """The applier is busy with a long transaction, and clients wait for its rows."""
    sql = scene.server.sql
    sql("CREATE TABLE shop.pace (seconds DOUBLE)")
    sql("INSERT INTO shop.pace VALUES (0)")
    scene.on_the_replica()
    with scene.server.session() as on_replica:
        on_replica("SET sql_log_bin = 0")
        on_replica("UPDATE shop.pace SET seconds = 0.5")
    yield
    with scene.pair.source.session() as on_source:
        on_source("SET SESSION binlog_format = STATEMENT")
        on_source("UPDATE shop.orders, shop.pace SET state = 9 + SLEEP(seconds)")
    time.sleep(1)
    scene.crowd(waiters)
    rows = scene.server.sql(
        "SELECT trx_mysql_thread_id AS id FROM information_schema.INNODB_TRX WHERE trx_state = 'RUNNING'"
        " AND trx_rows_locked > 0"
    )
    scene.blocks(*(row["id"] for row in rows))
    yield
