"""nagiosplugin's Range without the rest of the package, which imports logging, tempfile and traceback."""

from __future__ import annotations

from stallwatch.startup.imports import without_package

with without_package("nagiosplugin"):
    from nagiosplugin.range import Range

__all__ = ["Range"]
