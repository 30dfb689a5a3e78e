"""What do the checks of a MySQL server, its host and its backups cost beside check_replication_lag and peers?

Whole processes, arguments and verdict included, in turn in one run, on a replica of MariaDB and one of MySQL
that the tests start. None is to take more processor time than check_replication_lag on the same server.
"""

import compileall
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measured import Starter, cost_line
from peers import peers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import software  # noqa: E402 - it is there
from replication_pair import KINDS, Pair  # noqa: E402

ROUNDS = 25
FIRST = "check_replication_lag"
MYSQL = {  # of a server, each with what it is to do
    FIRST: (),
    "check_mysql_status": ("--set", "handlers", "--set", "connections"),
    "check_innodb_redo_log": (),
    "check_innodb_buffer_pool": (),
    "check_mysql_query": ("--query", "SELECT 1", "--count", "10"),
}
PEERS = {  # what is in use, and Debian's packages of it
    "check_mysql": ("monitoring-plugins-standard",),
    "check_mysql_health": ("monitoring-plugins-contrib", "libdbd-mysql-perl"),
    "pmp-check-mysql-status": ("monitoring-plugins-contrib",),
}


def ours(name, *words):
    """One of our plugins as it is called."""
    return [sys.executable, ROOT / "plugins" / name, *words]


def commands(pair, paths, backup):
    """All commands by their names."""
    server, account = pair.replica, pair.monitor
    login = ("-S", server.socket, "-u", account.user)
    health = ("--socket", server.socket, "--username", account.user, "--password", account.password)
    theirs = {
        "check_mysql": ("-s", server.socket, "-u", account.user, "-p", account.password),
        "check_mysql_health": ("--mode", "bufferpool-hitrate", *health),
        "pmp-check-mysql-status": (
            "-S", server.socket, "-l", account.user, "-p", account.password, "-x", "Threads_connected",
            "-w", "40",
        ),
    }  # fmt: skip
    return {
        **{name: ours(name, *login, *words) for name, words in MYSQL.items()},
        "check_mysqld_process": ours("check_mysqld_process", "--pid-file", server.path("pid")),
        "check_mysql_backup": ours("check_mysql_backup", "-d", backup),
        "check_host": ours("check_host"),
        **{name: [path, *theirs[name]] for name, path in paths.items()},
    }


def compare(pair, starter, paths):
    """Run each in turn, many times; the others are set against the first."""
    backup = os.path.join(pair.folder, "backup.sql")
    dump(pair.source, backup)
    given = commands(pair, paths, backup)
    costs = {name: [] for name in given}
    for _ in range(ROUNDS):
        for name, command in given.items():
            costs[name].append(starter.cost(command))
    ((version,),) = (row.values() for row in pair.replica.sql("SELECT @@version"))
    print(f"\n{pair.kind} {version.partition('-')[0]}, a healthy replica, medians of {ROUNDS}")
    for name, each in costs.items():
        print(cost_line(name, each, costs[FIRST]))


def dump(server, path):
    """Make a backup of a server."""
    program = software.program("mariadb-dump", "mariadb-client")
    command = [program, "--no-defaults", "-S", server.socket, "-u", "root", "--databases", "lab"]
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run(command, check=True, stdout=file)


def main():
    """Print a table for each kind of server."""
    compileall.compile_dir(ROOT / "lib", quiet=1)  # as it is installed
    paths = peers(PEERS)
    for kind in KINDS:
        with contextlib.ExitStack() as running:
            folder = running.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
            try:
                pair = running.enter_context(Pair(os.path.join(folder, kind), kind))
            except software.Missing as missing:
                print(f"left out: {missing}")
                continue
            os.environ["HOME"] = folder  # no ~/.my.cnf
            os.environ["STATE_DIRECTORY"] = os.path.join(folder, "state")
            os.environ["STALLWATCH_MYSQL_PASSWORD"] = pair.monitor.password
            compare(pair, running.enter_context(Starter()), paths)


if __name__ == "__main__":
    main()
