"""What of the readings is critical, and since how many looks in a row: a single one pages nobody."""

from __future__ import annotations

from stallwatch.history.streak import Streaks
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Reading
    from stallwatch.frame.run import Run

_KEPT = "critical"


class Rules:
    """What is wrong, what of that is critical, and for how many looks in a row it has to be to be told so."""

    def __init__(self, run: Run, confirm: int) -> None:
        self.confirm = confirm
        self._run = run

    def doubted(self, readings: Sequence[Reading], memory: dict[str, Any], *, again: bool) -> list[Reading]:
        """Give the same readings, those not confirmed that are critical for too few looks in a row yet.

        ``memory`` keeps their number, by label; a look that is the last one ``again`` does not count, nor
        does one that tells nothing of a label.
        """
        streaks = Streaks(memory, _KEPT, again=again)
        for reading in readings:
            count = streaks.add if self._is_critical(reading) else streaks.end
            count(_label(reading))
        return list(self._doubted(readings, streaks))

    def alerts(self, reading: Reading) -> bool:
        """Whether it is wrong."""
        return self._run.alerts(reading.name, reading.value)

    def judges(self, *names: str) -> bool:
        """Whether there is a limit for one of these quantities."""
        return any(limit for name in names for limit in self._run.thresholds.get(name, {}).values())

    def _doubted(self, readings: Sequence[Reading], streaks: Streaks) -> Iterator[Reading]:
        for reading in readings:
            if self.confirm == 1 or streaks.of(_label(reading)) >= self.confirm:
                yield reading
            elif self._is_critical(reading):
                last = f"critical after {self.confirm} runs in a row"
                why = f"{reading.why}; {last}" if reading.why else last
                yield reading._replace(why=why, confirmed=False)
            else:
                yield reading

    def _is_critical(self, reading: Reading) -> bool:
        limit = self._run.thresholds.get(reading.name, {}).get("critical")
        return reading.value is not None and limit is not None and limit.alerts(reading.value)


def _label(reading: Reading) -> str:
    return reading.name if reading.label is None else reading.label
