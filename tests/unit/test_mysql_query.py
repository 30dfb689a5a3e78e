"""What check_mysql_query says of a server whose answers, and their times, a test sets."""

import json
import math
import runpy
from pathlib import Path

import pytest
from first_line import first_line, perfdata
from stallwatch.deadline import Account, Deadline
from stallwatch.sources import mysql
from stallwatch.sources.mysql import (
    DeniedError,
    Flavour,
    MissingTableError,
    MysqlError,
    NoAnswerError,
    UnknownStatementError,
    UnreachableError,
)
from stallwatch.sources.mysql.connection import Skimmed
from stallwatch.sources.mysql.errors import NotSentError
from stallwatch.units import duration

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_mysql_query"))
FLAVOURS = {
    "MySQL": Flavour("MySQL", (9, 7, 2), "MySQL 9.7.2"),
    "MariaDB": Flavour("MariaDB", (10, 11, 14), "x"),
}
HANGS = math.inf
GONE = UnreachableError("db1:3306 closed the connection: asked SELECT 1", "was it restarted?")
REFUSED = UnreachableError("db1:3306 refused the connection", "is the server up?")
STRANGER = NotSentError("db1:3306 asks for the readable password: it was not sent", "verify it")
FULL = UnreachableError("db1:3306 has no connection left", "look who holds them", 1040)
DEADLOCK = MysqlError("db1:3306 says: Deadlock found (error 1213): asked SELECT 1", "", 1213)


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    process_time = monotonic

    def sleep(self, seconds):
        self.now += seconds


class Queried:
    """A server; ``runs`` is what comes of each: seconds, an error, or both as a pair; the last goes on."""

    where = "db1:3306"

    def __init__(self, clock):
        self.clock = clock
        self.flavour = FLAVOURS["MySQL"]
        self.runs = [0.002]
        self.answer = Skimmed(1, "1")
        self.log_ins = [0.01]  # seconds or an error of each; the last goes on
        self.asked = []
        self.refused = {}  # part of a statement of the check's -> an error, or seconds
        self.open = 0
        self.connection = 40  # of the last log-in
        self.name = "one"
        self.processes = []  # rows of its process list

    def log_in(self, _, deadline, *__):
        self.deadline = deadline
        came = self.log_ins.pop(0) if len(self.log_ins) > 1 else self.log_ins[0]
        if isinstance(came, Exception):
            raise came
        self.clock.now += came
        self.let_in_after = came
        self.open += 1
        self.connection += 1
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.open -= 1

    def rows(self, sql, within):
        self.asked.append(sql)
        for part, came in self.refused.items():
            if part in sql:
                self.wait(came, within, sql)
        if "CONNECTION_ID()" in sql:
            return [{"connection": self.connection, "user": "mon@db2", "server": self.name, "started": 0}]
        return self.processes if "PROCESSLIST" in sql else []

    def skim(self, sql, within):
        self.asked.append(sql)
        self.wait(self.runs.pop(0) if len(self.runs) > 1 else self.runs[0], within, sql)
        return self.answer

    def wait(self, came, within, sql):
        if isinstance(came, Exception):
            raise came
        within = min(within, self.deadline.left())
        if came > within:
            self.take(within)
            raise NoAnswerError(f"db1:3306 has not answered within {within:.1f} s: asked {sql}")
        self.take(came)

    def take(self, seconds):
        """Let somebody wait for it."""
        self.clock.now += seconds
        self.deadline.account.waited += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (
        "deadline",
        "probes.mysql_query.collect",
        "probes.mysql_query.queries",
        "probes.mysql_query.kill",
    ):
        monkeypatch.setattr(f"stallwatch.{module}.time", clock)
    monkeypatch.setattr(Deadline, "clock", lambda _: clock.now)
    monkeypatch.setattr(Account, "lost", lambda _: 0.0)
    return clock


@pytest.fixture
def server(clock, monkeypatch):
    server = Queried(clock)
    monkeypatch.setattr(mysql, "connect", server.log_in)
    return server


@pytest.fixture
def look(server):
    def look(*arguments):
        said = PLUGIN["check"].run(PLUGIN["findings"], ["-H", "db1", *arguments])
        assert server.open == 0
        return said

    return look


# times


