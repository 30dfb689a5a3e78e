"""What a plugin declares beside its options: definitions, dashboards, documents and tests are made from it.

It stands in `declared.py` of the plugin's folder.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.label import Label
    from stallwatch.sources.mysql.privilege import Privilege

    Options = tuple[tuple[str, str], ...]  # long name without dashes, and value; FLAG: it has none

FLAG = ""
NDB_DATA_DIR = "/var/lib/mysql-cluster"  # of data nodes and management nodes, as most have it
NDB_GUESS = f"Its DataDir is not {NDB_DATA_DIR}? Mend it here."


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


class Panel(NamedTuple):
    """A panel of the dashboards: its title, and the labels of the perfdata that it shows."""

    title: str
    labels: tuple[str, ...]
    besides: tuple[str, ...] = ()  # of other plugins, as "innodb_buffer_pool wait_free"


class Healthy(NamedTuple):
    """How tests of every plugin in every trouble tell that a plugin finds all well."""

    source: str  # what it asks there: "ndb" is the SQL node of a cluster, see tests/hostile/subjects.py
    options: tuple[str, ...]  # with which nothing of a busy machine of tests alerts
    says: str  # a part of its first line
    arguments: tuple[str, ...] = ()  # that every command line has, with {backup} and such, see subjects.py
    unreachable: int = 3  # its exit status if its server cannot be asked
    keeps_state: bool = True


class Declared(NamedTuple):
    """All that a plugin declares."""

    labels: tuple[Label, ...]
    privileges: tuple[Privilege, ...]  # what its statements need
    services: tuple[Service, ...]  # what `discover` proposes
    panels: tuple[Panel, ...]
    healthy: Healthy
