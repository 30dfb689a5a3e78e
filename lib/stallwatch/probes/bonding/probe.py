"""One run: describe all bonds, compare them with earlier runs, say what is wrong."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.probes.bonding import collect, diagnosis, messages
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.bonding.diagnosis import Rules


def findings(
    rules: Rules, hold: float, trace: Callable[[str], None], memory: dict[str, Any]
) -> Iterator[Finding]:
    """Judge all bonds. Raises ProbeError if there is none, and none was, and none is expected.

    A change is told for ``hold`` seconds.
    """
    now, uptime, found = time.time(), collect.uptime(), collect.texts()
    texts = found or {}
    names = list(texts)
    had = collect.most(memory, "bonds", names)
    why_none = diagnosis.why_none(is_loaded=found is not None)
    if not (names or had or rules.bonds or rules.named):
        raise ProbeError(f"no bond is here: {why_none}", "--expect tells how many there are to be")
    bonds = []
    for name, text in texts.items():
        trace(f"{kernel.BONDS}/{name}: {len(text)} characters")
        try:
            bonds.append(collect.described(name, text))
        except ProbeError as error:
            yield error
    yield from diagnosis.missing(rules, names, had, why_none)
    collect.forget_before_boot(memory)
    bonds = [collect.with_history(memory, bond, uptime) for bond in bonds]
    before = collect.bonds_before(memory)
    events = collect.events(memory, bonds, now, hold)
    for bond in bonds:
        yield from diagnosis.faults(bond, rules)
    yield from messages.changes(events, now)
    yield from messages.readings(bonds, events, before)
    if rules.remembers:
        yield from messages.new([bond.name for bond in bonds if bond.name not in before])