def test_a_server_that_answers_is_ok(look):
    status, text = look()
    assert status == 0
    assert first_line(text) == "MYSQL_QUERY OK - p95 2 ms, p50 2 ms, max 2 ms of 20 runs"
    assert perfdata(text) == {
        "p95": "0.002s;0.25;1", "p50": "0.002s", "max": "0.002s;1", "connection": "0.01s;0.25;1", "rows": "1",
    }  # fmt: skip


def test_the_articles_260_ms_are_more_than_250(look, server):
    server.runs = [0.26]
    status, text = look()
    assert status == 1
    assert first_line(text).startswith(
        "MYSQL_QUERY WARNING - p95 260 ms (limit 250 ms), p50 260 ms, max 260 ms of 20 runs - look"
    )
    assert "EXPLAIN" not in text
    assert "and EXPLAIN it" in look("-q", "SELECT a FROM b")[1]
    server.runs = [0.25]
    assert look()[0] == 0


def test_a_query_that_stays_slow_is_critical(look, server):
    server.runs = [1.5]
    status, text = look()
    assert status == 2
    assert "p95 1.5 s (limit 1 s), p50 1.5 s, max 1.5 s of 4 runs - look at" in text
    assert "[OK] 4 of 20 runs: a longer --timeout has time for more" in text


@pytest.mark.parametrize("count", [2, 3, 19, 20, 40])
def test_one_slow_run_of_several_is_a_warning_at_most(look, server, count):
    server.runs = [5.0, 0.002]
    status, text = look("--count", str(count), "-t", "20s")
    assert status == 1
    assert perfdata(text)["max"] == "5s;1"
    server.runs = [0.002] * (count - 1) + [5.0]
    assert look("--count", str(count), "-t", "20s")[0] == 1


def test_one_slow_run_is_critical_only_where_the_user_asks_for_it_and_the_help_says_so(look, server):
    """Were two needed, it would say no more than -c: both would be about the second slowest run."""
    server.runs = [5.0, 0.002]
    assert look("--max-critical", "4s", "-t", "20s")[0] == 2
    server.runs = [5.0, 0.002]
    assert look("-c", "4s", "--max-critical", "6s", "-t", "20s")[0] == 1
    words = " ".join(look("--help")[1].split())
    assert "a single slow or failed run of several is a WARNING at most, except for --max-critical" in words
    assert "time of the slowest run, in seconds" in words


@pytest.mark.parametrize("count", [2, 3, 10, 20, 39])
def test_two_slow_runs_are_the_p95_of_up_to_39(look, server, count):
    server.runs = [1.1, 1.1, 0.002]
    assert look("--count", str(count), "-t", "20s")[0] == 2


def test_the_only_run_that_is_wanted_is_judged_as_it_is(look, server):
    server.runs = [1.1]
    status, text = look("--count", "1")
    assert status == 2
    assert "answered in 1.1 s (limit 1 s) - look" in text


def test_one_slow_run_of_20_is_told_beside_a_good_p95(look, server):
    server.runs = [1.1, 0.002]
    status, text = look()
    assert status == 1
    assert "the slowest run took 1.1 s: p95 2 ms, p50 2 ms, max 1.1 s of 20 runs" in first_line(text)


def test_runs_begin_within_the_spread(look, clock):
    begun = clock.now
    look("--count", "4", "--spread", "2s")
    assert clock.now - begun == pytest.approx(1.5 + 0.002)


# logging in


def test_a_slow_log_in_is_looked_at_twice(look, server):
    server.log_ins = [1.2, 0.01]
    status, text = look()
    assert status == 1
    assert "connected in 1.2 s (p95 of 2, p50 10 ms)" in text
    server.log_ins = [1.2]
    status, text = look()
    assert status == 2
    assert "connected in 1.2 s (p95 of 2, p50 1.2 s) - look at the network, at name look-ups" in text


def test_with_reconnect_every_run_has_a_log_in_of_its_own(look, server):
    server.log_ins = [0.1, 0.3, 0.02]
    status, text = look("--reconnect", "-v")
    assert status == 0
    assert "connected in 300 ms (p95 of 20" not in text
    assert "connected in 100 ms (p95 of 20, p50 20 ms)" in text
    assert server.asked.count("SET SESSION TRANSACTION READ ONLY") == 20


