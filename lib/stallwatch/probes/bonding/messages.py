"""The words and the numbers for bonds."""

from __future__ import annotations

from stallwatch.findings import Fault, Reading, State
from stallwatch.labels import own
from stallwatch.probes.bonding.model import ACTIVE_BACKUP, LACP
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import are, have, listed, times

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from stallwatch.probes.bonding.model import Bond, Event


def readings(bonds: Sequence[Bond], events: Sequence[Event], known: Container[str]) -> Iterator[Reading]:
    """Give the numbers of each bond; if all is well, the first one speaks for all.

    Of a bond that was not ``known`` before nobody knows how often its links have failed since.
    """
    summary = ", ".join(_shortly(bond) for bond in bonds)
    for number, bond in enumerate(bonds):
        reading = _links_down(bond)
        if not number:
            reading = reading._replace(what=reading.what if bond.down else summary, table=_table(bonds))
        yield reading
        yield Reading("links", len(bond.links), label=f"{own(bond.name)}_links", in_table=True)
        if bond.name in known:
            yield _failures(bond, [event for event in events if event.bond == bond.name and event.failures])


def new(names: Sequence[str]) -> Iterator[Fault]:
    """Report bonds that were not known before: nothing is known yet of what happened to their links."""
    if names:
        yield Fault(State.OK, f"what happens to links of {listed(names)} is known from the next run on")


def _links_down(bond: Bond) -> Reading:
    label, down, up = f"{own(bond.name)}_links_down", bond.down, [link.name for link in bond.up]
    if not (down and up):  # without a link, it is reported as a fault
        return Reading("links_down", len(down), what=_shortly(bond), label=label, in_table=bool(down))
    names = [link.name if link.status == "down" else f"{link.name} ({link.status})" for link in down]
    over = bond.active if bond.mode == ACTIVE_BACKUP and bond.active else listed(up)
    return Reading(
        "links_down",
        len(down),
        what=f"{len(up)} of {len(bond.links)} links of {bond.name} up: {listed(names)} {are(down)} down",
        why=f"traffic over {over}" + ("" if up[1:] else " alone"),
        advice=f"check the cable and the switch port (ethtool {down[0].name})",
        label=label,
    )


def changes(events: Sequence[Event], now: float) -> Iterator[Fault]:
    """Warn of bonds that took another link."""
    latest = {event.bond: event for event in events if event.before}
    for event in latest.values():
        what = f"{event.bond} changed from {event.before} to {event.link} {_when(event, now)}"
        advice = f"find out why {event.before} was given up: ethtool {event.before}, dmesg"
        yield Fault(State.WARNING, what, advice=advice)


def _failures(bond: Bond, events: Sequence[Event]) -> Reading:
    failed = sum(event.failures for event in events)
    names = sorted({event.link for event in events})
    what = f"{bond.name}: no link has failed"
    if failed:
        what = f"{listed(names)} of {bond.name} {have(names)} failed {times(failed)}"
        up = [link.name for link in bond.up if link.name in names]
        what += f", {listed(up)} {are(up)} up again" if up else ""
    return Reading(
        "link_failures",
        failed,
        what=what,
        advice=f"look at cable, port and driver: ethtool -S {names[0]}, dmesg" if failed else "",
        label=f"{own(bond.name)}_link_failures",
    )


def _shortly(bond: Bond) -> str:
    over = f" over {bond.active}" if bond.active else ""
    partner = f", partner {bond.partner}" if bond.partner and bond.mode == LACP else ""
    return f"{bond.name} {bond.mode}{over}, {len(bond.up)} of {len(bond.links)} links up{partner}"


def _table(bonds: Sequence[Bond]) -> Table:
    columns = ("bond", "mode", "link", "status", "Mbit_per_s", "duplex", "failures", "aggregator")
    rows = (
        (
            bond.name,
            bond.mode,
            link.name,
            link.status,
            link.speed,
            link.duplex or None,
            link.failures,
            link.aggregator,
        )
        for bond in bonds
        for link in bond.links
    )
    return Table(columns, tuple(rows))


def _when(event: Event, now: float) -> str:
    return f"{say_duration(now - event.at)} ago" if now - event.at >= 1 else "since the last run"
