"""What the sheets show of plugins whose servers are not recorded: made from captured ones, word by word.

``make record`` writes the screens anew; read the difference before you keep it.
"""

import os
import runpy
import shlex
import time
from pathlib import Path

import pytest
from backups import FakeServer, copied, moment, written
from captured_mysql import CapturedMysql
from fake_proc import FakeProc
from recorded_jvm import RecordedJvm
from stallwatch.frame.options import mysql
from stallwatch.sources import mysql as source
from stallwatch.sources import recording
from stallwatch.sources.mysql import UnreachableError
from stallwatch.sources.mysql.connection import Skimmed

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "tests" / "recorded" / "documented"
STALL = 27_460_070  # bytes of the redo log at which writers of the captured MySQL 9.7 wait
GIB = 1 << 30
SAID = {}


def screen(name, command, status, prepare):
    """Declare a screen: the command, the state that it is about, and what makes it so."""
    SAID[name] = (command, status, prepare)


class World:
    """Where a plugin runs: a captured server, time that goes by only if somebody sleeps, an empty home."""

    def __init__(self, home, monkeypatch):
        self.home = home
        self.patch = monkeypatch
        self.now = 1_795_000_000.0
        self.server = CapturedMysql("MySQL 9.7")
        self.server.status["Uptime"] = "500000"
        self.jvm = RecordedJvm({})
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("STATE_DIRECTORY", str(home / "state"))
        for place in (mysql, source):
            monkeypatch.setattr(place, "connect", lambda *_: self.server)
        for name, told in (
            ("time", lambda: self.now),
            ("monotonic", lambda: self.now),
            ("sleep", self.sleep),
        ):
            monkeypatch.setattr(time, name, told)

    def sleep(self, seconds):
        """Let time go by, at the server, too."""
        if isinstance(self.server, CapturedMysql):
            self.server.later(int(self.now + seconds) - int(self.now))
        self.now += seconds

    def run(self, command):
        """Run a plugin in it: exit status and text."""
        name, *words = shlex.split(command)
        plugin = runpy.run_path(str(ROOT / "plugins" / name))
        with recording.use(self.jvm):
            return plugin["check"].run(plugin["findings"], words)


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path, monkeypatch)


def after_a_minute(world, command, **counted):
    """Let there have been a run, and the server have counted since."""
    world.run(command)
    world.sleep(60)
    world.server.later(0, **counted)


def healthy_status(world, command):
    after_a_minute(world, command, Queries=60_000, Questions=60_000, Handler_read_rnd_next=100_000)


def tables_opened(world, command):
    world.server.variables["table_open_cache"] = "400"
    world.server.status["Open_tables"] = "398"
    after_a_minute(world, command, Opened_tables=57 * 60, Table_open_cache_overflows=3300)


def scans(world, command):
    counted = {"Handler_read_rnd_next": 150_000_000 * 60, "Handler_read_key": 600, "Select_scan": 1200}
    for _ in range(3):
        after_a_minute(world, command, **counted)


def is_full_of_clients(world, command):
    world.server.status["Threads_connected"] = "151"
    for _ in range(3):
        after_a_minute(world, command, Connection_errors_max_connections=120)


def is_so_full(world, share):
    """Let the redo log be filled so far, of the point where writers wait."""
    current = int(world.server.status["Innodb_redo_log_current_lsn"])
    world.server.status["Innodb_redo_log_checkpoint_lsn"] = str(round(current - share * STALL))


def writers_wait(world, command):
    is_so_full(world, 0.4)
    world.run(command)
    world.sleep(60)
    world.server.later(0, log_on_file_space_waits=131, Innodb_redo_log_current_lsn=150 << 20)
    is_so_full(world, 0.993)


def redo_log_is_half_full(world, command):
    is_so_full(world, 0.4)
    after_a_minute(world, command, Innodb_redo_log_current_lsn=6 << 20)
    is_so_full(world, 0.5)


def misses(world, command):
    pages = {"free": 12, "data": 4072, "dirty": 3}
    world.server.status |= {f"Innodb_buffer_pool_pages_{name}": str(count) for name, count in pages.items()}
    counted = {"Innodb_buffer_pool_read_requests": 2_115_000, "Innodb_buffer_pool_reads": 272_000}
    for _ in range(2):
        after_a_minute(world, command, **counted)


class Answering(CapturedMysql):
    """Answers a query after so many seconds."""

    let_in_after = 0.0007

    def __init__(self, world, seconds):
        super().__init__("MySQL 9.7")
        self.world, self.seconds = world, seconds

    def skim(self, *_, **__):
        self.world.now += self.seconds
        return Skimmed(1, "1")


def is_down(world, _):
    def refused(*_):
        raise UnreachableError(
            "db1:3306 refused the connection",
            "check that it runs and listens there (bind_address, port)",
        )

    for place in (mysql, source):
        world.patch.setattr(place, "connect", refused)


def answers_in(seconds):
    def prepare(world, _):
        world.server = Answering(world, seconds)

    return prepare


def has_no_process(world, _):
    (world.home / "proc").mkdir()
    FakeProc(world.home / "proc", world.patch)