def test_a_server_that_lets_nobody_in_is_critical_unless_wanted_otherwise(look, server):
    server.log_ins = [REFUSED]
    status, text = look()
    assert (status, text) == (2, "MYSQL_QUERY CRITICAL - db1:3306 refused the connection - is the server up?")
    assert look("--unreachable", "unknown")[0] == 3


@pytest.mark.parametrize(
    ("options", "log_ins"),
    [((), [STRANGER]), (["--reconnect"], [0.01, 0.01, STRANGER, 0.01])],
    ids=["at first", "among good runs"],
)
def test_a_stranger_in_the_place_of_the_server_is_unknown(look, server, options, log_ins):
    server.log_ins = log_ins
    status, text = look("--unreachable", "critical", *options)
    assert status == 3, text
    assert "UNKNOWN - db1:3306 asks for the readable password: it was not sent" in text
    server.log_ins = [1.2, STRANGER]  # a second look at a slow log-in
    assert "[UNKNOWN] db1:3306 asks for the readable password" in look()[1]


def test_one_log_in_that_fails_among_good_runs_is_a_warning(look, server):
    server.log_ins = [0.01, 0.01, FULL, 0.01]
    status, text = look("--reconnect")
    assert status == 1
    assert "db1:3306 has no connection left, 1 of 20 runs failed - look who holds them" in text


def test_a_server_that_lets_nobody_in_any_more_is_critical(look, server):
    server.log_ins = [0.01, 0.01, FULL]
    status, text = look("--reconnect")
    assert status == 2
    assert "db1:3306 has no connection left - look who holds them" in first_line(text)
    assert perfdata(text)["p95"] == "0.002s;0.25;1"


def test_a_second_log_in_that_fails_is_no_run(look, server):
    server.log_ins, server.runs = [1.2, FULL], [0.002, DEADLOCK, 0.002]
    status, text = look()
    assert status == 1
    assert "db1:3306 has no connection left, a second log-in, as the first was slow - look who" in text
    assert "1 of 20 runs failed" in text


def test_one_slow_run_after_a_slow_log_in_is_a_warning(look, server):
    server.log_ins, server.runs = [0.9], [2.7, 0.002]
    assert look()[0] == 1
    server.log_ins, server.runs = [2.4], [3.6, 0.002]
    status, text = look("--connection-critical", "9s")
    assert status == 1
    assert "of 20 runs" not in text


# answers that do not come


def test_a_query_that_never_ends_is_critical_after_two_tries_in_time(look, server, clock):
    server.runs = [HANGS]
    begun = clock.now
    status, text = look("-t", "8s")
    assert clock.now - begun <= 8
    assert status == 2
    assert (
        "has not answered within 3.2 s: asked SELECT 1, 2 of 2 runs failed - look at what it waits for"
        in text
    )
    assert "p95" not in perfdata(text)


def test_one_run_that_hangs_is_a_warning_and_the_others_are_told(look, server):
    server.runs = [0.002, 0.002, HANGS, 0.002]
    status, text = look()
    assert status == 1
    assert "has not answered within 3.2 s: asked SELECT 1, 1 of 20 runs failed" in text
    assert perfdata(text)["p95"] == "0.002s;0.25;1"


def test_a_single_run_may_take_all_the_time_there_is(look, server):
    server.runs = [6.0]
    assert "answered in 6 s" in look("--count", "1", "-t", "8s", "-w", "7s", "-c", "9s")[1]


def test_a_run_that_our_own_time_ends_is_no_failure(look, server):
    server.runs = [2.9, 2.9, 3.6]
    status, text = look("-t", "10s")
    assert status == 2
    assert (
        "p95 3.2 s (limit 1 s), p50 2.9 s, max 3.2 s of 3 runs, the last without an answer in 3.2 s - look"
        in text
    )
    assert "failed" not in text


def test_a_run_that_our_own_time_ends_took_that_long_at_least(look, server):
    server.runs = [2.0, 1.9, HANGS]
    status, text = look("-w", "3s", "-c", "5s", "--max-warning", "5s", "--expect", "1")
    assert status == 1
    assert "p95 3.1 s (limit 3 s), p50 2 s, max 3.1 s of 3 runs, the last without an answer in 3.1 s" in text


