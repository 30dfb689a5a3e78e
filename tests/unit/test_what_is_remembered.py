"""Where checks of MySQL servers find what they remember, and that they have hold of it before they log in."""

import fcntl
import runpy
from pathlib import Path

import pytest
from stallwatch.declared import every
from stallwatch.sources import mysql
from stallwatch.sources.mysql import UnreachableError

PLUGINS = Path(__file__).parents[2] / "plugins"
# As version 0.1.0 named them with -H db1: another name would be a first run of everybody's checks.
MEMORIES = {
    "replication_lag": "62004bb1ff97d2dc",
    "mysql_status": "14e2bbf93954ba9a",
    "innodb_buffer_pool": "0919ef1ba700b81a",
    "innodb_redo_log": "9a53dc26006fe085",
    "ndb_nodes": "b0bb8818798f24ef",
    "ndb_memory": "d718a92089c22897",
    "ndb_page_buffer": "cdb2eb04cce7d5d8",
    "ndb_redo_buffer": "881cf3b3c874c39a",
    "ndb_transactions": "99bcab4c01ed0f51",
}


ASK = [
    name
    for name, one in every().items()
    if one.healthy.source in ("mysql", "ndb") and one.healthy.keeps_state
]


@pytest.mark.parametrize("plugin", ASK)
def test_a_check_that_logs_in_has_hold_of_what_it_remembers(plugin, tmp_path, monkeypatch):
    """Else copies that wait for one another have all the places that the server has."""

    def refused(*_):
        (path,) = (tmp_path / "state").glob(f"{plugin}-{MEMORIES.get(plugin, '*')}.lock")
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
