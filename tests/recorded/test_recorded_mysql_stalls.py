"""What check_mysql_stalls says about each recorded server, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import re
from pathlib import Path

import mysql_replay
import pytest

RECORDED = Path(__file__).parent / "mysql_stalls"
WHOLE = re.compile(r"MYSQL_STALLS (OK - |(WARNING|CRITICAL) - .+, .+ - .+)")  # WHAT, CAUSE - NEXT STEP
NAMES = sorted(path.stem for path in RECORDED.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_recorded_locks_are_told_as_expected(name, monkeypatch, tmp_path, note):
    expected = RECORDED / "expected" / f"{name}.txt"
    text = mysql_replay.said(RECORDED / f"{name}.json", tmp_path, monkeypatch, note)
    if "STALLWATCH_RECORD" in os.environ:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(text)
    assert text == expected.read_text()
    lines = [line.partition(" | ")[0] for line in text.splitlines() if " | " in line]
    assert all(len(line) <= 160 for line in lines)
    assert all(WHOLE.match(line) for line in lines)


def test_every_expected_output_has_its_recording():
    assert NAMES
    assert sorted(path.stem for path in (RECORDED / "expected").glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_small_and_names_nobody(name):
    text = (RECORDED / f"{name}.json").read_text()
    assert len(text) < 60_000
    assert "/tmp/" not in text
    assert os.uname().nodename not in text
