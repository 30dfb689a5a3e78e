"""The options that say which attributes of which MBeans are asked for, and how each is judged."""

from __future__ import annotations

from stallwatch.probes.jmx_attributes.scale import UNITS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.argparse import Action
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from stallwatch.frame.check import Check
    from stallwatch.probes.jmx_attributes.quantity import Quantity


class Word(Action):
    """An option that is kept in the order of the command line, in ``namespace.said``."""

    def __call__(self, _: ArgumentParser, namespace: Namespace, values: object, *__: object) -> None:
        """Keep it."""
        namespace.said = (*namespace.said, (self.dest, self.const or values))


def add(check: Check) -> None:
    """Add the options; ``asked`` understands them."""
    check.parser.set_defaults(said=())
    check.option("-O", "--object", action=Word, help="object name of an MBean, or with * and ? of several")
    about = (
        "attribute of the -O before it; both may be repeated, and the options below belong to the -A before "
        "them, to all of an object if they follow its -O, to everything if they come first"
    )
    check.option("-A", "--attribute", action=Word, help=about)
    about = (
        "way to a number in it: a key, an item's number, several with / between them (\\/ for a slash); "
        "without it, the items of a list are counted"
    )
    check.option("-K", "--key", action=Word, metavar="PATH", help=about)
    about = "what the server counts it in (default: nothing); share: 0 to 1, told and judged in per cent"
    check.option("--unit", action=Word, choices=[unit for unit in UNITS if unit], help=about)
    about = "tell it in per cent of this: a key beside that of -K, ATTRIBUTE[/KEY], or OBJECT/ATTRIBUTE[/KEY]"
    check.option("--of", action=Word, metavar="WHOLE", help=about)
    about = "what it grew by per second since the last run of this very command; runs within 1s count as one"
    check.option("--rate", action=Word, nargs=0, dest="change", const="rate", help=about)
    about = "what it changed by since the last run of this very command, whoever ran it; as with --rate"
    check.option("--delta", action=Word, nargs=0, dest="change", const="delta", help=about)
    check.option("--match", action=Word, metavar="REGEX", help="text: wrong where this is not found in it")
    about = "state where the text does not match (default: critical)"
    check.option("--mismatch", action=Word, choices=["warning", "critical"], help=about)
    about = "one number of all beans of a pattern; those without the attribute do not count"
    check.option("--aggregate", action=Word, choices=["sum", "max", "min", "avg", "count"], help=about)
    about = "its name; may hold key properties of the MBean, as {scope} (default: made of those)"
    check.option("--label", action=Word, metavar="NAME", help=about)
    about = (
        "state where it is missing, null, NaN, or has no limit to be a share of; where --aggregate count has "
        "none to count, unless a range alerts on 0 (default: unknown)"
    )
    check.option("--missing", action=Word, choices=["ok", "warning", "critical", "unknown"], help=about)
    about = "range for the attribute; bare numbers are counted in --unit, those of a share need a %"
    check.limit("-w", "--warning", action=Word, metavar="RANGE", help=f"warning {about}")
    check.limit("-c", "--critical", action=Word, metavar="RANGE", help=f"critical {about}")


def asked(check: Check, options: Namespace) -> list[Quantity]:
    """Understand what was said; what makes no sense ends the run as bad usage."""
    from stallwatch.frame.options.said import quantities

    try:
        return quantities(options.said)
    except NotUnderstoodError as error:
        check.parser.error(str(error))


def changes(check: Check, options: Namespace, quantities: list[Quantity]) -> bool:
    """Whether any is about two runs, which --no-state makes impossible."""
    about = [one.change for one in quantities if one.change]
    if about and options.no_state:
        check.parser.error(f"--{about[0]} needs the state that --no-state leaves alone")
    return bool(about)
