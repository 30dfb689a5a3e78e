"""What stallwatch-discover prints of real servers: real engines take it as it is, and its services run."""

import re
import subprocess
import sys
import time
from pathlib import Path

import engine_user
import pytest
from icinga import Icinga
from installing import installable
from nagios import Nagios
from sql_node import MONITOR
from stallwatch.discovery import nagios

ROOT = Path(__file__).resolve().parents[2]
OPTION_FILE = "/etc/stallwatch/mysql.cnf"
UNKNOWN = 3
DISCOVER = ROOT / "contrib" / "stallwatch-discover"
NAMED = ("--name", "it", "--format")
PATIENT = ("-t", "60s")
NASTY = '"o\'brien; $HOME! `x`"'


class OfIcinga:
    """Icinga with the commands that are shipped and what was discovered."""

    format = "icinga2"
    agent = 'object Endpoint "it" {}\nobject Zone "it" { endpoints = [ "it" ]; parent = ZoneName }\n'
    commands = ROOT / "contrib" / "icinga2" / "stallwatch-commands.conf"

    def engine(self, folder, plugins, definitions, _):
        return Icinga(folder / "icinga", self.commands, objects=definitions, plugins=plugins)

    def title(self, name):
        return name.partition("!stallwatch-")[2].replace("-", " ")

    def services(self, definitions):
        form = r'^object Service "([^"]+)" {\n.+\n  host_name = "([^"]+)"'
        return [f"{host}!{name}" for name, host in re.findall(form, definitions, re.MULTILINE)]


class OfNagios:
    """Nagios, likewise."""

    format = "nagios"
    agent = ""
    commands = ROOT / "contrib" / "nagios" / "stallwatch-commands.cfg"

    def engine(self, folder, plugins, definitions, option_file):
        commands = self.commands.read_text().replace("/usr/lib/stallwatch/bin", str(plugins))
        (folder / "commands.cfg").write_text(commands.replace(OPTION_FILE, str(option_file)))
        return Nagios(folder / "nagios", folder / "commands.cfg", objects=definitions)

    def title(self, name):
        return name.partition("!")[2].lower()

    def services(self, definitions):
        form = r"^    service_description +(.+)\n.+\n    host_name +(.+)$"
        return [f"{host}!{name}" for name, host in re.findall(form, definitions, re.MULTILINE)]


