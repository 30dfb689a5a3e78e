"""A stranger who follows the README, line by line and twice, with servers of the tests."""

import re
import shlex
import stat
import subprocess
from pathlib import Path

import software
from backup_makers import MARIADB_CLIENT

README = (Path(__file__).parents[2] / "README.md").read_text()
PAIR, CLUSTER = "A replication pair in ten minutes", "An NDB Cluster in ten minutes"
MONITORING, SOURCE, REPLICA, NODE = (f"192.0.2.{number}" for number in (10, 11, 12, 21))
OTHER = "192.0.2.22"  # whom discover asks: no set has it
PASSWORD = "secret of the README"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RELOAD = re.compile(r"(icinga2 daemon -C|nagios4 -v /etc/nagios4/nagios.cfg) && systemctl reload \w+")
# A label that each plugin prints only where it was let in and told something.
MEASURED = {
    "MYSQL_QUERY": "p95", "MYSQL_STATUS": "Threads_connected", "INNODB_REDO_LOG": "redo_log",
    "INNODB_BUFFER_POOL": "pool_size", "REPLICATION_LAG": "lag", "NDB_NODES": "nodes_started",
    "NDB_MEMORY": "data_memory", "NDB_REDO_BUFFER": "redo_buffer", "NDB_PAGE_BUFFER": "data_nodes",
    "NDB_TRANSACTIONS": "transactions",
}  # fmt: skip


def section(heading):
    """What stands below a heading of the README."""
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)[1]


def steps(heading):
    """The commands of a section, in order."""
    return re.findall(r"^ {4}(\S.*)$", FENCED.sub("", section(heading)), re.MULTILINE)


