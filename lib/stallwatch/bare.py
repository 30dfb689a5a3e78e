"""Importing a module of a package without the package's own beginning."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from types import ModuleType

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def bare(package: str) -> Iterator[None]:
    """Let modules of ``package`` be imported from its folder; its ``__init__`` is not run.

    nagiosplugin 1.4.0 begins with the Runtime that we do not use, for which it imports logging, tempfile,
    json and traceback.
    """
    found = None if package in sys.modules else PathFinder.find_spec(package)
    if found:
        sys.modules[package] = module = ModuleType(package)
        module.__path__ = found.submodule_search_locations or []
    try:
        yield
    finally:
        if found:
            del sys.modules[package]  # whoever wants the whole package gets it
