"""What check_mysql_stalls says beside its heads: deadlocks, open transactions, and what it left out."""

from itertools import product

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, MDL, USER_LOCK, WAITER, Locked, judged, mdl, row, trx
from stallwatch.causes import Certainty, Kind
from stallwatch.line import forms
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks import deadlocks, metadata, rows
from stallwatch.render import text as as_text

CERTAIN, LIKELY, POSSIBLE = Certainty
ROW, TABLE, LONG = Kind.ROW_LOCK, Kind.METADATA_LOCK, Kind.LONG_TRANSACTION
LIMIT = ("--deadlocks-warning", "0")
# As MySQL 9.7.2 and MariaDB 10.11.19 wrote them, without the records.
MYSQL = """
------------------------
LATEST DETECTED DEADLOCK
------------------------
2026-11-27 19:06:26 139843573106368
*** (1) TRANSACTION:
TRANSACTION 1561, ACTIVE 1 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s), undo log entries 1
MySQL thread id 12, OS thread handle 139844004951744, query id 25 localhost root updating
update shop.orders set note='top secret',
 state = 12345 where id=2

*** (1) HOLDS THE LOCK(S):
RECORD LOCKS space id 2 page no 4 index state of table `shop`.`held` trx id 1561 lock_mode X locks rec

*** (1) WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 2 page no 4 index PRIMARY of table `shop`.`orders` trx id 1561 lock_mode X waiting
Record lock, heap no 3 PHYSICAL RECORD: n_fields 5; compact format; info bits 0

*** (2) TRANSACTION:
TRANSACTION 1562, ACTIVE 1 sec starting index read
MySQL thread id 13, OS thread handle 139844006008512, query id 26 localhost root updating
delete from shop.items where id=1 and note <> "se'cret"

*** (2) WAITING FOR THIS LOCK TO BE GRANTED:
TABLE LOCK table `shop`.`items` trx id 1562 lock mode AUTO-INC waiting

*** WE ROLL BACK TRANSACTION (2)
------------
TRANSACTIONS
------------
Trx id counter 1566
"""
MARIADB = """
LATEST DETECTED DEADLOCK
------------------------
2026-11-27 19:06:27 0x7f606f7b36c0
*** (1) TRANSACTION:
TRANSACTION 24, ACTIVE 1 sec starting index read
MariaDB thread id 9, OS thread handle 140052163933888, query id 25 localhost root Updating
delete from shop.orders where id=1
*** WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 index PRIMARY of table `shop`.`orders` trx id 24 lock_mode X waiting
*** CONFLICTING WITH:
RECORD LOCKS space id 5 page no 3 index PRIMARY of table `shop`.`orders` trx id 23 lock_mode X

*** (2) TRANSACTION:
TRANSACTION 23, ACTIVE 1 sec starting index read
MariaDB thread id 8, OS thread handle 140052164241088, query id 24 localhost root Updating
update shop.orders set state = 1 where id=2
*** WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 index PRIMARY of table `shop`.`orders` trx id 23 lock_mode X waiting
*** WE ROLL BACK TRANSACTION (1)
------------
TRANSACTIONS
------------
"""


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_mysql_stalls", tmp_path, monkeypatch)


def test_the_latest_deadlock_is_read_as_both_servers_write_it():
    first, second = deadlocks.latest(MYSQL)
    assert first[:1] + first[2:] == (12, "shop.orders", "PRIMARY", False)
    assert first.statement.endswith("where id=2")
    assert second[:1] + second[2:] == (13, "shop.items", "", True)
    told = [one[:1] + one[2:] for one in deadlocks.latest(MARIADB)]
    assert told == [(9, "shop.orders", "PRIMARY", True), (8, "shop.orders", "PRIMARY", False)]


def written(at, status):
    """The status as the server writes it at this time."""
    return f"=====\n2026-11-{at} 0x7f66680c86c0 INNODB MONITOR OUTPUT\n=====\n{status}"


