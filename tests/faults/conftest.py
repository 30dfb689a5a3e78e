"""What the tests of faults share: strace, and a place for state."""

import pytest
import software
from injected import Strace
from installing import impossible, installable


@pytest.fixture(scope="session")
def strace(tmp_path_factory):
    """Runs commands, and lets a system call of theirs fail or be their last."""
    with installable():
        strace = Strace(software.program("strace", "strace"), tmp_path_factory.mktemp("strace"))
    if reason := strace.unavailable():
        impossible(reason)
    return strace


@pytest.fixture
def every(request):
    """Of how many system calls of a plugin one is tampered with: a run of a plugin takes its time."""
    return 1 if request.config.getoption("all_cells") else 3


@pytest.fixture
def state(tmp_path):
    """A directory for state, not there yet, of whose path nothing else has a part."""
    return tmp_path / "the-state"
