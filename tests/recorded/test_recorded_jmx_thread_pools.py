"""What check_jmx_thread_pools says about each recorded JVM, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import runpy
from pathlib import Path

import pytest
from recorded_jvm import RecordedJvm
from stallwatch.sources import recording

JVMS = Path(__file__).parent / "jmx_thread_pools"
PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_jmx_thread_pools"))


@pytest.fixture
def said(monkeypatch):
    """The plugin's whole output about a recorded JVM, with -v, on a first run, and its exit status."""

    def said(jvm):
        recorded = RecordedJvm.load(JVMS / jvm)
        monkeypatch.setattr("time.sleep", lambda _: None)  # the second look finds all as it was
        options = ["-P", "7199", "--no-state", "-v", "-t", "10m"]
        with recording.use(recorded):
            status, text = PLUGIN["check"].run(PLUGIN["findings"], options)
        return f"{text}\nexit status {status}\n"

    return said


@pytest.mark.parametrize("jvm", sorted(path.name for path in JVMS.glob("*.json")))
def test_a_recorded_jvm_is_told_as_expected(jvm, said):
    expected = JVMS / "expected" / f"{jvm.removesuffix('.json')}.txt"
    if "STALLWATCH_RECORD" in os.environ:
        expected.write_text(said(jvm))
    assert said(jvm) == expected.read_text()


def test_every_expected_output_has_its_jvm():
    jvms = {path.stem for path in JVMS.glob("*.json")}
    assert {path.stem for path in (JVMS / "expected").glob("*.txt")} == jvms