def test_the_first_look_shows_the_latest_deadlock_if_it_is_recent(look):
    server = Locked()
    server.metrics["lock_deadlocks"] = 3
    server.innodb_status = written("27 19:08:30", MARIADB)
    status, text = look(server, "-v", *LIMIT)
    assert status == 0
    assert (
        "[OK] the latest deadlock was 2 min 3 s ago, at 19:06:27 of the server's clock: "
        "DELETE FROM shop.orders and UPDATE shop.orders"
    ) in text
    assert "connection 9, waited for shop.orders, index PRIMARY, was rolled back: delete from" in text
    server.innodb_status = written("27 19:09:30", MARIADB)
    status, text = look(server, "-v", *LIMIT)
    assert (status, "the latest deadlock was" in text) == (0, False)
    assert sum("ENGINE" in sql for sql in server.asked) == 1  # there was no new one


@pytest.mark.parametrize("at", ["28 19:07:00", "27 19:06:00", "31 19:06:00"])
def test_a_deadlock_that_is_old_or_of_no_known_time_is_not_shown(look, at):
    server = Locked()
    server.metrics["lock_deadlocks"] = 3
    server.innodb_status = written(at, MARIADB)
    status, text = look(server, "-v")
    assert (status, "latest deadlock" in text) == (0, False)


def test_where_no_deadlock_was_counted_the_first_look_does_not_ask(look):
    server = Locked()
    server.metrics["lock_deadlocks"] = 0
    look(server)
    assert not [sql for sql in server.asked if "ENGINE" in sql]


@pytest.mark.parametrize("status", ["", "BACKGROUND THREAD", MYSQL.replace("TRANSACTION:", "TRX:")])
def test_other_words_are_no_deadlock(status):
    assert deadlocks.latest(status) == ()


def test_a_deadlock_is_told_with_its_statements_and_without_values(look):
    server = Locked()
    server.innodb_status = MYSQL
    look(server, *LIMIT)
    status, text = look(server, *LIMIT, lock_deadlocks=2)
    assert status == 1
    assert (
        "2 deadlocks in the last 1 min, the latest: UPDATE shop.orders and DELETE FROM shop.items"
        " - let both lock rows in the same order | " in text
    )
    assert (
        "connection 12, waited for shop.orders, index PRIMARY: update shop.orders set note=?, state = ?"
        in text
    )
    assert "connection 13, waited for shop.items, was rolled back: delete from shop.items where id=?" in text
    assert "secret" not in text
    assert "12345" not in text


def test_no_deadlock_is_asked_for_where_there_was_none(look):
    server = Locked()
    look(server)
    look(server)
    assert not [sql for sql in server.asked if "INNODB STATUS" in sql]


@pytest.mark.parametrize(
    ("statement", "plain"),
    [
        ("UPDATE t1 SET a = 'it''s', b = -1.5e3", "UPDATE t1 SET a = ??, b = -?"),
        ("DELETE FROM t WHERE c IN (1, 2, 0xff)", "DELETE FROM t WHERE c IN (?, …)"),
        ("SELECT /* user 7 */ `a'b` FROM t -- secret", "SELECT `a'b` FROM t"),
        ("SELECT 'a\\' OR b = 'secret", "SELECT ? …"),
        ("INSERT INTO t VALUES ('never ends", "INSERT INTO t VALUES (?"),
    ],
)  # fmt: skip
def test_a_statement_without_values(statement, plain):
    assert statements.without_values(statement) == plain


def old(age=1900, **more):
    server = Locked()
    server.transactions = [trx(HEAD, age) | more]
    server.listed = [row(HEAD, "report", "Sleep", age - 10)]
    return server


def test_an_old_transaction_tells_what_purge_keeps_for_it(look):
    server = old(isolation="REPEATABLE READ")
    server.metrics["trx_rseg_history_len"] = "120000"
    status, text = look(server)
    assert (status, numbers(text)["history_list"]) == (1, "120000")
    assert "its read view (REPEATABLE READ), if it has read, is up to 31 min 40 s old: purge keeps" in text
    assert "history list: 120 000 transactions to purge" in text.replace(",", " ")
    assert "it keeps no read view between its statements" in look(old(isolation="READ COMMITTED"))[1]


