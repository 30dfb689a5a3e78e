"""What is read from process lists, locks, connections and counters, of every version."""

import os
import time

import pytest
from clock import Waiting
from replication_signals import (
    MARIADB,
    MYSQL,
    MYSQL_5_7,
    VERSIONS,
    RecordedServer,
    applier,
    awaits,
    counted,
    lines,
    lock,
    process,
    receiver,
)
from replication_snapshots import channel, snapshot
from stallwatch.probes.mysql import asking, innodb, processes
from stallwatch.probes.mysql.asking import PROCESS, Asking, Statement
from stallwatch.probes.mysql.locks import metadata
from stallwatch.probes.mysql.locks.rows import RowLock, row_locks, transactions, waited_for
from stallwatch.probes.mysql.processes import Process, Program, Thread
from stallwatch.probes.replication_lag.signals import Signals, backups, collect
from stallwatch.probes.replication_lag.signals.backups import Tools
from stallwatch.probes.replication_lag.signals.collect import gather
from stallwatch.probes.replication_lag.signals.scans import changed, keyless, scans
from stallwatch.sources.mysql import DeniedError, MissingTableError, NoAnswerError, UnreachableError
from stallwatch.sources.processes import Running

ALWAYS = snapshot()
STOPPED = snapshot(channel(applier=channel().applier._replace(running="No")))


def told(*_):
    """Nobody listens."""


def gathered(server, *known, pause=lambda _: True):
    return gather(server, known or (ALWAYS,), pause, told)


class Server:
    """Gives the same rows to every statement, or fails."""

    where = "db2:3306"
    local = False

    def __init__(self, flavour=MYSQL, rows=(), error=None):
        self.flavour = flavour
        self.deadline = Waiting()
        self.given = list(rows)
        self.error = error
        self.asked = []

    def rows(self, sql, *_, within=None):
        self.asked.append(sql)
        assert within == asking.LONGEST
        if self.error:
            raise self.error
        return self.given


# asking


def test_what_is_denied_is_asked_once_and_told_once():
    server = Server(error=DeniedError("denied", grant="SELECT on performance_schema.threads"))
    one = Asking(server, told)
    assert [one.rows(Statement("SELECT 1", PROCESS)) for _ in range(3)] == [[], [], []]
    assert one.rows(Statement("SELECT 2", PROCESS)) == []
    assert one.rows(Statement("SELECT 3")) == []
    assert server.asked == ["SELECT 1", "SELECT 2", "SELECT 3"]
    assert list(one.missing.values()) == [
        "other connections, transactions, row locks, how InnoDB is (needs PROCESS)",
        "part of it (needs SELECT on performance_schema.threads)",
    ]


def test_what_is_not_there_is_left_out_without_a_word():
    heard = []
    one = Asking(Server(error=MissingTableError("no table x in db2:3306")), heard.append)
    assert one.rows(Statement("SELECT 1")) == []
    assert one.missing == {}
    assert heard == ["left out: no table x in db2:3306"]


@pytest.mark.parametrize("error", [NoAnswerError("no answer within 2 s"), UnreachableError("it hung up")])
def test_a_connection_that_is_lost_is_not_asked_again(error):
    server = Server(error=error)
    signals = gathered(server)
    assert len(server.asked) == 1
    assert signals.missing == (f"the search for causes was cut short: {error.what}",)
    assert signals.processes == {}
    assert signals.redo is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("denied", [(), ("PROCESS",), ("SELECT",), ("PROCESS", "SELECT")])
def test_every_version_with_every_privilege_missing(version, denied):
    signals = gathered(RecordedServer(version, denied))
    told = " ".join(signals.missing)
    assert ("PROCESS" in told) == ("PROCESS" in denied)
    assert ("SELECT ON performance_schema.*" in told) == ("SELECT" in denied)
    assert len(signals.missing) == len(denied)
    assert signals.settings["datadir"]


