"""What check_ndb_log says about each recorded log, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import re
import runpy
from pathlib import Path

import pytest

LOGS = Path(__file__).parent / "ndb_log"
PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_log"))


def said(log: str) -> str:
    """The plugin's whole output about one log, with -v, and its exit status."""
    options = ["--whole", "-v", "--log", str(LOGS / log), "--timeout", "10m"]
    status, text = PLUGIN["check"].run(PLUGIN["findings"], options)
    return f"{text}\nexit status {status}\n"


@pytest.mark.parametrize("log", sorted(path.name for path in LOGS.glob("*.log")))
def test_a_recorded_log_is_told_as_expected(log):
    expected = LOGS / "expected" / f"{log.removesuffix('.log')}.txt"
    if "STALLWATCH_RECORD" in os.environ:
        expected.write_text(said(log))
    assert said(log) == expected.read_text()


def test_every_expected_output_has_its_log():
    logs = {path.name.removesuffix(".log") for path in LOGS.glob("*.log")}
    assert {path.stem for path in (LOGS / "expected").glob("*.txt")} == logs


def test_a_real_cluster_showed_every_verdict_on_a_stuck_thread():
    told = " ".join(path.read_text() for path in (LOGS / "expected").glob("*.txt"))
    verdicts = set(
        re.findall(
            r", ((?:probably )?(?:OS kernel busy|NDB kernel busy|process not running|too short))", told
        )
    )
    assert {"probably OS kernel busy", "NDB kernel busy", "process not running", "too short"} <= verdicts