@pytest.fixture(params=(OfIcinga, OfNagios), ids=("icinga2", "nagios"))
def run(request, open_path, installed):
    """Discovers, and lets the engine check what was found: gives that, and the result of each service."""
    kind = request.param()
    plugins = installed / "lib" / "stallwatch" / "bin"

    def run(*arguments, known, option_file=open_path / "none.cnf"):
        done = subprocess.run(
            [plugins / "stallwatch-discover", *map(str, arguments), *NAMED, kind.format, *PATIENT],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        for definitions in (uncommented(done.stdout) + kind.agent, done.stdout):
            with installable():
                engine = kind.engine(open_path, plugins, definitions, option_file)
            status, said = engine.validate()
            assert status == 0, said
        names = kind.services(done.stdout)
        with engine:
            return done.stdout, checked(engine, {kind.title(name): name for name in names}, known)

    return run


def uncommented(definitions):
    """What a person makes of it who takes all services that are not defined yet."""
    return re.sub(r"^(?://|#) (?=(?:object|define) |  |\}|//|#)", "", definitions, flags=re.MULTILINE)


def checked(engine, names, known):
    """The result of each service by its title; on a busy machine those to be known may take a while."""
    assert known <= set(names)
    results, until = engine.check_all([*names.values()], 120), time.monotonic() + 90
    while late := [names[title] for title in known if results[names[title]].state == UNKNOWN]:
        assert time.monotonic() < until, {name: results[name].output for name in late}
        results |= engine.check_all(late, 120)
    return {title: results[name] for title, name in names.items()}


@pytest.fixture
def option_file(open_path):
    def write(account):
        path = open_path / "mysql.cnf"
        path.write_text(f"[client]\nuser = {account.user}\npassword = {account.password}\n")
        path.chmod(0o644)
        return path

    return write


@pytest.mark.slow("an engine starts and checks everything")
def test_a_replica_whose_channel_has_a_hostile_name(run, running_pair, option_file):
    replica = running_pair("mariadb").replica
    file = option_file(running_pair("mariadb").account())
    replica.sql(f"CHANGE MASTER {NASTY} TO MASTER_HOST = '192.0.2.9'")
    try:
        known = {"mysql", "replication lag of the default channel", "mysql status", "innodb redo log"}
        told, results = run(
            "mysql", "-H", "127.0.0.1", "-P", replica.port, "--defaults-file", file,
            option_file=file, known=known,
        )  # fmt: skip
    finally:
        replica.sql(f"RESET SLAVE {NASTY} ALL")
        running_pair("mariadb").heal()
    assert "the binary log is off" not in told
    assert "is not known" not in told
    (nasty,) = (result for title, result in results.items() if "brien" in title)
    assert "o'brien" in nasty.output


def test_a_cluster(run, ndb, option_file):
    node = ndb.sql_node
    file = option_file(node.account(*MONITOR))
    told, _ = run(
        "mysql", "-H", "127.0.0.1", "-P", node.port, "--defaults-file", file,
        option_file=file, known={"ndb nodes", "ndb memory", "ndb redo buffer", "ndb transactions"},
    )  # fmt: skip
    assert re.search(r"^(//|#) MySQL 9.*, management node 1, data nodes 3 and 4$", told, re.MULTILINE)
    assert (
        len(re.findall(r"^(//|#) .*(NDB log|NDB process|NDB host|NDB cluster log)", told, re.MULTILINE)) == 4
    )


def refused(*arguments):
    """Why it prints no services."""
    done = subprocess.run(
        [sys.executable, DISCOVER, *map(str, arguments), *PATIENT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (UNKNOWN, "")
    assert all(line.startswith("  ") for line in done.stderr.splitlines()[1:]), done.stderr
    return done.stderr


def test_who_is_not_let_in_or_may_not_see_all_is_told_why(running_pair, ndb):
    replica, node = running_pair("mariadb").replica, ndb.sql_node
    for server, lacks in ((replica, "SLAVE MONITOR"), (node, "GRANT SELECT ON ndbinfo.*")):
        account = server.account("nobody")
        place = ("mysql", "-H", "127.0.0.1", "-P", server.port, "-u", account.user)
        assert "denied" in refused(*place, "-p", "not it")
        assert lacks in refused(*place, "-p", account.password)


@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_a_server_with_nothing_particular(running_server, kind):
    server = running_server(kind)
    server.revive()
    account = server.account("mon", "PROCESS", "REPLICATION CLIENT" if kind == "mysql" else "SLAVE MONITOR")
    told = subprocess.run(
        [sys.executable, DISCOVER, "mysql", "-H", "127.0.0.1", "-P", str(server.port),
         "-u", account.user, "-p", account.password, *PATIENT],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert re.findall(r'^object Service "(.+)"', told, re.MULTILINE)[:5] == [
        f"stallwatch-{name}"
        for name in ("mysql", "mysql-status", "mysql-stalls", "innodb-redo-log", "innodb-buffer-pool")
    ]  # fmt: skip
    assert account.password not in told
    assert f'vars.mysql_status_defaults_file = "{OPTION_FILE}"' in told
    assert "mysql_status_username" not in told  # it would be given the password of another one
    assert f"Its services log in as {OPTION_FILE} sets, not as mon" in told


def test_words_reach_a_plugin_of_nagios_as_they_are(open_path):
    told = open_path / "told"  # in files: of what a plugin prints Nagios changes some letters
    told.mkdir()
    engine_user.give(told)
    program = open_path / "argv"
    program.write_text(f'#!/bin/sh\nname=$1\nshift\nprintf "[%s]" "$@" >{told}/$name\n')
    program.chmod(0o755)
    values = ["^a\\.b$", "end\\", "\\;", "\\!x", "a!b;c", "$HOSTNAME$", "q'\"x", "`id`", "$(id)"]
    objects = [f"define command {{\n command_name argv\n command_line {program} $ARG1$\n}}\n"]
    objects.append("define host {\n host_name it\n use linux-server\n address 127.0.0.1\n}\n")
    for number, value in enumerate(values):
        objects.append(
            f"define service {{\n service_description {number}\n use generic-service\n host_name it\n"
            f" check_command argv!{number} {nagios.argument(value)}\n}}\n"
        )
    with installable():
        engine = Nagios(open_path / "nagios", objects="".join(objects))
    with engine:
        engine.check_all([f"it!{number}" for number in range(len(values))])
    reached = [(told / str(number)).read_text() for number in range(len(values))]
    assert reached == [f"[{value}]" for value in values]


def test_a_jvm(run, jvm):
    told, _ = run("jmx", "-H", "127.0.0.1", "-P", jvm.port, known={"jvm heap", "garbage collection"})
    assert "a JVM at 127.0.0.1" in told


def test_a_cassandra(run, cassandra):
    known = {"cassandra", "jvm heap", "garbage collection", "cassandra thread pools", "compactions"}
    told, _ = run("jmx", "-H", "127.0.0.1", "-P", cassandra.port, known=known)
    assert "Cassandra at 127.0.0.1" in told
