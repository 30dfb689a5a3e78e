"""What the plugins that read ndbinfo say about each recorded cluster, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import json
import os
from pathlib import Path

import mysql_replay
import pytest
import recorded_mysql

CLUSTERS = Path(__file__).parent / "ndbinfo"
NAMES = sorted(path.stem for path in CLUSTERS.glob("*.json"))
PLUGINS = {
    "check_ndb_nodes", "check_ndb_page_buffer", "check_ndb_redo_buffer", "check_ndb_memory",
    "check_ndb_transactions",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_cluster_is_told_as_expected(name, monkeypatch, tmp_path, note):
    expected = CLUSTERS / "expected" / f"{name}.txt"
    text = mysql_replay.said(CLUSTERS / f"{name}.json", tmp_path, monkeypatch, note)
    if "STALLWATCH_RECORD" in os.environ:
        expected.write_text(text)
    assert text == expected.read_text()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"grant-missing", "offline"}))
def test_a_line_fits_a_text_message(name):
    text = (CLUSTERS / "expected" / f"{name}.txt").read_text()
    lines = [line.partition(" | ")[0] for line in text.splitlines() if line.startswith("NDB_")]
    assert [line for line in lines if len(line) > 160 or ";" in line] == []


def test_every_expected_output_has_its_recording():
    assert sorted(path.stem for path in (CLUSTERS / "expected").glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_small(name):
    assert (CLUSTERS / f"{name}.json").stat().st_size < 60_000


@pytest.mark.parametrize("path", sorted(CLUSTERS.rglob("*.json")), ids=lambda path: path.stem)
def test_a_recording_names_nobody(path):
    text = path.read_text()
    assert "/tmp/" not in text
    assert "127.0.0.1" not in text
    assert f'"{os.uname().nodename}"' not in text


def test_all_plugins_are_recorded_healthy_and_without_a_cluster():
    for name in ("healthy", "cluster-down", "node-down"):
        recorded = json.loads((CLUSTERS / f"{name}.json").read_text())
        assert {run["plugin"] for run in recorded["runs"]} == PLUGINS


@pytest.mark.parametrize("name", NAMES)
def test_whoever_asked_had_the_documented_privileges(name):
    runs = recorded_mysql.load(CLUSTERS / f"{name}.json")
    users = {run.options[run.options.index("-u") + 1] for run in runs}
    assert users <= {"mon", "nobody", "process"}