class Stranger:
    """Types what the README says, with the servers of a test in the place of its own, by their addresses.

    folder   the / of the monitoring host; its /etc and the home of root are there
    servers  what is asked at an address of the README
    """

    def __init__(self, folder, servers):
        self.folder, self.servers = folder, servers
        self.home, self.programs = folder / "root", folder / "usr/local/bin"
        for place in (self.home, self.programs):
            place.mkdir(parents=True, exist_ok=True)
        self.environment = {"HOME": str(self.home)}
        self._ssh()

    def _ssh(self):
        """Let ssh lead to root of a server of the test."""
        client = software.program("mariadb", MARIADB_CLIENT)
        cases = "".join(
            f"root@{address}) exec {client} --no-defaults --protocol=socket -S {server.socket} -u root;;\n"
            for address, server in self.servers.items()
        )
        self.install("ssh", f'test "$2" = mysql\ncase $1 in\n{cases}esac\nexit 255\n')

    def install(self, program, text):
        """Give the stranger a program."""
        path = self.programs / program
        path.write_text(f"#!/bin/sh\nset -e\n{text}")
        path.chmod(0o755)

    def follow(self, lines):
        """Take these steps, in order, and all of them again."""
        for line in 2 * lines:
            program, *words = shlex.split(line)
            if program == "editor":
                self._edit(self.folder / words[0][1:] if words[0].startswith("/") else self.home / words[0])
            elif "systemctl" in line:
                self.validate(RELOAD.fullmatch(line)[1])
            elif "stallwatch-discover jmx" not in line:
                self._type(self.here(line))

    def here(self, line):
        """Put the test's places into a line."""
        line = re.sub(r"-H ([\d.]+)", lambda found: f"-H 127.0.0.1 -P {self.servers[found[1]].port}", line)
        return line.replace(MONITORING, "127.0.0.1")

    def shell(self, line):
        """What runs a line."""
        return ["sh", "-ec", line]

    def validate(self, line):
        """Let an engine look at its configuration."""

    def _type(self, line):
        done = subprocess.run(
            self.shell(line), cwd=self.home, env=self.environment, check=False, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode <= (1 if line.startswith("runuser") else 0), (line, done.stdout, done.stderr)

    def _edit(self, path):
        """Write into a file what the README says, at the places that are there for it."""
        edits = {
            "grants.sql": self._choose_password, "mysql.cnf": self._write_password,
            "hosts.conf": self._add_hosts, "replication.cfg": self._write_addresses,
            "ndb.cfg": self._write_addresses,
        }  # fmt: skip
        path.write_text(edits[path.name](path.read_text() if path.exists() else ""))
        if path.name == "grants.sql":
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077

    def _choose_password(self, text):
        text, count = re.subn("change me", PASSWORD, text)
        assert count == 1
        return text

    def _write_password(self, text):
        if f'\npassword = "{PASSWORD}"' in text:
            return text
        text, count = re.subn(r"^#password = .*$", f'password = "{PASSWORD}"', text, flags=re.MULTILINE)
        assert count == 1
        return text

    def _add_hosts(self, text):
        """The README's hosts, those that there is a server of."""
        blocks = "".join(text for language, text in FENCED.findall(README) if language == "icinga2")
        hosts = re.findall(r"^object Host.*?^}\n", blocks, re.MULTILINE | re.DOTALL)
        added = "".join(self._here_host(host) for host in hosts if self._server(host))
        return text if added in text else text + added

    def _server(self, definition):
        return self.servers.get(re.search(r'address += "?([\d.]+)"?$', definition, re.MULTILINE)[1])

    def _here_host(self, host):
        server = self._server(host)
        own = "".join(f"\n  {line}" for line in self.settings(server))
        return re.sub(r'address = "[\d.]+"', f'address = "{server.host}"{own}', host)

    def settings(self, server):
        """What a host of Icinga has that the README's has not."""
        return [f"vars.stallwatch.port = {server.port}"]

    def _write_addresses(self, text):
        """They are ours, and each host has a port of its own."""
        for address, server in self.servers.items():
            if address != OTHER:
                line, own = f" {address}\n", f" {server.host}\n    _port {server.port}\n"
                assert text.count(line) == 1
                text = text.replace(line, own)
        text = re.sub(r"^( +address +)192\.0\.2\.\d+$", r"\g<1>127.0.0.1", text, flags=re.MULTILINE)
        commands = re.compile(r"^( +check_command +\w+)(!.*)?$", re.MULTILINE)
        return commands.sub(lambda found: f"{found[1]}{found[2] or '!'} -P $_HOSTPORT$", text)


def said(results):
    """Whose plugins these are; one that has not measured anything, or did not run, fails the test."""
    found = []
    for name, result in results.items():
        plugin = re.match(r"([A-Z_]+) (OK|WARNING|CRITICAL) - ", result.output)
        assert plugin, (name, result.output)
        perfdata = result.performance_data
        labels = re.findall(
            r"(?:^| )'?(\w+)'?=", perfdata if isinstance(perfdata, str) else " ".join(perfdata)
        )
        assert MEASURED[plugin[1]] in labels, (name, result.output, labels)
        found.append(plugin[1])
    return found


def looked_at(engine, expected):
    """Start the engine, and let it check these services."""
    status, output = engine.validate()
    assert status == 0, output
    with engine:
        results = engine.check_all(list(expected))
        assert said(results) == list(expected.values())


def has_a_pair(stranger, pair):
    """Follow the README: both engines show a replication pair."""
    stranger.follow(steps(PAIR))
    pair.catch_up()
    looked_at(
        stranger.icinga(),
        {
            "db1!stallwatch-mysql": "MYSQL_QUERY",
            "db1!stallwatch-mysql-status": "MYSQL_STATUS",
            "db1!stallwatch-innodb-redo-log": "INNODB_REDO_LOG",
            "db1!stallwatch-innodb-buffer-pool": "INNODB_BUFFER_POOL",
            "replica1!stallwatch-mysql": "MYSQL_QUERY",
            "replica1!stallwatch-replication-lag": "REPLICATION_LAG",
        },
    )
    looked_at(
        stranger.nagios(),
        {
            "db1!MySQL": "MYSQL_QUERY",
            "db1!MySQL status": "MYSQL_STATUS",
            "db1!InnoDB redo log": "INNODB_REDO_LOG",
            "db1!InnoDB buffer pool": "INNODB_BUFFER_POOL",
            "replica1!MySQL": "MYSQL_QUERY",
            "replica1!Replication lag": "REPLICATION_LAG",
        },
    )


def cluster_steps():
    """The commands for an NDB Cluster: its section refers to the steps 1 and 2 of the other one."""
    above = steps(PAIR)
    account = [
        line.replace(SOURCE, NODE) for line in above[: above.index("editor /etc/stallwatch/mysql.cnf") + 1]
    ]
    return [line for line in account if REPLICA not in line] + steps(CLUSTER)


def has_a_cluster(stranger):
    """Follow the README: both engines show an NDB Cluster."""
    stranger.follow(cluster_steps())
    looked_at(
        stranger.icinga(),
        {
            "sql1!stallwatch-ndb-sql-node": "MYSQL_QUERY",
            "sql1!stallwatch-ndb-nodes": "NDB_NODES",
            "sql1!stallwatch-ndb-memory": "NDB_MEMORY",
            "sql1!stallwatch-ndb-redo-buffer": "NDB_REDO_BUFFER",
            "sql1!stallwatch-ndb-page-buffer": "NDB_PAGE_BUFFER",
            "sql1!stallwatch-ndb-transactions": "NDB_TRANSACTIONS",
        },
    )
    looked_at(
        stranger.nagios(),
        {
            "sql1!NDB SQL node": "MYSQL_QUERY",
            "sql1!NDB nodes": "NDB_NODES",
            "sql1!NDB memory": "NDB_MEMORY",
            "sql1!NDB redo buffer": "NDB_REDO_BUFFER",
            "sql1!NDB page buffer": "NDB_PAGE_BUFFER",
            "sql1!NDB transactions": "NDB_TRANSACTIONS",
        },
    )


def forget(servers):
    """Remove the stranger's account from them."""
    for server in servers:
        with server.session() as sql:
            sql("SET sql_log_bin = 0")
            sql("DROP USER IF EXISTS 'mon'@'127.0.0.1'")
