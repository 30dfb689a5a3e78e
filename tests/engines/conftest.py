"""What the tests with real engines share."""

import subprocess
from pathlib import Path

import engine_user
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def open_path():
    """A folder that the user gets to that engines run as: every start of pytest closes pytest's own."""
    with engine_user.open_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def installed():
    """The folder into which the suite is installed, once a run: its plugins are in lib/stallwatch/bin."""
    with engine_user.open_folder() as prefix:
        places = (f"PREFIX={prefix}", f"PLUGINDIR={prefix}/plugins")
        done = subprocess.run(
            ["make", "-s", "install", *places], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        yield prefix
