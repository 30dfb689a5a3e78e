"""How rows are found: by key, or by reading whole tables."""

from __future__ import annotations

from stallwatch.probes.mysql_status.limit import Facts, Limit, Subject
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

# "Optimizing your MySQL Tuning Methodology": 100,000,000/s is "obviously in a bad state".
MANY, TOO_MANY = "10000000", "100000000"  # per second

_SCANNING = {
    True: "queries lack an index: log_slow_filter=full_scan,full_join in the slow query log names them",
    False: "queries lack an index: see sys.statements_with_full_table_scans",
}


def limits(facts: Facts) -> Iterator[Limit]:
    """Judge the rows that are read in scans; the server's own SHOW and ours are some hundreds of them."""
    name = "Handler_read_rnd_next"
    scanned, by_key = facts.rate(name), facts.rate("Handler_read_key")
    why = ", ".join(f"{one} {say_rate(facts.rate(one))}" for one in ("Select_scan", "Select_full_join"))
    if by_key:
        why = f"{say_count(scanned / by_key)} for each row that is found by key, {why}"
    what = f"{say_rate(scanned)} rows read in scans ({name})"
    yield Limit(name, what, why, _SCANNING[facts.mariadb], MANY, TOO_MANY)
    name = "Select_full_join"
    what = f"{say_rate(facts.rate(name))} joins without an index ({name})"
    yield Limit(name, what, f"Select_scan {say_rate(facts.rate('Select_scan'))}", _SCANNING[facts.mariadb])


SET = Subject(
    (
        "Handler_read_first", "Handler_read_key", "Handler_read_last", "Handler_read_next",
        "Handler_read_prev", "Handler_read_rnd", "Handler_read_rnd_next", "Handler_write", "Handler_update",
        "Handler_delete", "Handler_commit", "Handler_rollback", "Select_scan", "Select_full_join",
        "Select_full_range_join", "Select_range_check",
    ),
    limits,
)  # fmt: skip
