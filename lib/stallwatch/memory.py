"""What a run is given of those before it."""

from __future__ import annotations


class Memory(dict):  # type: ignore[type-arg]
    """What was kept; ``path`` is its file, ``problem`` why it has none although it should."""

    path = problem = ""
