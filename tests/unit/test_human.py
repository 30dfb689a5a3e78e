"""What a person sees at a terminal."""

import os
import re
import subprocess
import termios

import pytest
from stallwatch import table
from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.render import human
from stallwatch.render.human import Screen
from stallwatch.render.text import written as as_text
from stallwatch.table import Table
from stallwatch.thresholds import Range
from stallwatch.verdict import Report, judge

LONG = (
    "channel east of db1:3306 is 5 min 3 s behind and grows by 1 s/s; cause: the applier waits for a row "
    "lock that connection 4711 of app@web1 has held for 114 s in an open transaction"
)
LAG = Reading("lag", 303, "s", LONG, "why", "KILL 4711, or wait")
LIMITS = {"lag": {"warning": Range("60"), "critical": Range("600")}}
WIDE = Table(tuple(f"column_{number}" for number in range(9)), (("a", *range(8)), ("b", *range(8))))
ESCAPE = re.compile(r"\x1b\[[0-9;]+m")


def shown(*findings, columns=80, color=False, **settings):
    report = Report("demo", judge(findings, LIMITS), **settings)
    return human.written(report, Screen(columns, color))


def test_a_long_sentence_is_broken_and_stays_in_its_column():
    assert shown(LAG).splitlines() == [
        "demo is WARNING",
        "  WARNING   channel east of db1:3306 is 5 min 3 s behind and grows by 1 s/s;",
        "            cause: the applier waits for a row lock that connection 4711 of",
        "            app@web1 has held for 114 s in an open transaction",
        "            why:  why",
        "            do:   KILL 4711, or wait",
    ]


def test_what_is_below_the_status_line_is_told_here_too():
    in_short = LAG._replace(
        what="it lags 303 s", line=Line(" and grows 1 s/s", ("sda is 97 % busy", "by commit time"))
    )
    assert shown(in_short).splitlines()[1:] == [
        "  WARNING   it lags 303 s (limit 60 s) and grows 1 s/s",
        "            why:  why",
        "            do:   KILL 4711, or wait",
        "            more: sda is 97 % busy",
        "            more: by commit time",
    ]
    assert [line.strip() for line in shown(in_short._replace(value=3)).splitlines()[1:]] == [
        "OK        it lags 303 s and grows 1 s/s",
        "why:  why",
    ]
    assert (
        "            do:   KILL 4711, or wait"
        in shown(in_short._replace(value=3), everything=True).splitlines()
    )


def test_advice_is_broken_below_its_own_begin():
    lines = shown(Fault(State.UNKNOWN, "no", advice=LONG)).splitlines()
    assert lines[2].startswith("            do:   channel east")
    assert lines[3].startswith(" " * 18 + "1 s/s; cause")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", range(40, 120))
