"""One look at the redo log: where it was in several samples, and what was written since the last look."""

from __future__ import annotations

import time
from contextlib import closing

from stallwatch.findings import ProbeError
from stallwatch.history import delta, own
from stallwatch.history.streak import twice
from stallwatch.probes.innodb.redo import fullest
from stallwatch.probes.innodb_redo_log import telling
from stallwatch.probes.innodb_redo_log.samples import Samples
from stallwatch.probes.innodb_redo_log.telling import STANDING, STANDS, Found
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.sources.mysql.server import Server


class Asked(NamedTuple):
    """What the user asked for."""

    deadline: Deadline
    trace: Callable[[str], None]
    alerts: Callable[[str, float | None], bool]  # whether a threshold of a quantity alerts on a value
    sample: float | None = None  # seconds between two looks of one run


def findings(server: Server, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the redo log; raises a ProbeError if nothing is known of it."""
    with closing(Samples(server, asked.deadline, asked.trace)) as samples:
        interval, why = _interval(samples, asked, memory)
    peak = fullest(samples.redos)
    standing = sum(one.fill >= STANDS for one in samples.redos)
    lasts = bool(twice(memory, STANDING, {0} if standing else set(), time.time()))
    found = Found(peak, len(samples.redos), standing, lasts, interval, why, samples)
    if not peak:
        yield samples.untold or _not_told(server, samples)
    yield from telling.findings(found, asked.alerts)
    yield from telling.asides(found)


def _interval(
    samples: Samples, asked: Asked, memory: dict[str, Any]
) -> tuple[delta.Interval | None, str | ProbeError]:
    """Tell what was counted, or why that is not known.

    A look that was cut short is none, and is not remembered: the next one tells what was counted meanwhile.
    """
    try:
        if asked.sample:
            return delta.sample(samples.take, asked.sample, asked.deadline), ""
        return delta.since_last_look(own(memory, "look"), samples.take()), ""
    except delta.NoIntervalError as error:
        return None, str(error)
    except ProbeError as error:
        if not samples.redos:
            raise
        return None, error


def _not_told(server: Server, samples: Samples) -> ProbeError:
    what = f"{server.where} ({server.flavour.text}) does not tell how full its redo log is"
    if samples.lacks_process:
        return ProbeError(f"{what}: this version tells it to accounts with PROCESS only", "GRANT PROCESS")
    return ProbeError(what, "see whether SHOW ENGINE INNODB STATUS has a section LOG there")
