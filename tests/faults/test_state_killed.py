"""A run that is killed at any system call of its state leaves the old state or the new one, never neither."""

import pytest
from injected import KILLED
from remembering import Counting, Host, NodeLog


@pytest.fixture
def killed_at_each_call(strace, note):
    """Kills a run at each call with its state, or every n-th, which may not happen then: gives the call."""

    def killed(subject, every=1):
        for call, ran in strace.each_tampered(subject, KILLED, every):
            assert (ran.status, ran.stdout, ran.stderr) == (-9, "", ""), (call, ran)
            note("counted", ("kills at a system call", 1))
            yield call

    return killed


@pytest.mark.parametrize("first", [True, False], ids=["the first run", "a later run"])
def test_memory_alone(killed_at_each_call, state, first):
    subject = Counting(state, first=first)
    gained = set()
    for call in killed_at_each_call(subject):
        count = subject.count()
        gained.add(count - (0 if first else 1))
        assert subject.told() == [count, []], call
        assert subject.count() == count + 1, call
        assert subject.names() == {".json", ".lock"}, call
    assert gained == {0, 1}


def test_check_ndb_log_judges_each_line_once(killed_at_each_call, state, tmp_path, every):
    subject = NodeLog(state, tmp_path / "log")
    half, whole = list(range(subject.HALF)), list(range(2 * subject.HALF))
    left = set()
    for call in killed_at_each_call(subject, every):
        assert subject.judged() in (half, whole), call
        left.add(len(subject.judged()))
        said = subject.run()
        assert (said.returncode, said.stderr) == (1, ""), (call, said)
        assert "UNKNOWN" not in said.stdout, (call, said)
        assert f" stuck_episodes={len(whole)} " in said.stdout, (call, said)
        assert subject.judged() == whole, call
        assert subject.names() == {".json", ".lock"}, call
    assert left == {len(half), len(whole)}


@pytest.mark.only_in_all_cells
def test_check_host_goes_on_counting(killed_at_each_call, state):
    subject = Host(state)
    begun = subject.values()["look"]["last"]["uptime"]
    for call in killed_at_each_call(subject):
        assert subject.values()["look"]["last"]["uptime"] >= begun, call
        said = subject.run()
        assert (said.returncode, said.stderr) == (0, ""), (call, said)
        assert subject.names() == {".json", ".lock"}, call