def test_no_line_ends_between_a_number_and_its_unit(columns):
    lines = shown(LAG, columns=columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert [line for line in lines if re.search(r"\d$", line) and "4711" not in line] == []
    assert " ".join(" ".join(lines).split()) == " ".join(shown(LAG, columns=0).split())


def test_where_no_terminal_is_lines_are_left_whole():
    assert LONG in shown(LAG, columns=0)


def test_a_word_that_is_too_long_is_not_broken():
    assert "x" * 200 in shown(Reading("lag", 1, what="a " + "x" * 200 + " b"))


def test_a_table_that_is_too_wide_is_told_in_parts_that_begin_alike():
    lines = shown(Reading("lag", 1, what="fine", table=WIDE), columns=56).splitlines()
    assert lines[2:] == [
        "",
        "  column_0  column_1  column_2  column_3  column_4",
        "  a                0         1         2         3",
        "  b                0         1         2         3",
        "",
        "  column_0  column_5  column_6  column_7  column_8",
        "  a                4         5         6         7",
        "  b                4         5         6         7",
    ]


def test_v_tells_the_evidence_of_what_is_ok_and_no_advice():
    fine = Reading("lag", 1, "s", "lag 1 s", "processors 12 % busy", "nothing to do")
    assert shown(fine).splitlines() == ["demo is OK", "  OK        lag 1 s"]
    assert shown(fine, everything=True).splitlines()[1:3] == [
        "  OK        lag 1 s",
        "            why:  processors 12 % busy",
    ]


def test_each_word_of_text_is_told_with_v():
    findings = [
        LAG,
        Reading("load", 1, "", "load 1", "busy", "leave it"),
        Fault(State.OK, "aside", "because"),
    ]
    text = as_text(Report("demo", judge(findings, LIMITS), everything=True)).partition("|")
    said = set(re.findall(r"\w+", text[0] + text[2].partition("\n")[2])) - {
        "DEMO",
        "more",
        "problem",
        "next",
        "step",
    }
    assert said <= set(re.findall(r"\w+", shown(*findings, everything=True)))
    assert "leave" not in shown(*findings, everything=True)


def test_no_cell_of_a_wide_table_is_written_again_for_each_column(monkeypatch):
    cells = []
    written = table._written
    monkeypatch.setattr(table, "_written", lambda cell, *more: cells.append(cell) or written(cell, *more))
    shown(Reading("lag", 1, what="fine", table=WIDE), columns=56)
    assert len(cells) <= 3 * len(WIDE.columns) * len(WIDE.rows)


def test_labels_are_told_whole_with_v():
    label = "java_lang.type_GarbageCollector.name_G1_Young_Generation.LastGcInfo.used"
    lines = shown(Reading("used", 5, "B", "used", label=label), columns=0, everything=True).splitlines()
    assert lines[-2:] == [f"  number{'':{len(label) - 6}}  value  unit", f"  {label}      5  B"]


@pytest.mark.parametrize("columns", [1, 2, 39])
def test_a_terminal_too_narrow_for_anything_is_as_wide_as_the_narrowest(columns):
    assert Screen.of(columns, "never") == Screen(40)
    assert Screen.of(0, "never") == Screen(0)


def test_all_numbers_are_told_with_v_beside_their_thresholds():
    size = Reading("size", 2.5, "B", "size 2.5 B", in_table=True)
    unknown = Reading("load", None, what="no load")
    assert shown(LAG, size, unknown, everything=True).splitlines()[-4:] == [
        "",
        "  number  value  unit  warning  critical",
        "  lag       303  s     60       600",
        "  size      2.5  B",
    ]
    assert "number" not in shown(unknown, everything=True)


def test_what_was_asked_stands_below_all():
    assert shown(LAG, trace=["SELECT 1: 3 ms"]).endswith("\n\nSELECT 1: 3 ms")


def test_states_are_coloured_only_where_that_is_wanted():
    findings = (LAG, ProbeError("no"), Fault(State.CRITICAL, "full"), Fault(State.OK, "an aside"))
    painted = shown(*findings, color=True)
    assert ESCAPE.sub("", painted) == shown(*findings)
    assert painted.splitlines()[0] == "demo is \x1b[1;31mCRITICAL\x1b[0m"
    for code, state in (("32", "OK"), ("33", "WARNING"), ("35", "UNKNOWN")):
        assert f"  \x1b[{code}m{state}\x1b[0m " in painted


@pytest.mark.parametrize(
    ("color", "columns", "environment", "painted"),
    [
        ("never", 80, {}, False),
        ("always", 80, {}, True),
        ("always", 0, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("auto", 80, {}, True),
        ("auto", 0, {}, False),
        ("auto", 80, {"NO_COLOR": "1"}, False),
        ("auto", 80, {"NO_COLOR": ""}, True),
        ("auto", 80, {"TERM": "dumb"}, False),
    ],
)
def test_who_wants_colours_gets_them(monkeypatch, color, columns, environment, painted):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Screen.of(columns, color) == Screen(columns, painted)


# A real run

FINE = """
def findings(options, run):
    yield Reading("lag", 303, "s", "lag " + "of a channel " * 12, table=None)
"""


def at_terminal(call, columns, **variables):
    """What a command writes to a terminal as wide as that."""
    ours, its = os.openpty()
    termios.tcsetwinsize(its, (24, columns))
    environment = {**os.environ, "TERM": "xterm", **variables}
    with subprocess.Popen(call, stdin=its, stdout=its, stderr=its, env=environment):
        os.close(its)
        said = b"".join(iter(lambda: part(ours), b""))
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


def part(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # nobody has the other end any more
        return b""


def test_at_a_terminal_lines_are_as_long_as_it_is_wide(plugin, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    call = [*plugin.write(FINE), "--output", "human"]
    said = at_terminal([*call, "--color", "auto"], 60)
    lines = ESCAPE.sub("", said).splitlines()
    assert lines[0] == "demo is CRITICAL"
    assert 50 < max(map(len, lines)) <= 60
    assert "\x1b[1;31mCRITICAL\x1b[0m" in said
    assert "\x1b" not in at_terminal(call, 60)
    assert "\x1b" not in at_terminal([*call, "--color", "auto"], 60, NO_COLOR="1")


def test_a_terminal_that_does_not_know_how_wide_it_is_has_80_columns(plugin):
    said = at_terminal([*plugin.write(FINE), "--output", "human"], 0)
    assert 60 < max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("output", ["text", "json"])
def test_what_programs_read_is_never_coloured(plugin, output):
    run = plugin(FINE, "--output", output, "--color", "always", text=True)
    assert "\x1b" not in run.stdout
    assert run.returncode == 2


def test_in_a_pipe_lines_are_whole_and_coloured_only_if_that_was_said(plugin):
    assert "\x1b" not in plugin(FINE, "--output", "human", "--color", "auto", text=True).stdout
    run = plugin(FINE, "--output", "human", "--color", "always", text=True)
    assert len(run.stdout.splitlines()) == 2
    assert "\x1b[1;31mCRITICAL" in run.stdout
