"""R30 to R34: a host that gives its server too little, and busy hosts on which nothing is wrong."""

import os

import psutil
import pytest
from replication_signals import APPLIER, applier, case, looks
from stallwatch.probes.mysql.processes import Thread
from stallwatch.probes.replication_lag.causes import explain, starved
from stallwatch.probes.replication_lag.history import ANSWERS, Memory
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.queries import Facts
from stallwatch.probes.replication_lag.signals import Answers, Host, hunger
from stallwatch.probes.replication_lag.signals.hunger import Hunger, OwnThreads
from stallwatch.sources import kernel, processes
from stallwatch.sources.kernel import Processor
from stallwatch.sources.mysql.process_here import ProcessHere

APPLIES_AS, RECEIVES_AS, OTHER = 4711, 4712, 4713  # ids of threads
THREADS = (Thread(61, APPLIER, APPLIES_AS), Thread(62, 11, RECEIVES_AS, receives=True))
SMALL = Lag(seconds=2.0, high=2.0)
SLOW_LINK = Lag(seconds=30.0, high=31.0, transport=29.0, apply=1.0)
RAISE = "raise the CPU limit"


def hungry(lag=None, busy=None, threads=THREADS, **found):
    """A channel that lags on a host where this was seen."""
    return case(lag=lag, threads=threads, host=Host(busy_threads=busy or {}, hunger=Hunger(**found)))


# R30


def test_r30_a_cpu_limit():
    found = starved.r30_applier_starved(hungry(exhausted=97.0, waits={APPLIES_AS: 84.4}))
    assert found.what == "mysqld is throttled by its CPU limit (the applier waits 84 % of the time)"
    assert found.advice == RAISE
    assert found.score == 77
    assert found.more == ("its control group has used up the limit in 97 % of the periods",)


def test_r30_a_cpu_limit_where_no_thread_is_known():
    found = starved.r30_applier_starved(hungry(exhausted=97.0))
    assert found.what == "mysqld is throttled: its CPU limit is used up in 97 % of the periods"


def test_r30_others_take_the_processors():
    found = starved.r30_applier_starved(hungry(waits={APPLIES_AS: 70.0, OTHER: 99.0}))
    assert found.what == "the applier is starved: it waits for a processor 70 % of the time"
    assert found.score == 63


@pytest.mark.parametrize(
    ("exhausted", "waits"),
    [
        (0.0, {}),
        (40.0, {}),  # a limit that is met now and then
        (0.0, {APPLIES_AS: 45.0}),  # a busy host
        (100.0, {APPLIES_AS: 3.0}),  # clients are throttled, the applier waits for something else
        (0.0, {OTHER: 99.0, RECEIVES_AS: 99.0}),
    ],
)
def test_r30_against(exhausted, waits):
    assert starved.r30_applier_starved(hungry(exhausted=exhausted, waits=waits)) is None


def test_r30_a_replica_that_keeps_up_is_not_starved():
    assert starved.r30_applier_starved(hungry(SMALL, exhausted=100.0, waits={APPLIES_AS: 90.0})) is None
    assert starved.r30_applier_starved(case()) is None  # it is not on our host


def test_r30_beside_an_applier_that_is_simply_busy():
    at_work = hungry(busy={APPLIES_AS: 99.0}, waits={APPLIES_AS: 1.0})
    single = at_work._replace(signals=at_work.signals._replace(settings={"replica_parallel_workers": "1"}))
    assert [one.rule for one in explain(single)] == ["R16"]


def test_r30_is_told_before_what_follows_from_it():
    commits = looks(applier("waiting for handler commit"))
    one = hungry(exhausted=100.0, waits={APPLIES_AS: 80.0})
    one = one._replace(signals=one.signals._replace(looks=commits))
    assert [cause.rule for cause in explain(one)] == ["R30"]


# R31


def test_r31_a_receiver_that_gets_no_processor_is_no_slow_link():
    found = explain(hungry(SLOW_LINK, exhausted=100.0, waits={RECEIVES_AS: 80.0}))
    assert [cause.rule for cause in found] == ["R31"]
    assert found[0].what == "mysqld is throttled by its CPU limit (the receiver waits 80 % of the time)"


def test_r31_a_slow_link_of_a_busy_host():
    found = explain(hungry(SLOW_LINK, exhausted=40.0, waits={RECEIVES_AS: 30.0}))
    assert [cause.rule for cause in found] == ["R8"]
    assert explain(hungry(SLOW_LINK, exhausted=100.0, waits={RECEIVES_AS: 3.0}))[0].rule == "R8"


def test_r31_two_receivers_of_which_nothing_tells_which_is_ours():
    another = Thread(63, 14, OTHER, receives=True)
    both = hungry(SLOW_LINK, threads=(*THREADS, another), waits={RECEIVES_AS: 0.0, OTHER: 80.0})
    assert starved.r31_receiver_starved(both) is None


def test_r31_the_receiver_of_an_applier_that_is_slow():
    assert starved.r31_receiver_starved(hungry(waits={RECEIVES_AS: 80.0})) is None


# R32


ANSWERED = Answers(now=1.2, usual=0.002, network=0.001)


def test_r32_a_server_elsewhere_that_is_slow_to_answer():
    found = starved.r32_slow_to_answer(case(answers=ANSWERED))
    assert found.what == "the host is probably starved: a log-in takes 1.2 s instead of 2 ms"
    assert found.score == 52


