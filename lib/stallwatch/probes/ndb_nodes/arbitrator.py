"""The arbitrator: who decides which half of a cluster goes on when it falls apart."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.probes.ndbinfo.queries import whole
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import have, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from stallwatch.probes.ndb_nodes.collect import Clocks
    from stallwatch.probes.ndbinfo.queries import Row

_NAME = "arbitrator"
# After a node's failure a new arbitrator is found within a second (9.7.2); until then it is one of these.
_ON_THE_WAY = ("ARBIT_INIT", "ARBIT_PREP1", "ARBIT_PREP2", "ARBIT_START")
_ADVICE = "see whether the management server runs, or give an SQL node ArbitrationRank=2"


def arbitrator(
    membership: Sequence[Row],
    up: Collection[int],
    clocks: Clocks,
    grace: float,
    why_none: Callable[[], str | None],
) -> Iterator[Fault]:
    """Say what is wrong with it: a WARNING, CRITICAL after ``grace`` seconds; raises a ProbeError.

    ``why_none`` is asked for in trouble only. With one data node up there is nothing to decide.
    """
    rows = [row for row in membership if whole(row, "node_id") in up]
    if len(rows) < 2:  # noqa: PLR2004
        return
    trouble = _trouble(rows)
    if not trouble:
        clocks.over(_NAME)
        return
    lasting = clocks.seconds(_NAME)
    if why := why_none():
        yield Fault(State.OK, f"the data nodes have no arbitrator ({why})")
        return
    consequence = "if the data nodes lose sight of each other, all of them may stop"
    if len(up) == 2:  # noqa: PLR2004 - whoever is left is just one half
        consequence = "if one of the two data nodes fails now, the other one stops as well"
    yield Fault(State.CRITICAL if lasting > grace else State.WARNING, trouble, consequence, _ADVICE)


def _trouble(rows: Sequence[Row]) -> str:
    """Say what is wrong; empty: all agree on one that is connected and runs."""
    arbitrators = sorted({whole(row, "arbitrator") for row in rows})
    if 0 in arbitrators:
        without = [row for row in rows if not whole(row, "arbitrator")]
        return f"{'the data nodes' if len(arbitrators) == 1 else _of(without)} {have(without)} no arbitrator"
    if len(arbitrators) > 1:
        each = [f"node {one}" for one in arbitrators]
        return f"the data nodes do not agree on an arbitrator: {listed(each)}"
    if lost := [row for row in rows if row["arb_connected"] != "Yes"]:
        return f"{_of(lost)} {have(lost)} lost the arbitrator, node {arbitrators[0]}"
    if len({row["arb_ticket"] for row in rows}) > 1:
        return f"the data nodes do not agree on the ticket of the arbitrator, node {arbitrators[0]}"
    if odd := [row for row in rows if row["arb_state"] not in ("ARBIT_RUN", *_ON_THE_WAY)]:
        return f"the arbitrator, node {arbitrators[0]}, does not run: {odd[0]['arb_state']} on {_of(odd)}"
    return ""


def _of(rows: Sequence[Row]) -> str:
    return named([whole(row, "node_id") for row in rows])
