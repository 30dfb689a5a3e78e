"""What the data nodes' own logs tell of their redo log: full episodes that no sample hits, and lag."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.reading import ProbeError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.ndb_log import Told
    from stallwatch.reading import Fault, Finding, Reading


class Heard(NamedTuple):
    """What the log of one data node tells, as far as it still counts."""

    node: int
    full: Reading  # median seconds of its full episodes, 0: none
    lag: Reading  # seconds, 0: none
    problems: tuple[Fault, ...]  # not cleared
    blames_disk: bool | None  # False: the buffer; None: it tells of neither

    @property
    def said(self) -> str:
        """The worst of it, for a person."""
        return (self.lag if self.lag.value else self.full).what.removeprefix(f"node {self.node} ")


class Logs(NamedTuple):
    """What all logs tell, by data node, and what there is to say of the reading itself."""

    heard: dict[int, Heard]
    findings: tuple[Finding, ...] = ()


def hear(told: Told) -> Logs:
    """Take from the logs that were read what is about the redo log."""
    heard: dict[int, Heard] = {}
    findings: list[Finding] = [*told.problems]
    for story in told.stories:
        node = story.node.id
        if node is None or story.node.is_cluster_log:
            what = f"{story.path} is not a data node's own log: full redo buffers are told only there"
            findings.append(ProbeError(what, "name ndb_N_out.log with --log"))
            continue
        redo = story.redo
        full, lag = redo.readings()
        heard[node] = Heard(node, full, lag, tuple(redo.problems()), redo.blames_disk)
    return Logs(heard, tuple(findings))


def worst_first(readings: Iterable[Reading]) -> list[Reading]:
    """Give what is not 0, the worst first and alone in the perfdata; of nothing but zeros one."""
    ranked = sorted(readings, key=lambda reading: -(reading.value or 0))
    return ranked[:1] + [reading._replace(label="") for reading in ranked[1:] if reading.value]
