"""Workers that run the tests side by side: each takes the longest share that is left (see groups.py).

A plugin of pytest, for pytest-xdist: ``pytest -n 8``.
"""

import groups
import pytest
from levels import known_durations
from xdist.scheduler import LoadScopeScheduling


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Bring the tests into the order in which their shares are handed out, in every worker the same."""
    if hasattr(config, "workerinput"):
        share = groups.shares([item.nodeid for item in items], known_durations())
        rank = {name: number for number, name in enumerate(dict.fromkeys(share.values()))}
        items.sort(key=lambda item: rank[share[item.nodeid]])


def pytest_xdist_make_scheduler(config, log):
    """Hand out shares."""
    config.option.loadscopereorder = False  # the order is that of the collection
    return Shares(config, log)


class Shares(LoadScopeScheduling):
    """Hands out whole shares, in the order of the collection."""

    def schedule(self):
        """As the original, which asks for the scope of each test."""
        self._shares = groups.shares(next(iter(self.registered_collections.values())), known_durations())
        super().schedule()

    def _split_scope(self, nodeid):
        return self._shares[nodeid]
