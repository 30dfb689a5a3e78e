"""What a test needs and Debian has."""

import contextlib
import os
import sys

import pytest
import software


@contextlib.contextmanager
def installable():
    """Skip what needs software that is not here; not in CI: there it can be installed."""
    try:
        yield
    except software.Missing as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))


def impossible(reason):
    """Skip what this machine does not let us do; not in CI as root of a Linux: he may."""
    may = os.environ.get("CI") and sys.platform == "linux" and os.geteuid() == 0
    (pytest.fail if may else pytest.skip)(reason)


@contextlib.contextmanager
def obtained(make, *arguments, **settings):
    """A context with the server that make(...) gives, of software that can be installed."""
    with contextlib.ExitStack() as server:
        with installable():
            started = server.enter_context(make(*arguments, **settings))
        yield started