def test_three_looks_and_five_counts():
    signals = gathered(RecordedServer("my97"))
    assert (len(signals.looks), len(signals.counted)) == (3, 5)


def test_without_time_one_look_must_do():
    signals = gathered(RecordedServer("my97"), pause=lambda _: False)
    assert (len(signals.looks), len(signals.counted)) == (1, 1)
    assert signals.rate("Handler_update") is None


def test_nobody_looks_thrice_at_an_applier_that_does_not_run():
    assert len(gathered(RecordedServer("my97"), STOPPED).looks) == 1
    assert len(gathered(RecordedServer("my97"), STOPPED, ALWAYS).looks) == 3


def test_a_server_in_a_container_is_not_on_our_host(tmp_path):
    (tmp_path / "server.pid").write_text(f"{os.getpid()}\n")  # which is no server
    known = {"datadir": f"{tmp_path}/", "pid_file": "server.pid"}
    assert not collect._runs_here(known)
    assert not collect._runs_here(known | {"pid_file": "/nowhere/server.pid"})
    assert not collect._runs_here({})


# processes


@pytest.mark.parametrize("version", ["my57", "my80", "my97"])
@pytest.mark.parametrize("what", ["update", "blackhole", "slownet", "stopsql"])
def test_one_replication_thread_receives_and_the_others_apply(version, what):
    header, *rows = (line.split("\t") for line in lines(f"{version}_{what}.tsv"))
    where = header.index("pl")
    for row in rows:
        if len(row) <= where:
            continue
        seen = [_process(one) for one in row[where].split(" | ") if one.strip()]
        receiving = [one for one in seen if not one.applies]
        assert len(receiving) <= 1, seen
        assert len(seen) - len(receiving) <= 5, seen


def _process(said):
    command, seconds, state = said.strip().split(":", 2)
    return Process(1, "system user", "", command, float(seconds), state.rstrip(": "))


@pytest.mark.parametrize("state", [
    "Waiting for master to send event", "Queueing master event to the relay log", "Connecting to source",
    "Reconnecting after a failed source event read", "Waiting to reconnect after a failed source event read",
    "Waiting for the replica SQL thread to free enough relay log space",
])  # fmt: skip
def test_receivers_by_their_state(state):
    assert not receiver()._replace(state=state).applies


@pytest.mark.parametrize("state", [
    "Waiting for an event from Coordinator", "Replica has read all relay log; waiting for more updates",
    "Waiting for replica workers to process their queues", "Reading event from the relay log",
    "Waiting for global read lock", "Applying batch of row changes (update)", "waiting for handler commit",
])  # fmt: skip
def test_appliers_by_their_state(state):
    assert applier(state).applies


def test_mariadb_names_its_threads():
    assert applier("", command="Slave_SQL").applies
    assert applier("Waiting for prior transaction to commit", command="Slave_worker").applies
    assert not applier("", command="Slave_IO").applies
    assert not process().applies


def test_a_time_that_lies_ahead_is_no_age():
    rows = [{"Id": 1, "User": "root", "Host": "", "Command": "Query", "Time": 2**32 - 5, "State": None}]
    (one,) = processes.processes(Asking(Server(rows=rows), told))
    assert (one.seconds, one.state, one.info) == (0.0, "", "")


def test_what_clients_tell_of_themselves():
    rows = [
        {"id": 175, "name": "_pid", "value": "32318"},
        {"id": 175, "name": "program_name", "value": "mysqldump"},
        {"id": 9, "name": "_pid", "value": "none"},
    ]
    found = processes.programs(Asking(Server(rows=rows), told))
    assert found == {175: Program("mysqldump", 32318)}


# transactions and locks


