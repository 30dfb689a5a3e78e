"""The options of a plugin that lists the MBeans of a JVM."""

from __future__ import annotations

from argparse import Action

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from stallwatch.check import Check
    from stallwatch.reading import Finding
    from stallwatch.run import Run

TIMEOUT = 60.0  # seconds: 65 000 attributes of a Cassandra take ten


class List(Action):
    """The option that asks for a list, for which there is more time unless the user says how much."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: object, *_: object) -> None:
        """Keep it."""
        namespace.list = values
        if namespace.timeout is parser.get_default("timeout"):
            namespace.timeout = TIMEOUT


def add(check: Check) -> None:
    """Add the options; ``findings`` does what they say."""
    about = (
        "list the MBeans and their attributes with type, r and w; all, those of a pattern as java.lang:*, or "
        "those with this word in their name; there are 60s for it; with --output json each line is one MBean"
    )
    check.option("--list", action=List, nargs="?", const="", metavar="PATTERN", help=about)
    check.option("--values", action="store_true", help="list the values, too")


def findings(check: Check, options: Namespace, run: Run) -> Iterator[Finding]:
    """List what was asked for."""
    from stallwatch.options import jmx
    from stallwatch.probes import jmx_listing
    from stallwatch.units import NotUnderstoodError

    if options.said:
        check.parser.error("--list takes a pattern of its own: leave out what belongs to -O and -A")
    try:
        wanted = jmx_listing.Wanted(options.list)
    except NotUnderstoodError as error:
        check.parser.error(f"--list: {error}")
    kind = jmx_listing.JsonLines if options.output == "json" else jmx_listing.Text
    style = kind(run.answer, more=bool(options.verbose))

    def so_far(text: str) -> None:
        run.deadline.doing = text
        run.progress(text)

    with jmx.connect(check, options, run) as server:
        so_far(f"asking {server.where} for its MBeans")
        yield from jmx_listing.listing(server, wanted, style, so_far, values=options.values)
