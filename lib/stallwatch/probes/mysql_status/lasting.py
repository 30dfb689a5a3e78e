"""For how many looks in a row a number has been beyond its limit: a single one pages nobody."""

from __future__ import annotations

import time

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_KEPT = "lasting"
_LONGER = 10  # times as long as before between two looks: they are not in a row
_USUAL = 60.0  # seconds between two looks, at least


class Lasting:
    """The runs that ``memory`` keeps, by name, and when it was looked last."""

    def __init__(self, memory: dict[str, Any]) -> None:
        self._memory = memory
        self._runs: dict[str, Any] = {}
        self._at = self._every = 0.0  # time.time(), seconds
        self._refused = False  # the last look was a log-in that was refused
        match memory.get(_KEPT):
            case {"runs": dict(runs), "at": int() | float() as at, "every": int() | float() as every, **more}:
                self._runs, self._at, self._every = runs, at, every
                self._refused = more.get("refused") is True

    def of(self, name: str) -> int:
        """Tell how many looks in a row it has been."""
        run = self._runs.get(name)
        return run if type(run) is int and run > 0 else 0

    @property
    def since(self) -> float:
        """Tell how many seconds ago the last look was that counts."""
        return time.time() - self._at

    def count(self, beyond: Iterable[str], *, refused: bool = False) -> None:
        """Count one more look, at which these were beyond their limits, and nothing else.

        The interval after looks that were refused is about these looks, and no other one.
        """
        since = self.since if self._at else 0.0
        if since > _LONGER * max(self._every, _USUAL):
            self._runs = {}
        more = 0 if self._refused and not refused else 1
        self._refused = refused
        self._keep({name: max(1, self.of(name) + more) for name in beyond}, since)

    def begin_anew(self) -> None:
        """Forget all: this look is not comparable with what was before."""
        self._refused = False
        self._keep({}, 0.0)

    def _keep(self, runs: dict[str, int], every: float) -> None:
        self._runs, self._at, self._every = runs, time.time(), every
        self._memory[_KEPT] = {"runs": runs, "at": self._at, "every": every, "refused": self._refused}
