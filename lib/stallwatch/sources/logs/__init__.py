"""Logs, line by line: followed from run to run without losing or repeating a line, or read whole.

``Follow`` is what a check wants of a log that grows, ``Whole`` what it wants of one that somebody sent.
"""

from stallwatch.sources.logs.follow import Follow, Log, Whole
from stallwatch.sources.logs.rotation import named

__all__ = ["Follow", "Log", "Whole", "named"]
