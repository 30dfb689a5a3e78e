"""What check_ndb_transactions says of open transactions."""

import pytest
from ndb_transactions import FOURTH, HOLDER, MAP, PROCESSLIST, THIRD, WAITER, Ndb, run
from stallwatch.frame.options import mysql
from stallwatch.frame.run import Run
from stallwatch.sources.mysql import MysqlError, NoAnswerError, UnreachableError

INJECTOR = 22574073229869073  # of mysqld's own thread that reads the cluster's events (9.7.2)


@pytest.fixture
def ndb():
    return Ndb()


@pytest.fixture
def look(ndb, tmp_path, monkeypatch):
    """Run the plugin at that cluster."""
    monkeypatch.setattr(mysql, "connect", lambda *_: ndb)
    ndb.keep_time(monkeypatch)
    return lambda *options: run(ndb, tmp_path, *options)


def test_nothing_open_is_ok_and_costs_few_statements(look, ndb):
    said = look()
    assert said.output == (
        "NDB_TRANSACTIONS OK - no open transactions | inactive=0s;300 lock_held=0s;5 lock_wait=0s;5 "
        "transactions=0 operations=0 largest=0"
    )
    assert said.status == 0
    assert len(ndb.asked) == 5


def test_a_table_that_is_not_to_be_had_yet_is_not_taken_for_an_empty_one(look, ndb):
    ndb.notes.append("This table is not available as the data nodes are not upgraded yet")
    said = look()
    assert said.status == 3
    assert "no rows in ndbinfo.cluster_transactions: This table is not available" in said.text


def test_transactions_are_counted(look, ndb):
    ndb.transaction(inactive=12, operations=20)
    ndb.transaction(WAITER, operations=3)
    said = look()
    assert said.status == 0
    assert said.text == (
        "NDB_TRANSACTIONS OK - 2 open transactions with 23 operations, inactive for at most 12 s, "
        "no lock waits"
    )
    assert said.perfdata == {
        "inactive": "12s;300", "lock_held": "0s;5", "lock_wait": "0s;5", "transactions": "2",
        "operations": "23", "largest": "20",
    }  # fmt: skip


def test_one_that_scans_is_one_and_is_not_inactive(look, ndb):
    ndb.scan(inactive=1000, operations=7)
    said = look()
    assert said.status == 0
    assert said.perfdata["transactions"] == "1"
    assert said.perfdata["largest"] == "7"
    assert said.perfdata["inactive"] == "0s;300"


def test_the_data_nodes_own_transactions_do_not_count(look, ndb):
    ndb.transaction(inactive=1000, client=4, block=256)
    assert look().text == "NDB_TRANSACTIONS OK - no open transactions"


@pytest.mark.parametrize(("inactive", "status"), [(300, 0), (301, 1)])
def test_an_open_transaction_without_activity_warns(look, ndb, inactive, status):
    ndb.transaction(inactive=inactive)
    assert look().status == status


def test_whose_it_is_and_what_ends_it_is_said(look, ndb):
    ndb.transaction(inactive=720, operations=20000)
    ndb.transaction(WAITER, inactive=400)
    ndb.transaction(THIRD, inactive=3)
    said = look()
    assert said.status == 1
    assert said.text == (
        "NDB_TRANSACTIONS WARNING - transaction of connection 28 of SQL node 51 inactive for 12 min "
        "(limit 300 s), client idle for 15 min - KILL 28 on SQL node 51"
    )
    assert said.output.splitlines()[1:] == [
        "  connection 28 of SQL node 51 (db1:3306): idle for 15 min",
        "  20000 operations so far, the transaction keeps its locks until its client goes on",
        "  1 more transaction above the limit",
        "  KILL ends the transaction and releases its locks",
    ]


def test_a_client_at_work_is_not_to_be_killed(look, ndb):
    """A statement that mysqld itself works at asks nothing of the data nodes."""
    ndb.does(28, "Query", 700)
    ndb.transaction(inactive=720)
    said = look()
    assert said.status == 1
    assert said.text.endswith(", client at work - SHOW PROCESSLIST on SQL node 51")
    assert "  connection 28 of SQL node 51 (db1:3306): at work for 11 min 40 s (Query)\n" in said.output
    assert "KILL" not in said.output


def test_a_client_that_pauses_is_not_to_be_killed(look, ndb):
    """It asks something of other tables again and again."""
    ndb.does(28, "Sleep", 2)
    ndb.transaction(inactive=720)
    said = look()
    assert "idle for 2 s" in said.text
    assert "KILL" not in said.output
    ndb.does(28, "Sleep", 3)
    assert "KILL 28 " in look().text


