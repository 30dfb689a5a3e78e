"""A stranger follows the README, with real servers and both engines."""

import os
import re

import engine_user
import pytest
from icinga import Icinga, Result
from nagios import Nagios
from stranger import NODE, OTHER, REPLICA, SOURCE, Stranger, forget, has_a_cluster, has_a_pair, said

GENERIC_HOST = 'template Host "generic-host" { check_command = "dummy" }\n'


class Guest(Stranger):
    """One on this machine: the suite is in a folder of its own, and so is what belongs to the engines."""

    def __init__(self, folder, installed, servers):
        super().__init__(folder, servers)
        self.installed = installed
        for name in ("state", "etc/icinga2/conf.d", "etc/nagios4/conf.d", "etc/stallwatch"):
            (folder / name).mkdir(parents=True)
        self.environment |= {
            "PATH": f"{self.programs}:{installed}/bin:{os.environ['PATH']}",
            "STATE_DIRECTORY": str(folder / "state"),
        }  # fmt: skip
        engine_user.give(folder / "state")
        self.option_file = folder / "etc/stallwatch/mysql.cnf"
        self.option_file.write_text((installed / "share/stallwatch/mysql/mysql.cnf").read_text())
        engine_user.give(self.option_file.parent)
        (folder / "etc/icinga2/conf.d/templates.conf").write_text(GENERIC_HOST)
        if os.geteuid():
            self.install("runuser", 'shift 3\nexec "$@"\n')

    def here(self, line):
        commands = f'"{self.installed}/share/stallwatch/icinga2/stallwatch-commands.conf"'
        line = super().here(line).replace("<stallwatch>", commands)
        line = re.sub(r"/usr/(share|lib)/stallwatch", rf"{self.installed}/\1/stallwatch", line)
        line = re.sub(r"(?<=[ >])/etc/", f"{self.folder}/etc/", line)
        return line.replace("runuser -u nagios", f"runuser -u {engine_user.name()}")

    def settings(self, server):
        return [*super().settings(server), f'vars.stallwatch.defaults_file = "{self.option_file}"']

    def icinga(self):
        """Icinga with what is in its conf.d."""
        return Icinga(self.folder / "icinga", self.folder / "etc/icinga2/conf.d")

    def nagios(self):
        """Nagios with what is in its conf.d."""
        commands = self.folder / "etc/nagios4/conf.d/stallwatch-commands.cfg"
        commands.write_text(commands.read_text().replace("/etc/stallwatch/mysql.cnf", str(self.option_file)))
        return Nagios(self.folder / "nagios", *(self.folder / "etc/nagios4/conf.d").iterdir())


@pytest.fixture
def guest(open_path, installed):
    """Gives one for servers by their addresses in the README; the account is removed from them afterwards."""
    known = []

    def guest(servers):
        known.extend(servers.values())
        return Guest(open_path, installed, servers)

    yield guest
    forget(known)


def test_a_server_that_is_down_is_no_success():
    down = "MYSQL_QUERY CRITICAL - 127.0.0.1:1 refused the connection"
    with pytest.raises(AssertionError, match="refused"):
        said({"db1!stallwatch-mysql": Result(2, down, "", [], 2, [], "localhost", 0.0, 0.0)})


def test_a_replication_pair(pair, guest):
    has_a_pair(guest({SOURCE: pair.source, REPLICA: pair.replica}), pair)


@pytest.mark.slow("two engines start and check everything")
def test_an_ndb_cluster(ndb, guest):
    has_a_cluster(guest({NODE: ndb.sql_node, OTHER: ndb.sql_node}))
