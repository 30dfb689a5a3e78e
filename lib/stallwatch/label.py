"""What the perfdata of a plugin are called: names that graphs are made of, and that never change."""

from __future__ import annotations

import re
from typing import NamedTuple


class Label(NamedTuple):
    """One label; ``{node}`` in its name stands for whatever is judged one by one."""

    name: str
    unit: str  # "s", "B", "%", "c" or ""
    about: str

    def fits(self, label: str) -> bool:
        """Whether this is the label, or one of its kind."""
        pattern = re.sub(r"\\{\w+\\}", r"[A-Za-z0-9_.]+", re.escape(self.name))
        return re.fullmatch(pattern, label) is not None
