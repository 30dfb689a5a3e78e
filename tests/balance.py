"""Workers that run the tests side by side: each takes the longest share that is left (see groups.py).

A plugin of pytest, for pytest-xdist: ``pytest -n 8``. One process alone runs the tests in their order.
"""

import shutil
import tempfile
from pathlib import Path

import groups
import pytest
from levels import known_durations


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Bring the tests into the order in which their shares are handed out, in every worker the same."""
    if hasattr(config, "workerinput"):
        share = groups.shares([item.nodeid for item in items], known_durations())
        rank = {name: number for number, name in enumerate(dict.fromkeys(share.values()))}
        items.sort(key=lambda item: rank[share[item.nodeid]])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out whole shares, in the order of the collection."""
    from xdist.scheduler import LoadScopeScheduling

    class Shares(LoadScopeScheduling):
        def schedule(self):
            """As the original, which asks for the scope of each test."""
            nodeids = next(iter(self.registered_collections.values()))
            self.shares = groups.shares(nodeids, known_durations())
            super().schedule()

        def _split_scope(self, nodeid):
            return self.shares[nodeid]

    config.option.loadscopereorder = False
    return Shares(config, log)


# what is made once for all workers


def pytest_configure(config):
    """Make a folder that all workers of the run share, and every user can read."""
    if hasattr(config, "workerinput"):
        config.shared_folder = config.workerinput["shared_folder"]
    else:
        config.shared_folder = tempfile.mkdtemp(prefix="stallwatch-")
        Path(config.shared_folder).chmod(0o755)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell a worker where that is."""
    node.workerinput["shared_folder"] = node.config.shared_folder


def pytest_unconfigure(config):
    """Remove it."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.shared_folder, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_folder(request):
    """A folder that all workers of the run share; what is made in it, is made by the first who needs it."""
    return Path(request.config.shared_folder)
