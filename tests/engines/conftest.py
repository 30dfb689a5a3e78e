"""What the tests with real engines share."""

import engine_user
import pytest
import software
from making import make_install


@pytest.fixture
def open_path():
    """A folder that the user gets to that engines run as: every start of pytest closes pytest's own."""
    with engine_user.open_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def installed(shared_folder):
    """The folder into which the suite is installed, once a run: its plugins are in lib/stallwatch/bin."""
    prefix, done = shared_folder / "installed", shared_folder / "is-installed"
    with software.alone("install", shared_folder):
        if not done.exists():
            made = make_install(f"PREFIX={prefix}", f"PLUGINDIR={prefix}/plugins")
            assert made.returncode == 0, made.stderr
            done.touch()
    return prefix
