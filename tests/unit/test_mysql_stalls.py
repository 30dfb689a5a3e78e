"""What check_mysql_stalls says of one head, from look to look."""

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, MDL, USER_LOCK, WAITER, Locked, judged, mdl, row, trx
from stallwatch.causes import Certainty, Kind
from stallwatch.sources.mysql import NoAnswerError

CERTAIN, LIKELY, POSSIBLE = Certainty
ROW, TABLE, USER, UNKNOWN = Kind.ROW_LOCK, Kind.METADATA_LOCK, Kind.USER_LOCK, Kind.UNKNOWN


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_mysql_stalls", tmp_path, monkeypatch)


def test_a_server_on_which_nobody_waits_is_asked_little(look):
    server = Locked()
    assert judged(look.report(server)) == ("OK", None, "", None, "", "", 0)
    assert not [
        sql for sql in server.asked if "data_lock" in sql or "metadata" in sql or sql == "SHOW PROCESSLIST"
    ]


def test_a_head_that_is_idle_for_longer_than_others_wait_has_blocked_them(look):
    server = Locked()
    server.idle_head(waits=12)
    found = judged(look.report(server))
    assert found == ("WARNING", ROW, "22", CERTAIN, "idle_client", "KILL 22", 12)
    text = look(server)[1]
    assert "its last statement: UPDATE `orders` SET `a` = ?" in text
    assert "row lock on shop.orders, index PRIMARY" in text
    assert "'x'" not in text


def test_it_is_the_head_that_counts_and_not_the_waiter(look):
    """A single wait ends at innodb_lock_wait_timeout, and its successor begins."""
    server = Locked()
    server.idle_head(waits=12)
    assert look(server)[0] == 1
    server.idle_head(waits=5, idle=301)
    found = judged(look.report(server, after=61))
    assert found == ("CRITICAL", ROW, "22", CERTAIN, "idle_client", "KILL 22", 61)


def test_another_transaction_of_the_same_connection_is_another_head(look):
    server = Locked()
    server.idle_head(waits=1, idle=1, started="2026-11-18 13:00:00")
    look(server)
    server.idle_head(waits=1, idle=1, started="2026-11-18 13:01:00")
    status, text = look(server, after=61)
    assert (status, numbers(text)["stalled"]) == (0, "1s")


def test_two_looks_that_are_far_apart_say_nothing_of_the_time_between(look):
    server = Locked()
    server.idle_head(waits=2)
    look(server)
    server.idle_head(waits=2, idle=4000)
    assert numbers(look(server, after=3600)[1])["stalled"] == "2s"


def test_a_head_at_work_is_a_warning_at_most_until_another_look_shows_it(look):
    """It may have got its locks a moment ago, after it had waited itself."""
    server = Locked()
    server.idle_head(waits=90, idle=100)
    server.listed[0] = row(HEAD, "report", "Query", 100, "executing", "UPDATE shop.orders SET a = 1")
    found = judged(look.report(server))
    assert found == ("WARNING", ROW, "22", CERTAIN, "working_client", "KILL 22", 90)
    assert judged(look.report(server, after=61)).state == "CRITICAL"


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
    assert judged(look.report(server))[4:6] == ("many_rows", "LET_GO 22")


@pytest.mark.parametrize(
    ("user", "command", "step"),
    [
        ("system user", "Query", "WAIT_FOR_APPLIER 22"),
        ("event_scheduler", "Daemon", "WAIT_FOR_THREAD 22"),
        ("app", "Killed", "WAIT_FOR_ROLLBACK 22"),
    ],
)
def test_no_thread_of_the_server_is_proposed_to_be_killed(look, user, command, step):
    server = Locked()
    server.idle_head()
    server.listed[0] = row(HEAD, user, command, 240)
    assert judged(look.report(server)).step == step
    assert "KILL 22" not in look(server)[1]


def test_a_prepared_xa_transaction_has_nobody_to_kill(look):
    server = Locked()
    server.idle_head()
    server.listed = server.listed[1:]
    server.transactions[0] |= {"process": 0}
    found = judged(look.report(server))
    assert found == ("WARNING", ROW, "", CERTAIN, "no_connection", "END_BY_XA", 12)
    assert "KILL" not in look(server)[1]


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
    assert judged(look.report(server)) == ("WARNING", TABLE, "22", CERTAIN, "idle_client", "KILL 22", 601)
    assert judged(look.report(server, after=61)).state == "CRITICAL"


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
    assert (status, numbers(text)["stalled"], numbers(text)["user_lock"]) == (0, "0s", "90s")
    found = judged(look.report(server, "--user-lock-warning", "10", state=False))
    assert found == ("WARNING", USER, "22", CERTAIN, "idle_client", "KILL 22", 90)


