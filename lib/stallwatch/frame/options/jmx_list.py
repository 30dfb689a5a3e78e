"""The options of a plugin that lists the MBeans of a JVM."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.argparse import Action

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from stallwatch.frame.check import Check
    from stallwatch.probes.jmx_listing import Wanted

TIMEOUT = 60.0  # seconds: a minute's patience; with --values a Cassandra takes 7 s on a busy machine


class List(Action):
    """The option that asks for a list, for which there is more time unless the user says how much."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: object, *_: object) -> None:
        """Keep it."""
        namespace.list = values
        if namespace.timeout is parser.get_default("timeout"):
            namespace.timeout = TIMEOUT


def add(check: Check) -> None:
    """Add the options; ``wanted`` understands them."""
    about = (
        "list the MBeans and their attributes with type, r and w; all, those of a pattern as java.lang:*, or "
        "those with this word in their name; there are 60s for it; with --output json each line is one MBean"
    )
    check.option("--list", action=List, nargs="?", const="", metavar="PATTERN", help=about)
    check.option("--values", action="store_true", help="list the values, too")


def wanted(check: Check, options: Namespace) -> Wanted | None:
    """Give what is to be listed, if anything is; what makes no sense ends the run as bad usage."""
    if options.list is None:
        if options.values:
            check.parser.error("--values belongs to --list: give that, too")
        return None
    from stallwatch.probes.jmx_listing import Wanted
    from stallwatch.units import NotUnderstoodError

    if options.said:
        check.parser.error("--list takes a pattern of its own: leave out what belongs to -O and -A")
    try:
        return Wanted(options.list)
    except NotUnderstoodError as error:
        check.parser.error(f"--list: {error}")
