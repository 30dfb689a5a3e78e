"""Whose time it was, by a clock that goes only as a test says."""

import subprocess
import time

import pytest
from clock import Clock
from stallwatch import deadline
from stallwatch.deadline import TICK, Deadline, TimeUpError

pytestmark = pytest.mark.usefixtures("whose_time")


class Machine(Clock):
    """A machine on which a process computes, waits in the queue for a processor, or is stopped."""

    def __init__(self):
        super().__init__()
        self.computed = self.queued = self.child = 0.0

    def compute(self, seconds):
        self.later(seconds)
        self.computed += seconds


@pytest.fixture
def machine(monkeypatch):
    one = Machine()
    monkeypatch.setattr(time, "monotonic", lambda: one.now)
    monkeypatch.setattr(time, "sleep", one.later)
    monkeypatch.setattr(time, "process_time", lambda: one.computed)
    monkeypatch.setattr(
        deadline, "_queued", lambda process, _: one.queued if process == "self" else one.child
    )
    return one


def silence(machine, late=lambda: 0.0):
    """A step of a wait for somebody who does nothing; each tick takes ``late()`` seconds longer."""

    def step(seconds):
        machine.later(seconds + late())
        raise TimeoutError

    return step


def once(seconds):
    """Seconds for the first time, then none."""
    left = [seconds]
    return lambda: left.pop() if left else 0.0


def answers(*_):
    return "answer"


def refuses(_):
    raise ConnectionRefusedError


BLAMED = {
    "undisturbed": lambda machine: 0,
    "stopped for a quarter": lambda machine: machine.later(1.9),
    "computes for a quarter": lambda machine: machine.compute(1.9),
    "in the queue for a quarter": lambda machine: setattr(machine, "queued", 1.9),
}


@pytest.mark.parametrize("before", BLAMED.values(), ids=BLAMED)
def test_who_had_his_time_and_did_not_answer_is_silent(machine, before):
    run = Deadline(8)
    before(machine)
    with pytest.raises(TimeoutError):
        run.wait(silence(machine))
    assert run.waits_in_vain()
    assert run.overdue() == "no answer within 8 s"
    assert run.left() == 0


LITTLE = "this check had only {} of 8 s for an answer: asking db1"
STOOD = "this check got no processor time for {} s of 8 s: asking db1"
OURS = {
    "stopped before it waits": (lambda machine: machine.later(7), lambda: 0.0, LITTLE.format("500 ms")),
    "stopped in a tick": (lambda _: 0, once(7), STOOD.format(7)),
    "a bit in each tick": (lambda _: 0, lambda: 2 * TICK, STOOD.format(5)),
    "computes too long": (lambda machine: machine.compute(5), lambda: 0.0, LITTLE.format("2.5 s")),
    "in the queue, hidden in ticks": (
        lambda machine: setattr(machine, "queued", 7.6), lambda: 0.0, STOOD.format(7.6),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "late", "says"), OURS.values(), ids=OURS)
def test_who_had_less_time_than_was_lost_is_not_blamed(machine, before, late, says):
    run = Deadline(8)
    run.doing = "asking db1"
    before(machine)
    with pytest.raises(TimeUpError) as caught:
        run.wait(silence(machine, late))
    assert str(caught.value) == says
    assert not run.waits_in_vain()


def test_who_waits_in_the_queue_and_is_stopped_too_lost_both_and_no_more_than_that(machine):
    run = Deadline(8)
    run.account.overshot = machine.queued = 1.5
    machine.later(4)
    assert run.overdue() == "this check got no processor time for 3 s of 8 s"
    machine.computed = 1.8
    assert run.overdue() == "this check got no processor time for 2.2 s of 8 s"


def test_an_answer_that_has_come_while_we_had_no_time_is_taken(machine):
    run = Deadline(8)
    machine.later(9)
    assert run.wait(answers) == "answer"
    assert run.waits_in_vain() is False


def test_who_sends_without_end_is_not_read_without_end(machine):
    def endless(_):
        machine.compute(0.1)
        return "more"

    run = Deadline(8)
    part, reads = run.part(1), []
    with pytest.raises(TimeoutError):
        reads.extend(part.wait(endless) for _ in range(1000))
    assert 1 < len(reads) <= 10
    assert not run.waits_in_vain()


def test_who_sends_without_end_is_not_read_without_end_where_time_was_lost(machine):
    def endless(_):
        machine.compute(0.1)
        return "more"

    run, reads = Deadline(8), []
    machine.later(6)
    with pytest.raises(TimeUpError):
        reads.extend(run.wait(endless) for _ in range(1000))
    assert 1 < len(reads) <= 20


