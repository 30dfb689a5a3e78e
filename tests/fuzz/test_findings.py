"""Every input that once let a target fail, tried again: tests/fuzz/findings/TARGET/NAME."""

import json
import subprocess
import sys

import fuzzing
from all_targets import TARGETS

PATIENCE = 600  # seconds, then it hangs


def test_what_was_found_once_does_not_come_again():
    command = [sys.executable, fuzzing.__file__, "--findings"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr[-4000:]
    told = [json.loads(line) for line in run.stdout.splitlines()]
    assert [one for one in told if one["failures"]] == []
    assert sum(one["tried"] for one in told) == len([*fuzzing.FINDINGS.glob("*/*")]) > 0


def test_every_finding_belongs_to_a_target():
    assert {path.name for path in fuzzing.FINDINGS.iterdir()} <= TARGETS.keys()