def test_transactions():
    rows = [
        {"trx_id": "421", "trx_state": "LOCK WAIT", "process": 12, "age": 30, "waiting": 7, "modified": 5},
        {"trx_id": 422, "trx_state": "RUNNING", "process": 55, "age": -3, "waiting": None, "modified": None},
    ]
    first, second = transactions(Asking(Server(rows=rows), told))
    assert (first.id, first.process, first.age, first.waiting, first.modified) == ("421", 12, 30, 7, 5)
    assert (second.id, second.age, second.waiting, second.modified) == ("422", 0, None, 0)


@pytest.mark.parametrize(
    ("flavour", "table"),
    [(MYSQL, "data_lock_waits"), (MYSQL_5_7, "INNODB_LOCK_WAITS"), (MARIADB, "INNODB_LOCK_WAITS")],
)
def test_lock_waits_where_each_version_has_them(flavour, table):
    server = Server(flavour, [{"waiting": 421, "holding": 422}])
    assert row_locks(Asking(server, told), ["421"])[:1] == (RowLock("421", "422"),)
    assert table in server.asked[0]
    assert row_locks(Asking(server, told), []) == ()


def test_lock_waits_are_asked_of_who_waits_and_along_the_chain_only():
    """500 that wait for one row are 125 250 pairs (9.7.2)."""

    class Chained(Server):
        def rows(self, sql, *arguments, within):
            assert "WHERE REQUESTING_ENGINE_TRANSACTION_ID = %s" in sql
            self.asked += arguments
            (one,) = arguments
            return [{"waiting": one, "holding": str(int(one) + 1)}]

    server = Chained()
    found = row_locks(Asking(server, told), ["1"])
    assert server.asked == ["1", "2", "3", "4", "5"]
    assert found[-1] == RowLock("5", "6")


def test_locks_are_asked_only_where_an_applier_waits_for_one():
    asked = RecordedServer("my97")
    gathered(asked)
    assert not [sql for sql in asked.asked if "data_lock_waits" in sql or "'COMMIT'" in sql]


@pytest.mark.parametrize(
    ("version", "waiting", "asks"),
    [("ma1011", 301, "status"), ("ma1011", 300, "table"), ("my97", 2000, "table")],
)
def test_where_hundreds_wait_for_rows_mariadb_is_asked_for_the_status(version, waiting, asks):
    """INNODB_TRX holds up all that lock rows there: ``in_status``."""

    class Crowded(RecordedServer):
        def rows(self, sql, *arguments, within=None):
            if sql.endswith("SHOW ENGINE INNODB STATUS"):
                self.asked.append(sql)
                listed = "LIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 7, ACTIVE 9 sec\n"
                return [{"Status": listed}]
            found = super().rows(sql, *arguments, within=within)
            if "Innodb_row_lock_current_waits" in sql:
                found.append({"Variable_name": "Innodb_row_lock_current_waits", "Value": str(waiting)})
            return found

    server = Crowded(version)
    found = gathered(server)
    of_status = [sql for sql in server.asked if "INNODB STATUS" in sql]
    of_table = [sql for sql in server.asked if "INNODB_TRX" in sql]
    assert (bool(of_status), bool(of_table)) == (asks == "status", asks == "table")
    assert [one.id for one in found.transactions] == (["7"] if asks == "status" else [])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("`shop`.`orders`", "shop.orders"),
        ("`shop`.`p` /* Partition `p1` */", "shop.p (partition p1)"),
        ("`s`.`p` /* Partition `p0`, Subpartition `p0sp0` */", "s.p (partition p0, Subpartition p0sp0)"),
    ],
)
def test_a_row_that_is_waited_for_may_be_in_a_partition(name, said):
    """As MariaDB 10.11.19 names it."""
    server = Server(MARIADB, [{"name": name, "key_name": "`PRIMARY`"}])
    assert waited_for(Asking(server, told), "421") == (said, "PRIMARY")


def test_a_transaction_without_a_connection():
    rows = [{"trx_id": "9", "trx_state": "RUNNING", "process": 0, "age": 3}]
    (found,) = transactions(Asking(Server(rows=rows), told))
    assert found.is_detached
    rows = [{"trx_id": "9", "trx_state": "ROLLING BACK", "process": 5, "age": 3}]
    (found,) = transactions(Asking(Server(rows=rows), told))
    assert (found.is_detached, found.rolls_back) == (False, True)


