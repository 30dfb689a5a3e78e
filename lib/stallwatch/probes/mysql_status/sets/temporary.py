"""Temporary tables and sorts that do not fit into memory."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_rate, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUERIES = {
    True: "log_slow_filter=tmp_table_on_disk in the slow query log names the queries",
    False: "see sys.statements_with_temp_tables for the queries",
}
_OFTEN = 10.0  # per second
_SHARE = 25.0  # per cent of all temporary tables


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge temporary tables on disk; what we ask makes some, too, of which a few a minute are no trouble."""
    name, share = "Created_tmp_disk_tables", facts.share("Created_tmp_disk_tables", "Created_tmp_tables")
    yield Limit(
        name, f"{say_rate(facts.rate(name))} temporary tables on disk ({name})",
        f"{share:.0f} % of all temporary tables, in memory they have {_size(facts)}",
        f"they are larger, or have TEXT or BLOB columns: {_QUERIES[facts.mariadb]}",
        f"{_OFTEN:.0f}" if share >= _SHARE else "",
    )  # fmt: skip
    name = "TempTable_count_hit_max_ram"  # of MySQL 9.7, not yet of 8.0.46
    yield Limit(
        name, f"{say_rate(facts.rate(name))} temporary tables found no memory ({name})",
        f"{facts.say('temptable_max_ram', say_size)}, for all sessions together",
        f"{_QUERIES[False]} before you raise it", "1",
    )  # fmt: skip
    name = "Sort_merge_passes"
    what = f"{say_rate(facts.rate(name))} merges of sorts that do not fit into memory ({name})"
    why = f"{facts.say('sort_buffer_size', say_size)}, of each session"
    yield Limit(name, what, why, "an index may spare the sort")


def _size(facts: Facts) -> str:
    """Say how large one may be in memory: the smaller of both, but for MySQL's TempTable engine (8.0.28)."""
    temptable = facts.variables.get("internal_tmp_mem_storage_engine", "") == "TempTable"
    names = ("tmp_table_size",) if temptable else ("tmp_table_size", "max_heap_table_size")
    known = {name: facts.setting(name) for name in names if facts.setting(name)}
    if not known:
        return "tmp_table_size"
    name = min(known, key=lambda one: known[one])
    return f"{name} {say_size(known[name])}"


SET = Subject(
    (
        "Created_tmp_tables", "Created_tmp_disk_tables", "Created_tmp_files", "Handler_tmp_write",
        "Sort_merge_passes", "Sort_rows", "Sort_scan", "TempTable_count_hit_max_ram",
        "Count_hit_tmp_table_size",
    ),
    limits,
    (
        "tmp_table_size", "max_heap_table_size", "temptable_max_ram", "sort_buffer_size",
        "internal_tmp_mem_storage_engine",
    ),
)  # fmt: skip
