"""Words that the probes of NDB Cluster share."""

from __future__ import annotations

from stallwatch import words
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import FEW, are, have, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FEW", "LABELLED", "are", "have", "listed", "named"]

LABELLED = 4  # nodes that have perfdata of their own: the line is to stay within 1023 bytes


def named(nodes: Sequence[int]) -> str:
    """Name data nodes in a sentence: ``node 3``, ``nodes 3 and 4``, ``nodes 3, 4, 5, 6 and 2 more``."""
    return words.named("node", [str(node) for node in nodes])
