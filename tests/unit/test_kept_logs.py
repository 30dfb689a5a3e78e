"""The logs of servers are kept where a test fails, and named in its failure; not those that were silent."""

import os

import kept_logs
import pytest

BEGAN = 1_790_000_000


@pytest.fixture
def server_logs(tmp_path, monkeypatch):
    """Gives the logs of two servers, the second of which has written nothing since the test began."""
    logs = [tmp_path / name / "log" for name in ("replica", "source")]
    for log, changed in zip(logs, (BEGAN + 1, BEGAN - 1), strict=True):
        log.parent.mkdir()
        log.write_text(f"{log.parent.name} writes\n")
        os.utime(log, (changed, changed))
    monkeypatch.setattr(kept_logs, "LOGS", dict.fromkeys([*map(str, logs), str(tmp_path / "removed")]))
    monkeypatch.setattr(kept_logs, "BUILD", tmp_path / "build")
    return logs


def test_a_log_that_changed_since_the_test_began_is_copied(server_logs):
    (kept,) = kept_logs.keep("tests/live/test_x.py::test_x[a b]", BEGAN)
    assert kept.read_text() == "replica writes\n"
    assert (kept.parent.name, kept.name) == ("tests-live-test_x.py-test_x-a-b-", "0-replica-log")


def test_nothing_is_made_for_servers_that_were_silent(server_logs, tmp_path):
    assert kept_logs.keep("test_x", BEGAN + 2) == []
    assert not (tmp_path / "build").exists()
