"""What lasts between the runs of a check, each concept once.

``delta`` is what counters counted between two looks, ``streak`` how many looks in a row something was bad,
``since`` for how long something has been so, ``problems`` what was wrong and is still to be reported.

Each works on a part of the memory of the check: the dictionary that the frame reads from the state file, and
writes back as JSON. What somebody else wrote, or damaged, is never trusted, and begins anew.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def own(memory: dict[str, Any], name: str) -> dict[str, Any]:
    """Give the dictionary in ``memory`` of this name, a new one if there is none, or it is damaged."""
    kept = memory.get(name)
    memory[name] = mine = kept if isinstance(kept, dict) else {}
    return mine
