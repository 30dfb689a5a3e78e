"""check_mysql_query at real servers: that answer, wait, hang and end, and what they refuse."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pymysql
import pytest
from link import Link
from mariadb import Mariadb
from plugin_command import PLUGINS, Said, environment, run
from stallwatch.deadline import Deadline
from stallwatch.probes.mysql_query.functions import only_reads
from stallwatch.probes.mysql_query.kill import Running, end
from stallwatch.probes.mysql_query.queries import Query, Session
from stallwatch.probes.mysql_query.read_only import refusal
from stallwatch.sources import mysql

SLACK = 30  # seconds that a busy machine may take longer
PATIENT = (
    "-t", "30s", "--spread", "0.1s", "-w", "30s", "-c", "40s", "--max-warning", "40s",
    "--connection-warning", "20s", "--connection-critical", "30s",
)  # fmt: skip
FUNCTIONS = {
    "inserts": "INSERT INTO shop.orders VALUES (99)",
    "inserts_elsewhere": "INSERT INTO shop.old VALUES (99)",
    "unlocks": "SET SESSION {read_only} = 0",
}


@pytest.fixture
def shop(server):
    """A server with a database of orders and functions that write; an account that may do all that there."""
    trusts = server.sql("SELECT @@GLOBAL.log_bin_trust_function_creators AS it")[0]["it"]
    read_only = "tx_read_only" if isinstance(server, Mariadb) else "transaction_read_only"
    with server.session() as sql:
        sql("SET GLOBAL log_bin_trust_function_creators = 1")
        sql("DROP DATABASE IF EXISTS shop")
        sql("CREATE DATABASE shop")
        sql("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
        sql("INSERT INTO shop.orders VALUES (1), (2), (3)")
        sql("CREATE TABLE shop.old (id INT) ENGINE = MyISAM")
        for name, body in FUNCTIONS.items():
            does = body.format(read_only=read_only)
            sql(f"CREATE FUNCTION shop.{name}() RETURNS INT MODIFIES SQL DATA BEGIN {does}; RETURN 1; END")
    server.mon = server.account("query", "ALL ON shop.*")
    yield server
    server.revive()
    server.disconnect_others()
    server.sql("SET GLOBAL log_bin_trust_function_creators = %s", trusts)
    server.sql("DROP DATABASE shop")
    server.sql("DROP USER query")


@pytest.fixture
def check(shop, tmp_path):
    """Run the plugin there over TCP; limits that a busy machine keeps, unless others are given."""

    def check(*arguments, at=("-H", "127.0.0.1"), port=None):
        where = (*at, "-P", port or shop.port) if "-H" in at else at
        password = {"STALLWATCH_MYSQL_PASSWORD": shop.mon.password}
        words = (*where, "-u", shop.mon.user, *PATIENT, *arguments)
        return Said.of(run(tmp_path, "check_mysql_query", *words, variables=password))

    return check


def count(shop, table="orders"):
    ((number,),) = (row.values() for row in shop.sql(f"SELECT COUNT(*) FROM shop.{table}"))
    return number


def begun_at(server):
    """How many transactions it has begun."""
    return int(server.sql("SHOW GLOBAL STATUS LIKE 'Com_begin'")[0]["Value"])


def is_stopped(pid):
    """Whether no thread of the process runs any more."""
    states = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states == {"T"}


def eventually(true):
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


# it answers


def test_it_answers(check):
    said = check("-q", "SELECT id FROM shop.orders ORDER BY id", "--expect", "1", "-v")
    assert said.status == 0, said.output
    assert said.text.endswith("of 20 runs")
    assert said.number("rows") == 3
    assert 0 < said.number("p50") <= said.number("p95") <= said.number("max")
    assert said.number("connection") > 0


def test_it_answers_over_the_socket_to_a_new_connection_each_time(check, shop):
    said = check("-D", "shop", "-q", "SELECT COUNT(*) FROM orders", "--expect", "3", "--reconnect", "-v",
                 "--count", "5", at=("-S", shop.socket))  # fmt: skip
    assert said.status == 0, said.output
    assert "(p95 of 5, p50 " in said.output


def test_the_time_that_is_told_is_that_of_the_query(check):
    said = check("-q", "SELECT SLEEP(0.3)", "--count", "3", "-w", "250ms", "-c", "20s")
    assert said.status == 1
    assert 0.29 <= said.number("p50") <= said.number("p95")
    assert said.text.startswith("MYSQL_QUERY WARNING - p95 ")


def test_other_answers_than_expected(check):
    said = check("-q", "SELECT COUNT(*) FROM shop.orders", "--expect", "4")
    assert said.status == 2
    assert said.text == 'MYSQL_QUERY CRITICAL - "3" came, not "4"'
    assert check("-q", "SELECT NULL", "--expect", "NULL").text.endswith('NULL came, not "NULL"')
    assert check("-q", "SELECT id FROM shop.orders WHERE id > 5", "--expect", "1").text.endswith(
        'no row came, not "1"'
    )
    assert check("-q", "SELECT 'ä', 2", "--expect", "ä").status == 0


def test_an_answer_of_many_rows_is_read_to_its_end(check):
    many = "SELECT REPEAT('x', 500) FROM " + ", ".join(f"shop.orders o{number}" for number in range(9))
    said = check("-q", many, "--count", "1", "-t", "60s")
    assert said.status == 0, said.output
    assert said.number("rows") == 3**9


# it does not


def test_a_query_that_never_ends_is_critical_in_time_and_the_server_does_not_go_on_with_it(check, shop):
    begun = time.monotonic()
    said = check("-q", "SELECT SLEEP(100) FROM shop.orders", "-t", "3s", "-w", "1s", "-c", "1s")
    assert time.monotonic() - begun < 3 + SLACK
    assert said.status == 2, said.output
    assert "2 of 2 runs failed" in said.output or "1 of 1 runs failed" in said.output
    eventually(lambda: not any("SLEEP" in str(row) for row in shop.others()))


def sleeps(shop):
    """The statements that go on there."""
    return [row for row in shop.others() if "SLEEP" in str(row)]


def test_a_statement_that_the_limit_of_the_server_does_not_bind_is_ended(check, shop):
    """MySQL's is for SELECT alone."""
    for _ in range(3):  # a busy machine may not see it end in the half second that there is
        begun = time.monotonic()
        said = check("-q", "SHOW TABLES FROM shop WHERE SLEEP(100)", "-t", "4s", "--count", "1", "-vvv")
        assert time.monotonic() - begun < 4 + SLACK
        eventually(lambda: sleeps(shop) == [])
        assert said.status == 2, said.output
        if "still run" not in said.output:
            break
    assert "still run" not in said.output
    assert ("KILL QUERY" in said.output) is not isinstance(shop, Mariadb)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_statement_of_a_run_that_somebody_ends_is_ended(shop, tmp_path, number):
    where = ("-H", "127.0.0.1", "-P", str(shop.port), "-u", shop.mon.user)
    command = [
        sys.executable, PLUGINS / "check_mysql_query", *where, *PATIENT, "-q",
        "SHOW TABLES FROM shop WHERE SLEEP(100)",
    ]  # fmt: skip
    env = environment(tmp_path) | {"STALLWATCH_MYSQL_PASSWORD": shop.mon.password}

    def is_ended():
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as asks:
            eventually(lambda: sleeps(shop))
            asks.send_signal(number)
            assert " before the verdict" in asks.stdout.read()
        assert asks.returncode == 3
        time.sleep(1)
        ended = not sleeps(shop)
        shop.disconnect_others()
        eventually(lambda: not sleeps(shop))  # else the next run is taken for one that has asked
        return ended

    assert any(is_ended() for _ in range(5))  # a busy machine may not do it in the half second that there is