def test_locks_of_the_plugin_of_mariadb():
    class Plugin(Server):
        def rows(self, sql, **_):
            if "METADATA_LOCK_INFO" not in sql:
                return []
            backup = {"type": "Backup lock", "base": None, "name": None, "lock_type": "MDL_BACKUP_FTWRL2"}
            table = {"type": "Table metadata lock", "base": "t", "name": "a", "lock_type": "MDL_SHARED_READ"}
            return [{**row, "status": "GRANTED", "process": 9} for row in (backup, table)]

    first, second = metadata.locks(Asking(Plugin(MARIADB), told))
    assert first == lock("FTWRL2", 9, "BACKUP")
    assert first.keeps_waiting(awaits("COMMIT", scope="BACKUP"))
    assert second == lock("SHARED_READ", 9, "TABLE", "t.a")
    assert not second.keeps_waiting(awaits("SHARED_WRITE", scope="TABLE", table="t.a"))


def test_the_holder_of_what_is_awaited():
    reader = lock("SHARED_READ", 55, "TABLE", "t.a")
    read_lock = lock("SHARED_READ_ONLY", 56, "TABLE", "t.a")
    other = lock("EXCLUSIVE", 57, "TABLE", "t.b")
    held = [reader, read_lock, other]
    writes = awaits("SHARED_WRITE", 12, "TABLE", "t.a")
    alters = awaits("EXCLUSIVE", 12, "TABLE", "t.a")
    assert metadata.holders_of([*held, writes], [writes]) == [read_lock]
    assert metadata.holders_of([*held, alters], [alters]) == [reader, read_lock]
    assert metadata.holders_of([*held, writes], []) == []


@pytest.mark.parametrize(
    ("held", "awaited", "keeps"),
    [
        ("FTWRL2", "COMMIT", True), ("FTWRL1", "COMMIT", False), ("DML", "COMMIT", False),
        ("START", "DDL", False), ("START", "COMMIT", False), ("BLOCK_DDL", "DDL", True),
        ("BLOCK_DDL", "TRANS_DML", False), ("WAIT_COMMIT", "COMMIT", True), ("FLUSH", "TRANS_DML", False),
    ],
)  # fmt: skip
def test_which_stages_of_a_backup_keep_whom_waiting(held, awaited, keeps):
    assert lock(held, 55, "BACKUP").keeps_waiting(awaits(awaited, scope="BACKUP")) is keeps


class Threads(Server):
    """Tells what the thread 61 has open, and reads 300 000 rows between two looks."""

    def rows(self, sql, *arguments, within):
        assert arguments == (61,)
        if "metadata_locks" in sql:
            return [{"base": "t", "name": "a"}, {"base": "t", "name": "b"}]
        self.read = getattr(self, "read", 0) + 300_000
        return [{"been_read": self.read, "changed": self.read // 100}]


def test_what_an_applier_of_mysql_scans():
    threads = [Thread(61, 12, None), Thread(62, 13, None)]
    finds, other = applier(), applier("waiting for handler commit", number=13)

    def ask(server, *appliers, pause=lambda seconds: not time.sleep(seconds)):
        return scans(Asking(server, told), appliers, threads, pause)

    (found,) = ask(Threads(MYSQL), finds, other)
    assert (found.process, found.tables) == (12, ("t.a", "t.b"))
    assert 300_000 < found.reads <= 1e6
    assert found.per_change == 100.0
    assert ask(Threads(MYSQL), finds, pause=lambda _: False) == ()
    assert ask(Threads(MARIADB), finds) == ask(Threads(MYSQL), other) == ()
    assert ask(Threads(MYSQL), finds._replace(info="UPDATE t.a SET v = 1")) == ()
    assert changed([finds], [found]) == {"t.a", "t.b"}
    assert changed([finds._replace(info="UPDATE t.c SET v = 1"), other], []) == {"t.c"}


@pytest.mark.parametrize(
    ("flavour", "where"), [(MYSQL, "INNODB_INDEXES"), (MARIADB, "INNODB_SYS_INDEXES"), (MYSQL_5_7, "SYS_")]
)
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["GEN_CLUST_INDEX"], {"t.a": True}), (["PRIMARY", "other"], {"t.a": False}),
        (["GEN_CLUST_INDEX", "other"], {"t.a": False}), ([], {}),
    ],
)  # fmt: skip
def test_which_table_has_no_key(flavour, where, names, expected):
    server = Server(flavour, [{"name": name} for name in names])
    assert keyless(Asking(server, told), ["t.a"]) == expected
    assert where in server.asked[0]


