"""What check_ndb_transactions says of a cluster."""

import runpy
import time
from pathlib import Path

import pytest
from fake_ndb import FakeNdb
from stallwatch.options import mysql
from stallwatch.sources.mysql import NoAnswerError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_transactions"))
MAP = "information_schema.ndb_transid_mysql_connection_map"
# Of a real cluster (9.7.2): a transaction of connection 28 that has changed a row, one of 29 that wants to.
HOLDER, WAITER, THIRD = 36084872111980560, 45092071366721538, 54099270621462530
COLUMNS = {
    "cluster_transactions": (
        "node_id", "block_instance", "transid", "state", "count_operations", "outstanding_operations",
        "inactive_seconds", "client_node_id", "client_block_ref",
    ),
    "cluster_locks": (
        "node_id", "block_instance", "tableid", "fragmentid", "rowid", "transid", "mode", "state", "detail",
        "op", "duration_millis", "lock_num", "waiting_for",
    ),
    "dict_obj_info": ("id", "type", "fq_name"),
}  # fmt: skip


class Ndb(FakeNdb):
    """An SQL node 51 with the connections 28 to 30, and a program at node 53."""

    def __init__(self, nodes=(3, 4)):
        super().__init__(nodes)
        self.columns = dict(COLUMNS)
        self.tables |= {name: [] for name in COLUMNS}
        self.tables["dict_obj_info"] = [
            {"id": 21, "type": 2, "fq_name": "shop/def/seats"},
            {"id": 21, "type": 20, "fq_name": "ts_1"},
        ]
        self.tables["processes"] = [
            {"node_id": 51, "process_name": "mysqld", "service_URI": "mysql://db1:3306/?server-id=51"},
            {"node_id": 53, "process_name": "loader", "service_URI": None},
        ]
        self.tables[MAP] = [
            {"mysql_connection_id": number, "node_id": 51, "ndb_transid": transaction + 7}
            for number, transaction in ((28, HOLDER), (29, WAITER), (30, THIRD), (0, 53 << 32))
        ]

    def transaction(self, number=HOLDER, inactive=0, operations=1, outstanding=0, client=51, block=32776):
        state = "" if outstanding else "Started"
        row = (3, 1, number, state, operations, outstanding, inactive, client, block)
        self.tables["cluster_transactions"].append(
            dict(zip(COLUMNS["cluster_transactions"], row, strict=True))
        )

    def lock(self, number, state, millis, node=4, row=0, table=21):
        values = (node, 2, table, 3, row, number, "X", state, "", "UPDATE", millis, 4031, None)
        self.tables["cluster_locks"].append(dict(zip(COLUMNS["cluster_locks"], values, strict=True)))

    def held(self, held=8000, waited=(1000,), row=0):
        """A row that the holder has locked on both replicas, and others wait for on the primary one."""
        self.lock(HOLDER, "H", held + 20, node=3, row=row)
        self.lock(HOLDER, "H", held, row=row)
        for number, millis in zip((WAITER, THIRD), waited, strict=False):
            self.lock(number, "W", millis, row=row)


