"""Waits for rows as SHOW ENGINE INNODB STATUS lists them, where so many wait that INNODB_TRX costs much."""

import re

import pytest
from captured_runs import Runs
from locked_server import HEAD, WAITER, Locked, judged, row
from stallwatch.causes import Certainty, Kind
from stallwatch.probes.mysql.locks import in_status
from stallwatch.sources.mysql import NoAnswerError

CERTAIN, LIKELY, POSSIBLE = Certainty
ROW = Kind.ROW_LOCK
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
    return Runs("check_mysql_stalls", tmp_path, monkeypatch)


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
    report = look.report(server)
    assert judged(report) == ("WARNING", ROW, "22", LIKELY, "not_proven", "CHECK_FIRST 22", 14.002)
    assert judged(report, "waiting").value == 2000
    assert not [sql for sql in server.asked if "INNODB_TRX" in sql or "INNODB_LOCK" in sql]


def test_of_several_that_can_all_are_named_and_none_is_to_be_killed_unseen(look):
    server = crowded(status((HEAD, 15), (40, 30)))
    server.listed.append(row(40, "report", "Sleep", 30))
    found = judged(look.report(server, state=False))
    assert found[1:6] == (ROW, "22 40", POSSIBLE, "one_of_several", "CHECK_WHICH")
    server.listed[-1]["User"] = "system user"
    assert judged(look.report(server, state=False)).step == "CHECK_WHICH_ONLY"


def test_a_suspect_that_kill_does_not_help_against_is_not_to_be_killed(look):
    server = crowded(re.sub(r"(?m)^(\d+ lock struct)", r"ROLLING BACK \1", status((HEAD, 15))))
    assert judged(look.report(server)).step == "WAIT_FOR_ROLLBACK 22"
    prepared = crowded(status((HEAD, 15)))
    prepared.digest = "XA PREPARE ?"
    assert judged(look.report(prepared, state=False)).step == "END_OWN_BY_XA 22"


def test_suspects_of_whom_kill_may_not_help_are_not_simply_to_be_ended(look):
    server = crowded(status((HEAD, 15), (40, 30)))
    server.listed.append(row(40, "report", "Sleep", 30))
    server.digest = "XA PREPARE ?"
    assert judged(look.report(server)).step == "CHECK_WHICH_ONLY"


def test_each_of_several_may_have_one_of_several_rows(look):
    text = status((HEAD, 15), (40, 30))
    server = crowded("heap no 3".join(text.rsplit("heap no 2", 1)))
    server.listed.append(row(40, "report", "Sleep", 30))
    assert judged(look.report(server))[2:6] == ("22 40", LIKELY, "several", "CHECK_FIRST 22 40")


def test_of_many_that_can_nobody_is_named(look):
    found = judged(look.report(crowded(status(*((number, 30) for number in range(40, 45))))))
    assert found == ("WARNING", Kind.UNKNOWN, "", POSSIBLE, "", "FIND_OLDER", 14.002)


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
    assert judged(look.report(server))[:4] == ("WARNING", ROW, "22", LIKELY)


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
    assert judged(look.report(server, "-c", "12"))[:4] == ("WARNING", ROW, "22 40", POSSIBLE)
    server.listed[-1]["Time"] = 14
    assert judged(look.report(server, "-c", "12", state=False)).state == "CRITICAL"
