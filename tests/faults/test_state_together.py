"""Many runs at once with one state, some of them killed: nothing is lost, and nothing is judged twice."""

import contextlib
import json
import os
import random
import select
import subprocess
import sys
import time

from remembering import NodeLog

RUNS = 8  # at once
KILLS = 40
PATIENCE = 60  # seconds for one of them to say something
# Keeps tokens, and tells each one when it is kept.
COLLECT = """
import itertools, os, sys
from stallwatch.deadline import Deadline
from stallwatch.frame.state import memory

for number in itertools.count():
    problems = []
    with memory({"name": "demo"}, sys.argv[1], Deadline(60), problems) as kept:
        kept.setdefault("tokens", []).append(f"{sys.argv[2]}.{number}")
    said = " ".join([f"{sys.argv[2]}.{number}", *(problem.what for problem in problems)])
    os.write(1, f"{said}\\n".encode())  # at once: others write there, too, and print() may do it in pieces
"""


@contextlib.contextmanager
def ending_all():
    """A list of processes that end, whatever happens."""
    processes = []
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def more(pipe):
    """Wait until somebody has said more: that."""
    assert select.select([pipe], [], [], PATIENCE)[0]
    return pipe.read(1 << 16)


def test_what_a_run_has_kept_is_there_although_others_are_killed(state):
    chance = random.Random(8)  # when; who holds the lock then is not ours to say
    said, begun = b"", 0
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as told:
        with open(writing, "wb") as tell, ending_all() as running:
            for _ in range(KILLS):
                while len(running) < RUNS:
                    begun += 1
                    command = [sys.executable, "-c", COLLECT, state, str(begun)]
                    running.append(subprocess.Popen(command, stdout=tell))
                said += more(told)
                time.sleep(chance.uniform(0, 0.1))
                killed = running.pop(chance.randrange(RUNS))
                killed.kill()
                killed.wait()
        said += told.read()
    acknowledged = said.decode().splitlines()
    (file,) = state.glob("*.json")
    tokens = json.loads(file.read_text())["values"]["tokens"]
    assert len(acknowledged) >= KILLS
    assert len(tokens) == len(set(tokens))
    assert set(acknowledged) <= set(tokens), "lost, or something was wrong"
    assert len(tokens) - len(acknowledged) <= begun, "each was killed at one that it may have kept"


def test_runs_at_once_and_killed_ones_judge_each_line_of_a_log_once(state, tmp_path):
    chance = random.Random(9)
    subject = NodeLog(state, tmp_path / "log")
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    written = 2 * subject.HALF
    for _ in range(5):
        subject.write(written)
        written += subject.HALF
        command = [*subject.command(), "--timeout", "60s"]
        with ending_all() as running:
            running += [subprocess.Popen(command, **settings) for _ in range(4)]
            time.sleep(chance.uniform(0, 0.6))
            running[0].kill()
            running[1].kill()
            ends = [process.communicate(timeout=120) for process in running[2:]]
        for output, errors in ends:
            assert errors == ""
            assert "UNKNOWN" not in output
            assert f" stuck_episodes={written}" in output
        assert subject.judged() == list(range(written))