# counters, settings, buffer pool


def test_growth():
    samples = counted({"Handler_update": 100.0}, seconds=0.5, Handler_update=150.0, Uptime=3.0)
    assert Signals(counted=samples).grown("Handler_update", "Handler_delete") == 50
    assert Signals(counted=samples).rate("Handler_update") == 100
    assert Signals(counted=samples).rate("Handler_delete") is None
    assert Signals(counted=samples[:1]).grown("Handler_update") is None
    assert Signals(counted=counted(seconds=0.0, Uptime=3.0)).rate("Uptime") is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("my57", ("slave_parallel_workers", 4)),
        ("my80", ("replica_parallel_workers", 4)),
        ("my97", ("replica_parallel_workers", 4)),
        ("ma1011", ("slave_parallel_threads", 0)),
    ],
)
def test_how_many_apply_side_by_side(version, expected):
    assert gathered(RecordedServer(version)).workers == expected


def test_whoever_does_not_tell_workers_has_none_known():
    assert Signals(settings={"slave_parallel_threads": ""}).workers is None


def buffer_pool_texts():
    found = (line.split("\t") for line in lines("bufferpool_dump_texts.txt") if line.startswith("Innodb_"))
    return [{name: text} for name, text in found]


@pytest.mark.parametrize("texts", buffer_pool_texts())
def test_a_buffer_pool_that_has_been_dumped_is_at_rest(texts):
    assert innodb.dump_under_way(texts) == ""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("load", "Loading buffer pool(s) from /var/lib/mysql/ib_buffer_pool", "load"),
        ("load", "Loaded 3100/10000 pages", "load 31 %"),
        ("load", "Buffer pool(s) load not yet started", ""),
        ("load", "Buffer pool(s) load aborted on request", ""),
        ("load", "Loading of buffer pool not started", ""),
        ("dump", "Dumping of buffer pool not started", ""),
        ("dump", "Dumping buffer pool(s) to /var/lib/mysql/ib_buffer_pool", "dump"),
        ("dump", "Dumping buffer pool 1/8, page 50/200", "dump 3 %"),
        ("dump", "Dumping buffer pool 1/8, page 0/0", "dump"),
        ("dump", "", ""),
    ],
)
def test_a_buffer_pool_that_is_being_dumped_or_loaded(name, text, expected):
    assert innodb.dump_under_way({f"Innodb_buffer_pool_{name}_status": text}) == expected


def test_the_dumps_of_old_percona_servers():
    assert innodb.old_dump({"innodb_auto_lru_dump": "1"}) == "innodb_auto_lru_dump"
    assert innodb.old_dump({"innodb_buffer_pool_restore_at_startup": "300"})
    assert innodb.old_dump({"innodb_buffer_pool_restore_at_startup": "0"}) == ""
    assert innodb.old_dump({}) == ""


# backups


