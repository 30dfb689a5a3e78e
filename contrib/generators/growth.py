"""How a check's cost grows with what it looks at: plots, and the section of the page on performance.

Both are made from tests/bench/results/growth_SUBJECT.json, which tests/bench/growth_SUBJECT.py measures.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from generators.growth_plot import Panel, Series, plot
from generators.growth_power import power
from generators.markdown import WIDTH, table
from generators.plugins import ROOT, Plugin
from stallwatch.sources.jmx.budget import MOST_KEPT, MOST_READ

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCS = ROOT / "contrib" / "docs"
RESULTS = ROOT / "tests" / "bench" / "results"
GIGABYTE = 1000  # MB
TWO_FIGURES = 10


def grouped(size: float) -> str:
    """Write a number with its digits in groups of three: 10 000."""
    return f"{size:,.0f}".replace(",", " ")


def megabytes(size: float) -> str:
    """Write a size in MB as people write it: 10 MB, 1 GB."""
    return f"{size / GIGABYTE:g} GB" if size >= GIGABYTE else f"{size:g} MB"


class Subject(NamedTuple):
    """Something that checks look at, small and large."""

    title: str
    unit: str
    one: str
    about: str
    named: Callable[[float], str] = grouped


SUBJECTS = {
    "ndb": Subject(
        "Data nodes",
        "data nodes",
        "data node",
        "An SQL node of so many data nodes, with 32 log parts and 20 threads each: a stand-in that answers "
        "with a real cluster's rows, multiplied to that many nodes. NDB has 144 at most.",
    ),
    "replication": Subject(
        "Channels of a replica",
        "channels",
        "channel",
        "MariaDB replicas with so many channels, each with a source of its own, all real.",
    ),
    "jmx": Subject(
        "MBeans",
        "MBeans",
        "MBean",
        "A real JVM that shows so many MBeans of four attributes besides its own. One attribute of one costs "
        "the same among many. What looks at all of them has their names in memory, which come in one answer: "
        f"its memory is meant to grow with them. An answer may take {MOST_READ >> 20} MiB of memory as it "
        f"is read, and all that a run keeps {MOST_KEPT >> 20} MiB: that is enough for 12 000 MBeans, as "
        "Cassandra 5 has them. Where there are more, the check is UNKNOWN and asks for fewer. 100 000 were "
        "measured before there was this limit.",
    ),
    "log": Subject(
        "Log",
        "of log",
        "MB",
        "Lines of a quiet data node. --whole reads all of it, piece by piece. Followed: all of it was read, "
        "then a minute's lines were added, it was rotated, and the new one has as many.",
        named=megabytes,
    ),
    "backup": Subject(
        "Tables of a backup",
        "tables",
        "table",
        "Backups of real MariaDB servers with so many tables, each compared with its server: by mydumper, "
        "two files for each table, and by mariadb-dump, one file. To find what is missing, a check has the "
        "names of all tables of the server and of all files of the backup in memory: that is meant to grow "
        "with them.",
    ),
}


class Curve(NamedTuple):
    """What one check costs at each size: seconds of processor time, MiB."""

    name: str
    sizes: list[float]
    processor: list[float]
    memory: list[float]

    def each(self) -> float:
        """Seconds that one more costs, in the upper half of the sizes."""
        half = len(self.sizes) // 2
        return max(0.0, (self.processor[-1] - self.processor[half]) / (self.sizes[-1] - self.sizes[half]))


def files(_: list[Plugin]) -> dict[Path, str]:
    """Draw a plot of each subject that was measured."""
    return {DOCS / _image(key): drawn(SUBJECTS[key], curves(of)) for key, of in by_subject().items()}


def by_subject() -> dict[str, dict[str, Any]]:
    """Return what was measured, by subject."""
    found = {key: RESULTS / f"growth_{key}.json" for key in SUBJECTS}
    return {key: json.loads(path.read_text()) for key, path in found.items() if path.exists()}


def curves(of: dict[str, Any]) -> list[Curve]:
    """Return the curves of one subject: a table for each check, with a row for each size, the same in all."""
    return [
        Curve(
            each["title"],
            [row["name"] for row in each["rows"]],
            [row["processor_ms"] / 1000 for row in each["rows"]],
            [row["memory_mib"] for row in each["rows"]],
        )
        for each in of["tables"]
    ]


def section(_: str = "") -> str:
    """Write the part of the page: for each subject what it is, a plot, and a table."""
    return "\n".join(_of(key, of) for key, of in by_subject().items())


def _of(key: str, of: dict[str, Any]) -> str:
    subject, found = SUBJECTS[key], curves(of)
    sizes = map(subject.named, found[0].sizes)
    heads = [subject.title, *sizes, f"each {subject.one} more", "twice", "memory"]
    cells = table(heads, map(_row, found))
    image = f"![{subject.title}: processor time and memory of each check]({_image(key)})"
    rounds = " or ".join(map(str, sorted({each["rounds"] for each in of["tables"]})))
    about = textwrap.fill(f"{subject.about} Medians of {rounds} rounds.", WIDTH)
    return f"### {subject.title}\n\n{about}\n\n{image}\n\n{cells}"


def _row(curve: Curve) -> list[str]:
    more = power(curve.sizes, curve.processor)
    memory = " to ".join(dict.fromkeys(f"{extreme(curve.memory):.0f}" for extreme in (min, max)))
    grown = [seconds(curve.each()), f"{2**more:.2f}"] if more else ["", ""]
    return [curve.name, *map(seconds, curve.processor), *grown, f"{memory} MiB"]


def seconds(number: float) -> str:
    """Write a time as people read it, in two or three figures: 0, 25 µs, 57 ms, 2.27 s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if number >= size:
            figures = number / size
            return f"{figures:.0f} {unit}" if size < 1 and figures >= TWO_FIGURES else f"{figures:.3g} {unit}"
    return "0"


def _image(key: str) -> str:
    return f"growth_{key}.svg"


def drawn(subject: Subject, found: list[Curve]) -> str:
    """Draw processor time and memory beside each other."""
    processor = [Series(curve.name, curve.sizes, curve.processor) for curve in found]
    memory = [Series(curve.name, curve.sizes, curve.memory) for curve in found]
    panels = (
        Panel("processor time of the whole check", processor, subject.named, seconds),
        Panel("memory at its peak", memory, subject.named, lambda number: f"{number:.0f} MiB"),
    )
    return plot(f"{subject.title}: what a check costs", panels)
