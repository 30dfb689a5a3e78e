"""What is asked only where something is wrong: how large page buffers are, how long a page read takes."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.sources.mysql import MysqlError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

# DiskPageBufferMemory in ndbinfo.config_params: CFG_DB_DISK_PAGE_BUFFER_MEMORY of mgmapi_config_parameters.h.
# Not DISK_PAGE_BUFFER of ndbinfo.resources, which holds more: 14 MiB where 4 MiB are configured (9.7.2).
_PARAMETER = 160
_SIZES = "SELECT node_id, config_value FROM ndbinfo.config_values WHERE config_param = %s"
_READS = """SELECT upper_bound, SUM(page_reads) AS page_reads FROM ndbinfo.pgman_time_track_stats
 WHERE node_id = %s GROUP BY upper_bound"""


class Evidence(NamedTuple):
    """What could be found out; a version or an account may lack all of it."""

    sizes: dict[int, int]  # bytes of DiskPageBufferMemory, by node
    read_time: float | None = None  # seconds, within which half of all page reads of one node were done


NONE = Evidence({})


def gather(ndbinfo: Ndbinfo, node: int | None) -> Evidence:
    """Ask for the sizes, and for the time of page reads of one node since its start, if one is given."""
    sizes: dict[int, int] = {}
    with suppress(MysqlError, ValueError):  # the table is of 7.5.0 and later
        rows = ndbinfo.rows(_SIZES, _PARAMETER)
        sizes = {whole(row, "node_id"): int(str(row["config_value"])) for row in rows}
    return Evidence(sizes, None if node is None else _read_time(ndbinfo, node))


def _read_time(ndbinfo: Ndbinfo, node: int) -> float | None:
    """Give the median of the node's histogram, as the upper bound of its class; from 8.0.19 on."""
    with suppress(MysqlError, ValueError):
        rows = ndbinfo.rows(_READS, node)
        reads = sorted((whole(row, "upper_bound"), number(row, "page_reads")) for row in rows)
        half = sum(count for _, count in reads) / 2
        for upper_bound, count in reads:  # in us
            half -= count
            if count and half <= 0:
                return upper_bound / 1e6
    return None
