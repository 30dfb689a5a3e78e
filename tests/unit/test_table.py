import json

from stallwatch.findings import Reading, State
from stallwatch.render import human
from stallwatch.render.human import Screen
from stallwatch.render.json import written as as_json
from stallwatch.render.text import written as as_text
from stallwatch.table import Table
from stallwatch.thresholds import Range
from stallwatch.verdict import Report, judge

POOLS = Table(
    ("Pool", "Active", "Max"), (("ReadStage", 3, 32), ("a|b\nc", None, 2147483646), ("x" * 70, 0.5, None))
)


def report(*readings, **settings):
    return Report("demo", judge(readings, {"active": {"warning": Range("5")}}), **settings)


def test_texts_stand_to_the_left_and_numbers_to_the_right():
    assert Table(("Pool", "Active"), (("ReadStage", 3), ("b", 12345678))).lines() == [
        "Pool         Active",
        "ReadStage         3",
        "b          12345678",
    ]


def test_what_is_not_known_is_a_dash_and_long_texts_are_cut():
    lines = POOLS.lines()
    assert lines[2].endswith("       -  2147483646")
    assert lines[3] == "x" * 57 + "...     0.5           -"


def test_a_column_of_which_nothing_is_known_keeps_its_name():
    assert Table(("Pool", "Max"), (("a", None),)).lines() == ["Pool  Max", "a       -"]


def test_a_table_is_told_with_v_below_the_other_lines():
    pools = Reading("pools", 2, what="2 pools", table=Table(("Pool", "Active"), (("a", 1), ("b", 10))))
    load = Reading("load", 3, what="load 3")
    assert as_text(report(pools, load)) == "DEMO OK - 2 pools | pools=2 load=3"
    assert as_text(report(pools, load, everything=True, trace=["asked"])).splitlines() == [
        "DEMO OK - 2 pools | pools=2 load=3",
        "[OK] load 3",
        "Pool  Active",
        "a          1",
        "b         10",
        "asked",
    ]


def test_what_stands_in_a_table_is_told_only_if_something_is_wrong_with_it():
    fine = Reading("active", 5, what="5 active", in_table=True)
    worse = Reading("active", 6, what="6 active", label="active_2", in_table=True)
    pools = Reading("pools", 2, what="2 pools")
    assert as_text(report(pools, fine, everything=True)) == "DEMO OK - 2 pools | pools=2 active=5;5"
    assert as_text(report(pools, fine, worse)) == "DEMO WARNING - 6 active | pools=2 active=5;5 active_2=6;5"
    assert "5 active" not in human.written(report(pools, fine), Screen())
    assert "WARNING   6 active" in human.written(report(pools, worse), Screen())


def test_the_texts_of_a_table_are_fit_for_output():
    (verdict,) = judge([Reading("pools", 3, table=POOLS)], {})
    assert verdict.table.rows[1] == ("a/b c", None, 2147483646)


def test_so_are_the_names_of_its_columns():
    (verdict,) = judge([Reading("pools", 3, table=Table(("a\x1b[31m|",), (("x",),)))], {})
    assert verdict.table.columns == ("a [31m/",)


def test_what_is_no_number_is_not_known():
    odd = Table(("a", "b", "c"), ((float("nan"), float("inf"), 1),))
    (verdict,) = judge([Reading("pools", 3, table=odd)], {})
    assert verdict.table.rows == ((None, None, 1),)
    assert json.loads(as_json(report(Reading("pools", 3, table=odd))))["findings"][0]["table"] == [
        {"a": None, "b": None, "c": 1}
    ]


def test_people_get_the_table_programs_its_rows():
    pools = Reading("pools", 1, what="1 pool", table=Table(("Pool", "Max"), (("a", None),)))
    assert (
        human.written(report(pools), Screen()) == "demo is OK\n  OK        1 pool\n\n  Pool  Max\n  a       -"
    )
    (found,) = json.loads(as_json(report(pools)))["findings"]
    assert found["table"] == [{"Pool": "a", "Max": None}]
    assert "table" not in json.loads(as_json(report(Reading("load", 3))))["findings"][0]


def test_a_long_table_is_capped_with_the_lines_above_it():
    rows = tuple((f"pool {number}", number) for number in range(60))
    lines = as_text(
        report(Reading("pools", 60, what="60", table=Table(("Pool", "N"), rows)), everything=True)
    )
    assert lines.splitlines()[-1] == "... and 11 more"
    assert report(Reading("a", 1)).state is State.OK