def test_a_run_may_take_as_long_as_the_critical_limit_needs(look, server):
    server.runs = [4.0]
    status, text = look("-w", "5s", "-c", "6s", "--max-warning", "6s")
    assert status == 0
    assert "p95 4 s" in text
    server.runs = [HANGS]
    status, text = look("-w", "5s", "-c", "6s", "--max-warning", "6s")
    assert status == 2
    assert "has not answered within 6.8 s: asked SELECT 1, 1" in text


@pytest.mark.parametrize("at", ["START", "COMMIT", "READ ONLY", "max_execution_time", "USE"])
def test_a_server_that_hangs_at_what_the_check_asks_besides_is_critical(look, server, clock, at):
    rows, runs = server.rows, 3 if at in ("START", "COMMIT") else 1
    begun = clock.now

    def hang_later(sql, within):
        if sum(one.startswith("START") for one in server.asked) >= runs - (at == "START"):
            server.refused, server.log_ins = {at: HANGS}, [0.01]
        return rows(sql, within)

    server.rows = hang_later
    server.refused = {} if runs > 1 else {at: HANGS}
    status, text = look("-D", "shop", "--count", "10", "-q", "SELECT 2")
    assert clock.now - begun <= 8
    assert status == 2
    assert "asked SELECT 2, 2 of" in first_line(text)
    assert "START" not in text
    assert "COMMIT" not in text


def test_a_log_in_that_hangs_until_the_end_is_critical(look, server, clock):
    log_in = server.log_in

    def hang_later(_, deadline, *__):
        if server.asked:
            clock.now += deadline.left()
            raise REFUSED
        return log_in(_, deadline)

    server.runs = [0.002]
    mysql.connect = hang_later
    status, text = look("--reconnect", "--count", "3")
    assert status == 2
    assert "refused the connection" in first_line(text)


def test_a_write_that_may_be_under_way_is_not_begun_again(look, server):
    server.runs = [HANGS]
    status, text = look("--allow-writes", "-q", "DELETE FROM t")
    assert status == 2
    assert "1 of 1 runs failed" in text


def test_failures_of_two_kinds_are_both_told(look, server):
    server.runs = [HANGS, DeniedError("db1:3306 denied it", "GRANT", 1142)]
    status, text = look("-v")
    assert status == 2
    assert "has not answered within 3.2 s: asked SELECT 1, 1 of 2 runs failed" in first_line(text)
    assert "denied it" in text


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_the_server_itself_ends_is_no_answer_even_if_it_looks_like_one(look, server, flavour):
    server.flavour = FLAVOURS[flavour]
    server.runs = [3.45]
    status, text = look("-w", "2s", "-c", "3s", "--max-warning", "3s")
    assert status == 2
    assert "db1:3306 ended it after 3.4 s: asked SELECT 1, 2 of 2 runs failed" in text


def test_the_server_is_told_to_end_it_before_we_give_up(look, server):
    look("-t", "8s")
    assert server.asked[0] == (
        "SET SESSION max_execution_time = 3145, lock_wait_timeout = 4, innodb_lock_wait_timeout = 4"
    )
    server.flavour, server.asked = FLAVOURS["MariaDB"], []
    look("-t", "8s")
    assert server.asked[0].startswith("SET SESSION max_statement_time = 3.145, ")


def test_the_server_has_a_limit_even_if_no_time_is_left(look, server):
    server.log_ins = [7.5]
    look("-t", "8s")
    assert server.asked[0].startswith("SET SESSION max_execution_time = 1, ")


def test_a_server_that_goes_away_is_critical_with_what_was_known(look, server):
    server.runs = [0.002, 0.002, GONE]
    server.log_ins = [0.01, REFUSED]
    status, text = look()
    assert status == 2
    assert "db1:3306 refused the connection - is the server up?" in first_line(text)
    assert perfdata(text)["p95"] == "0.002s;0.25;1"
    server.runs, server.log_ins = [0.002, 0.002, GONE], [0.01, REFUSED]
    assert look("--unreachable", "warning")[0] == 1


