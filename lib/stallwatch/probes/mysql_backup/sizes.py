"""The size of the backup before."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.mysql_backup.backup import Backup

_KEPT = "sizes"


def size_before(memory: dict[str, Any], backup: Backup) -> int | None:
    """Tell the bytes of the backup of the same kind before this one, and remember this one.

    None: there is none that earlier runs have seen. It is told as long as no newer backup comes.
    """
    kept = memory.setdefault(_KEPT, {})
    if not isinstance(kept, dict):
        kept = memory[_KEPT] = {}
    maker = backup.kind.partition(",")[0]  # what comes then is how many files there are
    kind = f"{maker} {'incremental' if 'incremental' in backup.about else ''}".strip()
    last = kept.get(kind)
    last = last if isinstance(last, dict) and is_number(last.get("taken")) else {}
    before = last.get("before")
    if last and round(backup.taken) > last["taken"]:
        before = last.get("size")
    elif last and round(backup.taken) < last["taken"]:
        before = None
    known = isinstance(before, int) and before > 0
    kept[kind] = {"taken": round(backup.taken), "size": backup.size, "before": before if known else None}
    return before if known else None
