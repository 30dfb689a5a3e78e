"""The options of check_jmx, and how it is run.

They set which attributes of which MBeans are asked for, and how each is judged; or that a list is asked for.
"""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import jmx
from stallwatch.probes.jmx.scale import UNITS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.argparse import Action
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx.listing import Wanted
    from stallwatch.probes.jmx.model import Quantity

_TIMEOUT = 60.0  # seconds: a minute's patience; with --values a Cassandra takes 7 s on a busy machine


class Word(Action):
    """An option that is kept in the order of the command line, in ``namespace.said``."""

    def __call__(self, _: ArgumentParser, namespace: Namespace, values: object, *__: object) -> None:
        """Keep it."""
        namespace.said = (*namespace.said, (self.dest, self.const or values))


class List(Action):
    """The option that asks for a list, for which there is more time unless the user sets how much."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: object, *_: object) -> None:
        """Keep it."""
        namespace.list = values
        if namespace.timeout is parser.get_default("timeout"):
            namespace.timeout = _TIMEOUT


check = Check(
    "jmx",
    "Judge attributes of a JVM's MBeans over JMX, without a JVM of its own; --list shows what there are.",
)
check.parser.set_defaults(said=())
check.option("-O", "--object", action=Word, help="object name of an MBean, or with * and ? of several")
about = (
    "attribute of the -O before it; both may be repeated, and the options below belong to the -A before "
    "them, to all of an object if they follow its -O, to everything if they come first"
)
check.option("-A", "--attribute", action=Word, help=about)
about = (
    "path to a number in the attribute: a key or the number of an item, separated by / (\\/ for a slash); "
    "without it, the items of a list are counted"
)
check.option("-K", "--key", action=Word, metavar="PATH", help=about)
about = "unit of the value (default: none); share: 0 to 1, shown and checked in per cent"
check.option("--unit", action=Word, choices=[unit for unit in UNITS if unit], help=about)
about = "show the value in per cent of a key beside that of -K, ATTRIBUTE[/KEY], or OBJECT/ATTRIBUTE[/KEY]"
check.option("--of", action=Word, metavar="WHOLE", help=about)
about = (
    "divide the value by this, named as for --of, for example milliseconds per request; with --rate or "
    "--delta, --of and --per use the growth of both since the last run"
)
check.option("--per", action=Word, metavar="WHOLE", help=about)
about = (
    "check how long ago the value is, by the clock of the JVM: a date, or milliseconds since 1970 (seconds "
    "with --unit s); 0 and less count as missing"
)
check.option("--age", action=Word, nargs=0, const="age", help=about)
about = "growth per second since the last run of the same command; runs within 15s count as one"
check.option("--rate", action=Word, nargs=0, dest="change", const="rate", help=about)
about = "change since the last run of the same command"
check.option("--delta", action=Word, nargs=0, dest="change", const="delta", help=about)
check.option("--match", action=Word, metavar="REGEX", help="alert if this is not found in the text")
check.option("--no-match", action=Word, metavar="REGEX", help="alert if this is found in the text")
about = "state if --match or --no-match alerts (default: critical)"
check.option("--mismatch", action=Word, choices=["warning", "critical"], help=about)
about = (
    "one number of all beans of a pattern; those without the attribute do not count; count with --match or "
    "--no-match counts those whose text is right"
)
check.option("--aggregate", action=Word, choices=["sum", "max", "min", "avg", "count"], help=about)
about = "name of the number, also with key properties of the MBean, as {scope} (default: made of those)"
check.option("--label", action=Word, metavar="NAME", help=about)
about = (
    "state if the value is missing, null, NaN, or has no maximum; with --aggregate count, if there is no "
    "MBean, unless a range alerts on 0 (default: unknown)"
)
check.option("--missing", action=Word, choices=["ok", "warning", "critical", "unknown"], help=about)
about = "range for the attribute; bare numbers are counted in --unit, those of a share need a %"
check.limit("-w", "--warning", action=Word, metavar="RANGE", help=f"warning {about}")
check.limit("-c", "--critical", action=Word, metavar="RANGE", help=f"critical {about}")
about = (
    "list the MBeans and their attributes with type, r and w; all, those of a pattern as java.lang:*, or "
    "those with this word in their name or that of an attribute; there are 60s for it; with --output json "
    "each line is one MBean"
)
check.option("--list", action=List, nargs="?", const="", metavar="PATTERN", help=about)
check.option("--values", action="store_true", help="list the values, too")
jmx.add(check)
check.keeps_state()
check.examples(
    "check_jmx -H db1 -P 7199 -O java.lang:type=Memory -A HeapMemoryUsage -K used \\",
    "    --of max --unit B -w 80% -c 90%",
    "check_jmx -H db1 -P 7199 -O 'java.lang:type=GarbageCollector,name=*' \\",
    "    -A CollectionTime --unit ms --rate --aggregate sum -w 50 -c 200",
    "check_jmx -H db1 -P 7199 -O 'Catalina:type=GlobalRequestProcessor,name=*' \\",
    "    -A processingTime --unit ms --per requestCount --delta -w 500ms \\",
    "    -A errorCount --of requestCount --rate -w 1%",
    "check_jmx -H db1 -P 7199 -O org.apache.cassandra.db:type=StorageService \\",
    "    -A OperationMode --match '^NORMAL$' -A LiveNodes --match '\\b10\\.0\\.0\\.7\\b'",
    "check_jmx -H db1 -P 7199 --list 'java.lang:*' --values",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """List what there is, or judge what was asked for."""
    wanted = _wanted(options)
    return _listed(wanted, options, run) if wanted else _judged(options, run)


def _wanted(options: Namespace) -> Wanted | None:
    """Return what is to be listed, if anything is; what makes no sense ends the run as bad usage."""
    if options.list is None:
        if options.values:
            check.parser.error("--values belongs to --list: give that, too")
        return None
    from stallwatch.probes.jmx.listing import Wanted

    if options.said:
        check.parser.error("--list takes a pattern of its own: leave out what belongs to -O and -A")
    try:
        return Wanted(options.list)
    except NotUnderstoodError as error:
        check.parser.error(f"--list: {error}")


def _listed(wanted: Wanted, options: Namespace, run: Run) -> Iterator[Finding]:
    """Collect the list and print it after the log-out: whoever reads it may take his time."""
    from stallwatch.probes.jmx import listing

    def so_far(text: str) -> None:
        run.deadline.doing = text
        run.progress(text)

    style = listing.JsonLines() if options.output == "json" else listing.Text(bool(options.verbose))
    try:
        with jmx.connect(check, options, run) as server:
            yield from listing.listing(server, wanted, style, so_far, values=options.values)
    finally:
        for part in style.written:
            run.answer(part)


def _judged(options: Namespace, run: Run) -> Iterator[Finding]:
    """Judge each quantity; what is remembered belongs to this very command."""
    from contextlib import nullcontext

    from stallwatch.probes.jmx import probe

    asked = {f"quantity {number}": quantity for number, quantity in enumerate(quantities(options), 1)}
    for name, quantity in asked.items():
        run.judge_by(name, quantity.limits or {})
    memory: AbstractContextManager[dict[str, Any]] = nullcontext({})
    if changes := [quantity.change for quantity in asked.values() if quantity.change]:
        if options.no_state:
            check.parser.error(f"--{changes[0]} needs the state that --no-state leaves alone")
        target = jmx.target(check, options)
        place = {"host": target.host, "port": target.port, "registered": target.name}
        memory = run.memory(**place, said=options.said)
    with jmx.connect(check, options, run) as server:
        yield from probe.findings(asked, server, memory, run)


def quantities(options: Namespace) -> list[Quantity]:
    """Understand which quantities are asked for; what makes no sense ends the run as bad usage."""
    from stallwatch.probes.jmx.arguments import parsed

    try:
        return parsed(options.said)
    except NotUnderstoodError as error:
        check.parser.error(str(error))
