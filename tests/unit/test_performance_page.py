"""What the page on performance makes of what was measured."""

import json

import pytest

pytestmark = pytest.mark.only_in_all_cells  # the benches and their page

ABOUT = {"processor": "EPYC", "processors": 2, "memory": "24 GiB", "kernel": "Linux 6.1", "Python": "3.11.2"}
ROW = {
    "processor_ms": 40.0,
    "wall_ms": 80.0,
    "memory_mib": 12.6,
    "times": None,
    "status": None,
    "modules": 120,
}
LIMIT = {"what": "a", "found": 1.234, "limit": 1.5, "unit": "times", "kept": True}


@pytest.fixture
def page(tmp_path, monkeypatch):
    from generators import performance

    monkeypatch.setattr(performance, "RESULTS", tmp_path)
    return performance


def keep(page, part, **more):
    kept = {
        "day": "2026-11-22",
        "time": "16:04",
        "machine": {**ABOUT, "load before": 0.5},
        "software": {},
        "left_out": [],
        "tables": [],
        "budgets": [],
        **more,
    }
    (page.RESULTS / f"{part}.json").write_text(json.dumps(kept))


def of(title, *rows, rounds=25):
    return {"title": title, "rounds": rounds, "rows": list(rows)}


def body(table):
    """The rows of a table below its heads."""
    return table.splitlines()[2:]


def test_words_stand_at_the_left_of_a_table_and_numbers_at_the_right():
    from generators.markdown import table

    rows = [
        ["1", "8.1", "1,234", "yes", "", "2026-11-22 16:04"],
        ["2", "-0.1", "", "no", "", "2026-11-22 23:10"],
    ]
    assert table(["a", "b", "c", "d", "e", "f"], rows).splitlines() == [
        "| a | b | c | d | e | f |",
        "| --- | --: | --: | --- | --- | --- |",
        "| 1 | 8.1 | 1,234 | yes |  | 2026-11-22 16:04 |",
        "| 2 | -0.1 |  | no |  | 2026-11-22 23:10 |",
    ]
    assert table(["a", "b"], iter([])) == "| a | b |\n| --- |\n"


@pytest.mark.parametrize(
    ("number", "written"), [(8.06, "8.1"), (99.9, "99.9"), (123.4, "123"), (4321, "4,321")]
)
def test_times_are_as_exact_as_they_can_be_read(page, number, written):
    assert page.milliseconds(number) == written


def test_a_table_has_a_line_for_each_command_and_says_how_many_rounds(page):
    rows = [{**ROW, "name": "ours"}, {**ROW, "name": "theirs", "times": 2.5, "status": 3, "modules": None}]
    keep(page, "jmx", tables=[of("one", *rows), of("other", rows[0], rounds=1)])
    heads, _, *lines = page._bench("jmx one").splitlines()
    assert heads.startswith("| one, 25 rounds | ms of processor |")
    assert lines == [
        "| ours | 40.0 | 80.0 | 13 |  | 120 |",
        "| theirs (exit status 3) | 40.0 | 80.0 | 13 | 2.50 |  |",
    ]
    assert "| **other**, 1 round |  |  |  |  |  |" in page._bench("jmx")


def test_what_it_costs_the_server_stands_in_a_column_of_its_own(page):
    of_server = {**ROW, "server_ms": 12.34}
    keep(page, "locks", tables=[of("MariaDB, 10,000 connections", {"name": "nobody waits", **of_server})])
    head, _, row = page._bench("locks").splitlines()
    assert head.endswith("25 rounds | ms of processor | ms in all | MiB | ms of the server |")
    assert row == "| nobody waits | 40.0 | 80.0 | 13 | 12.3 |"


def test_what_was_not_measured_yet_is_told_so(page):
    assert page._bench("locks") == "Not measured yet: `make bench WHAT=locks`.\n"


