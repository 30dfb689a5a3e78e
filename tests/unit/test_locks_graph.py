"""Who waits for whom, of all kinds, and who is at the head."""

import pytest
from locked_server import Locked
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.locks import graph, waits, words
from stallwatch.probes.mysql.locks.graph import Graph, LockKind, Release, Wait
from stallwatch.probes.mysql.locks.metadata import USER_LOCK, Lock
from stallwatch.probes.mysql.locks.rows import RowLock, Transaction, row_of
from stallwatch.probes.mysql.processes import Process, processes

MDL = "Waiting for table metadata lock"


def process(number, command="Query", seconds=20.0, state="", info="", user="app"):
    return Process(number, user, "app1:4711", command, seconds, state, info)


def by_id(*processes):
    return {one.id: one for one in processes}


def edges(found):
    return {(one.waiting, one.holding) for one in found}


def row_waits(*pairs):
    return [Wait(waiting, holding, LockKind.ROW) for waiting, holding in pairs]


def test_the_head_of_a_chain_does_not_wait_and_all_are_behind_it():
    chain = Graph(row_waits((2, 1), (3, 2), (4, 3), (5, 4)))
    assert chain.heads() == [1]
    assert chain.behind(1) == {2, 3, 4, 5}
    assert chain.circles() == []


def test_the_head_with_most_behind_it_comes_first():
    assert Graph(row_waits((2, 1), (4, 3), (5, 3))).heads() == [3, 1]


def test_who_waits_for_one_another_is_a_circle_without_a_head():
    circle = Graph([*row_waits((2, 1)), Wait(1, 2, LockKind.USER, "job"), *row_waits((3, 2))])
    assert circle.heads() == []
    assert circle.circles() == [{1, 2}]


def test_a_circle_that_also_waits_for_a_head_is_none():
    assert Graph(row_waits((2, 1), (1, 2), (1, 3))).circles() == []


def test_queued_waits_are_next_to_the_head_of_what_they_queue_behind():
    reader, alters, reads, behind = 1, 2, 3, 4
    waits_of = Graph(
        [
            Wait(alters, reader, LockKind.METADATA, "shop.orders"),
            Wait(reads, alters, LockKind.METADATA, "shop.orders", queued=True),
            *row_waits((behind, reads)),
        ]
    )
    assert [one.waiting for one in waits_of.first(reader)] == [alters, reads]


@pytest.mark.parametrize(
    ("requested", "mariadb", "row"),
    [
        ("26:5:3:2", True, "5:3:2"),  # MariaDB 10.11.19
        ("140417812145744:2:2:4:2:140417714687776", False, "2:4:2"),  # MySQL 9.7.2
        ("140417812144128:40:2:4:2:140417714676152", False, "2:4:2"),  # another that waits for the same
        ("1308:24:3:2", False, "24:3:2"),  # MySQL 5.7.22
        ("139988488662640:3:4:2:139988419340344", False, "3:4:2"),  # MySQL 8.0.15
        ("140417812145744:1066:140417714687776", False, "140417812145744:1066:140417714687776"),  # a table
        ("", False, ""),
    ],
)
def test_a_row_is_the_same_for_all_that_wait_for_it(requested, mariadb, row):
    assert row_of(requested, mariadb=mariadb) == row


def waiting(number, seconds=20.0, row="5:3:2"):
    return Transaction(f"t{number}", number, seconds, seconds, row=row)


def test_all_that_wait_for_a_row_wait_for_whom_the_first_one_waits_for():
    holds = Transaction("t1", 1, 60.0, None)
    told = [RowLock("t2", "t1")]
    found = list(waits.for_rows([holds, waiting(2), waiting(3)], told, {"5:3:2": ("shop.orders", "PRIMARY")}))
    assert edges(found) == {(2, 1), (3, 1)}
    assert {(one.lock, one.on, one.key) for one in found} == {(LockKind.ROW, "shop.orders", "PRIMARY")}


def test_a_queue_whose_head_has_changed_is_no_wait():
    """Who blocks now was still in the queue when transactions were listed (a hot row, 9.7.2)."""
    assert list(waits.for_rows([waiting(2), waiting(3)], [RowLock("t2", "t3")], {})) == []