@pytest.mark.parametrize(
    "changes",
    [
        {"now": 0.15},
        {"usual": 0.2},
        {"network": 0.2},  # so it is the network
        {"network": 0.0},  # so nobody knows
    ],
)
def test_r32_against(changes):
    assert starved.r32_slow_to_answer(case(answers=ANSWERED._replace(**changes))) is None
    assert starved.r32_slow_to_answer(case(answers=ANSWERED, lag=SMALL)) is None
    assert starved.r32_slow_to_answer(case()) is None


def test_r32_what_we_have_waited_for_ourselves_is_not_the_replica_s(monkeypatch):
    """Our host is busy, or gives us little of a processor."""
    monkeypatch.setattr(processes, "thread_waits", lambda _: 1.15)
    own = Answers.of(1.2, 0.002, 0.001)
    assert own.now == pytest.approx(0.05)
    assert starved.r32_slow_to_answer(case(answers=own)) is None
    monkeypatch.setattr(processes, "thread_waits", lambda _: None)
    assert Answers.of(1.2, 0.002, 0.001) == ANSWERED


def remembering(memory):
    return Memory(memory, Facts(now=0.0, server_id=1, uptime=100.0, net_timeout=60.0), 0.0)


def test_what_is_usual():
    kept = {}
    told = [remembering(kept).usual_answer(0.001 * number) for number in range(1, 10)]
    assert told[:5] == [None] * 5
    assert told[5:] == [0.003, 0.004, 0.004, 0.005]
    assert remembering(kept).usual_answer(5.0) == 0.005
    assert max(kept["answers"]) == 0.01  # one that takes long does not change what is usual
    for _ in range(ANSWERS):
        remembering(kept).usual_answer(0.001)
    assert kept["answers"] == [0.001] * ANSWERS


def test_what_is_usual_of_another_server():
    kept = {}
    for _ in range(ANSWERS):
        remembering(kept).usual_answer(0.001)
    another = Memory(kept, Facts(now=0.0, server_id=2, uptime=100.0, net_timeout=60.0), 0.0)
    assert another.usual_answer(0.001) is None
    assert kept["answers"] == [0.001]


@pytest.mark.parametrize("kept", [None, "x", {"a": 1}, ["x", None, float("nan")]])
def test_answers_of_a_state_file_that_makes_no_sense(kept):
    memory = {}
    remembering(memory)
    memory["answers"] = kept
    assert remembering(memory).usual_answer(0.001) is None
    assert memory["answers"] == [0.001]


# R33, R34


def test_r33_a_hypervisor_that_takes_the_processors():
    found = starved.r33_stolen(hungry(busy={APPLIES_AS: 60.0}, waits={APPLIES_AS: 20.0}, stolen=35.0))
    assert found.what == "the host is probably starved: 35 % of its processor time is stolen (steal)"


def test_r33_against():
    assert starved.r33_stolen(hungry(busy={APPLIES_AS: 90.0}, stolen=10.0)) is None
    assert starved.r33_stolen(hungry(busy={APPLIES_AS: 20.0}, stolen=60.0)) is None  # it wants little
    assert starved.r33_stolen(hungry(SMALL, busy={APPLIES_AS: 90.0}, stolen=60.0)) is None
    assert starved.r33_stolen(case()) is None


def test_r34_memory_that_is_short():
    found = starved.r34_memory_short(hungry(faults=312.0, memory=40.0))
    assert found.what == "mysqld is probably swapping: it waits for 312 pages/s from disk (major faults)"


@pytest.mark.parametrize(("faults", "memory"), [(312.0, 5.0), (10.0, 80.0)])
def test_r34_against(faults, memory):
    assert starved.r34_memory_short(hungry(faults=faults, memory=memory)) is None
    assert starved.r34_memory_short(hungry(SMALL, faults=312.0, memory=80.0)) is None
    assert starved.r34_memory_short(case()) is None


# what is seen


def test_what_our_own_threads_wait_for(monkeypatch, clock):
    here = os.getpid()
    [first, *_] = psutil.Process(here).threads()
    own = OwnThreads(ProcessHere(here), (Thread(1, 1, first.id), Thread(2, 2, 1), Thread(3, 3, None)))
    assert own.hunger() == Hunger()  # too little time has passed
    waited = [0.0, 0.9]
    monkeypatch.setattr(hunger, "thread_waits", lambda _: waited[-1])
    own = OwnThreads(ProcessHere(here), (Thread(1, 1, first.id),))
    waited.append(1.4)
    clock.later(1)
    assert own.hunger().waits[first.id] == pytest.approx(50.0)


def test_threads_of_another_process_are_none_of_ours():
    own = OwnThreads(ProcessHere(os.getpid()), (Thread(1, 1, os.getppid()),))
    assert own._before == {}


def test_stolen_time():
    before = Processor(10.0, 0.0, 10.0, 80.0, steal=1.0, guest=9.0)
    after = Processor(20.0, 0.0, 20.0, 120.0, steal=21.0, guest=19.0)
    assert hunger._stolen(before, after) == 25.0
    assert hunger._stolen(before, before) == hunger._stolen(None, after) == 0.0


def test_a_host_that_tells_nothing(tmp_path, monkeypatch, clock):
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))
    own = OwnThreads(ProcessHere(1), ())
    clock.later(1)
    assert own.hunger() == Hunger()
