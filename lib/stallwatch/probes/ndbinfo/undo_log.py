"""The undo log of disk tables: when writes find it full, and what is said of it."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

# For check_ndb_memory and check_ndb_redo_buffer: what it is, what happens when it is full, the cause, the
# next step, what else helps.
UNDO_LOG = (
    "undo log",
    "when it is full, writes to disk tables fail with error 1501",
    "checkpoints probably do not keep up",
    "ALTER LOGFILE GROUP ... ADD UNDOFILE",
    "a faster disk helps, too",
)
# A third is kept free for checkpoints, a quarter while a data node restarts (9.7.2 source, lgman.cpp).
# Measured on 9.7.2: ndbinfo.logspaces stays at 66.67 % while all writes fail with error 1501.
_USABLE = 2 / 3
_SINCE = (8, 0)  # of the SQL node; of older versions it is not known


def usable(ndbinfo: Ndbinfo) -> float:
    """Give the part of the undo log that writes can use, from 0 to 1."""
    return _USABLE if ndbinfo.version >= _SINCE else 1.0
