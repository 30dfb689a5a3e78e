"""A stranger who follows the README, line by line and twice, with real servers and both engines."""

import os
import re
import shlex
import stat
import subprocess
from pathlib import Path

import engine_user
import pytest
import software
from backup_makers import MARIADB_CLIENT
from icinga import Icinga, Result
from nagios import Nagios, elsewhere

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAIR, CLUSTER = "A replication pair in ten minutes", "An NDB Cluster in ten minutes"
GENERIC_HOST = 'template Host "generic-host" { check_command = "dummy" }\n'
MONITORING, SOURCE, REPLICA, NODE = (f"192.0.2.{number}" for number in (10, 11, 12, 21))
OTHER = "192.0.2.22"  # whom discover asks: no set has it
PASSWORD = "secret of the README"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A label that each plugin prints only where it was let in and told something.
MEASURED = {
    "MYSQL_QUERY": "p95", "MYSQL_STATUS": "Threads_connected", "REPLICATION_LAG": "lag",
    "NDB_NODES": "nodes_started", "NDB_MEMORY": "data_memory", "NDB_PAGE_BUFFER": "data_nodes",
    "NDB_TRANSACTIONS": "transactions",
}  # fmt: skip


def section(heading):
    """What stands below a heading of the README."""
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)[1]


def steps(heading):
    """The commands of a section, in order."""
    return re.findall(r"^ {4}(\S.*)$", FENCED.sub("", section(heading)), re.MULTILINE)