def test_limits_of_all_parts_stand_in_one_table_in_the_order_of_the_page(page):
    keep(page, "growth_log", budgets=[{**LIMIT, "what": "c"}])
    keep(
        page,
        "ndb_log",
        budgets=[{**LIMIT, "what": "b", "found": 45, "limit": 40, "unit": "MB", "kept": False}],
    )
    keep(page, "mysql", budgets=[LIMIT])
    assert body(page._budgets()) == [
        "| a | 1.234 times | 1.5 times | yes |",
        "| b | 45.0 MB | 40.0 MB | **no** |",
        "| c | 1.234 times | 1.5 times | yes |",
    ]


@pytest.mark.parametrize(
    ("limit", "written"), [(1 / 6, "1/6"), (1 / 10, "1/10"), (0.9, "0.9 times"), (1, "1 times")]
)
def test_a_limit_is_written_as_it_is_said(page, limit, written):
    assert page._limit(limit, "times") == written


def test_what_is_found_near_a_limit_can_be_told_from_it(page):
    keep(page, "jmx", budgets=[{**LIMIT, "found": 0.168, "limit": 1 / 6, "kept": False}])
    assert body(page._budgets()) == ["| a | 0.168 times | 1/6 | **no** |"]


def test_a_limit_of_milliseconds_has_its_ratio_beside_it(page):
    keep(page, "ndb", budgets=[{**LIMIT, "found": 38.52, "limit": 61.3, "unit": "ms", "times": 1.119}])
    assert body(page._budgets()) == ["| a | 38.5 ms, 1.12 times | 61.3 ms | yes |"]


def test_a_limit_that_could_not_be_judged_says_why(page):
    keep(page, "mysql", budgets=[{**LIMIT, "found": None, "kept": False, "why": "there is no such check"}])
    assert body(page._budgets()) == ["| a |  | 1.5 times | not judged: there is no such check |"]


def test_what_was_said_has_a_column_for_each_check(page):
    keep(page, "replication", said={"MySQL 9": {"healthy": {"ours": "OK", "theirs": "CRITICAL"}}})
    assert page._said("replication").splitlines() == [
        "| situation | ours | theirs |",
        "| --- | --- | --- |",
        "| **MySQL 9** |  |  |",
        "| healthy | OK | CRITICAL |",
    ]


def test_what_asks_no_server_has_a_column_for_each_option(page):
    rows = [{**ROW, "name": "python3", "processor_ms": 17.5}, {**ROW, "name": "check_host"}]
    keep(page, "usage", tables=[of("--version", *rows), of("--help", *rows)])
    heads, _, *lines = page._usage().splitlines()
    assert heads == "| ms of processor, 25 rounds | --version | --help |"
    assert lines == ["| python3 | 17.5 | 17.5 |", "| check_host | 40.0 | 40.0 |"]


def test_a_check_costs_what_its_first_row_says_and_may_be_left_out(page):
    rows = [{**ROW, "name": "check_host"}, {**ROW, "name": "check_jmx", "status": 1}]
    for part in page.COMPARED:
        keep(page, part)
    keep(page, "floor")
    keep(page, "host", tables=[of("b", *rows), of("c", {**rows[0], "wall_ms": 1})])
    assert body(page._checks(["check_host", "check_jmx", "check_ndb_log"])) == [
        "| [`check_host`](check_host.md) | 40.0 | 80.0 | 13 | 25 |",
        "| [`check_jmx`](check_jmx.md) (exit status 1) | 40.0 | 80.0 | 13 | 25 |",
    ]


def test_a_check_over_tls_stands_below_the_same_without(page):
    for part in page.COMPARED:
        keep(page, part)
    keep(page, "floor")
    rows = [{**ROW, "name": name} for name in ("check_replication_lag", "check_replication_lag over TLS")]
    keep(page, "mysql", tables=[of("MySQL", *rows)])
    assert body(page._checks(["check_replication_lag"])) == [
        "| [`check_replication_lag`](check_replication_lag.md) | 40.0 | 80.0 | 13 | 25 |",
        "| the same over TLS | 40.0 | 80.0 | 13 | 25 |",
    ]


