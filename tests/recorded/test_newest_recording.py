"""What older recordings lack is shown at the end of a run, what the newest one of a product lacks fails."""

import json
from pathlib import Path

import mysql_replay
import older_recordings
import pytest
from newest_recording import how_to_record, newest
from same_question import Lack
from sql_statement import parsed

SERVERS = Path(__file__).parent / "replication" / "servers"
OLDER, NEWEST = "mariadb-10.11-catching-up", "mariadb-10.11-row-lock"
STATUS = "SHOW GLOBAL STATUS WHERE Variable_name IN ({})"


def write(folder, name, began, version, sql, product="MySQL", columns=("a",), **answer):
    """Write a recording of one answer."""
    log_in = {"flavour": [product, version, ""], "answers": [{"statement": 0, **(answer or {"rows": [[1]]})}]}
    runs = [{"began": began, "log_ins": [log_in]}]
    recorded = {"statements": [{"sql": sql, "columns": columns}], "runs": runs}
    (folder / f"{name}.json").write_text(json.dumps(recorded))


def lack(sql, *columns, names=()):
    return Lack(parsed(sql), columns, names)


def test_the_newest_is_of_the_highest_version_and_then_the_last_recorded(tmp_path):
    write(tmp_path, "old", 5, [9, 6, 3], "SELECT a FROM t")
    write(tmp_path, "first", 1, [9, 10, 0], "SELECT a FROM t")
    write(tmp_path, "second", 2, [9, 10, 0], "SELECT a FROM t")
    write(tmp_path, "other", 9, [11, 0, 0], "SELECT a FROM t", product="MariaDB")
    assert newest(tmp_path, "MySQL", lack("SELECT a, b FROM t", "b")) == "second"
    assert newest(tmp_path, "MariaDB", lack("SELECT a, b FROM t", "b")) == "other"


def test_the_newest_is_one_whose_answer_shows_what_is_asked(tmp_path):
    write(tmp_path, "one", 1, [9, 7, 2], "SELECT a FROM t WHERE x = %s 5")
    write(tmp_path, "of-other-values", 2, [9, 7, 2], "SELECT a FROM t WHERE x = %s 6")
    write(tmp_path, "of-other-rows", 3, [9, 7, 2], "SELECT a FROM t WHERE y = %s 5")
    write(tmp_path, "of-another-table", 4, [9, 7, 2], "SELECT a FROM u")
    write(tmp_path, "denied", 5, [9, 7, 2], "SELECT a FROM t WHERE x = %s 5", error=[1142, ""])
    write(tmp_path, "empty", 6, [9, 7, 2], "SELECT a FROM t WHERE x = %s 5", rows=[])
    assert newest(tmp_path, "MySQL", lack("SELECT a, b FROM t WHERE x = %s 5", "b")) == "of-other-values"


def test_an_answer_without_rows_shows_which_names_were_asked(tmp_path):
    write(tmp_path, "some", 1, [9, 7, 2], STATUS.format("'a'"), columns=["Variable_name", "Value"])
    write(tmp_path, "none", 2, [9, 7, 2], STATUS.format("'a'"), columns=[], rows=[])
    assert newest(tmp_path, "MySQL", lack(STATUS.format("'a', 'b'"), names=("b",))) == "none"


def test_the_command_records_that_recording():
    python = ".venv/bin/python tests/live"
    assert how_to_record(NEWEST) == f"{python}/replication_recording.py mariadb row-lock && make record"
    assert how_to_record("node-down") == f"{python}/ndb_recording.py node-down && make record"


@pytest.fixture
def of_before(tmp_path):
    """Two recordings of the time before Threads_running was asked for."""
    folder = tmp_path / "servers"
    folder.mkdir()
    for name in (OLDER, NEWEST):
        text = (SERVERS / f"{name}.json").read_text()
        assert "'Threads_running', " in text
        (folder / f"{name}.json").write_text(text.replace("'Threads_running', ", ""))
    return folder


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_an_older_recording_replays_and_what_it_lacks_is_noted(of_before, home, monkeypatch):
    noted = []
    text = mysql_replay.said(of_before / f"{OLDER}.json", home, monkeypatch, lambda *one: noted.append(one))
    assert text == (SERVERS / "expected" / f"{OLDER}.txt").read_text()
    name, (recording, tables, what) = noted[0]
    assert (name, Path(recording).name) == ("lacks", f"{OLDER}.json")
    assert (tables, what) == ("SHOW GLOBAL STATUS", "Threads_running")


def test_the_newest_recording_fails_and_says_what_to_do(of_before, home, monkeypatch):
    with pytest.raises(mysql_replay.LacksError) as found:
        mysql_replay.said(of_before / f"{NEWEST}.json", home, monkeypatch)
    assert str(found.value) == (
        f"{NEWEST}.json is the newest recording of MariaDB that asks SHOW GLOBAL STATUS"
        f" and lacks Threads_running: record it anew by {how_to_record(NEWEST)}"
    )


def test_an_older_recording_replays_once_another_is_recorded_anew(of_before, home, monkeypatch):
    """The one that was the newest, too."""
    recorded = (SERVERS / f"{OLDER}.json").read_text()
    began = json.loads(recorded)["runs"][0]["began"]
    (of_before / f"{OLDER}.json").write_text(recorded.replace(f'"began": {began}', f'"began": {began + 1e6}'))
    for name in (OLDER, NEWEST):
        assert mysql_replay.said(of_before / f"{name}.json", home / name, monkeypatch)


class Reporter:
    """As pytest's reporter at the end, of reports with these properties."""

    def __init__(self, *properties):
        self.lines = []
        self.section = self.line = self.lines.append
        reports = [type("Report", (), {"user_properties": [one]}) for one in properties]
        self.stats = {"passed": reports, "": reports, "warnings": ["no report"]}


def test_the_end_of_a_run_shows_which_recordings_lack_what():
    status = ("lacks", ["tests/a/one.json", "SHOW GLOBAL STATUS", "Threads_running"])
    other = ("lacks", ["tests/b/three.json", "ndbinfo.nodes", "uptime"])
    second = ("lacks", ["tests/a/two.json", *status[1][1:]])
    reporter = Reporter(second, status, other, ("counted", ["lines", 5]))
    older_recordings.pytest_terminal_summary(reporter)
    assert reporter.lines == [
        older_recordings.TITLE,
        "SHOW GLOBAL STATUS: Threads_running",
        "  2 in tests/a: one, two",
        "ndbinfo.nodes: uptime",
        "  1 in tests/b: three",
    ]


def test_the_end_of_a_run_shows_nothing_where_nothing_lacks():
    reporter = Reporter(("counted", ["lines", 5]))
    older_recordings.pytest_terminal_summary(reporter)
    assert reporter.lines == []
