"""What an account needs to judge replication, and what is not seen without it: documentation is made from it.

Tried out account by account on MySQL 5.7 to 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

from typing import NamedTuple


class Privilege(NamedTuple):
    """A privilege as each family calls it, and what it is good for."""

    mysql: str
    mariadb: str
    shows: str
    optional: bool = True


ON_REPLICA = (
    # MariaDB's REPLICATION CLIENT is BINLOG MONITOR and not enough (10.5.9 and later).
    Privilege(
        "REPLICATION CLIENT",
        "SLAVE MONITOR",
        "the replication status: nothing is known without it",
        optional=False,
    ),
    Privilege(
        "PROCESS",
        "PROCESS",
        "whether the link is silent (MariaDB, 5.7), locks, transactions, InnoDB's status",
    ),
    Privilege(
        "SELECT ON performance_schema.*",
        "SELECT ON performance_schema.*",
        "commit times (MySQL 8), who holds locks, which programs are connected",
    ),
)
ON_SOURCE = (
    Privilege("REPLICATION CLIENT", "BINLOG MONITOR", "where its binary log ends, if it does without GTIDs"),
)
HEARTBEAT = "SELECT ON {table}"