@pytest.mark.parametrize("version", ["MariaDB 10.11", "MySQL 5.7"])
@pytest.mark.parametrize(("statement", "holder", "kind"), [
    ("SELECT GET_LOCK('job', 500)", HEAD, USER),
    ('DO get_lock( "job" ,500)', HEAD, USER),
    ("SELECT GET_LOCK('job', 500)", None, UNKNOWN),  # released meanwhile
    ("SELECT GET_LOCK('job', 500)", WAITER, UNKNOWN),  # had meanwhile
    ("SELECT GET_LOCK('a', 1), GET_LOCK('job', 500)", HEAD, UNKNOWN),  # which of the two?
    ("SELECT GET_LOCK(@job, 500), GET_LOCK('job', 0)", HEAD, UNKNOWN),
    ("SELECT GET_LOCK(CONCAT('job', 'x'), 500)", HEAD, UNKNOWN),
    ("/* like GET_LOCK('job', 5) */ SELECT acquire('orders')", HEAD, UNKNOWN),
    ("INSERT INTO audit VALUES (\"GET_LOCK('job', 5)\", acquire('orders'))", HEAD, UNKNOWN),
    ("SELECT GET_LOCK('job', 0) AS a" + "b" * 70, HEAD, UNKNOWN),  # cut: what follows?
    ("select get_lock('job', -1) as got", HEAD, USER),
])  # fmt: skip
def test_a_user_lock_that_no_table_shows_is_asked_for_by_its_name(look, version, statement, holder, kind):
    server = Locked(version)
    user_lock(server, 90)
    server.locks, server.used_locks = [], {"job": holder}
    server.listed[1]["Info"] = statement
    assert judged(look.report(server, "--user-lock-warning", "10")).kind is kind


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
    causes = [one.cause for one in look.report(server, "--user-lock-warning", "10").ranked if one.is_wrong]
    assert {(one.kind, one.subject.id, one.certainty) for one in causes} == {
        (USER, "22", CERTAIN), (USER, "24", CERTAIN), (TABLE, "26", LIKELY)
    }  # fmt: skip


def test_a_circle_of_locks_of_several_kinds_has_no_head_and_any_of_it_may_be_ended(look):
    server = Locked()
    user_lock(server, 45)
    server.listed[0] = row(HEAD, "report", "Query", 40, "updating", "UPDATE shop.orders SET a = 1")
    server.transactions = [trx(HEAD, 41, waits=40), trx(WAITER, 46, modified=1)]
    server.pairs = [{"waiting": f"t{HEAD}", "holding": f"t{WAITER}"}]
    found = judged(look.report(server))
    assert found == ("WARNING", Kind.LOCK_CIRCLE, "22 23", CERTAIN, "circle", "KILL_ONE_OF 22 23", 40)
    text = look(server)[1]
    assert "  connection 22 waits for the row lock on shop.orders, index PRIMARY of connection 23\n" in text
    assert "  connection 23 waits for the user lock job of connection 22\n" in text


@pytest.mark.parametrize(
    ("waits", "age", "expected"),
    [
        # One waits on, the other was ended by error 1205 and tries again.
        (70, 71, ("CRITICAL", Kind.LOCK_CIRCLE, "22 23", 61)),
        # Both tried again, in the transaction that has the row: they may have met anew.
        (3, 71, ("WARNING", Kind.LOCK_CIRCLE, "22 23", 61)),
        # Both are new: the circle of a moment ago was another.
        (3, 4, ("OK", None, "", 2)),
    ],
)
def test_a_circle_goes_on_while_one_of_it_waits_on_and_perhaps_in_its_transaction(look, waits, age, expected):
    server = Locked()
    server.pairs = [{"waiting": f"t{HEAD}", "holding": f"t{WAITER}"}]
    user_lock(server, 9)
    server.listed[0] = row(HEAD, "report", "Query", 8, "updating", "UPDATE shop.orders SET a = 1")
    server.transactions = [trx(HEAD, 8, waits=8), trx(WAITER, 10, modified=1)]
    assert judged(look.report(server))[-1] == 8
    user_lock(server, waits)
    server.listed[0] = row(HEAD, "report", "Query", 2, "updating", "UPDATE shop.orders SET a = 1")
    server.transactions = [trx(HEAD, 2, waits=2), trx(WAITER, age, modified=1)]
    state, kind, ids, *_, seconds = judged(look.report(server, after=61))
    assert (state, kind, ids, seconds) == expected


