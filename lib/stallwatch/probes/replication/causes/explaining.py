"""Which causes explain a case, the strongest first."""

from __future__ import annotations

from stallwatch.probes.replication.causes.rules import (
    applying,
    asides,
    copying,
    link,
    locked,
    stopped,
    storing,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.probes.replication.causes.case import Case, Cause

    Rule = Callable[[Case], Cause | None]

RULES: tuple[Rule, ...] = (
    stopped.r1_applier_failed,
    stopped.r2_applier_stopped,
    stopped.r3_receiver_down,
    link.r4_link_silent,
    locked.r5_server_locked,
    locked.r6_row_locked,
    link.r7_delayed_on_purpose,
    link.r8_receiver_bound,
    applying.r9_no_usable_key,
    applying.r10_one_transaction,
    storing.r11_redo_full,
    copying.r12_backup_runs,
    storing.r13_disk_busy,
    storing.r14_buffer_pool_dumped,
    storing.r15_innodb_status_hangs,
    applying.r16_single_threaded,
    applying.r17_parallelism_unused,
    storing.r18_buffer_pool_small,
    applying.r19_commits_slowly,
    storing.r20_history_long,
    storing.r21_no_relay_space,
    storing.r22_other_load,
    asides.r23_written_to,
    link.r24_heartbeat_dead,
)

# Why an applier that works is slow: of no interest while it does not work, or has nothing to do.
_SLOW = frozenset({"R9", "R10", "R11", "R13", "R14", "R15", "R16", "R17", "R18", "R19", "R20", "R22"})
_DOWN = frozenset({"R1", "R2", "R3"})
_IMPLIED = {
    "R1": _SLOW | {"R5", "R6", "R8", "R12"},
    "R2": _SLOW | {"R5", "R6", "R8", "R12"},
    "R3": _SLOW | {"R4", "R8"},
    "R4": _SLOW | {"R8"},
    "R5": _SLOW | {"R6"},
    "R6": _SLOW,
    "R7": _SLOW | {"R12"},
    "R8": _SLOW - {"R13"},
    "R9": frozenset({"R10", "R16", "R17"}),
    "R10": frozenset({"R16", "R17"}),
    "R12": frozenset({"R13"}),
    "R16": frozenset({"R18", "R19"}),
    "R24": _SLOW | {"R8"},
}


def explain(case: Case) -> list[Cause]:
    """Give the causes that the rules find, strongest first, without those that a stronger one implies."""
    found = [cause for rule in RULES if (cause := rule(case))]
    return sorted((one for one in found if not _is_implied(one, found)), key=_rank)


def _is_implied(cause: Cause, found: Sequence[Cause]) -> bool:
    return any(cause.rule in _IMPLIED.get(one.rule, ()) and one.score > cause.score for one in found)


def _rank(cause: Cause) -> tuple[bool, bool, float]:
    """Order them: a thread that is down before all else, what explains nothing behind all else."""
    return cause.rule not in _DOWN, not cause.explains, -cause.score
