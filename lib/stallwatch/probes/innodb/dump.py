"""Whether the buffer pool is being dumped or loaded: many reads, and in old Percona Servers locks.

``innodb_auto_lru_dump`` of Percona Server 5.1 (innodb_buffer_pool_restore_at_startup in 5.5) cost
replication 5 to 10 per cent at best, and hours behind a backup ("Mystery Solved: Replication lag in
InnoDB").
"""

from __future__ import annotations

import re

from stallwatch.probes.mysql.status import is_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_UNDER_WAY = re.compile(r"^(Dumping|Loading|Loaded)\b(?!.*(not started|completed|aborted))")
_PAGES = re.compile(r"(\d+)/(\d+) pages|page (\d+)/(\d+)")
_OLD_DUMPS = ("innodb_auto_lru_dump", "innodb_buffer_pool_restore_at_startup")


def under_way(texts: Mapping[str, str]) -> str:
    """Say what is going on with the buffer pool's dump: "load 31 %"; "": nothing."""
    for what in ("load", "dump"):
        status = texts.get(f"Innodb_buffer_pool_{what}_status", "")
        if _UNDER_WAY.search(status):
            return f"{what}{_progress(status)}"
    return ""


def _progress(status: str) -> str:
    match = _PAGES.search(status)
    if not match:
        return ""
    done, total = (int(one) for one in match.groups() if one)
    return f" {100 * done / total:.0f} %" if total else ""


def old_dump(settings: Mapping[str, str]) -> str:
    """Give the name of the variable that lets an old Percona Server dump its LRU list all the time."""
    return next((name for name in _OLD_DUMPS if is_on(settings.get(name, ""))), "")
