"""Which tables have no key at all, as InnoDB's dictionary tells whoever has PROCESS."""

from __future__ import annotations

from stallwatch.probes.mysql.privileges import PROCESS
from stallwatch.probes.mysql.statement import Statement, text
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.mysql.asking import Asking

_INDEXES = (
    "SELECT i.NAME AS name FROM information_schema.{tables} t JOIN information_schema.{indexes} i"
    " ON i.TABLE_ID = t.TABLE_ID WHERE t.NAME = %s"
)
INDEXES = Statement(_INDEXES.format(tables="INNODB_TABLES", indexes="INNODB_INDEXES"), PROCESS)
INDEXES_BEFORE = Statement(  # MySQL 5.7, MariaDB
    _INDEXES.format(tables="INNODB_SYS_TABLES", indexes="INNODB_SYS_INDEXES"), PROCESS
)
_OWN = "GEN_CLUST_INDEX"  # that InnoDB makes where there is no key
_RENAMED = (8, 0)


def keyless(asking: Asking, tables: Iterable[str]) -> dict[str, bool]:
    """Tell of each table ("shop.orders") whether it has no key; of what is not found nothing is told."""
    flavour = asking.server.flavour
    before = flavour.mariadb or flavour.version < _RENAMED
    found = {}
    for table in tables:
        rows = asking.rows(INDEXES_BEFORE if before else INDEXES, table.replace(".", "/", 1))
        names = {text(row, "name") for row in rows}
        if names:
            found[table] = names == {_OWN}
    return found
