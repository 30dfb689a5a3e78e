"""What check_bonding says of bonds of many kernels, word by word.

``make record`` writes the expected output anew; read the difference before you keep it.
"""

import os
import runpy
from pathlib import Path

import pytest
from stallwatch.sources import kernel

ROOT = Path(__file__).parents[2]
PLUGIN = runpy.run_path(str(ROOT / "plugins" / "check_bonding"))
KERNELS = Path(__file__).parent / "bonding"
NAMES = sorted(path.name for path in KERNELS.iterdir() if path.is_dir() and path.name != "expected")


@pytest.mark.parametrize("name", NAMES)
def test_recorded_bonds_are_told_as_expected(name, monkeypatch):
    monkeypatch.setattr(kernel, "BONDS", str(KERNELS / name))
    monkeypatch.setattr(kernel, "_NET", "/nowhere")
    status, text = PLUGIN["check"].run(PLUGIN["findings"], ["--no-state", "-v"])
    told = f"{text}\nexit status {status}\n"
    expected = KERNELS / "expected" / f"{name}.txt"
    if "STALLWATCH_RECORD" in os.environ:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(told)
    assert told == expected.read_text()


def test_every_expected_output_has_its_recording():
    assert sorted(path.stem for path in (KERNELS / "expected").glob("*.txt")) == NAMES
