"""The arbitrator: who decides which half of a cluster goes on when it falls apart."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.probes.ndbinfo.parameters import ARBITRATION, configured
from stallwatch.probes.ndbinfo.words import have, listed, named
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from stallwatch.probes.ndb_nodes.clocks import Clocks
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row

_NAME = "arbitrator"
_WHY_NONE = {  # by Arbitration; 1 is Default
    "0": "Arbitration=Disabled",
    "2": "Arbitration=WaitExternal: another cluster manager decides",
}
# After a node's failure a new arbitrator is found within a second (9.7.2); until then it is one of these.
_ON_THE_WAY = ("ARBIT_INIT", "ARBIT_PREP1", "ARBIT_PREP2", "ARBIT_START")
_ADVICE = "see whether the management server runs, or give an SQL node ArbitrationRank=2"


def look(
    membership: Sequence[Row],
    up: Collection[int],
    clocks: Clocks,
    grace: float,
    why_none: Callable[[], str | None],
) -> Iterator[Fault]:
    """Tell what is wrong with it: a WARNING, CRITICAL after ``grace`` seconds; raises a ProbeError.

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
    state = State.CRITICAL if lasting > grace else State.WARNING
    yield Fault(state, trouble, _consequence(len(up)), _ADVICE)


def on_purpose(ndbinfo: Ndbinfo) -> str:
    """Say why there is none on purpose; empty: there should be one."""
    methods = configured(ndbinfo, ARBITRATION).values()
    return next((_WHY_NONE[method] for method in methods if method in _WHY_NONE), "")


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


def _consequence(up: int) -> str:
    if up == 2:  # noqa: PLR2004 - whoever is left is just one half
        return "if one of the two data nodes fails now, the other one stops as well"
    return "if the data nodes lose sight of each other, all of them may stop"


def _of(rows: Sequence[Row]) -> str:
    return named([whole(row, "node_id") for row in rows])