def lock(kind, number, *, granted=True, scope="TABLE", table="shop.orders"):
    return Lock(scope, table, kind, granted=granted, process=number)


def test_a_queue_behind_a_definition_behind_a_reader():
    """As metadata_locks of MySQL 9.7.2 shows it: nothing that is granted keeps 3 and 4 waiting."""
    listed = by_id(
        process(1, "Sleep"),
        process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT"),
        process(3, state=MDL, info="SELECT * FROM shop.orders"),
        process(4, state=MDL, info="UPDATE shop.orders SET a = 1"),
    )
    locks = [
        lock("SHARED_READ", 1), lock("SHARED_UPGRADABLE", 2), lock("EXCLUSIVE", 2, granted=False),
        lock("SHARED_READ", 3, granted=False), lock("SHARED_WRITE", 4, granted=False),
    ]  # fmt: skip
    found = list(waits.for_others(listed, locks, ()))
    assert edges(found) == {(2, 1), (3, 2), (4, 2)}
    assert {one.waiting for one in found if one.queued} == {3, 4}
    assert all(one.certain for one in found)
    assert Graph(found).heads() == [1]


def test_a_queue_where_no_table_tells_locks():
    """MariaDB without metadata_lock_info: by statements, and who alone is older."""
    listed = by_id(
        process(1, "Sleep", 25.0),
        process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT"),
        process(3, state=MDL, info="SELECT * FROM shop.orders", seconds=19.0),
    )
    found = list(waits.for_others(listed, (), [Transaction("0", 1, 26.0, None)]))
    assert edges(found) == {(2, 1), (3, 2)}
    assert not any(one.certain for one in found)


@pytest.mark.parametrize(
    ("state", "seconds", "edge"),
    [
        (MDL, 15.0, {(2, 1)}),  # it queues behind the definition itself
        ("Waiting for prior transaction to commit", 15.0, set()),
        ("Update_rows_log_event::find_row()", 3.0, set()),
        ("Slave has read all relay log; waiting for more updates", 90.0, {(2, 1)}),
    ],
)
def test_an_applier_at_work_may_hold_the_lock_as_well_as_a_client(state, seconds, edge):
    """MariaDB without metadata_lock_info."""
    applies = process(7, "Slave_worker", seconds, user="system user", state=state)
    alters = process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT")
    listed = by_id(process(1, "Sleep", 25.0), alters, applies)
    found = waits.for_others(listed, (), [Transaction("0", 1, 26.0, None)])
    assert {one for one in edges(found) if one[0] == 2} == edge


def test_how_long_an_applier_of_mysql_has_waited_nothing_tells():
    """So nobody is compared with it; MariaDB says Slave_SQL or Slave_worker."""
    for command, found in (("Query", set()), ("Slave_worker", {(7, 1)})):
        waits_for = process(7, command, 24.0, user="system user", state="Waiting for backup lock")
        assert edges(waits.for_others(by_id(process(1, "Sleep", 25.0), waits_for), (), ())) == found


def test_a_lock_that_two_may_hold_is_nobody_s():
    listed = by_id(
        process(1, "Sleep", 25.0),
        process(5, "Sleep", 24.0),
        process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT"),
    )
    older = [Transaction("0", 1, 26.0, None), Transaction("0", 5, 25.0, None)]
    assert list(waits.for_others(listed, (), older)) == []


def test_a_reader_does_not_wait_for_who_only_keeps_writers_waiting():
    """MariaDB with metadata_lock_info, which shows granted locks alone."""
    listed = by_id(
        process(3, state=MDL, info="SELECT * FROM shop.orders"),
        process(4, state=MDL, info="UPDATE shop.orders SET a = 1"),
    )
    locks = [lock("SHARED_NO_READ_WRITE", 1), lock("SHARED_NO_WRITE", 2)]
    assert edges(waits.for_others(listed, locks, ())) == {(3, 1), (4, 1), (4, 2)}


def test_a_global_read_lock_where_no_table_tells_locks_is_probably_of_the_only_idle_client():
    """MariaDB 10.11, which calls it a backup lock."""
    writes = process(2, state="Waiting for backup lock", info="UPDATE shop.orders SET a = 1")
    (found,) = waits.for_others(by_id(process(1, "Sleep", 25.0), writes), (), ())
    assert found == Wait(2, 1, LockKind.SERVER, release=Release.UNLOCK_TABLES, certain=False)


