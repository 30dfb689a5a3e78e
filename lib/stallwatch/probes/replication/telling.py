"""What there is to say of a channel: its sentence, its numbers, its row in a table."""

from __future__ import annotations

import re

from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.replication import trend
from stallwatch.probes.replication.words import (
    amount,
    behind,
    known_by,
    not_running,
    seconds,
    source,
    subject,
)
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import plain, say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.replication.judged import Judged
    from stallwatch.probes.replication.look import Limits

_DOWN = ("R1", "R2", "R3")  # the rules that tell why a thread does not run
_TOLD = 3  # causes in a line
MOST = 3  # channels that have more than their lag in the perfdata: each takes 150 characters of the line


def down(judged: Judged, state: State) -> Fault:
    """Tell of a receiver or applier that does not run, and how far behind that leaves the channel."""
    found, causes = judged.lag, judged.causes
    why = next((one for one in causes if one.rule in _DOWN), None)
    first = why.what if why else not_running(judged.channel)
    what = f"{subject(judged.channel)}: {first}; {amount(found)}{known_by(found)}"
    others = [one.what for one in causes if one is not why]
    return Fault(state, "; ".join([what, *_also(others)]), advice=why.advice if why else "")


def silent(judged: Judged) -> Fault:
    """Tell of a source that has not been heard of for longer than it keeps quiet."""
    evidence, age = judged.evidence, judged.lag.contact_age or judged.lag.low
    period = evidence.commits.heartbeat_period if evidence.commits else judged.channel.heartbeat_period
    expected = f"a heartbeat is due every {say_duration(period)}, " if period else ""
    return Fault(
        State.WARNING,
        f"{subject(judged.channel)}: no event or heartbeat for {seconds(age)}",
        f"{expected}the receiver itself gives up after {say_duration(evidence.net_timeout)}",
        f"look at the network and at {source(judged.channel)}: is it up, does it answer?",
    )


def breach(judged: Judged, words: str) -> Fault:
    """Tell of a threshold that will be crossed soon."""
    what = f"{behind(judged.channel, judged.lag)}, {words}"
    return Fault(State.WARNING, "; ".join([what, *_why(judged)]), advice=_advice(judged))


def lag(judged: Judged, limits: Limits, label: str, *, with_causes: bool, table: Table | None) -> Reading:
    """Tell how far a channel is behind, where that is going, and why."""
    channel, found = judged.channel, judged.lag
    direction = trend.words(judged.trend, found, limits)
    what = behind(channel, found) + (f", {direction}" if direction else "")
    return Reading(
        "lag",
        None if found.seconds is None else round(found.seconds, 3),
        "s",
        what="; ".join([what, *(_why(judged) if with_causes else ())]),
        advice=_advice(judged) if with_causes else "",
        label=f"{label}lag",
        table=table,
        confirmed=not found.doubtful,
    )


def numbers(judged: Judged, label: str, *, few: bool) -> Iterator[Reading]:
    """Give the other numbers of a channel; in the perfdata if it is one of ``few``."""
    channel, found, evidence = judged.channel, judged.lag, judged.evidence
    asked = evidence.source
    heard = found.contact_age if evidence.commits else None  # elsewhere it is known now and then
    given = (
        ("transport_lag", found.transport, "s", "from the source's commit to the relay log"),
        ("upstream_lag", found.upstream, "s", "before the direct source"),
        ("apply_lag", found.apply, "s", "from the relay log to the tables"),
        ("seconds_behind", _at_least_0(channel.seconds_behind), "s", "by the server's own Seconds_Behind"),
        ("contact_age", heard, "s", "since the source was last heard of"),
        ("slope", judged.trend.slope if judged.trend else None, "", "seconds of lag more in a second"),
        ("backlog", evidence.backlog, "", "transactions received and not applied"),
        ("missing", asked.missing if asked else None, "", "transactions of the source not applied here"),
    )
    for name, value, unit, what in given:
        if value is not None:
            number = round(value, 3)
            text = f"{subject(channel)}: {plain(number)}{unit and f' {unit}'} {what}"
            shown = f"{label}{name}" if few else ""
            yield Reading(name, number, unit, what=text, label=shown, in_table=True)
    if asked and asked.errant is not None:
        yield _errant(subject(channel), asked.errant, asked.where, f"{label}errant" if few else "")


def _errant(channel: str, number: int, source: str, label: str) -> Reading:
    """Tell what the replica has written itself: it breaks a failover, and gtid_strict_mode's applier."""
    what = f"{channel}: {number or 'no'} transaction{'s' * (number != 1)} here that {source} does not have"
    advice = (
        "find who writes here, SET GLOBAL super_read_only = ON (MariaDB: read_only); compare the GTID sets"
    )
    return Reading("errant", number, what=what, advice=advice, label=label)


def table(all_judged: Sequence[Judged]) -> Table:
    """Put the channels side by side."""
    columns = (
        "Channel", "Source", "Receiver", "Applier", "Lag s", "At most", "Transport", "Upstream", "Apply",
        "Seconds_Behind", "Backlog", "Missing", "Heard s ago",
    )  # fmt: skip
    return Table(columns, tuple(_row(judged) for judged in all_judged))


def _row(judged: Judged) -> tuple[str | float | None, ...]:
    channel, found, evidence = judged.channel, judged.lag, judged.evidence
    times = (found.seconds, found.high, found.transport, found.upstream, found.apply, channel.seconds_behind)
    return (
        channel.name or "-", source(channel), channel.receiver.running, channel.applier.running,
        *map(_rounded, times),
        evidence.backlog, evidence.source.missing if evidence.source else None, _rounded(found.contact_age),
    )  # fmt: skip


def _at_least_0(value: float | None) -> float | None:
    return None if value is None else max(0.0, value)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def labels(all_judged: Sequence[Judged]) -> dict[str, str]:
    """Give what the labels of each channel begin with in the perfdata; nothing for the default channel.

    Names that differ only in what a label may not have are numbered, in the order of the names.
    """
    found: dict[str, str] = {}
    taken: list[str] = []
    for name in sorted(filter(None, (judged.channel.name for judged in all_judged))):
        written = re.sub(r"[^A-Za-z0-9_.]", "_", name)
        taken.append(written)
        copy = taken.count(written)
        found[name] = f"{written}_{copy}_" if copy > 1 else f"{written}_"
    return found | {"": ""}


def _why(judged: Judged) -> Iterator[str]:
    if judged.causes:
        first, *others = judged.causes
        explains = "cause" if first.explains else "beside it"
        yield f"{explains if judged.is_worth_explaining else 'seen here'}: {first.what}"
        yield from _also([one.what for one in others])


def _also(others: Sequence[str]) -> Iterator[str]:
    told = others[: _TOLD - 1]
    yield from (f"also {one}" for one in told)
    if more := len(others) - len(told):
        yield f"and {more} more"


def _advice(judged: Judged) -> str:
    return next((one.advice for one in judged.causes if one.explains), "")