def test_nobody_is_to_be_killed_who_was_not_idle_when_his_transaction_was_seen(look, ndb):
    """With many data nodes a look takes seconds: it may be at its next one."""
    ndb.takes = 0.3
    ndb.transaction(inactive=720)
    ndb.does(28, "Sleep", 3)
    assert "KILL 28 " in look().text
    ndb.takes = 0.9
    assert "KILL" not in look().text


def test_mysqlds_own_threads_are_not_to_be_killed(look, ndb):
    ndb.tables[MAP].append({"mysql_connection_id": 2, "node_id": 51, "ndb_transid": INJECTOR})
    ndb.tables[PROCESSLIST].append({"id": 2, "user": "system user", "command": "Sleep", "time": 900})
    ndb.transaction(INJECTOR, inactive=720)
    said = look()
    assert ", mysqld's own thread - SHOW PROCESSLIST on SQL node 51" in said.text
    assert "KILL" not in said.output


@pytest.mark.parametrize("unseen", ["not there", "ended", "other fork"])
def test_without_knowing_what_a_connection_does_it_is_not_to_be_killed(look, ndb, unseen):
    if unseen == "not there":
        ndb.tables[PROCESSLIST].pop(0)
    elif unseen == "ended":
        ndb.does(28, None, None, None)
    else:
        del ndb.tables[PROCESSLIST]
    ndb.transaction(inactive=720)
    said = look()
    assert said.text.endswith(
        "transaction of connection 28 of SQL node 51 inactive for 12 min (limit 300 s) - "
        "SHOW PROCESSLIST on SQL node 51"
    )
    assert "KILL" not in said.output


def test_a_connection_with_the_number_0_is_none(look, ndb):
    ndb.transaction(53 << 32, inactive=720)
    assert "transaction of SQL node 51 inactive for 12 min" in look().text


def test_one_is_one(look, ndb):
    ndb.transaction(inactive=4)
    said = look("-v")
    assert said.text.startswith("NDB_TRANSACTIONS OK - 1 open transaction with 1 operation, ")
    assert "[OK] 1 open transaction\n" in said.output
    assert "[OK] 1 operation in all open transactions" in said.output


def test_of_very_many_some_are_read(look, ndb):
    for number in range(47):
        ndb.transaction(HOLDER + (number << 33), inactive=720)
    assert "at least 9 more transactions above the limit" in look().output


def test_a_transaction_that_waits_for_a_data_node_is_not_inactive(look, ndb):
    ndb.transaction(inactive=1000, outstanding=1)
    said = look()
    assert said.status == 0
    assert said.perfdata["inactive"] == "0s;300"


def test_one_that_has_ended_meanwhile_does_not_warn(look, ndb):
    """It is judged by what is told of it."""
    rows = ndb.rows

    def ending(sql, *arguments):
        found = rows(sql, *arguments)
        if "COUNT(*)" in sql:
            ndb.tables["cluster_transactions"] = []
        return found

    ndb.rows = ending
    ndb.transaction(inactive=720)
    said = look()
    assert said.status == 0
    assert said.perfdata["inactive"] == "0s;300"


def test_limits_are_the_users(look, ndb):
    ndb.transaction(inactive=20)
    assert look("-w", "10").status == 1
    assert look("-w", "10", "-c", "15").status == 2
    assert look("--operations-warning", "0").status == 1
    said = look("--largest-critical", "0")
    assert said.status == 2
    assert "NDB error 261" in said.output
    assert "the largest transaction has 1 operation - commit more often" in said.text


def test_a_program_is_named_as_one(look, ndb):
    ndb.transaction(53 << 48, inactive=720, client=53)
    said = look()
    assert "transaction of API node 53 inactive for 12 min" in said.text
    assert said.text.endswith(" - see what API node 53 does")
    assert "  API node 53 (loader): silent for 12 min\n" in said.output


def test_a_connection_of_another_sql_node_is_not_known_here(look, ndb):
    ndb.tables["processes"].append({"node_id": 52, "process_name": "mysqld", "service_URI": "mysql://db2/"})
    ndb.transaction(52 << 48, inactive=720, client=52)
    said = look()
    assert "transaction of SQL node 52 inactive for 12 min" in said.text
    assert said.text.endswith(" - see ndbinfo.server_transactions on SQL node 52")
    assert "  SQL node 52 (db2): silent for 12 min\n" in said.output


def test_old_versions_have_no_names(look, ndb):
    for table in ("processes", "dict_obj_info", MAP):
        del ndb.tables[table]
    ndb.transaction(inactive=720)
    ndb.transaction(WAITER, outstanding=1)
    ndb.held()
    said = look()
    assert said.status == 1
    assert "transaction of node 51 inactive for 12 min" in said.text
    assert "a row of table 21 locked for 8 s (limit 5 s) by node 51 - see what node 51 does" in said.output
    assert said.text.count("see what node 51 does") == 1
    assert "KILL" not in said.output


