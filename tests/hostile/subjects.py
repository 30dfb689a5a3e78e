"""All plugins, each with a command line that is fit for a healthy server."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
RECORDED = ROOT / "tests" / "recorded"
MYSQL, NDB, JMX, LOG, HERE = "mysql", "ndb", "jmx", "log", "here"
NETWORK = (MYSQL, NDB, JMX)  # who asks a server over the network
OK, WARNING, CRITICAL, UNKNOWN = range(4)
SECRET = "s3cret|%s\\'\"=ü"  # what no output, no state file and no process may show

_MYSQL = ("-H", "{host}", "-P", "{port}", "-u", "{user}")
_JMX = ("-H", "{host}", "-P", "{port}", "-u", "{user}")
_BONDS = """import runpy, sys
from stallwatch.sources import bonding
bonding.PLACE = sys.argv.pop(1)
sys.argv[0] = sys.argv.pop(1)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Subject(NamedTuple):
    """A plugin that is put in trouble.

    source       what it asks: MYSQL, NDB (a cluster's SQL node), JMX, LOG, HERE (this host, its files)
    arguments    with {host}, {port}, {user}, {log}, {backup}, {pid_file} where a Place has something
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
    pid: int = field(default_factory=os.getpid)

    def words(self):
        """What stands for it in a command line."""
        return {
            "host": self.host, "port": self.port, "user": self.user, "log": self.log, "backup": self.backup,
            "pid_file": f"/proc/{self.pid}/stat",
        }  # fmt: skip


SUBJECTS = (
    Subject("replication_lag", MYSQL, _MYSQL),
    Subject("mysql_status", MYSQL, _MYSQL),
    Subject("mysql_query", MYSQL, _MYSQL, unreachable=CRITICAL, state=False),
    Subject("innodb_buffer_pool", MYSQL, _MYSQL),
    Subject("innodb_redo_log", MYSQL, _MYSQL),
    Subject("ndb_nodes", NDB, _MYSQL),
    Subject("ndb_memory", NDB, _MYSQL),
    Subject("ndb_page_buffer", NDB, _MYSQL),
    Subject("ndb_redo_buffer", NDB, (*_MYSQL, "--samples", "2")),
    Subject("ndb_transactions", NDB, _MYSQL),
    Subject("jmx", JMX, (*_JMX, "-O", "java.lang:type=Memory", "-A", "HeapMemoryUsage", "-K", "used")),
    Subject("jmx_thread_pools", JMX, _JMX),
    Subject("ndb_log", LOG, ("--log", "{log}")),
    Subject("mysql_backup", HERE, ("-d", "{backup}", "-w", "20000d", "-c", "20000d")),
    Subject("mysqld_process", HERE, ("--pid-file", "{pid_file}")),
    Subject("host", HERE, ()),
    Subject("bonding", HERE, ()),
)
