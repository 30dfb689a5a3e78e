"""Queries: how rows are found, tables that are opened for them, temporary tables and sorts."""

from __future__ import annotations

from stallwatch.probes.mysql_status.model import Facts, Limit, StatusSet, are
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain, say_count, say_rate, say_size

if TYPE_CHECKING:
    from collections.abc import Iterator

# How rows are found: by key, or by reading whole tables.

# "Optimizing your MySQL Tuning Methodology": 100,000,000/s is "obviously in a bad state".
_MANY_ROWS, _TOO_MANY_ROWS = "10000000", "100000000"  # per second

_SCANNING = {
    True: "find them in the slow query log, log_slow_filter=full_scan,full_join: queries lack an index",
    False: "see sys.statements_with_full_table_scans: queries lack an index",
}


def _handlers(facts: Facts) -> Iterator[Limit]:
    """Judge the rows that are read in scans; the server's own SHOW and ours are some hundreds of them."""
    scanned, by_key = facts.rate("Handler_read_rnd_next"), facts.rate("Handler_read_key")
    why = ", ".join(f"{one} {say_rate(facts.rate(one))}" for one in ("Select_scan", "Select_full_join"))
    if by_key:
        why = f"{say_count(scanned / by_key)} per row found by key, {why}"
    advice = _SCANNING[facts.mariadb]
    yield facts.per_second(
        "Handler_read_rnd_next", "row/s read in scans", why, advice, _MANY_ROWS, _TOO_MANY_ROWS
    )
    why = f"Select_scan {say_rate(facts.rate('Select_scan'))}"
    yield facts.per_second("Select_full_join", "join/s without an index", why, advice)


HANDLERS = StatusSet(
    (
        "Handler_read_first", "Handler_read_key", "Handler_read_last", "Handler_read_next",
        "Handler_read_prev", "Handler_read_rnd", "Handler_read_rnd_next", "Handler_write", "Handler_update",
        "Handler_delete", "Handler_commit", "Handler_rollback", "Select_scan", "Select_full_join",
        "Select_full_range_join", "Select_range_check",
    ),
    _handlers,
)  # fmt: skip

# Tables that are opened anew because their cache is full.

_NEARLY = 0.95  # of a cache, which MySQL splits among table_open_cache_instances: some are full earlier
_MOST_FILES = 0.85  # of open_files_limit
_OFTEN_OPENED = "1"  # per second
_LARGEST = 524_288  # that both caches may be, on every version
_OF_INNODB = "Innodb_num_open_files"


def _tables(facts: Facts) -> Iterator[Limit]:
    """Judge both caches, and how many files are open.

    "Optimizing your MySQL Tuning Methodology": "Maybe the tables opened is going crazy. So I tune
    table_open_cache". Tables are opened for other reasons, too (FLUSH TABLES, ALTER TABLE): only a full cache
    is too small. InnoDB's files are not among Open_files (measured: MySQL 9.7.2 has 34 descriptors open where
    it shows 3, MariaDB 10.11.19 has 55 where it shows 32): both are counted where it shows them.
    """
    names = ("Opened_tables", "Open_tables", "table_open_cache", "Table_open_cache_overflows")
    yield _cache(facts, "table", *names)
    definitions = ("Opened_table_definitions", "Open_table_definitions", "table_definition_cache")
    yield _cache(facts, "table definition", *definitions)
    of_innodb, most = facts.now(_OF_INNODB), facts.setting("open_files_limit")
    besides = f", besides {plain(of_innodb)} of InnoDB ({_OF_INNODB})" if of_innodb else ""
    yield Limit(
        "Open_files", f"{are(facts.now('Open_files'), 'file')} open (Open_files){besides}",
        facts.say("open_files_limit"),
        "beyond it no table can be opened: raise it (and the service's LimitNOFILE)",
        f"{max(0.0, _MOST_FILES * most - of_innodb):.0f}" if most else "",
    )  # fmt: skip