def test_older_versions_tell_of_no_locks(look, ndb):
    """cluster_locks came with 7.5.3."""
    del ndb.tables["cluster_locks"]
    ndb.transaction(inactive=720)
    ndb.transaction(WAITER, outstanding=1)
    said = look()
    assert said.status == 1
    assert "KILL 28 " in said.text
    assert "[OK] this version does not show who waits for whom" in said.output
    assert "lock_held" not in said.perfdata


def test_without_process_the_node_is_named_and_the_grant_once(look, ndb):
    ndb.denied.add(MAP)
    ndb.transaction(inactive=720)
    ndb.held(waited=(6000,))
    ndb.transaction(WAITER, outstanding=1, inactive=6)
    said = look("-v")
    assert said.status == 1
    assert "transaction of SQL node 51 inactive for 12 min" in said.text
    assert "see ndbinfo.server_transactions on SQL node 51" in said.text
    assert "KILL" not in said.output
    assert said.output.count("GRANT PROCESS") == 1
    assert (
        "[OK] which connection of its SQL node has it is not seen: GRANT PROCESS ON *.* TO 'mon'@'%'"
        in said.output
    )


@pytest.mark.parametrize("part", ["connection_map", "processlist", "ndbinfo.processes", "transid,"])
@pytest.mark.parametrize(
    "error", [NoAnswerError("sql1 has not answered within 7 s"), MysqlError("sql1 says: no", "", 1205)]
)
def test_what_explains_may_be_unseen(look, ndb, part, error):
    """What is known by then is told."""
    ndb.transaction(inactive=7200)
    ndb.failing[part] = error
    if part == "transid,":  # not that of the totals
        ndb.failing = {"ORDER BY active": error}
    said = look("-c", "1h")
    assert said.status == 2
    assert " inactive for 2 h" in said.text
    assert f"is not seen: {error.what}" in said.output
    assert "KILL" not in said.output or part == "ndbinfo.processes"


def test_a_run_that_is_cut_short_tells_what_it_knows(look, ndb, monkeypatch):
    """As when a data node hangs."""
    ndb.transaction(inactive=7200)
    ndb.failing["ORDER BY active"] = UnreachableError("sql1 has hung up")
    known = []
    monkeypatch.setattr(Run, "so_far", lambda _, findings: known.append(list(findings)))
    look()
    assert known[0][0].value == 7200
    assert known[0][0].what == "a transaction inactive for 2 h"


def test_a_row_without_numbers_is_said_and_left_out(look, ndb):
    ndb.transaction(inactive=720)
    ndb.transaction(WAITER, inactive=None)
    ndb.transaction(THIRD, inactive=None)
    said = look()
    assert said.status == 1
    assert "KILL 28 " in said.text
    assert "ndbinfo: inactive is None, which is no number: " in said.output
    assert ", and 1 more row like it" in said.output


def test_where_data_nodes_take_long_the_lesser_is_left_out(look, ndb):
    ndb.takes = 1.3
    ndb.transaction(inactive=720)
    ndb.does(28, "Sleep", 720)
    said = look()
    assert said.status == 1
    assert "KILL 28 " in said.text
    assert (
        "[OK] which program has it was not asked any more: the data nodes take long to answer" in said.output
    )


def test_details_have_a_table(look, ndb):
    for number in range(12):
        ndb.transaction(HOLDER + (number << 33), inactive=number)
    ndb.transaction(FOURTH, outstanding=1)
    title, first, *others = look("-v").output.splitlines()[-11:]
    assert title.split() == ["client", "operations", "inactive_s", "state"]
    assert first.split()[-5:] == ["11", "silent", "for", "11", "s"]
    assert len(others) == 9


def test_a_missing_node_is_said(look, ndb):
    look()
    ndb.end(4)
    said = look()
    assert said.status == 0
    assert "[OK] node 4 does not answer: judged without it" in said.output


def test_a_cluster_that_is_down_is_unknown(look, ndb):
    ndb.status["Ndb_number_of_ready_data_nodes"] = 0
    said = look()
    assert said.status == 3
    assert "none of 2 data nodes is connected" in said.text


def test_nobody_started_is_unknown(look, ndb):
    for node in (3, 4):
        ndb.node(node)["status"] = "STARTING"
    assert look().status == 3


def test_without_a_grant_is_unknown(look, ndb):
    ndb.denied.add("cluster_transactions")
    said = look()
    assert said.status == 3
    assert "GRANT SELECT ON ndbinfo.*" in said.text