@pytest.fixture
def cut_off(shop):
    """Have no patience with a statement, let something happen, and end it as the check does."""

    def cut_off(port, then=lambda: None, sql="SELECT SLEEP(100), 'ä' ;"):
        def connect(deadline):
            return mysql.connect(target, deadline, known=None)

        target = mysql.Target("127.0.0.1", port, user=shop.mon.user, password=shop.mon.password)
        session = Session(connect(Deadline(60)), Query(sql), patience=60)
        with pytest.raises(mysql.NoAnswerError):
            session.ask(within=1)
        session.close()
        assert len(sleeps(shop)) == 1
        then()
        return end(connect, Running(sql, session.identity, session.runs_since), Deadline(20))

    return cut_off


def test_a_statement_of_which_we_see_no_end_is_ended_by_an_account_without_privileges(cut_off, shop):
    assert cut_off(shop.port) == ""
    assert sleeps(shop) == []


def test_a_statement_that_has_ended_meanwhile_needs_no_end(cut_off, shop):
    assert cut_off(shop.port, shop.disconnect_others) == ""


def test_a_proxy_that_leads_to_another_server_gets_nobody_killed(cut_off, shop, running_server):
    other = running_server("mysql" if isinstance(shop, Mariadb) else "mariadb")
    other.revive()
    other.account("query")
    try:
        with Link(shop.port) as link:

            def lead_elsewhere():
                link.server = (other.host, other.port)

            why = cut_off(link.port, lead_elsewhere)
            assert why == f"a second connection to 127.0.0.1:{link.port} reached another server"
            assert len(sleeps(shop)) == 1
    finally:
        other.sql("DROP USER query")


