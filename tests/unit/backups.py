"""Backups in folders, as old as a test wants them, and a server to compare them with."""

import contextlib
import os
import runpy
import shutil
import time
from pathlib import Path

from stallwatch.sources.mysql import DeniedError, Flavour, MysqlError, UnreachableError

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded" / "mysql_backup"
PLUGIN = runpy.run_path(str(ROOT / "plugins" / "check_mysql_backup"))
TABLES = (("shop", "customer"), ("shop", "nothing"), ("shop", "orders"), ("shop", "part"))
HOUR = 3600.0


PAGE = 16384


def copied(name, path):
    """Copy a recorded backup; the files of a data directory, which are recorded empty, get some pages."""
    shutil.copytree(RECORDED / name, path)
    for folder, _, names in os.walk(path):
        for each in names:
            if each == "ibdata1" or each.endswith((".ibd", ".new", ".frm")):
                (Path(folder) / each).write_bytes(pages(4))
            elif each == "backup-my.cnf":
                (Path(folder) / each).write_text("[mysqld]\ninnodb_data_file_path=ibdata1:12M:autoextend\n")
    return path


def pages(count, said=None, flags=0x15):
    """Give a tablespace of so many pages, whose header says so or otherwise; the flags are MariaDB's."""
    header = bytes(46) + (said or count).to_bytes(4, "big") + bytes(4) + flags.to_bytes(4, "big")
    return header.ljust(count * PAGE, b"\0")


def written(path, moment):
    """Let all files below a path have been written at a moment, in seconds since the epoch."""
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # a link to nowhere
                os.utime(os.path.join(folder, name), (moment, moment))
    os.utime(path, (moment, moment))


def moment(text):
    """A moment of UTC, in seconds since the epoch."""
    return time.mktime(time.strptime(text, "%Y-%m-%d %H:%M:%S"))


class FakeServer:
    """A server with tables and binary logs.

    ``made`` tells when a table was made, ``grants`` what the account may; None as ``logs``: it has none.
    """

    def __init__(self, tables=TABLES, logs=(("binlog.000001", 1_000_000),)):
        self.tables = list(tables)
        self.logs = logs
        self.made = {}
        self.grants = ["GRANT SHOW VIEW, REPLICATION CLIENT ON *.* TO `mon`@`%`"]
        self.where = "db1:3306"
        self.flavour = Flavour("MariaDB", (10, 11, 19), "MariaDB 10.11.19")
        self.filled = {}  # estimate of rows, and when they were written to
        self.shared = ()  # InnoDB's names of tables without a file of their own; None: that is denied
        self.denied = False
        self.down = False

    def __enter__(self):
        if self.down:
            raise UnreachableError("db1:3306 refuses connections", "is it up?")
        return self

    def __exit__(self, *_):
        pass

    def rows(self, sql, *arguments):
        if "TABLE_ROWS" in sql:
            filled = [(t, *self.filled[s, t]) for s, t in self.filled if s == arguments[0]]
            return [{"name": name, "estimate": rows, "updated": updated} for name, rows, updated in filled]
        if "INNODB_SYS_TABLES" in sql:
            if self.shared is None:
                raise DeniedError("db1:3306 denied it", "GRANT PROCESS", 1227, "PROCESS", "'mon'@'%'")
            return [{"name": name} for name in self.shared]
        if "CREATE_TIME" in sql:
            return [{"name": t, "made": self.made.get((s, t))} for s, t in self.tables if s == arguments[0]]
        if "information_schema.TABLES" in sql:
            return [{"schema": schema, "name": name, "engine": "InnoDB"} for schema, name in self.tables]
        if sql == "SHOW GRANTS":
            return [{"Grants": grant} for grant in self.grants]
        assert sql == "SHOW BINARY LOGS"
        if self.denied:
            raise DeniedError("db1:3306 denied it", "GRANT SUPER", 1227, "SUPER", "'mon'@'%'")
        if self.logs is None:
            raise MysqlError("You are not using binary logging", "", 1381)
        return [{"Log_name": name, "File_size": size} for name, size in self.logs]
