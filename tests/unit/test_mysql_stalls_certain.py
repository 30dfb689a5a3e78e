"""What check_mysql_stalls is certain of, and what it is not: each is a situation of a real server."""

import pytest
from captured_runs import Runs, numbers
from locked_server import HEAD, MDL, WAITER, Locked, judged, mdl, row, trx
from stallwatch.causes import Certainty, Kind
from stallwatch.probes.mysql_stalls import collect
from stallwatch.sources.mysql import Flavour

CERTAIN, LIKELY, POSSIBLE = Certainty
ROW, TABLE = Kind.ROW_LOCK, Kind.METADATA_LOCK


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_mysql_stalls", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("took", "state", "step"),
    [
        (0.01, "CRITICAL", "KILL 22"),
        (100.0, "WARNING", "LOOK_AGAIN 22"),
        (None, "WARNING", "KILL 22"),
    ],
)
def test_mysql_counts_idle_seconds_from_the_begin_of_the_last_statement(look, took, state, step):
    """Measured on 5.7.22, 8.0.15 and 9.7.2. That statement may have waited for the same row itself."""
    server = Locked()
    server.idle_head(waits=100, idle=101)
    server.took = took
    found = judged(look.report(server))
    assert (found.state, found.step, found.value) == (state, step, 100)


def test_who_no_longer_sleeps_when_asked_for_the_last_statement_is_not_idle_for_a_known_time(look):
    """Its time in the process list and the time of its last statement are of two moments."""
    server = Locked()
    server.idle_head(waits=100, idle=101)
    server.went_on = (HEAD,)
    assert judged(look.report(server))[::6] == ("WARNING", 100)


def test_mariadb_counts_them_from_its_end(look):
    server = Locked("MariaDB 10.11")
    server.idle_head(waits=100, idle=101)
    server.took = 100.0
    assert look(server)[0] == 2


@pytest.mark.parametrize("command", ["Sleep", "Query"])
def test_who_did_something_just_now_may_be_the_head_since_just_now(look, command):
    """A row that each of many holds for 1.5 s: the transaction of the head began when it came to wait."""
    server = Locked()
    server.idle_head(waits=20, idle=0)
    server.listed[0] = row(HEAD, "app", command, 0, "", None if command == "Sleep" else "SELECT 1")
    server.transactions[0] = trx(HEAD, 26)
    found = judged(look.report(server))
    assert found == ("WARNING", ROW, "22", CERTAIN, "turn_may_be_new", "LOOK_AGAIN 22", 20)
    assert judged(look.report(server)).step == "KILL 22"  # it is still the head


def restore(server, waits):
    """Let connection 22 restore a table, statement by statement, that it has locked for others."""
    server.listed = [
        row(HEAD, "report", "Query", 0, "update", "INSERT INTO shop.orders VALUES (1, 'x')"),
        row(WAITER, "app", "Query", waits, MDL, "SELECT * FROM shop.orders"),
    ]
    server.transactions = [trx(HEAD, 0, started=f"2026-11-18 13:00:{waits % 60:02}")]
    server.locks = [
        mdl("TABLE", "shop", "orders", "SHARED_NO_READ_WRITE", "GRANTED", HEAD),
        mdl("TABLE", "shop", "orders", "SHARED_READ", "PENDING", WAITER),
    ]


def test_who_runs_one_statement_after_the_other_and_holds_a_table_blocks_all_the_time(look):
    """LOCK TABLES, FLUSH TABLES WITH READ LOCK: one and the same wait lasts from look to look."""
    server = Locked()
    restore(server, waits=2)
    assert look(server)[0] == 0
    restore(server, waits=63)
    status, text = look(server, after=61)
    assert (status, numbers(text)["stalled"]) == (2, "61s")
    restore(server, waits=5)
    assert look(server, after=61)[0] == 0  # another wait: nothing is known of the time between


def test_a_prepared_xa_transaction_without_a_connection_holds_metadata_locks_too(look):
    """The owner in metadata_locks is a thread that is no more (8.0.15, 9.7.2)."""
    server = Locked()
    server.listed = [row(WAITER, "app", "Query", 20, MDL, "ALTER TABLE shop.orders ADD x INT")]
    server.locks = [
        mdl("TABLE", "shop", "orders", "SHARED_WRITE", "GRANTED", None),
        mdl("TABLE", "shop", "orders", "EXCLUSIVE", "PENDING", WAITER),
    ]
    server.transactions = [trx(0, 40)]
    found = judged(look.report(server))
    assert found == ("WARNING", TABLE, "", CERTAIN, "no_connection", "END_BY_XA", 20)
    server.transactions.append(trx(0, 3, started="2026-11-18 13:00:37") | {"trx_state": "ROLLING BACK"})
    found = judged(look.report(server, state=False))
    assert found[1:6] == (TABLE, "", CERTAIN, "one_of_several_without_connection", "FIND_BY_XA")
    server.transactions = []  # who had it has just logged out
    assert judged(look.report(server, state=False)).kind is Kind.UNKNOWN


