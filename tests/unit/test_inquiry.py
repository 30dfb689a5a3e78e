"""What could not be found out costs nothing else, and is kept."""

import pytest
from stallwatch.deadline import Account, Deadline, TimeUpError
from stallwatch.findings import ProbeError
from stallwatch.probes.mysql.asking import Inquiry
from stallwatch.sources.mysql import (
    DeniedError,
    MissingTableError,
    MysqlError,
    NoAnswerError,
    UnreachableError,
)

FULL = "how full it is"
ENDED_BY_SERVER = NoAnswerError("too slow", number=3024)


@pytest.fixture
def inquiry():
    return Inquiry(Deadline(8.0))


def refused(error):
    """A step that is refused."""

    def step():
        raise error

    return step


def test_what_a_step_finds_out_is_returned(inquiry):
    assert inquiry.ask(FULL, lambda: 7) == 7
    assert (inquiry.failed, inquiry.lost, inquiry.refused) == (None, None, [])


@pytest.mark.parametrize("evidence", [True, False])
@pytest.mark.parametrize(
    ("error", "is_lost", "of_version"),
    [
        (NoAnswerError("frozen"), True, False),
        (UnreachableError("gone"), True, False),
        (ENDED_BY_SERVER, False, False),
        (DeniedError("denied"), False, False),
        (MissingTableError("no such table"), False, True),
        (MysqlError("unknown column", number=1054), False, True),
        (ProbeError("nobody knows"), False, False),
    ],
)
def test_what_is_refused_is_kept_and_nothing_is_asked_on_a_lost_connection(
    inquiry, error, is_lost, of_version, evidence
):
    assert inquiry.ask(FULL, refused(error), evidence=evidence) is None
    assert (inquiry.failed, inquiry.lost) == (error, error if is_lost else None)
    (first,) = inquiry.refused
    assert first == (FULL, error, evidence, True)
    assert first.of_version == of_version
    assert inquiry.ask("why", lambda: 7) == (None if is_lost else 7)
    assert inquiry.understand("which", lambda: 8) == 8
    assert [one.asked for one in inquiry.refused[1:]] == [False] * is_lost


@pytest.mark.parametrize(
    ("takes", "slowest", "found"), [(0.5, 0, 7), (2, 0, None), (None, 2, None), (0, 2, 7)]
)
def test_what_takes_longer_than_there_is_time_is_left_out(takes, slowest, found):
    inquiry = Inquiry(Deadline(1.0), slowest)
    assert inquiry.ask(FULL, lambda: 7, takes=takes) == found
    assert [(one.asked, one.error) for one in inquiry.refused] == [(False, inquiry.failed)] * (not found)
    assert inquiry.lost is None


def test_what_the_verdict_is_about_ends_the_run_if_its_time_was_lost(monkeypatch):
    monkeypatch.setattr(Account, "lost", lambda _: 5.0)
    inquiry = Inquiry(Deadline(1.0))
    inquiry.ask("why", lambda: None, evidence=True, takes=2.0)
    with pytest.raises(TimeUpError):
        inquiry.ask(FULL, lambda: None, takes=2.0)


@pytest.mark.parametrize("error", [ZeroDivisionError, DeniedError("denied")])
def test_what_is_not_to_be_lived_with_is_raised(error):
    with pytest.raises((ZeroDivisionError, DeniedError)):
        Inquiry(Deadline(8.0), ending=(DeniedError,)).ask("why", refused(error))
