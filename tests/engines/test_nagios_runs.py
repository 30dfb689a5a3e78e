"""Every plugin in every state through a real Nagios, at real servers: what Nagios holds is what was said.

The servers and the states are those of the tests with Icinga. Here whatever asks a server is well at a real
one, and in each other state because nobody answers. Nagios runs the plugins by the commands that are shipped.
"""

import tempfile

import pytest
from installing import installable
from nagios import COMMANDS, Nagios, escaped, shipped
from recorder import Recorder
from replication_pair import GRANTS
from sql_node import MONITOR
from stallwatch.declared import every
from test_icinga_runs import (  # noqa: F401 - some of the same tests, with the engine of this module
    CLUSTER,
    DATABASE,
    JAVA,
    OK,
    REPLICA,
    STATES,
    UNREACHABLE,
    option_file,
    test_a_jvm,
    test_a_server_that_does_not_answer,
    test_bonds_of_recorded_kernels,
    test_what_is_on_this_host,
)

LOCAL = [name for name, declared in every().items() if declared.local]
JMX = [name for name, declared in every().items() if declared.healthy.source == "jmx"]
HOST = """
define host {
    host_name  db1
    use        linux-server
    address    127.0.0.1
}
"""
SERVICE = """
define service {{
    use                  generic-service
    host_name            db1
    service_description  {name}
    check_command        {command}
}}
"""


class Engine:
    """A Nagios for each table of cases, whose options are called as Icinga's variables are."""

    def __init__(self, folder, installed):
        self.folder = folder
        self.recorder = Recorder(folder / "recorder", installed / "lib" / "stallwatch" / "bin")
        self.option_file = folder / "nobody.cnf"
        self.option_file.write_text("[client]\n")

    def run(self, cases, **everywhere):
        """Let it check them all; what it holds of each is what the plugin said."""
        option_file = everywhere.pop("defaults_file", self.option_file)
        services = {f"{plugin} {number}": case for number, case in enumerate(cases) for plugin in case[:1]}
        options = {name: self._options(case[2], everywhere) for name, case in services.items()}
        commands = {name: command(case[0], options[name]) for name, case in services.items()}
        objects = "".join(SERVICE.format(name=name, command=text) for name, text in commands.items())
        with installable():
            nagios = Nagios(
                tempfile.mkdtemp(dir=self.folder), self._commands(option_file), objects=HOST + objects
            )
        with nagios:
            held = nagios.check_all([f"db1!{name}" for name in services], 300)
            graphed = {name: nagios.perfdata(name) for name in held}
        runs = {
            name: self.recorder.last(self._meant(case[0], options[name], option_file))
            for name, case in services.items()
        }
        said = {name: (STATES[run.status], run.stderr) for name, run in runs.items()}
        assert said == {name: (state, "") for name, (_, state, _) in services.items()}, runs
        for name, run in runs.items():
            holds(held[f"db1!{name}"], graphed[f"db1!{name}"], run)

    def _commands(self, option_file):
        """The commands that are shipped, with the plugins and the option file of the tests."""
        return shipped(self.folder / "shipped", self.recorder.plugins, option_file) / COMMANDS.name

    def _options(self, own, everywhere):
        return words({"timeout": "30s"} | everywhere | own, str(self.folder))

    def _meant(self, plugin, options, option_file):
        """The command line that is to come of it."""
        program = str(self.recorder.plugins / f"check_{plugin}")
        if plugin in LOCAL:
            return [program, *options]
        if plugin in JMX:
            return [program, "-H", "127.0.0.1", *options]
        return [program, "-H", "127.0.0.1", "--defaults-file", str(option_file), *options]


def words(options, files):
    """Write options as a command line has them, the port first."""
    written = []
    for name, value in sorted(options.items(), key=lambda option: option[0] != "port"):
        flag = "-P" if name == "port" else f"--{name.replace('_', '-')}"
        if name == "quantities":
            written += value
        elif value is True:
            written.append(flag)
        else:
            for one in value if isinstance(value, list) else [value]:
                written += [flag, str(one).replace("FILES", files)]
    return written


def command(plugin, options):
    """The check_command that gives these options to the plugin."""
    if plugin in JMX:
        flag, port, *options = options
        assert flag == "-P"
        return f"check_{plugin}!$HOSTADDRESS$!{port}!{escaped(options)}"
    return f"check_{plugin}!{escaped(options)}"


def holds(held, graphed, run):
    """What Nagios holds of a check and writes for graphs is what the plugin said."""
    line, _, more = run.stdout.removesuffix("\n").partition("\n")
    text, _, perfdata = line.partition(" | ")
    assert held.state == run.status
    assert held.output == text.replace(";", ":")  # as Nagios has it in line 1, for the sake of its own log
    assert (held.long_output, held.performance_data) == (more, perfdata)
    assert graphed == held


@pytest.fixture
def engine(open_path, installed):
    return Engine(open_path, installed)


def well(cases):
    """Those in which a plugin has nothing to tell."""
    return [case for case in cases if case[1] == OK]


def test_a_replica_that_is_well(engine, running_pair):
    pair = running_pair("mariadb")
    pair.heal()
    account = pair.replica.account("mon", *GRANTS["mariadb"])
    at = {"port": pair.replica.port, "defaults_file": option_file(engine, account)}
    engine.run(well([*DATABASE, *REPLICA]), **at)


def test_a_cluster_that_is_well(engine, ndb):
    node = ndb.sql_node
    at = {"port": node.port, "defaults_file": option_file(engine, node.account(*MONITOR))}
    engine.run([case for case in well(CLUSTER) if case[0] != "ndb_page_buffer"], **at)


def test_every_plugin_that_asks_a_server_is_in_each_other_state_when_nobody_answers():
    tables = {plugin for plugin, *_ in (*DATABASE, *REPLICA, *CLUSTER, *JAVA)}
    here = {(plugin, state) for plugin, state, _ in UNREACHABLE}
    assert here == {(plugin, state) for plugin in tables for state in STATES if state != OK}
