"""Why a channel lags: rules that look at the signals of its replica, the strongest cause first.

A rule is a function ``rNN_name`` with ``@rule`` in one of the modules that are named here.
"""

from __future__ import annotations

from stallwatch.probes.replication_lag.causes import (
    applying,
    locked,
    receiver,
    source_behind,
    starved,
    stopping,
    storing,
    threads_and_link,
)
from stallwatch.probes.replication_lag.causes.case import Rule
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.causes.case import Case, Cause

_MODULES = (applying, locked, receiver, source_behind, starved, stopping, storing, threads_and_link)
_FOUND = [one for module in _MODULES for one in vars(module).values() if isinstance(one, Rule)]
RULES = tuple(sorted(_FOUND, key=lambda one: one.number))


def explain(case: Case) -> list[Cause]:
    """Give the causes that the rules find, strongest first, without those that a stronger one implies."""
    found = [(one, cause) for one in RULES if (cause := one(case))]
    return sorted((cause for one, cause in found if not _is_implied(one, cause, found)), key=_rank)


def _is_implied(by: Rule, cause: Cause, found: Sequence[tuple[Rule, Cause]]) -> bool:
    return any(other.explains_away(by) and stronger.score > cause.score for other, stronger in found)


def _rank(cause: Cause) -> tuple[bool, bool, float]:
    """Order them: a thread that is down before all else, what explains nothing behind all else."""
    return not cause.is_down, not cause.explains, -cause.score
