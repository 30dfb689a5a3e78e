"""A plugin whose installation is broken says so, and leaves with 3: Python itself would leave with 1."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = sorted((ROOT / "plugins").iterdir())
BROKEN = {"a syntax of a later Python": "match = = 1\n", "a name that is missing": "missing_name\n"}


@pytest.mark.parametrize("how", BROKEN)
def test_it_is_unknown(how, tmp_path):
    library, compiled = ROOT / "lib" / "stallwatch", shutil.ignore_patterns("*.pyc")
    shutil.copytree(library, tmp_path / "stallwatch", ignore=compiled)
    units = tmp_path / "stallwatch" / "units.py"
    units.write_text(BROKEN[how] + units.read_text())
    for plugin in PLUGINS:
        done = subprocess.run(
            [sys.executable, plugin, "--help"], env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (3, ""), (plugin, done)
        (line,) = done.stdout.splitlines()
        assert " UNKNOWN - " in line
        assert line.endswith(": install stallwatch, or set PYTHONPATH=lib (see README.md)")


def test_in_a_folder_that_is_not_installed_it_says_how_to_run_it():
    """Also for --help. Nothing is looked for beside the plugin: that folder may be anybody's."""
    for plugin in PLUGINS:
        done = subprocess.run(
            [sys.executable, "-S", plugin, "--help"], env={"PATH": os.environ["PATH"]},
            capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
        name = plugin.name.removeprefix("check_").upper()
        told = "install stallwatch, or set PYTHONPATH=lib (see README.md)"
        assert done.stdout == f"{name} UNKNOWN - No module named 'stallwatch': {told}\n"
        assert (done.returncode, done.stderr) == (3, "")