def test_a_flush_waits_for_the_oldest_statement_and_writers_for_the_flush():
    """MySQL 9.7.2, where FLUSH TABLES WITH READ LOCK has the global lock before it waits."""
    listed = by_id(
        process(1, info="SELECT SLEEP(6), id FROM shop.orders", state="User sleep", seconds=23.0),
        process(2, info="FLUSH TABLES WITH READ LOCK", state="Waiting for table flush"),
        process(3, info="UPDATE shop.orders SET a = 3", state="Waiting for global read lock"),
        process(4, info="SELECT * FROM shop.orders", state="Waiting for table flush", seconds=19.0),
        process(9, info="SELECT 1", seconds=90.0),
    )
    locks = [
        lock("SHARED_READ", 1), lock("SHARED", 2, scope="GLOBAL", table=""),
        lock("INTENTION_EXCLUSIVE", 3, granted=False, scope="GLOBAL", table=""),
    ]  # fmt: skip
    found = list(waits.for_others(listed, locks, ()))
    assert edges(found) == {(2, 1), (3, 2), (4, 2)}
    assert {one.waiting: one.certain for one in found} == {2: False, 3: True, 4: False}
    assert {one.waiting: one.lock for one in found} == {
        2: LockKind.STATEMENT, 3: LockKind.READ, 4: LockKind.FLUSH
    }  # fmt: skip


def test_a_user_lock_is_told_by_mysql_with_its_name():
    listed = by_id(process(1, "Sleep"), process(2, state="User lock", info="SELECT GET_LOCK('job', 50)"))
    locks = [
        lock("EXCLUSIVE", 1, scope=USER_LOCK, table="job"),
        lock("EXCLUSIVE", 2, scope=USER_LOCK, table="job", granted=False),
    ]
    (found,) = waits.for_others(listed, locks, ())
    assert found == Wait(2, 1, LockKind.USER, "job", release=Release.RELEASE_LOCK)
    assert list(waits.for_others(listed, (), ())) == []


@pytest.mark.parametrize(
    "state", ["", "updating", "Waiting on empty queue", "Waiting for source to send event", "User sleep"]
)
def test_other_states_wait_for_no_lock(state):
    assert waits.kind(process(1, state=state)) is None


def test_a_table_lock_of_myisam_is_probably_of_the_only_other_statement_on_the_table():
    waits_for = process(2, state="Waiting for table level lock", info="UPDATE shop.m SET a = 2")
    reads = process(1, info="SELECT COUNT(*) FROM shop.m", state="Sending data")
    (found,) = waits.for_others(by_id(reads, waits_for), (), ())
    assert (found.holding, found.certain) == (1, False)
    two = by_id(reads, reads._replace(id=3), waits_for)
    assert list(waits.for_others(two, (), ())) == []


def test_of_many_sessions_that_wait_each_statement_is_read_a_few_times(monkeypatch):
    """MariaDB without metadata_lock_info, where each one's statement is compared with those of all others."""
    read, real = [], statements._plain
    monkeypatch.setattr(statements, "_plain", lambda text: read.append(text) or real(text))
    many = [process(number, state=MDL, info="SELECT * FROM shop.orders") for number in range(3, 400)]
    alters = process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT")
    flushing = process(2, state="Waiting for table flush", info="FLUSH TABLES")
    queue = [one._replace(state="Waiting for table flush") for one in many]
    for listed in ([*many], [alters, *many], [flushing, *queue]):
        holder = process(1, "Sleep", 25.0) if flushing not in listed else process(1, info="SELECT 1")
        found = list(waits.for_others(by_id(holder, *listed), (), [Transaction("0", 1, 26.0, None)]))
        assert len(found) == len(listed)
    assert len(read) < 4 * len(many)  # read for each other one it would be 400 times as often


def test_ends_and_reached_stop_in_a_circle():
    assert graph.ends(1, {1: [2], 2: [1]}) == set()
    assert graph.reached(1, {1: [2], 2: [1, 3]}) == {1, 2, 3}


def reads(number, age=60.0, locked=1):
    """A transaction of MariaDB that has only read."""
    return Transaction("0", number, age, None, locked=locked)


