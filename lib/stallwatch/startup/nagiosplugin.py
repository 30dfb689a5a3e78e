"""Range and states of nagiosplugin without the rest of it, which imports logging and tempfile."""

from __future__ import annotations

from stallwatch.startup.imports import without_package

with without_package("nagiosplugin"):
    from nagiosplugin.range import Range
    from nagiosplugin.state import Critical, Ok, Unknown, Warn

__all__ = ["Critical", "Ok", "Range", "Unknown", "Warn"]
