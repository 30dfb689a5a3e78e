"""Waits for rows as SHOW ENGINE INNODB STATUS lists them, where so many wait that INNODB_TRX costs much."""

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, WAITER, Locked, row
from stallwatch.probes.mysql.locks import in_status

# As MariaDB 10.11.19 wrote them, without the records.
WAITS = """---TRANSACTION {id}, ACTIVE 14 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
MariaDB thread id {process}, OS thread handle 139802596509376, query id 2523 localhost root Updating
UPDATE shop.orders SET state = 2 WHERE id = 0
------- TRX HAS BEEN WAITING 14001727 us FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 index PRIMARY of table `shop`.`orders` trx id {id} lock_mode X waiting
Record lock, heap no 2 PHYSICAL RECORD: n_fields 4; compact format; info bits 0

------------------
"""
HOLDS = """---TRANSACTION {id}, ACTIVE {age} sec
2 lock struct(s), heap size 1128, 1 row lock(s), undo log entries 3
MariaDB thread id {process}, OS thread handle 139802652255936, query id 2520 localhost root
"""
BEGIN, END = "LIST OF TRANSACTIONS FOR EACH SESSION:\n", "--------\nFILE I/O\n--------\n"
PREPARED = """---TRANSACTION 12, ACTIVE (PREPARED) 40 sec recovered trx
1 lock struct(s), heap size 1128, 0 row lock(s), undo log entries 1
"""


def status(*holders, waiting=2, begin=BEGIN):
    waits = "".join(WAITS.format(id=100 + number, process=WAITER + number) for number in range(waiting))
    return begin + waits + "".join(HOLDS.format(id=50, process=one, age=age) for one, age in holders) + END


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_innodb_locks", tmp_path, monkeypatch)


def crowded(text):
    server = Locked("MariaDB 10.11")
    server.idle_head(waits=14, idle=14)
    server.listed += [row(number, "app", "Query", 14) for number in (WAITER, WAITER + 1)]
    server.status["Innodb_row_lock_current_waits"] = "2000"
    server.innodb_status = text
    return server


def test_transactions_are_read_also_where_the_begin_is_left_out():
    found, tables = in_status.read(status((HEAD, 15), begin="... truncated...\nUPDATE shop.orders\n"))
    assert [(one.process, one.waiting, one.age, one.modified) for one in found] == [
        (WAITER, 14.001727, 14, 0), (WAITER + 1, 14.001727, 14, 0), (HEAD, None, 15, 3),
    ]  # fmt: skip
    assert tables == {"5:3:2": ("shop.orders", "PRIMARY")}
    (prepared,), _ = in_status.read(BEGIN + PREPARED + END)
    assert (prepared.process, prepared.age) == (0, 40)
    assert in_status.read("nothing of it") == ((), {})


def test_the_only_one_that_can_hold_the_row_probably_does(look):
    server = crowded(status((HEAD, 15), (40, 3)))
    state, text = look(server)
    assert (state, numbers(text)["waiting"]) == (1, "2000")
    assert "connection 22 report@app1 probably blocks at least 2 others for up to 14 s" in text
    assert "check it, then KILL 22" in text
    assert "metadata_lock_info" not in text
    assert not [sql for sql in server.asked if "INNODB_TRX" in sql or "INNODB_LOCK" in sql]


def test_of_several_that_can_nobody_is_named(look):
    text = look(crowded(status((HEAD, 15), (40, 30))))[1]
    assert "2 connections wait for up to 14 s (limit 10 s) for a row lock, who blocks is not known" in text


def test_without_the_status_nothing_is_known(look):
    state, text = look(crowded(""))
    assert state == 3
    assert "2000 connections of db1:3306 wait for a row, and SHOW ENGINE INNODB STATUS does not tell" in text
