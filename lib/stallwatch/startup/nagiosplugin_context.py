"""What judges values in nagiosplugin, which a run needs only in its end, without the rest of the package."""

from __future__ import annotations

from stallwatch.startup.imports import without_package

with without_package("nagiosplugin"):
    from nagiosplugin.context import Context
    from nagiosplugin.metric import Metric
    from nagiosplugin.result import Result

__all__ = ["Context", "Metric", "Result"]
