"""What check_innodb_locks says beside its heads: deadlocks, open transactions, and what it left out."""

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, MDL, USER_LOCK, WAITER, Locked, mdl, row, trx
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks import deadlocks, metadata, rows

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
    return Runs("check_innodb_locks", tmp_path, monkeypatch)


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
    text = look(server)[1]
    assert "WARNING - an XA transaction without a connection is open for 31 min 40 s (limit 30 min)" in text
    assert " - end it by XA where it began | " in text
    assert "KILL" not in text


def test_what_is_rolled_back_after_a_crash_is_no_xa_transaction(look):
    server = old(process=0, trx_state="ROLLING BACK")
    server.listed = []
    text = look(server)[1]
    assert "a transaction from before the last start of the server is open for" in text
    assert " - wait for the rollback: KILL does not help" in text
    assert "XA" not in text


@pytest.mark.parametrize(("version", "pending", "says"), [
    ("waiting for handler commit", "1", "waiting for the disk"),
    ("Commit", "0", "probably waiting for the disk"),
])  # fmt: skip
def test_a_head_that_commits_for_seconds_waits_for_the_disk(look, version, pending, says):
    server = Locked()
    server.idle_head()
    server.listed[0] = row(HEAD, "app", "Query", 12, version, "COMMIT")
    server.status["Innodb_os_log_pending_writes"] = pending
    text = look(server)[1]
    assert f"on shop.orders, {says} - see what keeps the disk busy | " in text
    assert f"  cause: {says} (COMMIT)\n  next step: see what keeps the disk busy (check_host)\n" in text
    assert "KILL" not in text


def test_a_commit_that_waits_for_a_replica_or_began_just_now_does_not(look):
    for seconds, state in ((12, "Waiting for semi-sync ACK from replica"), (1, "waiting for handler commit")):
        server = Locked()
        server.idle_head()
        server.listed[0] = row(HEAD, "app", "Query", seconds, state, "COMMIT")
        assert "disk" not in look(server)[1]


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
    assert " - KILL 23 | " in look(server)[1]


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
    text = look(server)[1]
    assert "connections 20, 21 and 22 block 1 other for up to " in text
    assert " on shop.orders, all idle - KILL 20, 21 and 22 | " in text
    assert "they wait for connection 21 report@app1, idle for 10 min" in text
    assert "more problem" not in text
    server.listed[1] = row(21, "system user", "Query", 600, "Applying batch of row changes")
    text = look(server)[1]
    assert "2 of them idle - wait for 21 | " in text
    assert "next step: wait for 21: check_replication_lag shows what holds up the applier\n" in text


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
    text = look(shared(20, 21, 22))[1]
    assert "connections 20, 21 and 22 probably block 1 other" in text
    assert " - check them, then KILL 20, 21 and 22 | " in text
    assert "no table of the server names the holder: perhaps not connection 21 or 22" in text
    text = look(shared(20, 21), state=False)[1]
    assert "connections 20 and 21 block 1 other" in text
    assert " - KILL 20 and 21 | " in text


@pytest.mark.parametrize(("changes", "says"), [
    ({"modified": 2_000_000}, "let 21 commit: KILL first rolls 2,000,000 rows back, locked as long\n"),
    ({"trx_state": "ROLLING BACK"}, " - wait for the rollback of 21: KILL does not help | "),
])  # fmt: skip
def test_of_several_heads_the_one_that_is_not_just_killed_comes_first(look, changes, says):
    server = shared(20, 21)
    server.transactions[0] |= changes
    found = look(server)[1]
    assert says in found.replace("2 million", "2,000,000"), found


def test_of_several_heads_the_rollback_of_one_is_waited_for(look):
    server = shared(20, 21)
    server.transactions[0] |= {"process": 0, "trx_state": "ROLLING BACK"}
    text = look(server)[1]
    assert " - wait for the rollback of the transaction without a connection | " in text


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
    text = look(server)[1]
    assert "connections 20 and 21 block 1 other" in text
    assert " - let that backup end, or KILL 20 | " in text
    assert "KILL 20 and 21" not in text


@pytest.mark.parametrize(("changes", "says"), [
    ({"process": 0}, " - end the XA transaction by XA where it began | "),
    ({"modified": 2_000_000}, " - check 21, then let 21 commit | "),
])  # fmt: skip
def test_of_suspects_with_another_whose_holding_is_proven_each_has_its_own_step(look, changes, says):
    """One transaction is named, and two more of MariaDB without an id may have the row, too."""
    server = shared(20, 21, 22)
    server.listed[0] = row(20, "app", "Sleep", 600)
    server.transactions[0] |= changes
    text = look(server)[1]
    assert says in text, text


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
    assert ", idle - KILL 22 | " in look(server)[1]
    server.transactions = [trx(HEAD, 601, modified=2_000_000)]
    text = look(server)[1]
    assert " - let 22 commit | " in text
    assert "next step: let 22 commit: KILL first rolls 2 million rows back" in text


