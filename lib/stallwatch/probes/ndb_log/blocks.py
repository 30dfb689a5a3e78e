"""Kernel blocks by number, from BlockNumbers.h of NDB 9.7.2."""

_FIRST = 244
_NAMES = (
    "BACKUP", "DBTC", "DBDIH", "DBLQH", "DBACC", "DBTUP", "DBDICT", "NDBCNTR", "QMGR", "NDBFS", "CMVMI",
    "TRIX", "DBUTIL", "SUMA", "DBTUX", "TSMAN", "LGMAN", "PGMAN", "RESTORE", "DBINFO",
    "DBSPJ", "THRMAN", "TRPMAN",
)  # fmt: skip


def name(number: int) -> str:
    """Name a kernel block; one that is not known by its number."""
    index = number - _FIRST
    return _NAMES[index] if 0 <= index < len(_NAMES) else f"block {number}"
