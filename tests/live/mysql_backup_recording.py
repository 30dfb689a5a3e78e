"""Make tests/recorded/mysql_backup anew: what the programs make of a small database.

By hand: .venv/bin/python tests/live/mysql_backup_recording.py

Of copies of a data directory only what is text is kept; the other files are there, and empty.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import backup_makers
import software
from mariadb import Mariadb
from mysql_server import Mysql

PLACE = Path(__file__).parents[1] / "recorded" / "mysql_backup"
TABLES = """
CREATE DATABASE shop;
CREATE TABLE shop.customer (id INT PRIMARY KEY, name VARCHAR(80));
INSERT INTO shop.customer VALUES (1, 'Ann'), (2, 'Bob');
CREATE TABLE shop.orders (id INT PRIMARY KEY, note VARCHAR(80));
INSERT INTO shop.orders WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 30)
    SELECT i, CONCAT('order ', i) FROM n;
CREATE TABLE shop.nothing (id INT PRIMARY KEY);
CREATE TABLE shop.part (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2;
INSERT INTO shop.part VALUES (1), (2);
CREATE VIEW shop.names AS SELECT name FROM shop.customer;
ANALYZE TABLE shop.orders
"""
TEXTS = re.compile(r"(_info|_checkpoints|_binlog_info|\.log)$")
_DATABASES = ("--databases", "shop")


def record(name, make):
    """Let ``make`` fill a folder of that name."""
    place = PLACE / name
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    make(place)


def of_mariadb(server):
    """Record what is made of a MariaDB."""
    record("mydumper-0.10-mariadb", lambda place: backup_makers.mydumper(server, place))
    record("mydumper-0.10-packed", lambda place: backup_makers.mydumper(server, place, "-c", "-r", "10"))
    record("mydumper-0.10-killed", lambda place: killed(server, place))
    record("mysqlpdump", lambda place: backup_makers.mysqlpdump(server, place, ending=".sql"))
    record("mysqlpdump-packed", lambda place: backup_makers.mysqlpdump(server, place))
    record("mariadb-dump", lambda place: dumps(server, place))
    record("mariabackup", lambda place: copies(server, place))


def of_mysql(server):
    """Record what is made of a MySQL."""
    record("mydumper-0.10-mysql", lambda place: backup_makers.mydumper(server, place))

    def failed(place):
        place.mkdir()
        backup_makers.mysqldump(server, place / "all.sql", "--master-data", *_DATABASES, may_fail=True)

    record("mariadb-dump-failed", failed)


def killed(server, place):
    """Kill mydumper while it waits for a table."""
    with server.session() as sql:
        sql("LOCK TABLES shop.orders WRITE")
        program = [software.program("mydumper", "mydumper"), "-S", server.socket, "-u", "root", "-B", "shop"]
        process = subprocess.Popen([*program, "--no-locks", "-o", place], stderr=subprocess.DEVNULL)
        while not (place / "shop.customer.sql").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()


def dumps(server, place):
    """Dump all into one file: with its place in the binary log, by GTID, without comments."""
    place.mkdir()
    backup_makers.mysqldump(server, place / "all.sql", "--master-data=2", *_DATABASES)
    backup_makers.mysqldump(server, place / "gtid.sql", "--master-data", "--gtid", *_DATABASES)
    backup_makers.mysqldump(server, place / "bare.sql", "--skip-comments", *_DATABASES)
    backup_makers.mysqldump(server, place / "compact.sql", "--compact", *_DATABASES)
    backup_makers.mysqldump(server, place / "undated.sql", "--skip-dump-date", *_DATABASES)


def copies(server, place):
    """Copy the data directory: whole, prepared, since then, and in vain."""
    place.mkdir()
    full, prepared, since, failed = (place / name for name in ("full", "prepared", "since", "failed"))
    backup_makers.mariabackup(server, full)
    shutil.copytree(full, prepared)
    backup_makers.prepare(prepared)
    backup_makers.mariabackup(server, since, f"--incremental-basedir={full}")
    backup_makers.mariabackup(server, failed, "--socket=/nowhere", may_fail=True)
    for folder, _, names in os.walk(place):
        for name in names:
            path = Path(folder, name)
            if (
                "performance_schema" in folder
                or "/sys" in folder
                or "/mysql" in folder.removeprefix(str(PLACE))
            ):
                path.unlink()
            elif not TEXTS.search(name):
                os.truncate(path, 0)
            else:
                lines = [line for line in path.read_text().splitlines() if not line.startswith("uuid")]
                kept = lines if len(lines) < 50 else [*lines[:3], *lines[-6:]]
                text = "\n".join(kept).replace(str(place), "/backup").replace(server.folder, "/server")
                path.write_text(text + "\n")
    for folder, _, names in os.walk(place, topdown=False):
        with contextlib.suppress(OSError):
            if not names:
                os.rmdir(folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        for kind, record_all in ((Mariadb, of_mariadb), (Mysql, of_mysql)):
            with kind(os.path.join(home, kind.__name__)) as one:
                with one.session() as sql:
                    for statement in TABLES.split(";\n"):
                        sql(statement)
                record_all(one)