def test_a_server_that_had_no_time_as_the_run_rested_is_not_blamed(machine):
    run = Deadline(2)
    run.rest(1.85)
    with pytest.raises(TimeUpError, match=r"this check had only 0 s of 2 s for an answer"):
        run.wait(silence(machine))
    assert not run.waits_in_vain()


def test_a_server_that_was_slow_all_the_time_is_blamed_for_a_short_silence(machine):
    def slow(seconds):
        machine.later(seconds)
        answered.append(seconds)
        if len(answered) % 30:
            raise TimeoutError
        return "answer"

    run, answered = Deadline(8), []
    with pytest.raises(TimeoutError):
        answered.extend(run.wait(slow) for _ in range(1000))
    assert run.waits_in_vain()


def test_what_is_missing_is_blamed_on_us_only_if_we_lost_more_than_is_left(machine):
    run = Deadline(8)
    machine.later(2.2)
    run.must_have_had_time()
    machine.later(2.2)
    with pytest.raises(TimeUpError):
        run.must_have_had_time()


def test_what_fails_is_no_silence(machine):
    run = Deadline(8)
    with pytest.raises(ConnectionRefusedError):
        run.wait(refuses)
    with pytest.raises(TimeoutError):  # of the system: it is not waited for again
        run.wait(lambda _: (_ for _ in ()).throw(TimeoutError(110, "Connection timed out")))
    assert run.left() == 7.5


def test_a_pause_between_two_looks_is_nobodys_time(machine):
    run = Deadline(8)
    run.rest(5)
    with pytest.raises(TimeoutError):
        run.wait(silence(machine))
    assert run.clock() == pytest.approx(2.5, abs=0.01)


def test_a_part_is_seconds_of_waiting_and_what_we_lose_costs_it_none(machine):
    run = Deadline(8)
    part = run.part(1)
    machine.later(0.8)
    with pytest.raises(TimeoutError):
        part.wait(silence(machine, once(0.5)))
    assert run.clock() == pytest.approx(1, abs=0.01)
    assert run.left() == pytest.approx(8 - 0.5 - 0.8 - 0.5 - 1, abs=0.01)
    assert not run.waits_in_vain()


def test_a_part_lasts_longer_if_more_was_lost_and_the_answer_still_counts(machine):
    run = Deadline(8)
    part = run.part(0.2)
    machine.later(3)
    ticks = iter([TimeoutError] * 20)

    def late_answer(seconds):
        machine.later(seconds)
        for error in ticks:
            raise error
        return "answer"

    assert part.wait(late_answer) == "answer"


def test_what_a_kernel_took_is_no_answer(machine):
    run = Deadline(8)
    with pytest.raises(TimeoutError):
        run.part(3).wait(silence(machine))
    run.wait(answers, for_answer=False)
    assert run.account.silent == pytest.approx(3, abs=0.01)
    run.wait(answers)
    assert run.account.silent == 0


def test_the_end_is_put_off_once_for_who_is_waited_for(machine):
    run = Deadline(8)
    assert not run.put_off()
    moved = []
    run.extended = lambda: moved.append(run.until_end())

    def step(_):
        machine.later(9)
        assert run.put_off()
        assert not run.put_off()
        return "answer"

    assert run.wait(step) == "answer"
    assert moved == pytest.approx([deadline.GRACE])


@pytest.mark.parametrize(("queued", "blamed"), [(0.1, True), (6.0, False)])
def test_a_child_that_had_no_processor_is_not_the_silence_of_its_server(machine, queued, blamed):
    """Java asks for us: its busiest thread may have waited for a processor."""
    run = Deadline(8)
    with subprocess.Popen(["sleep", "60"]) as child:
        run.children.append(child)
        machine.child = queued
        with pytest.raises(TimeoutError if blamed else TimeUpError):
            run.wait(silence(machine))
        assert run.waits_in_vain() == blamed
        run.end()


def test_a_thread_beside_shows_that_a_process_stood_still_whatever_it_does(machine, monkeypatch):
    run = Deadline(2)

    def stopped(seconds):
        machine.later(seconds + 1.5)

    monkeypatch.setattr(time, "sleep", stopped)
    run.account.stand_by(TICK)
    for _ in range(2):  # once only, also where it goes on
        assert run.overdue() == "this check got no processor time for 1.5 s of 2 s"


def test_a_thread_beside_that_waits_for_who_computes_shows_nothing(machine, monkeypatch):
    run = Deadline(2)
    monkeypatch.setattr(time, "sleep", lambda seconds: (machine.later(seconds), machine.compute(1.5)))
    run.account.stand_by(TICK)
    assert run.overdue() == "no verdict within 2 s"


def test_a_thread_beside_that_alone_is_late_shows_nothing(machine):
    run = Deadline(2)
    run.account.stand_by(0)  # and it does not come to look again
    with pytest.raises(TimeoutError):
        run.wait(silence(machine))
    assert run.account.shown() < TICK