def test_the_floor_stands_above_the_checks(page):
    for part in page.COMPARED:
        keep(page, part)
    raw, true = ({**ROW, "name": name, "processor_ms": 8.0} for name in (page.BESIDE[1], "/bin/true"))
    keep(page, "floor", tables=[of("the floor", true, raw)])
    keep(page, "host", tables=[of("b", {**ROW, "name": "check_host"})])
    assert body(page._checks(["check_host"])) == [
        f"| {page.BESIDE[1]} | 8.0 | 80.0 | 13 | 125 |",
        "| [`check_host`](check_host.md) | 40.0 | 80.0 | 13 | 25 |",
    ]


SPENT = {"without_site": 0.6, "clock": 1.07, "kernel": 0.25, "dearest": ["re", "enum", "json"]}


def test_what_time_is_spent_on_has_modules_beside_it_and_what_else_is_known_below(page):
    calls = {"all": 1349, "files": 1135}
    rows = [{"name": "import", "processor_ms": 8.12, "modules": 61}]
    rows += [{"name": "the whole", "processor_ms": 30.0, "modules": None}]
    keep(
        page,
        "spent",
        tables=[of("check_jmx, whole processes"), of("check_jmx", *rows) | SPENT | {"calls": calls}],
    )
    table, text = page._spent("check_jmx").split("\n\n")
    assert table.splitlines()[0] == "| check_jmx, 25 rounds | ms of processor | modules |"
    assert body(table) == ["| import | 8.1 | 61 |", "| the whole | 30.0 |  |"]
    assert " ".join(text.split()) == (
        "Of the standard library `re`, `enum` and `json` cost most. The kernel took 25% of the whole for "
        "1,349 system calls, of which 1,135 look for files and read them. Without site (`-S`) it would cost "
        "0.6 ms less. The clock made it 1.07 times as dear."
    )


def test_what_could_not_be_counted_is_not_told_and_no_time_is_less_than_nothing(page):
    keep(page, "spent", tables=[of("check_jmx") | SPENT | {"calls": None, "without_site": -0.1}])
    said = " ".join(page._spent("check_jmx").split())
    assert "took 25% of the whole. Without site (`-S`) it would cost as much. The" in said


def test_one_machine_is_told_once_and_each_part_has_its_line(page):
    keep(
        page,
        "capacity",
        software={"Nagios": "4.4.6"},
        left_out=["no Icinga"],
        tables=[{"title": "b", "rows": []}],
    )
    keep(page, "jmx", tables=[of("one", rounds=3), of("two", rounds=25)], left_out=["a", "b"])
    keep(page, "host", tables=[of("one", rounds=9)], time="23:10")
    assert page._machines().splitlines() == [
        "EPYC, 2 processors, 24 GiB, Linux 6.1, Python 3.11.2.",
        "",
        "| part | when, UTC | load before | rounds | with | left out |",
        "| --- | --- | --: | --: | --- | --- |",
        "| jmx | 2026-11-22 16:04 | 0.5 | 3 to 25 |  | a; b |",
        "| host | 2026-11-22 23:10 | 0.5 | 9 |  |  |",
        "| capacity | 2026-11-22 16:04 | 0.5 |  | Nagios 4.4.6 | no Icinga |",
    ]


def test_machines_that_differ_are_told_with_their_parts(page):
    for part in ("mysql", "jmx"):
        keep(page, part)
    keep(page, "host", machine={**ABOUT, "processors": 8, "load before": 0})
    assert page._machines().splitlines()[:4] == [
        "mysql, jmx: EPYC, 2 processors, 24 GiB, Linux 6.1, Python 3.11.2.",
        "",
        "host: EPYC, 8 processors, 24 GiB, Linux 6.1, Python 3.11.2.",
        "",
    ]


def test_every_limit_of_the_page_was_kept_where_it_could_be_judged():
    from generators import performance

    limits = [one for part in performance.parts() for one in performance.results(part)["budgets"]]
    assert len(limits) > 30
    assert [one for one in limits if one["found"] is not None and not one["kept"]] == []
