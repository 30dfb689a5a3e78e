"""Importing a module without what comes with it and we do not use."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from types import ModuleType

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any


def without_package(package: str) -> AbstractContextManager[None]:
    """Let modules of ``package`` be imported from its folder; its ``__init__`` is not run."""
    found = None if package in sys.modules else PathFinder.find_spec(package)
    module: Any = ModuleType(package)
    module.__path__ = (found and found.submodule_search_locations) or []  # None: look anywhere
    return without(**{package: module} if found else {})


@contextmanager
def without(*absent: str, **instead: Any) -> Iterator[None]:
    """Let what is imported meanwhile go without some modules, unless they are loaded already.

    To import an ``absent`` one is an ImportError, as where it is not installed. Others are found as what
    is put ``instead``: an object with the names that are asked of it. Who imports them later gets them.
    For a process in which nobody else imports anything meanwhile: the modules are all threads'.
    """
    put = {**dict.fromkeys(absent), **instead}
    put = {name: module for name, module in put.items() if name not in sys.modules}
    try:
        sys.modules.update(put)
        yield
    finally:
        for name in put:
            sys.modules.pop(name, None)
