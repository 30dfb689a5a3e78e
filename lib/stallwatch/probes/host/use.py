"""What processors, swap and network did between two looks."""

from __future__ import annotations

from stallwatch.probes.host.counters import ALL
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.history.delta import Interval

_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class Use(NamedTuple):
    """What processors spent their time with, in per cent of all of it."""

    user: float  # with those of lower priority
    system: float  # with interrupts
    iowait: float  # idle, while a task waited for a disk
    steal: float  # the hypervisor gave it to somebody else
    busiest: float  # of the busiest processor alone, what is neither idle nor iowait

    @property
    def busy(self) -> float:
        """All that is neither idle nor iowait."""
        return self.user + self.system + self.steal


class Trouble(NamedTuple):
    """Packets per second with errors, and packets that were dropped, of one network interface."""

    interface: str
    errors: float
    drops: float


def processors(interval: Interval, several: int) -> Use | None:
    """Tell how busy so many processors were; None: it is not known.

    What the kernel counts as iowait goes back now and then (man proc): that is none then. So does idle, when
    a processor goes off-line: all of the time is that of the processors then, which is known without it.
    """
    counts = {state: interval.counts.get(f"{ALL} {state}", 0.0) for state in _STATES}
    total = sum(counts.values())
    if not total:
        return None
    if f"{ALL} idle" not in interval.counts:
        total = max(total, interval.seconds * several)
    share = {state: 100 * seconds / total for state, seconds in counts.items()}
    each = [
        seconds
        for name, seconds in interval.counts.items()
        if name.startswith(ALL) and name.endswith(" busy")
    ]
    return Use(
        share["user"] + share["nice"],
        share["system"] + share["irq"] + share["softirq"],
        share["iowait"],
        share["steal"],
        min(100.0, 100 * max(each, default=0.0) * several / total),
    )


def swapping(interval: Interval) -> tuple[float, float] | None:
    """Tell how many bytes per second were read from swap and written to it; None: it is not known."""
    read, written = interval.rate("swap in"), interval.rate("swap out")
    return None if read is None or written is None else (read, written)


def network(interval: Interval) -> list[Trouble]:
    """Tell of each network interface what went wrong; one whose counters began anew is left out."""
    return list(_troubles(interval))


def _troubles(interval: Interval) -> Iterator[Trouble]:
    for name in interval.counts:
        kind, _, rest = name.partition(" ")
        interface, _, field = rest.rpartition(" ")
        if kind == "net" and field == "errors":
            drops = interval.rate(f"net {interface} drops")
            if drops is not None:
                yield Trouble(interface, interval.rate(name) or 0.0, drops)
