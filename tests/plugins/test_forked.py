"""Runs of plugins in forks: what is run is ended in time, and gives its status to nobody else."""

import subprocess

import pytest
from forked import Forks

SLOW = """import sys, time
time.sleep(float(sys.argv[1]))
sys.exit(int(sys.argv[2]))
"""


def test_a_run_that_takes_too_long_is_killed_and_the_next_one_has_its_own_status(tmp_path):
    plugin = tmp_path / "check_slow"
    plugin.write_text(SLOW)
    with Forks() as forks:

        def run(seconds, status, timeout):
            words = [str(plugin), str(seconds), str(status)]
            return forks(words, tmp_path, {}, tmp_path, timeout).returncode

        assert run(0, 1, 60) == 1
        with pytest.raises(subprocess.TimeoutExpired):
            run(60, 2, 0.2)
        assert run(0, 3, 60) == 3
