"""A healthy replica beside this one: the signals that differ most."""

from __future__ import annotations

from stallwatch.probes.mysql.differing import Quantity, differ, said
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.replication.causes.signals import Signals

# What grows by how many counters, from how much per second on it matters, and what it is counted in.
_RATES = (
    (("Handler_read_rnd_next",), 1000.0, "rows read in scans", "/s"),
    (("Handler_update", "Handler_delete"), 10.0, "rows changed", "/s"),
    (("Innodb_buffer_pool_reads",), 10.0, "pages read from disk", "/s"),
    (("Innodb_buffer_pool_wait_free",), 1.0, "waits for a free page", "/s"),
    (("Opened_tables",), 1.0, "tables opened", "/s"),
)


def differences(here: Signals, there: Signals) -> list[str]:
    """Say which signals are at least three times as high, or as low, as those of the reference."""
    pairs = zip(_quantities(here), _quantities(there), strict=True)
    return [said(mine, theirs) for mine, theirs in pairs if differ(mine, theirs)]


def can_compare(here: Signals, there: Signals) -> bool:
    """Whether any signal is known of both: with little privileges, or one look, there may be none."""
    pairs = zip(_quantities(here), _quantities(there), strict=True)
    return any(mine.value is not None and theirs.value is not None for mine, theirs in pairs)


def _quantities(signals: Signals) -> Iterator[Quantity]:
    for names, least, name, unit in _RATES:
        yield Quantity(name, signals.rate(*names), least, unit)
    yield Quantity("bytes of redo written", signals.redo_rate, 100_000.0, "/s")
    yield Quantity("redo log", signals.redo.fill if signals.redo else None, 30.0, " %")
    yield Quantity("buffer pool misses", _misses(signals), 0.1, " %")
    yield Quantity("history list", signals.history, 10_000.0)
    yield Quantity("disk busy", signals.host.load.busy if signals.host.load else None, 30.0, " %")
    yield Quantity("threads running", _least_running(signals), 6.0)


def _misses(signals: Signals) -> float | None:
    """Tell how many per cent of the wanted pages were not in the buffer pool, within our looks."""
    missed, wanted = (signals.grown(f"Innodb_buffer_pool_{name}") for name in ("reads", "read_requests"))
    return min(100.0, 100 * (missed or 0.0) / wanted) if wanted else None


def _least_running(signals: Signals) -> float | None:
    return min(
        (one.numbers["Threads_running"] for one in signals.counted if "Threads_running" in one.numbers),
        default=None,
    )
