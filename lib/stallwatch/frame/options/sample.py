"""The option of a check of what is counted between two looks: since the last run, or within this one."""

from __future__ import annotations

from stallwatch.history.delta import SHORTEST
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import duration

if TYPE_CHECKING:
    from argparse import Namespace
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.frame.check import Check
    from stallwatch.frame.run import Run

FOR_ANSWERS = 2.0  # seconds of the timeout that a sample leaves, at least

ABOUT = (
    "measure twice in this run, this far apart, without the state file (default: measure since the last run)"
)

# The help of --confirm.
CONFIRM = (
    "report CRITICAL after this many critical runs in a row, WARNING before; with --sample, CRITICAL only "
    "if this is 1"
)


def add(check: Check, about: str = ABOUT) -> None:
    """Add the option to a check that keeps state: seconds, or None for since the last run."""
    check.option("--sample", type=duration, metavar="TIME", help=about)


def refuse_what_cannot_be(check: Check, options: Namespace, for_answers: float = FOR_ANSWERS) -> None:
    """End the run as bad usage if there is nothing to compare with, or no time for a sample.

    ``for_answers`` are the seconds of the timeout that it has to leave.
    """
    if options.sample is None:
        if options.no_state:
            check.parser.error("--no-state leaves no last run to compare with: add --sample 5s")
    elif not SHORTEST <= options.sample <= options.timeout - for_answers:
        check.parser.error(
            f"--sample takes {SHORTEST:g} s at least, and {for_answers:g} s less than --timeout"
        )


def limits(run: Run) -> dict[str, str]:
    """Write all limits for the identity of a memory: no service takes waits that another must report."""
    return {name: str(limits) for name, limits in run.thresholds.items()}


def memory(options: Namespace, run: Run, **target: object) -> AbstractContextManager[dict[str, Any]]:
    """Give what ``run.memory`` does; a run that takes a sample remembers nothing."""
    if options.sample is None:
        return run.memory(**target)
    from contextlib import nullcontext

    return nullcontext({})
