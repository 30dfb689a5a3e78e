"""What could not be found out costs nothing else, and is said."""

import pytest
from stallwatch.deadline import Account, Deadline, TimeUpError
from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_redo_buffer.inquiry import Inquiry
from stallwatch.sources.mysql import DeniedError, MissingTableError, NoAnswerError, UnreachableError

FULL = "how full it is"
SHORT = "this check had 900 ms of 1 s left"


@pytest.fixture
def inquiry():
    return Inquiry(Deadline(8.0))


def refused(error):
    """A step that is refused."""

    def step():
        raise error

    return step


def asides(inquiry, **which):
    return [aside.what for aside in inquiry.asides(**which)]


def test_each_step_is_done_whatever_became_of_those_before(inquiry):
    done = []
    inquiry.subject(FULL, refused(NoAnswerError("no answer")))
    inquiry.evidence("why", refused(UnreachableError("gone")))
    assert inquiry.subject(FULL, lambda: done.append(1)) is None
    inquiry.evidence("why", lambda: done.append(2))
    assert done == [1, 2]


def test_why_a_subject_is_not_known_is_a_problem(inquiry):
    error = MissingTableError("no such table")
    assert inquiry.subject(FULL, refused(error)) is error
    assert (inquiry.problems, asides(inquiry)) == ([error], [])


@pytest.mark.parametrize("error", [NoAnswerError("frozen", "look"), UnreachableError("frozen", "look")])
def test_a_server_that_hangs_is_a_problem_of_evidence_too(inquiry, error):
    inquiry.evidence("why", refused(error))
    (problem,) = inquiry.problems
    assert (problem.what, problem.advice, asides(inquiry)) == ("not known is why: frozen", "look", [])


def test_evidence_that_is_missing_is_an_aside(inquiry):
    inquiry.evidence("why", refused(MissingTableError("no such table")))
    inquiry.evidence("since when", refused(DeniedError("access denied")))
    inquiry.evidence("by whom", refused(ProbeError("nobody knows")))
    assert inquiry.problems == []
    assert [*inquiry.asides()] == [
        Fault(State.OK, "this version does not show why"),
        Fault(State.OK, "not known is since when: access denied"),
        Fault(State.OK, "not known is by whom: nobody knows"),
    ]
    assert asides(inquiry, all_of_them=False) == []


def test_what_takes_longer_than_there_is_time_is_left_out_and_said():
    inquiry, done = Inquiry(Deadline(1.0)), []
    for about in ("why", "since when"):
        inquiry.evidence(about, lambda: done.append(1), takes=2.0)
    failure = inquiry.subject(FULL, lambda: done.append(1), takes=2.0)
    assert done == []
    assert asides(inquiry, all_of_them=False) == ["not looked at, as time was short: why; since when"]
    assert (failure.what, failure.advice) == (f"not looked at, as {SHORT}: {FULL}", "raise --timeout")
    assert inquiry.problems == [failure]


def test_a_subject_that_has_no_time_as_we_lost_it_ends_the_run(monkeypatch):
    monkeypatch.setattr(Account, "lost", lambda _: 5.0)
    inquiry = Inquiry(Deadline(1.0))
    inquiry.evidence("why", lambda: None, takes=2.0)
    with pytest.raises(TimeUpError):
        inquiry.subject(FULL, lambda: None, takes=2.0)


def test_an_error_of_ours_is_not_hidden(inquiry):
    with pytest.raises(ZeroDivisionError):
        inquiry.evidence("why", lambda: 1 / 0)
