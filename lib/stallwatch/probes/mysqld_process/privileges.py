"""What an account needs so that the threads of its server have names."""

from __future__ import annotations

from stallwatch.sources.mysql.privilege import Privilege

PROCESS = Privilege("PROCESS", "PROCESS", "which connection a thread belongs to")
PERFORMANCE_SCHEMA = Privilege(
    "SELECT ON performance_schema.*", "SELECT ON performance_schema.*", "what a thread does"
)
