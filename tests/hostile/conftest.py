"""Cells of the table, and what is healthy."""

import os
import tempfile
from pathlib import Path

import figures
import pytest
import runs
from healthy import Health


def pytest_configure(config):
    """Measure the time to the end where there is time for that."""
    runs.strict = config.getoption("all_cells")


def pytest_runtest_setup(item):
    """Say of a cell which plugin is in which trouble."""
    cell = item.get_closest_marker("cell")
    if cell:
        plugin = item.callspec.params["subject"].plugin
        item.user_properties.append(("cell", (cell.kwargs["trouble"], plugin)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Hand on how late the plugins of a test have ended: its report reaches figures.py, whoever ran it."""
    figures.lateness.clear()
    yield
    if figures.lateness:
        item.user_properties.append(("late", max(figures.lateness)))


@pytest.fixture
def home(tmp_path):
    """A home of the plugins of one test, where also their state is."""
    return tmp_path


@pytest.fixture(scope="module")
def healthy(request):
    """Gives, of a Subject, a calm one and the Place where it finds all well."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # pytest's own are for nobody else
        health = Health(request.getfixturevalue, Path(folder))
        yield health
        health.stop()


@pytest.fixture(autouse=True)
def _is_started(request):
    """Start the servers of a subject before its test, whose own time begins after that."""
    subject = getattr(request.node, "callspec", None) and request.node.callspec.params.get("subject")
    if subject and "healthy" in request.fixturenames:
        request.getfixturevalue("healthy")(subject)


@pytest.fixture
def strangers_home():
    """A home that any user can reach and write."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)
