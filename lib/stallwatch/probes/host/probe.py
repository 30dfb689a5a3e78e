"""One run: choose disks, look at the host, compare with the last look, report what is wrong."""

from __future__ import annotations

from stallwatch.probes.host import diagnosis, messages, model
from stallwatch.probes.host.collect import chosen, take_snapshot
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.host.diagnosis import Rules


def findings(options: Namespace, run: Run, rules: Rules, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what the host did since the last look that ``memory`` knows of, or in a sample.

    Raises ProbeError.
    """
    places, problems = chosen(options.disk, options.data_dir)
    snapshot = take_snapshot(options, run, places, memory)
    again = snapshot.again
    activity = model.activity(snapshot, places)
    readings = messages.readings(activity, messages.labelled(memory, activity))
    readings = diagnosis.confirmed(readings, memory, rules, again=again)
    readings = messages.without_symptoms(readings, rules)
    stuck = diagnosis.stuck(memory, activity.disks, snapshot.look.uptime, again=again)
    yield from messages.stuck(stuck, activity, min(diagnosis.CERTAIN, rules.confirm))
    plateaus = diagnosis.plateaus(memory, activity.disks, activity.seconds, again=again)
    yield from messages.limits(plateaus, activity)
    yield from messages.with_summary(readings, messages.summed_up(activity), rules)
    yield from problems
    yield from diagnosis.missing(snapshot, places, rules)
    if snapshot.disks is not None:
        yield from diagnosis.untimed(activity, places, rules)
    yield from diagnosis.asides(snapshot)
