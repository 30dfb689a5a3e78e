"""What check_host says of recorded hosts, word by word: two looks at each.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import runpy
import time
from pathlib import Path

import pytest
from stallwatch.sources import kernel

ROOT = Path(__file__).parents[2]
PLUGIN = runpy.run_path(str(ROOT / "plugins" / "check_host"))
HOSTS = Path(__file__).parent / "host"
NAMES = sorted(path.name for path in HOSTS.iterdir() if path.is_dir() and path.name != "expected")


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_host_is_told_as_expected(name, monkeypatch, tmp_path):
    told = ""
    for look in sorted((HOSTS / name).iterdir()):
        monkeypatch.setattr(kernel, "PLACE", str(look))
        uptime = float((look / "uptime").read_text().split()[0])
        monkeypatch.setattr(time, "time", lambda at=uptime: 1_795_000_000 + at)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(99)))
        status, text = PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(tmp_path), "-v"])
        told += f"{text}\nexit status {status}\n\n"
    expected = HOSTS / "expected" / f"{name}.txt"
    if "STALLWATCH_RECORD" in os.environ:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(told)
    assert told == expected.read_text()


def test_every_expected_output_has_its_recording():
    assert sorted(path.stem for path in (HOSTS / "expected").glob("*.txt")) == NAMES
