"""What the tests with real engines share."""

import pytest
import software
from making import make_install


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
