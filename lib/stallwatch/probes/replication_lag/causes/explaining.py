"""Which causes are reported: those that the rules find, without what follows from a stronger one."""

from __future__ import annotations

from stallwatch.probes.replication_lag.causes import Rule, applying, link, locked, stopped, storing
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.causes import Case, Cause

_MODULES = (applying, link, locked, stopped, storing)
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
