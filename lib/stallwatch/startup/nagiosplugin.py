"""What judges values in nagiosplugin, without the rest of it, which imports logging and tempfile."""

from __future__ import annotations

from stallwatch.startup.imports import without_package

with without_package("nagiosplugin"):
    from nagiosplugin.context import Context
    from nagiosplugin.metric import Metric
    from nagiosplugin.range import Range
    from nagiosplugin.result import Result
    from nagiosplugin.state import Critical, Ok, Unknown, Warn

__all__ = ["Context", "Critical", "Metric", "Ok", "Range", "Result", "Unknown", "Warn"]
