"""What check_replication_lag says about each recorded replica, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import runpy
import time
from pathlib import Path

import pytest
import recorded_mysql
from stallwatch.sources import mysql

SERVERS = Path(__file__).parent / "replication" / "servers"
PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_replication_lag"))
NAMES = sorted(path.stem for path in SERVERS.glob("*.json"))


@pytest.fixture
def said(monkeypatch, tmp_path):
    """The plugin's whole output about a recording, of each run that is in it, and the exit status."""

    monkeypatch.setenv("HOME", str(tmp_path))  # whoever runs this may have a ~/.my.cnf

    def run(one):
        monkeypatch.setattr(mysql, "connect", one.connect)
        for name, stand_in in (("time", one.clock), ("monotonic", one.clock), ("sleep", one.clock.sleep)):
            monkeypatch.setattr(time, name, stand_in)
        options = [*one.options, "--state-dir", str(tmp_path)]
        status, text = PLUGIN["check"].run(PLUGIN["findings"], options)
        for surprise in one.surprises:
            raise surprise
        assert "internal error" not in text
        return f"{text}\nexit status {status}\n"

    def said(name):
        runs = recorded_mysql.load(SERVERS / f"{name}.json")
        texts = [run(one) for one in runs]
        for number, (one, before) in enumerate(zip(runs[1:], runs, strict=False), start=1):
            texts[number] = f"\n{one.began - before.began:.0f} s later\n{texts[number]}"
        return "".join(texts)

    return said


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_replica_is_told_as_expected(name, said):
    expected = SERVERS / "expected" / f"{name}.txt"
    text = said(name)
    if "STALLWATCH_RECORD" in os.environ:
        expected.write_text(text)
    assert text == expected.read_text()


def test_every_expected_output_has_its_recording():
    assert sorted(path.stem for path in (SERVERS / "expected").glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_small_and_names_nobody(name):
    text = (SERVERS / f"{name}.json").read_text()
    assert len(text) < 60_000
    assert "/tmp/" not in text
    assert "127.0.0.1" not in text
    assert os.uname().nodename not in text


@pytest.fixture
def server():
    (run,) = recorded_mysql.load(SERVERS / "mysql-9.7-not-a-replica.json")
    return run.log_in("db1:3306")


def test_a_statement_may_be_broken_into_other_lines(server):
    assert server.rows("SHOW\n  REPLICA   STATUS ") == []


def test_what_was_not_recorded_fails_and_says_what_to_do(server):
    with pytest.raises(recorded_mysql.NotRecordedError, match=r"was not asked when .*: SELECT 1: record "):
        server.rows("SELECT 1")
    server.rows("SHOW REPLICA STATUS")
    with pytest.raises(recorded_mysql.NotRecordedError, match="was not asked so often when"):
        server.rows("SHOW REPLICA STATUS")
    with pytest.raises(recorded_mysql.NotRecordedError, match="no further log-in at db1:3306"):
        server.again()


def test_time_goes_by_as_it_did():
    first, second = recorded_mysql.load(SERVERS / "mysql-9.7-black-hole.json")
    assert second.began - first.began == pytest.approx(60, abs=1)
    first.log_in("db2:3306").rows("SHOW REPLICA STATUS")
    assert 0 < first.clock() - first.began < 5
