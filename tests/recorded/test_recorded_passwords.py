"""Whatever the password is, what is said of each recorded server is the same, word by word."""

from pathlib import Path

import mysql_replay
import pytest
from stallwatch.frame.options.mysql import PASSWORD

HERE = Path(__file__).parent
RECORDED = sorted((*HERE.glob("replication/servers/*.json"), *HERE.glob("ndbinfo/*.json")))
ORDINARY = ("replica", "mp", "a", "1", "OK", "UNKNOWN", "s", "password", "root")


@pytest.mark.parametrize("number", range(len(RECORDED)), ids=lambda number: RECORDED[number].stem)
def test_an_ordinary_password_changes_nothing(number, monkeypatch, tmp_path, note):
    path = RECORDED[number]
    expected = (path.parent / "expected" / f"{path.stem}.txt").read_text()
    for turn in (0, 4):  # two of them each; all have their turn with each plugin
        password = ORDINARY[(number + turn) % len(ORDINARY)]
        monkeypatch.setenv(PASSWORD, password)
        (tmp_path / password).mkdir()
        assert mysql_replay.said(path, tmp_path / password, monkeypatch, note) == expected, password
