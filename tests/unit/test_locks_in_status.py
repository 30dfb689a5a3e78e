"""Waits for rows as SHOW ENGINE INNODB STATUS lists them, where so many wait that INNODB_TRX costs much."""

import re

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, WAITER, Locked, row
from stallwatch.probes.mysql.locks import in_status
from stallwatch.sources.mysql import NoAnswerError

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


def test_of_several_that_can_all_are_named_and_none_is_to_be_killed_unseen(look):
    server = crowded(status((HEAD, 15), (40, 30)))
    assert " - check which of them has it | " in look(server)[1]  # 40 may be a thread of the server
    server.listed.append(row(40, "report", "Sleep", 30))
    text = look(server, state=False)[1]
    assert "connection 22 or 40 probably blocks at least 2 others for up to 14 s (limit 10 s) on shop" in text
    assert " - check which of them has it, then end that one alone | " in text
    assert "  no table of the server names the holder: perhaps not connection 22 or 40\n" in text


def test_a_suspect_that_kill_does_not_help_against_is_not_to_be_killed(look):
    server = crowded(re.sub(r"(?m)^(\d+ lock struct)", r"ROLLING BACK \1", status((HEAD, 15))))
    assert "  next step: wait for the rollback: KILL does not help\n" in look(server)[1]
    prepared = crowded(status((HEAD, 15)))
    prepared.digest = "XA PREPARE ?"
    text = look(prepared, state=False)[1]
    assert "  next step: end 22 by XA COMMIT or XA ROLLBACK: KILL leaves it prepared\n" in text


def test_suspects_of_whom_kill_may_not_help_are_not_simply_to_be_ended(look):
    server = crowded(status((HEAD, 15), (40, 30)))
    server.listed.append(row(40, "report", "Sleep", 30))
    server.digest = "XA PREPARE ?"
    assert " - check which of them has it | " in look(server)[1]


def test_each_of_several_may_have_one_of_several_rows(look):
    text = status((HEAD, 15), (40, 30))
    server = crowded("heap no 3".join(text.rsplit("heap no 2", 1)))
    server.listed.append(row(40, "report", "Sleep", 30))
    text = look(server)[1]
    assert "connections 22 and 40 probably block at least 2 others for up to 14 s (limit 10 s) on " in text
    assert " - check them, then KILL 22 and 40 | " in text
    assert "that one alone" not in text


def test_of_many_that_can_nobody_is_named(look):
    text = look(crowded(status(*((number, 30) for number in range(40, 45)))))[1]
    assert "2 connections wait for up to 14 s (limit 10 s) for a row lock, who blocks is not known" in text


def test_without_the_status_nothing_is_known(look):
    server = crowded("")
    server.failing = {"INNODB STATUS": NoAnswerError("db1:3306 took too long")}
    state, text = look(server)
    assert state == 3
    assert "2000 connections of db1:3306 wait for a row, who blocks them is not known: SHOW ENGINE" in text
    assert "INNODB STATUS takes longer than " in text


def test_a_status_that_is_not_had_a_second_time_leaves_what_is_known(look):
    """The head is looked at again after a pause."""

    class Once(Locked):
        def rows(self, sql, *values, within=None):
            if "INNODB STATUS" in sql and self.asked.count(sql):
                raise NoAnswerError("db1:3306 took too long")
            return super().rows(sql, *values, within=within)

    server = crowded(status((HEAD, 15), (40, 3)))
    server.__class__ = Once
    state, text = look(server)
    assert state == 1
    assert "connection 22 report@app1 probably blocks at least 2 others for up to 14 s" in text


def test_the_process_list_is_asked_for_once(look):
    """That of 10,000 connections takes 9 MB, and nobody is found in the status: it is asked for again."""
    server = crowded(status(*((number, 30) for number in range(40, 45))))
    look(server)
    asked = [sum(words in sql for sql in server.asked) for words in ("INNODB STATUS", "SHOW PROCESSLIST")]
    assert asked == [4, 1]


def test_of_suspects_only_what_all_have_done_is_certain(look):
    """One of two has been idle for a second: if it has the row, it has blocked others for no longer."""
    server = crowded(status((HEAD, 15), (40, 30)))
    server.listed += [row(40, "report", "Sleep", 1)]
    server.listed[0]["Time"] = 14
    text = look(server, "-c", "12")[1]
    assert text.startswith("INNODB_LOCKS WARNING - connection 22 or 40 probably blocks"), text
    server.listed[-1]["Time"] = 14
    assert look(server, "-c", "12", state=False)[0] == 2