def test_a_server_that_goes_away_is_what_unreachable_says_though_it_failed_in_two_ways(look, server):
    for choice, status in [("unknown", 3), ("warning", 1), ("critical", 2)]:
        server.runs, server.log_ins = [0.002, 0.002, GONE], [0.01, REFUSED]
        found, text = look("--unreachable", choice)
        assert found == status, text
        assert "db1:3306 refused the connection - is the server up?" in first_line(text)
        assert "db1:3306 closed the connection: asked SELECT 1, 2 of 4 runs failed" in text


def test_a_query_that_failed_before_the_server_went_away_is_a_warning_all_the_same(look, server):
    server.runs, server.log_ins = [0.002, HANGS], [0.01, REFUSED]
    status, text = look("--unreachable", "unknown")
    assert status == 1
    assert "has not answered within 3.2 s: asked SELECT 1" in first_line(text)
    assert "2 of 3 runs failed" in text


def test_a_connection_that_was_killed_once_is_a_warning(look, server):
    server.runs = [0.002, GONE, 0.002]
    status, text = look()
    assert status == 1
    assert "db1:3306 closed the connection: asked SELECT 1, 1 of 20 runs failed" in text


# what the server goes on with


def running(connection, sql="SELECT 1", seconds=3):
    """A row of the process list."""
    return {"Id": connection, "User": "mon", "Command": "Query", "Time": seconds, "Info": sql}


def test_a_run_without_an_answer_is_ended_on_the_server(look, server, clock):
    rows = server.rows

    def end(sql, within):
        if sql == "KILL QUERY 41":
            server.processes = []
        return rows(sql, within)

    server.rows, server.processes, server.runs = end, [running(41)], [0.002, HANGS, 0.002]
    begun = clock.now
    status, text = look("-v")
    assert server.asked.count("KILL QUERY 41") == 1
    assert (status, "still run" in text) == (1, False)
    assert clock.now - begun < 8


def test_what_cannot_be_ended_is_told_with_its_connections(look, server, clock):
    server.runs, server.processes = [HANGS], [running(41), running(43)]
    begun = clock.now
    status, text = look("-t", "8s")
    assert clock.now - begun <= 8
    assert status == 2
    assert first_line(text).endswith(
        "2 of 2 runs failed - see if the query still runs as connections 41 and 43"
    )
    assert "[OK] the query may still run as connection 41, KILL QUERY has not ended it yet" in text


def test_a_second_connection_to_another_server_ends_nothing(look, server):
    log_in = server.log_in

    def elsewhere(*words):
        server.name = "two" if server.connection == 41 else "one"
        return log_in(*words)

    mysql.connect = elsewhere
    server.runs, server.processes = [0.002, HANGS, 0.002], [running(41)]
    status, text = look()
    assert status == 1
    assert [sql for sql in server.asked if "KILL" in sql or "PROCESSLIST" in sql] == []
    assert "see if the query still runs as connection 41 (SHOW FULL PROCESSLIST)" in text
    assert "as connection 41, a second connection to db1:3306 reached another server" in text


def test_a_run_that_our_own_time_ends_and_that_goes_on_is_told(look, server):
    server.runs, server.processes = [2.9, 2.9, HANGS], [running(41)]
    _, text = look("-t", "10s")
    assert "the last without an answer in 3.2 s, and may still run as connection 41 - look" in text


def test_a_server_that_lets_nobody_in_to_end_a_run_is_told(look, server):
    server.runs, server.log_ins = [HANGS], [0.01, FULL]
    status, text = look("--count", "1")
    assert status == 2
    assert "see if the query still runs as connection 41" in first_line(text)
    assert "as connection 41, db1:3306 has no connection left" in text


def test_a_second_log_in_has_no_more_time_than_is_kept_for_it(look, server, clock):
    log_in = server.log_in

    def slowly(target, deadline, *words):
        if server.connection == 41:
            clock.now += deadline.left()
            server.connection += 1
            raise REFUSED
        return log_in(target, deadline, *words)

    mysql.connect = slowly
    server.runs, server.processes = [0.002, HANGS, 0.002], [running(41)]
    begun = clock.now
    status, text = look("--count", "3", "--spread", "0")
    assert clock.now - begun == pytest.approx(3.245 + 0.5 + 0.02, abs=0.02)
    assert status == 1
    assert "1 of 3 runs failed" in text