class Stranger:
    """Types what the README says, with the servers of a test in the place of its own, by their addresses."""

    def __init__(self, folder, installed, servers):
        self.folder, self.installed, self.servers = folder, installed, servers
        for name in ("bin", "home", "state", "etc/icinga2/conf.d", "etc/nagios4/conf.d", "etc/stallwatch"):
            (folder / name).mkdir(parents=True)
        engine_user.give(folder / "state")
        self.option_file = folder / "etc/stallwatch/mysql.cnf"
        self.option_file.write_text(self.shipped("mysql/mysql.cnf"))
        engine_user.give(self.option_file.parent)
        (folder / "etc/icinga2/conf.d/templates.conf").write_text(GENERIC_HOST)
        self._ssh()

    def shipped(self, name):
        """What is installed as that file."""
        return (self.installed / "share/stallwatch" / name).read_text()

    def _ssh(self):
        """Let ssh lead to root of a server of the test."""
        client = software.program("mariadb", MARIADB_CLIENT)
        cases = "".join(
            f"root@{address}) exec {client} --no-defaults --protocol=socket -S {server.socket} -u root;;\n"
            for address, server in self.servers.items()
        )
        programs = {"ssh": f'test "$2" = mysql\ncase $1 in\n{cases}esac\nexit 255\n'}
        if os.geteuid():
            programs["runuser"] = 'shift 3\nexec "$@"\n'
        for name, text in programs.items():
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\nset -e\n{text}")
            (self.folder / "bin" / name).chmod(0o755)

    def follow(self, lines):
        """Take these steps, in order, and all of them again."""
        for line in 2 * lines:
            program, *words = shlex.split(line)
            if program == "editor":
                self._edit(self.folder / "home" / self.here(words[0]))
            elif "systemctl reload" in line:
                assert re.match(r"(icinga2 daemon -C|nagios4 -v /etc/nagios4/nagios.cfg) && ", line)
            elif "discover jmx" not in line:
                self._type(line)

    def here(self, line):
        """Put the test's places into a line."""
        line = line.replace(
            "<stallwatch>", f'"{self.installed}/share/stallwatch/icinga2/stallwatch-commands.conf"'
        )
        line = re.sub(r"/usr/(share|lib)/stallwatch", rf"{self.installed}/\1/stallwatch", line)
        line = re.sub(r"(?<=[ >])/etc/", f"{self.folder}/etc/", f" {line}")[1:]
        line = re.sub(r"-H ([\d.]+)", lambda found: f"-H 127.0.0.1 -P {self.servers[found[1]].port}", line)
        line = line.replace("runuser -u nagios", f"runuser -u {engine_user.name()}")
        return line.replace(MONITORING, "127.0.0.1")

    def _type(self, line):
        environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder / "home"),
            "STATE_DIRECTORY": str(self.folder / "state"),
        }  # fmt: skip
        done = subprocess.run(
            ["sh", "-ec", self.here(line)], cwd=self.folder / "home", env=environment, check=False,
            capture_output=True, text=True, timeout=120,
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

    def _add_hosts(self, _):
        """The README's hosts, those that there is a server of."""
        blocks = "".join(text for language, text in FENCED.findall(README) if language == "icinga2")
        hosts = re.findall(r"^object Host.*?^}\n", blocks, re.MULTILINE | re.DOTALL)
        return "".join(self._here_host(host) for host in hosts if self._server(host))

    def _server(self, definition):
        return self.servers.get(re.search(r'address += "?([\d.]+)"?$', definition, re.MULTILINE)[1])

    def _here_host(self, host):
        server = self._server(host)
        own = f'vars.stallwatch.port = {server.port}\n  vars.stallwatch.defaults_file = "{self.option_file}"'
        return re.sub(r'address = "[\d.]+"', f'address = "{server.host}"\n  {own}', host)

    def _write_addresses(self, text):
        """They are those of the README already."""
        for address in self.servers:
            assert address == OTHER or re.search(rf"^ +address +{re.escape(address)}$", text, re.MULTILINE)
        return text

    def icinga(self):
        """Icinga with what is in its conf.d."""
        return Icinga(self.folder / "icinga", self.folder / "etc/icinga2/conf.d")

    def nagios(self):
        """Nagios with what is in its conf.d; who is asked at such an address is a server of the test."""
        ports = {address: server.port for address, server in self.servers.items() if address != OTHER}
        programs = self.installed / "lib/stallwatch/bin"
        plugins = elsewhere(self.folder / "plugins", programs, ports)
        commands = self.folder / "etc/nagios4/conf.d/stallwatch-commands.cfg"
        text = commands.read_text().replace(str(programs), str(plugins))
        commands.write_text(text.replace("/etc/stallwatch/mysql.cnf", str(self.option_file)))
        return Nagios(self.folder / "nagios", *(self.folder / "etc/nagios4/conf.d").iterdir())


@pytest.fixture
def stranger(open_path, installed):
    """Gives one for servers by their addresses in the README; the account is removed from them afterwards."""
    known = []

    def stranger(servers):
        known.extend(servers.values())
        return Stranger(open_path, installed, servers)

    yield stranger
    for server in known:
        with server.session() as sql:
            sql("SET sql_log_bin = 0")
            sql("DROP USER IF EXISTS 'mon'@'127.0.0.1'")


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


def test_a_server_that_is_down_is_no_success():
    down = "MYSQL_QUERY CRITICAL - 127.0.0.1:1 refused the connection"
    with pytest.raises(AssertionError, match="refused"):
        said({"db1!stallwatch-mysql": Result(2, down, "", [], 2, [], "localhost", 0.0, 0.0)})


def looked_at(engine, expected):
    """Start the engine, and let it check these services."""
    status, output = engine.validate()
    assert status == 0, output
    with engine:
        results = engine.check_all(list(expected))
        assert said(results) == list(expected.values())


def test_a_replication_pair(pair, stranger):
    one = stranger({SOURCE: pair.source, REPLICA: pair.replica})
    one.follow(steps(PAIR))
    pair.catch_up()
    looked_at(
        one.icinga(),
        {
            "db1!stallwatch-mysql": "MYSQL_QUERY",
            "db1!stallwatch-mysql-status": "MYSQL_STATUS",
            "replica1!stallwatch-mysql": "MYSQL_QUERY",
            "replica1!stallwatch-replication-lag": "REPLICATION_LAG",
        },
    )  # fmt: skip
    looked_at(
        one.nagios(),
        {
            "db1!MySQL": "MYSQL_QUERY", "replica1!MySQL": "MYSQL_QUERY",
            "replica1!Replication lag": "REPLICATION_LAG",
        },
    )  # fmt: skip


def test_an_ndb_cluster(ndb, stranger):
    above = steps(PAIR)
    account = [
        line.replace(SOURCE, NODE) for line in above[: above.index("editor /etc/stallwatch/mysql.cnf") + 1]
    ]
    one = stranger({NODE: ndb.sql_node, OTHER: ndb.sql_node})
    one.follow([line for line in account if REPLICA not in line] + steps(CLUSTER))
    looked_at(
        one.icinga(),
        {
            "sql1!stallwatch-ndb-nodes": "NDB_NODES",
            "sql1!stallwatch-ndb-memory": "NDB_MEMORY",
            "sql1!stallwatch-ndb-page-buffer": "NDB_PAGE_BUFFER",
            "sql1!stallwatch-ndb-transactions": "NDB_TRANSACTIONS",
        },
    )  # fmt: skip
    looked_at(
        one.nagios(),
        {
            "sql1!NDB nodes": "NDB_NODES", "sql1!NDB memory": "NDB_MEMORY",
            "sql1!NDB transactions": "NDB_TRANSACTIONS",
        },
    )  # fmt: skip
