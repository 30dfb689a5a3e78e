"""What check_replication_lag says about each recorded replica, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import re
from pathlib import Path

import mysql_replay
import pytest
import recorded_mysql
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql, recording

SERVERS = Path(__file__).parent / "replication" / "servers"
NAMES = sorted(path.stem for path in SERVERS.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_replica_is_told_as_expected(name, monkeypatch, tmp_path, note):
    expected = SERVERS / "expected" / f"{name}.txt"
    text = mysql_replay.said(SERVERS / f"{name}.json", tmp_path, monkeypatch, note)
    if "STALLWATCH_RECORD" in os.environ:
        expected.write_text(text)
    assert text == expected.read_text()


def test_every_expected_output_has_its_recording():
    assert sorted(path.stem for path in (SERVERS / "expected").glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_status_line_is_no_longer_than_a_text_message(name):
    lines = (SERVERS / "expected" / f"{name}.txt").read_text().splitlines()
    texts = [line.partition(" | ")[0] for line in lines if line.startswith("REPLICATION_LAG ")]
    assert texts
    assert max(map(len, texts)) <= 160


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_small_and_names_nobody(name):
    text = (SERVERS / f"{name}.json").read_text()
    assert len(text) < 60_000
    assert "/tmp/" not in text
    assert "127.0.0.1" not in text
    assert os.uname().nodename not in text


@pytest.fixture
def run():
    (run,) = recorded_mysql.load(SERVERS / "mysql-9.7-not-a-replica.json")
    with recording.use(run):
        yield run


def log_in(host):
    return mysql.connect(mysql.Target(host), Deadline(8), None)


def test_a_statement_may_be_broken_into_other_lines(run):
    assert log_in("db1").rows("SHOW\n  REPLICA   STATUS ") == []


def test_what_was_not_recorded_fails_and_says_what_to_do(run):
    server = log_in("db1")
    server.rows("SHOW REPLICA STATUS")
    with pytest.raises(mysql.UnreachableError):
        server.rows("SHOW REPLICA STATUS")
    with pytest.raises(mysql.UnreachableError):
        server.rows("SELECT 1")
    with pytest.raises(recorded_mysql.NotRecordedError):
        server.again()
    expected = (
        r"was not asked so often when", r"was not asked when .*: SELECT 1 .*: record ",
        "no further log-in at db1:3306",
    )  # fmt: skip
    for what, error in zip(expected, run.surprises, strict=True):
        assert re.search(what, str(error))


def test_time_goes_by_as_it_did():
    first, second = recorded_mysql.load(SERVERS / "mysql-9.7-black-hole.json")
    assert second.began - first.began == pytest.approx(60, abs=1)
    with recording.use(first):
        log_in("db2").rows("SHOW REPLICA STATUS")
    assert 0 < first.clock() - first.began < 5