def _cache(facts: Facts, what: str, opened: str, held: str, variable: str, overflows: str = "") -> Limit:
    now, size, lost = facts.now(held), facts.setting(variable), facts.rate(overflows)
    full = size > 0 and (now >= _NEARLY * size or lost >= 1)
    why = f"{held} {plain(now)} of {variable} {plain(size) if size else '(not known)'}"
    why += f", {overflows} {say_rate(lost)}" * bool(lost)
    advice = f"see why tables are opened: FLUSH TABLES, ALTER TABLE, more tables than {variable}"
    if full and size < _LARGEST:
        to = min(2 * size, _LARGEST)
        files = facts.now("Open_files") + facts.now(_OF_INNODB) + to - size
        most = facts.setting("open_files_limit")
        first = f"raise open_files_limit ({plain(most)}) first, then" if files > most > 0 else "raise"
        advice = (
            f"{first} {variable}, for example to {plain(to)}, and see whether queries are answered sooner"
        )
    return facts.per_second(opened, f"{what}/s opened", why, advice, _OFTEN_OPENED if full else "")


TABLES = StatusSet(
    (
        "Open_tables", "Opened_tables", "Open_table_definitions", "Opened_table_definitions",
        "Table_open_cache_hits", "Table_open_cache_misses", "Table_open_cache_overflows", "Open_files",
        "Opened_files", "Table_locks_immediate", "Table_locks_waited",
    ),
    _tables,
    ("table_open_cache", "table_definition_cache", "open_files_limit"),
)  # fmt: skip

# Temporary tables and sorts that do not fit into memory.

_QUERIES = {
    True: "log_slow_filter=tmp_table_on_disk in the slow query log names the queries",
    False: "see sys.statements_with_temp_tables for the queries",
}
_OFTEN = "10"  # per second
_SHARE = 25.0  # per cent of all temporary tables


def _temporary(facts: Facts) -> Iterator[Limit]:
    """Judge temporary tables on disk; what we ask makes some, too, of which a few a minute are no trouble."""
    share = facts.share("Created_tmp_disk_tables", "Created_tmp_tables")
    yield facts.per_second(
        "Created_tmp_disk_tables", "temporary table/s on disk",
        f"{share:.0f} % of all temporary tables, in memory they have {_size(facts)}",
        f"they are larger, or have TEXT or BLOB columns: {_QUERIES[facts.mariadb]}",
        _OFTEN if share >= _SHARE else "",
    )  # fmt: skip
    yield facts.per_second(
        "TempTable_count_hit_max_ram", "temporary table/s found no memory",  # of MySQL 9.7, not yet of 8.0.46
        f"{facts.say('temptable_max_ram', say_size)}, for all sessions together",
        f"{_QUERIES[False]} before you raise it", "1",
    )  # fmt: skip
    what, why = "merge/s of sorts that do not fit into memory", facts.say("sort_buffer_size", say_size)
    yield facts.per_second(
        "Sort_merge_passes", what, f"{why}, of each session", "an index may spare the sort"
    )


def _size(facts: Facts) -> str:
    """Give how large one may be in memory: the smaller of both, but for MySQL's TempTable engine (8.0.28)."""
    temptable = facts.variables.get("internal_tmp_mem_storage_engine", "") == "TempTable"
    names = ("tmp_table_size",) if temptable else ("tmp_table_size", "max_heap_table_size")
    known = {name: facts.setting(name) for name in names if facts.setting(name)}
    if not known:
        return "tmp_table_size"
    name = min(known, key=lambda one: known[one])
    return f"{name} {say_size(known[name])}"


TEMPORARY = StatusSet(
    (
        "Created_tmp_tables", "Created_tmp_disk_tables", "Created_tmp_files", "Handler_tmp_write",
        "Sort_merge_passes", "Sort_rows", "Sort_scan", "TempTable_count_hit_max_ram",
        "Count_hit_tmp_table_size",
    ),
    _temporary,
    (
        "tmp_table_size", "max_heap_table_size", "temptable_max_ram", "sort_buffer_size",
        "internal_tmp_mem_storage_engine",
    ),
)  # fmt: skip