def test_a_network_that_fails_while_the_query_runs_is_told_in_time_with_the_connection(check, shop):
    said = []
    with Link(shop.port) as link:
        words = ("-q", "SELECT SLEEP(2)", "-t", "6s", "--count", "1")
        asks = threading.Thread(target=lambda: said.append((check(*words, port=link.port), time.monotonic())))
        begun = time.monotonic()
        asks.start()
        eventually(lambda: sleeps(shop))
        number = next(str(value) for name, value in sleeps(shop)[0].items() if name.lower() == "id")
        link.black_hole()
        asks.join()
    ((said, ended),) = said
    assert ended - begun < 6 + SLACK
    assert said.status == 2, said.output
    assert f"see if the query still runs as connection {number} (SHOW FULL PROCESSLIST)" in said.output


def test_who_waits_for_a_locked_table_has_no_answer(check, shop):
    with shop.session() as sql:
        sql("LOCK TABLES shop.orders WRITE")
        said = check("-q", "SELECT COUNT(*) FROM shop.orders", "-t", "3s", "--spread", "0", "--count", "1")
    assert said.status == 2, said.output
    assert "has not answered within" in said.text
    assert "look at what it waits for: SHOW FULL PROCESSLIST" in said.output
    assert check("-q", "SELECT COUNT(*) FROM shop.orders").status == 0


def test_a_lock_that_is_held_for_a_while_makes_one_run_slow(check, shop):
    said = []
    with shop.session() as sql:
        sql("LOCK TABLES shop.orders WRITE")
        words = ("-q", "SELECT COUNT(*) FROM shop.orders", "-t", "60s")
        waits = threading.Thread(target=lambda: said.append(check(*words, "--max-warning", "1s")))
        waits.start()
        eventually(lambda: any("COUNT(*)" in str(row) for row in shop.others()))
        time.sleep(1.5)
        sql("UNLOCK TABLES")
        waits.join()
    assert said[0].status == 1, said[0].output
    assert said[0].text.startswith("MYSQL_QUERY WARNING - the slowest run took ")
    assert said[0].number("p50") < 1 < said[0].number("max")


def test_a_server_that_hangs_is_critical_in_time(check, shop):
    shop.suspend()
    try:
        eventually(lambda: is_stopped(shop.pid))
        begun = time.monotonic()
        said = check("-t", "5s")
    finally:
        shop.resume()
    assert time.monotonic() - begun < 5 + SLACK
    assert said.status == 2
    assert f"process {shop.pid} is stopped" in said.text
    assert said.perfdata == {}


