"""The pairs of servers that checks of MySQL are measured on."""

import contextlib

import measured  # noqa: F401 - it says where the rest is

# isort: split
import software
from replication_pair import Pair

NAMES = {"mariadb": "MariaDB", "mysql": "MySQL"}
MONITOR = "mon"
ROOMY = {"table_open_cache": 4000}  # MySQL's; with the 400 of the tests the checks find that it is too small
PASSWORD = f"secret of {MONITOR}"  # of every account of that name that the tests make


def pairs(bench):
    """Each kind that can be had, one after the other, and what its replica is called."""
    for kind, name in NAMES.items():
        with contextlib.ExitStack() as running:
            try:
                pair = running.enter_context(Pair(bench.path(kind), kind, replica=ROOMY))
            except software.Missing as missing:
                bench.leave_out(missing)
                continue
            bench.software[name] = version(pair.replica)
            yield pair, f"{name} {version(pair.replica)}"


def version(server):
    """A server's, without what a distribution adds to it."""
    ((text,),) = (row.values() for row in server.sql("SELECT @@version"))
    return text.partition("-")[0]
