"""The programs that make backups, run on a server of the tests."""

import concurrent.futures
import gzip
import os
import re
import subprocess

import software

MARIADB_CLIENT = "mariadb-client"
FILL = """
CREATE DATABASE shop;
CREATE TABLE shop.customer (id INT PRIMARY KEY, name VARCHAR(80));
INSERT INTO shop.customer VALUES (1, 'Ann'), (2, 'Bob'), (3, 'two lines\\n-- Dump completed on 2020-01-01');
CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, note VARCHAR(200));
INSERT INTO shop.orders WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    SELECT i, i % 3 + 1, CONCAT('order ', i, ' of ', SHA2(i, 256)) FROM n;
CREATE TABLE shop.nothing (id INT PRIMARY KEY);
CREATE TABLE shop.part (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2;
INSERT INTO shop.part VALUES (1), (2), (3);
CREATE VIEW shop.names AS SELECT name FROM shop.customer;
CREATE DATABASE `odd-db`;
CREATE TABLE `odd-db`.`t-schema` (id INT PRIMARY KEY);
INSERT INTO `odd-db`.`t-schema` VALUES (1);
CREATE TABLE `odd-db`.`we.ird $1 table` (id INT PRIMARY KEY);
INSERT INTO `odd-db`.`we.ird $1 table` VALUES (1);
CREATE TABLE `odd-db`.`Grün` (id INT PRIMARY KEY);
INSERT INTO `odd-db`.`Grün` VALUES (1);
ANALYZE TABLE shop.orders
"""
TABLES = 7
SCHEMAS = ("shop", "odd-db")


def fill(server):
    """Make the tables that are to be backed up, in the binary log."""
    with server.session() as sql:
        for statement in FILL.split(";\n"):
            sql(statement)


def clear(server):
    """Drop them, and whatever was made beside them there."""
    for schema in SCHEMAS:
        server.sql(f"DROP DATABASE IF EXISTS `{schema}`")


def base_tables(server):
    """List the base tables of these schemas: (schema, name)."""
    rows = server.sql(
        "SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t FROM information_schema.TABLES"
        " WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA IN %s ORDER BY s, t",
        SCHEMAS,
    )
    return [(row["s"], row["t"]) for row in rows]


def checksums(server):
    """The server's own checksum of each base table, by (schema, name)."""
    found = {}
    for schema, table in base_tables(server):
        quoted = table.replace("`", "``")
        (row,) = server.sql(f"CHECKSUM TABLE `{schema}`.`{quoted}`")
        found[schema, table] = row["Checksum"]
    return found


def run(command, *, may_fail=False, **settings):
    """Run a program; what it says on standard error is in the error."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, **settings}
    done = subprocess.run([*map(str, command)], check=False, **settings)
    assert may_fail or done.returncode == 0, (command, done.stderr)
    return done


def mydumper(server, folder, *options):
    """Dump into a folder, one file for each table."""
    program = software.program("mydumper", "mydumper")
    schemas = "^(" + "|".join(map(re.escape, SCHEMAS)) + r")\."
    run([program, "-S", server.socket, "-u", "root", "-o", folder, "-x", schemas, "-G", *options])
    return folder


def mysqldump(server, path, *options, program="mariadb-dump", may_fail=False):
    """Dump into one file, gzipped if its name says so; gives the program's exit status."""
    program = software.program(program, MARIADB_CLIENT)
    command = [program, "--no-defaults", "-S", server.socket, "-u", "root", "--single-transaction", *options]
    done = run(command, may_fail=may_fail)
    pack = gzip.compress if str(path).endswith(".gz") else bytes
    with open(path, "wb") as file:
        file.write(pack(done.stdout))
    return done.returncode


def mysqlpdump(server, folder, *, ending=".sql.gz"):
    """Dump as mysqlpdump does: each table, and each view, into a file of its own, beside the master data."""
    os.makedirs(folder)
    schemas = server.sql("SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t FROM information_schema.TABLES"
                         " WHERE TABLE_SCHEMA IN %s", SCHEMAS)  # fmt: skip
    file, position = server.place()
    master = f"CHANGE MASTER TO MASTER_LOG_FILE='{file}', MASTER_LOG_POS={position};\n".encode()
    pack = gzip.compress if ending.endswith(".gz") else bytes
    with open(os.path.join(folder, f"00_master_data{ending}"), "wb") as begin:
        begin.write(pack(master))

    def dump(row):
        mysqldump(server, os.path.join(folder, f"{row['s']}-{row['t']}{ending}"), row["s"], row["t"])

    with concurrent.futures.ThreadPoolExecutor() as threads:
        list(threads.map(dump, schemas))
    return folder


def mariabackup(server, folder, *options, may_fail=False):
    """Copy the data directory; the log is beside the folder."""
    program = software.program("mariadb-backup", "mariadb-backup")
    command = [program, "--no-defaults", "--backup", f"--socket={server.socket}", "--user=root",
               f"--datadir={server.data}", f"--target-dir={folder}", *options]  # fmt: skip
    with open(f"{folder}.log", "wb") as log:
        done = run(command, may_fail=may_fail, stdout=log, stderr=log)
    return done.returncode


def prepare(folder):
    """Prepare a copy of the data directory."""
    program = software.program("mariadb-backup", "mariadb-backup")
    with open(f"{folder}.log", "wb") as log:
        run([program, "--no-defaults", "--prepare", f"--target-dir={folder}"], stdout=log, stderr=log)


def load(server, text, schema=None):
    """Run a dump on a server, as the mariadb client does."""
    program = software.program("mariadb", MARIADB_CLIENT)
    command = [program, "--no-defaults", "-S", server.socket, "-u", "root", "--default-character-set=utf8mb4"]
    return run([*command, *([schema] if schema else [])], input=text, may_fail=True)
