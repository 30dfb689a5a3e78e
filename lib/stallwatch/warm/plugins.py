"""All plugins, loaded once: before workers are forked, so that they share the memory of it."""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages

import stallwatch
from stallwatch.declared import every
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.frame.check import Check, Findings

_NOT_OF_CHECKS = ("stallwatch.experiment", "stallwatch.discovery", "stallwatch.warm")


def loaded() -> dict[str, tuple[Check, Findings]]:
    """Import all that checks may import, and give what each plugin runs, by its name as check_host.

    What cannot be imported here (an extra that is not installed) is left to the run that needs it.
    """
    for module in walk_packages(stallwatch.__path__, "stallwatch."):
        if not module.name.startswith(_NOT_OF_CHECKS):
            with suppress(ImportError):
                import_module(module.name)
    found = {}
    for name in every():
        options = import_module(f"stallwatch.probes.{name}.options")
        found[f"check_{name}"] = (options.check, options.findings)
    gc.collect()
    gc.freeze()  # a collection in a worker does not touch, and so copy, what all share
    return found
