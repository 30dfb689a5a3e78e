"""What one run has to say: its verdicts, the worst first, and how each of them is called in the perfdata."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.findings import State
    from stallwatch.verdict import Verdict


class Report(NamedTuple):
    """The verdicts of one run, for engines and programs; ``trace`` is for whoever wants to know it all."""

    name: str
    verdicts: Sequence[Verdict]
    everything: bool = False  # also what is OK
    trace: Sequence[str] = ()

    @property
    def ranked(self) -> list[Verdict]:
        """What there is to say, worst first, in the order it was found among equals."""
        gravest = max((one.state.gravity for one in self.verdicts if not one.in_table), default=-1)
        said = [one for one in self.verdicts if not one.in_table or one.state.gravity > gravest]
        return sorted(said, key=lambda verdict: -verdict.state.gravity)

    @property
    def state(self) -> State:
        """The worst state of all."""
        return self.ranked[0].state

    @property
    def labels(self) -> list[str]:
        """The label of each verdict in the perfdata, unique; "" of what is not in it."""
        labels: list[str] = []
        taken: set[str] = set()
        for verdict in self.verdicts:
            label, copy = "" if verdict.value is None else verdict.label, 1
            while label in taken:
                copy += 1
                label = f"{verdict.label}_{copy}"
            taken |= {label} - {""}
            labels.append(label)
        return labels
