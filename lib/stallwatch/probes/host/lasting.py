"""What of the readings is wrong, and since how many looks in a row: a single one pages nobody."""

from __future__ import annotations

from stallwatch.run import DOUBTFUL

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from stallwatch.reading import Reading

_KEPT = "critical"


class Rules:
    """What is wrong, what of that is critical, and for how many looks in a row it has to be to be told so."""

    def __init__(
        self,
        alerts: Callable[[str, float | None], bool],
        is_critical: Callable[[str, float | None], bool],
        confirm: int,
    ) -> None:
        self._alerts = alerts
        self._is_critical = is_critical
        self._confirm = confirm

    def doubted(self, readings: Sequence[Reading], memory: dict[str, Any], *, again: bool) -> list[Reading]:
        """Give the same readings, with those as doubtful that are critical for too few looks in a row yet.

        ``memory`` keeps their number, by label; a look that is the last one ``again`` does not count.
        """
        before = memory.get(_KEPT)
        kept = before if isinstance(before, dict) else {}
        runs = {
            _label(reading): _number(kept.get(_label(reading))) + (not again)
            for reading in readings
            if self._is_critical(reading.name, reading.value)
        }
        if not again:
            memory[_KEPT] = runs
        return [self._doubted(reading, runs.get(_label(reading))) for reading in readings]

    def alerts(self, reading: Reading) -> bool:
        """Whether it is wrong."""
        return self._alerts(reading.name, reading.value)

    def _doubted(self, reading: Reading, run: int | None) -> Reading:
        if run is None or run >= self._confirm:
            return reading
        why = "; ".join(filter(None, (reading.why, f"critical after {self._confirm} runs in a row")))
        return reading._replace(name=f"{DOUBTFUL}{reading.name}", label=_label(reading), why=why)


def _label(reading: Reading) -> str:
    return reading.name if reading.label is None else reading.label


def _number(kept: Any) -> int:
    return kept if type(kept) is int and kept > 0 else 0
