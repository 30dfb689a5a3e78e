import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from stallwatch import __version__
from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import Forms, clean
from stallwatch.render import human
from stallwatch.render.human import Screen
from stallwatch.render.json import written as as_json
from stallwatch.render.text import written as as_text
from stallwatch.thresholds import Range
from stallwatch.verdict import Report, judge

DOCS = Path(__file__).parents[2] / "contrib" / "docs"
SCHEMA = Draft202012Validator(json.loads((DOCS / "output.schema.json").read_text()))
LAG = {"lag": {"warning": Range("60"), "critical": Range("300")}}


def text(findings, thresholds=None, **settings):
    return as_text(Report("demo", judge(findings, thresholds or {}), **settings))


def state(value, **thresholds):
    limits = {level: Range(limit) for level, limit in thresholds.items()}
    return judge([Reading("lag", value)], {"lag": limits})[0].state


# Judgement


def test_a_reading_is_judged_by_the_thresholds_of_its_name():
    assert state(60, warning="60", critical="300") is State.OK
    assert state(61, warning="60", critical="300") is State.WARNING
    assert state(301, warning="60", critical="300") is State.CRITICAL


def test_without_a_threshold_there_is_no_opinion_not_even_of_negative_numbers():
    assert state(-3) is State.OK
    assert state(-3, warning="@5:") is State.OK
    assert state(1e300) is State.OK


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, True, "5"])
def test_what_is_no_number_is_unknown(value):
    assert state(value, warning="10", critical="20") is State.UNKNOWN


def test_what_could_not_be_measured_says_why_and_has_no_perfdata():
    lag = Reading("lag", None, "s", "the lag is unknown", "the receiver is stopped", "START REPLICA")
    assert text([lag], LAG) == "DEMO UNKNOWN - the lag is unknown, the receiver is stopped - START REPLICA"


def test_nan_is_not_ok_and_not_in_the_perfdata():
    assert text([Reading("lag", math.nan, "s")], LAG) == "DEMO UNKNOWN - lag is nan, which is not a number"


def test_true_is_not_a_number():
    assert text([Reading("lag", value=True)]) == "DEMO UNKNOWN - lag is True, which is not a number"


def test_something_that_was_not_found_out_does_not_hide_a_known_problem():
    findings = [ProbeError("the lag is unknown"), Fault(State.CRITICAL, "the applier is stopped")]
    assert text(findings).splitlines() == [
        "DEMO CRITICAL - the applier is stopped (+1 more problem)",
        "[UNKNOWN] the lag is unknown",
    ]


def test_something_that_was_not_found_out_is_worse_than_ok():
    findings = [Reading("lag", 1, what="lag 1 s"), ProbeError("db1 refused", "start it")]
    assert text(findings) == "DEMO UNKNOWN - db1 refused - start it | lag=1"


def test_no_finding_at_all_is_unknown():
    assert text([]) == "DEMO UNKNOWN - nothing was measured"


# Line 1


def test_when_all_is_well_the_first_finding_speaks_without_cause_or_advice():
    findings = [Reading("lag", 2, "s", "lag 2 s", "a long transaction", "wait"), Reading("size", 5, "B")]
    assert text(findings, LAG) == "DEMO OK - lag 2 s | lag=2s;60;300 size=5B"


def test_the_worst_finding_leads_and_the_first_among_equals():
    findings = [
        Reading("lag", 100, "s", "lag 100 s"),
        Fault(State.CRITICAL, "disk full", "binlogs", "purge them"),
        Fault(State.CRITICAL, "node 3 down"),
    ]
    assert text(findings, LAG).splitlines() == [
        "DEMO CRITICAL - disk full, binlogs - purge them (+2 more problems) | lag=100s;60;300",
        "[CRITICAL] node 3 down",
        "[WARNING] lag 100 s",
    ]


def test_a_reading_without_words_says_its_number():
    assert text([Reading("lag", 2.50, "s")]) == "DEMO OK - lag is 2.5s | lag=2.5s"
    assert text([Reading("lag", None, "s")]) == "DEMO UNKNOWN - lag could not be measured"


def test_a_finding_without_words_says_so():
    assert text([Fault(State.CRITICAL, "")]) == "DEMO CRITICAL - no details"


