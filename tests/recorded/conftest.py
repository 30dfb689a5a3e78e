"""Every report that is compared as text is looked at in its other renderings, too."""

import json
import re

import output_schema
import pytest
from stallwatch.render import human, text
from stallwatch.render.human import Screen
from stallwatch.render.json import written as as_json
from stallwatch.render.text import written as as_text

WORD, CELL = 40, 60  # lengths: of a word that may make a line too long; of the longest cell of a table
TWO = re.compile(r"  +(?=\S)")  # between the columns of a table


def look_at_json(report):
    told = json.loads(as_json(report))
    output_schema.validate(told)
    assert told["state"] == report.state.name
    assert told["target"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["time"])
    assert [one for one in told["findings"] if one["state"] == "OK" and one["advice"]] == []
    assert as_text(report).startswith(f"{report.name.upper()} {told['state']} - ")


def look_at_human(report):
    narrow, whole = (human.written(report, Screen(columns)) for columns in (80, 0))
    assert "\x1b" not in narrow
    said, _, tables = narrow.partition("\n\n")
    assert [line for line in said.splitlines() if len(line) > 80 and len(line.split()[-1]) < WORD] == []
    assert [line for line in tables.splitlines() if len(line) > 80 and len(TWO.findall(line)) > 2] == []
    assert max(map(len, tables.splitlines()), default=0) <= 2 * CELL + 4
    assert said.split() == whole.partition("\n\n")[0].split()
    painted = human.written(report, Screen(80, color=True))
    assert re.sub(r"\x1b\[[0-9;]+m", "", painted) == narrow


@pytest.fixture(autouse=True)
def other_renderings(monkeypatch):
    """Validate the JSON of every report and lay it out for a terminal of 80 columns."""

    def looked_at(report):
        look_at_json(report)
        look_at_human(report)
        return as_text(report)

    monkeypatch.setattr(text, "written", looked_at)
