"""A system call of the state that fails leaves the old state or the new one, and the run tells the truth."""

import errno
import json
import os

import pytest
from remembering import Counting, Host, NodeLog

# Of EINTR nothing may come: Python itself calls again (PEP 475).
ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EROFS", "EACCES", "EINTR", "EMFILE", "ENOLCK", "ESTALE")
NOTHING, LOST, UNSAVED = SENTENCES = (
    "nothing is remembered between runs: ",
    "the memory of earlier runs is lost and this run counts as the first: ",
    "this run cannot be remembered: ",
)


def names(text, error):
    """Whether a text tells that error; that the directory is there if it could not be looked at."""
    return os.strerror(getattr(errno, error)) in text or "cannot be made: File exists" in text


@pytest.fixture
def each_failed(strace, note):
    """Lets each call with the state, or every n-th, fail, one a run: gives the call, and what came of it."""

    def failed(subject, error, every=1):
        for hit in strace.each_tampered(subject, f"error={error}", every):
            note("counted", ("errors of a system call", 1))
            yield hit

    return failed


def representative(*errors):
    return [
        error if error in errors else pytest.param(error, marks=pytest.mark.only_in_all_cells)
        for error in ERRORS
    ]


@pytest.mark.parametrize("error", representative("EIO", "EINTR"))
@pytest.mark.slow("each third system call of a write fails once")
def test_memory_alone(each_failed, state, error):
    subject = Counting(state)
    said = set()
    for call, ran in each_failed(subject, error):
        where = (call, ran)
        assert (ran.status, ran.stderr) == (0, ""), where
        had, problems = json.loads(ran.stdout)
        count = subject.count()
        sentences = [
            sentence for sentence in SENTENCES for problem in problems if problem.startswith(sentence)
        ]
        assert len(sentences) == len(problems) <= 1, where
        assert (had, count) == {
            (): (1, 2), (NOTHING,): (0, 1), (LOST,): (0, 1), (UNSAVED,): (1, 1)
        }[tuple(sentences)], where  # fmt: skip
        assert all(names(problem, error) for problem in problems), where
        said.update(sentences)
        assert subject.told() == [count, []], where
        assert subject.names() == {".json", ".lock"}, where
    assert said == set(SENTENCES) or error == "EINTR"


@pytest.mark.parametrize("error", representative("EIO"))
def test_check_ndb_log_tells_it_beside_what_it_has_read(each_failed, state, tmp_path, error, every):
    subject = NodeLog(state, tmp_path / "log")
    half, whole = list(range(subject.HALF)), list(range(2 * subject.HALF))
    for call, ran in each_failed(subject, error, every):
        where = (call, ran)
        assert (ran.status, ran.stderr) == (1, ""), where
        assert ran.stdout.startswith("NDB_LOG WARNING - node 4 "), where
        sentences = [sentence for sentence in SENTENCES if f"\n[UNKNOWN] {sentence}" in ran.stdout]
        assert len(sentences) == ran.stdout.count("[UNKNOWN]") <= 1, where
        assert not sentences or names(ran.stdout, error), where
        assert subject.judged() == (half if {NOTHING, UNSAVED} & set(sentences) else whole), where
        assert f" stuck_episodes={len(whole)} " in ran.stdout, where
        said = subject.run()
        assert "UNKNOWN" not in said.stdout, (where, said)
        assert subject.judged() == whole, where


@pytest.mark.parametrize("error", representative())
def test_check_host_is_unknown_where_all_else_is_well(each_failed, state, error):
    subject = Host(state)
    for call, ran in each_failed(subject, error):
        where = (call, ran)
        assert ran.stderr == "", where
        told = any(sentence in ran.stdout for sentence in SENTENCES)
        assert ran.status == (3 if told else 0), where
        assert ran.stdout.startswith("HOST UNKNOWN - " if told else "HOST OK - "), where
        assert not told or names(ran.stdout, error), where
        said = subject.run()
        assert (said.returncode, said.stderr) == (0, ""), (where, said)