def test_perfdata_stays_on_line_1_when_everything_is_told():
    findings = [Reading("a", 1, what="a fine"), Reading("b", 2, what="b fine")]
    assert text(findings, everything=True) == "DEMO OK - a fine | a=1 b=2\n[OK] b fine"


def test_the_trace_comes_last():
    assert text([Reading("a", 1)], trace=["SELECT 1: 3 ms"]) == "DEMO OK - a is 1 | a=1\nSELECT 1: 3 ms"


def test_text_gives_way_to_perfdata_on_line_1_and_is_told_in_full_below():
    findings = [Fault(State.WARNING, "é" * 700), Reading("lag", 1)]
    line, rest = text(findings).splitlines()
    assert line == "DEMO WARNING - " + "é" * 498 + "... | lag=1"
    assert len(line.encode()) == 1022
    assert rest == "[WARNING] " + "é" * 700


def test_perfdata_is_never_cut():
    readings = [Reading(f"quantity_{number}", number, what="much") for number in range(100)]
    line = text(readings)
    assert line.startswith("DEMO OK - much | quantity_0=0 ")
    assert line.endswith(" quantity_99=99")


def test_the_long_output_is_capped():
    lines = text([Fault(State.WARNING, f"problem {number}") for number in range(60)]).splitlines()
    assert lines[0] == "DEMO WARNING - problem 0 (+59 more problems)"
    assert lines[50] == "[WARNING] problem 50"
    assert lines[51:] == ["... and 9 more"]


def test_what_is_too_long_even_below_is_cut_there():
    assert text([Fault(State.WARNING, "x" * 9000)]).splitlines()[1] == "[WARNING] " + "x" * 7987 + "..."


def test_all_of_it_fits_into_what_nrpe_sends():
    assert len(text([Fault(State.WARNING, "é" * 10_000)] * 100).encode()) < 65504


# Perfdata


@pytest.mark.parametrize(
    ("limits", "item"),
    [
        ({"warning": "60", "critical": "300"}, "lag=1s;60;300"),
        ({"critical": "@9:"}, "lag=1s;;9"),
        ({"warning": "60", "critical": "0.5:300"}, "lag=1s;60"),
        ({"warning": "-1:"}, "lag=1s"),
    ],
)
def test_only_plain_thresholds_are_in_the_perfdata(limits, item):
    thresholds = {"lag": {level: Range(limit) for level, limit in limits.items()}}
    assert text([Reading("lag", 1, "s", "fine")], thresholds) == f"DEMO OK - fine | {item}"


@pytest.mark.parametrize(
    ("thresholds", "item"),
    [
        ({}, "free=12;;;0;4096"),
        ({"free": {"warning": Range("100:")}}, "free=12;;;0;4096"),
        ({"free": {"warning": Range("9")}}, "free=12;9;;0;4096"),
        ({"free": {"critical": Range("9")}}, "free=12;;9;0;4096"),
    ],
)
def test_where_a_value_cannot_be_higher_its_minimum_and_maximum_are_in_the_perfdata(thresholds, item):
    assert text([Reading("free", 12, what="12 free", most=4096)], thresholds).endswith(f" | {item}")


@pytest.mark.parametrize(
    ("label", "item"),
    [
        ("java.lang:type=Memory", "java.lang_type_Memory=1"),
        ("it's a | b;c", "it_s_a___b_c=1"),
        ("größe", "gr__e=1"),
        ("\n", "_=1"),
    ],
)
def test_a_label_never_breaks_the_line(label, item):
    assert text([Reading("lag", 1, what="fine", label=label)]) == f"DEMO OK - fine | {item}"


def test_what_would_share_a_label_is_not_in_the_perfdata():
    readings = [Reading(name, 1, what="fine") for name in ("a b", "a-b", "c")]
    assert text(readings) == (
        "DEMO OK - fine | c=1\n[NOTE] 2 numbers would have the label a_b: none of them is in the perfdata"
    )
    without = Reading("c", None, what="not measured")
    assert text([*readings[1:], without]).endswith(" | a_b=1 c=1")


def test_an_empty_name_makes_the_label_value():
    assert text([Reading("", 1, what="fine")]) == "DEMO OK - fine | value=1"


