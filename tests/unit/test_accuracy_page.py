"""What the page on accuracy makes of what the bench of diagnosis found."""

import json

import pytest

ALONE, WITH_SOURCE = "check_replication_lag", "check_replication_lag --source"
LINE = "REPLICATION_LAG OK - replica of 127.0.0.1:20001 0 s behind | lag=0s;15;120"


@pytest.fixture
def page(tmp_path, monkeypatch):
    from generators import accuracy

    monkeypatch.setattr(accuracy, "RESULTS", tmp_path)
    return accuracy


def row(**told):
    usual = {
        "case": "thin link", "server": "mariadb", "strength": "weak", "who": ALONE, "in_time": True,
        "right": True, "unhedged": False, "errors": [1.0, 3.0], "unknown": [1, 4], "wrong": [], "false": [],
        "etas": [[30, 20]],
    }  # fmt: skip
    return usual | told


def keep(page, *trials, alone=True):
    cases = {
        "thin link": {"fault": True, "alone": alone, "servers": ["mariadb"], "strengths": ["weak"]},
        "idle source": {"fault": False, "alone": True, "servers": ["mariadb"], "strengths": [""]},
    }
    told = {
        "day": "2026-11-24", "time": "03:00", "minutes": 39.6, "lanes": 4, "slow": [5, 1000],
        "failed": {"a": "it did not end", "b": "no time was left for it"},
        "machine": {"processor": "EPYC", "processors": 2, "memory": "24 GiB", "kernel": "Linux 6.1",
                    "Python": "3.11.2", "load before": 0.5},
        "software": {"MariaDB": "10.11.19"}, "left_out": [], "cases": cases, "trials": trials,
        "bars": [{"what": "false alarms", "found": 2, "limit": 0, "at": "most", "unit": "", "met": False},
                 {"what": "faults", "found": None, "limit": 0.95, "at": "least", "unit": "%", "met": False}],
    }  # fmt: skip
    (page.RESULTS / "replication.json").write_text(json.dumps(told))


def body(table):
    """The rows of a table below its heads."""
    return table.splitlines()[2:]


def test_a_part_that_was_never_played_is_said_to_be_missing(page):
    for part in (page._bars, page._faults, page._healthy, page._lag, page._played):
        assert part("replication") == "`make diagnosis WHAT=replication` has not been run whole yet.\n"


def test_bars_say_whether_they_are_met(page):
    keep(page)
    assert body(page._bars("replication")) == [
        "| false alarms | 2 | at most 0 | **no** |",
        "| faults | not judged | at least 95 % | **no** |",
    ]


def test_a_fault_has_a_row_for_each_server(page):
    keep(page, row(), row(strength="strong", right=False), row(who=WITH_SOURCE, errors=[]))
    assert body(page._faults("replication")) == [
        "| thin link | MariaDB | 1 of 2 | 0 of 1 | 2 of 2 | 2.0, at most 3 | - | 0 | - | - |"
    ]


def test_a_cause_that_only_the_source_shows_is_judged_by_that(page):
    keep(page, row(right=False), row(who=WITH_SOURCE), alone=False)
    assert body(page._faults("replication"))[0].startswith("| thin link | MariaDB | 1 of 1 (with --source) |")


def test_alarms_of_healthy_things_are_counted_by_who_told_them(page):
    keep(page, row(case="idle source", false=[{}, {}]), row(case="idle source", who="check_mysql_health"))
    assert body(page._healthy("replication")) == [
        "| idle source | MariaDB | 2 | - | 0 | - | 2.0, at most 3 |"
    ]


def test_ends_that_were_foretold_are_off_by_a_share_of_what_was_left(page):
    keep(page, row(), row())
    assert body(page._lag("replication"))[4] == (f"| {ALONE} | MariaDB | 4 | 2.0 | 3 | 2 of 8 | 2 | 50 % |")


def test_lines_that_are_alike_are_shown_once_without_ports_and_perfdata(page):
    wrong = {"why": "lag 0 s, 30 true", "at": 40.2, "line": LINE}
    keep(page, row(wrong=[wrong, wrong | {"why": "lag 0 s, 40 true", "at": 50.2}]))
    assert body(page._lines("replication", "wrong")) == [
        "| thin link, weak | MariaDB | 2 | 40 | lag 0 s, 30 true | OK - replica of db1 0 s behind |"
    ]
    assert page._lines("replication", "false") == "None.\n"


def test_what_is_missing_is_said(page):
    keep(page)
    told = page._played("replication")
    assert told.startswith("2026-11-24 03:00 UTC, in 40 minutes; 4 pairs of each kind side by side")
    assert "5 of 1,000 runs (0 %) took more than 6 s" in told
    assert "Trials that are missing: a (it did not end); 1 for which no time was left." in told


def test_each_other_version_is_a_row(page):
    assert page._versions("replication") == "No other version has been tried yet.\n"
    keep(
        page,
        row(),
        row(who=WITH_SOURCE, right=False, wrong=[{}]),
        row(case="idle source", right=None, false=[{}]),
    )
    (page.RESULTS / "replication.json").rename(page.RESULTS / "replication-mariadb-10.11.json")
    (line,) = body(page._versions("replication"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        "MariaDB 10.11.19", "1 of 1", "0 of 1", "1 of 1", "2.0, at most 3", "1", "1 in 1", "2026-11-24",
    ]  # fmt: skip


LATE = "NDB_LOG WARNING - node 3 late at 127.0.1.3:20001 | lines=3"


def keep_ndb(page, *trials):
    keep(page, *trials)
    told = json.loads((page.RESULTS / "replication.json").read_text())
    cases = {
        "killed": {"fault": True, "checks": ["check_ndb_log"], "strengths": ["weak"], "about": ""},
        "backup": {"fault": False, "checks": [], "strengths": [""], "about": "A backup is made."},
    }
    (page.RESULTS / "ndb.json").write_text(json.dumps(told | {"cases": cases, "part": "ndb"}))


def test_a_fault_of_a_cluster_has_a_row_for_each_check_that_tells_it_or_is_wrong(page):
    wrong = {"why": "node: 3", "at": 20.0, "line": LATE}
    log = row(case="killed", server="ndb", who="check_ndb_log")
    keep_ndb(page, log, log | {"who": "check_ndb_memory", "right": None, "in_time": None, "wrong": [wrong]},
             log | {"who": "check_ndb_nodes"})  # fmt: skip
    assert body(page._faults("ndb")) == [
        "| killed | check_ndb_log | 1 of 1 | 0 of 1 | 1 of 1 | 0 |",
        "| killed | check_ndb_memory | - | - | - | 1 |",
    ]
    assert body(page._lines("ndb", "wrong")) == [
        "| killed, weak (check_ndb_memory) | NDB Cluster | 1 | 20 | node: 3 | WARNING - node 3 late at db1 |"
    ]
    assert "4 clusters side by side" in page._played("ndb")


def test_alarms_of_healthy_things_on_a_cluster_are_counted(page):
    keep_ndb(page, row(case="backup", server="ndb", who="check_ndb_log", false=[{}, {}]))
    assert body(page._healthy("ndb")) == ["| backup | A backup is made. | 2 | check_ndb_log |"]