@pytest.mark.parametrize("timeout", ["100ms", "500ms", "1s", "3s", "8s", "60s"])
def test_a_server_that_says_nothing_to_anybody_is_told_in_time(look, server, clock, timeout):
    begun = clock.now
    server.runs, server.refused = [HANGS], {"PROCESSLIST": HANGS}
    look("-t", timeout)
    assert clock.now - begun <= duration(timeout)


def test_a_write_is_not_ended_in_the_middle_and_that_is_told(look, server):
    server.runs, server.processes = [HANGS], [running(41, "DELETE FROM t")]
    _, text = look("--allow-writes", "-q", "DELETE FROM t")
    assert [sql for sql in server.asked if "KILL" in sql] == []
    assert "see if the query still runs as connection 41 (SHOW FULL PROCESSLIST)" in text
    assert "as connection 41, a statement that may write is not ended" in text


def test_a_server_that_does_not_tell_who_it_is_is_asked_all_the_same(look, server):
    server.refused = {"CONNECTION_ID()": MysqlError("Unknown system variable 'server_uuid'", "", 1193)}
    assert look()[0] == 0
    server.runs = [HANGS]
    status, text = look()
    assert status == 2
    assert first_line(text).endswith(
        "2 of 2 runs failed - see if the query still runs (SHOW FULL PROCESSLIST)"
    )
    assert "[OK] the query may still run, the server does not name its connection" in text


# answers that are errors


def test_one_deadlock_is_a_warning_and_two_are_critical(look, server):
    server.runs = [0.002, DEADLOCK, 0.002]
    assert look()[0] == 1
    server.runs = [0.002, DEADLOCK, DEADLOCK, 0.002]
    status, text = look()
    assert status == 2
    assert "Deadlock found (error 1213): asked SELECT 1, 2 of 3 runs failed" in text


def test_a_table_that_is_missing_is_critical(look, server):
    server.runs = [MissingTableError("db1:3306 says: Table 'shop.x' doesn't exist", "", 1146)]
    assert look()[0] == 2


@pytest.mark.parametrize(
    "error",
    [
        UnknownStatementError("db1:3306 does not know the statement", "", 1064),
        DeniedError("db1:3306 denied it to the user mon", "GRANT SELECT", 1142),
        MysqlError("db1:3306 says: No database selected (error 1046)", "", 1046),
        MysqlError(
            "db1:3306 says: Cannot execute statement in a READ ONLY transaction (error 1792)", "", 1792
        ),
    ],
)
def test_what_the_check_itself_does_wrong_is_unknown_and_not_tried_again(look, server, error):
    server.runs = [error]
    status, text = look()
    assert status == 3
    assert error.what in text
    assert server.asked.count("SELECT 1") == 1


def test_a_database_that_is_missing_is_critical_and_one_that_is_denied_unknown(look, server):
    server.refused = {"USE `sh``op`": MissingTableError("db1:3306 says: Unknown database", "", 1049)}
    assert look("-D", "sh`op")[0] == 2
    server.refused = {"USE `sh``op`": DeniedError("db1:3306 denied USE", "GRANT", 1044)}
    assert look("-D", "sh`op")[0] == 3


# what comes


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Skimmed(1, "43"), '"43" came, not "42"'),
        (Skimmed(1, ""), '"" came, not "42"'),
        (Skimmed(1, None), 'NULL came, not "42"'),
        (Skimmed(0, None), 'no row came, not "42"'),
        (Skimmed(None, None), 'no row came, not "42"'),
        (Skimmed(1, "secret " * 20), f'"{("secret " * 6)[:37].rstrip()}..." came, not "42"'),
    ],
)
def test_an_answer_other_than_expected_is_critical_and_shortened(look, server, answer, said):
    server.answer = answer
    status, text = look("--expect", "42")
    assert status == 2
    assert first_line(text) == f"MYSQL_QUERY CRITICAL - {said}"


def test_the_expected_answer_is_ok_and_never_shown(look, server):
    server.answer = Skimmed(1, "geheim")
    status, text = look("--expect", "geheim", "-v")
    assert status == 0
    assert "geheim" not in text


