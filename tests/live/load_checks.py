"""The checks that ask a server, with default options, and the servers that they ask.

Limits are as wide as can be where a busy machine would exceed them: they do not change what is asked.
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from plugin_command import PLUGINS, ROOT, environment
from sql_server import Account
from stallwatch.declared import every

BACKUP = ROOT / "tests" / "recorded" / "mysql_backup" / "mariadb-dump" / "all.sql"
OK, WARNING, CRITICAL, UNKNOWN = range(4)
PATIENCE = "60s"  # a busy machine takes its time
# For check_mysql_query: no time is too long on a busy machine.
SLOW = tuple(option for option in every()["mysql_query"].healthy.options if option.endswith("=~:"))


def _asking(source):
    """The checks that ask such a server, each with what it must be told besides the server."""
    found = {name: one.healthy for name, one in every().items() if one.healthy.source == source}
    return {f"check_{name}": healthy.arguments for name, healthy in found.items()}


SQL = _asking("mysql") | {
    "check_mysql_query": ("--query", "SELECT 1", *SLOW),
    "check_mysqld_process": ("--pid-file", "{pid_file}"),
    "check_mysql_backup": ("-d", str(BACKUP), "-w", "20000d", "-c", "20000d"),
}
NDB = _asking("ndb")
JMX = _asking("jmx") | {
    "check_jmx_thread_pools": ("--threads-warning", "100000"),  # that a JVM without pools is well
}
CHECKS = {"mysql": SQL, "mariadb": SQL, "ndb": NDB, "jvm": JMX, "cassandra": JMX}
GRANTS = {  # all that a check may want to see
    "mysql": ("REPLICATION CLIENT", "PROCESS", "SHOW VIEW", "SELECT ON performance_schema.*"),
    "mariadb": (
        "SLAVE MONITOR", "BINLOG MONITOR", "PROCESS", "SHOW VIEW", "SELECT ON performance_schema.*"
    ),
    "ndb": ("SELECT ON ndbinfo.*", "PROCESS"),
}  # fmt: skip


class Said(NamedTuple):
    """How one run of a check ended."""

    check: str
    status: int
    output: str
    errors: str

    @property
    def asked(self):
        """Whether the server has answered: all is well, or nearly so on one that has just started."""
        name = self.check.removeprefix("check_").upper()
        word = {OK: "OK", WARNING: "WARNING"}.get(self.status)
        return word is not None and self.output.startswith(f"{name} {word} ") and not self.errors


class Asked(NamedTuple):
    """A server as checks ask it: where it is, as whom, and what stands for it in their options."""

    host: str
    port: int
    account: Account | None = None
    pid_file: str = ""

    def command(self, check, *more, through=()):
        """The command line of that check; ``through`` a program that runs it, and what that is to know."""
        own = next(of[check] for of in CHECKS.values() if check in of)
        words = [word.format(pid_file=self.pid_file) for word in own]
        as_whom = ("-u", self.account.user) if self.account else ()
        where = ("-H", self.host, "-P", self.port, *as_whom, "-t", PATIENCE)
        start = ("-c", *through) if through else ()
        return [sys.executable, *map(str, (*start, PLUGINS / check, *where, *words, *more))]

    def run(self, home, check, *more, through=()):
        """Run it, with its state below ``home``: gives what it Said."""
        done = subprocess.run(
            self.command(check, *more, through=through), env=self.environment(home), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        return Said(check, done.returncode, done.stdout, done.stderr)

    def environment(self, home):
        """The variables of a run."""
        password = {"STALLWATCH_MYSQL_PASSWORD": self.account.password} if self.account else {}
        return environment(home) | {"STATE_DIRECTORY": str(Path(home) / "state")} | password


def of_sql(kind, server):
    """A server of SQL, of "mysql", "mariadb" or "ndb", with an account of its own for the checks."""
    account = server.account("load", *GRANTS[kind])
    return Asked(server.host, server.port, account, server.path("pid"))


def of_java(server):
    """A Java server that anybody may ask."""
    return Asked(server.host, server.port)
