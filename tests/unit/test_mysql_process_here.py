"""Why a server of this host does not answer, as its process shows."""

import subprocess
import sys
import time

import psutil
import pytest
from stallwatch.sources import control_groups, kernel, processes
from stallwatch.sources.control_groups import Rationed
from stallwatch.sources.mysql import no_answer, process_here
from stallwatch.sources.mysql.no_answer import Asked
from stallwatch.sources.mysql.process_here import ProcessHere, Why


@pytest.fixture
def child():
    """A process that sleeps."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield psutil.Process(process.pid)
    process.kill()
    process.wait()
    process.stdin.close()


def test_a_process_that_runs(child):
    assert ProcessHere(child.pid).why() is None


def test_a_process_that_is_gone():
    assert ProcessHere(0).why() is None


def test_a_process_that_is_stopped(child):
    child.suspend()
    until = time.monotonic() + 120
    while child.status() != psutil.STATUS_STOPPED and time.monotonic() < until:
        time.sleep(0.01)
    why = ProcessHere(child.pid).why()
    assert why.what == f"mysqld does not respond: process {child.pid} is stopped, state T"
    assert why.advice == f"find who stopped it, then kill -CONT {child.pid}"


def test_a_process_that_waits_in_the_kernel(child, monkeypatch):
    stuck = processes.Task(child.pid, "mysqld", "D", 1, 0, 0, 0.0, 0.0, 1, 0.0)
    monkeypatch.setattr(processes, "task", lambda _: stuck)
    assert ProcessHere(child.pid).why().what.endswith("probably waits for a disk, state D")


def test_a_process_that_waits_for_a_moment_is_not_stuck(child, monkeypatch):
    stuck = processes.Task(child.pid, "mysqld", "D", 1, 0, 0, 0.0, 0.0, 1, 0.0)
    looks = iter([stuck, stuck, stuck._replace(state="S")])
    monkeypatch.setattr(processes, "task", lambda _: next(looks))
    assert ProcessHere(child.pid).why() is None


def test_a_frozen_group_comes_first(child, monkeypatch):
    monkeypatch.setattr(control_groups, "is_frozen", lambda _: True)
    child.suspend()
    assert ProcessHere(child.pid).why().what.endswith(f"the control group of process {child.pid} is frozen")


@pytest.mark.parametrize(("waited", "known"), [(9, True), (4, False)])
def test_a_limit_of_the_control_group(child, monkeypatch, clock, waited, known):
    seen = [{"a": Rationed(100, 20)}, {"a": Rationed(110, 20 + waited)}]
    monkeypatch.setattr(control_groups, "rationed", lambda _: seen.pop(0))
    here = ProcessHere(child.pid)
    clock.later(1)
    why = here.why()
    assert (why is not None) == known
    if known:
        throttled = "mysqld is throttled: its CPU limit is used up in 90 % of the periods"
        assert why == Why(throttled, "raise the CPU limit")


@pytest.mark.usefixtures("clock")
def test_too_short_a_look_at_the_limit_tells_nothing(child, monkeypatch):
    seen = [{}, {"a": Rationed(1, 1)}]
    monkeypatch.setattr(control_groups, "rationed", lambda _: seen.pop(0))
    assert ProcessHere(child.pid).exhausted() == 0.0


def test_only_a_server_is_found(child):
    assert process_here.found(child.pid, None) is None
    assert process_here.found(0, None) is None
    assert process_here.found(0, 1) is None


@pytest.mark.parametrize(
    "why", [None, Why("mysqld does not respond: process 7 is stopped, state T", "do it")]
)
def test_a_statement_without_an_answer_says_why(why):
    asked = Asked("SELECT 1", "db1", "mon", "mon@%", 2.0, lambda: why)
    error = no_answer.reason(TimeoutError(), asked)
    if why:
        assert error.what == f"{why.what} (db1 has not answered within 2 s)"
        assert error.advice == "do it"
    else:
        assert error.what == "db1 has not answered within 2 s: asked SELECT 1"


# threads


def test_how_long_a_thread_waited_for_a_processor(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))
    assert processes.thread_waits(7) is None
    (tmp_path / "7/task/7").mkdir(parents=True)
    schedule = tmp_path / "7/task/7/schedstat"
    for told, waited in (("5000 2500000000 3\n", 2.5), ("0 0 0\n", None), ("x\n", None), ("", None)):
        schedule.write_text(told)
        assert processes.thread_waits(7) == waited


def test_whose_thread_it_is():
    here = psutil.Process()
    assert {processes.process_of(one.id) for one in here.threads()} == {here.pid}
    assert processes.process_of(0) is None


def test_how_long_tasks_stalled(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))
    assert kernel.stalled("memory") is None
    (tmp_path / "pressure").mkdir()
    line = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
    (tmp_path / "pressure/memory").write_text(line.format(2_500_000))
    assert kernel.stalled("memory") == 2.5
    (tmp_path / "pressure/memory").write_text("some\n")
    assert kernel.stalled("memory") is None
