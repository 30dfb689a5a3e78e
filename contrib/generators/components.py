"""The components: which module belongs where, how large each one is, which one imports which.

A new probe is in the component of other probes until the table has one for it. Any other new module needs a
place in the table: ``make generate`` names what has none.
"""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from generators.imports import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from generators.imports import Import


class Component(NamedTuple):
    """A part of the code that knows one thing."""

    group: str  # the box of the picture that it is in
    name: str  # within that box; "": it is the box
    knows: str
    modules: str  # patterns of their names below stallwatch, or of programs

    @property
    def title(self) -> str:
        """Its name on the page."""
        return f"{self.group}: {self.name}" if self.name else self.group


# Box, name, what it knows, modules. The first component of which a pattern fits has the module.
_TABLE = """
programs | plugins | which probe answers; which options and default thresholds it has
    plugins/check_* probes.*.options probes.*.arguments
programs | tools | `stallwatch-discover`, `stallwatch-experiment`: definitions for engines, comparisons
    contrib/stallwatch-* discovery discovery.* experiment experiment.*
programs | stallwatchd | checks in processes that stay: supervisor, workers, the front for Nagios
    warm warm.* contrib/stallwatchd
options |  | options that several plugins share, and what their values mean
    frame.options frame.options.*
frame |  | the run of a plugin: its own options, deadline, exit status, state file
    frame frame.*
report |  | which state each finding has, and how an engine, a program or a person reads output
    verdict render render.*
findings |  | what a probe found: a quantity, a fault, an error, a table
    findings table declared causes
sources | mysql | log-in, TLS, option files, protocol and errors of MySQL and MariaDB
    sources.mysql sources.mysql.*
sources | ndb_mgm | status of data nodes from the management server
    sources.ndb_mgm
sources | logs | log files, read from where the last run stopped
    sources.logs sources.logs.*
sources | backups | files of a backup, compressed or not
    sources.backups sources.backups.*
sources | host | processes, processors, disks, memory and bonds from psutil, `/proc` and `/sys`
    sources.host sources.kernel sources.processes
sources | jmx | RMI, serialization, TLS and errors of a JVM
    sources.jmx sources.jmx.*
sources | recording | questions to sources and their answers, recorded or from a recording
    sources.recording
sources | shared | TCP, symbolic links, blocks of a file
    sources sources.*
probes | replication | lag, its direction and its causes
    probes.replication_lag probes.replication_lag.*
probes | mysql | status variables, InnoDB, queries; the process list and statements for other probes
    probes.mysql probes.mysql.* probes.innodb_* probes.mysql_status* probes.mysql_query*
probes | ndb | ndbinfo and logs of an NDB Cluster
    probes.ndb*
probes | backup | whether a backup is whole and recent
    probes.mysql_backup*
probes | host | a host, a process and a bond
    probes.host* probes.bonding* probes.mysqld_process*
probes | jmx | attributes and thread pools of a JVM
    probes.jmx*
probes | history | what lasts between runs: differences of two looks, N bad looks in a row, problems
    history history.*
probes | shared | slopes, a clock that nobody sets
    probes probes.shared
probes | other | probes that have no component of their own yet
    probes.*
basics |  | units, ranges, safe text without passwords, words, errors, users, the deadline, cheap imports
    stallwatch accounts deadline units thresholds line labels withheld words known memory startup startup.*
"""
_ROWS = re.findall(r"(\S.*)\n +(.*)\n", _TABLE)
COMPONENTS = tuple(Component(*head.split(" | "), modules) for head, modules in _ROWS)


class Layout(NamedTuple):
    """The components that have anything in them, and what."""

    components: tuple[Component, ...]
    files: Counter[str]  # by title
    lines: Counter[str]
    imports: Counter[tuple[str, str]]  # how many pairs of modules of two; those for types are left out


def component(module: str) -> Component:
    """Find the component of a module; KeyError: it has none."""
    name = module.removeprefix("stallwatch.")
    for one in COMPONENTS:
        if any(fnmatchcase(name, pattern) for pattern in one.modules.split()):
            return one
    raise KeyError(f"{module} is in no component: add it to the table in contrib/generators/components.py")


def layout(modules: Mapping[str, Path], imports: Iterable[Import]) -> Layout:
    """Count what is in each component, and what the components import from each other."""
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for module, path in modules.items():
        title = component(module).title
        files[title] += 1
        lines[title] += len(path.read_text().splitlines())
    between: Counter[tuple[str, str]] = Counter()
    for one in imports:
        titles = component(one.module).title, component(one.imported).title
        between[titles] += titles[0] != titles[1] and one.when != TYPES
    return Layout(tuple(one for one in COMPONENTS if files[one.title]), files, lines, +between)


def about(lines: int) -> str:
    """Round a number of lines: the page is not to change with every line of code."""
    return f"{round(lines, -2 if lines >= 1000 else -1):,}"  # noqa: PLR2004