def test_a_mariabackup_is_known_by_its_connections():
    """Recorded: sleeping connections, whose _pid is that of the process."""
    table = [line.split("\t") for line in lines("ma1011_backup_detect.txt")]
    connected = {
        int(row[0]): process(int(row[0]), user="root", host="localhost")
        for row in table
        if row[1:3] == ["root", "Sleep"]
    }
    programs = {int(row[0]): Program("", int(row[2])) for row in table if row[1:2] == ["_pid"]}
    running = [Running(26920, "mariabackup", 7200.0)]
    (found,) = backups.find(connected, programs, [], Tools(running))
    assert found == backups.Backup("mariabackup", 26920, (165, 166, 167, 168), 7200.0)
    assert not found.stops_applier
    assert backups.find(connected, programs, [], Tools()) == ()
    running = [running[0]._replace(arguments=("mariabackup", "--backup", "--safe-slave-backup"))]
    (found,) = backups.find(connected, programs, [], Tools(running))
    assert found.stops_applier
    assert found.explains_stop(7000.0)
    assert not found.explains_stop(8000.0)


@pytest.mark.parametrize("option", ["--prepare", "--copy-back", "--apply-log", "--help"])
def test_what_asks_no_server_is_no_backup(option):
    running = [Running(26920, "mariabackup", 60.0, ("mariabackup", option))]
    assert backups.find({}, {}, [], Tools(running, for_us=True)) == ()


PLACE = backups.Place("/data/a/", "/run/a.sock", "3306")


@pytest.mark.parametrize(
    ("tool", "arguments", "fits"),
    [
        ("mariabackup", ("--datadir=/data/a",), True),
        ("mariabackup", ("-h", "/data/b"), False),
        ("mariabackup", ("--socket", "/run/a.sock"), True),
        ("mariabackup", ("-S/run/b.sock",), False),
        ("mariabackup", ("--datadir=/data/a", "--socket=/run/b.sock"), False),
        ("mysqldump", ("--port=3307",), False),
        ("mysqldump", ("-h", "db7"), False),
        ("mysqldump", ("-h", "localhost", "-P3306"), None),
        ("xtrabackup", ("--backup",), None),
    ],
)
def test_whose_backup_it_is(tool, arguments, fits):
    running = Running(26920, tool, 60.0, (tool, *arguments))
    assert PLACE.fits(running) is fits
    found = backups.find({}, {}, [], Tools([running], place=PLACE))
    assert [one.certain for one in found] == {True: [True], False: [], None: [False]}[fits]


def test_a_shell_is_a_backup_only_while_it_dumps():
    shell = {9: Program("mysqlsh", 4)}
    assert backups.find({9: process(9)}, shell, [], Tools()) == ()
    dumps = process(9, info="SELECT SQL_NO_CACHE `a`,`b` FROM `t`.`c` WHERE", command="Query")
    (found,) = backups.find({9: dumps}, shell, [], Tools())
    assert found.tool == "mysqlsh"
    assert "mysqlsh" not in backups.TOOLS


def test_an_archiver_is_no_dump():
    reads = process(9, info="SELECT /*!40001 SQL_NO_CACHE */ `a` FROM `t`", command="Query")
    assert backups.find({9: reads}, {9: Program("pt-archiver", 4)}, [], Tools()) == ()


def test_a_tool_that_is_connected_to_another_server_is_not_ours():
    running = [Running(26920, "mariabackup", 60.0)]
    assert backups.find({}, {1: Program("mysql", 4)}, [], Tools(running)) == ()
    elsewhere = {7: process(7, host="web1:4711")}
    assert backups.find(elsewhere, {7: Program("", 26920)}, [], Tools(running)) == ()


def test_a_tool_that_nobody_can_place_may_be_ours():
    tools = Tools([Running(26920, "xtrabackup", 60.0)])
    (found,) = backups.find({}, {}, [], tools)
    assert not found.certain
    (found,) = backups.find({}, {}, [], tools._replace(for_us=True))
    assert found.certain


