"""Checks of MySQL servers have hold of what they remember before they log in."""

import fcntl
import runpy
from pathlib import Path

import pytest
from stallwatch.declared import every
from stallwatch.sources import mysql
from stallwatch.sources.mysql import UnreachableError

PLUGINS = Path(__file__).parents[2] / "plugins"
ASK = [
    name
    for name, one in every().items()
    if one.healthy.source in ("mysql", "ndb") and one.healthy.keeps_state
]


@pytest.mark.parametrize("plugin", ASK)
def test_a_check_that_logs_in_has_hold_of_what_it_remembers(plugin, tmp_path, monkeypatch):
    """Else copies that wait for one another have all the places that the server has."""

    def refused(*_):
        (path,) = (tmp_path / "state").glob(f"{plugin}-*.lock")
        with path.open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise UnreachableError("db1:3306 refused the connection")

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(mysql, "connect", refused)
    of_plugin = runpy.run_path(str(PLUGINS / f"check_{plugin}"))
    options = ["-H", "db1", "--state-dir", str(tmp_path / "state"), "--unreachable", "unknown"]
    status, text = of_plugin["check"].run(of_plugin["findings"], options)
    assert status == 3
    assert " UNKNOWN - db1:3306 refused the connection" in text
