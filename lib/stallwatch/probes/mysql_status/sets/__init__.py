"""Ready-made sets of numbers: what each is, and what stands at its limit."""

from __future__ import annotations

from stallwatch.probes.mysql_status.sets import (
    connections,
    handlers,
    innodb,
    replication,
    tables,
    temporary,
    threads,
)

SETS = {
    "handlers": handlers.SET,
    "tables": tables.SET,
    "connections": connections.SET,
    "threads": threads.SET,
    "innodb": innodb.SET,
    "temporary": temporary.SET,
    "replication": replication.SET,
}
