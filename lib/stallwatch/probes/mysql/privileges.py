"""What an account needs to see more of a MySQL server than its status variables and settings."""

from __future__ import annotations

from stallwatch.sources.mysql.privilege import Privilege

PROCESS = Privilege("PROCESS", "PROCESS", "other connections, transactions, row locks, how InnoDB is")
PERFORMANCE_SCHEMA = Privilege(
    "SELECT ON performance_schema.*",
    "SELECT ON performance_schema.*",
    "commit times, who holds locks, which programs are connected",
)
