"""The quantities that are judged, and what the runs of a query come to in numbers."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

P95, P50, MAX, CONNECTION, ROWS = "p95", "p50", "max", "connection", "rows"


class Answer(NamedTuple):
    """How long one run took, and what ``Skimmed`` tells; ``cut``: we gave up on it then."""

    seconds: float
    rows: int | None = None
    first: str | None = None
    cut: bool = False


def percentile(values: Iterable[float], share: int) -> float:
    """Give the least of the values that ``share`` per cent of them do not exceed; there is at least one.

    That is the nearest rank, definition 1 of Hyndman and Fan, "Sample Quantiles in Statistical Packages"
    (The American Statistician, 1996): always a value that was measured, never one between two of them.
    """
    ranked = sorted(values)
    return ranked[max(0, -(-share * len(ranked) // 100) - 1)]
