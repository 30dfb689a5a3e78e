"""Whatever is measured: Icinga takes the line that is printed for what was meant."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from icinga import UNITS, Icinga, number
from perfdata import Item, split
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.render.json import written as as_json
from stallwatch.render.text import written as as_text
from stallwatch.thresholds import Range
from stallwatch.verdict import Report, judge

BATCH, BATCHES = 10, 32  # of longer lists most would be longer than what hypothesis draws at once
TEXTS = st.text(max_size=60) | st.sampled_from(
    ["a | b=1", "x\n| y=2", "' \" ; $HOST$ `id`", "größer 𝄞 \u202e", "|"]
)
VALUES = st.none() | st.integers(-(2**64), 2**64) | st.floats() | st.floats(-1e-6, 1e-6)
BOUNDS = st.integers(0, 10**15).map(str) | st.floats(0, 1e9).map(lambda number: f"{number:.6f}")
LIMITS = (
    st.builds("{}{}".format, st.sampled_from(["", "@", "~:", "0:"]), BOUNDS)
    | BOUNDS.map("@{}:".format)
    | BOUNDS.map("{}:".format)
)
LINES = st.builds(Line, TEXTS, st.lists(TEXTS, max_size=2).map(tuple))
READINGS = st.builds(
    Reading, st.sampled_from(["lag", "data_memory", "odd: name='x' | 1=2", "größe"]), VALUES,
    st.sampled_from([*UNITS, "rows", "1/s"]), TEXTS, TEXTS, TEXTS,
    label=st.none() | st.sampled_from(["", "a.b.c", "java.lang:type=Memory", "a b"]) | st.text(max_size=12),
    line=LINES,
)  # fmt: skip
FAULTS = st.builds(Fault, st.sampled_from(State), TEXTS, TEXTS, TEXTS, LINES)
THRESHOLDS = st.dictionaries(
    st.sampled_from(["lag", "data_memory", "größe"]),
    st.dictionaries(st.sampled_from(["warning", "critical"]), LIMITS.map(Range)),
)  # fmt: skip
REPORTS = st.builds(
    lambda findings, limits, everything: Report("demo", judge(findings, limits), everything=everything),
    st.lists(READINGS | FAULTS, max_size=8), THRESHOLDS, st.booleans(),
)  # fmt: skip
SERVICES = [f"s{number}" for number in range(BATCH)]
PRINT = """
cat {folder}/$1.text
exit $(cat {folder}/$1.status)
"""
OBJECTS = """
object CheckCommand "print" {{
  command = [ "/bin/sh", "{folder}/print", "$service.name$" ]
}}
object Host "h" {{ check_command = "dummy" }}
for (number in range({batch})) {{
  object Service "s" + number {{
    host_name = "h"
    check_command = "print"
    enable_active_checks = false
  }}
}}
"""


@pytest.fixture
def feed(open_path):
    """Let Icinga run plugins that print these reports: what it holds then, with the numbers it reads."""
    (open_path / "print").write_text(PRINT.format(folder=open_path))
    with Icinga(open_path / "icinga", objects=OBJECTS.format(folder=open_path, batch=BATCH)) as icinga:

        def feed(reports):
            for service, report in zip(SERVICES, reports, strict=False):
                (open_path / f"{service}.text").write_text(as_text(report) + "\n")
                (open_path / f"{service}.status").write_text(f"{report.state.value.code}\n")
            results = icinga.check_all([f"h!{service}" for service in SERVICES[: len(reports)]])
            numbers = icinga.evaluate(
                f'{json.dumps(SERVICES)}.map(s => (get_service("h", s).last_check_result || {{}})'
                ".performance_data.map(parse_performance_data))"
            )
            return zip(results.values(), numbers, strict=False)

        yield feed


def meant(report):
    """What a report means as numbers, by its JSON."""
    return [number(_item(found)) for found in json.loads(as_json(report))["findings"] if found["label"]]


def _item(found):
    limits = (_limit(found[level]) for level in ("warning", "critical"))
    return Item(found["label"], round(float(found["value"]), 9), found["unit"], *limits)


def _limit(text):
    """Where an alert begins, if it is so far from 0; other ranges cannot be told to Icinga."""
    return (
        None if text is None or Range(text).plain_limit is None else round(float(Range(text).plain_limit), 9)
    )


@settings(
    max_examples=BATCHES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True,
)  # fmt: skip
@given(reports=st.lists(REPORTS, min_size=BATCH, max_size=BATCH))
def test_icinga_takes_every_line_for_what_was_meant(feed, reports):
    for report, (result, numbers) in zip(reports, feed(reports), strict=True):
        text, perfdata, more = split(as_text(report))
        assert result.state == report.state.value.code
        assert (result.output, result.long_output) == (text, more)
        assert " ".join(result.performance_data) == perfdata
        assert numbers == meant(report)