@pytest.mark.parametrize(("then", "now", "says"), [
    (120_000, 170_000, "history list: 170 000 transactions to purge, 50 000 more than 1 min ago"),
    (120_000, 120_000, "history list: 120 000 transactions to purge, as many as 1 min ago"),
    (120_000, 119_500, "history list: 120 000 transactions to purge, 500 fewer than 1 min ago"),
])  # fmt: skip
def test_what_the_history_list_grows_by_is_told_from_the_second_run_on(look, then, now, says):
    server = old(isolation="REPEATABLE READ")
    server.metrics["trx_rseg_history_len"] = str(then)
    first = look(server)[1]
    assert "transactions to purge\n" in first
    server.metrics["trx_rseg_history_len"] = str(now)
    assert says in look(server)[1]


def test_a_prepared_transaction_that_nobody_owns_is_ended_by_xa(look):
    server = old(process=0)
    server.listed = []
    found = judged(look.report(server))
    assert found == ("WARNING", LONG, "", CERTAIN, "no_connection", "END_BY_XA", 1900)
    assert "KILL" not in look(server)[1]


def test_what_is_rolled_back_after_a_crash_is_no_xa_transaction(look):
    server = old(process=0, trx_state="ROLLING BACK")
    server.listed = []
    assert judged(look.report(server))[1:6] == (LONG, "", CERTAIN, "rolls_back", "WAIT_FOR_ROLLBACK")
    assert "XA" not in look(server)[1]




def test_of_a_circle_no_thread_of_the_server_is_ended(look):
    server = Locked()
    server.listed = [
        row(HEAD, "system user", "Query", 40, "Applying batch of row changes"),
        row(WAITER, "app", "Query", 45, "User lock", "SELECT GET_LOCK('job', 500)"),
    ]
    server.locks = [
        mdl(USER_LOCK, None, "job", "EXCLUSIVE", "GRANTED", HEAD),
        mdl(USER_LOCK, None, "job", "EXCLUSIVE", "PENDING", WAITER),
    ]
    server.transactions = [trx(HEAD, 41, waits=40), trx(WAITER, 46, modified=1)]
    server.pairs = [{"waiting": f"t{HEAD}", "holding": f"t{WAITER}"}]
    assert judged(look.report(server)).step == "KILL_ONE_OF 23"


def test_a_definition_of_the_applier_is_not_proposed_to_be_killed(look):
    server = Locked()
    alters = row(WAITER, "system user", "Query", 20, MDL, "ALTER TABLE shop.orders ADD x INT")
    server.listed = [
        row(HEAD, "report", "Sleep", 600), alters,
        row(WAITER + 1, "app", "Query", 15, MDL, "SELECT * FROM shop.orders"),
    ]  # fmt: skip
    server.transactions = [trx(HEAD, 601)]
    server.locks = [
        mdl("TABLE", "shop", "orders", "SHARED_READ", "GRANTED", HEAD),
        mdl("TABLE", "shop", "orders", "EXCLUSIVE", "PENDING", WAITER),
        mdl("TABLE", "shop", "orders", "SHARED_READ", "PENDING", WAITER + 1),
    ]
    text = look(server)[1]
    assert "blocks ALTER TABLE shop.orders and 1 more" in text
    assert "KILL 23" not in text
    alters["User"] = "app"
    assert "KILL 23 lets them go on without it" in look(server)[1]


def test_waiters_for_a_table_are_not_so_many_that_the_holder_is_not_seen(look, monkeypatch):
    monkeypatch.setattr(metadata, "MOST", 3)

    class Cut(Locked):
        def rows(self, sql, *values, within=None):
            found = super().rows(sql, *values, within=within)
            if "metadata_locks" in sql and not values:
                return found[:3]
            return found[3:] if "metadata_locks" in sql else found

    server = Cut()
    server.listed = [row(HEAD, "report", "Sleep", 600)]
    for number in range(WAITER, WAITER + 3):
        server.listed.append(row(number, "app", "Query", 15, MDL, "SELECT * FROM shop.orders"))
        server.locks.append(mdl("TABLE", "shop", "orders", "SHARED_READ", "PENDING", number))
    server.locks.append(mdl("TABLE", "shop", "orders", "SHARED_NO_READ_WRITE", "GRANTED", HEAD))
    text = look(server)[1]
    assert "connection 22 report@app1 blocks at least 3 others" in text
    assert "locks of tables: not all were looked at" in text


