"""All plugins, each with a command line that is fit for a healthy server."""

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stallwatch.declared import every

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
RECORDED = ROOT / "tests" / "recorded"
MYSQL, NDB, JMX, LOG, HERE, BESIDE = "mysql", "ndb", "jmx", "log", "here", "beside"
NETWORK = (MYSQL, NDB, JMX)  # who asks a server over the network
OK, WARNING, CRITICAL, UNKNOWN = range(4)
SECRET = "s3cret|%s\\'\"=ü"  # what no output, no state file and no process may show

_FOLDER = tempfile.TemporaryDirectory()  # for as long as these tests run
_PID_FILE = Path(_FOLDER.name) / "pid"  # of a process that is healthy: this one
_PID_FILE.write_text(f"{os.getpid()}\n")
_MYSQL = ("-H", "{host}", "-P", "{port}", "-u", "{user}")
_JMX = ("-H", "{host}", "-P", "{port}", "-u", "{user}")
_SERVER = {MYSQL: _MYSQL, NDB: _MYSQL, JMX: _JMX, LOG: (), HERE: ()}
DECLARED = dict(sorted(every().items()))
_BONDS = """import runpy, sys
from stallwatch.sources import kernel
kernel.BONDS = sys.argv.pop(1)
sys.argv[0] = sys.argv.pop(1)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Subject(NamedTuple):
    """A plugin that is put in trouble.

    source       what it asks: MYSQL, NDB (a cluster's SQL node), JMX, LOG, HERE (this host, its files),
                 BESIDE (this host, and a server besides)
    arguments    with {host}, {port}, {user}, {log}, {backup}, {pid_file}, {program}: what a Place has
    unreachable  its exit status if its server cannot be asked
    state        whether it keeps one
    """

    plugin: str
    source: str
    arguments: tuple[str, ...]
    unreachable: int = UNKNOWN
    state: bool = True

    @property
    def name(self):
        """What its first line begins with."""
        return self.plugin.upper()

    @classmethod
    def declared(cls, plugin, healthy):
        """The one that a plugin declares."""
        arguments = (*_SERVER[healthy.source], *healthy.arguments)
        return cls(plugin, healthy.source, arguments, healthy.unreachable, healthy.keeps_state)

    def remembering(self):
        """Itself, with options with which it keeps something."""
        return self._replace(arguments=(*self.arguments, "--delta")) if self.plugin == "jmx" else self

    def command(self, place, *more):
        """The whole command line at that place."""
        words = [word.format_map(place.words()) for word in self.arguments]
        script = str(PLUGINS / f"check_{self.plugin}")
        start = [sys.executable, script]
        if self.plugin == "bonding":  # this kernel may have none
            start = [sys.executable, "-c", _BONDS, str(RECORDED / "bonding" / "6.1-active-backup"), script]
        return [*start, *words, *map(str, more)]


@dataclass(frozen=True)
class Place:
    """Where a plugin is sent: a server, and files of this host."""

    host: str = "127.0.0.1"
    port: int = 9  # discard: nobody is there
    user: str = "monitor"
    password: str = SECRET
    log: str = str(RECORDED / "ndb_log" / "E0_start_and_100s_quiet.ndb_4_out.log")
    backup: str = str(RECORDED / "mysql_backup" / "mariadb-dump" / "all.sql")
    pid_file: str = str(_PID_FILE)
    program: str = Path("/proc/self/comm").read_text().strip()  # what its process is called

    def words(self):
        """What stands for it in a command line."""
        return {
            "host": self.host, "port": self.port, "user": self.user, "log": self.log, "backup": self.backup,
            "pid_file": self.pid_file, "program": self.program,
        }  # fmt: skip


SUBJECTS = tuple(Subject.declared(name, one.healthy) for name, one in DECLARED.items())
BY_NAME = {subject.plugin: subject for subject in SUBJECTS}

# Plugins that ask a server, too, if one is named; of a process "sleep", whose id is in the file {pid_file}.
ALSO_ASKING = (
    Subject("mysql_backup", BESIDE, (*DECLARED["mysql_backup"].healthy.arguments, *_MYSQL)),
    Subject("mysqld_process", BESIDE, ("--pid-file", "{pid_file}", "--program", "sleep", *_MYSQL)),
)