@pytest.mark.parametrize(
    ("others", "pairs", "holders"),
    [
        ([reads(1), reads(9, locked=0)], 1, {1: True}),  # 9 has no row lock
        ([reads(1), reads(9, age=3.0)], 1, {1: True}),  # 9 is younger than the wait
        ([reads(1), reads(9)], 2, {1: False, 9: False}),  # both have it, or one of them has two locks
        ([reads(1), reads(9)], 1, {1: False, 9: False}),  # one of them has it
        ([reads(1)], 2, {1: True}),  # two locks
        ([reads(9, locked=0)], 1, {}),
    ],
)
def test_transactions_of_mariadb_that_only_read_have_no_id_of_their_own(others, pairs, holders):
    """INNODB_TRX and INNODB_LOCK_WAITS of 10.11.19 have 0 for each, also after LOCK IN SHARE MODE."""
    told = [RowLock("t2", "0", "5:3:2")] * pairs
    found = list(waits.for_rows([*others, waiting(2)], told, {}))
    assert {one.holding: one.certain for one in found} == holders


def test_those_without_an_id_that_wait_are_told_apart_by_the_row():
    """A reader that locks in share mode waits, too; another transaction of that id does not."""
    holds, waits_for = Transaction("t1", 1, 60.0, None), Transaction("0", 2, 20.0, 20.0, row="5:3:2")
    found = waits.for_rows([waits_for, reads(9), holds], [RowLock("0", "t1", "5:3:2")], {})
    assert edges(found) == {(2, 1)}


def test_who_waits_for_a_row_is_not_what_a_definition_waits_for():
    """It has the table open, too, but who has its row goes before it."""
    alters = process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT")
    listed = by_id(process(1, "Sleep", 25.0), process(3, info="UPDATE shop.orders SET a = 1"), alters)
    older = [Transaction("t1", 1, 26.0, None), waiting(3, seconds=24.0)]
    assert edges(waits.for_others(listed, (), older)) == {(2, 1)}


@pytest.mark.parametrize("tells", [True, False])
def test_seconds_that_do_not_tell_since_when_one_is_idle_make_nobody_suspect(tells):
    """On MySQL they begin with the last statement, which may have waited for long itself."""
    idle = process(1, "Sleep", 25.0)._replace(tells_idle=tells)
    other = process(5, "Sleep", 90.0)._replace(tells_idle=tells)
    alters = process(2, state=MDL, info="ALTER TABLE shop.orders ADD x INT")
    found = waits.for_others(by_id(idle, other, alters), (), ())
    assert edges(found) == ({(2, 1)} if tells else set())


@pytest.mark.parametrize(("version", "says"), [("MySQL 9.7", "idle"), ("MariaDB 10.11", "idle for 4 min")])
def test_the_process_list_says_whether_idle_seconds_are_known(version, says):
    server = Locked(version)
    server.idle_head(idle=240)
    first, *others = processes(Asking(server, print))
    assert words.doing(first) == says
    assert all(one.tells_idle for one in others)


def test_a_drop_of_a_database_is_behind_who_has_its_lock_and_others_behind_it():
    """MySQL: the state is one for all databases, and the table of locks names which."""
    state = "Waiting for schema metadata lock"
    drops, reads = process(2, state=state, info="DROP DATABASE shop"), process(3, state=state)
    locks = (
        Lock("SCHEMA", "shop", "INTENTION_EXCLUSIVE", granted=True, process=1),
        Lock("SCHEMA", "other", "EXCLUSIVE", granted=True, process=4),
        Lock("SCHEMA", "shop", "EXCLUSIVE", granted=False, process=2),
        Lock("SCHEMA", "shop", "INTENTION_EXCLUSIVE", granted=False, process=3),
    )
    found = list(waits.for_others(by_id(process(1, "Sleep"), drops, reads), locks, ()))
    assert [(one.waiting, one.holding, one.queued) for one in found] == [(2, 1, False), (3, 2, True)]
    assert {(one.lock, one.on) for one in found} == {(LockKind.DATABASE, "shop")}
    assert not list(waits.for_others(by_id(process(1), process(4), drops, reads), locks[1:2], ()))
