"""Tables that are opened anew because their cache is full."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject, are
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain, say_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEARLY = 0.95  # of a cache, which MySQL splits among table_open_cache_instances: some are full earlier
_MOST_FILES = 0.85  # of open_files_limit
_OFTEN = "1"  # per second
_LARGEST = 524_288  # that both caches may be, on every version


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge both caches, and how many files are open.

    "Optimizing your MySQL Tuning Methodology": "Maybe the tables opened is going crazy. So I tune
    table_open_cache". Tables are opened for other reasons, too (FLUSH TABLES, ALTER TABLE): only a full cache
    is too small. InnoDB's files are not among Open_files (measured: MySQL 9.7.2 has 34 descriptors open where
    it tells 3, MariaDB 10.11.19 has 55 where it tells 32): both are counted where it tells of them.
    """
    yield _cache(facts, "Opened_tables", "Open_tables", "table_open_cache", "Table_open_cache_overflows")
    definitions = ("Opened_table_definitions", "Open_table_definitions", "table_definition_cache")
    yield _cache(facts, *definitions)
    of_innodb, most = facts.now(_OF_INNODB), facts.setting("open_files_limit")
    besides = f", besides {plain(of_innodb)} of InnoDB ({_OF_INNODB})" if of_innodb else ""
    yield Limit(
        "Open_files", f"{are(facts.now('Open_files'), 'file')} open (Open_files){besides}",
        facts.say("open_files_limit"),
        "beyond it no table can be opened: raise it (and the service's LimitNOFILE)",
        f"{max(0.0, _MOST_FILES * most - of_innodb):.0f}" if most else "",
    )  # fmt: skip


def _cache(facts: Facts, opened: str, held: str, variable: str, overflows: str = "") -> Limit:
    now, size, lost = facts.now(held), facts.setting(variable), facts.rate(overflows)
    full = size > 0 and (now >= _NEARLY * size or lost >= 1)
    why = f"{held} {plain(now)} of {variable} {plain(size) if size else '(not known)'}"
    why += f", {overflows} {say_rate(lost)}" * bool(lost)
    advice = f"see why tables are opened: FLUSH TABLES, ALTER TABLE, more tables than {variable}"
    if full and size < _LARGEST:
        to = min(2 * size, _LARGEST)
        files, most = (
            facts.now("Open_files") + facts.now(_OF_INNODB) + to - size,
            facts.setting("open_files_limit"),
        )
        first = f"raise open_files_limit ({plain(most)}) first, then" if files > most > 0 else "raise"
        advice = f"{first} {variable}, say to {plain(to)}, and see whether queries are answered sooner"
    what = f"{say_rate(facts.rate(opened))} {_WHAT[opened]} opened anew ({opened})"
    return Limit(opened, what, why, advice, _OFTEN if full else "")


_OF_INNODB = "Innodb_num_open_files"
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
