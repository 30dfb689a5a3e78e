"""What check_innodb_locks says of one head, from look to look."""

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, MDL, USER_LOCK, WAITER, Locked, mdl, row, trx
from stallwatch.sources.mysql import NoAnswerError


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_innodb_locks", tmp_path, monkeypatch)


def test_a_server_on_which_nobody_waits_is_asked_little(look):
    server = Locked()
    status, text = look(server)
    assert (status, text.splitlines()[0].partition(" | ")[0]) == (
        0, "INNODB_LOCKS OK - no connection waits for a lock, 0 open transactions"
    )  # fmt: skip
    assert not [
        sql for sql in server.asked if "data_lock" in sql or "metadata" in sql or sql == "SHOW PROCESSLIST"
    ]


def test_a_head_that_is_idle_for_longer_than_others_wait_has_blocked_them(look):
    server = Locked()
    server.idle_head(waits=12)
    status, text = look(server)
    assert status == 1
    assert text.startswith(
        "INNODB_LOCKS WARNING - connection 22 report@app1 blocks 2 others for 12 s (limit 10 s) on "
        "shop.orders, idle for 4 min - KILL 22, or let it commit | blocked=12s;10;60 "
    )
    assert "its last statement: UPDATE `orders` SET `a` = ?" in text
    assert "row lock on shop.orders, index PRIMARY" in text
    assert "'x'" not in text


def test_it_is_the_head_that_counts_and_not_the_waiter(look):
    """A single wait ends at innodb_lock_wait_timeout, and its successor begins."""
    server = Locked()
    server.idle_head(waits=12)
    assert look(server)[0] == 1
    server.idle_head(waits=5, idle=301)
    status, text = look(server, after=61)
    assert (status, numbers(text)["blocked"]) == (2, "61s")
    assert "CRITICAL - connection 22 report@app1 blocks 2 others for 1 min 1 s (limit 60 s)" in text


def test_another_transaction_of_the_same_connection_is_another_head(look):
    server = Locked()
    server.idle_head(waits=1, idle=1, started="2026-11-18 13:00:00")
    look(server)
    server.idle_head(waits=1, idle=1, started="2026-11-18 13:01:00")
    status, text = look(server, after=61)
    assert (status, numbers(text)["blocked"]) == (0, "1s")


def test_two_looks_that_are_far_apart_say_nothing_of_the_time_between(look):
    server = Locked()
    server.idle_head(waits=2)
    look(server)
    server.idle_head(waits=2, idle=4000)
    assert numbers(look(server, after=3600)[1])["blocked"] == "2s"


def test_a_head_at_work_is_a_warning_at_most_until_another_look_shows_it(look):
    """It may have got its locks a moment ago, after it had waited itself."""
    server = Locked()
    server.idle_head(waits=90, idle=100)
    server.listed[0] = row(HEAD, "report", "Query", 100, "executing", "UPDATE shop.orders SET a = 1")
    status, text = look(server)
    assert status == 1
    assert "blocks 2 others for up to 1 min 30 s (limit 10 s)" in text
    assert "runs UPDATE shop.orders - KILL 22 | " in text
    assert "  next step: KILL 22, or let it end\n" in text
    assert look(server, after=61)[0] == 2


def test_the_head_of_a_queue_that_moves_is_nobody_s_fault(look):
    """45 clients with a hot row: each holds it for 20 ms, and the longest waits for seconds."""

    class Moves(Locked):
        looks = 0

        def rows(self, sql, *values, within=None):
            found = super().rows(sql, *values, within=within)
            if "INNODB_TRX" in sql:
                self.looks += 1
                if self.looks > 1:
                    return [one for one in found if one["process"] != HEAD]
            return found

    server = Moves()
    server.idle_head(waits=20, idle=20)
    server.listed[0] = row(HEAD, "app", "Query", 0, "executing", "UPDATE shop.orders SET a = 1")
    status, text = look(server)
    assert (status, numbers(text)["waiting"]) == (0, "2")


def test_a_row_wait_below_a_second_is_not_looked_into(look):
    server = Locked()
    server.idle_head(waits=0, idle=0)
    assert look(server)[0] == 0
    assert not [sql for sql in server.asked if "data_lock" in sql]


def test_many_changed_rows_make_kill_the_second_choice(look):
    server = Locked()
    server.idle_head(modified=2_000_000)
    assert "let 22 commit: KILL first rolls 2 million rows back" in look(server)[1]


