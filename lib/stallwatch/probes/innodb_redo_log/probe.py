"""One run: where the redo log was in several samples, and what was written since the last look."""

from __future__ import annotations

import time
from contextlib import closing

from stallwatch.findings import ProbeError
from stallwatch.history import delta
from stallwatch.history.streak import lasts
from stallwatch.probes.innodb_redo_log import messages
from stallwatch.probes.innodb_redo_log.collect import STANDING, Samples, Snapshot
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.sources.mysql.server import Server


def findings(
    server: Server, run: Run, memory: dict[str, Any], sample: float | None = None
) -> Iterator[Finding]:
    """Judge the redo log; ``sample`` is seconds between two looks of this run, None: since the last run.

    Raises a ProbeError if nothing is known of it.
    """
    with closing(Samples(server, run)) as samples:
        try:
            interval = delta.measured(samples.take, memory, sample, run.deadline)
        except ProbeError as error:
            # A look that was cut short is not remembered: the next one has what was counted meanwhile.
            if not samples.redos:
                raise
            interval = delta.NOTHING._replace(why=error)
    snapshot = Snapshot(samples, interval)
    warns = samples.always_flushed_for and not run.is_given("redo_log", "warning")
    stands = lasts(memory, STANDING, time.time(), is_bad=bool(snapshot.standing))
    if not snapshot.fullest:
        yield samples.unknown or _not_known(server, samples)
    yield from messages.all_of_it(snapshot._replace(lasts=stands, warns=warns), run.is_problem)


def _not_known(server: Server, samples: Samples) -> ProbeError:
    what = f"{server.where} ({server.flavour.text}) does not show how full its redo log is"
    if samples.lacks_process:
        return ProbeError(f"{what}: only accounts with PROCESS see it", "GRANT PROCESS")
    return ProbeError(what, "see whether SHOW ENGINE INNODB STATUS has a section LOG there")