def test_a_server_that_ends_meanwhile_is_critical_with_what_was_known(running_server, tmp_path):
    server = running_server("mariadb")
    server.revive()
    before = begun_at(server)
    account = server.account("query")
    said = []
    words = ("-S", server.socket, "-u", "query", *PATIENT, "-t", "120s", "--count", "1000", "--spread", "60s")
    password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
    asks = threading.Thread(
        target=lambda: said.append(Said.of(run(tmp_path, "check_mysql_query", *words, variables=password)))
    )
    asks.start()
    try:
        eventually(lambda: begun_at(server) > before + 2)
    finally:
        server.stop()
        asks.join()
        server.revive()
        server.sql("DROP USER query")
    assert said[0].status == 2, said[0].output
    assert "cannot be used" in said[0].text
    assert said[0].number("p95") > 0


def test_a_connection_that_is_killed_once_is_a_warning(check, shop):
    said = []
    words = ("-q", "SELECT SLEEP(0.2)", "--count", "10", "--spread", "0")
    asks = threading.Thread(target=lambda: said.append(check(*words)))
    asks.start()
    eventually(lambda: any("SLEEP" in str(row) for row in shop.others()))
    shop.disconnect_others()
    asks.join()
    assert said[0].status == 1, said[0].output
    assert "1 of 10 runs failed" in said[0].output


@pytest.mark.own_server("the query cache can only be used if it is on at the start")
def test_answers_are_not_from_the_query_cache(own_server):
    server = own_server("mariadb", query_cache_type="ON", query_cache_size="1M")
    account = server.account("query")
    target = mysql.Target("localhost", socket=server.socket, user=account.user, password=account.password)
    with mysql.connect(target, Deadline(60), known=None) as log_in:
        session = Session(log_in, Query("SELECT COUNT(*) FROM information_schema.engines"), patience=30)
        assert log_in.rows("SELECT @@SESSION.query_cache_type AS it") == [{"it": "OFF"}]
        session.ask()


# what is wrong


WRONG = (
    (("-q", "SELECT 1 FROM"), 3, "does not know the statement SELECT 1 FROM: near '' at line 1"),
    (("-q", "SELECT id FROM orders"), 3, "No database selected"),
    (("-q", "SELECT User FROM mysql.user"), 3, "denied"),
    (("-q", "SELECT 1 FROM shop.nothing"), 2, "shop.nothing' doesn't exist"),
    (("-q", "SELECT nothing FROM shop.orders"), 2, "'nothing'"),
    (("-D", "nowhere"), 3, "denied"),
)


def test_what_is_wrong_is_told(check):
    for arguments, status, words in WRONG:
        said = check(*arguments)
        assert said.status == status, said.output
        assert words in said.text


def test_a_wrong_password_is_critical_and_tried_once(check, shop):
    shop.mon = shop.mon._replace(password="not the password")
    said = check()
    assert said.status == 2
    assert "denied access to the user query" in said.text


# it writes nothing


def test_what_a_function_writes_is_refused_by_the_read_only_transaction(check, shop):
    for sql in ("SELECT shop.inserts()", "SELECT shop.inserts_elsewhere()"):
        assert refusal(sql) == ""
        said = check("-q", sql)
        assert said.status == 3, said.output
        assert "READ ONLY transaction" in said.text
        assert "if it is to write: --allow-writes" in said.output
    assert (count(shop), count(shop, "old")) == (3, 0)


@pytest.fixture
def logged_in(shop):
    """A log-in of that account."""
    target = mysql.Target("127.0.0.1", shop.port, user=shop.mon.user, password=shop.mon.password)
    with mysql.connect(target, Deadline(60), known=None) as server:
        yield server


def test_no_lock_is_held_between_runs(shop, logged_in):
    """An ALTER that has to wait for the check keeps all others waiting, too."""
    for number, column in enumerate(("id", "nothing")):
        session = Session(logged_in, Query(f"SELECT {column} FROM shop.orders"), patience=30)
        with contextlib.suppress(mysql.MysqlError):
            session.ask()
        with shop.session() as sql:
            sql("SET SESSION lock_wait_timeout = 1")
            sql(f"ALTER TABLE shop.orders ADD COLUMN more{number} INT")


