"""What an account needs to judge replication, and what is not seen without: grants.sql is made from it.

Tried out account by account on MySQL 5.7 to 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

from stallwatch.probes.mysql.privileges import PERFORMANCE_SCHEMA, PROCESS
from stallwatch.sources.mysql.privilege import Privilege

# MariaDB's REPLICATION CLIENT is BINLOG MONITOR, and not enough (10.5.9 and later).
STATUS = Privilege(
    "REPLICATION CLIENT", "SLAVE MONITOR", "the replication status, without which all is unknown"
)
BINARY_LOG = Privilege(
    "REPLICATION CLIENT", "BINLOG MONITOR", "where its binary log ends, if it does without GTIDs"
)

ON_REPLICA = (STATUS, PROCESS, PERFORMANCE_SCHEMA)
ON_SOURCE = (BINARY_LOG,)
