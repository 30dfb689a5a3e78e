"""What else fills up: the redo log itself, the undo log of disk tables and its buffer, and who has them."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.ndb_redo_buffer.use import RESERVED
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster

BUFFERS, SPACES = "logbuffers", "logspaces"  # the tables
_REDO, _UNDO = "REDO", "DD-UNDO"  # log_type
_ASKED = """SELECT node_id, log_type, COUNT(*) AS parts, COUNT(used) AS told, MAX(log_id) AS last_id,
 MAX(100.0 * used / (total - {reserved})) AS fullest FROM ndbinfo.{table}
 WHERE total > {reserved} AND node_id IN ({nodes}) GROUP BY node_id, log_type"""
_OF_REDO_BUFFERS = f"CASE log_type WHEN 'REDO' THEN {RESERVED} ELSE 0 END"


class Filled(NamedTuple):
    """How full the fullest one of each data node is, in per cent, by node; {}: there is none of its kind."""

    redo: dict[int, float]  # buffers: of what operations may use
    undo: dict[int, float]  # of disk tables
    redo_parts: int = 0  # in all
    numbered_by_id: bool = False  # log_id is the redo log part, not log_part
    here: frozenset[int] = frozenset()  # nodes that have a row of the redo log, with numbers or without
    problems: tuple[ProbeError, ...] = ()  # rows without


NOTHING = Filled({}, {})


def look(ndbinfo: Ndbinfo, cluster: Cluster, table: str) -> Filled:
    """Ask one table for the fullest of each data node that is started; raises a ProbeError."""
    nodes = ", ".join(map(str, cluster.started))
    reserved = _OF_REDO_BUFFERS if table == BUFFERS else "0"
    rows = ndbinfo.some(_ASKED.format(reserved=reserved, table=table, nodes=nodes))
    redo = [row for row in rows if row["log_type"] == _REDO]
    return Filled(
        redo=_fullest(redo),
        undo=_fullest([row for row in rows if row["log_type"] == _UNDO]),
        redo_parts=sum(whole(row, "parts") for row in redo),
        numbered_by_id=any(whole(row, "last_id") for row in redo),
        here=frozenset(whole(row, "node_id") for row in redo),
        problems=tuple(_untold(rows, table)),
    )


def _fullest(rows: list[Row]) -> dict[int, float]:
    told = (row for row in rows if row["fullest"] is not None)
    return {whole(row, "node_id"): round(number(row, "fullest"), 2) for row in told}


def _untold(rows: list[Row], table: str) -> Iterator[ProbeError]:
    for row in rows:
        parts, told = whole(row, "parts"), whole(row, "told")
        if told < parts:
            what = f"{parts - told} of {parts} rows ({row['log_type']}) of node {row['node_id']}"
            yield ProbeError(f"{what} in ndbinfo.{table} have no number: judged without them")
