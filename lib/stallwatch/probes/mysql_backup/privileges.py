"""What an account needs to compare a backup with its server: grants.sql is made from it.

Tried out privilege by privilege on MySQL 9.7 and MariaDB 10.11: information_schema.TABLES shows the tables
that one has a privilege on. Of those that cover all tables and let nobody read or change rows, SHOW VIEW is
the least.
"""

from __future__ import annotations

from stallwatch.sources.mysql.privilege import Privilege

TABLES = Privilege("SHOW VIEW", "SHOW VIEW", "which tables there are, for check_mysql_backup")
BINARY_LOG = Privilege(
    "REPLICATION CLIENT", "BINLOG MONITOR", "which binary logs are still there, for check_mysql_backup"
)

ON_SERVER = (TABLES, BINARY_LOG)

# With any of these ON *.* all tables are seen.
SHOWING_ALL = frozenset(
    ("ALL PRIVILEGES", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX",
     "ALTER", "SHOW VIEW", "TRIGGER"),
)  # fmt: skip