def test_an_answer_that_differs_now_and_then_is_a_warning(look, server):
    answers = iter([Skimmed(1, "43")])
    skim = server.skim
    server.skim = lambda *words: next(answers, None) or skim(*words)
    status, text = look("--expect", "1")
    assert status == 1
    assert '"43" came, not "1", in 1 of 20 runs' in text


def test_rows_are_counted_and_judged(look, server):
    server.answer = Skimmed(7, "x")
    status, text = look("--rows-critical", "10:")
    assert status == 2
    assert first_line(text) == "MYSQL_QUERY CRITICAL - 7 rows"
    assert look("--rows-critical", "5:")[0] == 0
    server.answer = Skimmed(None, None)
    assert "rows" not in perfdata(look("--allow-writes", "-q", "DELETE FROM t")[1])


@pytest.mark.parametrize("which", [1, 10, 20])
@pytest.mark.parametrize(("limit", "label"), [("3:", "rows_least"), ("~:3", "rows_most")])
def test_rows_of_any_run_are_judged_and_one_odd_run_is_a_warning(look, server, which, limit, label):
    odd = 0 if label == "rows_least" else 9
    runs, skim = iter(range(1, 99)), server.skim

    def differ(*words):
        skim(*words)
        return Skimmed(odd if next(runs) == which else 3, "x")

    server.skim = differ
    status, text = look("--rows-critical", limit)
    assert status == 1
    assert ("0 to 3 rows" if odd == 0 else "9 rows in a run") in first_line(text)
    assert perfdata(text)["rows"].startswith("0" if odd == 0 else "3")


def test_rows_that_are_too_few_in_every_run_are_critical(look, server):
    runs, skim = iter(range(99)), server.skim
    server.skim = lambda *words: skim(*words) and Skimmed(next(runs) % 2, "x")
    status, text = look("--rows-critical", "2:")
    assert status == 2
    assert "0 to 1 rows" in first_line(text)


# writing


def test_every_read_is_a_read_only_transaction(look, server):
    look("--count", "2")
    assert [sql for sql in server.asked[1:] if "CONNECTION_ID()" not in sql] == [
        "SET SESSION TRANSACTION READ ONLY",
        "START TRANSACTION READ ONLY", "SELECT 1", "COMMIT",
        "START TRANSACTION READ ONLY", "SELECT 1", "COMMIT",
    ]  # fmt: skip


def test_the_transaction_ends_whatever_came_of_the_query(look, server):
    server.runs = [DEADLOCK, 0.002]
    look("--count", "2")
    assert server.asked.count("COMMIT") == server.asked.count("START TRANSACTION READ ONLY") == 2


def test_no_answer_is_from_the_query_cache_of_a_mariadb(look, server):
    server.flavour = FLAVOURS["MariaDB"]
    look()
    assert "SET SESSION query_cache_type = OFF" in server.asked
    server.refused = {"query_cache_type": MysqlError("Unknown system variable", "", 1193)}
    assert look()[0] == 0


def test_a_write_is_refused_before_anything_is_asked(look, server):
    status, text = look("-q", "DELETE FROM t")
    assert status == 3
    assert "the query is refused: DELETE is not known as a read; --allow-writes lets it through" in text
    assert server.asked == []


def test_an_allowed_write_is_in_no_read_only_transaction_and_may_take_its_time(look, server):
    server.runs = [3.65]
    status, _ = look("--allow-writes", "-q", "DELETE FROM t", "--count", "2", "-w", "5s", "-c", "6s",
                     "--max-warning", "6s")  # fmt: skip
    assert status == 0
    assert [sql for sql in server.asked if "READ ONLY" in sql] == []


# other renderings


def test_a_program_reads_labels_and_limits(look):
    told = json.loads(look("--output", "json")[1])
    assert [(one["label"], one["unit"], one["warning"]) for one in told["findings"]] == [
        ("p95", "s", "0.25"),
        ("p50", "s", None),
        ("max", "s", "1"),
        ("connection", "s", "0.25"),
        ("rows", "", None),
    ]


def test_a_person_reads_what_is_wrong_first(look, server):
    server.runs = [DEADLOCK]
    told = look("--output", "human")[1].splitlines()
    assert told[0] == "mysql_query is CRITICAL"
    assert told[1].strip().startswith("CRITICAL  db1:3306 says: Deadlock found")