def test_a_head_that_the_process_list_does_not_show_is_looked_at_first(look):
    server = Locked()
    server.idle_head()
    server.listed = server.listed[1:]
    assert " - check it, then KILL 22 | " in look(server)[1]


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
    text = look(read_lock())[1]
    assert "probably blocks 1 other for up to" in text or "probably blocks 1 other for 20 s" in text
    assert " by the global lock, idle" in text
    assert "what others wait for: global lock (of FLUSH TABLES WITH READ LOCK or a backup)\n" in text
    assert " by the global read lock, idle" in look(read_lock(plugin=True), state=False)[1]


def test_nobody_is_told_to_install_what_waits_for_the_read_lock_itself(look):
    text = look(read_lock())[1]
    assert "the plugin metadata_lock_info names who holds them: install it when this is over" in text
    assert "INSTALL SONAME" not in text
    server = read_lock()
    server.listed += [row(number, "app", "Sleep", 25) for number in (30, 31)]
    text = look(server, state=False)[1]
    assert "who blocks is not known - see SHOW FULL PROCESSLIST for what is older" in text
    assert "INSTALL SONAME" not in text


def test_long_names_leave_a_text_message(look):
    server = Locked()
    server.idle_head(waits=90)
    server.listed[0]["User"] = "reporting_for_the_warehouse"
    line, *below = look(server)[1].splitlines()
    assert len(line.partition(" | ")[0]) <= 160
    assert line.partition(" | ")[0].endswith(" - KILL 22")
    assert "  next step: KILL 22, or let it commit" in below


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
    text = look(server)[1]
    assert " - end 22 by XA COMMIT or XA ROLLBACK" in text
    assert "next step: end 22 by XA COMMIT or XA ROLLBACK: KILL leaves it prepared\n" in text
    assert "KILL 22" not in text


XA = {"formatID": 1, "gtrid_length": 2, "bqual_length": 0, "data": "x2"}  # of XA RECOVER
HEDGED = " - check that XA RECOVER does not list it, then KILL 22 | "
PLAIN = " - KILL 22, or let it commit | "


@pytest.fixture
def of_mariadb():
    server = Locked("MariaDB 10.11")
    server.idle_head()
    server.pairs[0]["requested"] = server.transactions[1]["requested"]
    return server


def test_of_mariadb_it_is_not_known_who_has_prepared(look, of_mariadb):
    assert PLAIN in look(of_mariadb)[1]
    of_mariadb.prepared = [XA]
    assert HEDGED in look(of_mariadb, state=False)[1]
    of_mariadb.transactions.append(trx(40, 300) | {"process": 0})  # it is of this one
    assert PLAIN in look(of_mariadb, state=False)[1]
    of_mariadb.transactions[-1]["trx_state"] = "ROLLING BACK"  # which is never prepared
    assert HEDGED in look(of_mariadb, state=False)[1]


def test_where_many_rows_would_be_rolled_back_nobody_is_killed_prepared_or_not(look, of_mariadb):
    of_mariadb.transactions[0]["modified"] = 2_000_000
    of_mariadb.prepared = [XA]
    assert " - let 22 commit | " in look(of_mariadb)[1]


def test_who_works_is_not_prepared(look, of_mariadb):
    of_mariadb.prepared = [XA]
    of_mariadb.listed[0] |= {"Command": "Query", "State": "updating", "Info": "UPDATE shop.orders SET b = 1"}
    text = look(of_mariadb)[1]
    assert "KILL 22" in text
    assert "XA RECOVER" not in text
    assert "XA RECOVER" not in of_mariadb.asked


def test_one_of_several_that_may_be_prepared_is_looked_at_first(look, of_mariadb):
    of_mariadb.prepared = [XA]
    of_mariadb.listed.append(row(21, "report", "Sleep", 240))
    of_mariadb.transactions.append(trx(21, 241, modified=3))
    of_mariadb.pairs.append({**of_mariadb.pairs[0], "holding": "t21"})
    text = look(of_mariadb)[1]
    assert "check that XA RECOVER does not list" in text.partition(" | ")[0]


def test_a_server_that_refuses_to_tell_what_is_prepared_is_asked_for_the_rest(look, of_mariadb):
    of_mariadb.denied = {"XA RECOVER": "XA_RECOVER_ADMIN"}
    text = look(of_mariadb)[1]
    assert "connection 22 report@app1 blocks 2 others for 12 s" in text
    assert HEDGED in text


def test_a_long_transaction_that_blocks_nobody_may_be_prepared_too(look, of_mariadb):
    del of_mariadb.listed[1:], of_mariadb.transactions[1:], of_mariadb.pairs[:]
    of_mariadb.transactions[0]["age"] = 7200
    assert PLAIN in look(of_mariadb)[1]
    of_mariadb.prepared = [XA]
    assert HEDGED in look(of_mariadb, state=False)[1]


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
    text = look(server)[1]
    assert (
        "connection 22 report@app1 probably blocks 1 other for up to 20 s (limit 10 s) on shop.orders" in text
    )
    assert "metadata_lock_info" not in text
    server.listed.append(row(30, "report", "Query", 40, "Sending data", "SELECT * FROM shop.orders"))
    text = look(server, state=False)[1]
    assert "who blocks is not known - see SHOW FULL PROCESSLIST for what is older" in text
    assert "metadata_lock_info" not in text