@pytest.mark.parametrize(
    ("part", "connection", "tool"), [("mysqldump", 175, "mysqldump"), ("mydumper", 180, "dump")]
)
def test_dumps_by_program_or_statement(part, connection, tool):
    """Recorded: mysqldump tells its name, mydumper does not."""
    text = "\n".join(lines("ma1011_dump_detect.txt")).split("## ")
    (section,) = (one for one in text if one.startswith(part))
    rows = [line.split("\t") for line in section.splitlines()]
    listed = {
        int(row[0]): process(int(row[0]), row[4], user=row[1], host="localhost", command=row[2], info=row[5])
        for row in rows
        if len(row) == 6 and row[0].isdecimal()
    }
    attributes = [{"id": row[0], "name": row[1], "value": row[2]} for row in rows if len(row) == 3]
    programs = processes.programs(Asking(Server(rows=attributes), told))
    (found,) = backups.find(listed, programs, [], Tools())
    assert (found.tool, found.connections) == (tool, (connection,))
    assert not found.stops_applier


def test_a_backup_lock_whoever_holds_it():
    held = [lock("SHARED", 42, "BACKUP LOCK"), lock("SHARED", 43, "GLOBAL")]
    (found,) = backups.find({42: process(42, seconds=600.0)}, {42: Program("", 4)}, held, Tools())
    assert (found.tool, found.connections, found.seconds) == ("", (42,), 600.0)
    assert not found.stops_applier  # LOCK INSTANCE FOR BACKUP is not all that stops one


def test_one_backup_is_found_once():
    running = [Running(77, "mysqldump", 60.0)]
    reads = process(42, info="SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", host="localhost")
    held = [lock("SHARED", 42, "BACKUP LOCK")]
    assert len(backups.find({42: reads}, {42: Program("mysqldump", 77)}, held, Tools(running))) == 1
    assert len(backups.find({42: reads}, {}, held, Tools(running))) == 1


def dumping(pid, *arguments, name="mariadb-dump"):
    return Running(pid, name, 60.0, (name, *arguments))


def reads(*numbers, host="localhost"):
    """Connections that read a whole table."""
    sql = "SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`"
    return {number: process(number, info=sql, host=host) for number in numbers}


OURS, ELSEWHERE = "--socket=/run/a.sock", "--socket=/run/b.sock"


@pytest.mark.parametrize(
    ("tools", "listed", "expected"),
    [
        ([dumping(78, ELSEWHERE), dumping(77, OURS)], reads(42), [(77, (42,), True)]),
        ([dumping(78, ELSEWHERE)], reads(42), [(None, (42,), True)]),
        ([dumping(79), dumping(77, OURS)], reads(42), [(77, (42,), True), (79, (), False)]),
        ([dumping(79)], reads(42), [(79, (42,), True)]),
        ([dumping(79), dumping(80)], reads(42), [(None, (42,), True)]),
        ([dumping(77, OURS), dumping(78, OURS)], reads(42), [(77, (), True), (78, (), True)]),
        ([dumping(77, OURS, name="mydumper")], reads(42, 43, 44), [(77, (42, 43, 44), True)]),
        ([dumping(77, OURS)], reads(42, host="10.0.0.5:4711"), [(None, (42,), True), (77, (), True)]),
        ([], reads(42, 43), [(None, (42,), True), (None, (43,), True)]),
    ],
)
def test_which_of_several_dumps_is_of_this_server(tools, listed, expected):
    found = backups.find(listed, {}, [], Tools(tools, place=PLACE))
    assert [(one.pid, one.connections, one.certain) for one in found] == expected


def test_a_dump_that_is_not_known_among_programs_is_one():
    tools = Tools([dumping(79), dumping(80)], place=PLACE)
    (found,) = backups.find(reads(42), {7: Program("mysql", 4)}, [], tools)
    assert (found.tool, found.connections) == ("dump", (42,))


# SHOW ENGINE INNODB STATUS