def test_of_a_circle_it_is_known_who_waits_behind_it_and_since_when(look):
    server = Locked()
    user_lock(server, 45)
    server.listed[0] = row(HEAD, "report", "Query", 40, "updating", "UPDATE shop.orders SET a = 1")
    server.listed.append(row(31, "app", "Query", 20, "updating", "UPDATE shop.orders SET a = 2"))
    server.transactions = [trx(HEAD, 41, waits=40), trx(WAITER, 46, modified=1), trx(31, 20, waits=20)]
    server.pairs = [{"waiting": f"t{one}", "holding": f"t{WAITER}"} for one in (HEAD, 31)]
    report = look.report(server)
    assert report.time - report.ranked[0].cause.since == pytest.approx(40, abs=1)
    assert ", with 1 other behind, " in look(server)[1]


def test_who_may_not_see_who_blocks_is_told_what_to_grant(look):
    server = Locked()
    server.idle_head(waits=45)
    server.denied = {"performance_schema": "SELECT on performance_schema.threads"}
    assert judged(look.report(server)) == ("WARNING", UNKNOWN, "", POSSIBLE, "", "GRANT", 45)
    assert "(needs SELECT ON performance_schema.*)" in look(server)[1]


def test_who_may_not_see_others_knows_nothing(look):
    server = Locked()
    server.denied = {"INNODB_TRX": "PROCESS"}
    status, text = look(server)
    assert (status, text.startswith("MYSQL_STALLS UNKNOWN - db1:3306 denied it")) == (3, True)


def test_a_costly_look_that_the_server_ends_leaves_the_rest(look):
    server = Locked()
    server.idle_head(waits=45)
    server.failing = {"data_lock_waits": NoAnswerError("db1:3306 took too long", number=3024)}
    assert judged(look.report(server)) == ("WARNING", UNKNOWN, "", POSSIBLE, "", "FIND_OLDER", 45)
    assert "is not all known" not in look(server)[1]


def test_timeouts_and_deadlocks_are_counted_from_look_to_look(look):
    server = Locked()
    assert "first look: lock wait timeouts and deadlocks are reported from the next run on" in look(server)[1]
    report = look.report(server, lock_timeouts=2, lock_deadlocks=1)
    timed_out = ("WARNING", Kind.LOCK_TIMEOUTS, "", CERTAIN, "", "SEE_RETRIES", 2)
    assert (judged(report), judged(report, "deadlocks").value) == (timed_out, 1)
    status, text = look(server, lock_deadlocks=1)
    assert (status, numbers(text)["deadlocks"]) == (0, "1")


@pytest.mark.parametrize(("before", "idle", "explained"), [(True, 301, True), (False, 20, False)])
def test_waits_that_timed_out_follow_from_a_head_that_was_there_all_the_time(look, before, idle, explained):
    """A head that came after the last look need not have kept anybody waiting for so long."""
    server = Locked()
    if before:
        server.idle_head(waits=5)
    look(server)
    server.idle_head(waits=15, idle=idle)
    report = look.report(server, lock_timeouts=2)
    assert judged(report).kind is ROW
    (timeouts,) = [one for one in report.verdicts if one.name == "timeouts"]
    assert (timeouts.root is not None) == explained
    assert (timeouts in report.ranked) != explained


def test_a_transaction_that_blocks_nobody_is_a_warning_after_half_an_hour(look):
    server = Locked()
    server.transactions = [trx(HEAD, 1800)]
    server.listed = [row(HEAD, "report", "Sleep", 1790)]
    assert look(server)[0] == 0
    server.transactions = [trx(HEAD, 1900)]
    found = judged(look.report(server))
    assert found == ("WARNING", Kind.LONG_TRANSACTION, "22", CERTAIN, "idle_client", "KILL 22", 1900)
    server.listed = [row(HEAD, "system user", "Query", 1790)]
    assert look(server)[0] == 0
