"""Whether the buffer pool is being dumped or loaded: many reads, and in old Percona Servers locks.

``innodb_auto_lru_dump`` of Percona Server 5.1 (innodb_buffer_pool_restore_at_startup in 5.5) cost
replication 5 to 10 per cent at best, and hours behind a backup ("Mystery Solved: Replication lag in
InnoDB").
"""

from __future__ import annotations

import re

from stallwatch.probes.mysql.status import is_on
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNDER_WAY, _OVER = ("Dumping", "Loading", "Loaded"), ("not started", "completed", "aborted")
_LOADED = r"(\d+)/(\d+) pages"
_DUMPING = r"(\d+)/(\d+), page (\d+)/(\d+)"  # the first is of the pool's instances
_OLD_DUMPS = ("innodb_auto_lru_dump", "innodb_buffer_pool_restore_at_startup")


def under_way(texts: Mapping[str, str]) -> str:
    """Say what is going on with the buffer pool's dump: "load 31 %"; "": nothing."""
    for what in ("load", "dump"):
        status = texts.get(f"Innodb_buffer_pool_{what}_status", "")
        if status.startswith(_UNDER_WAY) and not any(words in status for words in _OVER):
            return f"{what}{_progress(status)}"
    return ""


def _progress(status: str) -> str:
    share = _share(status)
    return "" if share is None else f" {100 * share:.0f} %"


def _share(status: str) -> float | None:
    if match := re.search(_DUMPING, status):
        instance, instances, page, pages = map(int, match.groups())
        return (instance - 1 + page / pages) / instances if instances and pages else None
    if match := re.search(_LOADED, status):
        done, total = map(int, match.groups())
        return done / total if total else None
    return None


def old_dump(settings: Mapping[str, str]) -> str:
    """Give the name of the variable that lets an old Percona Server dump its LRU list all the time."""
    return next((name for name in _OLD_DUMPS if is_on(settings.get(name, ""))), "")
