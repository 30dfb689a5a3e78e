"""Which cells of the table are run."""

import pytest


def pytest_collection_modifyitems(config, items):
    """Leave out what is not representative, unless all is asked for."""
    if config.getoption("all_cells"):
        return
    left_out = [item for item in items if item.get_closest_marker("only_in_all_cells")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("only_in_all_cells")]


@pytest.fixture
def home(tmp_path):
    """A home of the plugins of one test, where also their state is."""
    return tmp_path
