"""All targets withstand some thousand inputs, always the same ones: `make fuzz` tries others, for longer."""

import json
import os
import signal
import subprocess
import sys

import all_targets
import fuzzing
import pytest
from fuzzing import MEBIBYTES, SECONDS, Target, WrongError, tried
from mutation import mutated

PATIENCE = 600  # seconds, then it hangs


def fuzzed(names, *options):
    """What came of these targets in a process of their own, whose limits do not concern us."""
    command = [sys.executable, fuzzing.__file__, *options, *names]
    environment = os.environ | {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("family", all_targets.FAMILIES)
@pytest.mark.slow("some thousand inputs")
def test_only_our_own_errors_come_out_in_time_and_in_little_memory(family, note):
    targets = all_targets.OF[family]
    campaigns = fuzzed(targets)
    assert [told["target"] for told in campaigns] == [*targets], "one has ended the process"
    for told in campaigns:
        target = targets[told["target"]]
        assert told["failures"] == {}
        assert told["tried"] == target.count
        assert told["came_to"].keys() >= target.reach, told
    note("counted", ("inputs tried", sum(told["tried"] for told in campaigns)))


# whether a failure would be seen


@pytest.fixture
def prepared():
    """A process that is prepared but for its limit of memory, which is everybody's, as is its past."""
    before = signal.signal(signal.SIGPROF, fuzzing._too_slow)
    fuzzing._forget_peak()
    yield
    signal.signal(signal.SIGPROF, before)


def failure(run, errors=(ValueError,), seconds=30):
    """What is wrong with it; others' garbage and threads may take some of the time."""
    return tried(Target(run, list, errors), b"x", seconds).failure


def raising(error):
    def run(_):
        raise error

    return run


@pytest.mark.usefixtures("prepared")
def test_what_withstands_does_not_fail():
    assert failure(lambda _: "value") is None
    assert failure(raising(ValueError())) is None


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize(
    "error", [KeyError("x"), RecursionError(), MemoryError(), SystemExit(1), AssertionError()]
)
def test_an_error_that_is_not_ours_fails(error):
    assert type(error).__name__ in failure(raising(error)).where


@pytest.mark.usefixtures("prepared")
def test_a_wrong_end_fails():
    assert (
        failure(raising(WrongError("a range reads back as another one"))).where
        == "a range reads back as another one"
    )


@pytest.mark.usefixtures("prepared")
def test_who_takes_too_long_fails_and_is_stopped():
    def forever(_):
        while True:
            pass

    assert "TooSlowError" in failure(forever, seconds=0.2).where


@pytest.mark.usefixtures("prepared")
def test_who_takes_too_much_memory_fails():
    greedy = Target(lambda _: str(len(b"x" * (2 * MEBIBYTES << 20))), list)
    assert tried(greedy, b"x", seconds=30).failure.where == "too much memory"


def test_the_limits_are_those_that_are_promised():
    assert (SECONDS, MEBIBYTES) == (1.0, 64)


def test_the_same_number_gives_the_same_input():
    inputs = [mutated(f"x {number}", [b"a=1\nb=2\n"], (b"z",), 100) for number in range(200)]
    assert inputs == [mutated(f"x {number}", [b"a=1\nb=2\n"], (b"z",), 100) for number in range(200)]
    assert len(set(inputs)) > 150
    assert max(map(len, inputs)) == 100