def has_process(world):
    proc = world.home / "proc"
    proc.mkdir()
    fake = FakeProc(proc, world.patch)
    fake.process(4711, user=100.0, system=50.0, minor=1000, resident=380_000)
    world.server.status["Uptime"] = "999"
    return fake


def process_is_up(world, command):
    fake = has_process(world)
    world.run(command)
    world.sleep(60)
    fake.later(60)
    fake.process(4711, user=118.0, system=53.0, minor=13_000)


def buffer_is_mapped(world, command):
    """The articles' numbers: 80 connections per second, each of which zeroes 1280 pages."""
    fake = has_process(world)
    world.server.variables["read_buffer_size"] = str(5 << 20)
    world.run(command)
    world.sleep(60)
    fake.later(60)
    world.server.later(0, Connections=4800)
    fake.process(4711, user=101.44, system=74.0, minor=1000 + 4800 * 1281)


def backup(world, maker="mysqlpdump"):
    path = copied(maker, world.home / "backup")
    written(path, moment("2026-11-21 23:56:05"))
    world.now = moment("2026-11-22 09:56:00")
    world.server = FakeServer(logs=(("binlog.000001", 1_000_000), ("mysql-bin.000001", 1_000_000)))
    return path


def backed_up(world, _):
    backup(world, "mydumper-0.10-mariadb")


def file_is_cut_off(world, _):
    path = backup(world, "mysqlpdump-packed") / "shop-orders.sql.gz"
    path.write_bytes(path.read_bytes()[:-300])
    written(path.parent, moment("2026-11-21 23:56:05"))


def table_is_missing(world, _):
    path = backup(world)
    (path / "shop-part.sql").unlink()
    written(path, moment("2026-11-21 23:56:05"))
    world.server.made = dict.fromkeys(world.server.tables, moment("2026-01-01 00:00:00"))


HEAP = {"init": 4 * GIB, "used": int(6.6 * GIB), "committed": 8 * GIB, "max": 8 * GIB}
BEANS = {
    "java.lang:type=Memory": {"HeapMemoryUsage": HEAP},
    "java.lang:type=Runtime": {"StartTime": 1000, "Uptime": 60_000},
    "org.apache.cassandra.db:type=StorageService": {"OperationMode": "JOINING", "UnreachableNodes": []},
}


def has_beans(world, _):
    world.jvm = RecordedJvm(BEANS)


MEMORY = "check_jmx -H db1 -P 7199 -O java.lang:type=Memory -A HeapMemoryUsage -K used"
STORAGE = "check_jmx -H db1 -P 7199 -O org.apache.cassandra.db:type=StorageService"
PROCESS = "check_mysqld_process"
BACKUP = "check_mysql_backup -d backup -H db1"
screen("mysql_status-healthy", "check_mysql_status -H db1", 0, healthy_status)
screen("mysql_status-tables", "check_mysql_status -H db1", 1, tables_opened)
screen("mysql_status-scans", "check_mysql_status -H db1 --set handlers", 2, scans)
screen("mysql_status-connections", "check_mysql_status -H db1 --set connections", 2, is_full_of_clients)
screen("innodb_redo_log-healthy", "check_innodb_redo_log -H db1", 0, redo_log_is_half_full)
screen("innodb_redo_log-waits", "check_innodb_redo_log -H db1", 2, writers_wait)
screen("innodb_buffer_pool-misses", "check_innodb_buffer_pool -H db1 -w 1% -c 5%", 2, misses)
screen("mysql_query-healthy", "check_mysql_query -H db1", 0, answers_in(0.002))
screen("mysql_query-down", "check_mysql_query -H db1", 2, is_down)
screen(
    "mysql_query-slow",
    "check_mysql_query -H db1 -D shop -q 'SELECT COUNT(*) FROM orders'",
    1,
    answers_in(0.3),
)
screen("mysqld_process-gone", PROCESS, 2, has_no_process)
screen("mysqld_process-healthy", PROCESS, 0, process_is_up)
screen("mysqld_process-read-buffer", f"{PROCESS} --mysql", 1, buffer_is_mapped)
screen("mysql_backup-healthy", BACKUP, 0, backed_up)
screen("mysql_backup-cut-off", f"{BACKUP} --verify full", 2, file_is_cut_off)
screen("mysql_backup-table-missing", BACKUP, 2, table_is_missing)
screen("jmx-heap", f"{MEMORY} --of max --unit B -w 80% -c 90%", 1, has_beans)
screen("jmx-text", f"{STORAGE} -A OperationMode --match '^NORMAL$' -A UnreachableNodes -w 0", 2, has_beans)


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize("name", SAID)
def test_a_screen_of_the_sheets_is_what_the_plugin_says(name, world, monkeypatch):
    command, expected_status, prepare = SAID[name]
    monkeypatch.chdir(world.home)
    prepare(world, command)
    status, text = world.run(command)
    assert status == expected_status, text
    said = f"$ {command}\n{text}\n(exit status {status})\n"
    file = SCREENS / f"{name}.txt"
    if "STALLWATCH_RECORD" in os.environ:
        file.write_text(said)
    assert said == file.read_text()


def test_every_screen_is_made_here():
    assert {path.stem for path in SCREENS.glob("*.txt")} == SAID.keys()