@pytest.mark.parametrize("command", ["Sleep", "Query"])
def test_a_backup_is_ended_only_as_the_second_choice(look, command):
    server = Locked()
    server.listed = [
        row(HEAD, "backup", command, 240, "", None if command == "Sleep" else "SELECT 1"),
        row(WAITER, "app", "Query", 20, "Waiting for backup lock", "ALTER TABLE shop.orders ADD x INT"),
    ]
    server.locks = [
        mdl("BACKUP LOCK", None, None, "SHARED", "GRANTED", HEAD),
        mdl("BACKUP LOCK", None, None, "INTENTION_EXCLUSIVE", "PENDING", WAITER),
    ]
    found = judged(look.report(server))
    assert found == ("WARNING", Kind.BACKUP_LOCK, "22", CERTAIN, "backup_lock", "LET_BACKUP_END 22", 20)


def test_who_waits_in_a_circle_is_not_told_of_once_more_as_an_old_transaction(look):
    server = Locked()
    server.idle_head(waits=3000, idle=3000, waiters=1)
    server.listed[0] = row(HEAD, "report", "Query", 3000, MDL, "SELECT * FROM shop.items")
    server.locks = [
        mdl("TABLE", "shop", "items", "SHARED_NO_READ_WRITE", "GRANTED", WAITER),
        mdl("TABLE", "shop", "items", "SHARED_READ", "PENDING", HEAD),
    ]
    report = look.report(server)
    assert judged(report)[1:3] == (Kind.LOCK_CIRCLE, "22 23")
    assert judged(report, "transaction").value == 0


@pytest.mark.parametrize(
    ("captured", "flavour", "requested", "table"),
    [
        ("MySQL 5.7", Flavour("Percona", (5, 7, 44), "Percona 5.7.44"), "1308:24:3:2", "INNODB_LOCK_WAITS"),
        ("MySQL 8.0", Flavour("Percona", (8, 0, 36), "Percona 8.0.36"), "140:3:4:2:139", "data_lock_waits"),
        ("MySQL 8.0", Flavour("MySQL", (8, 4, 3), "MySQL 8.4.3"), "140:3:3:4:2:139", "data_lock_waits"),
    ],
)
def test_servers_that_were_not_recorded_are_asked_as_manuals_say(look, captured, flavour, requested, table):
    """Rows in the shape that the manuals of Percona Server 5.7 and 8.0 and of MySQL 8.4 document.

    No such server was asked: see the recordings for those that were.
    """
    server = Locked(captured)
    server.flavour = flavour
    server.idle_head(waits=70)
    for one in server.transactions[1:]:
        one["requested"] = requested
    found = judged(look.report(server))
    assert found == ("CRITICAL", ROW, "22", CERTAIN, "idle_client", "KILL 22", 70)
    assert [sql for sql in server.asked if table in sql]


@pytest.mark.parametrize(
    ("followed", "kind", "subject"),
    [(500, ROW, "22"), (20, Kind.UNKNOWN, "")],
)
def test_who_waits_at_the_end_of_a_chain_that_was_not_followed_is_no_head(
    look, monkeypatch, followed, kind, subject
):
    """Of 2000 in a chain on 9.7.2, the 20 that were asked for were in its middle."""
    monkeypatch.setattr(collect, "MOST_FOLLOWED", followed)
    server = Locked()
    links = range(HEAD, HEAD + 60)
    server.listed = [row(HEAD, "report", "Sleep", 30)]
    update = ("app", "Query", 20, "updating", "UPDATE shop.orders SET a = 1")
    server.listed += [row(one, *update) for one in links[1:]]
    server.transactions = [trx(one, 30, waits=20) for one in links[:0:-1]]
    for one in server.transactions:
        one["requested"] = f"9:2:2:4:{one['process']}:1"
    server.transactions.append(trx(HEAD, 31))
    server.pairs = [{"waiting": f"t{one}", "holding": f"t{one - 1}"} for one in links[1:]]
    assert judged(look.report(server))[1:3] == (kind, subject)


@pytest.mark.parametrize("off", [False, True])
def test_who_waits_is_also_seen_where_performance_schema_is_off(look, off):
    """Its process list is empty then (9.7.2)."""
    server = Locked()
    server.without_performance_schema = off
    server.listed = [
        row(HEAD, "report", "Sleep", 240),
        row(WAITER, "app", "Query", 20, MDL, "ALTER TABLE shop.orders ADD x INT"),
    ]
    assert numbers(look(server)[1])["waiting"] == "1"


def test_different_transactions_without_a_connection_are_not_one_head(look):
    server = Locked()
    for number, age in (("t1", 12), ("t2", 12)):
        server.idle_head(waits=11)
        server.listed = server.listed[1:]
        server.transactions[0] |= {"process": 0, "trx_id": number, "age": age}
        server.pairs = [{"waiting": "t23", "holding": number}]
        status, text = look(server, after=61)
        assert (status, numbers(text)["stalled"]) == (1, "11s")
