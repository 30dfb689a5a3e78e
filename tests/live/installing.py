"""What a test needs and Debian has."""

import contextlib
import os

import pytest
import software


@contextlib.contextmanager
def installable():
    """Skip what needs software that is not here; not in CI: there it can be installed."""
    try:
        yield
    except software.Missing as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))