def test_an_earlier_status_of_ours_that_hangs_is_the_finding():
    server = Slow(rows=[listed(75)])
    reading = innodb.ask_status(server, 5).reading
    assert (reading.name, reading.value, reading.why) == ("innodb_status", 75.0, "connection 90")
    assert server.asked == []


def listed(seconds):
    return {"Id": 90, "User": "mon", "Command": "Query", "Time": seconds, "Info": innodb.STATUS.sql}


def test_another_check_that_asks_at_this_moment_does_not_hang():
    server = Slow(rows=[listed(0)])
    assert "takes longer than" in innodb.ask_status(server, 5).reading.what
    assert server.asked == [innodb.STATUS.sql]


def test_one_of_somebody_else_that_hangs_is_the_finding():
    theirs = {"Id": 77, "User": "pmm", "Command": "Query", "Time": 130, "Info": "SHOW ENGINE INNODB STATUS"}
    server = Slow(rows=[theirs])
    reading = innodb.ask_status(server, 5).reading
    assert reading.what == "an earlier SHOW ENGINE INNODB STATUS of the user pmm hangs for 2 min 10 s"
    assert (reading.value, reading.why, server.asked) == (130, "connection 77", [])


class Slow(Server):
    def rows(self, sql, *, within):
        if sql == processes.PROCESSES.sql:
            return self.given
        self.asked.append(sql)
        raise NoAnswerError("no answer")


class Stuck(RecordedServer):
    """Its InnoDB hangs, and an earlier status of ours in it."""

    def rows(self, sql, *arguments, within=None):
        assert "SHOW ENGINE" not in sql
        if "INNODB_TRX" in sql:
            raise NoAnswerError("no answer within 2 s")
        if sql == processes.PROCESSES.sql:
            return [listed(130)]
        return super().rows(sql, *arguments, within=within)


def test_what_was_seen_before_innodb_hung_is_not_lost():
    slept = []
    signals = gathered(Stuck("my97"), pause=slept.append)
    assert len(signals.looks) == 1
    assert slept == []
    assert innodb.hanging(signals.processes.values()).seconds == 130
    reading = innodb.ask_status(Stuck("my97"), 5).reading
    assert reading.value == 130


def test_without_an_answer_to_the_process_list_it_is_not_asked():
    server = Server(error=NoAnswerError("no answer"))
    assert innodb.ask_status(server, 5) == innodb.Answer(why=server.error)
    assert server.asked == [processes.PROCESSES.sql]


def test_running_out_of_time_is_the_finding():
    reading = innodb.ask_status(Slow(), 5).reading
    assert reading.what.startswith("SHOW ENGINE INNODB STATUS takes longer than")
    assert reading.value >= 0


def test_a_server_that_does_not_answer_at_all_says_nothing_of_innodb():
    frozen = Slow()
    answer = innodb.ask_status(Slow(), 5, frozen)
    assert (answer.reading, answer.why.what, frozen.asked) == (None, "no answer", ["SELECT 1"])

    class Answering(Server):
        def rows(self, sql, *, within):
            return [{"1": 1}]

    assert "takes longer than" in innodb.ask_status(Slow(), 5, Answering()).reading.what


def test_with_too_little_time_it_is_not_asked():
    server = Slow()
    answer = innodb.ask_status(server, 1.0)
    assert (answer.reading, answer.text) == (None, "")
    assert "no time was left to ask" in answer.why.what
    assert server.asked == []


def test_the_text_of_5_7_tells_how_full_the_redo_log_is():
    class Told(Server):
        def rows(self, sql, *, within):
            if sql == processes.PROCESSES.sql:
                return []
            return [{"Type": "InnoDB", "Name": "", "Status": "\n".join(lines("my57_innodb_status.txt"))}]

    known = {"innodb_log_file_size": "16777216", "innodb_log_files_in_group": "2"}
    answer = innodb.ask_status(Told(), 5)
    assert answer.reading.name == "innodb_status"
    assert innodb.redo_log(innodb.redo_in(answer.text, known)).name == "redo_log"
