"""Which redo buffers are too full, and how bad that is.

Only what stays full is CRITICAL: a buffer that is above the limits of `redo_buffer` in all samples of a run.
One that is above them in some has a peak, and of a single sample nobody knows which it is: both are readings
that are not confirmed, a WARNING at most.
"""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_redo_buffer.use import Samples, Use

    IsProblem = Callable[[Finding], bool]

REDO_BUFFER = "redo_buffer"


class Judged(NamedTuple):
    """The redo buffers of one run that are too full, the fullest first."""

    confirmed: bool  # there is more than one sample
    steady: tuple[Use, ...]  # in all samples
    peaks: tuple[Use, ...]  # in some, of nodes that have no steady one

    def worst(self) -> list[Use]:
        """Give the worst buffer of each data node that has one, worst first."""
        found: dict[int, Use] = {}
        for use in (*self.steady, *self.peaks):
            found.setdefault(use.part.node, use)
        return list(found.values())

    def stays_full(self, node: int) -> bool | None:
        """Whether a buffer of this node does; None: there is only one sample."""
        return any(use.part.node == node for use in self.steady) if self.confirmed else None


NOTHING = Judged(confirmed=False, steady=(), peaks=())


def judge(samples: Samples, is_problem: IsProblem) -> Judged:
    """Find the buffers that are too full."""
    steady = [use for use in samples.uses if is_problem(Reading(REDO_BUFFER, use.smallest))]
    nodes = {use.part.node for use in steady}
    peaks = [
        use
        for use in sorted(samples.uses, key=lambda use: -use.largest)
        if use.part.node not in nodes and is_problem(Reading(REDO_BUFFER, use.largest))
    ]
    return Judged(samples.taken > 1, tuple(steady), tuple(peaks))
