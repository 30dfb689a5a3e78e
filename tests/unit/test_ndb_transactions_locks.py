"""What check_ndb_transactions says of rows that are locked and wanted, and whom it would have killed."""

import pytest
from ndb_transactions import FOURTH, HOLDER, THIRD, WAITER, Ndb, run
from stallwatch.frame.options import mysql
from stallwatch.sources.mysql import MysqlError, NoAnswerError

ENDS = "  a wait ends with error 1205 after TransactionDeadlockDetectionTimeout, 1.2 s by default"
THIRD_ONE = "connection 30 of SQL node 51 (db1:3306)"
KILL_28 = "idle for 15 min - KILL 28 on SQL node 51"


@pytest.fixture
def ndb():
    """A transaction that is idle, and one that waits for something."""
    ndb = Ndb()
    ndb.transaction(inactive=8)
    ndb.transaction(WAITER, outstanding=1, inactive=6)
    ndb.does(29, "Query", 6)
    return ndb


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin at that cluster."""
    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    ndb.keep_time(monkeypatch)
    return lambda *options: run(ndb, tmp_path, *options)


def asked_of_locks(ndb):
    return [sql for sql in ndb.asked if "cluster_locks" in sql]


def test_locks_are_read_only_if_somebody_might_wait(look, ndb):
    ndb.tables["cluster_transactions"].pop()
    look()
    assert not asked_of_locks(ndb)
    ndb.transaction(WAITER, outstanding=1)
    look()
    assert asked_of_locks(ndb)


def test_who_holds_and_who_waits_is_said(look, ndb):
    ndb.transaction(THIRD, outstanding=1)
    ndb.held(waited=(1000, 1200))
    said = look()
    assert said.status == 1
    assert said.text == (
        "NDB_TRANSACTIONS WARNING - a row of shop.seats locked for 8 s (limit 5 s) by connection 28 of SQL "
        f"node 51, {KILL_28}"
    )
    assert said.output.splitlines()[1:] == [
        "  connection 28 of SQL node 51 (db1:3306): idle for 15 min",
        "  KILL ends the transaction and releases its locks",
        f"  2 transactions have waited for up to 1.2 s, one of them is {THIRD_ONE}",
        ENDS,
    ]
    assert said.perfdata["lock_held"] == "8s;5"
    assert said.perfdata["lock_wait"] == "1.2s;5"


def test_one_who_waits_is_named(look, ndb):
    ndb.held(waited=(6000,))
    said = look()
    assert f"\n  connection 29 of SQL node 51 (db1:3306) has waited for 6 s\n{ENDS}" in said.output
    assert "more problem" not in said.text
    assert look("--lock-wait-critical", "5").status == 2


def test_short_waits_are_ok(look, ndb):
    ndb.held(held=1500, waited=(900,))
    said = look()
    assert said.status == 0
    assert said.text.endswith(
        "2 open transactions with 2 operations, inactive for at most 8 s, a lock wait of 900 ms"
    )


def test_who_waits_in_a_scan_is_not_taken_for_an_idle_client(look, ndb):
    """No operation is outstanding then (9.7.2)."""
    ndb.tables["cluster_transactions"].pop()
    ndb.scan(inactive=8, operations=2)
    ndb.held(waited=(8000,))
    said = look("-w", "5")
    assert said.perfdata["lock_wait"] == "8s;5"
    assert said.output.count("KILL 28 ") == 2
    assert "KILL 29" not in said.output


@pytest.mark.parametrize("first", [HOLDER, WAITER])
@pytest.mark.parametrize("held", [30_000, 60_000])
def test_of_two_who_share_a_row_only_the_other_one_is_in_the_way(look, ndb, first, held):
    """The second one waits to have it alone, as an UPDATE after SELECT ... LOCK IN SHARE MODE does."""
    for number in (first, HOLDER + WAITER - first):
        ndb.lock(number, "H", 40_000 if number == HOLDER else held)
    ndb.lock(WAITER, "W", 8000)
    said = look()
    assert "locked for 40 s (limit 5 s) by connection 28 of SQL node 51, idle" in said.text
    assert said.text.endswith(KILL_28)
    assert said.perfdata["lock_held"] == "40s;5"


def test_two_who_both_wait_to_have_a_row_alone_are_in_a_deadlock(look, ndb):
    ndb.tables["cluster_transactions"].clear()
    for number in (HOLDER, WAITER):
        ndb.transaction(number, outstanding=1)
        ndb.lock(number, "H", 9000)
        ndb.lock(number, "W", 8000)
    said = look()
    assert "a row of shop.seats locked for 9 s (limit 5 s), the holders wait for each other - " in said.text
    assert said.text.endswith("lock rows in the same order")
    assert (
        "the row is locked by connection 28 of SQL node 51 (db1:3306) and "
        "connection 29 of SQL node 51 (db1:3306)\n  in a deadlock one of the transactions fails"
    ) in said.output


def test_two_who_wait_for_each_others_rows_are_in_a_deadlock(look, ndb):
    ndb.held(held=9000, by=HOLDER, waiters=(WAITER,), waited=(8000,), row=1)
    ndb.held(held=8500, by=WAITER, waiters=(HOLDER,), waited=(7000,), row=2)
    said = look()
    assert "by connection 28 of SQL node 51, in a deadlock - lock rows in the same" in said.text
    assert "KILL" not in said.output


def test_a_deadlock_with_somebody_who_is_not_known(look, ndb):
    ndb.held(held=9000, by=FOURTH, waiters=(HOLDER,), waited=(8000,), row=1)
    ndb.held(held=8500, by=HOLDER, waiters=(FOURTH,), waited=(7000,), row=2)
    said = look()
    assert "a row of shop.seats locked for 9 s (limit 5 s), in a deadlock - lock rows" in said.text


def test_who_has_got_the_row_since_waits_no_more(look, ndb):
    """Between both statements on locks; it holds the row for less than it waited."""
    ndb.lock(WAITER, "H", 40)
    ndb.lock(THIRD, "H", 30)
    ndb.lock(WAITER, "W", 6000)
    ndb.lock(THIRD, "W", 6000)
    said = look()
    assert said.status == 0
    assert said.perfdata["lock_wait"] == "0s;5"


def test_of_several_who_share_a_row_none_is_to_be_killed(look, ndb):
    ndb.transaction(THIRD)
    ndb.held(waited=(6000,))
    ndb.lock(THIRD, "H", 7000)
    said = look()
    assert (
        "by connection 28 of SQL node 51 (db1:3306) and connection 30 of SQL node 51 (db1:3306)\n"
        in said.output
    )
    assert said.text.endswith("(limit 5 s), 2 transactions hold it up - see what each of them does")
    assert "all of these transactions have to end" in said.output
    assert "hold up all others" not in said.output


def test_who_holds_up_a_holder_is_to_be_killed(look, ndb):
    """29 waits for 28, which waits for 30."""
    ndb.tables["cluster_transactions"].pop(0)
    ndb.transaction(HOLDER, outstanding=1)
    ndb.transaction(THIRD, inactive=9)
    ndb.held(held=9000, row=1, waited=(1000,))
    ndb.held(held=8500, row=2, by=THIRD, waiters=(HOLDER,), waited=(8000,))
    said = look()
    assert (
        "locked for 9 s (limit 5 s), held up by connection 30 of SQL node 51, idle for 15 min - KILL 30 on "
        "SQL node 51"
    ) in said.text
    assert (
        "  the row is locked by connection 28 of SQL node 51 (db1:3306)\n"
        "  the holder waits for connection 30 of SQL node 51 (db1:3306): idle for 15 min\n"
    ) in said.output
    assert "more problem" not in said.text  # the other row has the same head
    assert "KILL 28" not in said.output


def test_who_waits_for_somebody_unseen_is_not_to_be_killed(look, ndb):
    ndb.held(held=9000, row=1, waited=(1000,))
    ndb.lock(HOLDER, "W", 8000, row=2)
    said = look()
    assert "by connection 28 of SQL node 51 - look again" in said.text
    assert "who holds up all of them is not seen for certain" in said.output
    assert "KILL" not in said.output


def test_a_row_is_held_since_the_first_of_several_operations(look, ndb):
    """Each has a lock of its own."""
    for millis in (2000, 600_000, 3000):
        ndb.lock(HOLDER, "H", millis)
    ndb.lock(WAITER, "W", 1000)
    ndb.held(held=5000, row=1, waiters=(THIRD,), waited=(900,))
    assert look().perfdata["lock_held"] == "600s;5"


def test_a_waiter_with_several_requests_is_one(look, ndb):
    ndb.held(waited=(900,))
    ndb.lock(WAITER, "W", 1000)
    said = look()
    assert "connection 29 of SQL node 51 (db1:3306) has waited for 1 s" in said.output


def test_a_row_is_told_by_all_that_makes_it_one(look, ndb):
    """Numbers of rows are those within a fragment of a table; each replica has its own locks."""
    ndb.held(held=6000, waited=(1000,))
    others = ({"row": 9}, {"table": 22}, {"fragment": 4}, {"node": 3})
    for other in others:
        ndb.lock(THIRD, "H", 90_000, **other)
    said = look()
    assert said.perfdata["lock_held"] == "6s;5"
    assert said.text.endswith(KILL_28)


def test_locks_of_other_rows_with_the_same_number_are_not_read(look, ndb):
    ndb.held(waited=(1000,))
    for number in range(1000):
        ndb.lock(HOLDER + (number << 33), "H", 90_000, table=22)
    assert look().perfdata["lock_held"] == "8s;5"


def test_the_holders_of_all_wanted_rows_are_asked_for(look, ndb):
    """Not only of those that are waited for longest: all waits are short by default."""
    for row in range(40):
        ndb.held(held=2000, row=row, waited=(1200,))
    ndb.held(held=600_000, row=99, waiters=(THIRD,), waited=(100,))
    said = look()
    assert said.perfdata["lock_held"] == "600s;5"
    assert f"{ENDS}\n  40 more rows like it" in said.output


def test_of_very_many_rows_those_waited_for_longest_are_asked_for(look, ndb):
    ndb.held(held=4000, row=0, waited=(1000,))
    for row in range(1, 120):
        ndb.held(held=2000 + row, row=row, waited=(1000 + row,))
    said = look("-v")
    assert said.perfdata["lock_held"] == "2.119s;5"
    assert "[OK] who holds them is looked at of 100 of 120 rows that are waited for" in said.output


def test_the_longest_of_very_many_waits_is_read(look, ndb):
    ndb.lock(HOLDER, "H", 9000)
    for number in range(1100):
        ndb.lock(WAITER + (number << 33), "W", 1000)
    ndb.lock(THIRD, "W", 6000)
    said = look()
    assert said.perfdata["lock_wait"] == "6s;5"
    assert "  at least 1000 transactions have waited for up to 6 s" in said.output
    assert "KILL" not in said.output  # who knows whom 28 waits for


def test_of_very_many_holders_none_is_to_be_killed(look, ndb):
    for number in range(1000):
        ndb.lock(HOLDER + (number << 33), "H", 9000)
    ndb.lock(WAITER, "W", 6000)
    said = look()
    assert "[OK] 1000 holders are looked at, there may be more" in said.output
    assert "locked by connection 28 of SQL node 51 (db1:3306) and 999 more" in said.output
    assert "KILL" not in said.output


def test_nor_is_the_one_of_another_row(look, ndb):
    """There may be more of that one."""
    ndb.held(held=9000, row=1, waited=(6000,))
    for number in range(1000):
        ndb.lock(HOLDER + (number << 33), "H", 8000, row=2)
    ndb.lock(THIRD, "W", 1000, row=2)
    said = look()
    assert "a row of shop.seats locked for 9 s (limit 5 s) by connection 28 of" in said.text
    assert "KILL" not in said.output


def test_each_time_tells_of_its_own_row(look, ndb):
    ndb.transaction(THIRD)
    ndb.held(held=6000, waited=(500,), row=1)
    ndb.held(held=5900, waited=(5800,), row=2, table=22, by=THIRD)
    said = look("--lock-wait-critical", "5")
    assert said.status == 2
    assert said.text.startswith(
        "NDB_TRANSACTIONS CRITICAL - lock wait 5.8 s (limit 5 s) for a row of shop.halls, held by connection "
        "30 of SQL node 51, idle for 15 min - KILL 30 on SQL node 51"
    )
    assert "[WARNING] a row of shop.seats locked for 6 s (limit 5 s) by connection 28 of" in said.output


@pytest.mark.parametrize("shared", [True, False])
def test_a_long_wait_for_a_row_whose_holder_is_not_seen(look, ndb, shared):
    ndb.lock(WAITER, "W", 6000)
    if shared:  # by itself, which is in nobody's way
        ndb.lock(WAITER, "H", 9000)
    said = look()
    assert said.status == 1
    assert "lock wait 6 s (limit 5 s) for a row of shop.seats, its holder is not seen" in said.text
    assert said.text.endswith(" - look again at ndbinfo.cluster_locks")
    assert "  connection 29 of SQL node 51 (db1:3306) has waited for 6 s\n" in said.output
    assert "lock_held" not in said.perfdata


@pytest.mark.parametrize(
    ("command", "seconds", "state"), [("Query", 40, "at work for 40 s (Query)"), ("Sleep", 1, "idle for 1 s")]
)
def test_a_holder_at_work_is_not_to_be_killed(look, ndb, command, seconds, state):
    ndb.held()
    ndb.does(28, command, seconds)
    said = look()
    short = state.replace(" for 40 s (Query)", "")
    assert said.text.endswith(f"by connection 28 of SQL node 51, {short} - SHOW PROCESSLIST on SQL node 51")
    assert f"  connection 28 of SQL node 51 (db1:3306): {state}\n" in said.output
    assert "KILL" not in said.output


def test_a_holder_whose_data_nodes_work_is_not_to_be_killed(look, ndb):
    ndb.tables["cluster_transactions"].pop(0)
    ndb.scan(HOLDER)
    ndb.held()
    said = look()
    assert "by connection 28 of SQL node 51, at work - SHOW PROCESSLIST" in said.text
    assert "connection 28 of SQL node 51 (db1:3306): at work in the data nodes" in said.output
    assert "KILL" not in said.output


def test_what_a_data_node_does_is_waited_for(look, ndb):
    """As when an index is built: its client is a data node."""
    ndb.transaction(3 << 32, client=3, block=262)
    ndb.held(by=3 << 32, waited=(6000,))
    said = look()
    assert said.text.endswith("by data node 3 itself - wait until it ends")
    assert "  the cluster itself builds an index, copies a table or counts its rows\n" in said.output


def test_a_holder_that_has_ended_meanwhile_is_nobody(look, ndb):
    ndb.held(by=FOURTH)
    said = look()
    assert "a row of shop.seats locked for 8 s (limit 5 s) - look again" in said.text
    assert "KILL" not in said.output


def test_any_limits_do(look, ndb):
    ndb.tables["cluster_transactions"].pop()
    assert look("--lock-held-warning", "1:", "--lock-wait-critical", "@0:0").status == 2


# locks that are not read


@pytest.mark.parametrize("waited", [0, 4])
def test_too_many_locks_are_unknown_while_anybody_might_wait(look, ndb, waited):
    """With the usual timeout nobody waits for long."""
    ndb.transaction(THIRD, operations=60_000)
    ndb.transaction(FOURTH, outstanding=1, inactive=waited)
    said = look()
    assert said.status == 3
    assert "who waits for whom is not looked at, of 60003 operations" in said.text
    assert "lock_held" not in said.perfdata
    assert not asked_of_locks(ndb)


def test_locks_that_take_too_long_are_given_up(look, ndb):
    ndb.transaction(THIRD, inactive=7200)
    ndb.failing["state = 'W'"] = NoAnswerError("sql1 has not answered within 3 s", "", 3024)
    said = look()
    assert said.status == 1
    assert "transaction of connection 30 of SQL node 51 inactive for 2 h (limit 300 s)" in said.text
    assert "[UNKNOWN] who waits for whom took too long to read, of 3 operations" in said.output
    ndb.failing["state = 'W'"] = NoAnswerError("sql1 has not answered within 7 s")
    said = look()
    assert said.status == 1
    assert "[UNKNOWN] who waits for whom is not known: sql1 has not answered within 7 s" in said.output


def test_waits_are_told_whose_holders_are_not_read(look, ndb):
    ndb.held(waited=(9000,))
    ndb.failing["state = 'H'"] = NoAnswerError("sql1 has not answered within 3 s", "", 3024)
    said = look()
    assert said.status == 1
    assert "lock wait 9 s (limit 5 s) for a row of shop.seats, its holder is not seen" in said.text
    assert "[UNKNOWN] who holds what others wait for took too long to read, of 2 operations" in said.output


@pytest.mark.parametrize("part", ["transid IN", "dict_obj_info"])
def test_what_explains_locks_may_be_unseen(look, ndb, part):
    ndb.held(waited=(9000,))
    ndb.failing[part] = MysqlError("sql1 says: no", "", 1205)
    said = look()
    assert said.status == 1
    assert "seen: sql1 says: no" in said.output


@pytest.mark.parametrize("state", ["W", "H"])
def test_a_lock_without_numbers_is_said_and_left_out(look, ndb, state):
    ndb.held(waited=(9000,))
    ndb.lock(FOURTH, state, None)
    said = look()
    assert said.status == 1
    assert said.perfdata["lock_held"] == "8s;5"
    assert "[UNKNOWN] ndbinfo: millis is None, which is no number: " in said.output
    assert "KILL" not in said.output  # there may be another holder


def test_if_no_wait_has_numbers_none_is_told(look, ndb):
    ndb.lock(WAITER, "W", None)
    said = look()
    assert said.status == 3
    assert "lock_wait" not in said.perfdata


def test_reading_locks_is_bounded_and_takes_large_steps(look, ndb):
    ndb.held()
    look()
    assert "SET ndbinfo_max_rows = 256" in ndb.asked
    for sql in asked_of_locks(ndb):
        assert "MAX_EXECUTION_TIME(3000)" in sql
        assert sql.split()[-2:] == ["LIMIT", "1000"]
    ndb.asked.clear()
    look("--timeout", "4s")
    assert all("MAX_EXECUTION_TIME(1000)" in sql for sql in asked_of_locks(ndb))


def test_a_lock_that_is_older_than_its_data_node_has_just_begun(look, ndb):
    """NDB 9.7.2 shows so now and then, of who begins to wait."""
    ndb.transaction()
    ndb.transaction(WAITER, outstanding=1)
    ndb.held(held=2000, waited=(5_282_000,), waiters=(WAITER,))
    said = look()
    assert said.status == 0
    assert (said.perfdata["lock_wait"], said.perfdata["lock_held"]) == ("0s;5", "2s;5")