def test_an_empty_label_keeps_a_reading_out_of_the_perfdata():
    assert text([Reading("lag", 1, what="fine", label="")]) == "DEMO OK - fine"


def test_a_unit_that_engines_do_not_know_is_left_out():
    assert text([Reading("lag", 1, "|", "fine")]) == "DEMO OK - fine | lag=1"


# Text


@pytest.mark.parametrize(
    ("raw", "fit"),
    [
        ("a|b", "a/b"),
        ("a\r\n\tb", "a b"),
        ("  a  b ", "a b"),
        ("a\x00\x1b[31mb", "a [31mb"),
        ("a\u202eb\u2066c", "a b c"),
        ("a\u00a0\u2028b", "a b"),
        ("caf\udce9", "caf?"),
        ("größer → 🙂", "größer → 🙂"),
    ],
)
def test_any_text_is_made_fit_for_a_line(raw, fit):
    assert clean(raw) == fit


# Other renderings


def test_json_renders_the_same_verdict():
    lag = Reading("lag", 61.5, "s", "lag 61.5 s", "busy", "wait", label="channel_1")
    findings = [lag, ProbeError("“no” \\")]
    line = as_json(Report("demo", judge(findings, LAG), target="db1:3306", time=1_795_000_000.9))
    assert "\n" not in line
    assert json.loads(line) == {
        "name": "demo",
        "target": "db1:3306",
        "time": "2026-11-18T11:06:40Z",
        "state": "WARNING",
        "summary": "lag 61.5 s, busy - wait",
        "findings": [
            {
                "name": "lag",
                "label": "channel_1",
                "value": 61.5,
                "unit": "s",
                "warning": "60",
                "critical": "300",
                "state": "WARNING",
                "what": "lag 61.5 s",
                "why": "busy",
                "advice": "wait",
            },
            {
                "name": None,
                "label": None,
                "value": None,
                "unit": "",
                "warning": None,
                "critical": None,
                "state": "UNKNOWN",
                "what": "“no” \\",
                "why": "",
                "advice": "",
            },
        ],
        "version": __version__,
    }


def test_json_has_no_nan():
    line = as_json(Report("demo", judge([Reading("lag", math.nan)], {})))
    assert json.loads(line)["findings"][0]["value"] is None


def test_a_person_reads_the_worst_first_and_no_perfdata():
    full = Fault(State.CRITICAL, "disk full", "binlogs", "purge")
    findings = [Reading("lag", 1, "s", "lag 1 s", "quiet"), full]
    assert human.written(Report("demo", judge(findings, LAG)), Screen()).splitlines() == [
        "demo is CRITICAL",
        "  CRITICAL  disk full",
        "            why:  binlogs",
        "            do:   purge",
        "  OK        lag 1 s",
    ]


# Whatever a probe finds

NUMBER = r"-?\d+(\.\d{1,9})?"
ITEM = rf"[A-Za-z0-9_.]+={NUMBER}(s|B|%|c)?(;({NUMBER})?;{NUMBER}|;{NUMBER})?"
LINE = re.compile(rf"DEMO (OK|WARNING|CRITICAL|UNKNOWN) - [^|]+?( \| (?P<perfdata>{ITEM}( {ITEM})*))?")

texts = st.text(max_size=600)
numbers = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats()
lines = st.none() | st.builds(Line, texts, st.lists(texts, max_size=3).map(tuple))
readings = st.builds(
    Reading,
    name=st.sampled_from(["lag", "size"]) | texts,
    value=numbers,
    unit=st.sampled_from(["", "s", "B", "%", "c"]) | texts,
    what=texts,
    why=texts,
    advice=texts,
    label=st.none() | texts,
    state=st.sampled_from(State),
    line=lines,
)
faults = st.builds(Fault, st.sampled_from(State), texts, texts, texts, lines)
errors = st.builds(ProbeError, texts, texts)
ranges = st.sampled_from(["10", "@9:", "~:10", "5:10", "-1.5:", "1e-7", "1e12"]).map(Range)
limits = st.fixed_dictionaries({}, optional={"warning": ranges, "critical": ranges})
thresholds = st.dictionaries(st.sampled_from(["lag", "size"]), limits)