WRITES = (
    "DELETE FROM shop.orders",
    "CREATE TABLE shop.more (id INT)",
    "TRUNCATE shop.orders",
    "DROP TABLE shop.old",
    "SELECT * FROM shop.orders FOR UPDATE",
    "SELECT shop.inserts()",
)


def test_the_session_refuses_writes_that_were_taken_for_reads(shop, logged_in):
    for sql in WRITES:
        session = Session(logged_in, Query(sql), patience=30)
        for _ in range(2):
            with pytest.raises(mysql.MysqlError, match="READ ONLY transaction"):
                session.ask()
    assert (count(shop), count(shop, "old")) == (3, 0)


def test_a_function_cannot_lead_out_of_the_read_only_transaction(shop, logged_in):
    session = Session(logged_in, Query("SELECT shop.inserts()"), patience=30)
    logged_in.rows("SELECT shop.unlocks()")
    with pytest.raises(mysql.MysqlError, match="READ ONLY transaction"):
        session.ask()
    assert count(shop) == 3


def test_what_is_allowed_to_write_writes(check, shop):
    said = check("-q", "DELETE FROM shop.orders WHERE id > 1", "--allow-writes", "--count", "2")
    assert said.status == 0, said.output
    assert "rows" not in said.perfdata
    assert count(shop) == 1


# Of the servers' own: locks that others wait for, sequences, and what only their own views may call.
NOT_TAKEN = {"GET_LOCK", "RELEASE_LOCK", "RELEASE_ALL_LOCKS", "SCHEMAS"}


def test_the_functions_that_a_server_has_built_in_are_known(shop):
    """So a usual query is not refused: a new version may have new ones."""
    listed = "SELECT function AS name FROM information_schema.sql_functions"
    if not isinstance(shop, Mariadb):
        listed = (
            "SELECT t.name FROM mysql.help_topic t JOIN mysql.help_category c USING (help_category_id) "
            "WHERE c.name LIKE '%Functions' AND t.name RLIKE '^[A-Z0-9_]+$' AND c.name NOT IN "
            "('Internal Functions', 'Enterprise Encryption Functions')"
        )
    names = {row["name"] for row in shop.sql(listed)}
    assert len(names) > 200
    assert {name for name in names if not only_reads(name, quoted=False)} - NOT_TAKEN == set()


def test_what_a_server_runs_as_into_is_refused(shop):
    before = ["1", "1.", "1.5", ".5", "1e5", "1e+5", "1.5e5", "0x41", "x'41'", "'a'", '"a"', "@a", "\\N"]
    before += ["(1)", "1/**/", "1--\n", "1#\n", "1/*!*/", "1/*M!*/", "1 a", "NULL", "1\x0b"]
    into = ["INTO @x", "into\n@x", "/*!INTO*/ @x", "/*M!INTO*/ @x", "FROM shop.orders LIMIT 1INTO @x"]
    into += ["FROM(SELECT 1)a INTO@x", "UNION SELECT 3 LIMIT 0,1INTO @x"]
    modes = ("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES")
    ran = 0
    with shop.session() as sql:
        for mode, head, tail in itertools.product(modes, before, into):
            statement = f"SELECT {head}{tail}"
            sql("SET sql_mode = %s, @x = 'untouched'", mode)
            with contextlib.suppress(pymysql.Error):
                sql(statement)
            if sql("SELECT @x AS x")[0]["x"] != "untouched":
                ran += 1
                assert refusal(statement), statement
    assert ran > 200


def test_a_file_that_a_select_would_write_is_refused(check, tmp_path):
    path = tmp_path / "out"
    assert "it writes INTO something" in check("-q", f"SELECT 1 INTO OUTFILE '{path}'").text
    assert not os.path.exists(path)
