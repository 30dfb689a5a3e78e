"""Command lines of all plugins, and readings that experiment compares."""

import json

from choices import ODD_TEXTS, Choices, seeds
from fuzzing import Target, WrongError
from plugin_runs import ROOT, plugin
from scratch import file
from stallwatch.experiment import comparison, readings
from stallwatch.frame.usage import Said, UsageError
from stallwatch.units import NotUnderstoodError

PLUGINS = sorted(path.name for path in (ROOT / "plugins").glob("check_*"))
WORDS = (
    "-w",
    "-c",
    "-H",
    "-P",
    "-t",
    "-v",
    "-vvv",
    "-V",
    "-h",
    "--",
    "-",
    "--output",
    "json",
    "text",
    "10",
    "10:",
    "~:5",
    "@1:2",
    "512M",
    "90%",
    "2h",
    "db1",
    "3306",
    "service:jmx:rmi:///jndi/rmi://a:1/b",
    "a:b=c",
    "Value",
    "--unit",
    "ms",
    "--no-state",
    "--state-dir",
    "--list",
    "--rate",
    "=",
    "--output=json",
    "-w10",
    "SELECT 1",
    "[",
    "(",
)


def a_command_line(octets):
    """Words that mean something to that plugin, and some that do not; nobody is asked for anything."""
    choices = Choices(octets)
    name = choices.one(PLUGINS)
    check = plugin(name)["check"]
    flags = [flag for action in check.options for flag in action.option_strings]
    words = []
    while choices.left and len(words) < 30:
        kind = choices.below(8)
        words.append(choices.one(flags if kind < 4 else WORDS if kind < 7 else ODD_TEXTS).replace("\0", ""))
    try:
        check.parser.parse(words)
    except Said as said:
        if not str(said):
            raise WrongError("a help without a word") from None
        return "said"
    except UsageError as error:
        if not str(error):
            raise WrongError("a refusal without a word") from None
        return "refused"
    return "value"


def some_readings(octets):
    """Two files of readings, parted by a NUL, compared with one another."""
    before, _, after = octets.partition(b"\0")
    both = [
        readings.load(file(name, part))
        for name, part in (("before.json", before), ("after.json", after or before))
    ]
    found = comparison.compare(*both, None, None)
    "\n".join(comparison.lines(found, everything=True)).encode(errors="replace")
    comparison.taken(both[0])


def _reading(value, **more):
    finding = {
        "name": "p95",
        "label": "p95",
        "value": value,
        "unit": "s",
        "warning": "0.25",
        "critical": "1",
    } | more
    return {"name": "mysql_query", "state": "OK", "summary": "p95 ...", "findings": [finding]}


def files_of_readings():
    """Files as plugins write them."""
    one = "\n".join(json.dumps(_reading(0.26 + number / 100)) for number in range(6))
    other = "\n".join(json.dumps(_reading(0.2, unit="", warning="10:"), indent=1) for _ in range(6))
    return [one.encode(), other.encode(), f"{one}\0{one}".encode(), f"{one}\0{other}".encode(), b"", b"{}"]


OF_READINGS = (
    b'"value": ',
    b'"label": ',
    b"NaN",
    b"1e308",
    b"-1e308",
    b"1" * 400,
    b"null",
    b"[]",
    b"{}",
    b'"~:"',
    b"\0",
)
TARGETS = {
    "command_line": Target(
        a_command_line, lambda: seeds(200, 60), (), (), 800, frozenset({"value", "refused", "said"})
    ),
    "readings": Target(
        some_readings,
        files_of_readings,
        (NotUnderstoodError,),
        OF_READINGS,
        600,
        frozenset({"value", "NotUnderstoodError"}),
    ),
}
