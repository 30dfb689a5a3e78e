"""Which cells of the table are run, and what they came to."""

from pathlib import Path

import pytest
import runs
from figures import Figures

FIGURES = Figures()


def pytest_collection_modifyitems(config, items):
    """Leave out what is not representative, unless all is asked for."""
    if config.getoption("all_cells"):
        return
    left_out = [item for item in items if item.get_closest_marker("only_in_all_cells")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("only_in_all_cells")]


def pytest_configure(config):
    """Measure the time to the end where there is time for that."""
    runs.strict = config.getoption("all_cells")


def pytest_runtest_setup(item):
    """Say of a cell which trouble it is."""
    cell = item.get_closest_marker("cell")
    if cell:
        item.user_properties.append(("trouble", cell.kwargs["trouble"]))


def pytest_runtest_logreport(report):
    """Count it."""
    FIGURES.add(report)


def pytest_sessionfinish(session, exitstatus):
    """Keep the figures of a run of everything that went well."""
    asked_for = {Path(argument).name for argument in session.config.args}
    if (
        session.config.getoption("all_cells")
        and exitstatus == pytest.ExitCode.OK
        and asked_for & {"tests", "hostile"}
    ):
        FIGURES.write()


@pytest.fixture
def home(tmp_path):
    """A home of the plugins of one test, where also their state is."""
    return tmp_path