@given(st.lists(readings | faults | errors, max_size=8), thresholds, st.booleans())
def test_whatever_is_found_line_1_is_what_engines_can_read(findings, thresholds, everything):
    report = Report("demo", judge(findings, thresholds), everything=everything)
    line, *rest = as_text(report).split("\n")
    match = LINE.fullmatch(line)
    assert match
    assert line.isprintable()
    assert "  " not in line
    assert len(line.encode()) <= 1023 or len(match["perfdata"]) > 900
    labels = [item.partition("=")[0] for item in (match["perfdata"] or "").split()]
    assert len(labels) == len(set(labels))
    assert all(line.isprintable() and "|" not in line for line in rest)
    told = json.loads(as_json(report))
    SCHEMA.validate(told)
    assert told["state"] == report.state.name
    assert human.written(report, Screen(80)).encode()


def in_short(value, *, state=State.OK, more=("sda is 97 % busy",), write=as_text, everything=False, **limits):
    ranges = {level: Range(text) for level, text in limits.items()}
    line = Line(" and grows 1 s/s", more)
    lag = Reading("lag", value, "s", "db1 lags 63 s", "a row lock", "KILL 5", state=state, line=line)
    return write(Report("demo", judge([lag], {"lag": ranges}), everything))


def test_the_limit_that_alerts_stands_behind_the_number_and_the_evidence_below():
    said = "DEMO WARNING - db1 lags 63 s (limit 60 s) and grows 1 s/s, a row lock - KILL 5 | lag=63s;60;600"
    assert in_short(63, warning="60", critical="600") == f"{said}\n  sda is 97 % busy"


@pytest.mark.parametrize(
    ("letters", "kept"),
    [(88, ", 3 busy, 9 wait"), (89, ", 3 busy"), (96, ", 3 busy"), (97, ""), (104, "")],
)
def test_of_what_stands_behind_the_limit_as_much_is_on_the_line_as_fits(letters, kept):
    line = Line(Forms(", 3 busy, 9 wait", ", 3 busy"))
    lag = Reading("lag", 63, "s", "db1 lags 63 s", "a row lock", "K" * letters, line=line)
    first, *below = as_text(Report("demo", judge([lag], {"lag": {"warning": Range("60")}}))).split("\n")
    said, _, _ = first.partition(" | ")
    assert len(said) <= 160
    assert said == f"DEMO WARNING - db1 lags 63 s (limit 60 s){kept}, a row lock - {'K' * letters}"
    assert below == ([] if letters == 88 else ["  db1 lags 63 s (limit 60 s), 3 busy, 9 wait"])


def test_what_breaks_no_limit_is_told_without_one_and_without_advice():
    said = "DEMO OK - db1 lags 63 s and grows 1 s/s, a row lock | lag=3s;60"
    assert in_short(3, warning="60") == said
    detailed = in_short(3, warning="60", everything=True)
    assert detailed == f"{said}\n  next step: KILL 5\n  sda is 97 % busy"
    (finding,) = json.loads(in_short(3, warning="60", write=as_json))["findings"]
    assert (finding["advice"], finding["more"]) == ("", ["sda is 97 % busy"])


def test_a_state_of_its_own_is_the_least_of_a_known_value():
    assert in_short(3, state=State.CRITICAL, warning="60").startswith("DEMO CRITICAL - db1 lags 63 s and")
    assert in_short(None, state=State.CRITICAL).startswith("DEMO UNKNOWN - ")


@pytest.mark.parametrize(
    ("text", "value", "unit", "said"),
    [
        ("60", 61, "s", "limit 60 s"),
        ("60", 60, "s", ""),
        ("5400", 6000, "s", "limit 1 h 30 min"),
        ("20:", 18, "", "minimum 20"),
        ("10:20", 5, "", "minimum 10"),
        ("10:20", 25, "%", "limit 20 %"),
        ("@60:", 60, "s", "limit 60 s"),
        ("@~:60", 60, "s", "minimum 60 s"),
        ("@10:20", 15, "", "alerts from 10 to 20"),
        ("@~:", 15, "", ""),
        ("1048576", 2**21, "B", "limit 1 MiB"),
        ("0", 5, "", ""),
        ("80", -1, "", "minimum 0"),
        ("@~:0", 0, "", ""),
    ],
)
def test_which_limit_a_value_breaks(text, value, unit, said):
    assert Range(text).broken_by(value, unit) == said
