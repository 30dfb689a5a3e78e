"""What a plugin declares beside its options: definitions, dashboards, documents and tests are made from it.

Each plugin's folder has one in `declared.py`, where ``every`` finds it.
"""

from __future__ import annotations

import re
from importlib import import_module
from os import scandir
from os.path import isfile

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.sources.mysql.privilege import Privilege

    Options = tuple[tuple[str, str], ...]  # long name without dashes, and value; FLAG: it has none

FLAG = ""
NDB_DATA_DIR = "/var/lib/mysql-cluster"  # of data nodes and management nodes, as most have it
NDB_GUESS = f"Its DataDir is not {NDB_DATA_DIR}? Mend it here."
# In which dashboards, definitions and `discover` have the plugins; one that is not named comes after these.
ORDER = (
    "replication_lag", "ndb_nodes", "ndb_memory", "ndb_redo_buffer", "ndb_page_buffer", "ndb_transactions",
    "ndb_log", "mysql_query", "mysql_status", "mysql_stalls", "innodb_redo_log", "innodb_buffer_pool",
    "mysql_backup", "jmx_thread_pools", "jmx", "host", "bonding", "mysqld_process",
)  # fmt: skip
_PLACE = re.compile(r"\{\w+\}")


class Label(NamedTuple):
    """One label; ``{node}`` in its name is replaced by each thing that is judged.

    Without a text it is the quantity of a threshold, with the unit and the help of that.
    """

    name: str
    unit: str = ""  # "s", "B", "%", "c" or ""
    about: str = ""

    def fits(self, label: str) -> bool:
        """Whether this is the label, or one of its kind."""
        own = map(re.escape, _PLACE.split(self.name))
        return re.fullmatch("[A-Za-z0-9_.]+".join(own), label) is not None

    @property
    def is_one(self) -> bool:
        """Whether it has no placeholder."""
        return not _PLACE.search(self.name)


class Service(NamedTuple):
    """One service: a plugin of ours and its options."""

    title: str
    plugin: str  # without check_
    about: str
    options: Options = ()
    words: tuple[str, ...] = ()  # of check_jmx: several quantities, in their order
    attempts: int = 3
    nrpe: str = ""  # its name in nrpe/stallwatch.cfg, of what runs on the host itself
    guessed: bool = False  # a person has to look at it first
    leads: bool = False  # it is CRITICAL if nobody answers: then the host's others notify nobody
    sets: str = ""  # which sets of the engines have it, see contrib/generators/sets.py; "": none, or by hand
    notes: str = ""  # its description in these sets; "": ``about``


class Panel(NamedTuple):
    """A panel of the dashboards: its title, and the labels of the perfdata that it shows."""

    title: str
    labels: tuple[str, ...]
    besides: tuple[str, ...] = ()  # of other plugins, as "innodb_buffer_pool wait_free"


class Healthy(NamedTuple):
    """How tests of every plugin in every trouble see that a plugin finds all well."""

    source: str  # what it asks there: "ndb" is the SQL node of a cluster, see tests/hostile/subjects.py
    options: tuple[str, ...]  # with which nothing of a busy machine of tests alerts
    says: str  # a part of its first line
    arguments: tuple[str, ...] = ()  # that every command line has, with {backup} and such, see subjects.py
    unreachable: int = 3  # its exit status if its server cannot be asked
    keeps_state: bool = True


class Times(NamedTuple):
    """When an engine checks, in seconds, and how often before it notifies."""

    interval: int = 60
    retry: int = 30  # looks less than 15 s apart count as one for what has to last before it is critical
    attempts: int = 3


class Declared(NamedTuple):
    """All that a plugin declares."""

    labels: tuple[Label, ...]
    privileges: tuple[Privilege, ...]  # what its statements need
    services: tuple[Service, ...]  # what `discover` proposes
    panels: tuple[Panel, ...]
    healthy: Healthy
    row: str = ""  # of the dashboards; "": that of what it asks
    times: Times = Times()

    @property
    def local(self) -> bool:
        """Whether it looks at the host that it runs on."""
        return self.healthy.source in ("here", "log")


def every() -> dict[str, Declared]:
    """Give what each plugin declares, by its name without check_, in ORDER.

    A plugin is a folder of probes with options.py; it has a declared.py, or ModuleNotFoundError is raised.
    """
    with scandir(f"{__file__.rpartition('/')[0]}/probes") as folders:
        found = sorted(one.name for one in folders if isfile(f"{one.path}/options.py"))
    names = [*(name for name in ORDER if name in found), *(name for name in found if name not in ORDER)]
    return {name: import_module(f"stallwatch.probes.{name}.declared").DECLARED for name in names}


def label_of(labels: Iterable[Label], printed: str) -> Label | None:
    """Find the one that was printed: ``apply_lag`` is itself rather than a channel's ``{channel}_lag``."""
    fitting = [one for one in labels if one.fits(printed)]
    return max(fitting, key=lambda one: (one.is_one, len(_PLACE.sub("", one.name))), default=None)