@pytest.mark.parametrize(
    ("user", "command", "says"),
    [
        ("system user", "Query", "wait: check_replication_lag shows what holds up the applier"),
        ("event_scheduler", "Daemon", "wait: it is a thread of the server"),
        ("app", "Killed", "wait for the rollback: KILL does not help"),
    ],
)
def test_no_thread_of_the_server_is_proposed_to_be_killed(look, user, command, says):
    server = Locked()
    server.idle_head()
    server.listed[0] = row(HEAD, user, command, 240)
    text = look(server)[1]
    assert says in text
    assert "KILL 22" not in text


def test_a_prepared_xa_transaction_has_nobody_to_kill(look):
    server = Locked()
    server.idle_head()
    server.listed = server.listed[1:]
    server.transactions[0] |= {"process": 0}
    text = look(server)[1]
    assert "an XA transaction without a connection blocks 2 others" in text
    assert "end it by XA where it began (XA RECOVER, XA COMMIT or ROLLBACK)" in text
    assert "KILL" not in text


def test_an_alter_table_runs_for_longer_than_it_waits(look):
    """It may have copied for two hours before it waited: the process list knows only since when it runs."""
    server = Locked()
    server.listed = [
        row(HEAD, "report", "Sleep", 600),
        row(WAITER, "app", "Query", 7200, MDL, "ALTER TABLE shop.orders ADD x INT"),
    ]
    server.transactions = [trx(HEAD, 601)]
    server.locks = [
        mdl("TABLE", "shop", "orders", "SHARED_READ", "GRANTED", HEAD),
        mdl("TABLE", "shop", "orders", "EXCLUSIVE", "PENDING", WAITER),
    ]
    status, text = look(server)
    assert (status, "for up to 10 min 1 s" in text) == (1, True), text
    assert look(server, after=61)[0] == 2


def user_lock(server, waits):
    """Let connection 22 hold the lock that connection 23 has waited for."""
    server.listed = [
        row(HEAD, "report", "Sleep", 240),
        row(WAITER, "app", "Query", waits, "User lock", "SELECT GET_LOCK('job', 500)"),
    ]
    server.locks = [
        mdl(USER_LOCK, None, "job", "EXCLUSIVE", "GRANTED", HEAD),
        mdl(USER_LOCK, None, "job", "EXCLUSIVE", "PENDING", WAITER),
    ]


def test_a_user_lock_has_a_limit_of_its_own_and_none_by_default(look):
    server = Locked()
    user_lock(server, 90)
    status, text = look(server)
    assert (status, numbers(text)["blocked"], numbers(text)["user_lock"]) == (0, "0s", "90s")
    status, text = look(server, "--user-lock-warning", "10", state=False)
    assert status == 1
    assert (
        "connection 22 report@app1 blocks 1 other for up to 1 min 30 s (limit 10 s) by the user lock job, "
        "idle for 4 min - KILL 22 | " in text
    )
    assert "  next step: KILL 22, or let it RELEASE_LOCK\n" in text


@pytest.mark.parametrize("version", ["MariaDB 10.11", "MySQL 5.7"])
@pytest.mark.parametrize(("statement", "holder", "says"), [
    ("SELECT GET_LOCK('job', 500)", HEAD, "connection 22 report@app1 blocks 1 other"),
    ('DO get_lock( "job" ,500)', HEAD, "by the user lock job, idle for 4 min - KILL 22 | "),
    ("SELECT GET_LOCK('job', 500)", None, "who blocks is not known"),  # released meanwhile
    ("SELECT GET_LOCK('job', 500)", WAITER, "who blocks is not known"),  # had meanwhile
    ("SELECT GET_LOCK('a', 1), GET_LOCK('job', 500)", HEAD, "who blocks is not known"),  # which of the two?
    ("SELECT GET_LOCK(@job, 500), GET_LOCK('job', 0)", HEAD, "who blocks is not known"),
    ("SELECT GET_LOCK(CONCAT('job', 'x'), 500)", HEAD, "who blocks is not known"),
    ("/* like GET_LOCK('job', 5) */ SELECT acquire('orders')", HEAD, "who blocks is not known"),
    ("INSERT INTO audit VALUES (\"GET_LOCK('job', 5)\", acquire('orders'))", HEAD, "who blocks is not known"),
    ("SELECT GET_LOCK('job', 0) AS a" + "b" * 70, HEAD, "who blocks is not known"),  # cut: what follows?
    ("select get_lock('job', -1) as got", HEAD, "by the user lock job"),
])  # fmt: skip
def test_a_user_lock_that_no_table_shows_is_asked_for_by_its_name(look, version, statement, holder, says):
    server = Locked(version)
    user_lock(server, 90)
    server.locks, server.used_locks = [], {"job": holder}
    server.listed[1]["Info"] = statement
    text = look(server, "--user-lock-warning", "10")[1]
    assert says in text, text


