"""Every input that once let a target fail, tried again: tests/fuzz/findings/TARGET/NAME."""

import fuzzing
from all_targets import TARGETS
from test_fuzzing import fuzzed


def test_what_was_found_once_does_not_come_again():
    told = fuzzed([], "--findings")
    assert [one for one in told if one["failures"]] == []
    assert sum(one["tried"] for one in told) == len([*fuzzing.FINDINGS.glob("*/*")]) > 0


def test_every_finding_belongs_to_a_target():
    assert {path.name for path in fuzzing.FINDINGS.iterdir()} <= TARGETS.keys()
