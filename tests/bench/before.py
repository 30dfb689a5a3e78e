"""Do the checks cost what they cost at an earlier commit?

Both trees run in turn, in the same environment, on the same healthy servers: a replica of MariaDB, a stand-in
for an SQL node of NDB Cluster, a JVM, this host. BEFORE in the environment names the earlier commit; usually
that is the last one before the plugins moved into folders of their own.
"""

import compileall
import os
import subprocess
import sys
from pathlib import Path

from copies import tree
from host import WIDE
from measured import HEAP, ROOT, Bench, Ours
from mysql import dump
from ndb import Answers
from ndb_log import QUIET
from pairs import MONITOR, PASSWORD, version
from sql_stand_in import served

# isort: split
from jvm import Jvm
from large_cluster import TROUBLES
from replication_pair import Pair

BEFORE = os.environ.get("BEFORE") or "c383978"
NOW, THEN = "now", "before"
LIMIT = 1.1
LIMITS = {"check_host": 2.2, "check_mysqld_process": 2.2}  # psutil reads for them


def trees(bench):
    """A copy of this tree and of the earlier one, by name."""
    folder = bench.path("tree")
    os.mkdir(folder)
    packed = subprocess.run(["git", "-C", ROOT, "archive", BEFORE], capture_output=True, check=False)
    if packed.returncode:
        sys.exit(f"there is no commit {BEFORE} to compare with: name one with BEFORE=COMMIT")
    subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
    compileall.compile_dir(os.path.join(folder, "lib"), quiet=1)
    return {
        NOW: tree(Path(bench.path("python now"))),
        THEN: tree(Path(bench.path("python then")), Path(folder)),
    }


def compare(bench, copies, plugin, *words, status=(0,)):
    """Measure one check in both trees, each with a state of its own, and hold it to its limit."""
    commands = {
        name: Ours([copy.python, "-I", copy.plugins / plugin, "--state-dir", bench.path(name), *words])
        for name, copy in copies.items()
    }
    costs = bench.compare(plugin, commands, expected=dict.fromkeys(commands, status))
    bench.hold(f"{plugin}, of the same at {BEFORE}", costs, NOW, THEN, LIMITS.get(plugin, LIMIT))


def on_mariadb(bench, copies):
    """The checks of MySQL, its process and its backups."""
    with Pair(bench.path("pair"), "mariadb") as pair:
        server = pair.replica
        bench.software["MariaDB"] = version(server)
        login = ("-S", server.socket, "-u", MONITOR)
        for plugin in ("replication_lag", "mysql_status", "innodb_buffer_pool", "innodb_redo_log"):
            compare(bench, copies, f"check_{plugin}", *login)
        compare(bench, copies, "check_mysql_query", "--query", "SELECT 1", "--count", "1", *login)
        compare(bench, copies, "check_mysqld_process", "--pid-file", server.path("pid"))
        backup = bench.path("backup.sql")
        dump(server, backup)
        compare(bench, copies, "check_mysql_backup", "-d", backup)


def on_ndb(bench, copies):
    """The checks of NDB Cluster: two data nodes, and the log of one."""
    for plugin in TROUBLES:
        with served(Answers(2)) as port:
            more = ("--restarted", "1s") if plugin == "check_ndb_nodes" else ()
            compare(bench, copies, plugin, "-H", "127.0.0.1", "-P", port, "-u", MONITOR, *more)
    compare(bench, copies, "check_ndb_log", "--log", QUIET)


def on_jvm(bench, copies):
    """The checks of JMX."""
    with Jvm(bench.path("jvm")) as jvm:
        where = ("-H", jvm.host, "-P", jvm.port)
        compare(bench, copies, "check_jmx", *where, *HEAP)
        compare(bench, copies, "check_jmx_thread_pools", *where, status=(3,))  # it has no pools


def on_this_host(bench, copies):
    """The checks of the host that they run on."""
    compare(bench, copies, "check_host", *WIDE)
    compare(bench, copies, "check_bonding", status=(0, 3))


def main():
    """Measure all of them."""
    with Bench("before", STALLWATCH_MYSQL_PASSWORD=PASSWORD) as bench:
        copies = trees(bench)
        for part in (on_mariadb, on_ndb, on_jvm, on_this_host):
            part(bench, copies)


if __name__ == "__main__":
    main()
