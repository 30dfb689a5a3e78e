"""What arrives while we look is on its way, not missing: look at the replica again for a moment."""

from __future__ import annotations

import time

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Left = TypeVar("Left")

_TIMES, _PAUSE = 3, 0.1  # looks, seconds before each


def settled(missing: Left, again: Callable[[Left], Left]) -> Left:
    """Ask ``again`` what is left of what is missing, as long as anything is."""
    for _ in range(_TIMES):
        if not missing:
            break
        time.sleep(_PAUSE)
        missing = again(missing)
    return missing