def test_waiters_for_a_row_are_not_so_many_that_the_holder_is_not_seen(look, monkeypatch):
    """2000 transactions wait: of the 1000 that are listed, none is the one that they wait for."""
    monkeypatch.setattr(rows, "MOST", 2)

    class Cut(Locked):
        def rows(self, sql, *values, within=None):
            found = super().rows(sql, *values, within=within)
            if "INNODB_TRX" in sql:
                return found[:1] if "trx_id IN (22)" in sql else found[1:]
            return found

    server = Cut()
    server.idle_head()
    server.transactions = [one | {"trx_id": one["trx_id"][1:]} for one in server.transactions]
    server.pairs = [{"waiting": "23", "holding": "22"}]
    server.status["Innodb_row_lock_current_waits"] = "2000"
    status, text = look(server)
    assert (status, numbers(text)["waiting"]) == (1, "2000")
    assert "connection 22 report@app1 blocks at least 2 others" in text
    assert "1998 more connections waiting for a row: not looked at" in text.replace(",", "")


def test_heads_that_the_same_connections_wait_for_are_one_problem(look):
    """To KILL one of three readers does not let the definition go on."""
    server = Locked()
    readers = (20, 21, HEAD)
    server.listed = [row(number, "report", "Sleep", 600) for number in readers]
    server.listed.append(row(WAITER, "app", "Query", 20, MDL, "ALTER TABLE shop.orders ADD x INT"))
    server.transactions = [trx(number, 601) for number in readers]
    server.locks = [mdl("TABLE", "shop", "orders", "SHARED_READ", "GRANTED", number) for number in readers]
    server.locks.append(mdl("TABLE", "shop", "orders", "EXCLUSIVE", "PENDING", WAITER))
    report = look.report(server)
    assert judged(report)[1:6] == (TABLE, "20 21 22", CERTAIN, "several", "KILL 20 21 22")
    assert sum(one.is_wrong for one in report.verdicts) == 1
    assert "they wait for connection 21 report@app1, idle for 10 min" in report.ranked[0].more
    server.listed[1] = row(21, "system user", "Query", 600, "Applying batch of row changes")
    assert judged(look.report(server))[4:6] == ("one_is_not_killed", "WAIT_FOR_APPLIER 21")


def shared(*readers):
    """Let several that have locked rows of MariaDB without an id keep one waiting."""
    server = Locked("MariaDB 10.11")
    server.listed = [row(number, "report", "Sleep", 600) for number in readers]
    server.listed.append(row(99, "app", "Query", 20, "Updating", "UPDATE shop.orders SET a = 'x'"))
    server.transactions = [trx(number, 601) | {"trx_id": "0"} for number in readers[1:]]
    server.transactions += [trx(readers[0], 601), trx(99, 20, waits=20)]
    requested = server.transactions[-1]["requested"]
    holders = (f"t{readers[0]}", "0")
    server.pairs = [{"waiting": "t99", "holding": one, "requested": requested} for one in holders]
    return server


def test_of_several_heads_none_is_certain_unless_all_are(look):
    """One is named, and two others are possible: one of them is a bystander."""
    found = judged(look.report(shared(20, 21, 22)))
    assert found[1:6] == (ROW, "20 21 22", LIKELY, "several", "CHECK_FIRST 20 21 22")
    assert "perhaps not connection 21 or 22" in look(shared(20, 21, 22))[1]
    found = judged(look.report(shared(20, 21), state=False))
    assert found[1:6] == (ROW, "20 21", CERTAIN, "several", "KILL 20 21")