@pytest.fixture
def ndb():
    return Ndb()


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin at that cluster."""
    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return lambda *arguments: PLUGIN["check"].run(
        PLUGIN["findings"], ["--state-dir", str(tmp_path), *arguments]
    )


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def perfdata(text):
    items = text.splitlines()[0].partition(" | ")[2].split()
    return dict(item.split("=") for item in items)


def test_nothing_open_is_ok_and_costs_few_statements(look, ndb):
    status, text = look()
    assert status == 0
    assert text == (
        "NDB_TRANSACTIONS OK - no open transactions | inactive=0s;300 lock_held=0s;5 lock_wait=0s;5 "
        "transactions=0 operations=0 largest=0"
    )
    assert len(ndb.asked) == 4


def test_transactions_are_counted(look, ndb):
    ndb.transaction(inactive=12, operations=20)
    ndb.transaction(WAITER, operations=3)
    status, text = look()
    assert status == 0
    assert first_line(text) == (
        "NDB_TRANSACTIONS OK - 2 open transactions with 23 operations, inactive for at most 12 s, "
        "no lock waits"
    )
    assert perfdata(text) == {
        "inactive": "12s;300", "lock_held": "0s;5", "lock_wait": "0s;5", "transactions": "2",
        "operations": "23", "largest": "20",
    }  # fmt: skip


def test_locks_are_read_only_if_somebody_might_wait(look, ndb):
    ndb.transaction(inactive=12, operations=20)
    look()
    assert not any("cluster_locks" in sql for sql in ndb.asked)
    ndb.transaction(WAITER, outstanding=1)
    look()
    assert any("cluster_locks" in sql for sql in ndb.asked)


def test_the_data_nodes_own_transactions_do_not_count(look, ndb):
    ndb.transaction(inactive=1000, client=4, block=256)
    assert look()[1].startswith("NDB_TRANSACTIONS OK - no open transactions")


@pytest.mark.parametrize(("inactive", "status"), [(300, 0), (301, 1)])
def test_an_open_transaction_without_activity_warns(look, ndb, inactive, status):
    ndb.transaction(inactive=inactive)
    assert look()[0] == status


def test_whose_it_is_and_what_ends_it_is_said(look, ndb):
    ndb.transaction(inactive=720, operations=20000)
    ndb.transaction(WAITER, inactive=400)
    ndb.transaction(THIRD, inactive=3)
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_TRANSACTIONS WARNING - a transaction of connection 28 of SQL node 51 (db1:3306) has been open "
        "without activity for 12 min (20000 operations), as 1 more: it keeps its locks until its client goes "
        "on: KILL 28 on SQL node 51 ends it and lets go of its locks"
    )


def test_one_is_one(look, ndb):
    ndb.transaction(inactive=4)
    _, text = look("-v")
    assert first_line(text).startswith("NDB_TRANSACTIONS OK - 1 open transaction with 1 operation, ")
    assert "[OK] 1 open transaction\n" in text
    assert "[OK] 1 operation in all open transactions" in text


def test_of_very_many_some_are_read(look, ndb):
    for number in range(47):
        ndb.transaction(HOLDER + (number << 33), inactive=720)
    _, text = look()
    assert "(1 operation), as at least 9 more" in first_line(text)


def test_a_transaction_that_waits_for_a_data_node_is_not_inactive(look, ndb):
    ndb.transaction(inactive=1000, outstanding=1)
    status, text = look()
    assert status == 0
    assert perfdata(text)["inactive"] == "0s;300"


def test_limits_are_the_users(look, ndb):
    ndb.transaction(inactive=20)
    assert look("-w", "10")[0] == 1
    assert look("-w", "10", "-c", "15")[0] == 2
    assert look("--operations-warning", "0")[0] == 1
    status, text = look("--largest-critical", "0")
    assert status == 2
    assert "NDB error 261" in first_line(text)


def test_without_process_the_node_is_named_and_the_grant_once(look, ndb):
    ndb.denied.add(MAP)
    ndb.transaction(inactive=720)
    ndb.held(waited=(6000,))
    ndb.transaction(WAITER, outstanding=1, inactive=6)
    status, text = look("-v")
    assert status == 1
    assert "a transaction of SQL node 51 (db1:3306) has been open without activity for 12 min" in text
    assert "ndbinfo.server_transactions on SQL node 51 tells the connection to KILL" in text
    assert text.count("PROCESS") == 1
    assert (
        "[OK] which connection of its SQL node it is, is not seen: GRANT PROCESS ON *.* TO 'mon'@'%'" in text
    )


def test_a_program_is_named_as_one(look, ndb):
    ndb.transaction(53 << 48, inactive=720, client=53)
    _, text = look()
    assert "a transaction of API node 53 (loader) has been open without activity" in text
    assert "see what API node 53 does" in text


def test_a_connection_of_another_sql_node_is_not_known_here(look, ndb):
    ndb.tables["processes"].append({"node_id": 52, "process_name": "mysqld", "service_URI": "mysql://db2/"})
    ndb.transaction(52 << 48, inactive=720, client=52)
    _, text = look()
    assert "a transaction of SQL node 52 (db2) has been open without activity" in text
    assert "ndbinfo.server_transactions on SQL node 52 tells the connection to KILL" in text


def test_old_versions_have_no_names(look, ndb):
    for table in ("processes", "dict_obj_info", MAP):
        del ndb.tables[table]
    ndb.transaction(inactive=720)
    ndb.transaction(WAITER, outstanding=1)
    ndb.held()
    status, text = look()
    assert status == 1
    assert "a transaction of node 51 has been open" in text
    assert "a row of table 21 has been locked for 8 s by node 51" in text


def test_who_holds_and_who_waits_is_said(look, ndb):
    ndb.transaction(inactive=8)
    ndb.transaction(WAITER, outstanding=1)
    ndb.transaction(THIRD, outstanding=1)
    ndb.held(waited=(1000, 1200))
    status, text = look()
    assert status == 1
    assert first_line(text) == (
        "NDB_TRANSACTIONS WARNING - a row of shop.seats has been locked for 8 s by connection 28 of SQL "
        "node 51 (db1:3306), and 2 transactions wait for it: for up to 1.2 s, such as that of connection 30 "
        "of SQL node 51 (db1:3306); a wait ends with error 1205 after TransactionDeadlockDetectionTimeout, "
        "1.2 s by default: KILL 28 on SQL node 51 ends it and lets go of its locks"
    )
    assert perfdata(text)["lock_held"] == "8s;5"
    assert perfdata(text)["lock_wait"] == "1.2s;5"


def test_short_waits_are_ok(look, ndb):
    ndb.transaction()
    ndb.transaction(WAITER, outstanding=1)
    ndb.held(held=1500, waited=(900,))
    status, text = look()
    assert status == 0
    assert first_line(text).endswith("2 open transactions with 2 operations, a lock wait of 900 ms")


def test_several_rows_are_counted_the_one_held_longest_is_told(look, ndb):
    ndb.transaction()
    ndb.transaction(WAITER, outstanding=1)
    for row in range(4):
        ndb.held(held=6000 + row, row=row)
    ndb.lock(HOLDER, "H", 90000, row=99)  # nobody wants that
    _, text = look()
    assert "locked for 6 s" in first_line(text)
    assert "; 3 more rows like it" in first_line(text)
    assert perfdata(text)["lock_held"] == "6.003s;5"


def test_a_long_wait_warns_by_itself(look, ndb):
    ndb.transaction(WAITER, outstanding=1, inactive=6)
    ndb.lock(WAITER, "W", 6000)  # whoever held it is gone
    status, text = look()
    assert status == 1
    assert (
        "a row of shop.seats has been locked for 0 s, and a transaction waits for it: for up to 6 s" in text
    )
    assert "look again: who held it has just ended" in text


def test_both_times_make_one_sentence(look, ndb):
    ndb.transaction(inactive=9)
    ndb.transaction(WAITER, outstanding=1, inactive=6)
    ndb.held(held=9000, waited=(6000,))
    status, text = look()
    assert status == 1
    assert "more problem" not in first_line(text)
    assert look("--lock-wait-critical", "5")[0] == 2


def test_any_limits_do(look, ndb):
    assert look("--lock-held-warning", "1:", "--lock-wait-critical", "@0:0")[0] == 2


def test_too_many_locks_are_not_read(look, ndb):
    ndb.transaction(operations=60_000)
    ndb.transaction(WAITER, outstanding=1)
    status, text = look()
    assert status == 0
    assert "[OK] locks are not looked at, of 60001 operations: no transaction has waited for a second" in text
    assert "lock_held" not in perfdata(text)
    assert not any("cluster_locks" in sql for sql in ndb.asked)


def test_too_many_locks_are_unknown_while_somebody_waits(look, ndb):
    ndb.transaction(operations=60_000)
    ndb.transaction(WAITER, outstanding=1, inactive=4)
    status, text = look()
    assert status == 3
    assert "locks are not looked at, of 60001 operations: a transaction has waited for 4 s" in first_line(
        text
    )


def test_locks_that_take_too_long_are_given_up(look, ndb):
    ndb.transaction(operations=40_000)
    ndb.transaction(WAITER, outstanding=1)
    ndb.failing["cluster_locks"] = NoAnswerError("sql1 has not answered within 3 s", "", 3024)
    status, text = look()
    assert status == 0
    assert "the locks of 40001 operations took too long to read" in text
    ndb.failing["cluster_locks"] = NoAnswerError("sql1 has not answered within 7 s")
    assert look()[0] == 3


def test_reading_locks_is_bounded_by_the_server(look, ndb):
    ndb.transaction(WAITER, outstanding=1)
    look()
    (sql,) = [sql for sql in ndb.asked if "cluster_locks" in sql]
    assert "MAX_EXECUTION_TIME(3000)" in sql


def test_details_have_a_table(look, ndb):
    for number in range(12):
        ndb.transaction(HOLDER + (number << 33), inactive=number)
    _, text = look("-v")
    title, first, *others = text.splitlines()[-11:]
    assert title.split() == ["client", "state", "operations", "inactive_s"]
    assert first.endswith("11")
    assert len(others) == 9


def test_a_missing_node_is_said(look, ndb):
    look()
    ndb.end(4)
    status, text = look()
    assert status == 0
    assert "[OK] node 4 does not answer: judged without it" in text


def test_a_cluster_that_is_down_is_unknown(look, ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    status, text = look()
    assert status == 3
    assert "cluster down" in first_line(text)


def test_nobody_started_is_unknown(look, ndb):
    for node in (3, 4):
        ndb.node(node)["status"] = "STARTING"
    assert look()[0] == 3


def test_without_a_grant_is_unknown(look, ndb):
    ndb.denied.add("cluster_transactions")
    status, text = look()
    assert status == 3
    assert "GRANT SELECT ON ndbinfo.*" in first_line(text)
