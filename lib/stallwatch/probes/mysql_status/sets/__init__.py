"""Ready-made sets of numbers: what each is, and what is at its limit."""

from __future__ import annotations

from stallwatch.probes.mysql_status.sets.clients import CONNECTIONS, THREADS
from stallwatch.probes.mysql_status.sets.queries import HANDLERS, TABLES, TEMPORARY
from stallwatch.probes.mysql_status.sets.storage import INNODB, REPLICATION

SETS = {
    "handlers": HANDLERS,
    "tables": TABLES,
    "connections": CONNECTIONS,
    "threads": THREADS,
    "innodb": INNODB,
    "temporary": TEMPORARY,
    "replication": REPLICATION,
}