@pytest.mark.parametrize(("changes", "subject", "step"), [
    ({"modified": 2_000_000}, "20 21", "LET_GO 21"),
    ({"trx_state": "ROLLING BACK"}, "20 21", "WAIT_FOR_ROLLBACK 21"),
    ({"process": 0, "trx_state": "ROLLING BACK"}, "20", "WAIT_FOR_ROLLBACK"),
])  # fmt: skip
def test_of_several_heads_the_one_that_is_not_just_killed_comes_first(look, changes, subject, step):
    server = shared(20, 21)
    server.transactions[0] |= changes
    found = judged(look.report(server))
    assert found[2:6] == (subject, CERTAIN, "one_is_not_killed", step)


def test_all_of_many_heads_are_named_below(look):
    server = shared(*range(20, 35))
    assert f"connections {', '.join(map(str, range(20, 35)))}" in look(server)[1]


def backing_up(server):
    """Let connection 21 hold the backup lock beside 20, so that a definition waits for both."""
    server.listed = [row(number, "backup", "Sleep", 600) for number in (20, 21)]
    server.listed.append(
        row(WAITER, "app", "Query", 20, "Waiting for backup lock", "ALTER TABLE shop.orders ADD x INT")
    )
    server.locks = [mdl("BACKUP LOCK", None, None, "SHARED", "GRANTED", number) for number in (20, 21)]
    server.locks.append(mdl("BACKUP LOCK", None, None, "INTENTION_EXCLUSIVE", "PENDING", WAITER))


def test_of_several_backups_one_is_let_end_first(look):
    server = Locked()
    backing_up(server)
    found = judged(look.report(server))
    assert found[1:6] == (Kind.BACKUP_LOCK, "20 21", CERTAIN, "one_is_not_killed", "LET_BACKUP_END 20")


@pytest.mark.parametrize(("changes", "step"), [
    ({"process": 0}, "END_BY_XA"),
    ({"modified": 2_000_000}, "LET_GO 21"),
])  # fmt: skip
def test_of_suspects_with_another_whose_holding_is_proven_each_has_its_own_step(look, changes, step):
    """One transaction is named, and two more of MariaDB without an id may have the row, too."""
    server = shared(20, 21, 22)
    server.listed[0] = row(20, "app", "Sleep", 600)
    server.transactions[0] |= changes
    found = judged(look.report(server))
    assert (found.certainty, found.step) == (LIKELY, step)


def test_a_head_in_front_of_a_definition_with_many_changes_is_not_just_killed(look):
    server = Locked()
    server.listed = [
        row(HEAD, "report", "Sleep", 600),
        row(WAITER, "app", "Query", 20, MDL, "ALTER TABLE shop.orders ADD x INT"),
        row(WAITER + 1, "app", "Query", 15, MDL, "SELECT * FROM shop.orders"),
    ]
    server.locks = [
        mdl("TABLE", "shop", "orders", "SHARED_WRITE", "GRANTED", HEAD),
        mdl("TABLE", "shop", "orders", "EXCLUSIVE", "PENDING", WAITER),
        mdl("TABLE", "shop", "orders", "SHARED_READ", "PENDING", WAITER + 1),
    ]
    server.transactions = [trx(HEAD, 601)]
    assert judged(look.report(server)).step == "KILL 22"
    server.transactions = [trx(HEAD, 601, modified=2_000_000)]
    assert judged(look.report(server)).step == "LET_GO 22"


def test_a_head_that_the_process_list_does_not_show_is_looked_at_first(look):
    server = Locked()
    server.idle_head()
    server.listed = server.listed[1:]
    assert judged(look.report(server))[3:6] == (CERTAIN, "not_proven", "CHECK_FIRST 22")


def read_lock(*, plugin=False):
    """Let connection 22 of a MariaDB have FLUSH TABLES WITH READ LOCK, and another one wait to write."""
    server = Locked("MariaDB 10.11")
    server.listed = [
        row(HEAD, "backup", "Sleep", 25),
        row(WAITER, "app", "Query", 20, "Waiting for backup lock", "UPDATE shop.orders SET a = 1"),
    ]
    if plugin:
        server.locks = [mdl("Backup lock", "", "", "MDL_BACKUP_FTWRL2", "GRANTED", HEAD)]
    return server


