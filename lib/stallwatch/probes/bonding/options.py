"""What check_bonding may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.probes.bonding.model import mode
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, count, duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

    One = TypeVar("One")


def _of_bond(text: str, form: str, read: Callable[[str], One]) -> tuple[str, One]:
    """Read BOND=VALUE, or a VALUE, which is of no bond: ""."""
    bond, equals, value = text.rpartition("=")
    if equals and not bond:
        raise NotUnderstoodError(f'"{text}" names no bond: write BOND={form}')
    return bond, read(value)


def expected(text: str) -> tuple[str, int]:
    """Read BOND=COUNT, how many links it is to have, or the COUNT of bonds."""
    return _of_bond(text, "COUNT", count)


def wanted(text: str) -> tuple[str, str]:
    """Read BOND=MODE, or the MODE of all bonds that are not named."""
    return _of_bond(text, "MODE", mode)


check = Check(
    "bonding", "Report bonded network interfaces that lack links or are in another mode than expected."
)
check.option(
    "--expect", action="append", type=expected, default=[], metavar="[BOND=]COUNT",
    help="expected number of bonds, or of links in a bond, for example bond0=2; may be given several times "
         "(default: the highest number seen)",
)  # fmt: skip
check.option(
    "--mode", action="append", type=wanted, default=[], metavar="[BOND=]MODE",
    help="expected mode of a bond, by name or number, for example bond1=802.3ad; without BOND: of all that "
         "are not named; may be given several times",
)  # fmt: skip
check.option(
    "--hold", type=duration, default="10m", metavar="TIME",
    help="report a failed link, or the change to another link, for this long",
)  # fmt: skip
check.threshold(
    "links_down", headline=True, warning="0",
    help="links of a bond that are down; critical in any case if all of them are",
)  # fmt: skip
check.threshold("link_failures", warning="0", help="failures of a bond's links within --hold")
check.keeps_state()
check.examples(
    "check_bonding --expect 2 --mode bond0=active-backup --mode bond1=802.3ad",
    "check_bonding --expect bond0=2 -c 0  # one link down is critical",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Look at all bonds."""
    from stallwatch.probes.bonding import probe
    from stallwatch.probes.bonding.diagnosis import Rules

    expect, modes = _once("--expect", options.expect), _once("--mode", options.mode)
    rules = Rules(expect, modes, remembers=not options.no_state)
    with run.memory() as memory:
        yield from probe.findings(rules, options.hold, run.trace, memory)


def _once(flag: str, given: Sequence[tuple[str, One]]) -> dict[str, One]:
    """Give what was said of each bond; twice is bad usage."""
    found = dict(given)
    if len(found) < len(given):
        check.parser.error(f"{flag} is there twice for the same bond")
    return found