def test_the_holders_of_several_user_locks_are_asked_for_and_other_locks_have_suspects_beside(look):
    """MariaDB: that user locks have holders says nothing of who has the lock of a table."""
    server = Locked("MariaDB 10.11")
    user_lock(server, 90)
    server.locks, server.used_locks = [], {"job": HEAD, "mail": 24}
    server.listed += [
        row(24, "report", "Sleep", 240),
        row(25, "app", "Query", 80, "User lock", "SELECT GET_LOCK('mail', 500)"),
        row(26, "batch", "Sleep", 300),
        row(27, "app", "Query", 95, MDL, "ALTER TABLE shop.orders ADD x INT"),
    ]
    server.transactions = [trx(26, 301)]
    text = look(server, "--user-lock-warning", "10")[1]
    assert "connection 22 report@app1 blocks 1 other" in text
    assert "connection 24 report@app1 blocks 1 other" in text
    assert "connection 26 batch@app1 probably blocks 1 other" in text


def test_a_circle_of_locks_of_several_kinds_has_no_head_and_any_of_it_may_be_ended(look):
    server = Locked()
    user_lock(server, 45)
    server.listed[0] = row(HEAD, "report", "Query", 40, "updating", "UPDATE shop.orders SET a = 1")
    server.transactions = [trx(HEAD, 41, waits=40), trx(WAITER, 46, modified=1)]
    server.pairs = [{"waiting": f"t{HEAD}", "holding": f"t{WAITER}"}]
    status, text = look(server)
    assert (status, numbers(text)["blocked"]) == (1, "40s")
    assert (
        "connections 22 and 23 wait for each other for 40 s (limit 10 s), by locks of several kinds" in text
    )
    assert " - KILL one of 22 and 23 | " in text
    assert "  connection 22 waits for the row lock on shop.orders, index PRIMARY of connection 23\n" in text
    assert "  connection 23 waits for the user lock job of connection 22\n" in text


def test_who_may_not_see_who_blocks_is_told_what_to_grant(look):
    server = Locked()
    server.idle_head(waits=45)
    server.denied = {"performance_schema": "SELECT on performance_schema.threads"}
    status, text = look(server)
    assert status == 1
    assert (
        "2 connections wait for up to 45 s (limit 10 s) for a row lock, who blocks is not known - GRANT"
        in text
    )
    assert "(needs SELECT ON performance_schema.*)" in text


def test_who_may_not_see_others_knows_nothing(look):
    server = Locked()
    server.denied = {"INNODB_TRX": "PROCESS"}
    status, text = look(server)
    assert (status, text.startswith("INNODB_LOCKS UNKNOWN - db1:3306 denied it")) == (3, True)


def test_a_costly_look_that_the_server_ends_leaves_the_rest(look):
    server = Locked()
    server.idle_head(waits=45)
    server.failing = {"data_lock_waits": NoAnswerError("db1:3306 took too long", number=3024)}
    status, text = look(server)
    assert status == 1
    assert "2 connections wait for up to 45 s (limit 10 s) for a row lock, who blocks is not known" in text
    assert "is not all known" not in text


def test_timeouts_and_deadlocks_are_counted_from_look_to_look(look):
    server = Locked()
    assert "first look: lock wait timeouts and deadlocks are reported from the next run on" in look(server)[1]
    status, text = look(server, lock_timeouts=2, lock_deadlocks=1)
    assert (status, numbers(text)["timeouts"], numbers(text)["deadlocks"]) == (1, "2", "1")
    assert "2 row lock waits timed out in the last 1 min" in text
    status, text = look(server, lock_deadlocks=1)
    assert (status, numbers(text)["deadlocks"]) == (0, "1")


def test_a_transaction_that_blocks_nobody_is_a_warning_after_half_an_hour(look):
    server = Locked()
    server.transactions = [trx(HEAD, 1800)]
    server.listed = [row(HEAD, "report", "Sleep", 1790)]
    assert look(server)[0] == 0
    server.transactions = [trx(HEAD, 1900)]
    status, text = look(server)
    assert status == 1
    assert "connection 22 report@app1 has a transaction open for 31 min 40 s (limit 30 min)" in text
    server.listed = [row(HEAD, "system user", "Query", 1790)]
    assert look(server)[0] == 0