def test_a_read_lock_of_mariadb_is_named_for_what_it_is_or_may_be(look):
    assert judged(look.report(read_lock()))[1:4] == (Kind.GLOBAL_READ_LOCK, "22", LIKELY)
    text = look(read_lock())[1]
    assert "what others wait for: global lock (of FLUSH TABLES WITH READ LOCK or a backup)\n" in text
    found = judged(look.report(read_lock(plugin=True), state=False))
    assert found[1:4] == (Kind.GLOBAL_READ_LOCK, "22", CERTAIN)


def test_nobody_is_told_to_install_what_waits_for_the_read_lock_itself(look):
    text = look(read_lock())[1]
    assert "the plugin metadata_lock_info names who holds them: install it when this is over" in text
    assert "INSTALL SONAME" not in text
    server = read_lock()
    server.listed += [row(number, "app", "Sleep", 25) for number in (30, 31)]
    assert judged(look.report(server, state=False))[1:6] == UNKNOWN
    assert "INSTALL SONAME" not in look(server, state=False)[1]


LONG_NAME = "the_warehouse_of_all_" + "x" * 40


@pytest.mark.parametrize("changes", [
    {},
    {"Command": "Query", "State": "updating", "Info": f"UPDATE {LONG_NAME}.{LONG_NAME} SET a = 1"},
    {"Command": "Query", "State": "waiting for handler commit", "Info": "COMMIT"},
    {"Command": "Query", "State": "s" * 64},
    {"Command": "Killed"},
    {"User": "system user", "Command": "Query"},
])  # fmt: skip
@pytest.mark.parametrize("changed", [{}, {"modified": 2_000_000}, {"modified": 20_000}, {"process": 0}])
def test_a_text_message_has_what_cause_and_next_step_whatever_names_are_long(look, changes, changed):
    server = Locked()
    server.idle_head(waits=90, idle=90)
    number = 1_234_567_890
    account = {"Id": number, "User": LONG_NAME[:32], "Host": f"{LONG_NAME}.example.com:4711"}
    server.listed[0] |= account | changes
    server.transactions[0] |= {"process": number} | changed
    report = look.report(server)
    line, first = as_text.written(report).partition(" | ")[0], report.ranked[0]
    assert len(line) <= 160, line
    line = line.removesuffix(" (+1 more problem)")
    texts = product(forms(first.what), forms(first.why), forms(first.advice))
    whole = {f"MYSQL_STALLS {first.state.name} - {what}, {why} - {advice}" for what, why, advice in texts}
    assert line in whole
    assert first.why
    assert first.advice


def test_no_other_transaction_is_said_in_plain_words(look):
    server = Locked()
    server.idle_head()
    assert "[OK] no other transaction of a client is open\n" in look(server, "-v")[1]
    assert "[OK] no transaction of a client is open\n" in look(Locked(), "-v")[1]


def test_who_has_prepared_by_xa_is_not_killed_as_that_does_not_help(look):
    """MySQL before 8.0.29: the transaction stays with its connection, and outlives it."""
    server = Locked()
    server.idle_head()
    server.digest = "XA PREPARE ?"
    assert judged(look.report(server))[4:6] == ("prepared_by_xa", "END_OWN_BY_XA 22")
    assert "KILL 22" not in look(server)[1]


XA = {"formatID": 1, "gtrid_length": 2, "bqual_length": 0, "data": "x2"}  # of XA RECOVER
CHECKED, PLAIN = ("may_be_prepared", "CHECK_XA 22"), ("idle_client", "KILL 22")
UNKNOWN = (Kind.UNKNOWN, "", POSSIBLE, "", "FIND_OLDER")


@pytest.fixture
def of_mariadb():
    server = Locked("MariaDB 10.11")
    server.idle_head()
    server.pairs[0]["requested"] = server.transactions[1]["requested"]
    return server


