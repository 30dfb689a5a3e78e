"""Tables that are opened anew because their cache is full."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject
from stallwatch.units import plain, say_rate

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

_NEARLY = 0.95  # of a cache, which MySQL splits among table_open_cache_instances: some are full earlier
_MOST_FILES = 0.85  # of open_files_limit
_OFTEN = "1"  # per second


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge both caches, and how many files are open.

    "Optimizing your MySQL Tuning Methodology": "Maybe the tables opened is going crazy. So I tune
    table_open_cache". Tables are opened for other reasons, too (FLUSH TABLES, ALTER TABLE): only a full cache
    is too small.
    """
    yield _cache(facts, "Opened_tables", "Open_tables", "table_open_cache", "Table_open_cache_overflows")
    definitions = ("Opened_table_definitions", "Open_table_definitions", "table_definition_cache")
    yield _cache(facts, *definitions)
    open_files, most = facts.now("Open_files"), facts.setting("open_files_limit")
    yield Limit(
        "Open_files", f"{plain(open_files)} files are open (Open_files)",
        f"open_files_limit is {plain(most)}",
        "beyond it no table can be opened: raise it (and the service's LimitNOFILE)",
        f"{_MOST_FILES * most:.0f}" if most else "",
    )  # fmt: skip


def _cache(facts: Facts, opened: str, held: str, variable: str, overflows: str = "") -> Limit:
    now, size, lost = facts.now(held), facts.setting(variable), facts.rate(overflows)
    full = size > 0 and (now >= _NEARLY * size or lost >= 1)
    why = f"{held} {plain(now)} of {variable} {plain(size)}" + (
        f", {overflows} {say_rate(lost)}" * bool(lost)
    )
    advice = f"see why tables are opened: FLUSH TABLES, ALTER TABLE, more tables than {variable}"
    if full:
        advice = f"raise {variable}, say to {plain(2 * size)}, and see whether queries are answered sooner"
    what = f"{say_rate(facts.rate(opened))} {_WHAT[opened]} opened anew ({opened})"
    return Limit(opened, what, why, advice, _OFTEN if full else "")


_WHAT = {"Opened_tables": "tables", "Opened_table_definitions": "table definitions"}

SET = Subject(
    (
        "Open_tables", "Opened_tables", "Open_table_definitions", "Opened_table_definitions",
        "Table_open_cache_hits", "Table_open_cache_misses", "Table_open_cache_overflows", "Open_files",
        "Opened_files", "Table_locks_immediate", "Table_locks_waited",
    ),
    limits,
    ("table_open_cache", "table_definition_cache", "open_files_limit"),
)  # fmt: skip
