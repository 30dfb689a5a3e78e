"""How many intervals in a row were too low, by node: a single one pages nobody."""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from typing import Any

_KEPT = "low"


class Runs:
    """The runs of low intervals of all nodes; ``memory`` keeps them, except of nodes that are not told of.

    An interval that tells nothing (too few requests, a cold buffer) neither continues a run nor breaks it;
    as many of them in a row as it takes to be ``confirmed`` do: a scan of last night is no part of today's.
    """

    def __init__(self, memory: dict[str, Any], confirmed: int) -> None:
        kept = memory.get(_KEPT)
        self._before = kept if isinstance(kept, dict) else {}
        self._confirmed = confirmed
        self._after: dict[str, Any] = {}
        memory[_KEPT] = self._after

    def with_interval(self, node: int, *, low: bool | None, again: bool) -> int:
        """Tell how many low intervals in a row there are with this one; ``low`` is None if it tells nothing.

        One that is told ``again`` has been counted already.
        """
        run, silent = _run(self._before.get(str(node)))
        if again:
            pass
        elif low is None:
            silent += 1
            run = run if silent < self._confirmed else 0
        else:
            run, silent = (run + 1 if low else 0), 0
        if run:
            self._after[str(node)] = [run, silent]
        return run


def _run(kept: Any) -> tuple[int, int]:
    match kept:
        case [int() as run, int() as silent] if run > 0 and silent >= 0:
            return run, silent
    return 0, 0