def test_of_mariadb_it_is_not_known_who_has_prepared(look, of_mariadb):
    assert judged(look.report(of_mariadb))[4:6] == PLAIN
    of_mariadb.prepared = [XA]
    assert judged(look.report(of_mariadb, state=False))[4:6] == CHECKED
    of_mariadb.transactions.append(trx(40, 300) | {"process": 0})  # it is of this one
    assert judged(look.report(of_mariadb, state=False))[4:6] == PLAIN
    of_mariadb.transactions[-1]["trx_state"] = "ROLLING BACK"  # which is never prepared
    assert judged(look.report(of_mariadb, state=False))[4:6] == CHECKED


def test_where_many_rows_would_be_rolled_back_nobody_is_killed_prepared_or_not(look, of_mariadb):
    of_mariadb.transactions[0]["modified"] = 2_000_000
    of_mariadb.prepared = [XA]
    assert judged(look.report(of_mariadb)).step == "LET_GO 22"


def test_who_works_is_not_prepared(look, of_mariadb):
    of_mariadb.prepared = [XA]
    of_mariadb.listed[0] |= {"Command": "Query", "State": "updating", "Info": "UPDATE shop.orders SET b = 1"}
    assert judged(look.report(of_mariadb))[4:6] == ("working_client", "KILL 22")
    assert "XA RECOVER" not in of_mariadb.asked


def test_one_of_several_that_may_be_prepared_is_looked_at_first(look, of_mariadb):
    of_mariadb.prepared = [XA]
    of_mariadb.listed.append(row(21, "report", "Sleep", 240))
    of_mariadb.transactions.append(trx(21, 241, modified=3))
    of_mariadb.pairs.append({**of_mariadb.pairs[0], "holding": "t21"})
    found = judged(look.report(of_mariadb))
    assert (found.evidence, found.step.split()[0]) == ("one_is_not_killed", "CHECK_XA")


def test_a_server_that_refuses_to_tell_what_is_prepared_is_asked_for_the_rest(look, of_mariadb):
    of_mariadb.denied = {"XA RECOVER": "XA_RECOVER_ADMIN"}
    assert judged(look.report(of_mariadb)) == ("WARNING", ROW, "22", CERTAIN, *CHECKED, 12)


def test_a_long_transaction_that_blocks_nobody_may_be_prepared_too(look, of_mariadb):
    del of_mariadb.listed[1:], of_mariadb.transactions[1:], of_mariadb.pairs[:]
    of_mariadb.transactions[0]["age"] = 7200
    assert judged(look.report(of_mariadb)) == ("WARNING", LONG, "22", CERTAIN, *PLAIN, 7200)
    of_mariadb.prepared = [XA]
    assert judged(look.report(of_mariadb, state=False)) == ("WARNING", LONG, "22", CERTAIN, *CHECKED, 7200)


def test_what_is_prepared_is_not_asked_while_nobody_waits_nor_of_mysql(look, of_mariadb):
    mysql = Locked()
    mysql.idle_head()
    look(mysql)
    del of_mariadb.listed[1:], of_mariadb.transactions[1:]
    look(of_mariadb, state=False)
    assert all(server.asked and "XA RECOVER" not in server.asked for server in (mysql, of_mariadb))


def test_nothing_names_who_has_the_lock_of_a_table_of_myisam(look):
    server = Locked("MariaDB 10.11")
    server.listed = [
        row(HEAD, "report", "Query", 30, "Sending data", "SELECT * FROM shop.orders"),
        row(WAITER, "app", "Query", 20, "Waiting for table level lock", "UPDATE shop.orders SET a = 1"),
    ]
    found = judged(look.report(server))
    assert found == ("WARNING", Kind.TABLE_LOCK, "22", LIKELY, "not_proven", "CHECK_FIRST 22", 20)
    assert "metadata_lock_info" not in look(server)[1]
    server.listed.append(row(30, "report", "Query", 40, "Sending data", "SELECT * FROM shop.orders"))
    assert judged(look.report(server, state=False))[1:6] == UNKNOWN
    assert "metadata_lock_info" not in look(server, state=False)[1]
