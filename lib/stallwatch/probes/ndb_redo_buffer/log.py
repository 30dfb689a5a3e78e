"""What the data nodes' own logs tell of their redo log: full episodes that no sample hits, and lag."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.findings import Finding, Reading
    from stallwatch.probes.ndb_log import Told
    from stallwatch.probes.ndb_log.story import Story


class Heard(NamedTuple):
    """What the logs of one data node tell, as far as it still counts."""

    node: int | None  # None: the log does not say whose it is
    full: Reading  # median seconds of its full episodes, 0: none
    lag: Reading  # seconds, 0: none
    problems: tuple[Fault, ...]  # not cleared
    blames_disk: bool | None  # False: the buffer; None: it tells of neither

    @property
    def said(self) -> str:
        """The worst of it, for a person."""
        return (self.lag if self.lag.value else self.full).what.removeprefix(f"node {self.node} ")

    def and_more(self, other: Heard) -> Heard:
        """Put two logs of one node together, as of before and after a rotation: the worst of both counts."""
        return Heard(
            self.node,
            max(self.full, other.full, key=_value),
            max(self.lag, other.lag, key=_value),
            tuple(dict.fromkeys((*self.problems, *other.problems))),
            max(self.blames_disk, other.blames_disk, key=(None, False, True).index),
        )


def hear(told: Told) -> tuple[list[Heard], list[Finding]]:
    """Take from the logs that were read what is about the redo log, by node; and what to say of the logs."""
    heard: dict[int | None, Heard] = {}
    findings: list[Finding] = [*told.problems, *(Fault(State.OK, aside) for aside in told.asides)]
    for story in told.stories:
        node = story.node.id
        if story.node.is_cluster_log:
            continue  # a management node's, which ndb_*_out.log fits, too
        if node is None:
            what = f"{story.path} does not say of which data node it is: it is no evidence for any"
            findings.append(Fault(State.OK, f"{what}, unless it is called ndb_N_out.log"))
        one = _heard(story)
        heard[node] = heard[node].and_more(one) if node in heard else one
    if told.stories and not heard:
        what = f"{told.stories[0].path} is a management node's, which tells nothing of full redo buffers"
        findings.append(ProbeError(what, "name the data nodes' ndb_N_out.log with --log"))
    return list(heard.values()), findings


def worst_first(readings: Iterable[Reading]) -> list[Reading]:
    """Give what is not 0, the worst first and alone in the perfdata; of nothing but zeros one."""
    ranked = sorted(readings, key=_value, reverse=True)
    return ranked[:1] + [reading._replace(label="") for reading in ranked[1:] if reading.value]


def _heard(story: Story) -> Heard:
    full, lag = story.redo.readings()
    return Heard(story.node.id, full, lag, tuple(story.redo.problems()), story.redo.blames_disk)


def _value(reading: Reading) -> float:
    return reading.value or 0
