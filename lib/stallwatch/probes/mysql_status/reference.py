"""What differs between a server and its reference."""

from __future__ import annotations

import re
from math import log

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.probes.mysql.differing import IN_WORDS, Quantity, differ, said
from stallwatch.probes.mysql_status.kinds import BYTES, COUNTER, UNKNOWN
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_status.model import Measured

# Of no meaning beside the same of another server: moments, names, how it is built.
_OWN = re.compile(
    r"Uptime.*|.*(timestamp|uuid|latest_write|protocol_version|local_index|conf_id|cached_downto)"
    r"|(Ssl|Tc_log|Acl)_.*|Innodb_(page_size|ibuf_segment_size)|Binlog_snapshot_position|Mysqlx_port"
)
_ROWS = re.compile(r"Handler_.*|Rows_.*|.*_requests|Innodb_(system_)?rows_.*")
# From how much on it matters: bytes, rows and pages per second; anything else per second; at a moment.
_BYTES, _OF_ROWS, _PER_SECOND, _GAUGE = 100_000.0, 1000.0, 1.0, 10.0
_SAID = 4


class Pair(NamedTuple):
    """A number of both."""

    mine: Quantity
    theirs: Quantity

    @property
    def distance(self) -> float:
        """Give how far they are apart; what is too little to matter is as good as nothing."""
        low, high = sorted(max(one.value or 0.0, one.least / 3) for one in self)
        return log(high / low)


def findings(mine: Measured, theirs: Measured | ProbeError, names: Iterable[str]) -> Iterator[Finding]:
    """Give what differs by three times or more, or why that is not known: no trouble of this server."""
    if isinstance(theirs, ProbeError):
        why = ": ".join(filter(None, (theirs.what, theirs.advice)))
        yield Fault(State.OK, f"not compared with the reference: {why}")
        return
    if mine.interval and not theirs.interval:
        yield Fault(State.OK, f"rates are not compared with {theirs.answer.where}: {theirs.why_not}")
    pairs = [*_pairs(mine, theirs, names)]
    if not pairs:
        yield Fault(State.OK, f"nothing is to be compared with {theirs.answer.where} this time")
        return
    apart = sorted((one for one in pairs if differ(*one)), key=lambda one: -one.distance)
    where, of = theirs.answer.where, f"{len(pairs)} numbers"
    if apart:
        words = listed([said(*one) for one in apart], _SAID)
        yield Fault(State.OK, f"compared with {where}{_over(theirs)}: {words}")
    else:
        yield Fault(State.OK, f"compared with {where}{_over(theirs)}: none of {of} differs by {IN_WORDS}")
    what = f"{len(apart)} of {of} differ from {where} by {IN_WORDS} or more"
    yield Reading("differences", len(apart), what=what, table=_table(apart) if apart else None)


def _over(theirs: Measured) -> str:
    return f" over {say_duration(theirs.interval.seconds)}" if theirs.interval else ""


def _pairs(mine: Measured, theirs: Measured, names: Iterable[str]) -> Iterator[Pair]:
    for name in names:
        ours, its = mine.value(name), theirs.value(name)
        if ours is None or its is None or mine.kind(name) != theirs.kind(name) or _OWN.fullmatch(name):
            continue
        if mine.kind(name) != UNKNOWN:
            counts = mine.kind(name) == COUNTER
            unit = "/s" if counts else mine.unit(name)
            least = _least(name, counts=counts)
            yield Pair(Quantity(name, ours, least, unit), Quantity(name, its, least, unit))


def _least(name: str, *, counts: bool) -> float:
    if name in BYTES:
        return _BYTES
    if not counts:
        return _GAUGE
    return _OF_ROWS if _ROWS.fullmatch(name) else _PER_SECOND


def _table(pairs: Iterable[Pair]) -> Table:
    rows = ((mine.name, mine.value, theirs.value, _times(mine, theirs)) for mine, theirs in pairs)
    return Table(("name", "here", "reference", "times"), tuple(rows))


def _times(mine: Quantity, theirs: Quantity) -> float | None:
    """Give how many times the reference's it is here; None: the reference has none at all."""
    return float(f"{(mine.value or 0.0) / theirs.value:.3g}") if theirs.value else None
