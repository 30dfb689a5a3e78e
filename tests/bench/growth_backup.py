"""What does check_mysql_backup cost, from 10 tables to 10 000? Real ones, each beside its MariaDB."""

import contextlib
from pathlib import Path

from growth_limits import linear
from measured import Bench, ours
from pairs import version

# isort: split
import backup_makers
import software
from mariadb import Mariadb

ROUNDS = 15
TABLES = (10, 100, 1000, 10_000)
SCHEMA = "shop"
TIMEOUT = 600  # seconds that a dump may take
FAST = {  # to make, and to dump
    "debug_no_sync": "ON", "innodb_flush_method": "nosync", "innodb_file_per_table": "OFF",
    "innodb_stats_persistent": "OFF", "innodb_buffer_pool_size": "128M", "table_definition_cache": 20_000,
}  # fmt: skip


def main():
    """Measure a backup of each kind and size."""
    with Bench("growth_backup") as bench, contextlib.ExitStack() as running:
        servers = {}
        for count in TABLES:
            servers[count] = running.enter_context(Mariadb(bench.path(f"server{count}"), **FAST))
            _fill(servers[count], count)
        bench.software["MariaDB"] = version(servers[count])
        found = {}
        for make in (mydumper, mariadb_dump):
            name = f"check_mysql_backup, {make.__name__.replace('_', '-')}"
            commands = {count: _check(server, make) for count, server in servers.items()}
            found[name] = bench.compare(name, commands, ROUNDS)
        linear(bench, found)
        linear(bench, found, "memory")


def _fill(server, count):
    """Make so many tables of one row, and an account that may compare them."""
    with server.session(seconds=300) as sql:
        sql("SET sql_log_bin = 0")
        sql(f"CREATE DATABASE {SCHEMA}")
        for number in range(count):
            table = f"{SCHEMA}.table_{number}"
            sql(f"CREATE TABLE {table} (id INT PRIMARY KEY, note VARCHAR(80)) AS SELECT {number} id, '' note")
    server.account("mon", "SHOW VIEW", "BINLOG MONITOR")


def _check(server, make):
    """Make a backup: the check of it."""
    folder = Path(server.folder, make.__name__)
    folder.mkdir()
    make(server, folder)
    account = ("-u", "mon", "-p", "secret of mon")
    return ours("check_mysql_backup", "--no-state", "-t", "2m", "-d", folder, "-S", server.socket, *account)


# Without triggers: to find those of one table, MariaDB 10.11 looks through all tables of its schema.


def mydumper(server, folder):
    """Dump into two files for each table."""
    program = software.program("mydumper", "mydumper")
    whom = ("-S", server.socket, "-u", "root", "-B", SCHEMA)
    backup_makers.run([program, *whom, "-o", folder], timeout=TIMEOUT)


def mariadb_dump(server, folder):
    """Dump all into one file."""
    program = software.program("mariadb-dump", backup_makers.MARIADB_CLIENT)
    whom = ("--no-defaults", "-S", server.socket, "-u", "root", "--databases", SCHEMA)
    with open(folder / "all.sql", "wb") as file:
        options = ("--single-transaction", "--master-data=2", "--skip-triggers")
        backup_makers.run([program, *whom, *options], timeout=TIMEOUT, stdout=file)


if __name__ == "__main__":
    main()
