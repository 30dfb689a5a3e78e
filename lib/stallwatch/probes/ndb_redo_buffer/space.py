"""What else fills up: the redo log itself, the undo log of disk tables and its buffer, and who has them."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_redo_buffer.use import RESERVED
from stallwatch.probes.ndbinfo.numbers import number, whole

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.reading import ProbeError

_ASKED = """SELECT node_id, log_type, COUNT(*) AS parts, MAX(log_id) AS last_id,
 MAX(total) AS total, MAX(100.0 * used / total) AS fullest
 FROM ndbinfo.{} WHERE total > 0 GROUP BY node_id, log_type"""
REDO, UNDO = "REDO", "DD-UNDO"  # log_type


class Logs(NamedTuple):
    """How full the fullest one of each data node is, in per cent, by node; {}: there is none of its kind."""

    nodes: int  # that are expected, whether they answer or not
    redo_parts: int  # in all
    numbered_by_id: bool  # log_id of ndbinfo.logbuffers is the redo log part, not log_part
    redo_buffer: dict[int, float]  # of what operations may use, before the samples
    redo_space: dict[int, float]
    undo_space: dict[int, float]
    undo_buffer: dict[int, float]
    missing: tuple[ProbeError, ...]  # nodes that are started and say nothing


def look(ndbinfo: Ndbinfo, cluster: Cluster) -> Logs:
    """Ask for the fullest of each data node; raises a ProbeError."""
    buffers, spaces = (ndbinfo.some(_ASKED.format(table)) for table in ("logbuffers", "logspaces"))
    redo = _of(buffers, REDO)
    redo_space = _used(spaces, REDO)
    redo_buffer = {whole(row, "node_id"): _of_usable(row) for row in redo}
    return Logs(
        nodes=len(cluster.expected) + cluster.unnamed,
        redo_parts=sum(whole(row, "parts") for row in redo),
        numbered_by_id=any(whole(row, "last_id") for row in redo),
        redo_buffer=redo_buffer,
        redo_space=redo_space,
        undo_space=_used(spaces, UNDO),
        undo_buffer=_used(buffers, UNDO),
        missing=(
            *cluster.without_row(redo_buffer, "logbuffers"),
            *cluster.without_row(redo_space, "logspaces"),
        ),
    )


def _of(rows: list[Row], log_type: str) -> list[Row]:
    return [row for row in rows if row["log_type"] == log_type]


def _used(rows: list[Row], log_type: str) -> dict[int, float]:
    return {whole(row, "node_id"): number(row, "fullest") for row in _of(rows, log_type)}


def _of_usable(row: Row) -> float:
    total = whole(row, "total")  # of each: RedoBuffer is the same for all parts of a node
    return number(row, "fullest") * total / max(1, total - RESERVED)
