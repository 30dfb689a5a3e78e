"""One process runs all plugins many times, in random order, and nothing of a run is left in it."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("many_runs.py")


def left(folder, count, fresh):
    """What so many runs, each twice, leave behind, or say otherwise than the first run of a process."""
    seed = int(os.environ.get("STALLWATCH_SEED") or random.randrange(1 << 32))
    print(f"STALLWATCH_SEED={seed} repeats it")  # noqa: T201 - pytest shows it if the test fails
    command = [sys.executable, SCRIPT, folder, str(count), str(fresh), str(seed)]
    # With these allocators what is freed is overwritten: a secret in memory is one that somebody has.
    path = os.pathsep.join(str(SCRIPT.parents[1] / name) for name in ("recorded", "unit", "hostile", "live"))
    clean = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONMALLOC": "debug", "PYTHONPATH": path}
    ran = subprocess.run(command, env=clean, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(ran.stdout)
    print(told)  # noqa: T201
    assert told["runs"] == 2 * count
    return told["differences"]


@pytest.mark.slow("400 runs of plugins, and 60 in processes of their own")
def test_hundreds_of_runs_in_one_process_leave_nothing_behind(tmp_path):
    assert left(tmp_path, 200, 60) == []


@pytest.mark.only_in_all_cells
@pytest.mark.slow("4000 runs of plugins, and 700 in processes of their own")
def test_thousands_of_runs_in_one_process_leave_nothing_behind(tmp_path):
    assert left(tmp_path, 2000, 700) == []
