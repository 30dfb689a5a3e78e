"""Which pools are in trouble, by which of their numbers, and why.

What a block in which pool means is a row of the table of its family, with the kind. What the numbers show
besides, and how certain it is, is in the rules, in the order of their weight.
"""

from __future__ import annotations

import time
from functools import partial

from stallwatch.causes import Certainty, Kind, Rule, judged
from stallwatch.findings import State
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.model import LASTING
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from stallwatch.causes import Cause, Subject
    from stallwatch.findings import Reading
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_thread_pools.model import Observation, Pool

    Proof = Mapping[str, Any] | None  # parameters of the words; None: the rule does not apply


def _proof(one: Observation, applies: object) -> Proof:
    return {"meaning": one.pool.meaning} if applies else None


def _may_grow(one: Observation) -> bool:
    """Whether nobody ought to wait for what the pool lends, unless it cannot open more."""
    pool = one.pool
    return bool(pool.family.lends and pool.blocked and pool.busy is not None and not pool.full)


def _means(kind: Kind, certainty: Certainty, one: Observation) -> Proof:
    """Find that the row of the pool's family has this kind; for certain if somebody is seen to wait."""
    row, waits = one.pool.meaning, one.pool.blocked or one.blocked_new or one.pool.pending
    is_certain = row.certainty is Certainty.CERTAIN and waits
    return _proof(one, row.kind is kind and (is_certain or certainty is not Certainty.CERTAIN))


_KINDS = dict.fromkeys(row.kind for family in FAMILIES for row in family.meanings)
_OF_FAMILIES = ((Certainty.CERTAIN, "waits_seen"), (Certainty.LIKELY, "waits_likely"))
RULES = (
    # Who waits and who is served is counted one after the other, and connections change hands in between.
    Rule(Kind.NO_NEW_CONNECTIONS, Certainty.CERTAIN, "none_in_use",
         lambda of: _proof(of, _may_grow(of) and not of.pool.active)),
    Rule(Kind.NO_NEW_CONNECTIONS, Certainty.LIKELY, "not_all_in_use", lambda of: _proof(of, _may_grow(of))),
    Rule(Kind.SLOW_REQUESTS, Certainty.CERTAIN, "no_request_completed",
         lambda of: _proof(of, of.stalled and of.pool.meaning.serves)),
    # Many small flushes at once block each other on a fast disk, too, but go on.
    Rule(Kind.SLOW_DISK, Certainty.CERTAIN, "no_flush_completed",
         lambda of: _proof(of, of.stalled and of.pool.meaning.kind is Kind.SLOW_DISK)),
    Rule(Kind.BLOCKED_TASKS, Certainty.CERTAIN, "no_thread_at_work",
         lambda of: _proof(of, of.stalled and of.pool.active == 0)),
    Rule(Kind.BLOCKED_TASKS, Certainty.CERTAIN, "no_task_completed",
         lambda of: _proof(of, of.stalled and of.usual is not None)),
    # How long its tasks take is not known: they may be long by design.
    Rule(Kind.BLOCKED_TASKS, Certainty.LIKELY, "no_task_ever_completed",
         lambda of: _proof(of, of.stalled and of.pool.family.drains)),
    *(Rule(kind, how, evidence, partial(_means, kind, how))
      for how, evidence in _OF_FAMILIES for kind in _KINDS),
)  # fmt: skip


class Trouble(NamedTuple):
    """A pool that is in trouble: the worst of its numbers, and why."""

    one: Observation
    worst: Reading
    cause: Cause


def troubles(observed: Iterable[Observation], run: Run, subject: Callable[[Pool], Subject]) -> list[Trouble]:
    """Return what is wrong with each pool, the one first in which most wait."""

    def gravity(reading: Reading) -> int:
        return run.is_problem(reading) + run.is_problem(reading, State.CRITICAL)

    found = []
    for one in sorted(observed, key=lambda one: one.pool.rank):
        worst = max((_judged(one, reading, run) for reading in one.readings), key=gravity, default=None)
        if worst and gravity(worst):
            since = time.time() - one.still if one.stalled else None
            cause = judged(RULES, one, subject(one.pool), since)[0]
            found.append(Trouble(one, worst, cause))
    return found


def _judged(one: Observation, reading: Reading, run: Run) -> Reading:
    """Judge what lasts by thresholds of its own, and idle time by the last run, too, and by its upper end."""
    if reading.name == "idle":
        most = one.pool.idle if one.pool.idle_at_most is None else one.pool.idle_at_most
        lasts = run.alerts("idle", one.idle_before) and run.alerts("idle", 100 * (most or 0), State.CRITICAL)
        return reading._replace(confirmed=lasts)
    return reading._replace(judged_as=LASTING[reading.name]) if reading.name == one.lasting else reading
